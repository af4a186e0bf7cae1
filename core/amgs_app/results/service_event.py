"""Event in a served memory: a change, or a question from a client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class ServiceEvent:
    """Something that happened. kind: changed (the memory is another one), asked (nothing changed), dropped (the
    listener was too slow, or asks for what is no longer kept: look at everything anew).

    change: the store's change counter afterwards. operation: what was carried out, `frame assemble`. caller: who asked.
    asked: its arguments on one line. outcome: done, refused or failed. got: what came of it, in a few words. blocks:
    the first ids that it is about. client: an id by which a client knows what it asked itself.
    """

    kind: Literal["changed", "asked", "dropped"]
    change: int
    at: datetime
    operation: str = ""
    caller: str = ""
    asked: str = ""
    got: str = ""
    milliseconds: float = 0.0
    outcome: str = ""
    blocks: tuple[str, ...] = ()
    client: str = ""

    @property
    def line(self) -> str:
        """Return the request on one line that begins with the operation."""
        asked = " ".join(self.asked.split())
        return asked if asked.startswith(self.operation) else f"{self.operation} {asked}".rstrip()

    def as_json(self) -> dict[str, Any]:
        """Return the event as what JSON knows."""
        return asdict(self) | {"at": self.at.isoformat(), "blocks": list(self.blocks)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> ServiceEvent:
        """Return the event that `as_json` wrote; raises ValueError, KeyError or TypeError for anything else."""
        at, blocks = datetime.fromisoformat(record["at"]), tuple(map(str, record["blocks"]))
        return cls(**{**record, "at": at, "blocks": blocks})

"""Event in a served memory: a change, or a request of a client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class ServiceEvent:
    """An event.

    kind: changed (the memory), asked (nothing changed), dropped (events were lost because the listener was too slow or
    asked for old ones: read everything again). change: the store's change counter afterwards. operation: such as `frame
    assemble`. caller: who asked. asked: its arguments on a single line. outcome: done, refused or failed. got: the
    result in a few words. blocks: first ids concerned. client: id by which a client recognises its own requests.
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
        """Return the request on a single line, beginning with the operation."""
        asked = " ".join(self.asked.split())
        return asked if asked.startswith(self.operation) else f"{self.operation} {asked}".rstrip()

    def as_json(self) -> dict[str, Any]:
        """Return the event as JSON values."""
        return asdict(self) | {"at": self.at.isoformat(), "blocks": list(self.blocks)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> ServiceEvent:
        """Return the event from `as_json`; raises ValueError, KeyError or TypeError for anything else."""
        at, blocks = datetime.fromisoformat(record["at"]), tuple(map(str, record["blocks"]))
        return cls(**{**record, "at": at, "blocks": blocks})

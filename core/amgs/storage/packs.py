"""Packs and the log of their use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from amgs.types.pack_learning import PackProposals
from amgs.types.packs import Pack, PackUse


class PackStorage(Protocol):
    """Versions of packs by name. One counts while the operation that kept it stands; it is retired while the one that
    retired it does.
    """

    def put(self, pack: Pack, operation: int) -> None:
        """Note a version."""
        ...

    def retire(self, name: str, operation: int) -> None:
        """Note that all standing versions of a name are retired."""
        ...

    def versions(self, name: str) -> tuple[Pack, ...]:
        """The versions of a name, the oldest first, retired ones too."""
        ...

    def latest(self) -> tuple[Pack, ...]:
        """The latest version of each name, by name, retired ones too."""
        ...

    def log(
        self, pack: Pack, at: datetime, query: str, session: str, tokens: int, blocks: Sequence[str]
    ) -> int:
        """Log that a pack was read; returns the number of the row."""
        ...

    def judge(self, number: int, outcome: float) -> bool:
        """Note the outcome of a use; False where there is none of that number."""
        ...

    def credit(self, credits: Mapping[int, float], model: str, operation: int) -> None:
        """Note what readings are credited with, by their numbers, in nats a token of an answer."""
        ...

    def uses(self, name: str | None = None, limit: int | None = None) -> tuple[PackUse, ...]:
        """What was read, of one name when it is given, the newest first."""
        ...

    def session(self, session: str) -> tuple[PackUse, ...]:
        """What was read in a session, in order."""
        ...

    def queue(self, plan: PackProposals, operation: int) -> PackProposals:
        """Put a plan's proposals into the queue; returns it with their numbers, which are not given out twice."""
        ...

    def decide(self, number: int, verdict: str, operation: int) -> None:
        """Note a verdict on a proposal and the operation that carried it out."""
        ...

    def proposals(self) -> tuple[PackProposals, ...]:
        """What was queued and stands, the latest first; a verdict counts while its own operation stands."""
        ...

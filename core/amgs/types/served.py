"""What a served memory answers that an engine in the process has no need of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amgs.types.lifecycle import JournalEntry


@dataclass(frozen=True, slots=True)
class JournalPage:
    """A page of the journal, the newest first. more: whether another page follows."""

    operations: tuple[JournalEntry, ...]
    offset: int
    more: bool


@dataclass(frozen=True, slots=True)
class ServedPlan:
    """A plan that waits to be applied under its id. change_counter: of the memory it was made from."""

    id: str
    kind: str
    change_counter: int
    expires_at: datetime
    plan: Any


@dataclass(frozen=True, slots=True)
class PlanApplied:
    """A plan that was carried out: its journal entry, and what came of it."""

    id: str
    kind: str
    operation: JournalEntry
    result: Any

"""What workers are asked to do: claimed by one of them at a time, and claimed again where that one is gone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from amgs.types.tasks import Task, TaskKind


class TaskStorage(Protocol):
    """The table of tasks; written inside a transaction, which one writer of a store is in at a time: between the look
    for a task and its claim nobody else claims it. None of this is a change of the memory.
    """

    def add(self, kind: TaskKind, parameters: Mapping[str, Any], wanted_at: int, now: datetime) -> Task:
        """Ask for something."""
        ...

    def get(self, number: int) -> Task | None:
        """The task with this number."""
        ...

    def unfinished(self) -> tuple[Task, ...]:
        """Those that wait, run or failed, in the order in which they were asked for."""
        ...

    def latest(self, limit: int) -> tuple[Task, ...]:
        """The open ones and those that failed, then what was done last; `limit` in all."""
        ...

    def counts(self) -> Mapping[str, int]:
        """How many there are by kind and state, as "embedding waiting"."""
        ...

    def claimable(self, kinds: Collection[TaskKind], now: datetime) -> Task | None:
        """The first task of these kinds that waits, or whose worker's lease has run out."""
        ...

    def put(self, task: Task) -> None:
        """Keep a task in place of what is there under its number."""
        ...

    def forget_done(self, keep: int) -> None:
        """Drop the tasks that are done but for the latest `keep`."""
        ...

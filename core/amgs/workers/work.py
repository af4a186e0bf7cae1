"""What a kind of task is: what it reads and computes, and what it writes when that is there."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, Protocol, TypeVar

from amgs.memory import Memory
from amgs.types import Progress
from amgs.types.tasks import Task

R = TypeVar("R")


class TaskWork(Protocol):
    """A kind of task. pool: where computing may be handed to, None for this process."""

    def begin(self, memory: Memory, task: Task, pool: Executor | None, progress: Progress) -> Future[Any]:
        """Read what the task needs and compute it, outside of any transaction; the future holds what went wrong."""
        ...

    def end(self, memory: Memory, found: Any) -> str:
        """Write what was computed, inside the transaction that ends the task; says what that came to."""
        ...


def here(compute: Callable[[], R]) -> Future[R]:
    """Compute in this process, at once."""
    future: Future[R] = Future()
    try:
        future.set_result(compute())
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the task's, and is kept with it
        future.set_exception(error)
    return future

"""Worker: looks what is behind, claims tasks, has them computed, and writes each in the transaction that ends it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from amgs.errors import AmgsError, Cancelled, StaleError, UsageError
from amgs.memory import Memory
from amgs.types import Progress
from amgs.types.tasks import TASK_KINDS, Task, TaskKind, WorkerState
from amgs.workers.centrality import CentralityWork
from amgs.workers.consolidation import ConsolidationWork
from amgs.workers.embedding import EmbeddingWork
from amgs.workers.indexing import IndexWork
from amgs.workers.work import TaskWork, here

LEASE: Final = 120.0
"""Seconds for which a task is claimed; it is renewed while its worker goes on. Where that dies, another claims the task
after them.
"""
_AGAIN: Final = 5.0
"""Seconds to the second attempt after one that failed; twice as long to the third."""

WORK: Final[Mapping[TaskKind, TaskWork]] = {
    "embedding": EmbeddingWork(),
    "consolidation": ConsolidationWork(),
    "centrality": CentralityWork(),
    "index": IndexWork(),
}


class Worker:
    """One worker of one memory.

    name: its own, of all workers of the memory. width: how many tasks it computes at a time. pool: makes what computes
    them, None for this process; where: that in words. lease: seconds, see LEASE. say: is told what came of each task.
    progress: reports and can stop it.
    """

    def __init__(
        self,
        memory: Memory,
        name: str,
        *,
        kinds: tuple[TaskKind, ...] = TASK_KINDS,
        pool: Callable[[], Executor] | None = None,
        width: int = 1,
        where: str = "one process",
        lease: float = LEASE,
        say: Callable[[str], None] | None = None,
        progress: Progress | None = None,
    ) -> None:
        if width > 1 and pool is None:
            raise UsageError(
                "One process computes one task at a time.", way_out="Give a pool, or a width of 1."
            )
        now = memory.clock.now()
        self._memory = memory
        self._kinds = kinds
        self._make, self._pool, self._width = pool, None if pool is None else pool(), width
        self._lease, self._say = lease, say or _silent
        self._asked = progress or Progress()
        self._told = WorkerState(name, kinds, where, now, now + timedelta(seconds=lease))
        self._held: dict[Future[Any], Task] = {}
        self._mine: Task | None = None
        self._renewed = now

    def run(self, wait: Callable[[], bool] = lambda: False) -> int:
        """Do whatever is behind, wait, and look again, until `wait` says to end; gives how many tasks were done.

        What it holds when it is stopped it gives back.
        """
        self._memory.tasks.tidy()
        self._tell()
        try:
            while True:
                self._work()
                if not wait():
                    return self._told.done
                self._keep_leases()
        finally:
            self._end()

    # --- inside -----------------------------------------------------------------------------------------

    def _work(self) -> None:
        """Claim and end tasks until nothing is left that can be claimed now."""
        tasks = self._memory.tasks
        while True:
            self._asked(self._told.done, 0, "working")
            tasks.enqueue(self._kinds)
            while len(self._held) < self._width and (task := self._claim()):
                self._held[self._begin(task)] = task
            if not self._held:
                return
            ended, _ = wait(self._held, timeout=self._lease / 3, return_when=FIRST_COMPLETED)
            self._keep_leases()
            for future in ended:
                self._finish(future, self._held.pop(future))

    def _claim(self) -> Task | None:
        return self._memory.tasks.claim(self._told.name, self._kinds, self._lease)

    def _begin(self, task: Task) -> Future[Any]:
        def reported(done: int, total: int, doing: str) -> None:
            self._keep_leases()
            self._asked(done, total, f"{task.kind}: {doing}")

        self._mine = task
        try:
            return WORK[task.kind].begin(self._memory, task, self._pool, Progress(reported))
        except BrokenExecutor as error:
            return self._broken(error)
        except AmgsError as error:
            return _failed(error)
        finally:
            self._mine = None

    def _finish(self, future: Future[Any], task: Task) -> None:
        """Write what was computed, or what went wrong."""
        tasks, error = self._memory.tasks, future.exception()
        try:
            if error is None:
                with self._memory.transaction():
                    tasks.hold(task)
                    told = WORK[task.kind].end(self._memory, future.result())
                    tasks.finish(task, told)
                self._told = replace(self._told, done=self._told.done + 1)
                self._say(f"{task.kind} {task.number}: {told}")
                return
        except StaleError as stale:
            self._say(f"{task.kind} {task.number}: {stale}")
            return
        except AmgsError as refused:
            error = refused
        if isinstance(error, Cancelled):
            tasks.release(task)
            raise error
        if isinstance(error, BrokenExecutor):
            self._broken(error)
        self._told = replace(self._told, failed=self._told.failed + 1)
        why = str(error) if isinstance(error, AmgsError) else f"{type(error).__name__}: {error}"
        with suppress(StaleError):
            tasks.fail(task, why, again=_AGAIN * task.attempts)
        self._say(f"{task.kind} {task.number}, attempt {task.attempts} failed: {why}")

    def _broken(self, error: BrokenExecutor) -> Future[Any]:
        """A process of the pool was killed: the pool is made anew, and the task has failed."""
        if self._make is not None and self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = self._make()
        return _failed(error)

    def _keep_leases(self) -> None:
        """Renew what this worker holds once a third of the lease is over, and tell that it is there."""
        now = self._memory.clock.now()
        if now - self._renewed < timedelta(seconds=self._lease / 3):
            return
        self._renewed = now
        for task in [*self._held.values(), *([self._mine] if self._mine else [])]:
            self._memory.tasks.renew(task, self._lease)
        self._tell()

    def _tell(self) -> None:
        until = self._memory.clock.now() + timedelta(seconds=self._lease)
        self._memory.tasks.tell(replace(self._told, until=until))

    def _end(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
        with suppress(AmgsError):  # the store may be what has ended it
            for task in self._held.values():
                with suppress(StaleError):
                    self._memory.tasks.release(task)
            self._memory.tasks.leave(self._told.name)


def _silent(line: str) -> None:
    del line


def _failed(error: Exception) -> Future[Any]:
    def again() -> None:
        raise error

    return here(again)

"""Worker: looks what is behind, claims tasks, has them computed, and writes each in the transaction that ends it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from typing import Any, Final, Protocol, TypeVar

from amgs.derived.centrality import CentralityFound, worked_out
from amgs.errors import AmgsError, Cancelled, StaleError, UsageError
from amgs.lifecycle.prepared_vectors import TextBatch
from amgs.memory import Memory
from amgs.text.embedders import named
from amgs.text.embedding import Embedder
from amgs.text.plural import plural
from amgs.types import ConsolidationPlan, IndexBuild, Progress, Vector
from amgs.types.tasks import TASK_KINDS, Task, TaskKind, WorkerState

# What a kind of task is: what it reads and computes, and what it writes when that is there.


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


# Indexing: the search index is brought to the store's present state, outside of any transaction.


class IndexWork(TaskWork):
    """`TaskWork` on a whole index: a version is there whole or not at all, and one that is built twice is the same."""

    def begin(
        self, memory: Memory, task: Task, pool: Executor | None, progress: Progress
    ) -> Future[IndexBuild]:
        del task, pool
        return here(lambda: memory.index.build(progress=progress))

    def end(self, memory: Memory, found: IndexBuild) -> str:
        del memory
        return f"built at {found.built_at:,}, {found.changed:,} of {found.rows:,} rows written"


# Embedding: vectors of raw blocks, ahead of their consolidation; of each text once, by its hash.


@dataclass(frozen=True, eq=False)
class Embedded:
    """A batch and its vectors (n, d)."""

    batch: TextBatch
    vectors: Vector


class EmbeddingWork(TaskWork):
    """`TaskWork` on the raw blocks from {"first": number} to {"last": number}."""

    def begin(
        self, memory: Memory, task: Task, pool: Executor | None, progress: Progress
    ) -> Future[Embedded]:
        batch = memory.tasks.texts(int(task.parameters["first"]), int(task.parameters["last"]))
        if pool is None:
            return here(lambda: Embedded(batch, memory.tasks.embed(batch.texts, progress)))
        return pool.submit(embedded, memory.space, batch)

    def end(self, memory: Memory, found: Embedded) -> str:
        kept = memory.tasks.keep_vectors(found.batch, found.vectors)
        return f"{kept} of {len(found.batch.blocks)} vectors kept"


def embedded(space: tuple[str, int], batch: TextBatch) -> Embedded:
    """A batch with its vectors, by the embedder of this name and dimension; in whatever process this is."""
    return Embedded(batch, _embedder(*space).embed(batch.texts))


@lru_cache(maxsize=1)
def _embedder(name: str, dimension: int) -> Embedder:
    return named(name, dimension)


# Consolidation: a plan made outside of any transaction, carried out in one where its blocks are still raw.


class ConsolidationWork(TaskWork):
    """`TaskWork` on the {"limit": n} oldest arrivals of the inbox: one plan, one transaction, one entry of the journal.

    The plan is made in the process that has the memory open, whose indexes it asks.
    """

    def begin(
        self, memory: Memory, task: Task, pool: Executor | None, progress: Progress
    ) -> Future[ConsolidationPlan]:
        del pool
        limit = int(task.parameters["limit"])
        return here(lambda: memory.plan_consolidation(limit=limit, progress=progress))

    def end(self, memory: Memory, found: ConsolidationPlan) -> str:
        if not found.items:
            return "the inbox was empty"
        entry = memory.apply_consolidation(found)
        return f"operation {entry.id}: {entry.summary}"


# Centrality: how central each block of a large graph is, for scoring; worked out outside of any transaction.


class CentralityWork(TaskWork):
    """`TaskWork` on the whole graph as it is when the task begins; of each structure it is kept once."""

    def begin(
        self, memory: Memory, task: Task, pool: Executor | None, progress: Progress
    ) -> Future[CentralityFound]:
        del task
        progress(0, 0, "reading the graph")
        given = memory.tasks.graph_input()
        if pool is None:
            return here(lambda: worked_out(given))
        return pool.submit(worked_out, given)

    def end(self, memory: Memory, found: CentralityFound) -> str:
        if not memory.tasks.keep_centrality(found):
            return "a later one is there"
        of = found.origin
        return (
            f"of {plural(of.blocks, 'block')} and {plural(of.edges, 'edge')}, as of change {of.structure:,}"
        )


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

"""Workers: what is long is computed outside of any transaction, and written in the one that ends its task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final, Protocol

from amgs.derived.centrality import CentralityFound, worked_out
from amgs.errors import AmgsError, Cancelled, StaleError
from amgs.lifecycle.prepared_vectors import TextBatch
from amgs.memory import Memory
from amgs.text.plural import plural
from amgs.types import ConsolidationPlan, IndexBuild, Progress, Vector
from amgs.types.tasks import TASK_KINDS, Task, TaskKind, WorkerState


class TaskWork(Protocol):
    """A kind of task: what it computes, and what it writes when that is there."""

    def compute(self, memory: Memory, task: Task, progress: Progress) -> Any:
        """Read what the task needs and compute it, outside of any transaction."""
        ...

    def end(self, memory: Memory, found: Any) -> str:
        """Write what was computed, inside the transaction that ends the task; says what that came to."""
        ...


# Indexing: the search index is brought to the store's present state, outside of any transaction.


class IndexWork(TaskWork):
    """`TaskWork` on a whole index: a version is there whole or not at all, and one that is built twice is the same."""

    def compute(self, memory: Memory, task: Task, progress: Progress) -> IndexBuild:
        del task
        return memory.index.build(progress=progress)

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

    def compute(self, memory: Memory, task: Task, progress: Progress) -> Embedded:
        batch = memory.tasks.texts(int(task.parameters["first"]), int(task.parameters["last"]))
        return Embedded(batch, memory.tasks.embed(batch.texts, progress))

    def end(self, memory: Memory, found: Embedded) -> str:
        kept = memory.tasks.keep_vectors(found.batch, found.vectors)
        return f"{kept} of {len(found.batch.blocks)} vectors kept"


# Consolidation: a plan made outside of any transaction, carried out in one where its blocks are still raw.


class ConsolidationWork(TaskWork):
    """`TaskWork` on the {"limit": n} oldest arrivals of the inbox: one plan, one transaction, one entry of the
    journal.
    """

    def compute(self, memory: Memory, task: Task, progress: Progress) -> ConsolidationPlan:
        return memory.plan_consolidation(limit=int(task.parameters["limit"]), progress=progress)

    def end(self, memory: Memory, found: ConsolidationPlan) -> str:
        if not found.items:
            return "the inbox was empty"
        entry = memory.apply_consolidation(found)
        return f"operation {entry.id}: {entry.summary}"


# Centrality: how central each block of a large graph is, for scoring.


class CentralityWork(TaskWork):
    """`TaskWork` on the whole graph as it is when the task begins; of each structure it is kept once."""

    def compute(self, memory: Memory, task: Task, progress: Progress) -> CentralityFound:
        del task
        progress(0, 0, "reading the graph")
        return worked_out(memory.tasks.graph_input())

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
    """One worker of one memory: it looks what is behind, claims tasks, and does them one after another.

    name: its own, of all workers of the memory. lease: seconds, see LEASE. say: is told what came of each task.
    progress: reports and can stop it.
    """

    def __init__(
        self,
        memory: Memory,
        name: str,
        *,
        kinds: tuple[TaskKind, ...] = TASK_KINDS,
        lease: float = LEASE,
        say: Callable[[str], None] | None = None,
        progress: Progress | None = None,
    ) -> None:
        now = memory.clock.now()
        self._memory = memory
        self._kinds = kinds
        self._lease, self._say = lease, say or _silent
        self._asked = progress or Progress()
        self._told = WorkerState(name, kinds, now, now + timedelta(seconds=lease))
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
            self._mine = tasks.claim(self._told.name, self._kinds, self._lease)
            if self._mine is None:
                return
            self._do(self._mine)
            self._mine = None

    def _do(self, task: Task) -> None:
        """Compute a task and write what came of it, or what went wrong."""

        def reported(done: int, total: int, doing: str) -> None:
            self._keep_leases()
            self._asked(done, total, f"{task.kind}: {doing}")

        try:
            found = WORK[task.kind].compute(self._memory, task, Progress(reported))
            self._keep_leases()
            self._write(task, found)
        except Cancelled:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the task's, and is kept with it
            self._told = replace(self._told, failed=self._told.failed + 1)
            why = str(error) if isinstance(error, AmgsError) else f"{type(error).__name__}: {error}"
            with suppress(StaleError):
                self._memory.tasks.fail(task, why, again=_AGAIN * task.attempts)
            self._say(f"{task.kind} {task.number}, attempt {task.attempts} failed: {why}")

    def _write(self, task: Task, found: Any) -> None:
        """Write what was computed; nothing where another has the task by now."""
        tasks = self._memory.tasks
        try:
            with self._memory.transaction():
                tasks.hold(task)
                told = WORK[task.kind].end(self._memory, found)
                tasks.finish(task, told)
        except StaleError as stale:
            self._say(f"{task.kind} {task.number}: {stale}")
            return
        self._told = replace(self._told, done=self._told.done + 1)
        self._say(f"{task.kind} {task.number}: {told}")

    def _keep_leases(self) -> None:
        """Renew what this worker holds once a third of the lease is over, and tell that it is there."""
        now = self._memory.clock.now()
        if now - self._renewed < timedelta(seconds=self._lease / 3):
            return
        self._renewed = now
        if self._mine is not None:
            self._memory.tasks.renew(self._mine, self._lease)
        self._tell()

    def _tell(self) -> None:
        until = self._memory.clock.now() + timedelta(seconds=self._lease)
        self._memory.tasks.tell(replace(self._told, until=until))

    def _end(self) -> None:
        with suppress(AmgsError):  # the store may be what has ended it
            if self._mine is not None:
                with suppress(StaleError):
                    self._memory.tasks.release(self._mine)
            self._memory.tasks.leave(self._told.name)


def _silent(line: str) -> None:
    del line

"""`memory.tasks`: what workers are asked to do, who does it, and what came of it.

A task is claimed for the time of a lease; where its worker is gone by then, another claims it again. What a task
changes is written in the transaction that ends it, and only by the worker that has it: it is done once or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

from amgs import bounds
from amgs.api.context import MemoryContext
from amgs.api.search_index import SearchIndex
from amgs.clock import parse_instant
from amgs.derived.centrality import CentralityFound, GraphInput
from amgs.derived.search_indexes import check_space
from amgs.errors import StaleError, UsageError
from amgs.lifecycle import consolidate, prepared_vectors
from amgs.lifecycle.prepared_vectors import TextBatch
from amgs.types import Progress, Vector
from amgs.types.tasks import TASK_KINDS, Task, TaskKind, WorkerList, WorkerState

ATTEMPTS = 3
"""A task that was claimed so often without being done has failed, until it is tried again by hand."""
TEXTS = 256
"""Texts that are embedded in one task."""
_DONE_KEPT = 1000
_LONGEST = 500
"""Characters kept of what came of a task."""
_PREFIX = "worker."
_FORGOTTEN = timedelta(days=1)
"""What a worker that is gone told of itself is dropped after so long."""


class Tasks:
    """See the module. A program of its own may claim tasks too: `claim`, then `hold` and `finish` in one transaction
    with what the task writes; `renew` meanwhile; `fail` or `release` otherwise.
    """

    def __init__(self, context: MemoryContext) -> None:
        self._context = context
        self._tasks = context.storage.tasks

    # --- looking ----------------------------------------------------------------------------------------

    def list(self, limit: int = 50) -> WorkerList:
        """The workers that are not gone, and `limit` tasks: the open and the failed ones first."""
        most, now = bounds.count("A limit", limit), self._context.clock.now()
        with self._context.storage.snapshot():
            workers = tuple(each for each in self._workers() if each.until > now)
            return WorkerList(workers, self._tasks.latest(most), self._tasks.counts(), now)

    # --- asking -----------------------------------------------------------------------------------------

    def enqueue(self, kinds: Sequence[TaskKind] = ()) -> tuple[Task, ...]:
        """Ask for what is behind, of all kinds or of these; gives the new tasks. What is asked for already, or has
        failed and waits for `retry`, is not asked for again. Raises UsageError for an unknown kind.
        """
        wanted = known_kinds(kinds)
        stale = {"index": self._stale, "centrality": self._context.derived.centrality.due}
        wanted = tuple(kind for kind in wanted if kind not in stale or stale[kind]())
        with self._context.storage.snapshot():
            if not self._behind(wanted):  # a look every few seconds need not wait for whoever writes
                return ()
        with self._context.storage.transaction():
            asked = self._behind(wanted)
            counter, now = self._context.storage.change_counter, self._context.clock.now()
            return tuple(self._tasks.add(kind, parameters, counter, now) for kind, parameters in asked)

    def retry(self) -> tuple[Task, ...]:
        """Have the tasks that failed wait again; gives them."""
        now = self._context.clock.now()
        with self._context.storage.transaction():
            failed = [one for one in self._tasks.unfinished() if one.state == "failed"]
            again = [
                replace(one, state="waiting", attempts=0, not_before=None, changed_at=now) for one in failed
            ]
            for one in again:
                self._tasks.put(one)
        return tuple(again)

    def _behind(self, kinds: Sequence[TaskKind]) -> tuple[tuple[TaskKind, Mapping[str, Any]], ...]:
        """What is behind, of these kinds, and not asked for yet."""
        storage, asked_for = self._context.storage, self._tasks.unfinished()
        taken = [
            (one.parameters["first"], one.parameters["last"]) for one in asked_for if one.kind == "embedding"
        ]
        ranges = prepared_vectors.ranges(storage, self._space, TEXTS) if "embedding" in kinds else []
        asked: tuple[tuple[TaskKind, Mapping[str, Any]], ...] = tuple(
            ("embedding", {"first": a, "last": b})
            for a, b in ranges
            if not any(a <= last and first <= b for first, last in taken)
        )
        # Consolidation waits for the vectors that are on their way, and embeds itself what could not be embedded.
        on_their_way = asked or any(one.kind == "embedding" and one.state != "failed" for one in asked_for)
        open_kinds = {one.kind for one in asked_for}
        ready = not on_their_way and storage.blocks.count(consolidate.RAW)
        if "consolidation" in kinds and "consolidation" not in open_kinds and ready:
            asked += (("consolidation", {"limit": self._context.settings.consolidation.transaction}),)
        # What is about the whole memory is done once nothing else is to come.
        whole: tuple[TaskKind, ...] = ("centrality", "index")
        to_come = asked or any(one.state != "failed" for one in asked_for if one.kind not in whole)
        if not to_come and not storage.blocks.count(consolidate.RAW):
            asked += tuple((kind, {}) for kind in whole if kind in kinds and kind not in open_kinds)
        return asked

    def _stale(self) -> bool:
        """Whether the memory has a search index that was not built, or blocks have changed since."""
        if self._context.derived.tier is None:
            return False
        status = SearchIndex(self._context).status()
        return not status.version or status.lag > 0

    def _possible(self, kinds: Collection[TaskKind]) -> tuple[TaskKind, ...]:
        """Of these kinds those that can be done here: an index only where the memory was opened with one."""
        return tuple(kind for kind in kinds if kind != "index" or self._context.derived.tier is not None)

    # --- doing ------------------------------------------------------------------------------------------

    def claim(self, worker: str, kinds: Collection[TaskKind], seconds: float) -> Task | None:
        """The first task that waits, or whose worker is gone, for so many seconds; None where there is none.

        One that was claimed too often has failed: whoever had it never came back.
        """
        now = self._context.clock.now()
        with self._context.storage.transaction():
            while (found := self._tasks.claimable(self._possible(kinds), now)) is not None:
                if found.attempts < ATTEMPTS:
                    mine = replace(
                        found,
                        state="running",
                        worker=worker,
                        attempts=found.attempts + 1,
                        not_before=now + timedelta(seconds=seconds),
                        changed_at=now,
                    )
                    self._tasks.put(mine)
                    return mine
                told = (
                    found.result
                    or f"{found.worker} did not come back, and it was the last of {ATTEMPTS} attempts"
                )
                self._tasks.put(replace(found, state="failed", not_before=None, result=told, changed_at=now))
        return None

    def hold(self, task: Task) -> None:
        """Raise StaleError where somebody else has the task by now, or it is done; asked inside the transaction that
        writes what came of it.
        """
        now = self._tasks.get(task.number)
        if now is None or (now.state, now.worker, now.attempts) != ("running", task.worker, task.attempts):
            raise StaleError(
                f"Task {task.number} is not {task.worker}'s any more.",
                way_out="Nothing was written. Whoever has it now goes on.",
            )

    def renew(self, task: Task, seconds: float) -> bool:
        """Have the task for so many more seconds; False where it is somebody else's by now."""
        with self._context.storage.transaction():
            try:
                self.hold(task)
            except StaleError:
                return False
            until = self._context.clock.now() + timedelta(seconds=seconds)
            self._tasks.put(replace(task, not_before=until))
        return True

    def finish(self, task: Task, result: str) -> None:
        """Say that a task is done; inside the transaction with what it writes, after `hold`."""
        self._end(task, "done", result, None)
        self._tasks.forget_done(_DONE_KEPT)

    def fail(self, task: Task, why: str, *, again: float = 0.0) -> None:
        """Say that an attempt failed; another one is made after so many seconds, unless it was the last."""
        now = self._context.clock.now()
        with self._context.storage.transaction():
            self.hold(task)
            if task.attempts >= ATTEMPTS:
                self._end(task, "failed", why, None)
            else:
                self._end(task, "waiting", why, now + timedelta(seconds=again))

    def release(self, task: Task) -> None:
        """Give a task back that was not begun, or broken off: the attempt does not count."""
        with self._context.storage.transaction():
            self.hold(task)
            self._end(replace(task, attempts=task.attempts - 1), "waiting", task.result, None)

    def _end(self, task: Task, state: Any, result: str, not_before: datetime | None) -> None:
        now = self._context.clock.now()
        self._tasks.put(
            replace(task, state=state, result=result[:_LONGEST], not_before=not_before, changed_at=now)
        )

    # --- vectors that are computed ahead ----------------------------------------------------------------

    @property
    def _space(self) -> str:
        return self._context.embedder.name

    def texts(self, first: int, last: int) -> TextBatch:
        """What is to be embedded of the raw blocks with these running numbers that have no vector yet. Raises
        StoreError where another embedder made the store's embeddings.
        """
        check_space(self._context.storage, self._context.embedder)
        with self._context.storage.snapshot():
            return prepared_vectors.batch(self._context.storage, self._space, first, last)

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        """Unit vectors (n, d) of texts, by the memory's own embedder."""
        return self._context.embedder.embed(texts, progress)

    def keep_vectors(self, batch: TextBatch, vectors: Vector) -> int:
        """Keep vectors (n, d) for the consolidation that comes, where their blocks are still raw and have none."""
        with self._context.storage.transaction():
            return prepared_vectors.keep(self._context.storage, batch, self._space, vectors)

    def map_vectors(self, progress: Progress | None = None) -> bool:
        """Write the vectors that came since this was done last beside the store, from where they are read from now on:
        for a program that runs for long. Whether there were enough. Raises Cancelled where progress is.
        """
        return self._context.derived.keep_vectors(progress)

    # --- centrality -------------------------------------------------------------------------------------

    def graph_input(self) -> GraphInput:
        """What the centrality of the whole graph is worked out from, as it is now."""
        return self._context.derived.graph_input()

    def keep_centrality(self, found: CentralityFound) -> bool:
        """Have searches go by it; False where what is there is of the same graph or a later one."""
        return self._context.derived.centrality.keep(found)

    # --- workers ----------------------------------------------------------------------------------------

    def tell(self, worker: WorkerState) -> None:
        """Have the memory remember a worker; others see it until it is gone."""
        told = asdict(worker) | {"since": worker.since.isoformat(), "until": worker.until.isoformat()}
        with self._context.storage.transaction():
            self._context.storage.meta.keep(_PREFIX + worker.name, json.dumps(told))

    def leave(self, name: str) -> None:
        """Forget a worker, which ends."""
        with self._context.storage.transaction():
            self._context.storage.meta.keep(_PREFIX + name, None)

    def tidy(self) -> None:
        """Drop what nobody needs any more: workers that are long gone, vectors of blocks that are not raw."""
        long_ago = self._context.clock.now() - _FORGOTTEN
        with self._context.storage.transaction():
            for worker in self._workers():
                if worker.until < long_ago:
                    self.leave(worker.name)
            self._context.storage.prepared_vectors.tidy()

    def _workers(self) -> tuple[WorkerState, ...]:
        found = []
        for kept in self._context.storage.meta.kept(_PREFIX).values():
            told = json.loads(kept)
            told.pop("where", None)  # an earlier version told how many processes it had
            for key in ("since", "until"):
                told[key] = parse_instant(told[key])
            found.append(WorkerState(**{**told, "kinds": tuple(told["kinds"])}))
        return tuple(found)


def known_kinds(kinds: Sequence[str]) -> tuple[TaskKind, ...]:
    """The kinds of these names, all of them for none; raises UsageError for one that is not there."""
    unknown = [kind for kind in kinds if kind not in TASK_KINDS]
    if unknown:
        raise UsageError(
            f"There is no kind of task {unknown[0]!r}.", way_out=f"The kinds are: {', '.join(TASK_KINDS)}."
        )
    return tuple(kind for kind in TASK_KINDS if not kinds or kind in kinds)

"""Workers that are killed without warning: no task may be lost, and none carried out twice.

A worker of a memory in a process of its own, which can be killed at any moment.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection

from amgs.clock import SystemClock
from amgs.errors import StoreLockedError
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.settings import ConsolidationSettings, Settings
from amgs.text.embedding import HashingEmbedder
from amgs.types import BlockFilter
from amgs.types.tasks import TaskKind
from amgs.workers import Worker
from benchmarks.bench_results import BenchTable, MemoryRig, SubjectResult
from benchmarks.scaleout.setup import ScaleoutSetup
from benchmarks.scaleout.writer import note

LEASE = 1.0
"""Seconds: whoever comes after a killed worker soon claims what that had."""
SMALL = Settings(consolidation=ConsolidationSettings(transaction=16))
"""A transaction of few blocks, so that a kill falls between many."""
_SLOW = 0.2
"""Seconds by which a worker that says it too early lags behind what it said."""
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["benchmarks.scaleout.workers"])


def opened(place: str) -> Memory:
    """The memory at a place, as soon as nobody else holds it."""
    while True:
        try:
            return Memory.open(place, clock=SystemClock(), embedder=HashingEmbedder(), settings=SMALL)
        except StoreLockedError:
            time.sleep(0.02)


class WorkerProcess:
    """Works until it is killed. early: says that a task is done before it writes what came of it."""

    def __init__(self, place: str, *, early: bool = False) -> None:
        here, there = _CONTEXT.Pipe(duplex=False)
        self._said = here
        self._process = _CONTEXT.Process(target=_work, args=(place, early, there), daemon=True)
        self._process.start()
        there.close()

    def wait_for(self, tasks: int) -> None:
        """Wait until it has the memory open and has said of so many tasks that they are done; raises RuntimeError where
        it has ended instead.
        """
        try:
            for _ in range(1 + tasks):
                self._said.recv()
        except EOFError as error:
            raise RuntimeError("A worker died by itself.") from error

    def kill(self) -> None:
        """End it as a power cut would; raises RuntimeError where it had ended by itself."""
        alive = self._process.is_alive()
        self._process.kill()
        self._process.join()
        self._process.close()
        self._said.close()
        if not alive:
            raise RuntimeError("A worker died by itself.")


def _work(place: str, early: bool, said: Connection) -> None:
    with opened(place) as memory:
        said.send("ready")
        if early:
            _too_early(memory, said)
        Worker(memory, f"worker-{os.getpid()}", lease=LEASE, say=said.send).run(_pause)


def _pause() -> bool:
    time.sleep(0.01)
    return True


def _too_early(memory: Memory, said: Connection) -> None:
    """Consolidate as a worker must not: the task is done before its plan is carried out."""
    only: tuple[TaskKind, ...] = ("consolidation",)
    while True:
        memory.tasks.enqueue(only)
        task = memory.tasks.claim("early", only, LEASE)
        if task is None:
            time.sleep(0.01)
            continue
        plan = memory.plan_consolidation(limit=int(task.parameters["limit"]))
        with memory.transaction():
            memory.tasks.hold(task)
            memory.tasks.finish(task, "operation" if plan.items else "the inbox was empty")
        said.send("done")
        time.sleep(_SLOW)
        if plan.items:
            memory.apply_consolidation(plan)


NOTES = 40
"""Notes taken in between two kills."""
MOST = 3
"""Tasks that a worker is let end, at most: there are four of so many notes."""
LONGEST = 0.1
"""Seconds that it is let work after these, at most."""
CONTROLS = 10
"""Kills of workers that say a task is done before they write what came of it."""
_EVERY = BlockFilter(statuses=("raw", "consolidated"))


@dataclass(frozen=True, slots=True)
class WorkersKilled:
    """What was left. acknowledged: notes that the memory said were kept; lost: of these, those that are not there. raw:
    those that nobody consolidated in the end. tasks: done; failed: claimed three times by workers that were killed.
    unwritten: tasks of consolidation that are done and no operation of the journal is of them. twice: blocks beyond
    those there are that operations consolidated. verified: whether the store is sound.
    """

    kills: int
    acknowledged: int
    lost: int
    raw: int
    tasks: int
    failed: int
    unwritten: int
    twice: int
    verified: bool


def measure_workers(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult:
    """`kill -9` of a worker at a random moment, again and again. Controls: a worker that says a task is done before it
    writes, which the count of unwritten tasks must find; and an inbox that was really consolidated twice.
    """
    kills, chance = setup.effort.kills, random.Random(rig.seed)
    with setup.namespace("workers") as place:
        found = workers_killed(rig, place, kills, chance)
    with setup.namespace("workers_early") as place:
        early = workers_killed(rig, place, min(kills, CONTROLS), chance, early=True)
    with setup.namespace("workers_twice") as place:
        again = _consolidated_again(place)
    metrics = {
        "worker_kills": float(found.kills),
        "worker_acknowledged": float(found.acknowledged),
        "worker_acknowledged_lost": float(found.lost),
        "worker_left_raw": float(found.raw),
        "worker_tasks": float(found.tasks),
        "worker_tasks_failed": float(found.failed),
        "worker_tasks_unwritten": float(found.unwritten),
        "worker_applied_twice": float(found.twice),
        "worker_verified": float(found.verified),
        "worker_unwritten_control": float(early.unwritten),
        "worker_twice_control": float(again),
    }
    table = BenchTable(
        "Workers killed",
        (
            "worker",
            "kills",
            "notes",
            "of these lost",
            "tasks done",
            "failed",
            "done, not written",
            "applied twice",
        ),
        (
            ("writes and says it at once", *_row(found)),
            ("control: says it, then writes", *_row(early)),
            ("control: consolidated, undone, consolidated", 0, NOTES, 0, 0, 0, 0, again),
        ),
    )
    return SubjectResult(
        metrics,
        {
            "worker_acknowledged_lost": ("<=", 0.0),
            "worker_left_raw": ("<=", 0.0),
            "worker_tasks_unwritten": ("<=", 0.0),
            "worker_applied_twice": ("<=", 0.0),
            "worker_verified": (">=", 1.0),
            "worker_unwritten_control": (">=", 1.0),
            "worker_twice_control": (">=", 1.0),
        },
        (table,),
    )


def _row(found: WorkersKilled) -> tuple[int, ...]:
    return (
        found.kills,
        found.acknowledged,
        found.lost,
        found.tasks,
        found.failed,
        found.unwritten,
        found.twice,
    )


def workers_killed(
    rig: MemoryRig, place: str, kills: int, chance: random.Random, *, early: bool = False
) -> WorkersKilled:
    """Take notes in, let a worker begin on them, kill it; so often. In the end one works in peace."""
    kept: set[str] = set()
    for number in range(kills):
        rig.progress(number, kills, "killing a worker")
        with opened(place) as memory:
            kept.update(_taken_in(memory, f"{number}"))
        worker = WorkerProcess(place, early=early)
        try:
            worker.wait_for(chance.randint(1 if early else 0, MOST - early))
            time.sleep(chance.uniform(0.0, LONGEST))
        finally:
            worker.kill()
    with opened(place) as memory:
        time.sleep(LEASE)  # what the last one held is free then
        failed = len(memory.tasks.retry())
        Worker(memory, "last").run()
        return _counted(memory, kills, kept, failed)


def _taken_in(memory: Memory, name: str) -> tuple[str, ...]:
    """Ids of the notes that the memory says it has kept."""
    now = memory.clock.now()
    return memory.ingest_many([RawBlock(note(name, each), now, {}) for each in range(NOTES)]).added


def _counted(memory: Memory, kills: int, kept: set[str], failed: int) -> WorkersKilled:
    held = {block.id for block in memory.blocks(_EVERY)}
    counts = memory.tasks.list().counts
    done = [
        task
        for task in memory.tasks.list(100_000).tasks
        if task.kind == "consolidation" and task.result.startswith("operation")
    ]
    operations = [entry for entry in memory.operations(100_000) if entry.kind == "consolidate"]
    consolidated = memory.counts().get("consolidated", 0)
    return WorkersKilled(
        kills,
        len(kept),
        len(kept - held),
        memory.counts().get("raw", 0),
        sum(count for name, count in counts.items() if name.endswith(" done")),
        failed,
        len(done) - len(operations),
        sum(entry.blocks for entry in operations) - consolidated,
        memory.verify().ok,
    )


def _consolidated_again(place: str) -> int:
    """Blocks beyond those there are that operations consolidated, where that was really done twice."""
    with opened(place) as memory:
        _taken_in(memory, "again")
        memory.undo(memory.apply_consolidation(memory.plan_consolidation()).id)
        memory.apply_consolidation(memory.plan_consolidation())
        return _counted(memory, 0, set(), 0).twice

"""A worker of a memory in a process of its own, which can be killed at any moment."""

from __future__ import annotations

import multiprocessing
import os
import time
from multiprocessing.connection import Connection

from amgs.clock import SystemClock
from amgs.errors import StoreLockedError
from amgs.memory import Memory
from amgs.settings import ConsolidationSettings, Settings
from amgs.text.embedding import HashingEmbedder
from amgs.types.tasks import TaskKind
from amgs.workers import Worker

LEASE = 1.0
"""Seconds: whoever comes after a killed worker soon claims what that had."""
SMALL = Settings(consolidation=ConsolidationSettings(transaction=16))
"""A transaction of few blocks, so that a kill falls between many."""
_SLOW = 0.2
"""Seconds by which a worker that says it too early lags behind what it said."""
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["benchmarks.scaleout.worker_process"])


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

"""Consolidation: a plan made outside of any transaction, carried out in one where its blocks are still raw."""

from __future__ import annotations

from concurrent.futures import Executor, Future

from amgs.memory import Memory
from amgs.types import ConsolidationPlan, Progress
from amgs.types.tasks import Task
from amgs.workers.work import TaskWork, here


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

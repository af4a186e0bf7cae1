"""Centrality: how central each block of a large graph is, for scoring; worked out outside of any transaction."""

from __future__ import annotations

from concurrent.futures import Executor, Future

from amgs.derived.centrality import CentralityFound, worked_out
from amgs.memory import Memory
from amgs.text.plural import plural
from amgs.types import Progress
from amgs.types.tasks import Task
from amgs.workers.work import TaskWork, here


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

"""Indexing: the search index is brought to the store's present state, outside of any transaction."""

from __future__ import annotations

from concurrent.futures import Executor, Future

from amgs.memory import Memory
from amgs.types import IndexBuild, Progress
from amgs.types.tasks import Task
from amgs.workers.work import TaskWork, here


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

"""Embedding: vectors of raw blocks, ahead of their consolidation; of each text once, by its hash."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import lru_cache

from amgs.lifecycle.prepared_vectors import TextBatch
from amgs.memory import Memory
from amgs.text.embedders import named
from amgs.text.embedding import Embedder
from amgs.types import Progress, Vector
from amgs.types.tasks import Task
from amgs.workers.work import TaskWork, here


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

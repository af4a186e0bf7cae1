"""What a store consists of beside one file: a namespace of a database, a search index elsewhere, workers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs.types.tasks import Task, WorkerState


@dataclass(frozen=True, slots=True)
class NamespaceSize:
    """A namespace of a database. blocks: of the open one as they are, of another as PostgreSQL last estimated them,
    None where it never did. bytes: of its tables and their indexes. changes: the change counter of the open one; that
    of another is not asked.
    """

    name: str
    blocks: int | None
    bytes: int
    changes: int | None = None


@dataclass(frozen=True, slots=True)
class IndexLag:
    """How far the search index is behind the store. version: 0 where nothing was built. built_at, store_at: counters of
    changes of structure. built: when; None where that was not noted. fault: why it cannot be read, "" where it can.
    """

    version: int
    rows: int
    built_at: int
    store_at: int
    built: datetime | None = None
    fault: str = ""

    @property
    def changes(self) -> int:
        """Changes that came since it was built."""
        return self.store_at - self.built_at


@dataclass(frozen=True, slots=True)
class StoreTopology:
    """namespace, index: None where the memory lies in a file, or is searched within the process. workers: those that
    are not gone. waiting, running, failed: tasks. claimed: the first of those that run.
    """

    namespace: NamespaceSize | None
    index: IndexLag | None
    workers: tuple[WorkerState, ...]
    waiting: int
    running: int
    failed: int
    claimed: tuple[Task, ...]

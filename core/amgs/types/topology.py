"""What a store consists of beside one file: a namespace of a database, a search index elsewhere, workers; and a change
of a store that several programs share.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, get_args

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


Consistency = Literal["strong", "bounded"]
CONSISTENCIES = get_args(Consistency)
"""strong: what was built and everything that came since; bounded: what was built alone."""


@dataclass(frozen=True, slots=True)
class IndexBuild:
    """One build. place: the folder of the store's datasets. built_at: the state of the store it holds now. rows:
    blocks in it; changed: rows written or removed for it, 0 where it was up to date.
    """

    place: str
    version: int
    built_at: int
    rows: int
    changed: int
    seconds: float


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """How the index stands. version: 0 where nothing was built. built_at, store_at: counters of changes of structure.
    lag: blocks that changed since and stand beside it. size: bytes of the version.
    """

    place: str
    version: int
    built_at: int
    store_at: int
    lag: int
    rows: int
    size: int


@dataclass(frozen=True, slots=True)
class StoreChange:
    """revision: the change counter after it. program: the process that made it, and its machine. operation, caller,
    client, server: what was carried out, who asked for it, under which id of the client, of which server; "" where it
    was not said.
    """

    revision: int
    program: str
    operation: str = ""
    caller: str = ""
    client: str = ""
    server: str = ""

"""What the engine asks of a store, whatever keeps it: rows in, rows out, columns for many at once.

Plans are carried out as transactions: everything written in one commits together or not at all, and the change counter
rises by one. What is derived from the store follows it by revision: `since` in a method's name or parameters means the
rows that changed after that value of the counter.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from amgs.storage.as_of import AsOfStorage
    from amgs.storage.assemblies import AssemblyStorage
    from amgs.storage.block_columns import BlockColumnStorage
    from amgs.storage.blocks import BlockStorage
    from amgs.storage.bulk import BulkStorage
    from amgs.storage.centrality import CentralityStorage
    from amgs.storage.deleted_blocks import DeletedBlockStorage
    from amgs.storage.edge_forecasts import EdgeForecastStorage
    from amgs.storage.edges import EdgeStorage
    from amgs.storage.erasure import ErasureStorage
    from amgs.storage.exchanges import ExchangeStorage
    from amgs.storage.forecasts import ForecastStorage
    from amgs.storage.frame_cache import FrameCacheStorage
    from amgs.storage.frames import FrameStorage
    from amgs.storage.journal import JournalStorage
    from amgs.storage.mentions import MentionStorage
    from amgs.storage.messages import MessageStorage
    from amgs.storage.meta import MetaStorage
    from amgs.storage.monitors import MonitorStorage
    from amgs.storage.packs import PackStorage
    from amgs.storage.prepared_vectors import PreparedVectorStorage
    from amgs.storage.reinforcements import ReinforcementStorage
    from amgs.storage.reviews import ReviewStorage
    from amgs.storage.scores import ScoreStorage
    from amgs.storage.searches import SearchStorage
    from amgs.storage.sources import SourceStorage
    from amgs.storage.tables import TableStorage
    from amgs.storage.tasks import TaskStorage
    from amgs.storage.undone import UndoneStorage
    from amgs.storage.waterfalls import WaterfallStorage
    from amgs.types import StoreChange
    from amgs.types.topology import NamespaceSize


class Storage(Protocol):
    """An open store; close it, or use it as a context manager.

    Parts are written inside `with storage.transaction():` and read anywhere. A read in another thread sees the last
    committed state, a read inside a transaction sees the transaction.
    """

    @property
    def path(self) -> str:
        """Where the store lies: a file, the address of a database without its secrets, or ":memory:"."""
        ...

    @property
    def file(self) -> Path | None:
        """The file that the store is kept in, beside which what belongs to it lies; None for any other store."""
        ...

    def namespaces(self, *, own: bool = False) -> tuple[NamespaceSize, ...]:
        """The namespaces of the database that whoever is connected may use, by name, as the catalogue has them: none of
        them is read. own: this store's alone. Nothing for a store in no database.
        """
        ...

    @property
    def read_only(self) -> bool: ...

    @property
    def lost(self) -> str:
        """What was missing when the store was opened, where that was accepted; in words."""
        ...

    @property
    def made(self) -> bool:
        """Whether opening it made it: there was none before."""
        ...

    @property
    def closed(self) -> bool: ...

    def close(self) -> None:
        """Close the store; a second call does nothing. One that was found damaged is left as it is."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc_info: object) -> None: ...

    # --- states -----------------------------------------------------------------------------------------

    def transaction(self, *, counted: bool = True) -> AbstractContextManager[None]:
        """All writes inside commit together or not at all; one inside another joins it. counted: whether the change
        counter rises; a copy brings its own.
        """
        ...

    def alone(self) -> AbstractContextManager[None]:
        """Inside, over many transactions, no other program writes to the store. Raises StoreLockedError where one goes
        on writing, and StoreError for whatever is written after the connection that keeps others out was lost.
        """
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """Whatever this thread reads inside is of one committed state, however others go on. One inside another, or
        inside a transaction of this thread, joins it.
        """
        ...

    @property
    def change_counter(self) -> int:
        """Rises by one with every committed writing transaction."""
        ...

    @property
    def structure_counter(self) -> int:
        """The change counter at the last change that indexes must follow: not reinforcement, logs or caches."""
        ...

    @property
    def counters(self) -> tuple[int, int]:
        """The change counter and the structure counter, in one look."""
        ...

    @property
    def shared(self) -> bool:
        """Whether other programs may write to the store while it is open."""
        ...

    def changes(self, since: int, limit: int) -> tuple[StoreChange, ...]:
        """The first changes after a value of the change counter, whoever made them, as far as they are kept; of a
        store that is not shared none are.
        """
        ...

    def hear(self, seconds: float) -> None:
        """Wait until a change of a shared store is announced, by whatever program, for some seconds at most. One thread
        hears; a notice may be missed, so look at the counter afterwards. Raises StoreError where the server is gone.
        """
        ...

    def followed(self, since: int) -> bool:
        """Whether all that changed since a value of the change counter can be told by revision. Where other programs
        write too, it cannot after one filled the store from elsewhere, or after more changes than are kept.
        """
        ...

    @property
    def schema_version(self) -> int:
        """The latest schema that this program knows: opening a store brings it there."""
        ...

    # --- parts ------------------------------------------------------------------------------------------

    @property
    def blocks(self) -> BlockStorage: ...

    @property
    def block_columns(self) -> BlockColumnStorage: ...

    @property
    def bulk(self) -> BulkStorage: ...

    @property
    def edges(self) -> EdgeStorage: ...

    @property
    def frames(self) -> FrameStorage: ...

    @property
    def frame_cache(self) -> FrameCacheStorage: ...

    @property
    def assemblies(self) -> AssemblyStorage: ...

    @property
    def waterfalls(self) -> WaterfallStorage: ...

    @property
    def searches(self) -> SearchStorage: ...

    @property
    def scores(self) -> ScoreStorage: ...

    @property
    def forecasts(self) -> ForecastStorage: ...

    @property
    def edge_forecasts(self) -> EdgeForecastStorage: ...

    @property
    def reinforcements(self) -> ReinforcementStorage: ...

    @property
    def monitors(self) -> MonitorStorage: ...

    @property
    def journal(self) -> JournalStorage: ...

    @property
    def undone(self) -> UndoneStorage: ...

    @property
    def as_of(self) -> AsOfStorage: ...

    @property
    def reviews(self) -> ReviewStorage: ...

    @property
    def sources(self) -> SourceStorage: ...

    @property
    def messages(self) -> MessageStorage: ...

    @property
    def exchanges(self) -> ExchangeStorage: ...

    @property
    def packs(self) -> PackStorage: ...

    @property
    def mentions(self) -> MentionStorage: ...

    @property
    def centrality(self) -> CentralityStorage: ...

    @property
    def tasks(self) -> TaskStorage: ...

    @property
    def prepared_vectors(self) -> PreparedVectorStorage: ...

    @property
    def deleted_blocks(self) -> DeletedBlockStorage: ...

    @property
    def meta(self) -> MetaStorage: ...

    @property
    def erasure(self) -> ErasureStorage: ...

    @property
    def tables(self) -> TableStorage: ...

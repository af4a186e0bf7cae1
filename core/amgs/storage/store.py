"""The store as the engine uses it: a part per family of tables, on a single connection.

Changes are transactions: everything in a transaction commits together or not at all, and the change counter rises by 1.
Indexes follow by revision: a parameter `since` means rows changed after that value of the counter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from amgs.storage.blocks import BlockStorage
from amgs.storage.connection import SqlConnection
from amgs.storage.edges import CentralityStorage, EdgeStorage
from amgs.storage.erasure import ErasureStorage
from amgs.storage.frames import AssemblyStorage, FrameStorage, SearchStorage, WaterfallStorage
from amgs.storage.journal import JournalStorage
from amgs.storage.tables import MetaStorage
from amgs.wing_registry import load_named

if TYPE_CHECKING:
    from amgs.storage.block_columns import BlockColumnStorage
    from amgs.storage.erasure import DeletedBlockStorage
    from amgs.storage.forecasts import BlockUseStorage, EdgeForecastStorage, ForecastStorage
    from amgs.storage.frames import FrameCacheStorage, ScoreStorage
    from amgs.storage.logs import MonitorStorage, ReinforcementStorage, ReviewStorage
    from amgs.storage.messages import ExchangeStorage, MentionStorage, MessageStorage
    from amgs.storage.sources import SourceStorage
    from amgs.storage.tables import TableStorage


P = TypeVar("P")


class _Lazy(Generic[P]):
    """A part whose module is imported on first use."""

    def __init__(self, place: str) -> None:
        self._place = place

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, store: Storage, owner: type) -> P:
        part: P = load_named(f"amgs.storage.{self._place}")(store)
        store.__dict__[self._name] = part
        return part


class Storage(SqlConnection):
    """An open store. A backend adds its connection, and the parts in which the databases differ. Parts that a search
    does not need are imported on first use.
    """

    block_columns: BlockColumnStorage
    sources: SourceStorage
    tables: TableStorage

    def __init__(self, path: str, *, read_only: bool) -> None:
        super().__init__(path, read_only=read_only)
        self.meta = MetaStorage(self)
        self.blocks = BlockStorage(self, self.meta)
        self.edges = EdgeStorage(self)
        self.centrality = CentralityStorage(self)
        self.frames = FrameStorage(self)
        self.assemblies = AssemblyStorage(self)
        self.waterfalls = WaterfallStorage(self)
        self.searches = SearchStorage(self)
        self.journal = JournalStorage(self)
        self.erasure = ErasureStorage(self, self.meta)

    messages: _Lazy[MessageStorage] = _Lazy("messages:MessageStorage")
    mentions: _Lazy[MentionStorage] = _Lazy("messages:MentionStorage")
    exchanges: _Lazy[ExchangeStorage] = _Lazy("messages:ExchangeStorage")
    frame_cache: _Lazy[FrameCacheStorage] = _Lazy("frames:FrameCacheStorage")
    scores: _Lazy[ScoreStorage] = _Lazy("frames:ScoreStorage")
    forecasts: _Lazy[ForecastStorage] = _Lazy("forecasts:ForecastStorage")
    edge_forecasts: _Lazy[EdgeForecastStorage] = _Lazy("forecasts:EdgeForecastStorage")
    block_uses: _Lazy[BlockUseStorage] = _Lazy("forecasts:BlockUseStorage")
    reinforcements: _Lazy[ReinforcementStorage] = _Lazy("logs:ReinforcementStorage")
    monitors: _Lazy[MonitorStorage] = _Lazy("logs:MonitorStorage")
    reviews: _Lazy[ReviewStorage] = _Lazy("logs:ReviewStorage")
    deleted_blocks: _Lazy[DeletedBlockStorage] = _Lazy("erasure:DeletedBlockStorage")

"""A store in an SQL database: rows in, rows out, columns for many at once, in one part per table family.

Plans are carried out as transactions: everything written in one commits together or not at all, and the change counter
rises by one. What is derived from the store follows it by revision: `since` in a method's name or parameters means the
rows that changed after that value of the counter.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from amgs.storage.assemblies import AssemblyStorage, SearchStorage, WaterfallStorage
from amgs.storage.blocks import BlockStorage
from amgs.storage.connection import SqlConnection
from amgs.storage.edges import CentralityStorage, EdgeStorage
from amgs.storage.erasure import ErasureStorage
from amgs.storage.frames import FrameStorage
from amgs.storage.journal import JournalStorage
from amgs.storage.meta import MetaStorage

if TYPE_CHECKING:
    from amgs.storage.as_of import AsOfStorage
    from amgs.storage.block_columns import BlockColumnStorage
    from amgs.storage.erasure import DeletedBlockStorage
    from amgs.storage.forecasts import BlockUseStorage, EdgeForecastStorage, ForecastStorage
    from amgs.storage.frames import FrameCacheStorage, ScoreStorage
    from amgs.storage.messages import ExchangeStorage, MentionStorage, MessageStorage
    from amgs.storage.monitors import MonitorStorage
    from amgs.storage.reinforcements import ReinforcementStorage
    from amgs.storage.reviews import ReviewStorage
    from amgs.storage.sources import SourceStorage
    from amgs.storage.tables import TableStorage


class Storage(SqlConnection):
    """An open store; close it, or use it as a context manager. A backend adds its connection, and the parts in which
    the databases differ. What a search never asks for is imported when it is asked for.
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

    @cached_property
    def messages(self) -> MessageStorage:
        from amgs.storage.messages import MessageStorage

        return MessageStorage(self)

    @cached_property
    def mentions(self) -> MentionStorage:
        from amgs.storage.messages import MentionStorage

        return MentionStorage(self)

    @cached_property
    def frame_cache(self) -> FrameCacheStorage:
        from amgs.storage.frames import FrameCacheStorage

        return FrameCacheStorage(self)

    @cached_property
    def scores(self) -> ScoreStorage:
        from amgs.storage.frames import ScoreStorage

        return ScoreStorage(self)

    @cached_property
    def forecasts(self) -> ForecastStorage:
        from amgs.storage.forecasts import ForecastStorage

        return ForecastStorage(self)

    @cached_property
    def edge_forecasts(self) -> EdgeForecastStorage:
        from amgs.storage.forecasts import EdgeForecastStorage

        return EdgeForecastStorage(self)

    @cached_property
    def block_uses(self) -> BlockUseStorage:
        from amgs.storage.forecasts import BlockUseStorage

        return BlockUseStorage(self)

    @cached_property
    def reinforcements(self) -> ReinforcementStorage:
        from amgs.storage.reinforcements import ReinforcementStorage

        return ReinforcementStorage(self)

    @cached_property
    def monitors(self) -> MonitorStorage:
        from amgs.storage.monitors import MonitorStorage

        return MonitorStorage(self)

    @cached_property
    def reviews(self) -> ReviewStorage:
        from amgs.storage.reviews import ReviewStorage

        return ReviewStorage(self)

    @cached_property
    def exchanges(self) -> ExchangeStorage:
        from amgs.storage.messages import ExchangeStorage

        return ExchangeStorage(self)

    @cached_property
    def deleted_blocks(self) -> DeletedBlockStorage:
        from amgs.storage.erasure import DeletedBlockStorage

        return DeletedBlockStorage(self)

    @cached_property
    def as_of(self) -> AsOfStorage:
        from amgs.storage.as_of import AsOfStorage

        return AsOfStorage(self, self.blocks, self.edges)

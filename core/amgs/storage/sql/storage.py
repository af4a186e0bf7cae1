"""A store in an SQL database: its connection, and one part per table family."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from amgs.storage.sql.assemblies import SqlAssemblies
from amgs.storage.sql.blocks import SqlBlocks
from amgs.storage.sql.centrality import SqlCentrality
from amgs.storage.sql.connection import SqlConnection
from amgs.storage.sql.edges import SqlEdges
from amgs.storage.sql.erasure import SqlErasure
from amgs.storage.sql.frames import SqlFrames
from amgs.storage.sql.journal import SqlJournal
from amgs.storage.sql.meta import SqlMeta
from amgs.storage.sql.searches import SqlSearches

if TYPE_CHECKING:
    from amgs.storage.sql.as_of import SqlAsOf
    from amgs.storage.sql.bulk import SqlBulk
    from amgs.storage.sql.deleted_blocks import SqlDeletedBlocks
    from amgs.storage.sql.edge_forecasts import SqlEdgeForecasts
    from amgs.storage.sql.exchanges import SqlExchanges
    from amgs.storage.sql.forecasts import SqlForecasts
    from amgs.storage.sql.frame_cache import SqlFrameCache
    from amgs.storage.sql.mentions import SqlMentions
    from amgs.storage.sql.messages import SqlMessages
    from amgs.storage.sql.monitors import SqlMonitors
    from amgs.storage.sql.packs import SqlPacks
    from amgs.storage.sql.prepared_vectors import SqlPreparedVectors
    from amgs.storage.sql.reinforcements import SqlReinforcements
    from amgs.storage.sql.reviews import SqlReviews
    from amgs.storage.sql.scores import SqlScores
    from amgs.storage.sql.tasks import SqlTasks
    from amgs.storage.sql.undone import SqlUndone
    from amgs.storage.sql.waterfalls import SqlWaterfalls


class SqlStorage(SqlConnection):
    """All parts of `Storage` but those that a backend has of its own. What a search never asks for is imported when it
    is asked for.
    """

    def __init__(self, path: str, *, read_only: bool) -> None:
        super().__init__(path, read_only=read_only)
        self.meta = SqlMeta(self)
        self.blocks = SqlBlocks(self, self.meta)
        self.edges = SqlEdges(self)
        self.centrality = SqlCentrality(self)
        self.frames = SqlFrames(self)
        self.assemblies = SqlAssemblies(self)
        self.searches = SqlSearches(self)
        self.journal = SqlJournal(self)
        self.erasure = SqlErasure(self, self.meta)

    @cached_property
    def messages(self) -> SqlMessages:
        from amgs.storage.sql.messages import SqlMessages

        return SqlMessages(self)

    @cached_property
    def packs(self) -> SqlPacks:
        from amgs.storage.sql.packs import SqlPacks

        return SqlPacks(self)

    @cached_property
    def mentions(self) -> SqlMentions:
        from amgs.storage.sql.mentions import SqlMentions

        return SqlMentions(self)

    @cached_property
    def bulk(self) -> SqlBulk:
        from amgs.storage.sql.bulk import SqlBulk

        return SqlBulk(self, self.meta)

    @cached_property
    def frame_cache(self) -> SqlFrameCache:
        from amgs.storage.sql.frame_cache import SqlFrameCache

        return SqlFrameCache(self)

    @cached_property
    def waterfalls(self) -> SqlWaterfalls:
        from amgs.storage.sql.waterfalls import SqlWaterfalls

        return SqlWaterfalls(self)

    @cached_property
    def scores(self) -> SqlScores:
        from amgs.storage.sql.scores import SqlScores

        return SqlScores(self)

    @cached_property
    def forecasts(self) -> SqlForecasts:
        from amgs.storage.sql.forecasts import SqlForecasts

        return SqlForecasts(self)

    @cached_property
    def edge_forecasts(self) -> SqlEdgeForecasts:
        from amgs.storage.sql.edge_forecasts import SqlEdgeForecasts

        return SqlEdgeForecasts(self)

    @cached_property
    def reinforcements(self) -> SqlReinforcements:
        from amgs.storage.sql.reinforcements import SqlReinforcements

        return SqlReinforcements(self)

    @cached_property
    def monitors(self) -> SqlMonitors:
        from amgs.storage.sql.monitors import SqlMonitors

        return SqlMonitors(self)

    @cached_property
    def undone(self) -> SqlUndone:
        from amgs.storage.sql.undone import SqlUndone

        return SqlUndone(self)

    @cached_property
    def reviews(self) -> SqlReviews:
        from amgs.storage.sql.reviews import SqlReviews

        return SqlReviews(self)

    @cached_property
    def exchanges(self) -> SqlExchanges:
        from amgs.storage.sql.exchanges import SqlExchanges

        return SqlExchanges(self)

    @cached_property
    def tasks(self) -> SqlTasks:
        from amgs.storage.sql.tasks import SqlTasks

        return SqlTasks(self)

    @cached_property
    def deleted_blocks(self) -> SqlDeletedBlocks:
        from amgs.storage.sql.deleted_blocks import SqlDeletedBlocks

        return SqlDeletedBlocks(self)

    @cached_property
    def prepared_vectors(self) -> SqlPreparedVectors:
        from amgs.storage.sql.prepared_vectors import SqlPreparedVectors

        return SqlPreparedVectors(self)

    @cached_property
    def as_of(self) -> SqlAsOf:
        from amgs.storage.sql.as_of import SqlAsOf

        return SqlAsOf(self, self.blocks, self.edges)

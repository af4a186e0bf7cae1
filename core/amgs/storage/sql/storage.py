"""A store in an SQL database: its connection, and one part per table family."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from amgs.storage.sql.as_of import SqlAsOf
from amgs.storage.sql.assemblies import SqlAssemblies
from amgs.storage.sql.blocks import SqlBlocks
from amgs.storage.sql.bulk import SqlBulk
from amgs.storage.sql.centrality import SqlCentrality
from amgs.storage.sql.connection import SqlConnection
from amgs.storage.sql.deleted_blocks import SqlDeletedBlocks
from amgs.storage.sql.edge_forecasts import SqlEdgeForecasts
from amgs.storage.sql.edges import SqlEdges
from amgs.storage.sql.erasure import SqlErasure
from amgs.storage.sql.exchanges import SqlExchanges
from amgs.storage.sql.forecasts import SqlForecasts
from amgs.storage.sql.frame_cache import SqlFrameCache
from amgs.storage.sql.frames import SqlFrames
from amgs.storage.sql.journal import SqlJournal
from amgs.storage.sql.meta import SqlMeta
from amgs.storage.sql.monitors import SqlMonitors
from amgs.storage.sql.prepared_vectors import SqlPreparedVectors
from amgs.storage.sql.reinforcements import SqlReinforcements
from amgs.storage.sql.reviews import SqlReviews
from amgs.storage.sql.scores import SqlScores
from amgs.storage.sql.searches import SqlSearches
from amgs.storage.sql.tasks import SqlTasks
from amgs.storage.sql.undone import SqlUndone
from amgs.storage.sql.waterfalls import SqlWaterfalls

if TYPE_CHECKING:
    from amgs.storage.sql.mentions import SqlMentions
    from amgs.storage.sql.messages import SqlMessages
    from amgs.storage.sql.packs import SqlPacks


class SqlStorage(SqlConnection):
    """All parts of `Storage` but those that a backend has of its own. What a search never asks for is imported when it
    is asked for.
    """

    def __init__(self, path: str, *, read_only: bool) -> None:
        super().__init__(path, read_only=read_only)
        self.meta = SqlMeta(self)
        self.blocks = SqlBlocks(self, self.meta)
        self.bulk = SqlBulk(self, self.meta)
        self.edges = SqlEdges(self)
        self.centrality = SqlCentrality(self)
        self.frames = SqlFrames(self)
        self.frame_cache = SqlFrameCache(self)
        self.assemblies = SqlAssemblies(self)
        self.waterfalls = SqlWaterfalls(self)
        self.searches = SqlSearches(self)
        self.scores = SqlScores(self)
        self.forecasts = SqlForecasts(self)
        self.edge_forecasts = SqlEdgeForecasts(self)
        self.reinforcements = SqlReinforcements(self)
        self.monitors = SqlMonitors(self)
        self.journal = SqlJournal(self)
        self.undone = SqlUndone(self)
        self.reviews = SqlReviews(self)
        self.exchanges = SqlExchanges(self)
        self.tasks = SqlTasks(self)
        self.deleted_blocks = SqlDeletedBlocks(self)
        self.prepared_vectors = SqlPreparedVectors(self)
        self.erasure = SqlErasure(self, self.meta)
        self.as_of = SqlAsOf(self, self.blocks, self.edges)

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

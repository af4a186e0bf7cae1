"""A store in a DuckDB file: its connection, and one part per table family."""

from __future__ import annotations

import duckdb

from amgs.storage.duckdb.as_of import DuckDBAsOf
from amgs.storage.duckdb.assemblies import DuckDBAssemblies
from amgs.storage.duckdb.block_columns import DuckDBBlockColumns
from amgs.storage.duckdb.blocks import DuckDBBlocks
from amgs.storage.duckdb.bulk import DuckDBBulk
from amgs.storage.duckdb.connection import Connection
from amgs.storage.duckdb.edge_forecasts import DuckDBEdgeForecasts
from amgs.storage.duckdb.edges import DuckDBEdges
from amgs.storage.duckdb.erasure import DuckDBErasure
from amgs.storage.duckdb.exchanges import DuckDBExchanges
from amgs.storage.duckdb.forecasts import DuckDBForecasts
from amgs.storage.duckdb.frame_cache import DuckDBFrameCache
from amgs.storage.duckdb.frames import DuckDBFrames
from amgs.storage.duckdb.journal import DuckDBJournal
from amgs.storage.duckdb.mentions import DuckDBMentions
from amgs.storage.duckdb.messages import DuckDBMessages
from amgs.storage.duckdb.meta import DuckDBMeta
from amgs.storage.duckdb.monitors import DuckDBMonitors
from amgs.storage.duckdb.packs import DuckDBPacks
from amgs.storage.duckdb.reinforcements import DuckDBReinforcements
from amgs.storage.duckdb.reviews import DuckDBReviews
from amgs.storage.duckdb.scores import DuckDBScores
from amgs.storage.duckdb.searches import DuckDBSearches
from amgs.storage.duckdb.sources import DuckDBSources
from amgs.storage.duckdb.tables import DuckDBTables
from amgs.storage.duckdb.undone import DuckDBUndone
from amgs.storage.duckdb.waterfalls import DuckDBWaterfalls


class DuckDBStorage(Connection):
    """`Storage` in DuckDB. Make one with `DuckDBStorage.open`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: str, *, read_only: bool) -> None:
        super().__init__(connection, path, read_only=read_only)
        self.meta = DuckDBMeta(self)
        self.blocks = DuckDBBlocks(self, self.meta)
        self.block_columns = DuckDBBlockColumns(self)
        self.bulk = DuckDBBulk(self, self.meta)
        self.edges = DuckDBEdges(self)
        self.frames = DuckDBFrames(self)
        self.frame_cache = DuckDBFrameCache(self)
        self.assemblies = DuckDBAssemblies(self)
        self.waterfalls = DuckDBWaterfalls(self)
        self.searches = DuckDBSearches(self)
        self.scores = DuckDBScores(self)
        self.forecasts = DuckDBForecasts(self)
        self.edge_forecasts = DuckDBEdgeForecasts(self)
        self.reinforcements = DuckDBReinforcements(self)
        self.monitors = DuckDBMonitors(self)
        self.journal = DuckDBJournal(self)
        self.undone = DuckDBUndone(self)
        self.reviews = DuckDBReviews(self)
        self.sources = DuckDBSources(self)
        self.messages = DuckDBMessages(self)
        self.exchanges = DuckDBExchanges(self)
        self.packs = DuckDBPacks(self)
        self.mentions = DuckDBMentions(self)
        self.erasure = DuckDBErasure(self)
        self.tables = DuckDBTables(self)
        self.as_of = DuckDBAsOf(self, self.blocks, self.edges)

"""A store in PostgreSQL: its connections, and the parts that only PostgreSQL knows."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from amgs.errors import StoreError
from amgs.storage.meta import MIGRATION
from amgs.storage.postgres.address import Address
from amgs.storage.postgres.block_columns import PostgresBlockColumns
from amgs.storage.postgres.connection import PostgresConnection
from amgs.storage.postgres.lease import leased
from amgs.storage.postgres.sources import PostgresSources
from amgs.storage.postgres.tables import PostgresTables
from amgs.storage.store import Storage


class PostgresStorage(PostgresConnection, Storage):
    """`Storage` in PostgreSQL. Make one with `PostgresStorage.open`."""

    def __init__(self, writer: psycopg.Connection[Any], address: Address, *, read_only: bool) -> None:
        super().__init__(writer, address, read_only=read_only)
        self.block_columns = PostgresBlockColumns(self)
        self.sources = PostgresSources(self)
        self.tables = PostgresTables(self)

    @classmethod
    def remove(cls, path: str, *, untouched: bool = False) -> None:
        """Drop a namespace with all that it holds; one that is not there is no error. untouched: only where nothing was
        done in it, not even by a program that came in between.

        Raises StoreLockedError where other programs go on writing to it.
        """
        try:
            store = cls.open(path, create=False)
        except StoreError as error:
            if error.about != "missing":
                raise
            return
        with store, store._translate(), leased(store._writer, store._address):
            if untouched and (not store.tables.untouched() or store.meta.get(MIGRATION) is not None):
                return
            store._writer.execute(SQL("DROP SCHEMA {} CASCADE").format(Identifier(store._address.schema)))

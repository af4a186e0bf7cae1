"""A role that is made for a measurement: no superuser, so that policies bind it, and gone afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg.sql import SQL, Identifier

from amgs.storage.postgres.address import Address
from amgs.storage.postgres.server_errors import translating


class TrialRole:
    """server: an address by which roles may be made. A role of this name goes first, with what it was given."""

    def __init__(self, server: str, name: str) -> None:
        self._server, self.name = Address.of(server), name
        self.drop()
        with translating(self._server.shown), self._connected() as admin:
            admin.execute(SQL("CREATE ROLE {} LOGIN").format(Identifier(name)))

    def use(self, place: str) -> None:
        """Let it use a namespace without any policy."""
        schema = Identifier(Address.of(place).schema)
        with translating(place), self._connected() as admin:
            admin.execute(SQL("GRANT ALL ON SCHEMA {} TO {}").format(schema, Identifier(self.name)))
            for kind in (SQL("TABLES"), SQL("SEQUENCES")):
                told = SQL("GRANT ALL ON ALL {} IN SCHEMA {} TO {}")
                admin.execute(told.format(kind, schema, Identifier(self.name)))

    def address(self, place: str) -> str:
        """The address of a namespace for this role."""
        parts = urlsplit(place)
        return urlunsplit(parts._replace(netloc=f"{self.name}@{parts.netloc.rpartition('@')[2]}"))

    def seconds(self) -> float:
        """Processor seconds of the server's processes that work for it now; 0 where the system does not tell them."""
        with translating(self._server.shown), self._connected() as admin:
            found = admin.execute(
                "SELECT pid FROM pg_stat_activity WHERE usename = %s", [self.name]
            ).fetchall()
        try:
            told = [Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii") for (pid,) in found]
            return sum(int(each.split()[0]) for each in told) / 1e9
        except (OSError, ValueError, IndexError):
            return 0.0

    def drop(self) -> None:
        """Take it away; one that is not there is no error."""
        role = Identifier(self.name)
        with translating(self._server.shown), self._connected() as admin:
            if admin.execute("SELECT FROM pg_roles WHERE rolname = %s", [self.name]).fetchone() is not None:
                admin.execute(SQL("DROP OWNED BY {}").format(role))
                admin.execute(SQL("DROP ROLE {}").format(role))

    def _connected(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self._server.connection, autocommit=True)

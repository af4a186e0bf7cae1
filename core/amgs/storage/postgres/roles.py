"""Who may use a namespace: members of its role are let in and out by whoever may grant it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from amgs.errors import StoreError, UsageError
from amgs.storage.access import NamespaceAccess
from amgs.storage.postgres import guard
from amgs.storage.postgres.address import Address
from amgs.storage.postgres.connection import connected
from amgs.storage.postgres.schema import version_of
from amgs.storage.postgres.server_errors import translating


class NamespaceRoles:
    """The roles of one namespace, asked and changed over a connection of its own each time."""

    def __init__(self, place: str) -> None:
        """place: its address. Raises UsageError for one that is none."""
        self._address = Address.of(place)

    def access(self) -> NamespaceAccess:
        with self._connection() as connection:
            return self._access(connection)

    def grant(self, role: str) -> NamespaceAccess:
        schema = self._address.schema
        with self._connection() as connection, connection.transaction():
            self._check_role(connection, role)
            group = guard.group_name(connection, self._address.namespace)
            before = guard.owner_of(connection, schema)
            if not _is_role(connection, group):
                connection.execute(SQL("CREATE ROLE {} NOLOGIN").format(Identifier(group)))
            # Whoever makes it a member must be one to hand tables over; whoever had them keeps the use of them.
            for one in dict.fromkeys(("", before, role)):
                if one != group and not _uses(connection, one, group):
                    member = Identifier(one) if one else SQL("CURRENT_USER")
                    connection.execute(SQL("GRANT {} TO {}").format(Identifier(group), member))
            guard.put_up(connection, schema, group)
            return self._access(connection)

    def revoke(self, role: str) -> NamespaceAccess:
        with self._connection() as connection, connection.transaction():
            self._check_role(connection, role)
            group = guard.group_name(connection, self._address.namespace)
            row = connection.execute(
                "SELECT FROM pg_auth_members WHERE roleid = to_regrole(%s) AND member = to_regrole(%s)",
                [f'"{group}"', f'"{role}"'],
            ).fetchone()
            if row is None:
                raise UsageError(
                    f"{role} was not granted the namespace {self._address.namespace}.",
                    way_out="Who was granted it stands among its members.",
                )
            connection.execute(SQL("REVOKE {} FROM {}").format(Identifier(group), Identifier(role)))
            return self._access(connection)

    @contextmanager
    def _connection(self) -> Iterator[psycopg.Connection[Any]]:
        shown = self._address.shown
        with connected(self._address) as connection, translating(shown):
            if not version_of(connection, self._address.schema):
                raise StoreError(
                    f"There is no store at {shown}.", way_out="Check the address.", about="missing"
                )
            yield connection

    def _access(self, connection: psycopg.Connection[Any]) -> NamespaceAccess:
        schema = self._address.schema
        group = guard.group_name(connection, self._address.namespace)
        guarded = guard.owner_of(connection, schema) == group
        unbound, members = (
            tuple(str(row[0]) for row in connection.execute(sql, given).fetchall())
            for sql, given in (
                (b"SELECT rolname FROM pg_roles WHERE rolsuper OR rolbypassrls ORDER BY 1", []),
                (
                    b"SELECT rolname FROM pg_roles WHERE rolcanlogin AND NOT rolsuper AND "
                    b"pg_has_role(oid, to_regrole(%s), 'USAGE') ORDER BY 1",
                    [f'"{group}"'],
                ),
            )
        )
        return NamespaceAccess(
            self._address.namespace,
            group if guarded else "",
            members,
            guard.granted(connection, schema),
            guard.unguarded(connection, schema),
            unbound,
        )

    def _check_role(self, connection: psycopg.Connection[Any], role: str) -> None:
        if not _is_role(connection, role):
            raise UsageError(
                f"The server has no role {role!r}.",
                way_out=f'Make it first: CREATE ROLE "{role}" LOGIN.' if role.isidentifier() else "",
            )


def _is_role(connection: psycopg.Connection[Any], name: str) -> bool:
    return connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [name]).fetchone() is not None


def _uses(connection: psycopg.Connection[Any], role: str, group: str) -> bool:
    """Whether a role, the connected one for "", uses a group already; a superuser does."""
    row = connection.execute(
        "SELECT pg_has_role(rolname, %s, 'USAGE') FROM pg_roles WHERE rolname = coalesce(nullif(%s, ''), current_user)",
        [group, role],
    ).fetchone()
    return row is not None and bool(row[0])

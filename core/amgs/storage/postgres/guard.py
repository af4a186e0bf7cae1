"""Row-level security of one namespace: its tables belong to a role of their own, and policies show their rows to the
members of that role alone, on connections that are set to the namespace.

Beyond what a schema does this holds where a GRANT was wrong, for roles that may read every table of the server
(`pg_read_all_data`), for the owner (FORCE), and for a statement that strays while its connection is set to another
namespace. Superusers and roles with BYPASSRLS are bound by none of it. The setting is compared once a statement, not
once a row: it stands in a subquery.
"""

from __future__ import annotations

from typing import Any, LiteralString

from psycopg import Connection
from psycopg.sql import SQL, Composable, Identifier, Literal

SETTING = "amgs.namespace"
"""What every connection of a store sets, beside its search path."""
POLICY = "members"

_GRANTED: LiteralString = (
    "SELECT DISTINCT coalesce(r.rolname, 'public') FROM (SELECT nspacl AS acl, nspowner AS owner FROM pg_namespace "
    "WHERE nspname = %(schema)s UNION ALL SELECT relacl, relowner FROM pg_class WHERE relnamespace = "
    "to_regnamespace(%(quoted)s) UNION ALL SELECT attacl, relowner FROM pg_attribute a JOIN pg_class c ON c.oid = "
    "a.attrelid WHERE relnamespace = to_regnamespace(%(quoted)s)) g, aclexplode(acl) e LEFT JOIN pg_roles r ON "
    "r.oid = e.grantee WHERE e.grantee <> g.owner ORDER BY 1"
)


def group_name(connection: Connection[Any], namespace: str) -> str:
    """The role of a namespace. Roles are the server's, not the database's, so the database is named too: a namespace
    has at most 48 characters and a role 63.
    """
    row = connection.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()
    return f"amgs{0 if row is None else row[0]}_{namespace}"


def owner_of(connection: Connection[Any], schema: str) -> str:
    """The role that owns a schema, "" where there is none."""
    row = connection.execute(
        "SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = %s", [schema]
    ).fetchone()
    return "" if row is None else str(row[0])


def granted(connection: Connection[Any], schema: str) -> tuple[str, ...]:
    """Roles beside the owner that were granted something in a schema; "public" for everybody."""
    found = connection.execute(_GRANTED, {"schema": schema, "quoted": f'"{schema}"'}).fetchall()
    return tuple(str(row[0]) for row in found)


def unguarded(connection: Connection[Any], schema: str) -> tuple[str, ...]:
    """Tables of a schema whose rows no policy keeps, or none that binds their owner."""
    found = connection.execute(
        "SELECT relname FROM pg_class c WHERE relnamespace = to_regnamespace(%s) AND relkind = 'r' AND NOT "
        "(relrowsecurity AND relforcerowsecurity AND EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid)) ORDER BY 1",
        [f'"{schema}"'],
    ).fetchall()
    return tuple(str(row[0]) for row in found)


def renew(connection: Connection[Any], schema: str) -> None:
    """Guard what a step of the schema has added, where the namespace is guarded at all."""
    group = group_name(connection, schema.removeprefix("amgs_"))
    if owner_of(connection, schema) == group:
        put_up(connection, schema, group)


def put_up(connection: Connection[Any], schema: str, group: str) -> None:
    """Give a schema and all that is in it to its group, take from everybody else what was granted, and let policies
    keep the rows; inside a transaction. What stands already stays.
    """
    place, owner = Identifier(schema), Identifier(group)
    done: list[Composable] = [SQL("ALTER SCHEMA {} OWNER TO {}").format(place, owner)]
    for name in granted(connection, schema):
        role = SQL("PUBLIC") if name == "public" else Identifier(name)
        done.append(SQL("REVOKE ALL ON SCHEMA {} FROM {}").format(place, role))
        done.append(SQL("REVOKE ALL ON ALL TABLES IN SCHEMA {} FROM {}").format(place, role))
        done.append(SQL("REVOKE ALL ON ALL SEQUENCES IN SCHEMA {} FROM {}").format(place, role))
    wanted = SQL("(SELECT current_setting({}, true)) = {}").format(
        Literal(SETTING), Literal(schema.removeprefix("amgs_"))
    )
    for (name,) in connection.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = %s ORDER BY 1", [schema]
    ).fetchall():
        table = Identifier(schema, name)
        done += [
            SQL("ALTER TABLE {} OWNER TO {}").format(table, owner),
            SQL("ALTER TABLE {} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY").format(table),
            SQL("DROP POLICY IF EXISTS {} ON {}").format(Identifier(POLICY), table),
            SQL("CREATE POLICY {} ON {} TO {} USING ({wanted}) WITH CHECK ({wanted})").format(
                Identifier(POLICY), table, owner, wanted=wanted
            ),
        ]
    for (signature,) in connection.execute(
        "SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = to_regnamespace(%s)",
        [f'"{schema}"'],
    ).fetchall():
        # A name of the catalogue's own writing, quoted where it must be.
        done.append(SQL("ALTER FUNCTION {} OWNER TO {}").format(SQL(signature), owner))
    connection.execute(SQL("; ").join(done))

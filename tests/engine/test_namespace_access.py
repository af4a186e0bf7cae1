"""A namespace of a database: its members use it, and nobody else sees a row of it, whatever was granted by mistake."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from amgs.exchange.migration import migrate

from amgs.errors import StoreError, UsageError
from amgs.storage.access import access_of, grant, revoke
from amgs.storage.opening import open_storage
from tests.engine.memory_world import consolidated, open_memory
from tests.engine.storage.samples import block, put
from tests.postgres_server import namespace

psycopg = pytest.importorskip("psycopg")
_ROLES = itertools.count(1)
SECRET = "QX-7741-B"
"""What stands in the notes of the memory that is probed."""


def as_role(place: str, role: str) -> str:
    return place.replace("postgresql://postgres@", f"postgresql://{role}@")


def schema_of(place: str) -> str:
    return f"amgs_{place.rpartition('=')[2]}"


@pytest.fixture
def roles(postgres: str) -> Iterator[tuple[str, str]]:
    """Two roles that may log in and make a schema, and nothing else."""
    number = next(_ROLES)
    names = (f"ann{number}", f"bob{number}")
    with psycopg.connect(postgres, autocommit=True) as admin:
        for name in names:
            admin.execute(f"CREATE ROLE {name} LOGIN")
        admin.execute(f"GRANT CREATE ON DATABASE postgres TO {', '.join(names)}")
        yield names


def read_probes(schema: str, tables: dict[str, str]) -> Iterator[str]:
    """Ways to see a row of a namespace. tables: its tables, each with one of its columns."""
    for table, column in tables.items():
        whole = f'{schema}."{table}"'
        yield f"SELECT * FROM {whole}"
        yield f"SELECT count(*) FROM {whole} HAVING count(*) > 0"
        yield f'SELECT "{column}" FROM {whole} WHERE "{column}" IS NOT NULL LIMIT 1'
        yield f"SELECT t::text FROM {whole} t"
        yield f"SELECT to_jsonb(t) FROM ONLY {whole} t"
        yield f"TABLE {whole}"
        yield f"SELECT string_agg(t::text, ',') FROM {whole} t HAVING count(*) > 0"
        yield f"SELECT b.* FROM (VALUES (1)) a, LATERAL (SELECT * FROM {whole}) b"
        yield f"SELECT 1 FROM {whole} UNION ALL SELECT 2 FROM {whole}"
        yield f"WITH seen AS (SELECT * FROM {whole}) SELECT * FROM seen"
        yield f"SELECT * FROM {whole} TABLESAMPLE SYSTEM (100)"
        yield f"SELECT 1 WHERE EXISTS (SELECT FROM {whole})"
        yield f"SELECT array_agg(t) FROM {whole} t HAVING count(*) > 0"
        yield f"SELECT * FROM pg_stats WHERE schemaname = '{schema}' AND tablename = '{table}'"
        yield f"COPY {whole} TO STDOUT"
        yield f"COPY (SELECT * FROM {whole}) TO STDOUT"
        yield f'SET search_path = {schema}; SELECT * FROM "{table}"'
        yield f"PREPARE probe AS SELECT * FROM {whole}; EXECUTE probe"
        yield f"DECLARE probe CURSOR WITH HOLD FOR SELECT * FROM {whole}; FETCH ALL FROM probe"
        yield f"CREATE TEMP TABLE probe AS SELECT * FROM {whole}; SELECT * FROM probe"
        yield f"CREATE TEMP VIEW probe AS SELECT * FROM {whole}; SELECT * FROM probe"
        yield f"SELECT * FROM {whole} ORDER BY random() FOR UPDATE"
        yield f'UPDATE {whole} SET "{column}" = "{column}" RETURNING 1'
        yield f"DELETE FROM {whole} RETURNING *"
        yield (
            f"CREATE FUNCTION pg_temp.probe() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS "
            f"'BEGIN RETURN nullif((SELECT count(*) FROM {whole}), 0); END'; SELECT pg_temp.probe() "
            f"WHERE pg_temp.probe() IS NOT NULL"
        )


def seen(address: str, probes: list[str], *, role: str = "", own: str = "main") -> list[str]:
    """The probes that brought a row, each tried for itself and taken back."""
    found = []
    options = f"-c search_path=amgs_{own} -c amgs.namespace={own}"
    who = as_role(address, role) if role else address
    with psycopg.connect(who, autocommit=True, options=options, prepare_threshold=None) as connection:
        for probe in probes:
            try:
                connection.execute("BEGIN")
                if rows_of(connection, probe):
                    found.append(probe)
            except psycopg.Error:
                pass
            finally:
                connection.execute("ROLLBACK")
                connection.execute("DEALLOCATE ALL")
    return found


def rows_of(connection: Any, probe: str) -> int:
    """How many rows the last statement of a probe gives."""
    if probe.startswith("COPY"):
        with connection.cursor().copy(probe) as copy:
            return sum(1 for _ in copy)
    cursor = connection.execute(probe)
    while cursor.nextset():
        pass
    return len(cursor.fetchall()) if cursor.description else 0


def probed(place: str) -> list[str]:
    """Probes of every table of a namespace that holds a row."""
    with open_storage(place, read_only=True) as storage:
        schema = storage.tables.schema()
        held = {name: columns[0].name for name, columns in schema.items() if storage.tables.count(name)}
    return list(read_probes(schema_of(place), held))


@pytest.fixture
def secret(lived_file: Path, postgres: str) -> str:
    """A namespace with a row in most of its tables."""
    place = namespace(postgres)
    migrate(lived_file, place)
    return place


@pytest.fixture(scope="module")
def lived_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("secret")
    with consolidated(folder / "notes", folder / "m.duckdb") as memory:
        frame = memory.assemble("SESSION", query="the dome stalls")
        memory.feedback(frame.selected[0].block.id, useful=True)
        memory.conversation.add("talk", [{"role": "user", "content": f"Where is {SECRET}?"}])
        memory.keep("layout", SECRET)
        memory.ingest_text("A note that goes again.")
        memory.undo(memory.operations(1)[0].id)
        memory.search(SECRET)
    return folder / "m.duckdb"


def test_of_500_probes_from_another_namespace_none_sees_a_row(
    postgres: str, secret: str, roles: tuple[str, str]
) -> None:
    ann, bob = roles
    own = namespace(postgres)
    with open_storage(as_role(own, bob)) as storage:
        put(storage, block("a"))
    grant(secret, ann)
    grant(own, bob)
    probes = probed(secret)
    assert len(probes) >= 500
    at_home, name = own.partition("&")[0], own.rpartition("=")[2]
    # The probes can see: a superuser does, and so does bob where he is at home.
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute("ANALYZE")
    assert seen(postgres, probes, own=name) == probes
    assert seen(postgres, probes, role=bob, own=name) == []
    assert len(seen(at_home, probed(own), role=bob, own=name)) > 0

    # Granted by mistake, twice over: schema and rows, and every table of the server.
    schema = schema_of(secret)
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute(f"GRANT USAGE ON SCHEMA {schema} TO PUBLIC")
        admin.execute(
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO PUBLIC, {bob}"
        )
        admin.execute(f"GRANT pg_read_all_data, pg_write_all_data TO {bob}")
    assert seen(postgres, probes, role=bob, own=name) == []
    assert seen(postgres, probes, role=bob, own=secret.rpartition("=")[2]) == []
    told = access_of(secret)
    assert told.members == (ann,) and told.granted == (bob, "public") and told.unguarded == ()
    # It is the policies that keep the rows: without them the same grants show them.
    bare = namespace(postgres)
    migrate(secret, bare)
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute(f"GRANT USAGE ON SCHEMA {schema_of(bare)} TO PUBLIC")
        admin.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema_of(bare)} TO PUBLIC")
        admin.execute("ANALYZE")
    assert len(seen(postgres, probed(bare), role=bob, own=name)) == len(probes)
    # Granting again takes from everybody what was granted beside.
    assert grant(secret, ann).granted == ()


def test_a_stranger_can_change_nothing_and_learns_no_text_beside_the_tables(
    postgres: str, secret: str, roles: tuple[str, str]
) -> None:
    ann, bob = roles
    grant(secret, ann)
    schema, group = schema_of(secret), access_of(secret).group
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute("ANALYZE")
        admin.execute(f"GRANT USAGE ON SCHEMA {schema} TO {bob}")
        admin.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {bob}")
    refused = [
        f"INSERT INTO {schema}.meta VALUES ('x', 'y')",
        f"COPY {schema}.meta (key, value) FROM STDIN",
        f"DROP TABLE {schema}.meta",
        f"DROP SCHEMA {schema} CASCADE",
        f"TRUNCATE {schema}.meta",
        f"ALTER TABLE {schema}.meta DISABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {schema}.meta NO FORCE ROW LEVEL SECURITY",
        f"CREATE POLICY mine ON {schema}.meta USING (true)",
        f"DROP POLICY members ON {schema}.meta",
        f"ALTER POLICY members ON {schema}.meta TO PUBLIC",
        f"CREATE TABLE {schema}.mine (a int)",
        f"CREATE FUNCTION {schema}.mine() RETURNS int LANGUAGE sql RETURN 1",
        f"CREATE TRIGGER t BEFORE INSERT ON {schema}.meta EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        f"CREATE TEMP TABLE mine () INHERITS ({schema}.meta)",
        f"CREATE TABLE pg_temp.mine (a text REFERENCES {schema}.meta (key))",
        f"SET ROLE {group}",
        f"SET SESSION AUTHORIZATION {ann}",
        f"GRANT {group} TO {bob}",
        "ALTER ROLE CURRENT_USER BYPASSRLS",
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "SELECT pg_read_file('PG_VERSION')",
    ]
    with (
        open_memory(as_role(secret, ann)) as memory,
        psycopg.connect(
            as_role(postgres, bob),
            autocommit=True,
            options=f"-c amgs.namespace={schema.removeprefix('amgs_')}",
        ) as stranger,
    ):
        stranger.execute(f'LISTEN "{schema}"')
        memory.ingest_text(f"Another text with {SECRET}.")
        for statement in refused:
            with pytest.raises(psycopg.Error):
                if statement.endswith("FROM STDIN"):
                    with stranger.cursor().copy(statement) as copy:
                        copy.write_row(("x", "y"))
                else:
                    stranger.execute(statement)
        # With row security off a statement fails rather than giving what a policy keeps.
        stranger.execute("SET row_security = off")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            stranger.execute(f"SELECT * FROM {schema}.meta")
        stranger.execute("SET row_security = on")
        told = [
            stranger.execute(sql).fetchall()
            for sql in (
                "SELECT * FROM pg_stat_activity",
                "SELECT * FROM pg_locks",
                f"SELECT * FROM pg_stats WHERE schemaname = '{schema}'",
                "SELECT * FROM pg_stat_all_tables",
                "SELECT * FROM information_schema.columns",
                "SELECT * FROM pg_prepared_statements",
                "SELECT * FROM pg_cursors",
            )
        ]
        leaked = SECRET in str(told)  # not in the assertion, which would compare megabytes
        assert told[0] and not leaked
        assert SECRET not in str(list(stranger.notifies(timeout=0.05)))
        assert memory.verify().ok


def test_members_work_and_whoever_is_let_out_sees_nothing(
    postgres: str, tmp_path: Path, roles: tuple[str, str]
) -> None:
    ann, bob = roles
    place = namespace(postgres)
    consolidated(tmp_path / "notes", as_role(place, ann)).close()
    with pytest.raises(StoreError, match="not open to this user"):
        open_memory(as_role(place, bob))
    assert grant(place, bob).members == (ann, bob)  # whoever made it stays let in
    with open_memory(as_role(place, bob)) as memory:
        hits = memory.search(SECRET).hits
        assert hits and memory.assemble("SESSION", query="the dome stalls").selected
        memory.erasure.erase([hits[0].block.id])
        memory.ingest_text("A note of Bob's.")
        memory.consolidate()
        memory.undo(memory.operations(1)[0].id)
        assert memory.verify().ok
    copied = migrate(as_role(place, bob), tmp_path / "copy.duckdb")
    other = namespace(postgres)
    open_storage(as_role(other, ann)).close()
    grant(other, ann)  # no COPY goes into what policies keep
    assert migrate(tmp_path / "copy.duckdb", as_role(other, ann)).tables == copied.tables
    assert revoke(place, bob).members == (ann,)
    with pytest.raises(StoreError):
        open_memory(as_role(place, bob))
    with open_memory(as_role(place, ann)) as memory:
        assert memory.verify().ok
    with pytest.raises(UsageError, match="was not granted"):
        revoke(place, bob)
    with pytest.raises(UsageError, match="no role 'nobody'"):
        grant(place, "nobody")
    with pytest.raises(StoreError, match="not open to this user"):
        grant(as_role(place, bob), bob)


def test_a_later_step_of_the_schema_is_guarded_too(postgres: str, roles: tuple[str, str]) -> None:
    from amgs.storage.postgres import guard

    place = namespace(postgres)
    open_storage(place).close()
    grant(place, roles[0])
    schema = schema_of(place)
    with psycopg.connect(as_role(postgres, roles[0]), options=f"-c search_path={schema}") as connection:
        connection.execute("CREATE TABLE later (a text)")
        assert guard.unguarded(connection, schema) == ("later",)
        guard.renew(connection, schema)
        assert guard.unguarded(connection, schema) == ()


def test_what_has_no_roles_is_told_so(tmp_path: Path, postgres: str) -> None:
    with pytest.raises(UsageError, match="has no roles"):
        access_of(str(tmp_path / "m.duckdb"))
    with pytest.raises(StoreError, match="There is no store"):
        access_of(namespace(postgres))
    place = namespace(postgres)
    open_storage(place).close()
    told = access_of(place)
    assert told.group == "" and "postgres" in told.unbound and "memory_blocks" in told.unguarded

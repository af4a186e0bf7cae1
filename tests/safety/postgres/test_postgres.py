"""A memory in PostgreSQL: the same answers as in a file, and nothing secret in what is said."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from amgs.errors import StoreAwayError, StoreError, UsageError
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.storage.opening import open_storage
from amgs_app import cli
from tests.engine.memory_world import NOW, consolidated, open_memory, write_notes
from tests.engine.storage.samples import block, put
from tests.postgres_server import namespace


def told(memory: Memory) -> dict[str, object]:
    """What a memory answers, as far as a store could change it."""
    hits = memory.search("valve QX-7741-B").hits
    frame = memory.assemble("SESSION", query="the dome stalls")
    status = memory.status()
    return {
        "hits": [(hit.block, round(hit.score, 9)) for hit in hits],
        "frame": (frame.text, frame.tokens, frame.entropy_bits),
        "status": (status.blocks, status.categories, status.edges, status.diversity, status.schema_version),
        "journal": memory.operations(10),
        "edges": memory.verify().edges,
        "kept": memory.read_saved(),
        "then": [hit.block for hit in memory.search("dome", as_of=NOW).hits],
    }


def test_a_memory_in_postgres_answers_as_one_in_a_file(postgres: str, tmp_path: Path) -> None:
    place, notes = namespace(postgres), tmp_path / "notes"
    with consolidated(notes, tmp_path / "m.duckdb") as file, consolidated(notes, place) as server:
        before = told(server)
        assert before == told(file)
        for memory in (file, server):
            memory.feedback(memory.search("azimuth").hits[0].block.id, useful=True)
            memory.undo(3)
            memory.undo(2)
        assert told(server) == told(file) != before
        for memory in (file, server):
            memory.consolidate()
            assert memory.verify().ok
        assert told(server) == told(file)
        expected = told(file)
    with open_memory(place) as again:
        assert told(again) == expected
        assert again.ingest_folder(notes).added == ()


def test_the_commands_of_the_page_run_as_they_stand(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[3] / "docs" / "scale.md").read_text(encoding="utf-8")
    address, name = "postgresql://ann@db.example.org/notes?namespace=", namespace(postgres)
    write_notes(tmp_path / "notes")
    monkeypatch.chdir(tmp_path)
    lines = "".join(re.findall(r"```sh\n(.*?)```", page, flags=re.S)).splitlines()
    assert len(lines) > 10
    for line in lines:
        words = shlex.split(line.replace(address, f"{name}_"))
        assert cli.run(["--model", "tiny", "--now", "2026-03-01T09:00:00Z", *words[1:]]) == 0, line


def test_one_who_only_reads_sees_what_is_written_meanwhile(postgres: str) -> None:
    place = namespace(postgres)
    with open_storage(place) as writer, open_storage(place, read_only=True) as reader:
        with open_storage(namespace(postgres)) as elsewhere:
            put(writer, block("a"))
            assert reader.block_columns.count() == 1 and elsewhere.block_columns.count() == 0
        with writer.transaction():
            writer.blocks.reinforce([block("a").id], block("a").created_at)
        assert reader.block_columns.clocks(since=1).numbers.tolist() == [1]
        assert reader.edges.find_changed(0) == frozenset() and reader.can_follow(0)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("postgresql://ann:hunter2@host/db", "holds a password"),
        ("postgresql://ann@host/db?password=hunter2", "holds a password"),
        ("postgresql://host/db?namespace=Bad-Name", "name of a namespace"),
        ("postgresql://[host/db", "cannot be read"),
    ],
)
def test_an_address_that_is_none_is_refused_and_its_secret_not_repeated(address: str, said: str) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(UsageError, match=said) as raised:
        open_storage(address)
    assert "hunter2" not in f"{raised.value} {raised.value.way_out} {raised.value.__cause__}"


def test_a_server_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError, match="cannot be reached"):
        open_storage(f"postgresql:///db?host={tmp_path}")


@pytest.mark.parametrize(
    ("state", "message", "kind", "said"),
    [
        (None, "server closed the connection unexpectedly", StoreAwayError, "open the store again"),
        ("57P01", "terminating connection due to administrator command", StoreAwayError, "open the store again"),
        ("57P03", "the database system is starting up", StoreAwayError, "open the store again"),
        ("08006", "connection failure", StoreAwayError, "open the store again"),
        ("53300", "sorry, too many clients already", StoreAwayError, "open the store again"),
        (None, "fe_sendauth: no password supplied", StoreError, "PGPASSWORD"),
        (None, 'password authentication failed for user "ann"', StoreError, "PGPASSWORD"),
        ("42601", "syntax error", StoreError, "Nothing was changed"),
    ],
)
def test_an_error_of_the_server_says_whether_it_is_away_and_what_to_do(
    state: str | None, message: str, kind: type[StoreError], said: str
) -> None:
    psycopg = pytest.importorskip("psycopg")
    from amgs.problems import status_of
    from amgs.storage.postgres.values import translating

    error = (psycopg.errors.lookup(state) if state else psycopg.OperationalError)(message)
    with pytest.raises(StoreError) as raised, translating("postgresql://host/db"):
        raise error
    assert type(raised.value) is kind and said in raised.value.way_out
    assert status_of(raised.value) == (503 if kind is StoreAwayError else 500)


def test_a_server_that_is_too_old_is_named(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    monkeypatch.setattr(psycopg.ConnectionInfo, "server_version", 150_008)
    with pytest.raises(StoreError, match="is on PostgreSQL 15, and needs 16"):
        open_storage(namespace(postgres))


def test_rows_stay_in_order_of_insertion_when_a_later_step_adds_a_column(postgres: str) -> None:
    import psycopg

    from amgs.storage.postgres.values import _number_rows

    place = namespace(postgres)
    schema = f"amgs_{place.rpartition('=')[2]}"
    with open_storage(place) as storage, storage.transaction():
        for name in ("b", "a"):
            storage.meta.keep(name, name)
    with psycopg.connect(postgres, options=f"-c search_path={schema}") as admin:
        admin.execute("ALTER TABLE meta ADD COLUMN later BIGINT")
        _number_rows(admin, schema)
        columns = admin.execute("SELECT * FROM meta LIMIT 0").description
        assert columns is not None and [one.name for one in columns] == ["key", "value", "later", "rowid"]
        admin.execute("INSERT INTO meta VALUES ('kept:c', 'c', 1)")
        rows = admin.execute("SELECT value FROM meta WHERE key LIKE 'kept:%' ORDER BY rowid").fetchall()
    assert rows == [("b",), ("a",), ("c",)]


LONG = "deep/" + "".join(f"{number:x}·" for number in range(3000)) + "/note.md"
"""The name of a source that is longer than the key of a tree may be."""


def test_a_source_may_have_a_name_of_any_length(postgres: str, tmp_path: Path) -> None:
    place, file = namespace(postgres), tmp_path / "m.duckdb"
    for each in (place, file):
        with open_memory(each) as memory:
            for _ in range(2):
                memory.ingest_many([RawBlock("The dome stalls.", meta={"source": LONG})])
            memory.ingest_many([RawBlock("It turns again.", meta={"source": LONG})])
            memory.consolidate()
            assert memory.resolve_source(LONG) and memory.verify().ok
    with open_storage(place) as one, open_storage(file) as other:
        assert one.sources.names() == other.sources.names() and len(one.sources.names()) == 1
        assert one.sources.read_pieces([LONG]) == other.sources.read_pieces([LONG]) != ()
    copy = namespace(postgres)
    with open_memory(file) as memory, open_memory(copy) as other:
        memory.exchange.export(tmp_path / "m.json")
        other.exchange.load(tmp_path / "m.json")
    with open_storage(copy) as storage:
        assert [each.name for each in storage.sources.names()] == [LONG]


def test_a_namespace_from_before_long_names_takes_them_once_it_is_opened(postgres: str) -> None:
    place = namespace(postgres)
    with open_storage(place) as storage, storage.transaction():
        for sql in (
            "ALTER TABLE sources DROP CONSTRAINT sources_once",
            "ALTER TABLE sources ADD PRIMARY KEY (name)",
            "DROP INDEX source_blocks_source_idx",
            "CREATE INDEX ON source_blocks (source)",
            "DROP TABLE deleted_blocks",
            "DROP TABLE centrality, centrality_of",
            "DROP TABLE prompts, exchange_prompts",
            "DROP TABLE block_uses",
            "ALTER TABLE exchanges DROP COLUMN prompt_count, DROP COLUMN fresh, DROP COLUMN written, "
            "DROP COLUMN cached, DROP COLUMN output",
            "UPDATE meta SET value = '17' WHERE key = 'schema_version'",
        ):
            storage.execute(sql)
    with open_memory(place) as memory:
        memory.ingest_many([RawBlock("The dome stalls.", meta={"source": LONG})])
        assert memory.verify().ok


def test_a_namespace_whose_rows_policies_keep_is_read_and_exported_whole(postgres: str, tmp_path: Path) -> None:
    psycopg = pytest.importorskip("psycopg")
    place = namespace(postgres)
    name = place.rpartition("=")[2]
    with consolidated(tmp_path / "notes", place) as memory:
        before = memory.verify().blocks
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute(f'CREATE ROLE "{name}" LOGIN')
        admin.execute(f'ALTER SCHEMA "amgs_{name}" OWNER TO "{name}"')
        for (table,) in admin.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s", [f"amgs_{name}"]
        ).fetchall():
            admin.execute(f'ALTER TABLE "amgs_{name}"."{table}" OWNER TO "{name}"')
            admin.execute(f'ALTER TABLE "amgs_{name}"."{table}" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY')
            admin.execute(
                f'CREATE POLICY members ON "amgs_{name}"."{table}" TO "{name}" '
                f"USING (current_setting('amgs.namespace', true) = '{name}')"
            )
    with open_memory(place.replace("postgresql://postgres@", f"postgresql://{name}@")) as memory:
        memory.ingest_text("The ferry waits for the tide.")
        memory.exchange.export(tmp_path / "e.json")
    with open_memory() as copy:
        copy.exchange.load(tmp_path / "e.json")
        assert copy.verify().ok and copy.verify().blocks == before + 1

"""A memory that is copied into another store: equal row by row, gone on with where it stopped, and never half there."""

from __future__ import annotations

import os
import shutil
import signal
import time
from datetime import timedelta
from pathlib import Path

import pytest

from amgs.errors import (
    AmgsError,
    Cancelled,
    StoreCorruptError,
    StoreError,
    StoreLockedError,
    StoreTooNewError,
    UsageError,
)
from amgs.exchange.migration import Migration, migrate
from amgs.ingest.raw_blocks import RawBlock
from amgs.storage.opening import open_storage
from amgs.types import Progress
from tests.engine.memory_world import NOW, consolidated, open_memory, table_rows
from tests.postgres_server import namespace

ODD = "A\0null, the mark \U0010fffe and \\u0000 written out."


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory in which something of every kind happened, on four days; not to be written to."""
    folder = tmp_path_factory.mktemp("lived")
    place = folder / "m.duckdb"
    with consolidated(folder / "notes", place) as memory:
        memory.assemble("SESSION", query="the dome stalls")
        said = {"role": "user", "content": f"Who keeps the valve? {ODD}"}
        memory.conversation.add("talk", [said, {"role": "assistant", "content": "Ilse."}])
        memory.keep("layout", ODD)
    for day, text in enumerate(("The dome stalls at azimuth 210.", f"Ilse greased the ring. {ODD}"), 1):
        with open_memory(place, now=NOW + timedelta(days=day)) as memory:
            memory.ingest_many([RawBlock(text, None, {"source": f"log/{day}.md"})])
            memory.consolidate()
            frame = memory.assemble("SESSION", query="the dome stalls")
            memory.feedback(frame.selected[0].block.id, useful=day == 1)
    with open_memory(place, now=NOW + timedelta(days=3)) as memory:
        memory.undo(memory.operations(1)[0].id)
        memory.search("azimuth", as_of=NOW + timedelta(days=1), keep=True)
    return place


@pytest.fixture(scope="module")
def expected(lived: Path) -> dict[str, object]:
    """What it answers."""
    return told(lived)


def told(place: Path | str) -> dict[str, object]:
    """What a memory answers: of now, and of every frame and instant before."""
    with open_memory(place, now=NOW + timedelta(days=3)) as memory:
        assert memory.verify().ok
        history = memory.frames.history().assemblies
        replays = [memory.frames.replay(one.id) for one in history]
        assert len(replays) == 3
        return {
            "replays": replays,
            "past": [memory.search("the dome", as_of=NOW + timedelta(days=day)).hits for day in range(4)],
            "framed": [
                memory.assemble("SESSION", query="dome", as_of=NOW + timedelta(days=day)) for day in range(4)
            ],
            "journal": memory.operations(50),
            "outcomes": memory.outcomes(),
            "counter": memory.change_counter,
            "kept": memory.kept(),
            "talk": memory.conversation.show("talk"),
        }


def test_a_memory_goes_into_a_database_and_back_and_answers_alike_as_of_every_day(
    lived: Path, expected: dict[str, object], postgres: str, tmp_path: Path
) -> None:
    place, back = namespace(postgres), tmp_path / "back.duckdb"
    first = migrate(lived, place)
    second = migrate(place, back)
    assert first.tables == second.tables and first.rows == second.rows > 100
    assert (first.before, first.faults) == (0, ()) and first.counter == second.counter
    assert told(place) == expected
    assert told(back) == expected
    with (
        open_storage(lived, read_only=True) as one,
        open_storage(place) as other,
        open_storage(back) as third,
    ):
        assert len({each.meta.store_id() for each in (one, other, third)}) == 3


def rows_of(place: Path | str) -> dict[str, list[str]]:
    """Every row of every table, but what `meta` says of its own store."""
    with open_storage(place, read_only=True) as storage:
        held = {
            name: [*map(repr, table_rows(storage, name, columns))]
            for name, columns in storage.tables.schema().items()
        }
    held["meta"] = sorted(row for row in held["meta"] if "store_id" not in row)
    return held


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of three rows, so that a small memory is copied in many."""
    monkeypatch.setattr("amgs.storage.tables.BATCH", 3)


def stopped_at(place: str | Path, source: Path, table: str) -> None:
    """Copy a memory and stop in the middle of a table."""
    seen = []

    def report(done: int, total: int, doing: str) -> None:
        del total
        if doing == f"copying {table}":
            seen.append(done)
            if len(seen) == 2:
                progress.cancel()

    progress = Progress(report)
    with pytest.raises(Cancelled):
        migrate(source, place, progress=progress)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("kind", ["file", "postgres"])
def test_what_was_stopped_is_no_memory_and_goes_on_where_it_stood(
    kind: str, lived: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    place = (
        namespace(request.getfixturevalue("postgres")) if kind == "postgres" else str(tmp_path / "b.duckdb")
    )
    stopped_at(place, lived, "memory_blocks")
    for read_only in (False, True):
        with pytest.raises(StoreError, match=r"a part of .*m\.duckdb") as raised:
            open_storage(place, read_only=read_only)
        assert raised.value.about == "migration"
    done = migrate(lived, place)
    assert done.rows > done.before > 0
    assert rows_of(place) == rows_of(lived)
    with pytest.raises(UsageError, match="holds a memory already"):
        migrate(lived, place, restart=True)


@pytest.mark.usefixtures("small_batches")
def test_a_server_that_is_killed_half_way_is_gone_on_with_when_it_is_back(
    lived: Path, expected: dict[str, object], postgres: str
) -> None:
    import psycopg

    place = namespace(postgres)
    killed: list[int] = []

    def kill(done: int, total: int, doing: str) -> None:
        if doing == "copying operation_rows" and not killed:
            with psycopg.connect(postgres) as admin:
                sql = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE %s"
                killed.extend(row[0] for row in admin.execute(sql, [f"amgs {os.getpid()} %"]))
            os.kill(killed[0], signal.SIGKILL)  # one that is killed so takes the whole server down

    again: Migration | None = None
    failed, until = 0, time.monotonic() + 60
    while again is None:
        assert time.monotonic() < until
        try:
            again = migrate(lived, place, progress=Progress(kill))
        except StoreError:
            failed += 1
    # A server that is back before it is asked again is connected to anew, and the copy goes on.
    assert killed and (0 < again.before < again.rows or not failed)
    assert told(place) == expected


@pytest.mark.usefixtures("small_batches")
def test_a_source_that_changed_is_not_gone_on_with_and_can_be_begun_anew(lived: Path, tmp_path: Path) -> None:
    file, place, other = (tmp_path / name for name in ("m.duckdb", "b.duckdb", "c.duckdb"))
    shutil.copy(lived, file)
    stopped_at(place, file, "memory_blocks")
    with open_memory(file) as memory:
        memory.add("Something new.")
    with pytest.raises(StoreError, match="was at change") as raised:
        migrate(file, place)
    assert raised.value.title == "The source has changed"
    consolidated(tmp_path / "others", other).close()
    with pytest.raises(UsageError, match="which is another memory"):
        migrate(other, place)
    assert migrate(file, place, restart=True).before == 0
    assert rows_of(place) == rows_of(file)


@pytest.mark.usefixtures("small_batches")
def test_a_database_that_is_written_to_meanwhile_is_refused(postgres: str, tmp_path: Path) -> None:
    place, file = namespace(postgres), tmp_path / "b.duckdb"
    with consolidated(tmp_path / "notes", place) as memory:

        def write(done: int, total: int, doing: str) -> None:
            if doing == "copying edges":
                memory.ingest_many([RawBlock(f"Meanwhile {done}.", None, {"source": "x"})])

        with pytest.raises(StoreError, match="The source has changed"):
            migrate(place, file, progress=Progress(write))
        with pytest.raises(StoreError, match="not whole"):
            open_storage(file)
    assert migrate(place, file, restart=True).faults == ()
    assert rows_of(file) == rows_of(place)


@pytest.mark.usefixtures("small_batches")
def test_of_two_copies_into_one_namespace_at_once_one_is_refused(
    lived: Path, expected: dict[str, object], postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, other = namespace(postgres), tmp_path / "o.duckdb"
    consolidated(tmp_path / "others", other).close()
    # One that has it open already cannot write either.
    begun = open_memory(place)
    refused: list[str] = []

    def second(done: int, total: int, doing: str) -> None:
        del done, total
        if doing in ("copying edges", "comparing edges") and doing not in refused:
            monkeypatch.setattr("amgs.storage.postgres.lease._SECONDS", 0.1)
            with pytest.raises(StoreLockedError, match=f"process {os.getpid()}"):
                migrate(other, place)
            with pytest.raises(StoreLockedError):
                begun.add("In between.")
            refused.append(doing)

    assert migrate(lived, place, progress=Progress(second)).faults == ()
    begun.close()
    assert refused == ["copying edges", "comparing edges"]
    assert told(place) == expected


def test_a_row_that_was_changed_in_the_copy_is_found(lived: Path, tmp_path: Path) -> None:
    place = tmp_path / "b.duckdb"

    def spoil(done: int, total: int, doing: str) -> None:
        del done, total
        if doing == "verifying":
            progress.cancel()

    progress = Progress(spoil)
    with pytest.raises(Cancelled):
        migrate(lived, place, progress=progress)
    # The tables are whole; one value of one row is made another.
    with open_storage(place, unfinished=True) as storage, storage.transaction(counted=False):
        columns = storage.tables.schema()["reinforcement_log"]
        (batch,) = storage.tables.rows("reinforcement_log", columns)
        storage.tables.clear("reinforcement_log")
        storage.tables.insert("reinforcement_log", columns, [(*batch[0][:-1], "another"), *batch[1:]])
    with pytest.raises(StoreCorruptError, match="reinforcement_log has"):
        migrate(lived, place)
    assert migrate(lived, place, restart=True).faults == ()


def test_what_cannot_be_copied_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    file, other = tmp_path / "m.duckdb", tmp_path / "o.duckdb"
    consolidated(tmp_path / "notes", file).close()
    consolidated(tmp_path / "others", other).close()
    text = tmp_path / "text.duckdb"
    text.write_text("no store")
    linked, copied = tmp_path / "linked.duckdb", tmp_path / "copied.duckdb"
    linked.symlink_to(file)
    copied.write_bytes(file.read_bytes())
    before = {path: path.read_bytes() for path in (file, other, text, copied)}
    wrong: list[tuple[Path | str, Path | str, type[AmgsError], str]] = [
        (file, file, UsageError, "the same memory"),
        (file, linked, UsageError, "the same memory"),
        (file, copied, UsageError, "the same memory"),
        (file, other, UsageError, "holds a memory already"),
        (file, ":memory:", UsageError, "in memory"),
        (tmp_path / "none.duckdb", tmp_path / "x.duckdb", StoreError, "There is no store"),
        (text, tmp_path / "x.duckdb", StoreError, "not a DuckDB"),
        (file, text, StoreError, "not a DuckDB"),
        (file, tmp_path / "no folder" / "x.duckdb", StoreError, "does not exist"),
        (file, tmp_path, StoreError, "is a folder"),
        (file, "postgresql://ann:hunter2@host/db", UsageError, "holds a password"),
        (file, f"postgresql:///db?host={tmp_path}", StoreError, "cannot be reached"),
    ]
    for source, destination, kind, said in wrong:
        with pytest.raises(kind, match=said):
            migrate(source, destination)
        assert {path: path.read_bytes() for path in before} == before
        assert not (tmp_path / "x.duckdb").exists()


def test_a_destination_of_a_later_program_is_refused(tmp_path: Path) -> None:
    file, later = tmp_path / "m.duckdb", tmp_path / "later.duckdb"
    consolidated(tmp_path / "notes", file).close()
    with open_storage(later) as storage, storage.transaction():
        storage.meta.put("schema_version", "999")
    with pytest.raises(StoreTooNewError):
        migrate(file, later)


def test_a_memory_that_was_only_opened_is_no_memory_yet(lived: Path, tmp_path: Path) -> None:
    place = tmp_path / "b.duckdb"
    open_memory(place).close()
    assert migrate(lived, place).before == 0
    assert rows_of(place) == rows_of(lived)

"""What `index build` keeps for the next opening of a shared store gives what would be derived anew, or is not used."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from amgs.clock import FixedClock
from amgs.memory import Memory
from amgs.storage.edges import EdgeColumns, EdgeStorage
from tests.engine.memory_world import NOW as AT
from tests.engine.memory_world import write_notes
from tests.engine.test_derived_caught_up import check
from tests.object_store import PREFIX, running_object_store
from tests.postgres_server import namespace

pytest.importorskip("lance", reason="the extra lance is not installed")

KINDS = {"graph", "blocks", "columns"}
QUERIES = ("QX-7741-B", "the dome stalls", "who keeps the valve", "crate")


@pytest.fixture(autouse=True)
def every_size_is_worth_keeping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amgs.derived.indexes.WORTH_KEEPING", 1)


def opened(place: str, index: str) -> Memory:
    return Memory.open(place, clock=FixedClock(AT), index=index)


def built(postgres: str, tmp_path: Path, index: str) -> str:
    """The address of a memory of notes whose index was built."""
    place = namespace(postgres)
    with opened(place, index) as memory:
        memory.ingest_folder(write_notes(tmp_path / "notes"))
        memory.consolidate()
        memory.index.build()
    return place


def answers(memory: Memory) -> list[list[tuple[str, float]]]:
    return [[(hit.block.id, hit.score) for hit in memory.search(query).hits] for query in QUERIES]


def used(memory: Memory) -> set[str]:
    """What of the kept this memory believes."""
    kept = memory._context.derived._kept
    return {name for name in KINDS if kept.latest(name) is not None}


@pytest.fixture
def whole_reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows with each time that all edges are read."""
    read: list[str] = []
    table = EdgeStorage.table

    def reading(self: EdgeStorage) -> EdgeColumns:
        read.append("table")
        return table(self)

    monkeypatch.setattr(EdgeStorage, "table", reading)
    return read


def test_an_opening_reads_what_was_kept_and_answers_the_same(
    postgres: str, tmp_path: Path, whole_reads: list[str]
) -> None:
    index = str(tmp_path / "index")
    place = built(postgres, tmp_path, index)
    with opened(place, str(tmp_path / "no index yet")) as fresh:
        wanted = answers(fresh)
    whole_reads.clear()
    with opened(place, index) as memory:
        assert used(memory) == KINDS
        for found, true in zip(answers(memory), wanted, strict=True):
            assert dict(found) == pytest.approx(dict(true), abs=0.02)
        assert not whole_reads
        check(memory)
        assert memory.verify().ok


def test_what_changed_since_is_caught_up_to_what_a_fresh_opening_derives(
    postgres: str, tmp_path: Path, whole_reads: list[str]
) -> None:
    index = str(tmp_path / "index")
    place = built(postgres, tmp_path, index)
    with opened(place, "") as other:  # another program, which knows of no index
        first, second = (other.search(query).hits[0].block.id for query in ("dome", "letter"))
        other.add("The spare part ZZ-90817-K lies in the blue crate.")
        other.consolidate()
        other.add_edge(first, second, kind="next")
        other.assemble("SESSION", query="the dome")
        other.set_metadata(other.search("azimuth 200").hits[0].block.id, status="archived")
        other.add("What is still raw.")
    whole_reads.clear()
    with opened(place, index) as memory:
        assert used(memory) == KINDS
        assert "ZZ-90817-K" in memory.search("ZZ-90817-K").hits[0].block.content
        assert not whole_reads, "caught up, not read anew"
        check(memory)
        kept = answers(memory)
    shutil.rmtree(next((tmp_path / "index").glob("*/kept")))
    with opened(place, index) as memory:
        assert used(memory) == set()
        assert answers(memory) == kept


def flipped(file: Path) -> None:
    raw = bytearray(file.read_bytes())
    raw[-1] ^= 0xFF
    file.write_bytes(bytes(raw))


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-8])


def said(key: str, value: object) -> Callable[[Path], None]:
    def change(file: Path) -> None:
        stamp = file.with_name("stamp.json")
        stamp.write_text(json.dumps({**json.loads(stamp.read_text()), key: value}), encoding="utf-8")

    return change


HARM: dict[str, Callable[[Path], None]] = {
    "a byte": flipped,
    "cut short": cut,
    "gone": Path.unlink,
    "of another store": said("store", "another"),
    "of another format": said("format", 0),
    "of the future": said("revision", 10**6),
    "no counter": said("said", {}),
}


def test_what_is_torn_or_of_another_store_is_not_used_and_made_anew(postgres: str, tmp_path: Path) -> None:
    index = str(tmp_path / "index")
    place = built(postgres, tmp_path, index)
    with opened(place, index) as memory:
        wanted = answers(memory)
    for what, harm in HARM.items():
        for kind in KINDS:
            harm(next(next((tmp_path / "index").glob(f"*/kept/{kind}")).rglob("*.npy")))
        with opened(place, index) as memory:
            assert used(memory) == set(), what
            assert answers(memory) == wanted, what
            memory.index.build()
            assert used(memory) == KINDS, what


def test_after_more_than_the_store_can_tell_it_is_derived_anew(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = str(tmp_path / "index")
    place = built(postgres, tmp_path, index)
    monkeypatch.setattr("amgs.storage.postgres.outbox._FORGOTTEN_EVERY", 1)
    monkeypatch.setattr("amgs.storage.postgres.outbox.KEPT", 1)
    with opened(place, "") as other:
        for n in range(3):
            other.add(f"Note {n} after the build.")
    with opened(place, index) as memory:
        assert used(memory) == set()
        check(memory)


def test_after_an_erasure_no_kept_file_is_of_before(postgres: str, tmp_path: Path) -> None:
    index = str(tmp_path / "index")
    place = built(postgres, tmp_path, index)
    with opened(place, index) as memory:
        before = set((tmp_path / "index").glob("*/kept/*/*"))
        memory.erasure.erase([memory.search("the dome has a valve").hits[0].block.id])
        assert before and not any(path.exists() for path in before)
        check(memory)


def test_it_lies_in_an_object_store_as_in_a_folder(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole_reads: list[str]
) -> None:
    with running_object_store() as environment:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        place = built(postgres, tmp_path, PREFIX)
        with opened(place, "") as other:
            other.add("The spare part ZZ-90817-K lies in the blue crate.")
        whole_reads.clear()
        with opened(place, PREFIX) as memory:
            assert used(memory) == KINDS
            assert "ZZ-90817-K" in memory.search("ZZ-90817-K").hits[0].block.content
            assert not whole_reads
            check(memory)
            memory.index.build()  # in place of the one before
        with opened(place, PREFIX) as memory:
            assert used(memory) == KINDS
            check(memory)

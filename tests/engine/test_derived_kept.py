"""What is kept beside a large store gives the same answers as what is derived anew, whatever came between."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from amgs import Memory, Settings
from amgs.clock import FixedClock
from amgs.index.vector import VectorIndex
from amgs.ingest.raw_blocks import RawBlock
from amgs.settings import GraphSettings, RetrievalSettings

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SMALL = Settings(retrieval=RetrievalSettings(approximate_from=100), graph=GraphSettings(fresh_centrality_nodes=0))
PLACES = ("harbour", "orchard", "quarry", "lantern", "ferry", "meadow", "chapel", "mill")


@pytest.fixture(autouse=True)
def every_size_is_worth_keeping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amgs.derived.indexes.WORTH_KEEPING", 10)


def opened(path: Path, settings: Settings = SMALL) -> Memory:
    return Memory.open(path, clock=FixedClock(NOW), settings=settings)


def text(i: int) -> str:
    return f"Keeper {i % 7} wrote about the {PLACES[i % 8]} and the {PLACES[i * 3 % 8]} on day {i}."


def fill(path: Path, start: int, count: int) -> None:
    with opened(path) as memory:
        memory.ingest_many(
            RawBlock(text(i), NOW - timedelta(days=i % 300), {"source": f"log/{i // 10}.md#{i % 10}"})
            for i in range(start, start + count)
        )
        memory.consolidate()
        memory.search("the lantern at the mill")


def hits(memory: Memory) -> list[list[tuple[str, float]]]:
    return [
        [(hit.block.id, round(hit.score, 4)) for hit in memory.search(query).hits]
        for query in ("who wrote about the quarry?", "the ferry and the chapel", "day 17")
    ]


def answers(path: Path) -> list[list[tuple[str, float]]]:
    with opened(path) as memory:
        return hits(memory)


def forget(path: Path) -> None:
    for name in ("vectors", "graph", "blocks"):
        folder = Path(f"{path}.index") / name
        for file in sorted(folder.rglob("*"), reverse=True):
            file.unlink() if file.is_file() else file.rmdir()


def test_what_came_after_is_caught_up_from_the_store(tmp_path: Path) -> None:
    path = tmp_path / "m.duckdb"
    fill(path, 0, 150)
    fill(path, 150, 12)
    with opened(path) as memory:
        newest = text(160)
        assert memory.search(newest).hits[0].block.content == newest
        gone = memory.search(text(3)).hits[0].block.id
        memory.set_metadata(gone, status="archived")
        assert gone not in {hit.block.id for hit in memory.search(text(3)).hits}
        memory.undo(memory.operations(1)[0].id)
        assert memory.search(text(3)).hits[0].block.id == gone
        assert memory.verify().faults == ()


def test_damage_beside_the_store_is_found_and_derived_anew(tmp_path: Path) -> None:
    path = tmp_path / "m.duckdb"
    fill(path, 0, 150)
    wanted = answers(path)
    matrix = next((Path(f"{path}.index") / "vectors").rglob("matrix.npy"))
    raw = bytearray(matrix.read_bytes())
    raw[-5] ^= 0xFF
    matrix.write_bytes(bytes(raw))
    with opened(path) as memory:
        assert [fault.where for fault in memory.verify().faults if "saved" in fault.where] == ["saved vectors"]
    with opened(path) as memory:
        assert memory.verify().faults == ()
    assert answers(path) == wanted
    matrix = next((Path(f"{path}.index") / "blocks").rglob("episode.npy"))
    matrix.write_bytes(matrix.read_bytes()[:-8])
    assert answers(path) == wanted


def test_reading_only_uses_what_is_kept_and_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.duckdb"
    fill(path, 0, 150)
    before = sorted((file, file.stat().st_mtime_ns) for file in Path(f"{path}.index").rglob("*"))
    with Memory.open(path, clock=FixedClock(NOW), settings=SMALL, read_only=True) as memory:
        assert memory.search("the quarry").hits
    assert before == sorted((file, file.stat().st_mtime_ns) for file in Path(f"{path}.index").rglob("*"))


def test_a_long_open_store_reads_its_vectors_from_beside_it_and_answers_the_same(tmp_path: Path) -> None:
    path = tmp_path / "m.duckdb"
    exactly = Settings(graph=GraphSettings(fresh_centrality_nodes=0))
    with opened(path, exactly) as memory:
        memory.ingest_many(RawBlock(text(i), NOW) for i in range(150))
        memory.consolidate()
        before = hits(memory)
        assert memory.lifecycle.keep_derived()
        assert not memory.lifecycle.keep_derived()  # nothing came since
        assert hits(memory) == before
        assert memory._context.derived.vectors().tail == 0
        memory.ingest_many(RawBlock(text(i), NOW) for i in range(150, 155))
        memory.consolidate()
        assert memory._context.derived.vectors().tail == 5
        assert memory.verify().faults == ()


def test_vectors_that_are_written_while_the_store_is_rewritten_leave_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.duckdb"
    fill(path, 0, 150)
    forget(path)
    with opened(path) as memory:
        write = VectorIndex.write

        def rewritten_meanwhile(index: VectorIndex, folder: Path, **given: Any) -> None:
            write(index, folder, **given)
            thread = threading.Thread(target=memory._context.derived.rewrite)
            thread.start()
            thread.join()
            folder.mkdir(parents=True, exist_ok=True)  # as if it had not come to an end yet

        monkeypatch.setattr(VectorIndex, "write", rewritten_meanwhile)
        memory.lifecycle.keep_derived()
        assert not list((Path(f"{path}.index") / "vectors").glob("*/matrix.npy"))


def test_which_blocks_have_vectors_is_told_by_those_kept_and_by_what_changed_since(tmp_path: Path) -> None:
    path = tmp_path / "m.duckdb"
    fill(path, 0, 150)
    fill(path, 150, 5)  # too few to write all vectors anew
    with opened(path) as memory:
        memory.ingest_many(RawBlock(text(i), NOW) for i in range(155, 159))  # no vectors yet
    with opened(path) as memory:
        memory.search("the quarry")
        derived, storage = memory._context.derived, memory._storage
        kept, roll = derived._kept.read_embedded(), derived._roll
        assert kept is not None and kept[0].size == 150 and roll is not None
        assert roll.with_vector.tolist() == storage.block_columns.read_embedded().tolist()
        assert roll.with_vector.size == 155 and roll.numbers.size == 159

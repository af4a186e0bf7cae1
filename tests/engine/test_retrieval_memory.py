"""Retrieval and frames through the door: the indexes follow the store, survive damage, and feedback leaves
marks.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from amgs.clock import FixedClock
from amgs.memory import Memory
from tests.engine.retrieval_world import NOW

NOTES = {
    "a.md": "# Boiler\nThe boiler valve part number is QX-7741-B and it was replaced in March.\n",
    "b.md": "# Kitchen\nMy grandmother baked rye bread every Sunday morning.\n",
    "c.md": "# Network\nThe router in the attic drops packets when it rains.\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name, text in NOTES.items():
        (notes / name).write_text(text)
    return notes


def opened(tmp_path: Path, *, read_only: bool = False) -> Memory:
    return Memory.open(tmp_path / "store.duckdb", clock=FixedClock(NOW), read_only=read_only)


def filled(tmp_path: Path, folder: Path) -> Memory:
    memory = opened(tmp_path)
    memory.ingest_folder(folder)
    memory.consolidate()
    return memory


def first(memory: Memory, query: str) -> str:
    return memory.search(query).hits[0].block.title


@pytest.mark.parametrize("damage", ["none", "gone", "garbage", "stale"])
def test_the_keyword_index_is_repaired_at_open(tmp_path: Path, folder: Path, damage: str) -> None:
    with filled(tmp_path, folder) as memory:
        memory.search("bread")
    (index,) = (p.parent for p in tmp_path.rglob("stamp.json"))
    if damage == "gone":
        shutil.rmtree(index)
    elif damage == "garbage":
        for file in index.iterdir():
            if file.is_file() and not file.name.startswith("."):
                file.write_bytes(b"garbage")
    elif damage == "stale":
        shutil.copytree(index, tmp_path / "old")
        with opened(tmp_path) as memory:
            memory.ingest_text("The spare fuse F7-6.3AT lies in the drawer.")
            memory.consolidate()
            memory.search("fuse")
        shutil.rmtree(index)
        shutil.copytree(tmp_path / "old", index)
    with opened(tmp_path) as memory:
        assert first(memory, "QX-7741-B") == "Boiler"
        assert damage != "stale" or first(memory, "F7-6.3AT").startswith("The spare fuse")
        assert memory.verify().ok


@pytest.mark.parametrize("query", ["ferry", "when does the ferry leave?", "boat to Vik"])
@pytest.mark.parametrize(
    "held",
    [
        ("Kiln fired to 1040.", "Kiln cooled to 40."),
        ("The library opens at nine.", "Mara greases the motor."),
        ("A", "B"),
    ],
)
def test_a_new_note_in_a_young_memory_is_not_behind_what_is_about_something_else(
    held: tuple[str, str], query: str
) -> None:
    with Memory.open(":memory:", clock=FixedClock(NOW)) as memory:
        for text in held:
            memory.add(text)
        memory.consolidate()
        memory.add("The ferry to Vik leaves at 06:40 on weekdays.")
        first, *others = memory.search(query).hits
        assert first.block.content.startswith("The ferry")
        assert all(first.score - other.score > 0.03 for other in others), "clearly"

"""Taking in again what is known: unchanged texts stay, changed ones are superseded, gone ones archived; one undo
brings everything back.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from amgs.clock import FixedClock
from amgs.errors import UsageError
from amgs.memory import Memory
from amgs.types import STATUSES, Block, BlockFilter
from tests.engine.memory_world import open_memory
from tests.engine.test_undo import content

EVERY = BlockFilter(statuses=STATUSES)
DOOR, NEW_DOOR = "The office door code is 4711.", "The office door code changed to 8830."
HOURS = "The shop opens at nine on weekdays."


@pytest.fixture
def memory() -> Iterator[Memory]:
    with open_memory() as opened:
        yield opened


def write(folder: Path, **files: str) -> Path:
    """Files of a folder, `_` in a name standing for a dot."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


def later(memory: Memory, days: int = 1) -> None:
    assert isinstance(memory.clock, FixedClock)
    memory.clock.advance(timedelta(days=days))


def by_text(memory: Memory) -> dict[str, Block]:
    return {block.content: block for block in memory.blocks(EVERY)}


def sync(memory: Memory, folder: Path) -> list[tuple[str, str]]:
    """What a sync did: (kind, text)."""
    texts = {b.id: b.content for b in memory.blocks(EVERY)}
    plan = memory.sources.plan_folder(folder)
    memory.sources.apply(plan)
    texts |= {b.id: b.content for b in memory.blocks(EVERY)}
    return [(one.kind, texts[one.block_id]) for one in plan.pieces]


def test_a_changed_note_supersedes_what_it_said(memory: Memory, tmp_path: Path) -> None:
    memory.ingest_folder(write(tmp_path / "n", door_md=DOOR, hours_md=HOURS))
    memory.consolidate()
    later(memory)
    write(tmp_path / "n", door_md=NEW_DOOR)
    assert sync(memory, tmp_path / "n") == [("added", NEW_DOOR), ("superseded", DOOR)]
    blocks = by_text(memory)
    old, new = blocks[DOOR], blocks[NEW_DOOR]
    assert old.superseded and old.valid_to == new.valid_from == memory.clock.now()
    assert (old.status, old.meta["superseded_by"]) == ("consolidated", new.id)
    assert not blocks[HOURS].superseded
    assert memory.sources.plan_folder(tmp_path / "n").empty


def test_a_note_that_is_gone_is_archived_and_holds_again_when_it_comes_back(memory: Memory, tmp_path: Path) -> None:
    memory.ingest_folder(write(tmp_path / "n", door_md=DOOR, hours_md=HOURS))
    memory.consolidate()
    later(memory)
    (tmp_path / "n" / "door.md").unlink()
    assert sync(memory, tmp_path / "n") == [("archived", DOOR)]
    assert by_text(memory)[DOOR].status == "archived"
    later(memory)
    write(tmp_path / "n", door_md=DOOR)
    assert sync(memory, tmp_path / "n") == [("restored", DOOR)]
    back = by_text(memory)[DOOR]
    assert (back.status, back.superseded, back.valid_from) == ("consolidated", False, memory.clock.now())


def test_a_note_that_was_renamed_is_moved_and_stays_one_block(memory: Memory, tmp_path: Path) -> None:
    memory.ingest_folder(write(tmp_path / "n", door_md=DOOR))
    memory.consolidate()
    (tmp_path / "n" / "door.md").rename(tmp_path / "n" / "entry.md")
    assert sync(memory, tmp_path / "n") == [("moved", DOOR)]
    (block,) = memory.blocks(EVERY)
    assert (block.meta["source"], block.meta["sources"]) == ("entry.md", ["entry.md"])
    assert [one.name for one in memory.sources.list()] == ["entry.md"]


def test_a_text_that_two_folders_hold_stays_until_both_drop_it(memory: Memory, tmp_path: Path) -> None:
    for name in ("one", "two"):
        memory.ingest_folder(write(tmp_path / name, README_md=DOOR))
    memory.consolidate()
    later(memory)
    write(tmp_path / "one", README_md=NEW_DOOR)
    assert sync(memory, tmp_path / "one") == [("added", NEW_DOOR)]
    assert not by_text(memory)[DOOR].superseded
    assert by_text(memory)[DOOR].meta["sources"] == ["two/README.md"]
    (tmp_path / "two" / "README.md").unlink()
    assert sync(memory, tmp_path / "two") == [("archived", DOOR)]


def test_one_undo_brings_everything_back(memory: Memory, tmp_path: Path) -> None:
    long = [f"# Part {n}\n\n" + f"Sentence {n} of the long note. " * 40 for n in range(6)]
    folder = write(tmp_path / "n", door_md=DOOR, hours_md=HOURS, long_md="\n\n".join(long))
    memory.ingest_folder(folder)
    memory.consolidate()
    later(memory)
    before = content(memory)
    write(folder, door_md=NEW_DOOR, long_md="\n\n".join([*long[:2], "# Other\n\nSomething else.", *long[3:]]))
    (folder / "hours.md").unlink()
    plan = memory.sources.plan_folder(folder)
    assert content(memory) == before
    done = memory.sources.apply(plan).operation
    assert done is not None and done.kind == "revise"
    after = content(memory)
    memory.undo(done.id)
    assert content(memory) == before
    assert memory.sources.apply(memory.sources.plan_folder(folder)).operation is not None
    assert content(memory)["memory_blocks"] == after["memory_blocks"]
    with pytest.raises(UsageError, match="taken in again"):
        memory.sources.apply(plan)
    assert not memory.verify().faults


def test_a_source_is_given_another_text_and_is_deleted_by_name(memory: Memory) -> None:
    memory.ingest_text(DOOR, meta={"source": "ticket #12"})
    memory.ingest_text(HOURS, meta={"source": "ticket #13"})
    plan = memory.sources.plan_text("ticket #12", NEW_DOOR)
    assert [one.kind for one in plan.pieces] == ["added", "superseded"]
    memory.sources.apply(plan)
    memory.sources.apply(memory.sources.plan_delete(["ticket #13"]))
    assert [one.name for one in memory.sources.list()] == ["ticket #12"]
    assert by_text(memory)[HOURS].status == "archived"
    assert len(memory.sources.history("ticket #12")) == 2
    with pytest.raises(UsageError, match="no source"):
        memory.sources.plan_delete(["ticket #13"])


def test_a_watched_folder_is_taken_in_whenever_it_changes(memory: Memory, tmp_path: Path) -> None:
    folder = write(tmp_path / "n", door_md=DOOR)
    texts = iter([NEW_DOOR, None, DOOR])

    def wait() -> bool:
        text = next(texts, "")
        if text:
            later(memory)
            write(folder, door_md=text)
        return text != ""

    done = [one.plan.pieces for one in memory.sources.watch(folder, wait)]
    assert [[piece.kind for piece in pieces] for pieces in done] == [
        ["added"],
        ["added", "superseded"],
        ["superseded", "restored"],
    ]
    assert not list(memory.sources.watch(folder, wait, rounds=2))


def test_what_was_superseded_leaves_frames_and_ranks_behind_and_the_past_is_as_it_was(
    memory: Memory, tmp_path: Path
) -> None:
    folder = write(tmp_path / "n", door_md=DOOR, hours_md=HOURS)
    memory.ingest_folder(folder)
    memory.consolidate()
    first = memory.clock.now()
    later(memory, 10)
    write(folder, door_md=NEW_DOOR)
    (folder / "hours.md").unlink()
    sync(memory, folder)
    memory.consolidate()
    asked = "What is the office door code?"

    def hits(at: datetime | None = None) -> list[str]:
        return [hit.block.content for hit in memory.search(asked, as_of=at).hits]

    def framed(at: datetime | None = None) -> set[str]:
        return {c.block.content for c in memory.assemble("SESSION", query=asked, as_of=at).selected}

    assert hits() == [NEW_DOOR, DOOR]
    assert framed() == {NEW_DOOR}
    assert framed(first + timedelta(days=9)) == {DOOR, HOURS}
    assert set(hits(first + timedelta(days=9))) >= {DOOR} and NEW_DOOR not in hits(first + timedelta(days=9))
    assert set(hits(memory.clock.now())) == {NEW_DOOR}
    assert "superseded 2026-03-11" in memory.assemble("SESSION", query=asked, as_of=first).text
    later(memory, 10)
    write(folder, door_md=DOOR)
    sync(memory, folder)
    assert framed() == {DOOR}
    assert set(hits(memory.clock.now() - timedelta(days=1))) == {NEW_DOOR}
    assert set(hits(first)) >= {DOOR}

"""A damaged store says so, names what is missing, and stays on the disk as it was."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from amgs.clock import FixedClock
from amgs.errors import StoreCorruptError, StoreError
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.storage.duckdb.files import Note, WriteAhead, WrittenPart
from amgs.types import BlockFilter
from tests.engine.memory_world import consolidated, open_memory
from tests.safety.damage_world import build, damage, examine, files, main, rows
from tests.safety.kill_world import AT


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[str]]]:
    """A store that a process left without closing it, and what it holds."""
    path = build(tmp_path_factory.mktemp("killed"))
    with Memory.open(copied(path, tmp_path_factory.mktemp("copy")), clock=FixedClock(AT)) as memory:
        return path, rows(memory)


def copied(path: Path, folder: Path) -> Path:
    return shutil.copytree(path.parent, folder, dirs_exist_ok=True) / path.name


def test_a_store_that_was_killed_opens_without_an_alarm(
    killed: tuple[Path, dict[str, list[str]]], tmp_path: Path
) -> None:
    assert examine(copied(killed[0], tmp_path), killed[1]) == "whole"


@pytest.mark.parametrize("seed", range(16))
def test_random_damage_is_told_or_harms_nothing(
    killed: tuple[Path, dict[str, list[str]]], tmp_path: Path, seed: int
) -> None:
    path = copied(killed[0], tmp_path)
    damage(path, random.Random(seed))
    examine(path, killed[1])


def test_bytes_that_changed_in_the_write_ahead_file_are_noticed_before_they_are_read(
    killed: tuple[Path, dict[str, list[str]]], tmp_path: Path
) -> None:
    path = copied(killed[0], tmp_path)
    ahead = Path(f"{path}.wal")
    whole = ahead.read_bytes()
    for at in range(64, len(whole), len(whole) // 25):
        ahead.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(StoreCorruptError, match="not match what was committed"):
            Memory.open(path, clock=FixedClock(AT))
    ahead.write_bytes(whole)
    Memory.open(path, clock=FixedClock(AT)).close()


def test_a_write_ahead_file_that_grew_past_its_note_raises_no_alarm(tmp_path: Path) -> None:
    ahead, follower = tmp_path / "s.duckdb.wal", WriteAhead(tmp_path / "s.duckdb")
    assert follower.measure_written() == WrittenPart() and not follower.differs(WrittenPart())
    ahead.write_bytes(bytes(range(200)))
    noted = follower.measure_written()
    ahead.write_bytes(bytes(range(200)) + b"more")
    assert not follower.differs(noted) and follower.measure_written().size == 204
    assert WriteAhead(tmp_path / "s.duckdb").measure_written() == follower.measure_written()
    ahead.write_bytes(bytes(range(100)) + bytes(104))
    assert follower.differs(noted)
    ahead.write_bytes(b"another file, begun by a checkpoint" * 9)
    assert not follower.differs(noted)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_hundreds_of_damages_are_told_or_harm_nothing(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--slow"):
        pytest.skip("hundreds of damages: give --slow")
    assert main(400, 0) == 0


def test_a_cut_write_ahead_file_is_told_with_what_it_held(
    killed: tuple[Path, dict[str, list[str]]], tmp_path: Path
) -> None:
    path = copied(killed[0], tmp_path)
    ahead = Path(f"{path}.wal")
    ahead.write_bytes(ahead.read_bytes()[: ahead.stat().st_size // 2])
    before = files(path)
    for read_only in (False, True):
        with pytest.raises(StoreCorruptError, match=r"the last \d changes?, journal entr(y #6|ies #\d–#6)") as caught:
            Memory.open(path, clock=FixedClock(AT), read_only=read_only)
        assert caught.value.title == "The store has lost changes"
        assert files(path) == before


def test_what_is_left_can_be_accepted_and_verify_says_it_once_more(
    killed: tuple[Path, dict[str, list[str]]], tmp_path: Path
) -> None:
    path = copied(killed[0], tmp_path)
    Path(f"{path}.wal").unlink()
    with Memory.open(path, clock=FixedClock(AT), accept_loss=True) as memory:
        (fault,) = memory.verify().faults
        assert "journal entries #3–#6" in fault.what
    with Memory.open(path, clock=FixedClock(AT)) as memory:
        assert memory.verify().ok


def test_an_older_copy_in_the_place_of_the_store_is_told(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    consolidated(tmp_path / "notes", path).close()
    older = path.read_bytes()
    with open_memory(path) as memory:
        memory.ingest_text("The spare tyre is in the shed.")
        memory.consolidate()
    path.write_bytes(older)
    with pytest.raises(StoreCorruptError, match="older copy"):
        open_memory(path)
    assert path.read_bytes() == older


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff" * 256, b'{"changes": 900} 00000000'])
def test_a_counter_file_that_cannot_be_trusted_raises_no_alarm(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.duckdb"
    consolidated(tmp_path / "notes", path).close()
    beside = Path(f"{path}.counter")
    noted = Note(path).read()
    beside.write_bytes(content)
    with open_memory(path) as memory:
        assert memory.verify().ok
    assert Note(path).read() == noted is not None


def test_the_counter_file_of_another_store_raises_no_alarm(tmp_path: Path) -> None:
    path, other = tmp_path / "s.duckdb", tmp_path / "other.duckdb"
    consolidated(tmp_path / "notes", path).close()
    open_memory(other).close()
    shutil.copy(f"{path}.counter", f"{other}.counter")
    with open_memory(other) as memory:
        memory.ingest_text("The spare tyre is in the shed.")
        assert memory.verify().ok


def test_a_write_ahead_file_without_its_store_is_not_swept_away(
    killed: tuple[Path, dict[str, list[str]]], tmp_path: Path
) -> None:
    path = copied(killed[0], tmp_path)
    path.unlink()
    before = files(path)
    with pytest.raises(StoreCorruptError, match="write-ahead file"):
        Memory.open(path, clock=FixedClock(AT))
    assert files(path) == before and not path.exists()


def test_a_write_ahead_file_that_a_power_cut_tore_is_cut_where_it_is_torn(tmp_path: Path) -> None:
    """Later pages of a write that no commit had confirmed reached the disk, and an earlier one did not."""
    path = tmp_path / "living" / "s.duckdb"
    path.parent.mkdir()
    torn = tmp_path / "torn" / "s.duckdb"
    with open_memory(path) as memory:
        memory.ingest_text("The winch log lies in the boathouse.")
        memory.ingest_text("Ines keeps the second key.")
        shutil.copytree(path.parent, torn.parent)
        acknowledged = {block.id for block in memory.blocks(BlockFilter(statuses=("raw",)))}
        confirmed = Path(f"{path}.wal").stat().st_size
        memory.ingest_many(
            [RawBlock(f"Tide table {k}: {k * 'low water '}", AT, {"source": f"{k}.md"}) for k in range(40)]
        )
        pages = bytearray(Path(f"{path}.wal").read_bytes())
    first = (confirmed // 4096 + 1) * 4096
    pages[first : first + 4096] = bytes(4096)
    ahead = Path(f"{torn}.wal")
    ahead.write_bytes(pages)
    before = files(torn)
    with pytest.raises(StoreCorruptError, match=r"torn at byte [\d,]+") as caught:
        open_memory(torn)
    assert caught.value.about == "loss" and files(torn) == before
    with Memory.open(torn, clock=FixedClock(AT), accept_loss=True) as memory:
        verified = memory.verify()
        assert verified.ok and "bytes were cut off" in verified.mended
        assert {block.id for block in memory.blocks(BlockFilter(statuses=("raw",)))} == acknowledged
    assert Path(f"{ahead}.torn").read_bytes() == bytes(pages)
    with open_memory(torn) as memory:
        assert memory.verify() == replace(verified, mended="")


def test_a_store_that_was_removed_is_begun_anew_though_its_counter_stayed(tmp_path: Path) -> None:
    path = tmp_path / "m.duckdb"
    consolidated(tmp_path / "notes", path).close()
    path.unlink()
    with pytest.raises(StoreError, match=r"only m\.duckdb\.counter is left"):
        Memory.open(path, clock=FixedClock(AT), create=False)
    with open_memory(path) as memory:
        memory.ingest_text("The spare tyre is in the shed.")
        assert memory.verify().ok and sum(memory.counts().values()) == 1
    open_memory(path).close()

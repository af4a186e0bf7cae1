"""The unpacked copy of a model: made once, made anew when it is damaged or outdated, never half there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from amgs_focus.model.loading import SEAL, is_sound_copy, keep_copy


def fill(folder: Path) -> None:
    (folder / "weights.bin").write_bytes(bytes(range(256)) * 64)
    (folder / "config.json").write_text("{}", encoding="utf-8")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    place = tmp_path / "cache" / "model-fp32"
    keep_copy(place, "mark", fill)
    return place


def test_a_copy_is_sound_for_what_it_was_made_from_only(copy: Path) -> None:
    assert is_sound_copy(copy, "mark")
    assert not is_sound_copy(copy, "the file has changed since")
    assert not is_sound_copy(copy.parent / "another", "mark")
    assert [path.name for path in copy.parent.iterdir()] == ["model-fp32"]


def cut(copy: Path) -> None:
    with (copy / "weights.bin").open("r+b") as file:
        file.truncate(100)


def flip(copy: Path) -> None:
    data = bytearray((copy / "weights.bin").read_bytes())
    data[7000] ^= 1
    (copy / "weights.bin").write_bytes(bytes(data))


def lose(copy: Path) -> None:
    (copy / "config.json").unlink()


def unseal(copy: Path) -> None:
    (copy / SEAL).write_text('{"mark": "mark"', encoding="utf-8")


@pytest.mark.parametrize("damage", [cut, flip, lose, unseal])
def test_a_damaged_copy_is_not_sound_and_is_replaced(copy: Path, damage: object) -> None:
    assert callable(damage)
    damage(copy)
    assert not is_sound_copy(copy, "mark")
    keep_copy(copy, "mark", fill)
    assert is_sound_copy(copy, "mark")
    assert [path.name for path in copy.parent.iterdir()] == ["model-fp32"]


def test_a_failure_in_the_middle_leaves_the_old_copy(copy: Path) -> None:
    def half(folder: Path) -> None:
        fill(folder)
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        keep_copy(copy, "newer", half)
    assert is_sound_copy(copy, "mark")
    assert [path.name for path in copy.parent.iterdir()] == ["model-fp32"]


def test_what_a_dead_process_left_is_swept_and_a_living_ones_stays(copy: Path) -> None:
    dead = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True
    ).stdout.strip()
    (copy.parent / f".new-{dead}" / "made").mkdir(parents=True)
    (copy.parent / f".new-{os.getppid()}" / "made").mkdir(parents=True)
    keep_copy(copy, "newer", fill)
    assert sorted(path.name for path in copy.parent.iterdir()) == [f".new-{os.getppid()}", "model-fp32"]

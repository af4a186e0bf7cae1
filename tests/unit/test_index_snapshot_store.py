"""A shelf holds a whole generation or none, whatever happens while one is written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from amgs.index.arrays import SnapshotStore, Stamp, save_arrays


def put(snapshots: SnapshotStore, revision: int, store: str = "s") -> None:
    with snapshots.writing(Stamp(store, revision), {"revision": revision}) as folder:
        save_arrays(folder, {"values": np.arange(revision)})


def test_the_latest_generation_is_mapped_and_older_ones_are_gone(tmp_path: Path) -> None:
    snapshots = SnapshotStore(tmp_path / "shelf", 1)
    put(snapshots, 3)
    put(snapshots, 5)
    kept = snapshots.latest("s")
    assert kept is not None and kept.stamp == Stamp("s", 5) and kept.facts == {"revision": 5}
    assert kept.array("values").tolist() == [0, 1, 2, 3, 4]
    assert [one.name for one in (tmp_path / "shelf").iterdir()] == ["5"]


def test_a_writer_that_dies_leaves_the_generation_before(tmp_path: Path) -> None:
    snapshots = SnapshotStore(tmp_path / "shelf", 1)
    put(snapshots, 3)
    with pytest.raises(KeyboardInterrupt), snapshots.writing(Stamp("s", 9), {}) as folder:
        save_arrays(folder, {"values": np.arange(9)})
        raise KeyboardInterrupt
    assert (found := snapshots.latest("s")) is not None and found.stamp.revision == 3
    # As after a kill: the half-written folder is still there, with or without what would be its stamp.
    torn = tmp_path / "shelf" / "9.part"
    torn.mkdir()
    (torn / "stamp.json").write_text("{")
    assert (found := snapshots.latest("s")) is not None and found.stamp.revision == 3
    put(snapshots, 4)
    assert not torn.exists()


def test_what_cannot_be_trusted_is_not_read(tmp_path: Path) -> None:
    snapshots = SnapshotStore(tmp_path / "shelf", 1)
    put(snapshots, 3)
    assert snapshots.latest("another store") is None
    assert SnapshotStore(tmp_path / "shelf", 2).latest("s") is None
    values = tmp_path / "shelf" / "3" / "values.npy"
    whole = values.read_bytes()
    values.write_bytes(whole[:-1])
    assert snapshots.latest("s") is None
    values.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert snapshots.latest("s") is not None and "values.npy" in snapshots.damage("s")
    values.write_bytes(whole)
    assert snapshots.damage("s") == ""


def test_a_memory_keeps_nothing_and_a_reader_writes_nothing(tmp_path: Path) -> None:
    assert SnapshotStore(None, 1).latest("s") is None and not SnapshotStore(None, 1).writable
    reader = SnapshotStore(tmp_path / "shelf", 1, read_only=True)
    with pytest.raises(RuntimeError), reader.writing(Stamp("s", 1), {}):
        pass
    assert not (tmp_path / "shelf").exists()

"""A lifetime on a disk that fails: full at any write, or the process killed at any byte of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from amgs_focus.errors import CtxError
from amgs_focus.gist import PointerEncoder
from amgs_focus.records import NodeRef
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.tree.node_set import NodeRun, NodeSet
from amgs_focus.tree.span_metadata import Act
from tests.focus import test_forgetting as forgetting
from tests.focus.focus_world import MODEL

FIRST = [97 + number % 26 for number in range(37)]
MORE = [97 + number % 7 for number in range(41)]


@contextmanager
def opened(folder: Path) -> Iterator[LifetimeTree]:
    tree = LifetimeTree.open(folder, MODEL, PointerEncoder(), block_size=4)
    try:
        yield tree
    finally:
        tree.close()


def begun(folder: Path) -> None:
    with opened(folder) as tree:
        tree.append(FIRST, source="first")


def whole(tree: LifetimeTree) -> list[int]:
    """Its tokens, once every gist that should be there is."""
    for level in range(1, 4):
        assert tree.count(level) == tree.length // 4**level
    return [int(token) for token in tree.tokens(0, tree.length)]


def test_a_disk_that_is_full_at_any_write_leaves_the_lifetime_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = os.fsync, [0, 0]

    def fsync(handle: int) -> None:
        calls[0] += 1
        if calls[0] == calls[1]:
            raise OSError(28, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    failed = 0
    for at in range(1, 40):
        folder = tmp_path / str(at)
        calls[1] = 0
        begun(folder)
        with opened(folder) as tree:
            calls[:] = [0, at]
            try:
                tree.append(MORE, source="more")
            except CtxError as error:
                assert "No space left" in error.message and "disk space" in error.way_out
                failed += 1
                assert whole(tree) == FIRST
                assert [span.source for span in tree.spans()] == ["first"]
                calls[1] = 0
                tree.append(MORE, source="more")  # there is room again
            assert whole(tree) == FIRST + MORE
        calls[1] = 0
        with opened(folder) as again:
            assert whole(again) == FIRST + MORE
    assert 5 < failed < 39  # every write was tried, and then none was left


def test_a_process_killed_at_any_write_or_byte_opens_clean_with_all_that_was_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, seen = tmp_path / "life", list[Path]()
    begun(folder)
    real = os.fsync

    def fsync(handle: int) -> None:
        real(handle)
        seen.append(tmp_path / f"killed-{len(seen)}")
        shutil.copytree(folder, seen[-1])

    monkeypatch.setattr(os, "fsync", fsync)
    with opened(folder) as tree:
        seen.clear()
        tree.append(MORE, source="more")
    monkeypatch.setattr(os, "fsync", real)
    journal = len((seen[0] / "spans.jsonl").read_bytes())
    torn = (seen[-1] / "spans.jsonl").stat().st_size
    for cut in range(journal, torn, 5):
        seen.append(tmp_path / f"torn-{cut}")
        shutil.copytree(folder, seen[-1])
        os.truncate(seen[-1] / "spans.jsonl", cut)
        shutil.copy(seen[0] / "spans.jsonl.sums", seen[-1])  # a line's checksum comes after the line
    for place in seen:
        with opened(place) as tree:
            tokens = whole(tree)
            assert tokens in (FIRST, FIRST + MORE)
            tree.append([97, 98, 99])
            assert whole(tree) == [*tokens, 97, 98, 99]


def test_a_level_that_was_only_begun_is_begun_again(tmp_path: Path) -> None:
    for size in (0, 1, 63):
        folder = tmp_path / str(size)
        begun(folder)
        os.truncate(folder / "L2.ctx", size)
        with opened(folder) as tree:
            assert whole(tree) == FIRST


def test_rows_that_were_half_written_are_not_counted(tmp_path: Path) -> None:
    for extra in range(1, 40, 3):
        folder = tmp_path / str(extra)
        begun(folder)
        for level in ("L0.ctx", "L1.ctx"):
            with (folder / level).open("ab") as file:
                file.write(b"\x61" * extra)
        with opened(folder) as tree:
            assert whole(tree) == FIRST


@pytest.mark.parametrize("kind", ["forget", "restore", "purge"])
def test_a_process_killed_at_any_write_or_byte_of_an_act_leaves_one_state_or_the_other(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, seen = tmp_path / "life", list[Path]()
    forgetting.begun(folder)
    chosen = [NodeRef(1, 4), NodeRef(2, 0), NodeRef(1, 2)] if kind == "forget" else [NodeRef(1, 0)]
    real, rename = os.fsync, Path.replace

    def copied() -> None:
        seen.append(tmp_path / f"killed-{len(seen)}")
        shutil.copytree(folder, seen[-1])

    def fsync(handle: int) -> None:
        real(handle)
        copied()

    def renamed(self: Path, target: Path) -> Path:
        done = rename(self, target)
        copied()
        return done

    with opened(folder) as tree:
        before = forgetting.state(tree)
        monkeypatch.setattr(os, "fsync", fsync)
        monkeypatch.setattr(Path, "replace", renamed)
        copied()
        tree.act(Act(2, kind, NodeSet.of(chosen)))  # type: ignore[arg-type]
        monkeypatch.undo()
        after = forgetting.state(tree)
    assert before != after
    held = (seen[0] / "spans.jsonl").stat().st_size
    whole = (folder / "spans.jsonl").read_bytes()
    for cut in range(held, len(whole)):
        place = tmp_path / f"torn-{cut}"
        shutil.copytree(seen[0], place)
        (place / "spans.jsonl").write_bytes(whole[:cut])
        seen.append(place)
    found = []
    for place in seen:
        with opened(place) as tree:
            found.append(forgetting.state(tree))
            tree.append([97, 98, 99, 100])
            assert tree.count(1) == 18
        assert not list(place.glob("*.new"))
    assert set(found) == {before, after}


def test_a_full_disk_during_a_purge_loses_nothing_and_it_is_finished_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgetting.begun(tmp_path)
    real, left = os.fsync, [2]

    def fsync(handle: int) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise OSError(28, "No space left on device")
        real(handle)

    with opened(tmp_path) as tree:
        tokens = tree.tokens(0, 70).tolist()
        monkeypatch.setattr(os, "fsync", fsync)
        with pytest.raises(CtxError, match="No space left"):
            tree.act(Act(2, "purge", NodeSet.of([NodeRef(1, 0)])))
        monkeypatch.undo()
    with opened(tmp_path) as tree:
        assert tree.tokens(0, 70).tolist() == [0] * 4 + tokens[4:]
        assert tree.catalogue.span_metadata.purged == NodeSet((NodeRun(1, 0, 1),))

"""The lifetime: block-aligned roll-up, exact sources, exact stepping back, and files that survive a crash."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from amgs_focus.errors import CtxError, FocusError
from amgs_focus.gist import PointerEncoder
from amgs_focus.model.tiny import TinyModel
from amgs_focus.records import NodeRef, Segment, SpanSource
from amgs_focus.tree.check import check
from amgs_focus.tree.ctx_file import CtxFile
from amgs_focus.tree.gist_tree import LifetimeTree
from tests.focus.focus_world import MODEL, Renamed, small_tree

letters = st.text(st.characters(codec="utf-8", exclude_characters="<"), max_size=40)
cuts = st.lists(st.integers(0, 30), max_size=8)


def same(one: LifetimeTree, other: LifetimeTree) -> bool:
    """Equal in tokens, nodes and gists."""
    if (one.digest(), one.depth, one.length) != (other.digest(), other.depth, other.length):
        return False
    return all(
        one.count(level) == other.count(level)
        and torch.equal(one.gists(level, 0, one.count(level)), other.gists(level, 0, other.count(level)))
        for level in range(1, one.depth + 1)
    )


@given(cuts)
def test_how_tokens_were_portioned_leaves_no_trace(pieces: list[int]) -> None:
    whole = small_tree(sum(pieces))
    ids = [int(token) for token in whole.tokens(0, whole.length)]
    portioned = LifetimeTree(MODEL, PointerEncoder(), block_size=4)
    for piece in pieces:
        portioned.append(ids[:piece])
        ids = ids[piece:]
    assert same(whole, portioned)


@given(st.lists(letters, max_size=6))
def test_every_token_knows_the_segment_it_came_from(texts: list[str]) -> None:
    tree = LifetimeTree(MODEL, PointerEncoder(), block_size=4)
    expected: list[str] = []
    for number, text in enumerate(texts):
        tree.append_segment(Segment(text, source=f"b{number}"))
        expected += [f"b{number}"] * len(MODEL.encode(text))
    found = tree.sources(0, tree.length)
    assert [span.source for span in found for _ in range(span.start, span.end)] == expected
    for start in range(0, tree.length, 7):
        clipped = tree.sources(start, start + 5)
        assert [s.source for s in clipped for _ in range(s.start, s.end)] == expected[start : start + 5]


def test_cancelling_leaves_the_lifetime_as_it_was() -> None:
    tree = small_tree(22)
    before = (tree.digest(), tree.spans(), tree.count(1))

    def stop(done: int, total: int, doing: str) -> None:
        if done > 64:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tree.append(list(range(97, 123)) * 40, progress=stop)
    assert (tree.digest(), tree.spans(), tree.count(1)) == before


class Newer(PointerEncoder):
    """The same gist under another version."""

    version = 5


class Broken(PointerEncoder):
    """Gives no numbers."""

    name = "broken"

    def encode_tokens(self, embeddings: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        return super().encode_tokens(embeddings, tokens) * float("nan")


def test_a_gist_that_is_no_number_is_named_and_nothing_is_kept() -> None:
    tree = LifetimeTree(MODEL, Broken(), block_size=4)
    with pytest.raises(FocusError, match="broken"):
        tree.append([65] * 9)
    assert tree.length == 0


def opened(folder: Path, *, mend: bool = False, model: TinyModel = MODEL) -> LifetimeTree:
    return LifetimeTree.open(folder, model, PointerEncoder(), block_size=4, mend=mend)


def fill(folder: Path, length: int = 75) -> LifetimeTree:
    """A folder with a lifetime in two spans; the tree is closed."""
    tree = opened(folder)
    ids = [int(token) for token in small_tree(length).tokens(0, length)]
    tree.append(ids[:30], source="first", label="First")
    tree.append(ids[30:], source="second")
    tree.close()
    return small_tree(length)


@settings(max_examples=10)
@given(st.integers(31, 90), st.integers(0, 31))
def test_a_lifetime_on_disk_comes_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, length: int, back: int
) -> None:
    folder = tmp_path_factory.mktemp("life")
    expected = fill(folder, length)
    tree = opened(folder)
    assert same(tree, expected)
    assert [(s.start, s.end, s.source, s.label) for s in tree.spans()] == [
        (0, 30, "first", "First"),
        (30, length, "second", ""),
    ]
    tree.truncate(length - back)
    tree.append([65, 66], kind="generated")
    state = (tree.digest(), tree.spans())
    tree.close()
    again = opened(folder)
    assert (again.digest(), again.spans()) == state
    again.close()


def test_half_a_journal_line_did_not_happen(tmp_path: Path) -> None:
    expected = fill(tmp_path)
    with (tmp_path / "spans.jsonl").open("ab") as journal:
        journal.write(b'{"start": 75, "end": 9')
    tree = opened(tmp_path)
    assert same(tree, expected)
    tree.append([65], source="third")
    tree.close()
    again = opened(tmp_path)
    assert again.spans()[-1] == SpanSource(75, 76, "third")
    again.close()


def test_a_damaged_journal_line_is_named(tmp_path: Path) -> None:
    fill(tmp_path)
    journal = tmp_path / "spans.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join([lines[0], "what?\n", *lines[2:]]))
    with pytest.raises(CtxError, match="Line 2"):
        opened(tmp_path)


@pytest.mark.parametrize("name", ["L0.ctx", "L1.ctx", "L2.ctx"])
def test_a_truncated_file_is_named_and_mended_to_whole_blocks(tmp_path: Path, name: str) -> None:
    expected = fill(tmp_path)
    path = tmp_path / name
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(CtxError, match=name):
        opened(tmp_path)
    tree = opened(tmp_path, mend=True)
    kept = 68 if name == "L0.ctx" else 75
    expected.truncate(kept)
    assert same(tree, expected)
    tree.append([65], source="third")
    state = (tree.digest(), tree.spans())
    tree.close()
    again = opened(tmp_path)
    assert (again.digest(), again.spans()) == state
    again.close()


def test_missing_gists_are_made_again(tmp_path: Path) -> None:
    expected = fill(tmp_path)
    (tmp_path / "L3.ctx").unlink()
    with CtxFile.open(tmp_path / "L1.ctx", writable=True) as file:
        file.truncate(3)
    tree = opened(tmp_path)
    assert same(tree, expected)
    tree.close()


def test_tokens_outlive_their_journal(tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / "spans.jsonl").unlink()
    tree = opened(tmp_path)
    assert tree.length == 72
    assert tree.spans() == (SpanSource(0, 72, None),)
    tree.close()


def test_a_lifetime_is_found_again_under_another_name_of_its_model(tmp_path: Path) -> None:
    length = fill(tmp_path).length
    copy = opened(tmp_path, model=Renamed(7, "Somebody/a-much-longer-name-of-the-very-same-model"))
    assert copy.length == length
    copy.append([97] * 900)  # a further level is begun
    copy.close()
    again = opened(tmp_path)
    assert again.length == length + 900
    again.close()
    assert not check(tmp_path).faults
    with pytest.raises(CtxError, match="written for 'tiny-7'; this is 'tiny-7', and its embeddings are others"):
        opened(tmp_path, model=Renamed(8, "tiny-7"))


def test_a_lifetime_that_holds_no_fingerprint_goes_by_the_name(tmp_path: Path) -> None:
    length = fill(tmp_path).length
    journal = tmp_path / "spans.jsonl"
    head, rest = journal.read_text(encoding="utf-8").split("\n", 1)
    told = {key: value for key, value in json.loads(head).items() if key not in ("embeddings", "vocabulary")}
    journal.write_text(json.dumps(told) + "\n" + rest, encoding="utf-8")
    (tmp_path / "spans.jsonl.sums").unlink()  # a lifetime so old has none
    again = opened(tmp_path, model=Renamed(7, "Owner/Tiny-7"))
    assert again.length == length
    again.close()
    with pytest.raises(CtxError, match="only the name tells"):
        opened(tmp_path, model=Renamed(7, "other"))


def test_a_lifetime_has_one_writer_and_the_second_is_told_who_it_is(tmp_path: Path) -> None:
    fill(tmp_path)
    tree = opened(tmp_path)
    code = (
        "import sys; from pathlib import Path\n"
        "from amgs_focus.errors import CtxError\n"
        "from amgs_focus.tree.files import FolderStore\n"
        "from amgs_focus.model.tiny import TinyModel\n"
        "try: FolderStore(Path(sys.argv[1]), TinyModel(), block_size=4, gist_version=0)\n"
        "except CtxError as error: print(error.exit_code, error)"
    )
    second = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
        check=True,
    )
    assert second.stdout.startswith("4 The lifetime is in use")
    assert f"process {os.getpid()}" in second.stdout
    with pytest.raises(CtxError, match="in use by this session") as here:
        check(tmp_path)
    assert "end process" not in here.value.way_out and "this session ends" in here.value.way_out
    tree.close()
    assert check(tmp_path).ok
    again = opened(tmp_path)
    assert again.length == 75
    again.close()


def test_a_process_that_died_holds_no_lifetime(tmp_path: Path) -> None:
    opened(tmp_path).close()
    (tmp_path / "lock").write_text("1\n", encoding="ascii")
    tree = opened(tmp_path)
    assert tree.length == 0
    tree.close()


def test_gists_on_disk_of_another_version_are_stale_and_can_be_made_anew(tmp_path: Path) -> None:
    fill(tmp_path)
    tree = LifetimeTree.open(tmp_path, MODEL, Newer(), block_size=4)
    assert tree.is_stale(NodeRef(1, 0)) and not tree.is_stale(NodeRef(9, 0))
    assert not tree.is_stale(NodeRef(0, 0))
    assert not (tmp_path / "L9.ctx").exists()
    generation, count = tree.generation, tree.count(1)
    tree.rebuild()
    assert not tree.is_stale(NodeRef(1, 0))
    assert (tree.count(1), tree.generation) == (count, generation + 1)
    tree.close()
    again = LifetimeTree.open(tmp_path, MODEL, Newer(), block_size=4)
    assert not again.is_stale(NodeRef(1, 0))
    assert same(again, small_tree(75))
    again.close()


def test_the_hash_of_tokens_taken_back_is_that_of_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    from amgs_focus.tree import gist_tree

    monkeypatch.setattr(gist_tree, "PIECE", 64)
    tree = small_tree(300)
    for length in (299, 256, 130, 128, 3, 0):
        tree.truncate(length)
        assert tree.digest() == small_tree(length).digest()
        tree.append([97] * 150)
        grown = small_tree(length)
        grown.append([97] * 150)
        assert tree.digest() == grown.digest()
        tree.truncate(length)

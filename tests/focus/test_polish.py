"""Polished gists: whose turn it is, in the tree and on disk until they are taken back, and again in a replay."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from amgs_focus.errors import CtxError
from amgs_focus.gist.gistnet import PointerEncoder
from amgs_focus.gist.polish import PolishPlan
from amgs_focus.records import NodeRef, Segment
from amgs_focus.runtime.polishing import likely, polish, taken_back
from amgs_focus.runtime.replay import header_of, replay
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.trace.trace import TraceWriter, read
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.tree.journal import JOURNAL
from amgs_focus.tree.span_metadata import Act
from tests.focus.focus_world import MODEL, Told, notes, small_runtime, small_tree

PLAN = PolishPlan(samples=(1, 1, 1), length=4, steps=3, read=2, rate=0.5, kept=1.0)


def made(runtime: FocusRuntime, *blocks: int) -> None:
    runtime.act(better(runtime.tree, *blocks))


def better(tree: LifetimeTree, *blocks: int) -> Act:
    act = polish(tree, blocks, at="2026", by="me", plan=PLAN)
    assert act is not None
    return act


def gist(tree: LifetimeTree, block: int) -> torch.Tensor:
    return tree.gists(1, block, block + 1)


def test_the_likeliest_are_the_windows_gists_pinned_first_then_by_score_then_its_latest_blocks() -> None:
    scores = {NodeRef(2, at): 0.9 for at in range(4)} | {NodeRef(1, at): at % 5 / 1000 for at in range(16)}
    runtime = small_runtime(Told(scores))
    runtime.ingest(notes(3))
    runtime.refocus()
    entries = runtime.context.entries()
    gists = [entry.index for entry in entries if entry.level == 1]
    tokens = [entry.index for entry in entries if entry.level == 0 and entry.index < runtime.tree.count(1)]
    assert len(gists) > 3 and tokens
    runtime.override(NodeRef(1, gists[0]), "pin")
    found = likely(runtime.state, runtime.tree)
    scored = sorted(gists[1:], key=lambda block: (-runtime.state.scores[NodeRef(1, block)], -block))
    assert found == (gists[0], *scored, *reversed(tokens))
    made(runtime, *found[:2])
    assert likely(runtime.state, runtime.tree) == found[2:]


def test_a_polish_moves_the_gists_of_its_blocks_alone_and_stepping_back_takes_it_back() -> None:
    runtime = small_runtime()
    runtime.ingest(notes(10))
    runtime.decode(2)
    before, begun = runtime.state_hash(), runtime.tree.gists(1, 0, runtime.tree.count(1))
    above, generation = runtime.tree.gists(2, 0, runtime.tree.count(2)), runtime.tree.generation
    made(runtime, 3, 5)
    now = runtime.tree.gists(1, 0, runtime.tree.count(1))
    assert [at for at in range(len(now)) if not torch.equal(now[at], begun[at])] == [3, 5]
    assert torch.equal(runtime.tree.gists(2, 0, runtime.tree.count(2)), above)
    assert runtime.state_hash() != before and runtime.tree.generation != generation
    shown = {entry.index for entry in runtime.snapshot().entries if entry.polished}
    assert shown == {3, 5} & {entry.index for entry in runtime.context.entries() if entry.level == 1}
    polished = gist(runtime.tree, 3)
    runtime.decode(2)
    after = runtime.state_hash()
    runtime.back(3)
    assert torch.equal(gist(runtime.tree, 3), begun[3:4]) and runtime.tree.generation == generation
    runtime.decode(1)
    assert runtime.state_hash() == before
    runtime.switch("main")
    assert runtime.state_hash() == after and torch.equal(gist(runtime.tree, 3), polished)


def test_text_in_the_place_of_a_polished_block_that_was_cut_has_its_own_gist() -> None:
    tree = small_tree(40)
    tree.act(better(tree, 2, 8))
    kept = gist(tree, 2)
    tree.truncate(34)
    tree.append([100, 101, 102, 103, 104, 105])
    fresh = LifetimeTree(MODEL, PointerEncoder(), block_size=4)
    fresh.append(tree.tokens(0, 40).tolist())
    assert torch.equal(gist(tree, 8), gist(fresh, 8)) and torch.equal(gist(tree, 2), kept)


def test_it_is_there_when_the_folder_is_opened_again_and_making_gists_anew_takes_it_back(tmp_path: Path) -> None:
    tree = LifetimeTree.open(tmp_path, MODEL, PointerEncoder(), block_size=4)
    tree.append([97 + at % 26 for at in range(70)])
    begun = gist(tree, 1)
    tree.act(better(tree, 1, 2))
    polished = gist(tree, 1)
    assert not torch.equal(polished, begun)
    tree.close()
    tree = LifetimeTree.open(tmp_path, MODEL, PointerEncoder(), block_size=4)
    assert torch.equal(gist(tree, 1), polished)
    tree.rebuild()
    assert torch.equal(gist(tree, 1), polished)
    back = taken_back(tree, at="", by="")
    assert back is not None
    tree.act(back)
    assert torch.equal(gist(tree, 1), begun) and taken_back(tree, at="", by="") is None
    tree.close()
    tree = LifetimeTree.open(tmp_path, MODEL, PointerEncoder(), block_size=4)
    assert torch.equal(gist(tree, 1), begun)
    tree.close()


def test_a_gist_that_was_not_written_before_the_process_died_is_written_from_the_journal(tmp_path: Path) -> None:
    tree = LifetimeTree.open(tmp_path, MODEL, PointerEncoder(), block_size=4)
    tree.append([97 + at % 26 for at in range(70)])
    held = {name: (tmp_path / name).read_bytes() for name in ("L1.ctx", "L1.ctx.sums")}
    tree.act(better(tree, 1))
    polished = gist(tree, 1)
    tree.close()
    for name, content in held.items():
        (tmp_path / name).write_bytes(content)
    tree = LifetimeTree.open(tmp_path, MODEL, PointerEncoder(), block_size=4)
    assert torch.equal(gist(tree, 1), polished)
    tree.close()
    journal = tmp_path / JOURNAL
    journal.write_text(journal.read_text().replace('"gists": "', '"gists": "AAAA'))
    (tmp_path / f"{JOURNAL}.sums").unlink()
    with pytest.raises(CtxError, match="polished gists of act 1"):
        LifetimeTree.open(tmp_path, MODEL, PointerEncoder(), block_size=4)


def test_a_replay_reads_the_same_gists(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    writer = TraceWriter(path, header_of(small_runtime()))
    runtime = small_runtime(trace=writer)
    runtime.ingest(notes(10))
    runtime.decode(3)
    made(runtime, 2, 3)
    runtime.decode(4)
    runtime.back(5)
    runtime.decode(2)
    runtime.ingest([Segment("and then it rained.")])
    runtime.decode(2)
    writer.close()
    trace, again = read(path), small_runtime()
    assert replay(trace, again) == len(trace.steps)
    assert again.state_hash() == runtime.state_hash()

"""Forgetting: a plan that spares what should be spared, a window that tiles whatever was forgotten, an exact way back,
and files that a killed process leaves in one state or the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs_focus.errors import CtxError, FocusError
from amgs_focus.gist import PointerEncoder
from amgs_focus.records import NodeRef, Segment, SpanAbout, Tag
from amgs_focus.runtime.replay import header_of, replay
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.settings import ForgetRules
from amgs_focus.trace.events import Acted
from amgs_focus.trace.lineage import lineage, summary
from amgs_focus.trace.trace import TraceWriter, read
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.tree.node_set import NodeRun, NodeSet
from amgs_focus.tree.retention import RetentionContext, act_of, assess, by_hand, plan
from amgs_focus.tree.span_metadata import Act, Fate
from tests.focus.focus_world import MODEL, SMALL, StillClock, Told, notes, small_runtime, small_tree

EAGER = ForgetRules(half_life=8, recent=12)
nodes = st.sets(st.builds(NodeRef, st.integers(1, 3), st.integers(0, 20)), max_size=30)


def spare(tree: LifetimeTree) -> RetentionContext:
    """Nothing in a window, a tail of two blocks."""
    return RetentionContext(tree.length - tree.length % tree.block_size - 2 * tree.block_size)


def forget(runtime: FocusRuntime, *gists: NodeRef, kind: str = "forget") -> None:
    made = act_of(runtime.tree, "forget", NodeSet.of(gists))
    runtime.act(Act(made.id, kind, made.nodes))  # type: ignore[arg-type]


def fates(tree: LifetimeTree, level: int, rules: ForgetRules, now: RetentionContext) -> tuple[Fate, ...]:
    return assess(tree, level, 0, tree.count(level), rules, now).fates


# --- sets of nodes ---------------------------------------------------------------------------------------


@given(nodes, nodes)
def test_a_node_set_is_a_set(ours: set[NodeRef], theirs: set[NodeRef]) -> None:
    one, other = NodeSet.of(ours), NodeSet.of(theirs)
    assert set(one) == ours and len(one) == len(ours)
    assert set(one | other) == ours | theirs
    assert set(one - other) == ours - theirs
    assert set(one & other) == ours & theirs
    assert all((node in one) == (node in ours) for node in ours | theirs)
    assert (one | other == other | one) and NodeSet.join(one.runs) == one


# --- the plan --------------------------------------------------------------------------------------------


def test_what_is_long_unused_is_weak_and_the_coarser_level_comes_after_the_finer() -> None:
    tree = small_tree(120)
    first = plan(tree, EAGER, spare(tree))
    assert first.nodes.levels() == {1: first.nodes.runs[0].stop}
    assert first.nodes.runs[0].stop * 4 < 108  # the last tokens stay
    assert "finer_first" in fates(tree, 2, EAGER, spare(tree))
    tree.act(act_of(tree, "forget", first.nodes, first.record))
    second = plan(tree, EAGER, spare(tree))
    assert set(second.nodes.levels()) == {2}
    assert all(child in first.nodes for node in second.nodes for child in tree.children(node))


def test_opening_keeps_detail_for_longer_and_a_look_begins_its_age_anew() -> None:
    tree = small_tree(200)
    rules = ForgetRules(half_life=40, recent=0)
    usage = tree.catalogue.usage
    before = assess(tree, 1, 0, 4, rules, spare(tree)).strength
    usage.table(1).add([0, 0, 0], "dwell", 150)
    usage.table(1).add([1], "opened", 4)
    after = assess(tree, 1, 0, 4, rules, spare(tree))
    assert after.strength[0] == pytest.approx(2 ** (-50 / 40))
    assert after.strength[1] > before[1] and after.strength[2] == before[2]
    assert after.idle[0] == 50


def test_domains_have_half_lives_and_trust_lengthens_them() -> None:
    tree = LifetimeTree(MODEL, PointerEncoder(), block_size=4)
    text = "abcdefgh"
    for domain, trust in (("log", ""), ("spec", ""), ("other", "1"), ("other", "0.1"), ("other", "")):
        tree.append_segment(Segment(text, meta={"domain": domain, "trust": trust}))
    rules = ForgetRules(half_life=16, half_lives={"log": 4, "spec": 400}, recent=0)
    strength = assess(tree, 1, 0, 10, rules, RetentionContext(40)).strength
    idle = 40 - np.arange(4, 44, 4)
    assert strength == pytest.approx(2.0 ** (-idle / np.repeat([4, 400, 32, 3.2, 16], 2)), rel=1e-6)


def test_an_older_version_of_a_file_is_weak_at_once_and_the_current_one_is_not() -> None:
    tree = LifetimeTree(MODEL, PointerEncoder(), block_size=4)
    for version in ("1", "2"):
        tree.append_segment(Segment("x = 1\ny = 2\n", meta={"path": "a.py", "version": version}))
    tree.append_segment(Segment("z" * 20))
    rules = ForgetRules(recent=0)
    assert fates(tree, 1, rules, RetentionContext(40)) == ("weak",) * 3 + ("strong",) * 7 + ("recent",)


def test_guards_spare_what_is_tagged_pinned_standing_worth_something_or_asked_for() -> None:
    tree = LifetimeTree(MODEL, PointerEncoder(), block_size=4)
    tree.append([97 + at % 26 for at in range(64)])
    tree.catalogue.tag(Tag(1, 2, "incident"))
    tree.catalogue.usage.record_gain(NodeRef(1, 3), 0.4)
    now = RetentionContext(64, frozenset({NodeRef(1, 1)}), (NodeRef(0, 2),))
    rules = ForgetRules(half_life=1, recent=0)
    assert fates(tree, 1, rules, now)[:5] == ("tagged", "in_window", "pinned", "worth", "weak")
    asked = [int(token) for token in tree.tokens(24, 28)]
    tree.append(asked, kind="question")
    found = fates(tree, 1, rules, now)
    assert found[6] == "asked" and found[4] == "weak"


def test_what_was_measured_to_be_worth_little_fades_twice_as_fast() -> None:
    tree = small_tree(100)
    before = assess(tree, 1, 0, 2, EAGER, spare(tree)).strength
    tree.catalogue.usage.record_gain(NodeRef(1, 0), -0.1)
    after = assess(tree, 1, 0, 2, EAGER, spare(tree)).strength
    assert after[0] == pytest.approx(before[0] ** 2) and after[1] == before[1]


def test_by_hand_nothing_is_forgotten_that_is_tagged_in_the_tail_or_not_there() -> None:
    tree = small_tree(42)
    tree.catalogue.tag(Tag(0, 42, "keep"))
    for node, why in ((NodeRef(1, 0), "tag"), (NodeRef(1, 9), "last tokens"), (NodeRef(1, 10), "complete")):
        with pytest.raises(FocusError, match=why):
            by_hand(tree, [node], spare(tree))
    with pytest.raises(FocusError, match="complete"):
        by_hand(tree, [NodeRef(0, 1)], spare(tree))
    tree.catalogue.untag(tree.catalogue.span_metadata.tags)
    assert by_hand(tree, [NodeRef(1, 0)], spare(tree)).nodes == NodeSet((NodeRun(1, 0, 1),))


# --- the window ------------------------------------------------------------------------------------------


@given(nodes, st.integers(0, 3), st.data())
def test_the_window_tiles_and_fits_after_any_forgetting_and_nothing_forgotten_is_opened(
    chosen: set[NodeRef], asked: int, data: st.DataObject
) -> None:
    runtime = small_runtime(Told(default=0.9))  # everything wants to be opened
    runtime.ingest(notes(10))
    runtime.decode(asked)
    tail = runtime.context.tail_start
    legal = {node for node in chosen if runtime.tree.exists(node) and runtime.tree.span(node)[1] <= tail}
    if not legal:
        return
    before = runtime.state_hash()
    forget(runtime, *legal)
    for _ in range(3):
        context = runtime.context
        context.check()
        for entry in context.entries():
            held = runtime.tree.children(entry.node)
            assert not any(node in legal for node in _above(entry.node, runtime.tree)), held
        record = runtime.step()
        refused = {} if record.refocus is None else {one.node: one for one in record.refocus.decisions}
        for node in legal & set(refused):
            assert refused[node].reason == "illegal_level" and not refused[node].applied
        data.draw(st.just(None))
    runtime.back(3)
    forget(runtime, *legal, kind="restore")
    assert not runtime.tree.catalogue.sealed.runs
    if not asked:
        return
    runtime.back(1)
    runtime.step()
    assert (runtime.state_hash() == before) or runtime.branch_name != "main"


def _above(node: NodeRef, tree: LifetimeTree) -> Iterator[NodeRef]:
    """Every gist over a node."""
    above = NodeRef(node.level + 1, node.index if node.level == 0 else node.index // tree.block_size)
    while above.level <= tree.depth:
        yield above
        above = NodeRef(above.level + 1, above.index // tree.block_size)


def test_stepping_back_over_a_forgetting_takes_it_back_and_stepping_on_repeats_it() -> None:
    runtime = small_runtime()
    runtime.ingest(notes(10))
    runtime.decode(2)
    before = runtime.state_hash()
    forget(runtime, NodeRef(1, 0), NodeRef(1, 1))
    assert runtime.state_hash() != before
    runtime.decode(2)
    after = runtime.state_hash()
    runtime.back(3)
    assert not runtime.tree.is_sealed(NodeRef(1, 0))
    runtime.decode(1)
    assert runtime.state_hash() == before
    runtime.switch("main")
    assert runtime.state_hash() == after and runtime.tree.is_sealed(NodeRef(1, 0))


def test_a_purge_leaves_the_gist_and_nothing_below_it_and_no_way_back() -> None:
    runtime = small_runtime()
    runtime.ingest(notes(10))
    runtime.decode(2)
    gist = runtime.tree.gists(1, 0, 1).clone()
    forget(runtime, NodeRef(1, 0))
    forget(runtime, NodeRef(1, 0), kind="purge")
    assert (runtime.tree.gists(1, 0, 1) == gist).all()
    assert not runtime.tree.tokens(0, 4).any()
    assert runtime.tree.text(0, 8).startswith("[4 tokens purged]")
    with pytest.raises(FocusError, match="can be undone"):
        runtime.back(1)
    with pytest.raises(FocusError, match="nothing to restore"):
        forget(runtime, NodeRef(1, 0), kind="restore")
    runtime.decode(3)
    runtime.context.check()


def test_making_gists_anew_leaves_those_over_purged_tokens(tmp_path: Path) -> None:
    class Other(PointerEncoder):
        version = 9

    tree = LifetimeTree.open(tmp_path, MODEL, PointerEncoder(), block_size=4)
    tree.append([int(token) for token in small_tree(64).tokens(0, 64)])
    before = tree.gists(1, 0, tree.count(1)).clone()
    tree.act(Act(1, "forget", NodeSet.of([NodeRef(1, 2)])))
    tree.act(Act(2, "purge", NodeSet.of([NodeRef(1, 2)])))
    tree.close()
    tree = LifetimeTree.open(tmp_path, MODEL, Other(), block_size=4)
    tree.rebuild()
    assert (tree.gists(1, 0, tree.count(1)) == before).all()
    assert not tree.is_stale(NodeRef(1, 2))
    tree.close()


def test_a_trace_tells_of_it_and_a_replay_agrees(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    writer = TraceWriter(path, header_of(small_runtime()))
    runtime = small_runtime(trace=writer)
    runtime.ingest(notes(10))
    runtime.decode(3)
    forget(runtime, NodeRef(1, 0), NodeRef(1, 1))
    runtime.decode(6)
    runtime.back(7)
    runtime.decode(2)
    forget(runtime, NodeRef(1, 3))
    runtime.decode(3)
    forget(runtime, NodeRef(1, 3), kind="purge")
    runtime.decode(2)
    writer.close()
    trace = read(path)
    assert replay(trace, small_runtime()) == len(trace.steps)
    assert [event.record.kind for event in trace.events if isinstance(event.record, Acted)] == [
        "forget",
        "forget",
        "purge",
    ]
    assert dict(summary(trace).events)["upkeep"] == 3
    assert len(lineage(trace).lines) == 2  # forgetting in the past began a branch


# --- the files -------------------------------------------------------------------------------------------


@contextmanager
def opened(folder: Path) -> Iterator[LifetimeTree]:
    tree = LifetimeTree.open(folder, MODEL, PointerEncoder(), block_size=4)
    try:
        yield tree
    finally:
        tree.close()


def state(tree: LifetimeTree) -> tuple[object, ...]:
    gists = [tree.gists(level, 0, tree.count(level)).sum().item() for level in range(1, tree.depth + 1)]
    span_metadata = tree.catalogue.span_metadata
    return (
        tree.digest(),
        tuple(gists),
        span_metadata.sealed,
        span_metadata.purged,
        len(span_metadata.acts),
        span_metadata.tags,
    )


def begun(folder: Path) -> None:
    with opened(folder) as tree:
        tree.append([97 + at % 26 for at in range(70)], source="a", about=SpanAbout(path="a.md", bridges=("b#c",)))
        tree.act(Act(1, "forget", NodeSet.of([NodeRef(1, 0), NodeRef(1, 1)]), "2026", "me", "why"))


def test_tags_metadata_acts_and_uses_are_there_when_the_folder_is_opened_again(tmp_path: Path) -> None:
    begun(tmp_path)
    with opened(tmp_path) as tree:
        tree.catalogue.tag(Tag(3, 9, "bugfix", "2026", "me"))
        tree.catalogue.describe({0: SpanAbout(path="a.md", domain="notes", trust=0.5)})
        tree.catalogue.usage.table(2).add([1, 3], "dwell", 66)
        before = state(tree)
    with opened(tmp_path) as tree:
        assert state(tree) == before
        assert tree.catalogue.about(0) == SpanAbout(path="a.md", domain="notes", trust=0.5)
        assert tree.catalogue.usage.of(NodeRef(2, 3)).dwell == 1
        assert tree.catalogue.usage.of(NodeRef(2, 3)).last == 66
        assert tree.catalogue.span_metadata.acts[0].why == "why"
        tree.catalogue.untag(tree.catalogue.span_metadata.tags)
        tree.truncate(6)
    with opened(tmp_path) as tree:
        assert tree.catalogue.span_metadata.tags == ()
        assert tree.catalogue.sealed == NodeSet((NodeRun(1, 0, 1),))


def test_a_purge_gives_the_disk_its_room_back(tmp_path: Path) -> None:
    tree = LifetimeTree.open(tmp_path, MODEL, PointerEncoder(), block_size=32)
    tree.append([97 + at % 26 for at in range(32 * 2048)])
    used = (tmp_path / "L0.ctx").stat().st_blocks
    runs = NodeSet((NodeRun(1, 0, 2000),))
    tree.act(Act(1, "forget", runs))
    tree.act(Act(2, "purge", runs))
    assert (tmp_path / "L0.ctx").stat().st_blocks < used / 4
    assert (tmp_path / "L0.ctx").stat().st_size == 64 + 4 * 32 * 2048
    tree.close()


def test_a_tail_that_reaches_into_what_was_purged_is_refused(tmp_path: Path) -> None:
    tree = small_tree(32)
    tree.act(Act(1, "forget", NodeSet.of([NodeRef(1, 3)])))
    tree.act(Act(2, "purge", NodeSet.of([NodeRef(1, 3)])))
    wide = SMALL.model_copy(update={"tail_blocks": 5})
    with pytest.raises(FocusError, match="shorter tail"):
        FocusRuntime(MODEL, settings=wide, clock=StillClock(), tree=tree)
    FocusRuntime(MODEL, settings=SMALL, clock=StillClock(), tree=tree)


def test_gists_that_were_lost_over_purged_tokens_are_named(tmp_path: Path) -> None:
    begun(tmp_path)
    with opened(tmp_path) as tree:
        tree.act(Act(2, "purge", NodeSet.of([NodeRef(1, 1)])))
    (tmp_path / "L1.ctx").unlink()
    with pytest.raises(CtxError, match="missing gists of purged spans"):
        LifetimeTree.open(tmp_path, MODEL, PointerEncoder(), block_size=4)

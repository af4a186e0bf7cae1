"""The allocator: every reason can be reached, the budget always holds, and each unit is answered once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs_focus.errors import WindowBudgetError
from amgs_focus.records import Action, Decision, InvalidationCost, NodeRef, Override
from amgs_focus.settings import FocusSettings
from amgs_focus.window.allocator import FARTHER, Allocation, ReadingCosts, allocate, make_room
from amgs_focus.window.candidates import REST, AllocatorState, assemble, coarsest, count_remaining_cooldown
from amgs_focus.window.working_context import WorkingContext
from tests.focus.focus_world import SMALL, Shape, told


def context_of(length: int = 100, window: int = 60) -> tuple[WorkingContext, Shape]:
    """The coarsest cover of 100 tokens: L3#0 (64), L2#4 (16), L1#20, L1#21, L1#22, then L0 from token 92."""
    shape = Shape(length)
    return coarsest(shape, window, 2), shape


def run(
    scores: Mapping[NodeRef, float],
    *,
    window: int = 60,
    default: float = 0.0,
    settings: FocusSettings = SMALL,
    state: AllocatorState | None = None,
    context: WorkingContext | None = None,
    shape: Shape | None = None,
) -> Allocation:
    made, held = context_of(window=window)
    context, shape = context or made, shape or held
    return allocate(context, told(context, scores, default), shape, settings, state or AllocatorState(refocus=1))


def decision(allocation: Allocation, node: NodeRef, kind: Action) -> Decision:
    found = [one for one in allocation.actions if one.node == node and one.kind == kind]
    assert len(found) == 1
    return found[0]


def opened(context: WorkingContext, *nodes: NodeRef) -> WorkingContext:
    for node in nodes:
        place = context.position(node)
        assert place is not None
        context, _ = context.expand(place)
    return context


L3, L2, L1 = NodeRef(3, 0), NodeRef(2, 4), NodeRef(1, 20)


def test_a_high_score_opens_a_gist_of_any_level() -> None:
    allocation = run({L3: 0.9, L1: 0.5})
    assert decision(allocation, L3, "expand").reason == "applied"
    first, second = (decision(allocation, node, "expand") for node in (L3, L1))
    assert (first.cost, first.rank, first.of) == (3, 1, 2) and (second.cost, second.rank) == (3, 2)
    levels = [entry.level for entry in allocation.context.entries()[:4]]
    assert levels == [2, 2, 2, 2]
    assert allocation.context.position(NodeRef(0, 20)) is not None


TOKENS = NodeRef(0, 20)
Words = Mapping[NodeRef, Override]
Reasons = Mapping[tuple[NodeRef, Action], str]


@pytest.mark.parametrize(
    ("nodes", "scores", "room", "n_diff", "words", "reasons"),
    [
        ((), {L3: 0.5, L2: 0.9, L1: 0.7}, 9, 1, {}, {(L2, "expand"): "applied", (L1, "expand"): "n_diff"}),
        (
            (L1,),
            {TOKENS: 0.9, NodeRef(0, 23): -0.9, NodeRef(0, 24): 0.9},
            9,
            4,
            {},
            {
                (TOKENS, "expand"): "illegal_level",
                (NodeRef(1, 23), "collapse"): "protected_tail",
                (NodeRef(0, 24), "expand"): "protected_tail",
            },
        ),
        ((L1,), {L3: 0.9, TOKENS: -0.9}, 0, 4, {}, {(L1, "collapse"): "applied", (L3, "expand"): "applied"}),
        ((L1,), {L3: 0.9, TOKENS: -0.9}, 0, 1, {}, {(L3, "expand"): "budget", (L1, "collapse"): "budget"}),
        (
            (L2,),
            {NodeRef(1, 19): 0.9} | {NodeRef(1, index): -0.95 for index in (16, 17, 18)},
            9,
            4,
            {},
            {(NodeRef(1, 19), "expand"): "applied", (L2, "collapse"): "superseded"},
        ),
        ((), {L3: -0.9}, 9, 4, {L3: "expand"}, {(L3, "expand"): "applied"}),
        ((L1,), {TOKENS: 0.9}, 9, 4, {L1: "collapse"}, {(L1, "collapse"): "applied"}),
        ((L1,), {L3: 0.9, TOKENS: -0.9}, 0, 4, {TOKENS: "pin"}, {(L1, "collapse"): "superseded"}),
        ((), {L3: 0.9}, 9, 4, {L3: "forbid"}, {(L3, "expand"): "superseded"}),
        ((), {}, 9, 4, {NodeRef(1, 3): "expand"}, {(NodeRef(1, 3), "expand"): "parent_not_open"}),
        ((), {}, 9, 4, {NodeRef(2, 1): "collapse"}, {(NodeRef(2, 1), "collapse"): "parent_not_open"}),
        ((), {}, 9, 4, {NodeRef(1, 21): "collapse"}, {(NodeRef(1, 21), "collapse"): "superseded"}),
        ((), {}, 9, 4, {NodeRef(1, 99): "expand"}, {(NodeRef(1, 99), "expand"): "illegal_level"}),
        ((), {}, 9, 4, {L3: "collapse"}, {(L3, "collapse"): "superseded"}),
    ],
)
def test_each_unit_is_answered_with_its_reason_and_a_word_of_the_operator_counts_once(
    nodes: tuple[NodeRef, ...], scores: dict[NodeRef, float], room: int, n_diff: int, words: Words, reasons: Reasons
) -> None:
    base, shape = context_of()
    context = opened(base, *nodes)
    context = replace(context, window=context.used + room)
    settings = SMALL.model_copy(update={"n_diff": n_diff})
    state = AllocatorState(refocus=1, overrides=dict(words))
    allocation = run(scores, context=context, shape=shape, settings=settings, state=state)
    assert {one: decision(allocation, *one).reason for one in reasons} == reasons
    assert allocation.state.overrides == {node: word for node, word in words.items() if word in ("pin", "forbid")}


def test_a_stale_gist_stands_for_nothing() -> None:
    base, shape = context_of()
    shape.stale.add(L1)
    allocation = run({TOKENS: -0.9}, context=opened(base, L1), shape=shape)
    assert decision(allocation, L1, "collapse").reason == "stale_gist"


def test_a_gist_that_would_cover_part_of_the_tail_is_refused() -> None:
    shape = Shape(96)
    context = coarsest(shape, 60, 2)
    allocation = run({NodeRef(1, 20): -0.9, NodeRef(1, 21): -0.9}, context=context, shape=shape)
    refused = decision(allocation, NodeRef(2, 5), "collapse")
    assert (refused.reason, refused.detail) == (
        "protected_tail",
        "it reaches into the latest text, which is always read word for word",
    )


def test_detail_nobody_asks_to_close_gives_way_to_what_is_wanted_far_more() -> None:
    context = opened(coarsest(Shape(100), 200, 2), L1, NodeRef(1, 21))
    context = replace(context, window=context.used)
    scores = {L2: 0.35, NodeRef(0, 20): -0.04, NodeRef(0, 21): -0.06}
    found = run(scores, context=context, shape=Shape(100))
    assert decision(found, L2, "expand").reason == "applied"
    assert decision(found, NodeRef(1, 21), "collapse").reason == "applied"  # 0.41 apart, 0.4 are needed
    assert decision(found, L1, "collapse").reason == "below_threshold"
    nearer = {**scores, L2: 0.33}
    kept = run(nearer, context=context, shape=Shape(100))
    assert decision(kept, L2, "expand").reason == "budget"
    assert not kept.edits


def test_the_opposite_action_is_masked_for_the_cooldown_and_free_afterwards() -> None:
    _, shape = context_of()
    first = run({L1: 0.9})
    reasons = []
    for number in range(1, 6):
        state = replace(first.state, refocus=number)
        tight = replace(first.context, window=first.context.used + 1)
        after = run({NodeRef(0, 20): -0.9, L3: 0.9}, context=tight, shape=shape, state=state)
        reasons.append(decision(after, L1, "collapse").reason)
    assert reasons == ["cooldown", "cooldown", "cooldown", "applied", "applied"]
    assert count_remaining_cooldown(first.state, L1, "collapse", 2) == 2
    assert count_remaining_cooldown(first.state, L1, "expand", 2) == -1


def test_what_the_operator_asks_for_is_paid_by_what_is_wanted_least_whatever_its_score() -> None:
    context = opened(coarsest(Shape(100), 200, 2), L3, NodeRef(2, 3), NodeRef(1, 15), NodeRef(2, 2))
    context = replace(context, window=context.used)
    state = AllocatorState(refocus=1, overrides={NodeRef(2, 0): "expand", NodeRef(1, 15): "pin"})
    scores = {NodeRef(0, 15): -0.9, NodeRef(1, 12): 0.1}
    settings = SMALL.model_copy(update={"n_diff": 1})
    found = run(scores, state=state, context=context, shape=Shape(100), settings=settings)
    asked = decision(found, NodeRef(2, 0), "expand")
    assert (asked.reason, asked.detail) == ("applied", "asked for by the operator")
    closed = next(one for one in found.actions if one.kind == "collapse" and one.reason == "applied")
    assert (closed.node, closed.detail) == (NodeRef(2, 2), "to make room for what the operator asked for")
    assert found.context.position(NodeRef(0, 15)) is not None  # pinned, although wanted least


def test_room_is_made_by_what_is_wanted_least() -> None:
    base, shape = context_of()
    context = opened(base, L1, NodeRef(1, 21), NodeRef(1, 22))
    scores = {NodeRef(0, 20): 0.3, NodeRef(0, 21): -0.1, NodeRef(0, 22): 0.1}
    tight = replace(context, window=context.used - 1)
    allocation = make_room(tight, scores, shape, SMALL, AllocatorState(refocus=3))
    assert [one.node for one in allocation.actions] == [NodeRef(1, 21)]
    assert allocation.actions[0].reason == "applied"
    assert allocation.context.used == tight.window - 2


def test_room_that_cannot_be_made_is_an_error_that_says_how_much_is_needed() -> None:
    base, shape = context_of()
    with pytest.raises(WindowBudgetError, match=str(base.used)):
        make_room(replace(base, window=base.used - 1), {}, shape, SMALL, AllocatorState())


@given(st.integers(0, 300), st.integers(0, 30), st.data())
def test_whatever_the_scores_the_outcome_fits_and_everything_is_answered(
    length: int, slack: int, data: st.DataObject
) -> None:
    shape = Shape(length)
    window = coarsest(shape, 10**6, 2).used + slack
    context = assemble(shape, window, 2)
    state = AllocatorState()
    for number in range(1, 5):
        drawn = data.draw(st.lists(st.floats(-1, 1), min_size=len(context.entries()), max_size=len(context.entries())))
        scores = {entry.node: value for entry, value in zip(context.entries(), drawn, strict=True)}
        blocks = st.integers(0, max(0, length // 4 - 1)).map(lambda index: NodeRef(1, index))
        inside = data.draw(st.dictionaries(blocks, st.floats(-1, 1), max_size=3))
        state = replace(state, refocus=number)
        allocation = allocate(context, replace(told(context, scores), inside=inside), shape, SMALL, state)
        allocation.context.check()
        assert sum(one.applied for one in allocation.actions) == len(allocation.edits) <= SMALL.n_diff
        again = context
        for edit in allocation.edits:
            again, _ = again.apply(edit)
        assert again == allocation.context
        answered = [(one.node, one.kind) for one in allocation.actions]
        assert len(answered) == len(set(answered))
        for entry in context.entries():
            parent = NodeRef(entry.level + 1, entry.index // (4 if entry.level else 1))
            kind: Action = "expand" if scores[entry.node] >= 0 else "collapse"
            assert (entry.node if kind == "expand" else parent, kind) in answered
        assert set(allocation.scores) == {entry.node for entry in allocation.context.entries()}
        context, state = allocation.context, allocation.state


@given(st.lists(st.floats(-1, 1), min_size=40, max_size=40))
def test_nothing_flips_within_its_cooldown(drawn: list[float]) -> None:
    shape = Shape(160)
    context = assemble(shape, 40, 2)
    state = AllocatorState()
    last: dict[NodeRef, tuple[str, int]] = {}
    for number in range(1, 9):
        entries = context.entries()
        scores = {entry.node: drawn[(place * number) % 40] for place, entry in enumerate(entries)}
        allocation = allocate(context, told(context, scores), shape, SMALL, replace(state, refocus=number))
        for one in allocation.actions:
            if one.applied:
                kind, when = last.get(one.node, (one.kind, -9))
                assert kind == one.kind or number - when > SMALL.cooldown
                last[one.node] = (one.kind, number)
        context, state = allocation.context, allocation.state


def test_room_is_kept_for_a_block_on_the_way_to_which_a_gist_was_opened() -> None:
    settings = SMALL.model_copy(update={"n_diff": 2})
    base, shape = context_of()
    wanted, state = NodeRef(1, 17), AllocatorState(refocus=1)

    def taken(lesser: float, room: int, *forbidden: NodeRef) -> list[Allocation]:
        """Two passes over L2#4, in which a block is wanted, and L1#20 beside it."""
        context = replace(base, window=base.used + room)
        said = replace(state, overrides=dict.fromkeys(forbidden, "forbid"))
        scores = replace(told(context, {L2: 0.9, L1: lesser}), inside={wanted: 0.9})
        first = allocate(context, scores, shape, settings, said)
        again = told(first.context, {wanted: 0.9, L1: lesser})
        return [first, allocate(first.context, again, shape, settings, first.state)]

    first, second = taken(0.8, 6)
    assert applied(first) == {(L2, "expand")} and applied(second) == {(wanted, "expand")}
    refused = decision(first, L1, "expand")
    assert refused.reason == "budget"
    assert refused.detail.startswith("it needs 3 positions of the window: 3 are free, and 3 are reserved")
    both = {(L2, "expand"), (L1, "expand")}
    assert applied(taken(0.8, 9)[0]) == both
    assert applied(taken(0.8, 6, wanted)[0]) == both  # the block may not be opened anyway
    assert applied(taken(0.8, 4)[0]) == {(L2, "expand")}  # as far as the room goes
    assert (L1, "expand") in applied(taken(0.95, 6)[0])  # it is wanted more itself


def applied(allocation: Allocation) -> set[tuple[NodeRef, Action]]:
    return {(one.node, one.kind) for one in allocation.actions if one.applied}


def test_the_dirty_front_is_known_for_every_candidate_before_anything_is_applied() -> None:
    base, shape = context_of()
    settings = SMALL.model_copy(update={"n_diff": 0})
    prices = ReadingCosts(base.used, single_ms=10.0, each_ms=2.0)
    allocation = allocate(base, told(base, {L3: 0.9, L1: 0.5}), shape, settings, AllocatorState(refocus=1), prices)
    far, near = decision(allocation, L3, "expand"), decision(allocation, L1, "expand")
    assert (far.reason, near.reason) == ("n_diff", "n_diff")
    # the sinks stand before the first entry; three children more come with either
    assert far.front == InvalidationCost(4, base.used + 3 - 4, 10.0 + 2.0 * (base.used + 3 - 4 - 1))
    assert near.front is not None and near.front.first == 4 + 2
    assert near.front.milliseconds == far.front.milliseconds - 2 * 2.0


def pair_of(allocation: Allocation) -> list[tuple[NodeRef, Action]]:
    return [(one.node, one.kind) for one in allocation.actions if one.applied]


def test_without_a_question_one_pair_is_exchanged_and_rests() -> None:
    shape = Shape(160)
    context = assemble(shape, 80, 2)
    gists = [entry.node for entry in context.entries() if entry.level == 1]
    blocks = [entry.index for entry in context.entries() if not entry.level and entry.end <= context.tail_start]
    assert len(gists) > 1 and len(blocks) > FARTHER + 1
    scores = {gists[1]: 0.19, gists[0]: -0.05} | {e.node: 0.15 for e in context.entries() if e.level > 1}
    state, seen = AllocatorState(), list[set[tuple[NodeRef, Action]]]()
    for number in range(1, 6):
        allocation = allocate(context, told(context, scores), shape, SMALL, replace(state, refocus=number), pairs=True)
        allocation.context.check()
        assert allocation.context.used == context.used
        seen.append(set(pair_of(allocation)))
        context, state = allocation.context, allocation.state
    far = NodeRef(1, blocks[0])
    assert seen[0] == {(gists[1], "expand"), (far, "collapse")}  # below both thresholds, and no L2 gist opens
    assert not any((far, "expand") in actions or (gists[1], "collapse") in actions for actions in seen[1 : 1 + REST])
    shut = allocate(assemble(shape, 80, 2), told(context, {}), shape, SMALL, AllocatorState(refocus=1), pairs=True)
    assert not pair_of(shut)  # nothing is wanted more than the rest


def test_what_a_collapse_gave_may_be_spent_though_nothing_is_kept_for_coming_gists() -> None:
    base, shape = context_of()
    full = replace(base, window=base.used)
    settings = SMALL.model_copy(update={"n_diff": 2, "cooldown": 2})
    raw = opened(full, L1)
    full = replace(raw, window=raw.used)
    state = AllocatorState(refocus=1, headroom=0)
    other = next(entry.node for entry in full.entries() if entry.level == 1 and entry.node != L1)
    allocation = allocate(full, told(full, {other: 0.9, NodeRef(0, L1.index): -0.9}), shape, settings, state)
    assert applied(allocation) == {(other, "expand"), (L1, "collapse")}

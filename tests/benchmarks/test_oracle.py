"""The exact allocation against the obvious one: try every set of open gists and keep the best that fits."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from amgs_focus.errors import WindowBudgetError
from amgs_focus.records import NodeRef, parent_of
from amgs_focus.window.layout import assemble, coarsest
from benchmarks.focus_evaluation.exact_allocation import Gate, gates_of, solve
from tests.focus.focus_world import Shape

SIZE = 4


def every_set(gates: tuple[Gate, ...]) -> list[frozenset[NodeRef]]:
    """Every set of gates in which what is open has all above it open, and what is fixed stays."""
    known = {gate.node for gate in gates}
    found = []
    for count in range(len(gates) + 1):
        for chosen in combinations(gates, count):
            opened = frozenset(gate.node for gate in chosen)
            above = {parent_of(node, SIZE) for node in opened}
            rooted = above & known <= opened
            kept = all((gate.node in opened) == gate.opened for gate in gates if gate.fixed)
            if rooted and kept:
                found.append(opened)
    return found


def twin(gates: tuple[Gate, ...], room: int, n_diff: int | None) -> float | None:
    """The greatest sum of gains by trying everything; None when nothing fits."""
    now = {gate.node for gate in gates if gate.opened}
    sums = [
        sum(gate.gain for gate in gates if gate.node in opened)
        for opened in every_set(gates)
        if sum(gate.cost for gate in gates if gate.node in opened) <= room
        and (n_diff is None or len(opened ^ now) <= n_diff)
    ]
    return max(sums, default=None)


@given(
    length=st.integers(0, 90),
    slots=st.sampled_from([1, 2]),
    opened=st.integers(0, 12),
    room=st.integers(0, 30),
    n_diff=st.none() | st.integers(0, 4),
    data=st.data(),
)
def test_the_dynamic_program_agrees_with_trying_everything(
    length: int, slots: int, opened: int, room: int, n_diff: int | None, data: st.DataObject
) -> None:
    shape = Shape(length, SIZE, slots)
    base = coarsest(shape, 10**6, 2)
    context = assemble(shape, base.used + opened, 2)
    nodes = [NodeRef(level, index) for level in (1, 2, 3) for index in range(min(shape.count(level), 20 // level))]
    gains = data.draw(
        st.dictionaries(st.sampled_from(nodes), st.sampled_from([-0.5, 0.0, 0.25, 0.5, 1.0]), max_size=5)
        if nodes
        else st.just({})
    )
    plain = gates_of(context, shape, gains)
    stuck = data.draw(st.sets(st.sampled_from([gate.node for gate in plain]), max_size=2) if plain else st.just(set()))
    gates = gates_of(context, shape, gains, stuck)
    assume(len(gates) <= 13)
    expected = twin(gates, room, n_diff)
    if expected is None:
        with pytest.raises(WindowBudgetError):
            solve(gates, room, SIZE, n_diff)
        return
    found = solve(gates, room, SIZE, n_diff)
    assert found in every_set(gates)
    assert sum(gate.cost for gate in gates if gate.node in found) <= room
    assert sum(gate.gain for gate in gates if gate.node in found) == pytest.approx(expected)

"""The exact allocation: which gists to open, given what each opening is worth, so that the sum is greatest
within the budget.

A working context is a set of opened gists: one that is open has all above it open too, and opening it costs
the same whatever else is open. The best set is a knapsack over that forest. `solve` is the dynamic program
over it; `best` uses it on measured ΔNLL, for regret.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amgs_focus.errors import WindowBudgetError
from amgs_focus.records import NodeRef, children_cost, parent_of
from amgs_focus.window.working_context import TreeShape, WorkingContext

Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Gate:
    """A gist that could be open or closed. gain: what its being open is worth; cost: positions that takes.

    opened: it is open now. fixed: it has to stay as it is.
    """

    node: NodeRef
    gain: float
    cost: int
    opened: bool = False
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Best:
    """The best context there is. gain: the sum over what is open in it; changes: openings and closings from
    the context of before.
    """

    context: WorkingContext
    gain: float
    changes: int


def best(
    context: WorkingContext,
    tree: TreeShape,
    gains: Mapping[NodeRef, float],
    *,
    room: int | None = None,
    n_diff: int | None = None,
) -> Best:
    """The context with the greatest sum of gains that takes at most `room` positions (the window's, where
    None) and is at most `n_diff` changes away (any number, where None).

    gains: of each gist's being open instead of closed, as `Measurement.gain` has it; 0 for all others. Gists
    that are not complete or reach into the tail are passed over. Raises WindowBudgetError when nothing fits.
    """
    gates = gates_of(context, tree, gains)
    fixed = context.used - sum(gate.cost for gate in gates if gate.opened)
    opened = solve(gates, (context.window if room is None else room) - fixed, context.block_size, n_diff)
    before = {gate.node for gate in gates if gate.opened}
    return Best(
        with_open(context, before, opened),
        sum(gate.gain for gate in gates if gate.node in opened),
        len(before ^ opened),
    )


def total_gain(context: WorkingContext, gains: Mapping[NodeRef, float]) -> float:
    """The sum of the gains of all gists that are open in a context: what `best` makes greatest."""
    return sum(gain for node, gain in gains.items() if is_open(context, node))


def regret(policy: float, oracle: float, reference: float) -> float:
    """(oracle − policy) / (oracle − reference) of three worths: 0 is as good as the oracle, 1 as the reference.

    NaN where the reference is as good as the oracle.
    """
    return (oracle - policy) / (oracle - reference) if oracle > reference else math.nan


def is_open(context: WorkingContext, node: NodeRef) -> bool:
    """Whether something finer than the gist stands for its span."""
    start = node.index * context.block_size**node.level
    place = context.covering(start)
    return place is not None and context.entries()[place].level < node.level


def gates_of(
    context: WorkingContext, tree: TreeShape, gains: Mapping[NodeRef, float], fixed: Iterable[NodeRef] = ()
) -> tuple[Gate, ...]:
    """Every gist that is open now or has a gain, and all above them, each before what lies below it."""
    size = context.block_size
    wanted: set[NodeRef] = set()
    starts = [parent_of(entry.node, size) for entry in context.entries()]
    for start in (node for node in (*starts, *gains) if node.level):
        node = start
        while node not in wanted and _stands(node, context, tree):
            wanted.add(node)
            node = parent_of(node, size)
    held = set(fixed)
    return tuple(
        Gate(
            node,
            gains.get(node, 0.0),
            children_cost(node, size, context.slots) - context.slots,
            is_open(context, node),
            node in held,
        )
        for node in sorted(wanted, key=lambda node: (node.index * size**node.level, -node.level))
    )


def solve(gates: Sequence[Gate], room: int, block_size: int, n_diff: int | None = None) -> frozenset[NodeRef]:
    """The gates to have open: the greatest sum of gains whose costs fit the room, within n_diff changes.

    Among equals what is stays. gates: as `gates_of` orders them. O(gates · room · n_diff). Raises
    WindowBudgetError when not even what is fixed fits.
    """
    if room < 0:
        raise _nothing_fits(room)
    unit = math.gcd(*(gate.cost for gate in gates)) if gates else 1
    costs = [gate.cost // unit for gate in gates]
    shape = (min(room // unit, sum(costs)) + 1, 1 if n_diff is None else n_diff + 1)
    sizes = _subtree_sizes(gates, block_size)
    # tables[i][c, k]: the greatest gain from gate i on, with c room and k changes left
    tables = [np.zeros(shape)] * (len(gates) + 1)
    kept = [np.zeros(shape, np.bool_)] * len(gates)
    for i in reversed(range(len(gates))):
        gate, below = gates[i], gates[i : i + sizes[i]]
        closings = sum(one.opened for one in below)
        held = any(one.opened and one.fixed for one in below)
        skip = _shifted(tables[i + sizes[i]], 0, closings if n_diff is not None else 0, forbidden=held)
        opening = int(not gate.opened) if n_diff is not None else 0
        take = gate.gain + _shifted(tables[i + 1], costs[i], opening, forbidden=gate.fixed and not gate.opened)
        kept[i] = (take >= skip) if gate.opened else (take > skip)
        tables[i] = np.maximum(take, skip)
    if not np.isfinite(tables[0][-1, -1]):
        raise _nothing_fits(room)
    return _walk(gates, costs, sizes, kept, shape, counted=n_diff is not None)


def with_open(context: WorkingContext, before: Iterable[NodeRef], opened: Iterable[NodeRef]) -> WorkingContext:
    """The context with other gists open: those that close first, the finest before what is above them."""
    old, new = set(before), set(opened)
    for node in sorted(old - new):
        context, _ = context.collapse(node)
    for node in sorted(new - old, key=lambda node: (-node.level, node.index)):
        place = context.position(node)
        if place is not None:
            context, _ = context.expand(place)
    return context


def _walk(
    gates: Sequence[Gate],
    costs: Sequence[int],
    sizes: Sequence[int],
    kept: Sequence[NDArray[np.bool_]],
    shape: tuple[int, int],
    *,
    counted: bool,
) -> frozenset[NodeRef]:
    """Read the best set off the tables of choices."""
    opened: set[NodeRef] = set()
    i, room, changes = 0, shape[0] - 1, shape[1] - 1
    while i < len(gates):
        if kept[i][room, changes]:
            opened.add(gates[i].node)
            room -= costs[i]
            changes -= int(counted and not gates[i].opened)
            i += 1
        else:
            changes -= sum(one.opened for one in gates[i : i + sizes[i]]) if counted else 0
            i += sizes[i]
    return frozenset(opened)


def _subtree_sizes(gates: Sequence[Gate], block_size: int) -> list[int]:
    """Of each gate, how many gates from it on lie in its span."""
    sizes = []
    for i, gate in enumerate(gates):
        end = (gate.node.index + 1) * block_size**gate.node.level
        j = i + 1
        while j < len(gates) and gates[j].node.index * block_size ** gates[j].node.level < end:
            j += 1
        sizes.append(j - i)
    return sizes


def _shifted(table: Table, room: int, changes: int, *, forbidden: bool) -> Table:
    """The table for one who has spent so much room and so many changes; −∞ where there is not so much."""
    moved = np.full_like(table, -np.inf)
    rows, columns = table.shape
    if not forbidden and room < rows and changes < columns:
        moved[room:, changes:] = table[: rows - room, : columns - changes]
    return moved


def _stands(node: NodeRef, context: WorkingContext, tree: TreeShape) -> bool:
    """Whether the gist is complete and ends before the tail, so that it could be an entry."""
    end = (node.index + 1) * context.block_size**node.level
    return node.index < tree.count(node.level) and end <= context.tail_start


def _nothing_fits(room: int) -> WindowBudgetError:
    return WindowBudgetError(
        f"No allocation fits the {max(0, room)} positions available for detail.",
        way_out="Use a larger window, or release pins.",
    )

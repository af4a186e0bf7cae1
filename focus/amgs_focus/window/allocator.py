"""Turn signed scores into block-aligned actions: expand, collapse, or a reason against it, each with its cost of
recomputation known before it is taken.

MegaContext, "Focus allocator". A pass takes at most N_diff actions: expansions while there is room, then collapses and
expansions in turn. Nothing is collapsed unless its room is needed. A group that does not ask for less detail still
gives way to an expansion whose score is higher by both thresholds together, the least difference between any expansion
and any collapse. When a coarse gist was opened for a block deep below it, the room for the rest of the way down is
reserved against lower scores.

In a full read, keys and values stay valid up to the first changed position and everything after it is computed again:
an action behind an earlier change costs only the positions that it adds. A read that reuses keys and values computes
only new positions.

While nothing is asked, a pass exchanges a pair: the level-1 gist with the highest score opens and the raw block
farthest from the cursor closes, if the first score is higher by half a standard deviation of the window's scores.
Thresholds do not apply. Coarser gists stay closed, as opening one shows 32 gists that say nothing; both of a pair cool
down. This was found to do no harm (docs/results/focus.md). Room for tokens to come is then also taken from the farthest
blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from amgs_focus.records import Action, Decision, InvalidationCost, NodeRef, Reason, with_sign
from amgs_focus.settings import FocusSettings
from amgs_focus.window.candidates import REST, AllocatorState, Unit, WindowState, too_small
from amgs_focus.window.working_context import Edit, Scores, TreeShape, WorkingContext, aggregate, common

FARTHER = 4
"""Distance from the cursor, in blocks, up to which no pair closes a block."""
MARGIN = 0.5
"""Standard deviations of the window's scores by which a pair's gist must exceed its block."""


@dataclass(frozen=True, slots=True)
class ReadingCosts:
    """Present costs of reading.

    clean: leading positions whose keys and values are valid in a full read. single_ms: a pass over one position;
    each_ms: each further position; both 0 before the first measurement. pending: positions to compute for the current
    context. reuse: the next read computes only new positions.
    """

    clean: int
    single_ms: float = 0.0
    each_ms: float = 0.0
    pending: int = 0
    reuse: bool = False

    def milliseconds(self, positions: int) -> float:
        """Return the predicted time to compute so many positions in one pass."""
        return 0.0 if positions <= 0 else self.single_ms + self.each_ms * (positions - 1)

    def front(self, context: WorkingContext, changed: WorkingContext) -> InvalidationCost:
        """Return the cost of changing the context, including what must be computed already."""
        after = self.after(context, changed)
        at = common(context.codes(), changed.codes())
        if self.reuse:
            positions = after.pending
        else:
            at = after.clean
            positions = max(0, changed.read - at)
        return InvalidationCost(at, positions, self.milliseconds(positions))

    def after(self, context: WorkingContext, changed: WorkingContext) -> ReadingCosts:
        """Return the costs after the context has changed."""
        new = int(np.isin(changed.codes(), context.codes(), invert=True).sum())
        clean = min(self.clean, common(context.codes(), changed.codes()))
        return replace(self, clean=clean, pending=self.pending + new)


@dataclass(frozen=True, slots=True)
class Allocation:
    """Result of a pass: a decision for every unit, the applied edits, and the new context and state.

    scores: of every present entry; an entry that an action inserted has the score of that action. prices: of reading
    the new context.
    """

    actions: tuple[Decision, ...]
    edits: tuple[Edit, ...]
    context: WorkingContext
    state: AllocatorState
    scores: Mapping[NodeRef, float]
    prices: ReadingCosts


class _Pass:
    """Working state of one pass, for `allocate` and `make_room` only."""

    def __init__(
        self, now: WindowState, scores: Mapping[NodeRef, float], prices: ReadingCosts, *, pairs: bool = False
    ) -> None:
        self.pairs = pairs
        self.freed = 0  # positions freed by this pass's collapses and not yet used
        self.now = now
        self.scores = dict(scores)
        self.prices = prices
        self.edits: list[Edit] = []
        self.decisions: dict[tuple[NodeRef, Action], Decision] = {}
        self.ranks: dict[tuple[NodeRef, Action], tuple[int, int]] = {}
        self.opened = dict(now.state.opened)
        self.closed = dict(now.state.closed)
        self.promised: set[NodeRef] = set()  # level-1 gists for whose blocks a coarser gist was opened

    def run(self) -> None:
        """Sort the units into candidates and refused ones, then apply what the budget allows."""
        opening: list[Unit] = []
        closing: list[Unit] = []
        for unit in self.now.units(self.scores):
            if unit.asked and unit.opens and self.now.refusal(unit) is None:
                self.clear_for(unit)
        units = self.now.units(self.scores)
        for unit in units:
            refused = self.now.refusal(unit)
            if self.pairs and not unit.asked:
                if refused is None or refused[0] == "below_threshold":
                    self.decide(
                        unit,
                        "below_threshold",
                        "nothing is asked: one gist opens and one block closes a refocus, and it is neither",
                    )
                else:
                    self.decide(unit, *refused)
            elif refused is None:
                (opening if unit.opens else closing).append(unit)
            else:
                self.decide(unit, *refused)
        self.answer_overrides({(unit.node, unit.kind) for unit in units})
        for queue in (opening, closing):
            self.sort(queue)
            self.ranks |= {(unit.node, unit.kind): (at, len(queue)) for at, unit in enumerate(queue, 1)}
        spare = [] if self.pairs else self.now.spare(self.scores)
        self.sort(spare)
        self.apply(opening, closing, spare)
        if self.pairs and len(self.edits) + 1 < self.now.settings.n_diff:
            self.swap()

    def swap(self) -> None:
        """Open the level-1 gist with the highest score and close the raw block farthest from the cursor."""
        entries = [entry for entry in self.now.context.entries() if entry.end <= self.now.context.tail_start]
        cost = self.now.context.block_size - 1
        gists = [Unit(entry.node, "expand", self.scores[entry.node], cost) for entry in entries if entry.level == 1]
        far = [entry for entry in entries if not entry.level and self.now.context.distance(entry) > FARTHER]
        raw = [Unit(NodeRef(1, entry.index), "collapse", self.scores[entry.node], -cost) for entry in far]
        gists, raw = ([unit for unit in units if self.now.may_swap(unit)] for units in (gists, raw))
        if not gists or not raw:
            return
        self.sort(gists)
        best, block = gists[0], raw[0]
        spread = float(np.std([self.scores[entry.node] for entry in entries]))
        if best.score - block.score < MARGIN * spread or best.score == block.score:
            comparison = f"{with_sign(best.score)} is not {MARGIN * spread:.2f} above {with_sign(block.score)}"
            self.decide(
                best,
                "below_threshold",
                f"its score {comparison}, that of the block farthest back, which would have to close",
            )
            return
        self.ranks[best.node, best.kind] = (1, len(gists))
        self.act(block, f"the block farthest back, it made room for a gist whose score is {with_sign(best.score)}")
        self.act(best)

    def sort(self, queue: list[Unit]) -> None:
        """Sort by urgency; of equal scores the nearest to the cursor expands first and the farthest collapses first."""

        def key(unit: Unit) -> tuple[bool, float, int]:
            side = 1 if unit.opens else -1
            return not unit.asked, -side * unit.score, -side * self.start(unit)

        queue.sort(key=key)

    def front(self, unit: Unit) -> InvalidationCost | None:
        """Return the cost of carrying out a unit now; None if that is impossible."""
        place, context = self.now.place(unit), self.now.context
        if place is None:
            return None
        changed, _ = context.expand(place) if unit.opens else context.collapse(unit.node)
        return self.prices.front(context, changed)

    def apply(self, expands: list[Unit], collapses: list[Unit], spare: list[Unit]) -> None:
        """Apply the most urgent units of both queues, in the order that the module's docstring gives.

        spare: groups that may give way to an expansion.
        """
        applied, most = 0, self.now.settings.n_diff
        while applied < most:
            for queue in (expands, collapses):
                self.drop_superseded(queue)
            spare = [unit for unit in spare if self.now.valid(unit)]
            yielding = self.yielding(expands[0], spare) if expands else []
            if collapses and (collapses[0].asked or self.now.free < 0):
                self.act(collapses.pop(0))
            elif expands and expands[0].cost <= self.room_for(expands[0]):
                self.act(expands.pop(0))
            elif expands and not self.affordable(expands[0], [*collapses, *yielding], most - applied):
                unit = expands.pop(0)
                self.decide(unit, "budget", f"it needs {unit.cost} positions of the window: {self.free_for_it(unit)}")
                continue
            elif expands and collapses:
                self.act(collapses.pop(0))
            elif expands:
                self.act(yielding[0], f"it made room for a passage whose score is {with_sign(expands[0].score)}")
            else:
                break
            applied += 1
        for unit in (*expands, *collapses):
            if not self.now.valid(unit):
                self.decide(unit, "superseded", "another change to the same passage came first")
            elif applied >= most:
                self.decide(unit, "n_diff", f"the {applied} changes of a pass are used up")
            else:
                self.decide(unit, "budget", "nothing needs the room it would free")

    def yielding(self, unit: Unit, spare: Sequence[Unit]) -> list[Unit]:
        """Return the groups that give way to an expansion; never its own, whose score is at least as high."""
        return [spare_unit for spare_unit in spare if unit.score - spare_unit.score > self.margin]

    def affordable(self, unit: Unit, payers: Sequence[Unit], left: int) -> bool:
        """Return whether the collapses that still fit into this pass free enough room for an expansion."""
        refunds = sum(-payer.cost for payer in payers[: left - 1])
        return self.room_for(unit) + refunds >= unit.cost

    def room_for(self, unit: Unit) -> int:
        """Return the positions that an expansion may take: those freed for it, or free ones beyond those for tokens to
        come.

        The operator's expansions may take any free position.
        """
        return (
            self.now.free
            if unit.asked
            else max(self.now.room, min(self.now.free, self.freed)) - self.count_reserved(unit)
        )

    def count_reserved(self, unit: Unit) -> int:
        """Return the positions that an expansion may not take: those that promised blocks of a higher score still need
        on the way down. A step on two of these ways counts once.
        """
        wanted = [node for node in self.promised if self.now.inside[node] > unit.score]
        ways = [self.now.way_down(node) for node in wanted]
        return sum({node: cost for way in ways for node, cost in way.items()}.values())

    def free_for_it(self, unit: Unit) -> str:
        """Return a phrase that says how many free positions an expansion may take."""
        room, reserve = max(0, self.now.room), self.now.context.free - max(0, self.now.room)
        explanation = f"{room} are free" + (f" beside the {reserve} for tokens to come" if reserve > 0 else "")
        below = 0 if unit.asked else self.count_reserved(unit)
        return explanation + (f", and {below} are reserved for passages of higher score" if below else "")

    @property
    def margin(self) -> float:
        """Difference of scores that an expansion needs over a group that gives way to it."""
        return self.now.settings.tau_expand + self.now.settings.tau_collapse

    def drop_superseded(self, queue: list[Unit]) -> None:
        while queue and not self.now.valid(queue[0]):
            self.decide(queue.pop(0), "superseded", "another change to the same passage came first")

    def act(self, unit: Unit, detail: str = "") -> None:
        """Carry out a unit, record its cooldown, and give its score to the new entries."""
        place = self.now.place(unit)
        if place is None:
            return
        before, front = self.now.context, self.front(unit)
        if unit.kind == "expand":
            context, edit = before.expand(place)
            self.promised |= self.find_wanted_below(unit.node)
        else:
            context, edit = before.collapse(unit.node)
        done, undone = (self.opened, self.closed) if unit.opens else (self.closed, self.opened)
        done[unit.node] = self.now.state.refocus
        self.freed = max(0, self.freed - edit.cost)
        undone.pop(unit.node, None)
        self.prices = self.prices.after(before, context)
        self.now = replace(self.now, context=context)
        for entry in edit.inserted:
            self.scores[entry.node] = unit.score
        self.edits.append(edit)
        self.decide(unit, "applied", detail or ("asked for by the operator" if unit.asked else ""), front)

    def find_wanted_below(self, node: NodeRef) -> set[NodeRef]:
        """Return the level-1 gists below a coarser gist whose blocks are to be opened."""
        if node.level < 2:
            return set()
        tau = self.now.settings.tau_expand
        return {gist for gist, score in self.now.inside.items() if score > tau and self.now.within(gist, node)}

    def clear_for(self, unit: Unit) -> None:
        """Make room for an expansion that the operator asked for, if unpinned groups can free enough."""
        limit = self.now.context.used + self.now.free - unit.cost
        trial = _Pass(self.now, self.scores, self.prices)
        trial.make_room(limit, "", spared=unit.node)
        if trial.now.context.used <= limit:
            self.make_room(limit, "to make room for what the operator asked for", spared=unit.node)

    def make_room(self, limit: int, detail: str, *, spared: NodeRef | None = None, gently: bool = False) -> None:
        """Collapse the groups with the lowest scores until at most `limit` positions are used, whatever the thresholds.

        Cooling, stale and pinned groups come last, pinned ones after all others: only the budget must hold. spared:
        node that the room is for; nothing above it and nothing pinned is collapsed. gently: stop before touching
        cooling, stale or pinned groups. Raises WindowBudgetError when even the coarsest form does not fit the window.
        """
        while self.now.context.used > limit:
            choices = []
            context, tree = self.now.context, self.now.tree
            for parent, members in self.now.groups().items():
                legal = parent.index < tree.count(parent.level) and self.now.closable(parent)
                if not legal or self.now.span(parent)[1] > context.tail_start:
                    continue
                if spared and (self.now.is_pinned(parent) or self.now.within(spared, parent)):
                    continue
                wanted = sum(self.scores.get(entry.node, 0.0) for entry in members) / len(members)
                score = 0.0 if self.pairs else wanted
                cost = context.collapse_cost(members)
                unit = Unit(parent, "collapse", score, cost)
                awkward = (self.now.is_pinned(parent), self.now.stale(parent), self.now.cooling(unit) is not None)
                if cost < 0 and not (gently and any(awkward)):
                    choices.append(((*awkward, score, self.start(unit)), unit))
            if not choices and context.free < 0 and not gently:
                raise too_small(context)
            if not choices:
                break
            self.act(min(choices, key=lambda choice: choice[0])[1], detail)

    def answer_overrides(self, known: set[tuple[NodeRef, Action]]) -> None:
        """Record why an operator's `expand` or `collapse` of a node that is no unit cannot be done."""
        for node, word in self.now.state.overrides.items():
            if word in ("expand", "collapse"):
                kind: Action = "expand" if word == "expand" else "collapse"
                if (node, kind) not in known:
                    unit = Unit(node, kind, 0.0, 0, asked=True)
                    self.decide(unit, *self.now.unanswerable(node, kind))

    def decide(self, unit: Unit, reason: Reason, detail: str = "", front: InvalidationCost | None = None) -> None:
        start, end = self.now.span(unit.node)
        rank, count = self.ranks.get((unit.node, unit.kind), (0, 0))
        self.decisions[unit.node, unit.kind] = Decision(
            level=unit.node.level,
            index=unit.node.index,
            kind=unit.kind,
            score=unit.score,
            reason=reason,
            cost=unit.cost,
            rank=rank,
            of=count,
            detail=detail,
            start=start,
            end=min(end, self.now.context.lifetime),
            front=front or (self.front(unit) if rank else None),
        )

    def start(self, unit: Unit) -> int:
        return self.now.span(unit.node)[0]

    def outcome(self) -> Allocation:
        state, context = self.now.state, self.now.context
        overrides = {node: word for node, word in state.overrides.items() if word in ("pin", "forbid")}
        rest = max(REST, self.now.settings.cooldown)
        opened, closed = (
            {node: when for node, when in noted.items() if state.refocus - when <= rest}
            for noted in (self.opened, self.closed)
        )
        after = replace(state, opened=opened, closed=closed, overrides=overrides)
        order = sorted(self.decisions.values(), key=lambda d: (d.start, d.level, d.kind))
        context.check()
        present = {entry.node: self.scores.get(entry.node, 0.0) for entry in context.entries()}
        return Allocation(tuple(order), tuple(self.edits), context, after, present, self.prices)


def allocate(
    context: WorkingContext,
    scores: Scores,
    tree: TreeShape,
    settings: FocusSettings,
    state: AllocatorState,
    prices: ReadingCosts | None = None,
    *,
    pairs: bool = False,
) -> Allocation:
    """Run a pass and return its result. The context must fit its window; the result fits it with the headroom.

    Where the tokens to come need room, more than they need is freed, `slack` of the window: each early collapse makes
    the base model read everything after it again, and several at once cost no more than one. prices: what is cached and
    how fast the model reads; None if nothing is cached. pairs: nothing is asked, so exchange a pair. Raises
    WindowBudgetError when the window cannot hold the lifetime's coarsest form and the headroom.
    """
    values = aggregate(context, scores.values)
    by_node = {entry.node: float(value) for entry, value in zip(context.entries(), values, strict=True)}
    headroom = state.headroom
    if context.free < headroom:
        # the last collapse frees up to a block more than needed, which is part of the slack
        headroom += max(0, int(settings.slack * context.window) - context.block_size)
    now = WindowState(context, tree, settings, replace(state, headroom=headroom), scores.inside)
    work = _Pass(now, by_node, prices or ReadingCosts(0), pairs=pairs)
    work.run()
    work.make_room(context.window - headroom, "to make room for the tokens to come", gently=True)
    work.make_room(context.window - state.headroom, "to make room for the tokens to come")
    allocation = work.outcome()
    return replace(allocation, state=replace(allocation.state, headroom=state.headroom))


def make_room(
    context: WorkingContext,
    scores: Mapping[NodeRef, float],
    tree: TreeShape,
    settings: FocusSettings,
    state: AllocatorState,
) -> Allocation:
    """Collapse the groups with the lowest scores until the context fits its window again; used after text was appended.

    scores: of the last refocus, by node; a missing score counts as 0. Raises WindowBudgetError when it cannot fit.
    """
    work = _Pass(WindowState(context, tree, settings, state), scores, ReadingCosts(0))
    work.make_room(context.window - state.headroom, "to make room for new text")
    return work.outcome()

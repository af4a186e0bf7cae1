"""From signed scores to block-aligned actions: what is expanded, what is collapsed, and why everything else
is not, each with what it makes the base model compute again, known before the action is taken.

MegaContext, "Focus allocator". At most N_diff actions a pass: expansions while there is room; when there is none,
collapses and expansions alternate; what nobody needs room for is not collapsed. What does not ask for less detail by
itself still gives way to an expansion whose score is higher by both thresholds together, which is how far apart any
expansion and any collapse are. The room that a block needs on its way down, once a gist was opened for its sake, is
denied to what is wanted less.

In a full read keys and values hold up to the first position that changed, and everything from there on is computed
anew: an action behind a change that is there already costs only the positions it adds. A read that reuses keys and
values computes only what is new.

While nothing is asked, a pass exchanges a pair: the gist of level 1 that is wanted most opens, and the raw block
farthest from the cursor closes, if the first is wanted more by half a deviation of the window's scores. No threshold
decides; coarser gists stay shut, as opening such a gist shows 32 gists that say nothing; both of a pair rest. It is
what was found to do no harm (docs/results/focus.md). Room for tokens to come is then taken from the farthest, too.
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
"""Blocks from the cursor within which no pair closes a block."""
MARGIN = 0.5
"""Deviations of the window's scores by which the gist of a pair is wanted more than the block."""


@dataclass(frozen=True, slots=True)
class ReadingCosts:
    """Current costs of reading.

    clean: leading positions whose keys and values hold in a full read. single_ms: a pass over a single position;
    each_ms: every further position of it; both 0 while nothing was measured. pending: positions to compute for the
    current context. reuse: the next read computes only what is new.
    """

    clean: int
    single_ms: float = 0.0
    each_ms: float = 0.0
    pending: int = 0
    reuse: bool = False

    def milliseconds(self, positions: int) -> float:
        """Predict the time to compute so many positions in a single pass."""
        return 0.0 if positions <= 0 else self.single_ms + self.each_ms * (positions - 1)

    def front(self, context: WorkingContext, changed: WorkingContext) -> InvalidationCost:
        """Return what would be computed if the context changed, with all that is dirty already."""
        after = self.after(context, changed)
        at = common(context.codes(), changed.codes())
        if self.reuse:
            positions = after.pending
        else:
            at = after.clean
            positions = max(0, changed.read - at)
        return InvalidationCost(at, positions, self.milliseconds(positions))

    def after(self, context: WorkingContext, changed: WorkingContext) -> ReadingCosts:
        """Return the costs once the context has changed."""
        new = int(np.isin(changed.codes(), context.codes(), invert=True).sum())
        clean = min(self.clean, common(context.codes(), changed.codes()))
        return replace(self, clean=clean, pending=self.pending + new)


@dataclass(frozen=True, slots=True)
class Allocation:
    """The outcome of a pass: a decision for every unit, the edits that were applied, and what they led to.

    scores: of every entry there is now; what an action put in place has the score that led to the action.
    prices: of reading the context as it is now.
    """

    actions: tuple[Decision, ...]
    edits: tuple[Edit, ...]
    context: WorkingContext
    state: AllocatorState
    scores: Mapping[NodeRef, float]
    prices: ReadingCosts


class _Pass:
    """The state of a pass while it runs; `allocate` and `make_room` are its only users."""

    def __init__(
        self, now: WindowState, scores: Mapping[NodeRef, float], prices: ReadingCosts, *, pairs: bool = False
    ) -> None:
        self.pairs = pairs
        self.freed = 0  # positions that collapses of the pass gave and no expansion took yet
        self.now = now
        self.scores = dict(scores)
        self.prices = prices
        self.edits: list[Edit] = []
        self.decisions: dict[tuple[NodeRef, Action], Decision] = {}
        self.ranks: dict[tuple[NodeRef, Action], tuple[int, int]] = {}
        self.opened = dict(now.state.opened)
        self.closed = dict(now.state.closed)
        self.promised: set[NodeRef] = set()  # level-1 gists for whose blocks something above them was opened

    def run(self) -> None:
        """Sort the units into candidates and the rest, then apply what the budget allows."""
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
        """Open the gist that is wanted most in the place of the raw block that is farthest from the cursor."""
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
        """Most urgent first; of equals the nearest to the cursor expands, the farthest collapses."""

        def key(unit: Unit) -> tuple[bool, float, int]:
            side = 1 if unit.opens else -1
            return not unit.asked, -side * unit.score, -side * self.start(unit)

        queue.sort(key=key)

    def front(self, unit: Unit) -> InvalidationCost | None:
        """Return what the base model would compute if the unit were carried out now; None when it cannot be."""
        place, context = self.now.place(unit), self.now.context
        if place is None:
            return None
        changed, _ = context.expand(place) if unit.opens else context.collapse(unit.node)
        return self.prices.front(context, changed)

    def apply(self, expands: list[Unit], collapses: list[Unit], spare: list[Unit]) -> None:
        """Two queues, most urgent first, and what may give way; see the module's docstring for the order."""
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
        """Return what gives way to an expansion; its own siblings never do, one of them being itself."""
        return [spare_unit for spare_unit in spare if unit.score - spare_unit.score > self.margin]

    def affordable(self, unit: Unit, payers: Sequence[Unit], left: int) -> bool:
        """Return whether the collapses that still fit into this pass make room for an expansion."""
        refunds = sum(-payer.cost for payer in payers[: left - 1])
        return self.room_for(unit) + refunds >= unit.cost

    def room_for(self, unit: Unit) -> int:
        """Return positions that an opening may take: what a collapse gave for it, and free ones beside those for tokens
        to come; the operator's may take any that are free.
        """
        return (
            self.now.free
            if unit.asked
            else max(self.now.room, min(self.now.free, self.freed)) - self.count_reserved(unit)
        )

    def count_reserved(self, unit: Unit) -> int:
        """Return the positions that this opening may not take: what is still to be opened on the way down to blocks of
        a higher score, to which a coarser gist was opened already. A step that two ways share counts once.
        """
        wanted = [node for node in self.promised if self.now.inside[node] > unit.score]
        ways = [self.now.way_down(node) for node in wanted]
        return sum({node: cost for way in ways for node, cost in way.items()}.values())

    def free_for_it(self, unit: Unit) -> str:
        """Return what an expansion may take of the free positions, in words."""
        room, reserve = max(0, self.now.room), self.now.context.free - max(0, self.now.room)
        explanation = f"{room} are free" + (f" beside the {reserve} for tokens to come" if reserve > 0 else "")
        below = 0 if unit.asked else self.count_reserved(unit)
        return explanation + (f", and {below} are reserved for passages of higher score" if below else "")

    @property
    def margin(self) -> float:
        """Score margin that an expansion needs over its collapses."""
        return self.now.settings.tau_expand + self.now.settings.tau_collapse

    def drop_superseded(self, queue: list[Unit]) -> None:
        while queue and not self.now.valid(queue[0]):
            self.decide(queue.pop(0), "superseded", "another change to the same passage came first")

    def act(self, unit: Unit, detail: str = "") -> None:
        """Carry out a unit, note its cooldown, and hand its score on to what took its place."""
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
        """Make room for what the operator asked to be opened, if what is not pinned gives enough."""
        limit = self.now.context.used + self.now.free - unit.cost
        trial = _Pass(self.now, self.scores, self.prices)
        trial.make_room(limit, "", spared=unit.node)
        if trial.now.context.used <= limit:
            self.make_room(limit, "to make room for what the operator asked for", spared=unit.node)

    def make_room(self, limit: int, detail: str, *, spared: NodeRef | None = None, gently: bool = False) -> None:
        """Collapse the least wanted groups until at most `limit` positions are used, thresholds or not.

        Pinned, cooling and stale groups come last, in that spirit: the budget is the only promise that has to hold.
        spared: what the room is for; nothing above it is collapsed, and nothing pinned. gently: only as far as none of
        those have to be touched. Raises WindowBudgetError when even the coarsest form is too large for the window.
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
        """Say why an operator's `expand` or `collapse` of a node that is no unit cannot be done."""
        for node, word in self.now.state.overrides.items():
            if word in ("expand", "collapse"):
                kind: Action = "expand" if word == "expand" else "collapse"
                if (node, kind) not in known:
                    unit = Unit(node, kind, 0.0, 0, asked=True)
                    self.decide(unit, *self.now.unanswerable(node, kind))

    def decide(self, unit: Unit, reason: Reason, detail: str = "", front: InvalidationCost | None = None) -> None:
        start, end = self.now.span(unit.node)
        rank, of = self.ranks.get((unit.node, unit.kind), (0, 0))
        self.decisions[unit.node, unit.kind] = Decision(
            level=unit.node.level,
            index=unit.node.index,
            kind=unit.kind,
            score=unit.score,
            reason=reason,
            cost=unit.cost,
            rank=rank,
            of=of,
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
    """Return a pass. The context must be within its window, and the result is, headroom included.

    Where the tokens to come need room, more than they need is freed, `slack` of the window: each collapse far up makes
    the base model read what stands behind it anew, and several at once cost no more than one. prices: what is cached
    and how fast the model reads; None for nothing cached. pairs: nothing is asked, and a pair is exchanged. Raises
    WindowBudgetError when the window cannot hold the lifetime's coarsest form and the headroom.
    """
    values = aggregate(context, scores.values)
    by_node = {entry.node: float(value) for entry, value in zip(context.entries(), values, strict=True)}
    headroom = state.headroom
    if context.free < headroom:
        # the last collapse frees up to a block more than was needed: so much of the slack comes by itself
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
    """Collapse what is wanted least until the context fits its window again; for text that came in between.

    scores: of the last refocus, by node; what has none counts as 0. Raises WindowBudgetError when it cannot fit.
    """
    work = _Pass(WindowState(context, tree, settings, state), scores, ReadingCosts(0))
    work.make_room(context.window - state.headroom, "to make room for new text")
    return work.outcome()

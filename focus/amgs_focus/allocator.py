"""From signed scores to block-aligned actions: what is expanded, what is collapsed, and why everything else
is not.

MegaContext, "Focus allocator". Greedy, at most N_diff actions a pass. Expands come first while there is
room; when there is none, collapses and expands alternate; what nobody needs room for is not collapsed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from amgs_focus.records import Action, Decision, NodeRef, Override, Reason
from amgs_focus.scoring import Scores, aggregate
from amgs_focus.settings import FocusSettings
from amgs_focus.working_context import (
    Edit,
    Entry,
    TreeShape,
    WorkingContext,
    children_cost,
    gist_entry,
    parent_of,
    too_small,
)


@dataclass(frozen=True, slots=True)
class AllocatorState:
    """What one refocus hands to the next. refocus: number of the present one.

    opened, closed: in which refocus a node was last expanded or collapsed. overrides: the operator's word:
    `pin` (never collapse) and `forbid` (never expand) stay, `expand` and `collapse` are asked once.
    headroom: positions to leave free for the tokens until the next refocus.
    """

    refocus: int = 0
    opened: Mapping[NodeRef, int] = field(default_factory=dict)
    closed: Mapping[NodeRef, int] = field(default_factory=dict)
    overrides: Mapping[NodeRef, Override] = field(default_factory=dict)
    headroom: int = 0


@dataclass(frozen=True, slots=True)
class Allocation:
    """The outcome of one pass: a decision for every unit, the edits that were applied, and what they led to.

    scores: of every entry there is now; what an action put in place has the score that led to the action.
    """

    actions: tuple[Decision, ...]
    edits: tuple[Edit, ...]
    context: WorkingContext
    state: AllocatorState
    scores: Mapping[NodeRef, float]


@dataclass(frozen=True, slots=True)
class _Unit:
    """One node that could be opened or closed. asked: by the operator, so thresholds do not apply."""

    node: NodeRef
    kind: Action
    score: float
    cost: int
    asked: bool = False


class _Pass:
    """The state of one pass while it runs; `allocate` is its only user."""

    def __init__(
        self,
        context: WorkingContext,
        scores: Mapping[NodeRef, float],
        tree: TreeShape,
        settings: FocusSettings,
        state: AllocatorState,
    ) -> None:
        self.context = context
        self.scores = dict(scores)
        self.tree = tree
        self.settings = settings
        self.state = state
        self.edits: list[Edit] = []
        self.decisions: dict[tuple[NodeRef, Action], Decision] = {}
        self.ranks: dict[tuple[NodeRef, Action], tuple[int, int]] = {}
        self.opened = dict(state.opened)
        self.closed = dict(state.closed)

    @property
    def free(self) -> int:
        return self.context.free - self.state.headroom

    def units(self) -> list[_Unit]:
        """Every unit once: entries with a score of 0 or more to expand, groups with a negative one to
        collapse.
        """
        units, groups = [], self.groups()
        for entry in self.context.entries():
            asked = self.state.overrides.get(entry.node) == "expand"
            if asked or self.scores[entry.node] >= 0:
                cost = expand_cost(entry, self.context)
                units.append(_Unit(entry.node, "expand", self.scores[entry.node], cost, asked))
        for parent, members in groups.items():
            asked = self.state.overrides.get(parent) == "collapse"
            scores = [self.scores[entry.node] for entry in members]
            if asked or min(scores) < 0:
                cost = self.context.slots - sum(entry.cost for entry in members)
                units.append(_Unit(parent, "collapse", sum(scores) / len(scores), cost, asked))
        return units

    def groups(self) -> dict[NodeRef, list[Entry]]:
        """Entries by the gist that would stand for them."""
        groups: dict[NodeRef, list[Entry]] = {}
        for entry in self.context.entries():
            groups.setdefault(parent_of(entry.node, self.context.block_size), []).append(entry)
        return groups

    def refusal(self, unit: _Unit) -> tuple[Reason, str] | None:
        """Why a unit is no candidate, or None when it is one."""
        return self.expand_refusal(unit) if unit.kind == "expand" else self.collapse_refusal(unit)

    def expand_refusal(self, unit: _Unit) -> tuple[Reason, str] | None:
        start, _ = self.span(unit.node)
        if unit.node.level == 0:
            if start >= self.context.tail_start:
                return "protected_tail", "it is part of the tail"
            return "illegal_level", "it is made of tokens already"
        if self.state.overrides.get(unit.node) == "forbid":
            return "superseded", "the operator forbade it"
        if unit.asked:
            return None
        if unit.score <= self.settings.tau_expand:
            return "below_threshold", f"τ is +{self.settings.tau_expand:.2f}"
        return self.cooling(unit)

    def collapse_refusal(self, unit: _Unit) -> tuple[Reason, str] | None:
        node = unit.node
        start, end = self.span(node)
        if start >= self.context.tail_start:
            return "protected_tail", "it is part of the tail"
        if node.index >= self.tree.count(node.level):
            return "illegal_level", f"no L{node.level} gist stands above it yet"
        if end > self.context.tail_start:
            return "protected_tail", "it reaches into the tail"
        if not unit.asked and unit.score >= -self.settings.tau_collapse:
            return "below_threshold", f"τ is −{self.settings.tau_collapse:.2f}"
        if not self.closable(node):
            return "mixed_siblings", "some of its siblings are at another level"
        if self.pinned(node):
            return "superseded", "the operator pinned it"
        if self.tree.is_stale(node):
            return "stale_gist", f"the gist {node} needs to be made anew"
        return None if unit.asked else self.cooling(unit)

    def cooling(self, unit: _Unit) -> tuple[Reason, str] | None:
        left = cooldown_left(self.state, unit.node, unit.kind, self.settings.cooldown)
        if left < 0:
            return None
        done = "collapsed" if unit.kind == "expand" else "expanded"
        when = "in this refocus" if left == self.settings.cooldown else "recently"
        return "cooldown", f"it was {done} {when}; {left} more to wait"

    def pinned(self, node: NodeRef) -> bool:
        """Whether the operator pinned the node or any entry below it."""
        start, end = self.span(node)
        return any(
            word == "pin" and start <= self.span(held)[0] and self.span(held)[1] <= end
            for held, word in self.state.overrides.items()
        )

    def closable(self, node: NodeRef) -> bool:
        """Whether all children of the node are entries now."""
        children = self.context.children(gist_entry(node, self.context.block_size, self.context.slots))
        first = self.context.position(children[0].node)
        return first is not None and self.context.entries()[first : first + len(children)] == children

    def valid(self, unit: _Unit) -> bool:
        """Whether earlier actions of the pass left the unit possible."""
        if unit.kind == "expand":
            return self.context.position(unit.node) is not None
        return self.closable(unit.node)

    def run(self) -> None:
        """Sort the units into candidates and the rest, then apply what the budget allows."""
        queues: dict[Action, list[_Unit]] = {"expand": [], "collapse": []}
        units = self.units()
        for unit in units:
            refused = self.refusal(unit)
            if refused is None:
                queues[unit.kind].append(unit)
            else:
                self.decide(unit, *refused)
        self.answer_overrides({(unit.node, unit.kind) for unit in units})
        # the greatest score first, then the nearest to the cursor; the other way round for collapses
        expands = sorted(queues["expand"], key=lambda u: (not u.asked, -u.score, -self.span(u.node)[0]))
        collapses = sorted(queues["collapse"], key=lambda u: (not u.asked, u.score, self.span(u.node)[0]))
        self.ranks = {
            (unit.node, unit.kind): (rank, len(queue))
            for queue in (expands, collapses)
            for rank, unit in enumerate(queue, start=1)
        }
        self.apply_greedily(expands, collapses)

    def apply_greedily(self, expands: list[_Unit], collapses: list[_Unit]) -> None:
        """Two queues, most urgent first; see the module's docstring for the order."""
        applied = 0
        while applied < self.settings.n_diff:
            self.drop_superseded(expands)
            self.drop_superseded(collapses)
            left = self.settings.n_diff - applied
            if collapses and (collapses[0].asked or self.free < 0):
                self.act(collapses.pop(0))
            elif expands and expands[0].cost <= self.free:
                self.act(expands.pop(0))
            elif expands and not self.affordable(expands[0], collapses, left):
                unit = expands.pop(0)
                self.decide(unit, "budget", f"it needs {unit.cost}, {max(0, self.free)} are free")
                continue
            elif expands:
                self.act(collapses.pop(0))
            else:
                break
            applied += 1
        exhausted = applied >= self.settings.n_diff
        for unit in (*expands, *collapses):
            if not self.valid(unit):
                self.decide(unit, "superseded", "another action changed its span first")
            elif exhausted:
                self.decide(unit, "n_diff", f"{applied} actions were taken")
            else:
                self.decide(unit, "budget", "nothing needs its room")

    def affordable(self, unit: _Unit, collapses: Sequence[_Unit], left: int) -> bool:
        """Whether the collapses that still fit into this pass would make room for an expand."""
        refunds = sum(-collapse.cost for collapse in collapses[: left - 1])
        return self.free + refunds >= unit.cost

    def drop_superseded(self, queue: list[_Unit]) -> None:
        while queue and not self.valid(queue[0]):
            self.decide(queue.pop(0), "superseded", "another action changed its span first")

    def act(self, unit: _Unit, detail: str = "") -> None:
        """Carry out one unit, note its cooldown, and hand its score on to what took its place."""
        if unit.kind == "expand":
            place = self.context.position(unit.node)
            if place is None:
                return
            self.context, edit = self.context.expand(place)
            self.opened[unit.node] = self.state.refocus
            self.closed.pop(unit.node, None)
        else:
            self.context, edit = self.context.collapse(unit.node)
            self.closed[unit.node] = self.state.refocus
            self.opened.pop(unit.node, None)
        for entry in edit.inserted:
            self.scores[entry.node] = unit.score
        self.edits.append(edit)
        self.decide(unit, "applied", detail or ("asked for by the operator" if unit.asked else ""))

    def make_room(self, limit: int, detail: str) -> None:
        """Collapse the least wanted groups until at most `limit` positions are used, thresholds or not.

        Pinned, cooling and stale groups come last, in that spirit: the budget is the one promise that has
        to hold. Raises BudgetError when even the coarsest form is too large.
        """
        while self.context.used > limit:
            choices = []
            for parent, members in self.groups().items():
                legal = parent.index < self.tree.count(parent.level) and self.closable(parent)
                if not legal or self.span(parent)[1] > self.context.tail_start:
                    continue
                score = sum(self.scores.get(entry.node, 0.0) for entry in members) / len(members)
                cost = self.context.slots - sum(entry.cost for entry in members)
                unit = _Unit(parent, "collapse", score, cost)
                if cost < 0:
                    awkward = (
                        self.pinned(parent),
                        self.tree.is_stale(parent),
                        self.cooling(unit) is not None,
                    )
                    choices.append(((*awkward, score, self.span(parent)[0]), unit))
            if not choices and self.context.free < 0:
                raise too_small(self.context)
            if not choices:
                break
            self.act(min(choices, key=lambda choice: choice[0])[1], detail)

    def answer_overrides(self, known: set[tuple[NodeRef, Action]]) -> None:
        """Say why an operator's `expand` or `collapse` of a node that is no unit cannot be done."""
        for node, word in self.state.overrides.items():
            kind: Action = "expand" if word == "expand" else "collapse"
            if word not in ("expand", "collapse") or (node, kind) in known:
                continue
            unit = _Unit(node, kind, 0.0, 0, asked=True)
            start, _ = self.span(node)
            place = self.context.covering(start)
            if place is None or node.index >= self.tree.count(node.level):
                self.decide(unit, "illegal_level", "there is no such node")
            elif self.context.entries()[place].level > node.level:
                self.decide(unit, "parent_not_open", f"{self.context.entries()[place].node} stands for it")
            elif kind == "collapse" and self.context.entries()[place].level < node.level:
                self.decide(unit, "mixed_siblings", "something below it is open")
            else:
                self.decide(unit, "superseded", "it is at that level already")

    def decide(self, unit: _Unit, reason: Reason, detail: str = "") -> None:
        start, end = self.span(unit.node)
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
            end=min(end, self.context.lifetime),
        )

    def span(self, node: NodeRef) -> tuple[int, int]:
        width = self.context.block_size ** max(1, node.level)
        return node.index * width, (node.index + 1) * width

    def outcome(self) -> Allocation:
        overrides = {node: word for node, word in self.state.overrides.items() if word in ("pin", "forbid")}
        oldest = self.state.refocus - self.settings.cooldown
        state = replace(
            self.state,
            opened={node: when for node, when in self.opened.items() if when >= oldest},
            closed={node: when for node, when in self.closed.items() if when >= oldest},
            overrides=overrides,
        )
        order = sorted(self.decisions.values(), key=lambda d: (d.start, d.level, d.kind))
        self.context.check()
        present = {entry.node: self.scores.get(entry.node, 0.0) for entry in self.context.entries()}
        return Allocation(tuple(order), tuple(self.edits), self.context, state, present)


def allocate(
    context: WorkingContext,
    scores: Scores,
    tree: TreeShape,
    settings: FocusSettings,
    state: AllocatorState,
) -> Allocation:
    """One pass of the greedy loop. The context must be within its window, and the result is, headroom
    included.

    Raises BudgetError when the window cannot hold the lifetime's coarsest form and the headroom.
    """
    values = aggregate(context, scores.values)
    by_node = {entry.node: float(value) for entry, value in zip(context.entries(), values, strict=True)}
    work = _Pass(context, by_node, tree, settings, state)
    work.run()
    work.make_room(context.window - state.headroom, "to make room for the tokens to come")
    return work.outcome()


def make_room(
    context: WorkingContext,
    scores: Mapping[NodeRef, float],
    tree: TreeShape,
    settings: FocusSettings,
    state: AllocatorState,
) -> Allocation:
    """Collapse what is wanted least until the context fits its window again; for text that came in between.

    scores: of the last refocus, by node; what has none counts as 0. Raises BudgetError when it cannot fit.
    """
    work = _Pass(context, scores, tree, settings, state)
    work.make_room(context.window - state.headroom, "to make room for new text")
    return work.outcome()


def cooldown_left(state: AllocatorState, node: NodeRef, kind: Action, cooldown: int) -> int:
    """Refocuses after the present one for which an action on a node stays masked; −1 when it is not."""
    done = (state.closed if kind == "expand" else state.opened).get(node)
    return -1 if done is None else max(-1, done + cooldown - state.refocus)


def expand_cost(entry: Entry, context: WorkingContext) -> int:
    """Positions that opening an entry takes; 0 for tokens."""
    if entry.level == 0:
        return 0
    return children_cost(entry.node, context.block_size, context.slots) - entry.cost

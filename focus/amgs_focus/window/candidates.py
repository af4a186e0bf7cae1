"""Lay out the first working context of a lifetime, and list the candidates to expand or collapse in a later one, with
the reasons against all others.

MegaContext, "Focus allocator": block aggregation, legality masks, cooldown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from amgs_focus.errors import WindowBudgetError
from amgs_focus.records import Action, NodeRef, Override, Reason, parent_of, tail_start, with_sign
from amgs_focus.settings import FocusSettings
from amgs_focus.window.working_context import SINKS, Entry, TreeShape, WorkingContext, gist_entry, token_entries


def lay_out(
    tree: TreeShape,
    settings: FocusSettings,
    overrides: Mapping[NodeRef, Override] = MappingProxyType({}),
    since: int = 0,
) -> WorkingContext:
    """Return the layout that the settings ask for, with room for a cadence. Raises WindowBudgetError like `coarsest`.

    overrides: a pinned node is at least as fine as pinned while there is room; a forbidden one stays closed. since:
    entries that end at or before this token stay as coarse as possible, unless everything fits.
    """
    return assemble(
        tree,
        settings.window,
        settings.tail_blocks,
        headroom=settings.cadence,
        focus_share=settings.focus_share,
        overrides=overrides,
        since=since,
    )


def coarsest(tree: TreeShape, window: int, tail_blocks: int) -> WorkingContext:
    """Return the cover of the lifetime before the tail by the fewest gists, then the tail in tokens.

    Raises WindowBudgetError when even that does not fit the window.
    """
    size = tree.block_size
    boundary = tail_start(tree.length, size, tail_blocks)
    items: list[Entry] = []
    place = 0
    while place < boundary:
        level = max(
            level
            for level in range(1, max(1, tree.depth) + 1)
            if place % size**level == 0 and place + size**level <= boundary
        )
        items.append(gist_entry(NodeRef(level, place // size**level), size))
        place += size**level
    items.extend(token_entries(boundary, tree.length, size))
    context = WorkingContext(tuple(items), tree.length, window, size, tail_blocks)
    if context.used > window:
        raise too_small(context)
    return context


def assemble(
    tree: TreeShape,
    window: int,
    tail_blocks: int,
    *,
    headroom: int = 0,
    focus_share: float = 0.0,
    overrides: Mapping[NodeRef, Override] = MappingProxyType({}),
    since: int = 0,
) -> WorkingContext:
    """Return the first working context: the coarsest cover, then detail from the end backwards while there is room.

    The latest tokens tell most about the next ones, so they get the room first and earlier text keeps its coarsest
    gists. headroom: positions reserved for tokens to come. focus_share: part of the window left free for the focus,
    unless everything fits as tokens. overrides, since: as in `lay_out`; what is pinned comes before what is recent.
    Raises WindowBudgetError like `coarsest`.

    MegaContext, "Runtime lifecycle": assemble. Later changes are the allocator's.
    """
    context = coarsest(tree, window, tail_blocks)
    for node, override in sorted(overrides.items()):
        if override == "pin":
            opened = open_down_to(node, context, tree)
            context = opened if opened.free >= headroom else context
    everything = SINKS + tree.length + headroom <= window
    reserve = headroom if everything else headroom + int(focus_share * window)
    place = len(context.items) - 1
    while place >= 0 and (everything or context.items[place].end > since):
        entry = context.items[place]
        closed = tree.is_sealed(entry.node) or overrides.get(entry.node) == "forbid"
        if entry.level and context.free - reserve >= context.expand_cost(place) and not closed:
            context, edit = context.expand(place)
            place += len(edit.inserted) - 1  # continue with its last child
        else:
            place -= 1
    context.check()
    return context


def open_down_to(node: NodeRef, context: WorkingContext, tree: TreeShape) -> WorkingContext:
    """Return the context with a node's span at the node's level or finer, even if it exceeds the window; unchanged if a
    gist on the way down is sealed.
    """
    start = node.index * tree.block_size ** max(1, node.level)
    layout = context
    while (place := layout.covering(start)) is not None and layout.items[place].level > node.level:
        if tree.is_sealed(layout.items[place].node):
            return context
        layout, _ = layout.expand(place)
    return layout


def too_small(context: WorkingContext) -> WindowBudgetError:
    """Return the error for a window that cannot hold the sinks, the coarsest cover and the tail."""
    return WindowBudgetError(
        f"{context.window} positions cannot hold {context.lifetime} tokens: even their coarsest form, with "
        f"the tail, takes {context.used}.",
        way_out=f"Set the window to {context.used} or more, or shorten the tail.",
    )


Refusal = tuple[Reason, str]

REST = 3
"""Refocuses for which both of an exchanged pair stay as they are."""
FORGOTTEN = "its text was forgotten"
"""Reason why a sealed gist may not be opened."""


@dataclass(frozen=True, slots=True)
class AllocatorState:
    """State passed from one refocus to the next.

    refocus: number of the current refocus. opened, closed: the refocus in which a node was last expanded or collapsed.
    overrides: the operator's: `pin` (never collapse) and `forbid` (never expand) stay, `expand` and `collapse` apply
    once. headroom: positions to leave free for the tokens until the next refocus.
    """

    refocus: int = 0
    opened: Mapping[NodeRef, int] = field(default_factory=dict)
    closed: Mapping[NodeRef, int] = field(default_factory=dict)
    overrides: Mapping[NodeRef, Override] = field(default_factory=dict)
    headroom: int = 0


@dataclass(frozen=True, slots=True)
class Unit:
    """A node that could be opened or closed.

    score: of the entry to expand, or the mean of the siblings to collapse. cost: change in positions. asked: by the
    operator, so thresholds do not apply. members: number of entries to collapse.
    """

    node: NodeRef
    kind: Action
    score: float
    cost: int
    asked: bool = False
    members: int = 1

    @property
    def opens(self) -> bool:
        """Return whether the unit adds detail."""
        return self.kind == "expand"


@dataclass(frozen=True)
class WindowState:
    """A working context with everything that decides what may be done to it. inside: as in `Scores`."""

    context: WorkingContext
    tree: TreeShape
    settings: FocusSettings
    state: AllocatorState
    inside: Mapping[NodeRef, float] = field(default_factory=dict)

    @property
    def free(self) -> int:
        """Free positions beyond the headroom; negative when the headroom is not free."""
        return self.context.free - self.state.headroom

    @property
    def room(self) -> int:
        """Positions that an expansion may take: the free ones less those needed before it may be undone."""
        return self.free - reserve(self.context, self.settings, self.state.headroom)

    def units(self, scores: Mapping[NodeRef, float]) -> list[Unit]:
        """Return every unit once: entries with a score of 0 or more to expand, groups with a negative member to
        collapse, and what the operator asked for.
        """
        units = []
        for place, entry in enumerate(self.context.entries()):
            asked = self.state.overrides.get(entry.node) == "expand"
            if asked or scores[entry.node] >= 0:
                cost = self.context.expand_cost(place)
                units.append(Unit(entry.node, "expand", scores[entry.node], cost, asked))
        for parent, members in self.groups().items():
            asked = self.state.overrides.get(parent) == "collapse"
            values = [scores[entry.node] for entry in members]
            if asked or min(values) < 0:
                cost = self.context.collapse_cost(members)
                mean = sum(values) / len(values)
                units.append(Unit(parent, "collapse", mean, cost, asked, len(members)))
        return units

    def way_down(self, block: NodeRef) -> dict[NodeRef, int]:
        """Return the gists to open before the block of a level-1 gist is read as tokens, from that gist up to the
        present entry, each with the positions that it takes; {} if one of them may not be opened now.
        """
        size, way, node = self.context.block_size, dict[NodeRef, int](), block
        place = self.context.covering(block.index * size)
        standing = -1 if place is None else self.context.entries()[place].level
        while node.level <= standing:
            way[node] = size - 1
            node = parent_of(node, size)
        shut = any(self._may_not_open(node) or self.cooling(Unit(node, "expand", 0.0, 0)) for node in way)
        return {} if shut else way

    def groups(self) -> dict[NodeRef, list[Entry]]:
        """Return the entries by their parent gist."""
        groups: dict[NodeRef, list[Entry]] = {}
        for entry in self.context.entries():
            groups.setdefault(parent_of(entry.node, self.context.block_size), []).append(entry)
        return groups

    def spare(self, scores: Mapping[NodeRef, float]) -> list[Unit]:
        """Return the groups that do not ask for less detail but may give way to an expansion; their score is their
        greatest.
        """
        tree, units = self.tree, []
        for parent, members in self.groups().items():
            values = [scores[entry.node] for entry in members]
            cost = self.context.collapse_cost(members)
            unit = Unit(parent, "collapse", max(values), cost)
            wanted = sum(values) / len(values) >= -self.settings.tau_collapse
            legal = parent.index < tree.count(parent.level) and self.span(parent)[1] <= self.context.tail_start
            must_stay = self.is_pinned(parent) or self.stale(parent) or self.cooling(unit) is not None
            if cost < 0 and wanted and legal and not must_stay and self.closable(parent):
                units.append(unit)
        return units

    def refusal(self, unit: Unit) -> Refusal | None:
        """Return why a unit is no candidate, or None when it is a candidate."""
        return self._opening_refusal(unit) if unit.opens else self._collapse_refusal(unit)

    def may_swap(self, unit: Unit) -> bool:
        """Return whether a pair may include a unit: nothing forbids it, and its opposite was not done lately."""
        if unit.opens:
            shut = self._may_not_open(unit.node) is not None
        else:
            shut = self.is_pinned(unit.node) or self.stale(unit.node)
        return not shut and count_remaining_cooldown(self.state, unit.node, unit.kind, REST) < 0

    def cooling(self, unit: Unit) -> Refusal | None:
        """Return the refusal of a unit whose opposite was done too recently, else None."""
        left = count_remaining_cooldown(self.state, unit.node, unit.kind, self.settings.cooldown)
        if left < 0:
            return None
        done = "closed" if unit.opens else "opened"
        when = "in this refocus" if left == self.settings.cooldown else "lately"
        return "cooldown", f"it was {done} {when} and stays so {say_stay(left)}"

    def is_pinned(self, node: NodeRef) -> bool:
        """Return whether the operator pinned the node or any entry below it."""
        return any(override == "pin" and self.within(ref, node) for ref, override in self.state.overrides.items())

    def within(self, node: NodeRef, above: NodeRef) -> bool:
        """Return whether a node's span lies in another's."""
        (start, end), (low, high) = self.span(node), self.span(above)
        return low <= start and end <= high

    def closable(self, node: NodeRef) -> bool:
        """Return whether all children of the node are entries now."""
        return bool(self.context.group(node))

    def stale(self, node: NodeRef) -> bool:
        """Return whether a collapse would insert a gist of another encoder version."""
        return self.tree.is_stale(node)

    def valid(self, unit: Unit) -> bool:
        """Return whether a unit is still possible after the pass's earlier actions."""
        return self.place(unit) is not None

    def place(self, unit: Unit) -> int | None:
        """Return the position of the first entry that a unit would change; None if it is not possible now."""
        if unit.kind == "expand":
            return self.context.position(unit.node)
        group = self.context.group(unit.node)
        return self.context.position(group[0].node) if group else None

    def unanswerable(self, node: NodeRef, kind: Action) -> Refusal:
        """Return why an operator's `expand` or `collapse` of a node that is no unit cannot be done."""
        start, _ = self.span(node)
        place = self.context.covering(start)
        if place is None or node.index >= self.tree.count(node.level):
            return "illegal_level", "there is no such passage"
        entry = self.context.entries()[place]
        if entry.level > node.level:
            return "parent_not_open", "a coarser gist stands for it and would have to open first"
        if kind == "collapse" and entry.level < node.level:
            return "mixed_siblings", "something below it is open"
        return "superseded", "it is so already"

    def span(self, node: NodeRef) -> tuple[int, int]:
        """Return the lifetime tokens [start, end) of a node, complete or not."""
        width = self.context.block_size ** max(1, node.level)
        return node.index * width, (node.index + 1) * width

    def _opening_refusal(self, unit: Unit) -> Refusal | None:
        start, _ = self.span(unit.node)
        if unit.node.level == 0:
            if start >= self.context.tail_start:
                return "protected_tail", "it is part of the latest text, which is always read word for word"
            return "illegal_level", "it is read word for word already"
        refused = self._may_not_open(unit.node)
        if refused is not None or unit.asked:
            return refused
        tau = self.settings.tau_expand
        if unit.score <= tau:
            return "below_threshold", f"its score is {with_sign(unit.score)}, and only above +{tau:.2f} would it open"
        return self.cooling(unit)

    def _collapse_refusal(self, unit: Unit) -> Refusal | None:
        node = unit.node
        start, end = self.span(node)
        if start >= self.context.tail_start:
            return "protected_tail", "it is part of the latest text, which is always read word for word"
        if node.index >= self.tree.count(node.level):
            return "illegal_level", "there is no gist for it yet"
        if end > self.context.tail_start:
            return "protected_tail", "it reaches into the latest text, which is always read word for word"
        tau = self.settings.tau_collapse
        if not unit.asked and unit.score >= -tau:
            many = f"the {unit.members} passages that one gist would replace score {with_sign(unit.score)} on average"
            subject = many if unit.members > 1 else f"its score is {with_sign(unit.score)}"
            return "below_threshold", f"{subject}, and only below −{tau:.2f} would it close"
        if not self.closable(node):
            return "mixed_siblings", "not all the passages that its gist would replace are as fine as it is"
        if self.is_pinned(node):
            return "superseded", "the operator pinned it"
        if self.stale(node):
            return "stale_gist", f"another encoder computed the gist {node}; `focus rebuild` makes it anew"
        return None if unit.asked else self.cooling(unit)

    def _may_not_open(self, node: NodeRef) -> Refusal | None:
        """Return the refusal of a gist that stays closed whatever its score, else None."""
        if self.tree.is_sealed(node):
            return "illegal_level", FORGOTTEN
        if self.state.overrides.get(node) == "forbid":
            return "superseded", "the operator forbade it"
        return None


def say_stay(left: int) -> str:
    """Return a phrase that says for how long a change is kept."""
    return f"for {left} more refocus{'es' * (left > 1)}" if left else "until the next refocus"


def count_remaining_cooldown(state: AllocatorState, node: NodeRef, kind: Action, cooldown: int) -> int:
    """Return for how many further refocuses an action on a node is masked; −1 if it is not."""
    done = (state.opened if kind == "collapse" else state.closed).get(node)
    return -1 if done is None else max(-1, done + cooldown - state.refocus)


def reserve(context: WorkingContext, settings: FocusSettings, headroom: int) -> int:
    """Return the positions that gists of blocks to come will take while an expansion cools down.

    Without this reserve the budget would close the expansion again at once.
    """
    return settings.cooldown * -(-headroom // context.block_size)

"""The first working context of a lifetime: which parts of it stand as tokens and which as gists.

MegaContext, "Runtime lifecycle": assemble. What the focus changes afterwards is the allocator's.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from amgs_focus.errors import WindowBudgetError
from amgs_focus.records import NodeRef, Override, tail_start
from amgs_focus.settings import FocusSettings
from amgs_focus.window.working_context import SINKS, Entry, TreeShape, WorkingContext, gist_entry, token_entries


def lay_out(
    tree: TreeShape,
    settings: FocusSettings,
    overrides: Mapping[NodeRef, Override] = MappingProxyType({}),
    since: int = 0,
) -> WorkingContext:
    """Return the layout that the settings ask for, with room for a cadence. Raises WindowBudgetError like `coarsest`.

    overrides: what the operator pinned is at least as fine as they said while there is room for it, and what they
    forbade stays closed. since: what ends before this token keeps its coarsest gists, unless everything fits.
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
    """Return the cover of the whole lifetime by the fewest entries, then the tail in tokens.

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

    The latest tokens tell most about the next ones, so what room there is goes to them first, and what stands
    before them keeps the coarsest gists. headroom: positions kept free for tokens to come. focus_share: part
    of the window that is left free besides, for the focus to spend, unless everything fits as tokens. overrides, since:
    as `lay_out` has them; what is pinned comes before what is recent. Raises WindowBudgetError like `coarsest`.
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
            place += len(edit.inserted) - 1  # its children are next, from the last one on
        else:
            place -= 1
    context.check()
    return context


def open_down_to(node: NodeRef, context: WorkingContext, tree: TreeShape) -> WorkingContext:
    """Return the context with a node's span at the node's level or finer, whatever the window; as it was where
    something on the way down may not be opened.
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

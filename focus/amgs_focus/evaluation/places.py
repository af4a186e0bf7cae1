"""Places in a text where the engine is measured: a lifetime that ends there, and the tokens that came next."""

from __future__ import annotations

from collections.abc import Sequence

from amgs_focus.base_model import BaseModel
from amgs_focus.gist_tree import LifetimeTree, Progress
from amgs_focus.gistnet import GistEncoder
from amgs_focus.labels import Snapshot
from amgs_focus.settings import FocusSettings
from amgs_focus.working_context import assemble


def lifetime_of(
    model: BaseModel,
    gist: GistEncoder,
    tokens: Sequence[int],
    settings: FocusSettings,
    progress: Progress | None = None,
) -> LifetimeTree:
    """A lifetime in memory that holds the tokens."""
    tree = LifetimeTree(model, gist, block_size=settings.block_size)
    tree.append(tokens, progress=progress)
    return tree


def snapshot_of(
    model: BaseModel,
    gist: GistEncoder,
    tokens: Sequence[int],
    horizon: int,
    settings: FocusSettings,
    progress: Progress | None = None,
) -> Snapshot:
    """The context that is laid out for all but the last `horizon` tokens, which are its future."""
    tree = lifetime_of(model, gist, tokens[:-horizon], settings, progress)
    context = assemble(
        tree,
        settings.window,
        settings.tail_blocks,
        headroom=settings.cadence,
        focus_share=settings.focus_share,
    )
    return Snapshot(context, tree, tuple(tokens[-horizon:]))

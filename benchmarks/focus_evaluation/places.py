"""Places in a text where the engine is measured: a lifetime that ends there, and the tokens that came next."""

from __future__ import annotations

from collections.abc import Sequence

from amgs_focus.gist.gistnet import GistEncoder
from amgs_focus.model.base_model import BaseModel
from amgs_focus.protocols import ProgressCallback
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.utility import LabelSnapshot
from amgs_focus.window.layout import spread
from amgs_focus.window.working_context import WorkingContext


def lifetime_of(
    model: BaseModel,
    gist: GistEncoder,
    tokens: Sequence[int],
    settings: FocusSettings,
    progress: ProgressCallback | None = None,
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
    progress: ProgressCallback | None = None,
) -> LabelSnapshot:
    """Gists all over the lifetime without the last `horizon` tokens, which are its future; the part of the
    window that `focus_share` names is free.
    """
    tree = lifetime_of(model, gist, tokens[:-horizon], settings, progress)
    return LabelSnapshot(_gists_all_over(tree, settings), tree, tuple(tokens[-horizon:]))


def asked_snapshot_of(
    model: BaseModel,
    gist: GistEncoder,
    tokens: Sequence[int],
    question: str,
    answer: str,
    settings: FocusSettings,
) -> LabelSnapshot:
    """As `snapshot_of`, of all the tokens with a question after them; its future is the answer, up to `horizon`
    tokens of it.
    """
    tree = lifetime_of(model, gist, tokens, settings)
    tree.append(model.encode(model.turn(question)))
    future = tuple(model.encode(answer)[: settings.horizon])
    return LabelSnapshot(_gists_all_over(tree, settings), tree, future, tuple(model.encode(question)))


def _gists_all_over(tree: LifetimeTree, settings: FocusSettings) -> WorkingContext:
    headroom = settings.cadence + int(settings.focus_share * settings.window)
    return spread(tree, settings.window, settings.tail_blocks, headroom=headroom)

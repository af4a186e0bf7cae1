"""Lifetimes that a bench builds once and keeps on disk: their gists take minutes, asking takes seconds."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from amgs.types import Progress
from amgs_focus.gist.gistnet import GistEncoder
from amgs_focus.model.base_model import BaseModel
from amgs_focus.tree.gist_tree import LifetimeTree

STEP = 16_384
"""Tokens a step of building: a build that was cut short goes on from the last whole one."""


@dataclass(frozen=True)
class Lifetimes:
    """Where lifetimes lie, and what they are built from. mark: changes with the text."""

    folder: Path
    model: BaseModel
    encoder: GistEncoder
    text: Sequence[int]
    mark: str
    block_size: int

    def open(self, name: str, tokens: Sequence[int], progress: Progress | None = None) -> LifetimeTree:
        """The lifetime of these tokens, built as far as it was not yet. Raises CtxError as the tree does."""
        card, encoder = self.model.card, self.encoder
        told = f"{card.name}|{card.precision}|{encoder.version}|{encoder.slots}|{self.mark}|{self.block_size}|{name}"
        place = self.folder / f"{name}-{hashlib.sha256(told.encode()).hexdigest()[:10]}"
        place.parent.mkdir(parents=True, exist_ok=True)
        tree = LifetimeTree.open(place, self.model, encoder, block_size=self.block_size, mend=True)
        try:
            if tree.length > len(tokens) or not np.array_equal(
                tree.tokens(0, tree.length), np.asarray(tokens[: tree.length], np.uint32)
            ):
                tree.truncate(0)
            for start in range(tree.length, len(tokens), STEP):
                if progress is not None:
                    progress(start, len(tokens), f"gists of {name}")
                tree.append(tokens[start : start + STEP])
        except BaseException:
            tree.close()
            raise
        return tree

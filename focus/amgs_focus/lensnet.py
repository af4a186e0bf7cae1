"""LensNet: learned focus scores from the working context and its tail gists. MegaContext, "LensNet"."""

from __future__ import annotations

from typing import Any

import torch

from amgs_focus.gist_tree import LifetimeTree


class TailGistCache:
    """The gists that condition LensNet: the latest node of the highest level, then the last L1 gists."""

    def __init__(self, window: int = 5) -> None:
        self._window = window
        self._key: tuple[Any, ...] = ()
        self._gists = torch.zeros(0, 0)

    def fetch(self, tree: LifetimeTree) -> torch.Tensor:
        """(k, d), k <= slots * (1 + window): root first, then oldest to newest; (0, d) while there is no
        gist.
        """
        key = (id(tree), tree.count(1), len(tree.truncations), tree.generation)
        if key != self._key:
            last, depth = tree.count(1), tree.depth
            pieces = [torch.zeros(0, tree.model.card.width)]
            if depth > 1:
                pieces.append(tree.gists(depth, tree.count(depth) - 1, tree.count(depth)).flatten(0, 1))
            if last:
                pieces.append(tree.gists(1, max(0, last - self._window), last).flatten(0, 1))
            self._key, self._gists = key, torch.cat(pieces)
        return self._gists

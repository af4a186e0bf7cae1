"""LensNet scores what it is shown, and nothing that it may not."""

from __future__ import annotations

import torch

from amgs_focus.lensnet import TailGistCache
from tests.focus.focus_world import small_tree


def test_the_tail_gists_are_the_root_and_the_latest() -> None:
    tree = small_tree(70)
    cache = TailGistCache(window=5)
    expected = torch.cat([tree.gists(3, 0, 1)[0], tree.gists(1, 12, 17)[:, 0]])
    assert torch.equal(cache.fetch(tree), expected)
    tree.append([97, 98])
    assert torch.equal(cache.fetch(tree)[1:], tree.gists(1, 13, 18)[:, 0])
    assert TailGistCache().fetch(small_tree(3)).shape == (0, 64)

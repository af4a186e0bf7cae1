"""The storage arithmetic: the specification's own figures, and the files that this program really writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from amgs_focus.gist import PointerEncoder
from amgs_focus.tree.gist_tree import LifetimeTree
from tests.focus.focus_world import MODEL
from tests.focus.storage_size import SCENARIOS, Sizes, folder_bytes


def test_the_specifications_figures_come_out() -> None:
    found = [Sizes(4096).bytes(kept) for kept in SCENARIOS]
    assert found == pytest.approx([1.29e15, 1.33e15, 667e12, 27.3e12, 13.6e12, 6.8e12], rel=0.01)


@pytest.mark.parametrize("tokens", [0, 31, 32, 1024, 5000])
def test_the_files_are_as_large_as_computed(tokens: int, tmp_path: Path) -> None:
    tree = LifetimeTree.open(tmp_path, MODEL, PointerEncoder(), block_size=32)
    tree.append([97] * tokens)
    tree.close()
    held = sum(path.stat().st_size for path in tmp_path.glob("*.ctx"))
    assert held == folder_bytes(tokens, MODEL.card.width)

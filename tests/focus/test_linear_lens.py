"""The linear lens decides as the net that it stands for, is a few kilobytes on the disk, and has a causal twin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from amgs_focus.errors import CheckpointError
from amgs_focus.gist.gistnet import PointerEncoder
from amgs_focus.lens.checkpoint import load_checkpoint, save_linear
from amgs_focus.lens.linear import NAMES, LinearLens
from amgs_focus.lens.scoring import LensView, SpreadFloors
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.layout import assemble
from tests.focus.focus_world import MODEL

WEIGHTS = {name: 0.3 * (-1) ** at * (1 + at % 4) for at, name in enumerate(NAMES)}


def views() -> list[LensView]:
    """A window of mixed detail, without a question and with one."""
    tree = LifetimeTree(MODEL, PointerEncoder(), block_size=4)
    tree.append(MODEL.encode("the red lamp was lit and the blue kite was not. " * 12))
    context = assemble(tree, 120, 2, focus_share=0.3)
    return [LensView(context, tree), LensView(context, tree, tuple(MODEL.encode("the lamp")))]


def lens(floors: SpreadFloors | None = None) -> LinearLens:
    return LinearLens(WEIGHTS, floors or SpreadFloors(), name="line", version=3)


def test_a_file_gives_back_the_same_lens_and_its_floors(tmp_path: Path) -> None:
    path = tmp_path / "line.safetensors"
    versions = []
    for floors in (SpreadFloors(), SpreadFloors(plain=0.01)):
        save_linear(path, WEIGHTS, model=MODEL, gist="pointer 0", floors=floors)
        loaded = load_checkpoint(path, MODEL)
        assert isinstance(loaded, LinearLens)
        assert (loaded.name, loaded.weights, loaded.floors) == ("line", WEIGHTS, floors)
        versions.append(loaded.version)
        for view in views():
            assert np.array_equal(loaded.score(view).values, lens(floors).score(view).values)
    assert versions[0] != versions[1]
    assert path.stat().st_size < 4096


def test_features_that_a_lens_does_not_name_weigh_nothing_and_unknown_ones_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "line.safetensors"
    save_linear(path, {"question_words": 1.0}, model=MODEL, gist="pointer 0")
    loaded = load_checkpoint(path, MODEL)
    _, asked = views()
    parts = loaded.score(asked).parts
    assert parts["question_words"].any()
    assert not any(part.any() for name, part in parts.items() if name != "question_words")
    save_linear(path, {"moon_phase": 1.0}, model=MODEL, gist="pointer 0")
    with pytest.raises(CheckpointError, match="other features"):
        load_checkpoint(path, MODEL)

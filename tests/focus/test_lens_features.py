"""What a lens is told of each entry: numbers with names, from the tokens and the layout alone."""

from __future__ import annotations

import numpy as np

from amgs_focus.lens.lensnet import NAMES, LensFeatures
from tests.focus.lens_samples import asked


def test_features_have_a_name_each_and_lie_near_0_to_1() -> None:
    view = asked("is the lamp red?")
    found = LensFeatures(view.tree).of(view)
    assert found.shape == (len(view.context.entries()), len(NAMES))
    assert np.isfinite(found).all()
    assert found.min() >= 0
    assert found.max() <= 2

"""The linear lens: an entry's worth is a weighted sum of its features, solved by ridge regression."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from amgs_focus.lens.features import NAMES, LensFeatures
from amgs_focus.lens.scoring import LensView, SpreadFloors, as_of, by_entry, scores_of
from amgs_focus.records import NodeRef
from amgs_focus.window.scores import Scores, Values

Rows = NDArray[np.float32]


class LinearLens:
    """A FocusScorer of features and weights alone. weights: by feature; those that are not named weigh 0.

    causal: each entry is scored from what stands before it and in it, the control of the C1/C2 tests.
    """

    def __init__(
        self,
        weights: Mapping[str, float],
        floors: SpreadFloors,
        *,
        name: str,
        version: int,
        causal: bool = False,
    ) -> None:
        self.weights = dict(weights)
        self.floors = floors
        self.name = name
        self.version = version
        self._causal = causal
        self._features: LensFeatures | None = None

    def twin(self) -> LinearLens:
        """The causal control with the same weights."""
        return LinearLens(
            self.weights, self.floors, name=f"{self.name} causal", version=self.version, causal=True
        )

    def worth(self, view: LensView) -> Mapping[NodeRef, float]:
        """What each entry's detail is predicted to be worth, in the units of the training's targets.

        For a gist: that it is opened; for a block of tokens: that it stays open. Comparable over snapshots.
        """
        return by_entry(view, self._summands(self._read(view)))

    def score(self, view: LensView) -> Scores:
        """Signed scores, one part for each feature."""
        features = self._read(view)
        words = features[:, NAMES.index("question_words")].astype(np.float64)
        return scores_of(view, self._summands(features), self.floors, words)

    def _read(self, view: LensView) -> Rows:
        """(entries, len(NAMES)), in the precision that the weights were solved in."""
        if self._features is None or self._features.tree is not view.tree:
            self._features = LensFeatures(view.tree)
        count = len(view.context.entries())
        if not count:
            return np.zeros((0, len(NAMES)), np.float32)
        if self._causal:
            alone = [self._features.of(as_of(view, at))[-1] for at in range(count)]
            return np.stack(alone).astype(np.float32)
        return self._features.of(view).astype(np.float32)

    def _summands(self, features: Rows) -> dict[str, Values]:
        return {
            name: (features[:, at] * np.float32(self.weights.get(name, 0.0))).astype(np.float64)
            for at, name in enumerate(NAMES)
        }

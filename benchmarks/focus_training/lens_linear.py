"""The features' own weights of a lens, solved at once: ridge regression of worths within each snapshot.

What is common to a snapshot is taken out, since only differences move detail; snapshots count by how alike their
worths are, so that a few with large effects do not decide alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from benchmarks.focus_training.lens_examples import LensExample

RIDGE = 0.03  # of each feature's own scatter
LEAST = 0.02  # of the mean feature's scatter: what never varies gets no weight
SPREAD = 0.05  # variance of worths under which a snapshot counts no more
GUESSED = 0.1  # what a guessed example counts


def solved(
    warm: Sequence[LensExample], measured: Sequence[LensExample], ridge: float = RIDGE
) -> torch.Tensor:
    """(F,) weights of the features in float32; 0 for all where there is nothing that varies."""
    count = measured[0].given.features.shape[1]
    scatter = torch.zeros(count, count, dtype=torch.float64)
    slope = torch.zeros(count, dtype=torch.float64)
    for share, examples in ((GUESSED, warm), (1.0, measured)):
        for example in examples:
            rows = (example.members @ example.given.features).double()  # (L, F)
            rows = rows - rows.mean(dim=0)
            target = (example.target - example.target.mean()).double()
            weight = share / (float((target**2).mean()) + SPREAD)
            scatter += weight * rows.T @ rows
            slope += weight * rows.T @ target
    own = scatter.diagonal()
    penalty = ridge * (own + LEAST * own.mean()) + 1e-9
    found: torch.Tensor = torch.linalg.solve(scatter + penalty.diag(), slope)
    return found.float()

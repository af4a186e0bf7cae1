"""A small lens on the tiny model, and texts to label and train it on."""

from __future__ import annotations

import random

import torch

from amgs_focus.gist.gistnet import PointerEncoder
from amgs_focus.lens.lensnet import LensNet, LensNetScorer, LensShape
from benchmarks.focus_evaluation.causal import CausalLensNetScorer
from benchmarks.focus_training.lens_runs import LensRuns, LensText
from tests.focus.focus_world import MODEL

SHAPE = LensShape(MODEL.card.width, hidden=16, heads=2, stacks=1)
RUNS = LensRuns(seed=5, blocks=(8, 12), windows=(160,), tails=(1,), horizons=(8,), refocuses=(0, 1), facts=0.5)
GIST = PointerEncoder()


def texts() -> list[LensText]:
    """Two groups of random words."""
    generator = random.Random(3)
    words = ["lamp", "river", "stone", "wander", "quilt", "ember", "fable", "noon"]
    return [
        LensText(name, name, tuple(MODEL.encode(" ".join(generator.choice(words) for _ in range(400)))))
        for name in ("one", "two")
    ]


def net(seed: int = 1, shape: LensShape = SHAPE) -> LensNet:
    """A net with random weights in every place, so that everything it reads reaches its scores."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        made = LensNet(shape)
        for weight in made.parameters():
            torch.nn.init.normal_(weight, std=0.3)
    return made


def scorer(*, causal: bool = False) -> LensNetScorer:
    kind = CausalLensNetScorer if causal else LensNetScorer
    return kind(net(), name="small", version=7)

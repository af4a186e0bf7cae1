"""A small lens on the tiny model, and texts to label and train it on."""

from __future__ import annotations

import random

import torch

from amgs_focus.gist import PointerEncoder
from amgs_focus.lens.lensnet import LensNet, LensNetScorer, LensShape
from amgs_focus.lens.scoring import LensView
from amgs_focus.records import Segment
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.candidates import coarsest
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


def asked(question: str) -> LensView:
    """One lifetime with a question at its end, which the tail holds."""
    tree = LifetimeTree(MODEL, PointerEncoder(), block_size=4)
    for text in ("the lamp is red. ", "abcd" * 20, "the kite is blue. ", "efgh" * 20):
        tree.append_segment(Segment(text))
    tree.append(MODEL.encode(MODEL.turn(question)))
    return LensView(coarsest(tree, 10**6, 12), tree, tuple(MODEL.encode(question)))


def net(seed: int = 1) -> LensNet:
    """A net with random weights in every place, so that everything it reads reaches its scores."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        made = LensNet(SHAPE)
        for weight in made.parameters():
            torch.nn.init.normal_(weight, std=0.3)
    return made


def scorer() -> LensNetScorer:
    return LensNetScorer(net(), name="small", version=7)

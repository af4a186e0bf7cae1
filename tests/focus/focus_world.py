"""Small worlds for the focus engine's tests: the tiny model, small blocks, scorers that say what is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from amgs_focus.gist import PointerEncoder
from amgs_focus.lens.scoring import FocusScorer, LensView, TailSimilarity
from amgs_focus.model.tiny import TinyModel
from amgs_focus.records import ModelCard, NodeRef, Segment
from amgs_focus.runtime.replay import header_of
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.settings import FocusSettings
from amgs_focus.trace.events import TraceSink
from amgs_focus.trace.trace import TraceWriter
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.working_context import Scores, WorkingContext

torch.set_num_threads(1)  # the tensors are tiny: threads only wait for each other

MODEL = TinyModel()
SMALL = FocusSettings(block_size=4, window=48, cadence=4, tail_blocks=2, horizon=8, focus_share=0.5)


class Renamed(TinyModel):
    """The tiny model of a seed under another name than its own."""

    def __init__(self, seed: int, name: str) -> None:
        super().__init__(seed)
        self._name = name

    @property
    def card(self) -> ModelCard:
        return replace(super().card, name=self._name)


class StillClock:
    """A clock on which nothing takes any time."""

    def perf(self) -> float:
        return 0.0


@dataclass
class Shape:
    """A lifetime of so many tokens as the layout sees it, without a token in it."""

    length: int
    block_size: int = 4
    stale: set[NodeRef] = field(default_factory=set)
    sealed: set[NodeRef] = field(default_factory=set)

    @property
    def depth(self) -> int:
        level = 0
        while self.count(level + 1):
            level += 1
        return level

    def count(self, level: int) -> int:
        return self.length // int(self.block_size ** max(1, level))

    def is_stale(self, node: NodeRef) -> bool:
        return node in self.stale

    def is_sealed(self, node: NodeRef) -> bool:
        return node in self.sealed


class Told:
    """A scorer that gives each node the score it was told, and a default to the rest."""

    name = "told"
    version = 0

    def __init__(self, scores: Mapping[NodeRef, float] | None = None, default: float = 0.0) -> None:
        self.scores = dict(scores or {})
        self.default = default

    def score(self, view: LensView) -> Scores:
        return told(view.context, self.scores, self.default)


def told(context: WorkingContext, scores: Mapping[NodeRef, float], default: float = 0.0) -> Scores:
    """Scores a position from scores a node."""
    values = [scores.get(entry.node, default) for entry in context.entries()]
    spread = np.repeat(np.array(values, np.float64), [entry.cost for entry in context.entries()])
    return Scores(spread, {"told": spread})


def small_tree(length: int, *, block_size: int = 4) -> LifetimeTree:
    """A tree of random letters."""
    tree = LifetimeTree(MODEL, PointerEncoder(), block_size=block_size)
    letters = np.random.Generator(np.random.PCG64(1)).integers(97, 123, size=length)
    tree.append([int(letter) for letter in letters], source="letters")
    return tree


def small_runtime(
    scorer: FocusScorer | None = None,
    settings: FocusSettings = SMALL,
    trace: TraceSink | None = None,
    model: TinyModel = MODEL,
) -> FocusRuntime:
    return FocusRuntime(model, PointerEncoder(), scorer or TailSimilarity(), settings, trace, clock=StillClock())


def traced() -> tuple[FocusRuntime, TraceWriter]:
    """A runtime that has read the notes and a question, and what writes its trace."""
    writer = TraceWriter(None, header_of(small_runtime()))
    runtime = small_runtime(trace=writer)
    runtime.ingest(notes())
    runtime.question("which lamp was lit?")
    return runtime, writer


def notes(count: int = 6) -> list[Segment]:
    """Short notes, each a block of its own."""
    texts = [f"note {number}: lamp {number * 7 % 10} was lit; " for number in range(count)]
    return [
        Segment(text, source=f"block-{number}", meta={"label": f"Note {number}"}) for number, text in enumerate(texts)
    ]

"""Signed focus scores: which entries deserve more detail, which less, and what each score is made of.

MegaContext, "LensNet". A scorer reads the working context and its tail without regard to causality.
`TailSimilarity` is the baseline without any training: how much a span resembles the question and the last
tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from amgs_focus.gist_tree import LifetimeTree, span_id
from amgs_focus.records import Legality
from amgs_focus.span_index import SpanIndex
from amgs_focus.working_context import WorkingContext

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LensView:
    """What a scorer may look at. question: token ids of the question alone, () when there is none."""

    context: WorkingContext
    tree: LifetimeTree
    question: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Scores:
    """Signed utilities in [-1, 1], one a position without the sinks (N = W − 4), as `WorkingContext.pack`
    lays out.

    Positive asks for more detail, negative for less. parts: named summands, each (N,).
    """

    values: Values
    parts: Mapping[str, Values]


@dataclass(frozen=True, slots=True)
class FocusScore:
    """One entry's score as the specification draws it."""

    node_id: int
    level: str
    score: float
    legality: Legality


class FocusScorer(Protocol):
    """Gives signed focus scores; LensNet and the baselines are interchangeable behind it."""

    @property
    def name(self) -> str: ...

    def score(self, view: LensView) -> Scores: ...


class TailSimilarity:
    """The baseline: similarity to the question and the last tokens, from token statistics alone.

    similarity: cosine of idf-weighted, centred mean input embeddings. lexical: share of the query's words,
    by idf, that one block of the span holds. recency: 1 just before the tail, falling with the distance in
    blocks. Their weighted sum is centred on the median entry and scaled on each side by its own spread, so
    that about half of the entries ask for less detail and half for more, and nothing is asked where all
    entries are alike.
    """

    name = "tail-similarity"

    weights: Mapping[str, float] = {"similarity": 0.1, "lexical": 1.0, "recency": 0.02}
    recent = 64  # last tokens that join the query
    recent_weight = 0.25  # of a last token beside a word of the question
    floor = 0.05  # spread under which differences are noise; recency alone never reaches a threshold

    def __init__(self) -> None:
        self._index: SpanIndex | None = None

    def score(self, view: LensView) -> Scores:
        context, tree = view.context, view.tree
        entries = context.entries()
        if self._index is None or self._index.tree is not tree:
            self._index = SpanIndex(tree)
        self._index.sync()
        recent = tree.tokens(max(0, tree.length - self.recent), tree.length)
        weights = [1.0] * len(view.question) + [self.recent_weight if view.question else 1.0] * len(recent)
        query = self._index.query([*view.question, *(int(token) for token in recent)], weights)
        nodes = [entry.node for entry in entries]
        raw = {
            "similarity": self._index.similarity(query, nodes),
            "lexical": self._index.lexical(query, nodes),
            "recency": 1 / (1 + np.array([context.distance(entry) for entry in entries], np.float64) / 8),
        }
        settled = np.array([entry.end <= context.tail_start for entry in entries], bool)
        parts = _signed({name: self.weights[name] * raw[name] for name in raw}, settled, self.floor)
        costs = [entry.cost for entry in entries]
        spread = {name: np.repeat(part, costs) for name, part in parts.items()}
        total: Values = np.sum(list(spread.values()), axis=0) if entries else np.zeros(0)
        return Scores(np.clip(total, -1.0, 1.0), spread)


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


def aggregate(context: WorkingContext, values: Values) -> Values:
    """(N,) scores a position -> (entries,): the mean over each entry's positions."""
    costs = np.array([entry.cost for entry in context.entries()], dtype=np.int64)
    if not len(costs):
        return np.zeros(0)
    starts = np.concatenate([[0], np.cumsum(costs)[:-1]])
    means: Values = np.add.reduceat(np.asarray(values, np.float64), starts) / costs
    return means


def focus_scores(context: WorkingContext, scores: Scores, depth: int) -> tuple[FocusScore, ...]:
    """The scores as the specification draws them; an illegal direction is masked to 0."""
    rows = []
    for entry, value in zip(context.entries(), aggregate(context, scores.values), strict=True):
        expandable, collapsible = entry.level > 0, entry.level < depth and entry.end <= context.tail_start
        legality: Legality = "static"
        if expandable and collapsible:
            legality = "both"
        elif expandable or collapsible:
            legality = "expandable" if expandable else "collapsible"
        masked = 0.0 if (value > 0 and not expandable) or (value < 0 and not collapsible) else float(value)
        rows.append(FocusScore(span_id(entry.node), f"L{entry.level}", masked, legality))
    return tuple(rows)


def _signed(parts: dict[str, Values], settled: NDArray[np.bool_], floor: float) -> dict[str, Values]:
    """Centre each part on the settled entries' median sum, and squash the sum to (-1, 1) keeping the
    shares.
    """
    if not settled.any():
        return {name: np.zeros_like(part) for name, part in parts.items()}
    total = np.sum(list(parts.values()), axis=0)
    centre = float(np.median(total[settled]))
    middle = np.abs(total - centre) <= np.median(np.abs(total[settled] - centre)) + 1e-12
    middle &= settled
    means = {name: float(part[middle].mean()) for name, part in parts.items()}
    shifted = total - sum(means.values())
    above, below = shifted[settled & (shifted > 0)], shifted[settled & (shifted < 0)]
    up = max(floor, float(np.sqrt(np.mean(above**2)))) if len(above) else floor
    down = max(floor, float(np.sqrt(np.mean(below**2)))) if len(below) else floor
    squashed = np.tanh(np.where(shifted > 0, shifted / up, shifted / down) / 2)
    share = np.divide(squashed, shifted, out=np.zeros_like(shifted), where=np.abs(shifted) > 1e-9)
    return {name: (part - means[name]) * share for name, part in parts.items()}

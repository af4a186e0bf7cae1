"""Signed focus scores: which entries deserve more detail, which less, and the parts of each score.

MegaContext, "LensNet" and "Granularity & bridges". This module defines a scorer's input and output; the LensNet and the
baseline, which needs no training, are interchangeable behind `FocusScorer`. A wrapping scorer applies bridges between
spans: text linked to something that the window wants is wanted a little too. Without bridges, or when nothing is
wanted, it changes no score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from amgs_focus.options import OPTIONS
from amgs_focus.records import Findings, NodeRef
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.tree.span_index import SpanIndex
from amgs_focus.window.working_context import Entry, Scores, Values, WorkingContext, aggregate


@dataclass(frozen=True, slots=True)
class LensView:
    """Input of a scorer.

    question: token ids of the question alone, () without one. findings: result of a search for it, None without a
    search.
    """

    context: WorkingContext
    tree: LifetimeTree
    question: tuple[int, ...] = ()
    findings: Findings | None = None


class FocusScorer(Protocol):
    """Gives signed focus scores."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int:
        """A number that changes whenever the same view would get other scores; 0 for a scorer without weights."""
        ...

    def score(self, view: LensView) -> Scores: ...


def scale_parts(parts: dict[str, Values], settled: NDArray[np.bool_], floor: float) -> dict[str, Values]:
    """Return named summands, each (entries,), scaled to the parts of a score in (-1, 1).

    The sum is centred on the settled entries' median, scaled on each side by that side's own spread (at least `floor`,
    so that noise asks for nothing) and squashed; the parts keep their shares. So about half of the entries ask for less
    detail and half for more, with similar force: the specification's re-balance.
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


@dataclass(frozen=True, slots=True)
class SpreadFloors:
    """Least spreads by which worths are scaled; a checkpoint has its own.

    plain: without a question, when all entries of prose are worth about the same and none should pass a threshold.
    asked: with a question, which wants something whatever the scale of its words.
    """

    plain: float = 0.7
    asked: float = 0.05


def scores_of(
    view: LensView, summands: Mapping[str, Values], floors: SpreadFloors, question_words: Values | None
) -> Scores:
    """Return scores from worths, given as named summands (entries,).

    The worths are centred on their median and squashed to (-1, 1): zero-sum, so that detail is moved rather than
    requested without end. Entries of the tail get 0. question_words: (entries,) share of the question's words in each
    entry's best block.
    """
    context = view.context
    entries = context.entries()
    settled = np.array([entry.end <= context.tail_start for entry in entries], bool)
    parts = scale_parts(dict(summands), settled, floors.asked if view.question else floors.plain)
    costs = [entry.cost for entry in entries]
    spread = {name: np.repeat(np.where(settled, part, 0.0), costs) for name, part in parts.items()}
    total: Values = np.sum(list(spread.values()), axis=0) if entries else np.zeros(0)
    share = None
    if view.question and question_words is not None and len(question_words) == len(settled):
        share = float(question_words[settled].max(initial=0.0))
    return Scores(np.clip(total, -1.0, 1.0), spread, share)


class TailSimilarity:
    """The baseline: similarity to the question and the last tokens, from token statistics alone.

    similarity: cosine of idf-weighted, centred mean input embeddings. lexical: share of the query's words, by idf, in a
    block of the span. recency: 1 just before the tail, falling with the distance in blocks. Their weighted sum is
    centred on the median entry and scaled on each side by its own spread, so that about half of the entries ask for
    less detail and half for more, and none asks for anything where all are alike.
    """

    name = "tail-similarity"
    version = 0

    weights: Mapping[str, float] = {"similarity": 0.1, "lexical": 1.0, "recency": 0.02}
    recent = 64  # last tokens added to the query
    recent_weight = 0.25  # weight of a last token relative to a word of the question
    floor = 0.05  # spread below which differences are noise; recency alone reaches no threshold

    def __init__(self) -> None:
        self._index: SpanIndex | None = None

    @property
    def visited(self) -> int:
        """Postings that searches have read so far; must not grow with the lifetime."""
        return self._index.visited if self._index is not None else 0

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
        parts = scale_parts({name: self.weights[name] * raw[name] for name in raw}, settled, self.floor)
        costs = [entry.cost for entry in entries]
        spread = {name: np.repeat(part, costs) for name, part in parts.items()}
        total: Values = np.sum(list(spread.values()), axis=0) if entries else np.zeros(0)
        share = self._measure_question_share(view, [node for node, out in zip(nodes, settled, strict=True) if out])
        return Scores(np.clip(total, -1.0, 1.0), spread, share)

    def _measure_question_share(self, view: LensView, nodes: Sequence[NodeRef]) -> float | None:
        """Return the share of the question in the best block before the tail."""
        if not view.question or self._index is None:
            return None
        query = self._index.query(view.question, [1.0] * len(view.question))
        return float(self._index.lexical(query, nodes).max(initial=0.0)) if query.total else None


class BridgedScorer:
    """Gives a gist a share of the best score among the entries that its spans are bridged to, as a part `bridge`.

    It has the name and version of the inner scorer: what it adds depends only on the lifetime and the setting
    `bridge_share`.
    """

    def __init__(self, inner: FocusScorer, share: float) -> None:
        """Wrap a scorer. share: how much of a score crosses a bridge."""
        self.inner = inner
        self._share = share
        self._known = -1
        self._linked = False
        self._current: Mapping[str, str] = {}

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def version(self) -> int:
        return self.inner.version

    def score(self, view: LensView) -> Scores:
        scores = self.inner.score(view)
        tree = view.tree
        self._look(tree)
        if not self._linked:
            return scores
        entries = view.context.entries()
        values = aggregate(view.context, scores.values)
        ends = [self._ends(entry, tree) for entry in entries]
        wanted: dict[str, float] = {}
        for (_, targets), value in zip(ends, values, strict=True):
            for key in targets if value > 0 else ():
                wanted[key] = max(wanted.get(key, 0.0), float(value))
        added = np.zeros(len(entries))
        for at, (entry, (keys, _)) in enumerate(zip(entries, ends, strict=True)):
            if entry.level:
                reach = self._share * max((wanted.get(key, 0.0) for key in keys), default=0.0)
                added[at] = min(max(0.0, reach), 1.0 - values[at])
        spread = np.repeat(added, [entry.cost for entry in entries])
        parts = {**scores.parts, "bridge": spread}
        return replace(scores, values=np.clip(scores.values + spread, -1.0, 1.0), parts=parts)

    def _ends(self, entry: Entry, tree: LifetimeTree) -> tuple[frozenset[str], frozenset[str]]:
        """Return the keys of an entry's current spans, and the keys that these have bridges to."""
        if entry.level > OPTIONS.coarsest_bridge:
            return frozenset(), frozenset()
        about = [tree.catalogue.about(span.start) for span in tree.sources_whole(entry.start, entry.end)]
        live = [
            description
            for description in about
            if description.key and self._current.get(description.path) == description.version
        ]
        return frozenset(description.key for description in live), frozenset(
            key for description in live for key in description.bridges
        )

    def _look(self, tree: LifetimeTree) -> None:
        """Update whether there are bridges, and the current version of every path."""
        spans = tree.spans()
        if len(spans) != self._known:
            self._known = len(spans)
            self._linked = any(description.bridges for description in tree.catalogue.span_metadata.about.values())
            self._current = tree.catalogue.span_metadata.versions()

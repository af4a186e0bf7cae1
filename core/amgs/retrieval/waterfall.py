"""The waterfall: runs the layers in order, each with its report of candidates in and out and milliseconds
(AMGS §6.1).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from amgs.errors import UsageError
from amgs.index.fuzzy import Correction
from amgs.model import LAYERS, BlockFilter, Candidate, LayerReport, SearchResult, Vector, Weights
from amgs.retrieval.fuzzy import fuzzy
from amgs.retrieval.graph import best, expand
from amgs.retrieval.keyword import LexicalHit, keyword
from amgs.retrieval.ports import Numbers, Sources
from amgs.retrieval.prefilter import prefilter, total
from amgs.retrieval.score import SEARCH_WEIGHTS, Evidence, score, similarity
from amgs.retrieval.vector import vector
from amgs.settings import RetrievalSettings

FINDERS = ("keyword", "fuzzy", "vector", "graph")
"""The layers that bring candidates; the pre-filter and the score always run."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked. present: blocks that are candidates whatever the finders say (a frame's own pool).

    recent: with nothing to look for, so many of the most recently reinforced blocks are the candidates; 0 for
    none.
    """

    text: str
    filter: BlockFilter = field(default_factory=BlockFilter)
    weights: Weights = SEARCH_WEIGHTS
    layers: frozenset[str] = frozenset(LAYERS)
    present: tuple[int, ...] = ()
    recent: int = 0
    hops: int = 1
    within: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Gathered:
    """All candidates in falling score with the number of each, the reports of the six layers, and the words
    that were corrected.
    """

    candidates: tuple[Candidate, ...]
    numbers: Mapping[str, int]
    layers: tuple[LayerReport, ...]
    corrections: tuple[Correction, ...] = ()


def check_layers(layers: Collection[str] | None) -> frozenset[str]:
    """The layers asked for, all when None; raises UsageError for a name that is none."""
    if layers is None:
        return frozenset(LAYERS)
    unknown = sorted(set(layers) - set(LAYERS))
    if unknown or not layers:
        raise UsageError(
            f"No retrieval layer is called {unknown[0]!r}." if unknown else "No retrieval layer was named.",
            way_out="The layers are " + ", ".join(LAYERS) + ".",
        )
    return frozenset(layers)


def search(request: Request, sources: Sources, settings: RetrievalSettings, top_k: int) -> SearchResult:
    """The best `top_k` blocks for a query, with each layer's report."""
    if top_k < 0:
        raise UsageError(f"The number of hits cannot be {top_k}.", way_out="Ask for 0 or more.")
    start = sources.clock.perf()
    gathered = gather(request, sources, settings)
    return SearchResult(
        query=request.text,
        hits=gathered.candidates[:top_k],
        layers=gathered.layers,
        milliseconds=1000.0 * (sources.clock.perf() - start),
        weights=request.weights,
    )


def gather(request: Request, sources: Sources, settings: RetrievalSettings) -> Gathered:
    """Run the layers asked for and score everything they found."""
    run = _Run(request, sources, settings)
    run.prefilter()
    run.keyword()
    run.fuzzy()
    run.vector()
    run.graph()
    return run.score()


class _Run:
    """One query on its way down: what is known of each block so far, by number, and the reports."""

    def __init__(self, request: Request, sources: Sources, settings: RetrievalSettings) -> None:
        self.request, self.sources, self.settings = request, sources, settings
        self.wanted = [n for n in FINDERS if n in request.layers and (n != "graph" or request.hops > 0)]
        # Alone, the graph lets the keyword and vector layers find its seeds but hands on only what it
        # reached.
        self.seeding = self.wanted == ["graph"]
        self.has_words = any(c.isalnum() for c in request.text)
        self.evidence: dict[int, Evidence] = {}
        self.reports: list[LayerReport] = []
        self.corrections: tuple[Correction, ...] = ()
        self.query = sources.keyword.query(request.text)
        self.embedding: Vector | None = None
        self.allowed: Numbers = np.zeros(0, dtype=np.int64)

    @property
    def lexical_share(self) -> float:
        """A layer that is switched off has no say in the similarity either."""
        lexical = self.seeding or "keyword" in self.wanted or "fuzzy" in self.wanted
        semantic = self.seeding or "vector" in self.wanted
        return self.settings.lexical_share if lexical and semantic else float(lexical)

    def prefilter(self) -> None:
        start = self.sources.clock.perf()
        self.allowed = prefilter(self.request.filter, self.sources.blocks)
        if self.request.within is not None:
            narrowed = np.isin(self.allowed, np.array(self.request.within, dtype=np.int64))
            self.allowed = self.allowed[narrowed]
        entered = total(self.sources.blocks)
        self._report("prefilter", entered, self.allowed.size, 0, start)

    def keyword(self) -> None:
        if self._skips("keyword", seeds=True):
            return
        start = self.sources.clock.perf()
        found = keyword(self.query, self.sources.keyword, self.allowed, self.settings.keyword_pool)
        self._absorb_lexical("keyword", found, start)

    def fuzzy(self) -> None:
        if self._skips("fuzzy"):
            return
        start = self.sources.clock.perf()
        result = fuzzy(self.query, self.sources.keyword, self.allowed, self.settings.fuzzy_pool)
        self.corrections = result.corrections
        self._absorb_lexical("fuzzy", result.hits, start)

    def vector(self) -> None:
        if self._skips("vector", seeds=True):
            return
        start = self.sources.clock.perf()
        self.embedding = self.sources.embed(self.request.text)
        found = vector(self.embedding, self.sources.vectors, self.allowed, self.settings.vector_pool)
        fresh = len(found.keys() - self.evidence.keys())
        for number in found:
            self._add(number, "vector")
        # The cosine of what the words found is known too: a score must not depend on which layer came first.
        self._add_cosines(self.embedding)
        self._report("vector", self.allowed.size, len(found), fresh, start)

    def graph(self) -> None:
        if self._skips("graph"):
            return
        start = self.sources.clock.perf()
        similarities = {n: similarity(e, self.lexical_share) for n, e in self.evidence.items()}
        seeds = best(similarities, self.settings.graph_seeds)
        found = dict(expand(seeds, self.sources.graph.view(), self.allowed, self.settings))
        ring = found
        for _ in range(1, self.request.hops):
            walked = best(ring, self.settings.graph_seeds)
            ring = dict(expand(walked, self.sources.graph.view(), self.allowed, self.settings))
            for number, flow in ring.items():
                found[number] = max(found.get(number, 0.0), flow)
        if self.seeding:
            self.evidence = {}
        fresh = len(found.keys() - self.evidence.keys())
        for number, flow in found.items():
            self._add(number, "graph").flow = flow
        self._report("graph", len(seeds), len(found), fresh, start)

    def score(self) -> Gathered:
        start = self.sources.clock.perf()
        for number in self._present():
            self._add(number, "prefilter")
        numbers = sorted(self.evidence)
        if self.embedding is not None and not self.seeding:
            self._add_cosines(self.embedding)
        stored = self.sources.blocks.stored(numbers)
        candidates = score(
            stored,
            self.evidence,
            self.sources.graph.importance(numbers) if numbers else {},
            self.sources.clock.now(),
            self.request.weights,
            self.lexical_share,
        )
        self._report("score", len(numbers), len(candidates), 0, start)
        by_id = {one.block.id: one.number for one in stored}
        return Gathered(candidates, by_id, tuple(self.reports), self.corrections)

    # --- inside -----------------------------------------------------------------------------------------

    def _present(self) -> list[int]:
        """Blocks that are candidates though no layer found them."""
        present = set(self.request.present)
        if self.request.recent > 0 and (not self.has_words or not self.wanted):
            present.update(
                self.sources.blocks.numbers(self.request.filter, limit=self.request.recent).tolist()
            )
        return sorted(present)

    def _skips(self, layer: str, *, seeds: bool = False) -> bool:
        """Whether a layer does not run, and says why in its report."""
        off = layer not in self.wanted and not (seeds and self.seeding)
        if off or not self.has_words:
            reason = "switched off" if off else "no words in the query"
            self.reports.append(LayerReport(layer, 0, 0, 0, 0.0, reason))
        return off or not self.has_words

    def _absorb_lexical(self, layer: str, found: Mapping[int, LexicalHit], start: float) -> None:
        fresh = len(found.keys() - self.evidence.keys())
        for number, hit in found.items():
            known = self._add(number, layer)
            known.share += hit.share
            known.exact = max(known.exact, hit.exact)
        self._report(layer, self.allowed.size, len(found), fresh, start)

    def _add(self, number: int, layer: str) -> Evidence:
        """The block's evidence, with the layer among those that found it."""
        known = self.evidence.setdefault(number, Evidence())
        if layer not in known.layers:
            known.layers = (*known.layers, layer)
        return known

    def _add_cosines(self, embedding: Vector) -> None:
        for number, cosine in self.sources.vectors.cosines(embedding, sorted(self.evidence)).items():
            self.evidence[number].cosine = cosine

    def _report(self, layer: str, entered: int, left: int, fresh: int, start: float) -> None:
        milliseconds = 1000.0 * (self.sources.clock.perf() - start)
        reason = "ran for seeds only" if self.seeding and layer in ("keyword", "vector") else ""
        self.reports.append(LayerReport(layer, int(entered), int(left), fresh, milliseconds, reason))

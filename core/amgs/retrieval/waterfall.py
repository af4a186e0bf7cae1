"""Run the six layers of a search in order (AMGS §6.1): pre-filter, keyword, fuzzy, vector, graph, score.

`search` answers a query. `gather` returns the candidates with their evidence to frames, to `why` and to the search log.
A layer only adds candidates, and only those that the pre-filter allows; each writes a report (candidates in and out,
milliseconds), which the screen and snapshots show.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from amgs import bounds
from amgs.clock import local_now
from amgs.errors import UsageError
from amgs.index.arrays import contains
from amgs.index.lexical import StemCorrection
from amgs.index.terms import LexicalQuery
from amgs.index.vector import QueryVectors
from amgs.retrieval.features import FEATURES, Features, QueryFeatures, compute_features
from amgs.retrieval.layers import (
    ALONE_WEIGHTS,
    SEARCH_WEIGHTS,
    CompositeScores,
    Finding,
    LexicalHit,
    best,
    demote_superseded,
    expand,
    fuzzy,
    keyword,
    list_unmatched_words,
    prefilter,
    pull_exact,
    saturate_share,
    score,
    similarity,
    total,
    vector,
)
from amgs.retrieval.passage_finder import PassageFinder, add_passages
from amgs.retrieval.similarity import answerable, contributions, to_similarities, why_unestimated
from amgs.retrieval.sources import TURN, Numbers, Sources
from amgs.retrieval.text_features import (
    BESIDE_WORDS,
    MOST_BLOCKS,
    add_latest,
    add_shared_names,
    find_asked_days,
    gives_its_day,
    mark_non_answers,
)
from amgs.types import (
    LAYERS,
    Block,
    BlockFilter,
    Candidate,
    LayerReport,
    ScoreParts,
    SearchResult,
    StemReading,
    Weights,
)

FINDERS = ("keyword", "fuzzy", "vector", "graph")
"""The layers that bring candidates; the pre-filter and the score always run."""

RAW_BLOCKS = 16
RAW_CHARACTERS = 6000
"""A search embeds at most this many blocks that matched by words and have no embedding yet, and at most this many
characters of their text.
"""

FEW, LIKELY = 20, 60
"""A search for at most FEW hits checks only the LIKELY best for non-answers, and reads twice its hits in a single
query.
"""

LEADING = 10
"""Number of best candidates that decide whether a search is answered by a dialogue: when more than half are turns."""

LEAST_SPREAD = 0.02
"""Standard deviation of the store's cosines below which a raw block's cosine cannot be compared with them."""


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    """Query and limits of a search.

    present: numbers of blocks that are scored even where no layer finds them (a frame's own pool). recent: how many of
    the most recently reinforced blocks are candidates when the text has no words; 0: none. hops: how many edges the
    graph layer follows. within: numbers of the only blocks allowed; None: all. most: how many of the best candidates
    are read and returned; None: all.
    """

    text: str
    filter: BlockFilter = field(default_factory=BlockFilter)
    weights: Weights = SEARCH_WEIGHTS
    layers: frozenset[str] = frozenset(LAYERS)
    present: tuple[int, ...] = ()
    recent: int = 0
    hops: int = 1
    within: tuple[int, ...] | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Gathered:
    """Result of `gather`: the best candidates, best first, and everything that explains them.

    numbers: the store's number of each candidate, by block id. layers: the reports. query: the text as search terms.
    corrections: words read as a typo of another. scored: the composite score of all candidates, by `weights`.
    evidence: the features of all candidates; None where only one kind of layer ran. answerable: the estimated chance
    that the memory holds an answer, calibrated or not; None without evidence. findings: what the layers say about each
    candidate, by number.
    """

    candidates: tuple[Candidate, ...]
    numbers: Mapping[str, int]
    layers: tuple[LayerReport, ...]
    query: LexicalQuery
    corrections: tuple[StemCorrection, ...]
    scored: CompositeScores
    weights: Weights
    evidence: Features | None = None
    answerable: float | None = None
    findings: Mapping[int, Finding] = field(default_factory=dict)


KEYWORD_POOL, VECTOR_POOL = 200, 100
"""Candidates that the keyword and the vector layer pass on."""

FUZZY_POOL = 50
"""Candidates that the fuzzy layer adds when a word is unknown."""

GRAPH_SEEDS = 20
"""Number of best candidates so far whose neighbours the graph layer adds."""

LEXICAL_SHARE = 0.5
"""Weight of words in the similarity that chooses the graph's seeds; the vectors have the rest."""


def check_layers(layers: Collection[str] | None) -> frozenset[str]:
    """Return the layers asked for, all when None; raise UsageError for an unknown name."""
    if layers is None:
        return frozenset(LAYERS)
    unknown = sorted(set(layers) - set(LAYERS))
    if unknown or not layers:
        raise UsageError(
            f"There is no retrieval layer {unknown[0]!r}." if unknown else "No retrieval layer is named.",
            way_out="The layers are " + ", ".join(LAYERS) + ".",
        )
    return frozenset(layers)


def search_weights(layers: Collection[str]) -> Weights:
    """Return the weights of the five parts of a score for a search by these layers."""
    return SEARCH_WEIGHTS if _count_kinds(layers) > 1 else ALONE_WEIGHTS


def _count_kinds(layers: Collection[str]) -> int:
    """Return how many kinds of evidence these layers give: words, meaning, links (0 to 3)."""
    lexical = "keyword" in layers or "fuzzy" in layers
    return lexical + ("vector" in layers) + ("graph" in layers)


def search(request: RetrievalRequest, sources: Sources, top_k: int) -> SearchResult:
    """Return the best `top_k` blocks for a query, with each layer's report."""
    return search_with_evidence(request, sources, top_k)[0]


def search_with_evidence(request: RetrievalRequest, sources: Sources, top_k: int) -> tuple[SearchResult, Gathered]:
    """Return the best `top_k` blocks for a query, and the gathered evidence, from which the search log explains them
    later.
    """
    top_k = bounds.count("The number of hits", top_k)
    start = sources.clock.perf()
    gathered = gather(replace(request, most=top_k), sources)
    best = gathered.candidates[0].block.content if gathered.candidates else ""
    untold = why_unestimated(gathered.evidence, request.text, best)
    finder = PassageFinder(gathered.query, sources.keyword, gathered.corrections)
    result = SearchResult(
        query=request.text,
        hits=add_passages(add_contributions(gathered.candidates, gathered), finder),
        layers=gathered.layers,
        milliseconds=1000.0 * (sources.clock.perf() - start),
        weights=gathered.weights,
        readings=tuple(
            StemReading(correction.unknown, correction.known, correction.closeness)
            for correction in gathered.corrections
        ),
        answerable=None if untold else gathered.answerable,
        unestimated=untold,
        unheld=list_unmatched_words(request.text, gathered.query, sources.keyword, gathered.corrections),
    )
    return result, gathered


def add_contributions(candidates: Sequence[Candidate], gathered: Gathered) -> tuple[Candidate, ...]:
    """Return the candidates, each with what every feature adds to its linear score; unchanged without evidence."""
    evidence = gathered.evidence
    if evidence is None or not candidates:
        return tuple(candidates)
    parts = contributions(evidence)
    rows = np.searchsorted(evidence.numbers, [gathered.numbers[candidate.block.id] for candidate in candidates])
    return tuple(
        replace(candidate, evidence=tuple(zip(FEATURES, parts[row].tolist(), strict=True)))
        for candidate, row in zip(candidates, rows.tolist(), strict=True)
    )


def gather(request: RetrievalRequest, sources: Sources) -> Gathered:
    """Run the requested layers and score every candidate they add."""
    run = _Search(request, sources)
    run.prefilter()
    run.keyword()
    run.fuzzy()
    run.vector()
    run.graph()
    return run.score()


class _Search:
    """State of a search between its layers: a Finding for each candidate so far, by number, and the reports."""

    def __init__(self, request: RetrievalRequest, sources: Sources) -> None:
        self.request, self.sources = request, sources
        self.wanted = [n for n in FINDERS if n in request.layers and (n != "graph" or request.hops > 0)]
        # Requested alone, the graph layer takes its seeds from the keyword and vector layers, and drops them
        # afterwards.
        self.seeding = self.wanted == ["graph"]
        self.has_words = any(c.isalnum() for c in request.text)
        # An encoder that does not know the script gives noise, so words decide; requested alone, it still answers.
        self.unknown_script = len(self.wanted) > 1 and not sources.knows_script(request.text)
        if self.unknown_script:
            self.wanted = [name for name in self.wanted if name != "vector"]
        self.findings: dict[int, Finding] = {}
        self.reports: list[LayerReport] = []
        self.corrections: tuple[StemCorrection, ...] = ()
        self.query = sources.keyword.query(request.text)
        self.comparison: QueryVectors | None = None
        self.allowed: Numbers = np.zeros(0, dtype=np.int64)
        self.written_then: tuple[int, ...] = ()
        self.mentioning: tuple[int, ...] = ()
        self.days_share = 1.0

    @property
    def lexical_share(self) -> float:
        """Weight of words in the similarity that chooses seeds: 1 without vectors, 0 without words."""
        lexical = self.seeding or "keyword" in self.wanted or "fuzzy" in self.wanted
        semantic = self.seeding or "vector" in self.wanted
        return LEXICAL_SHARE if lexical and semantic else float(lexical)

    def prefilter(self) -> None:
        """Set `allowed`, the only blocks that any later layer may add."""
        start = self.sources.clock.perf()
        self.allowed = prefilter(self.request.filter, self.sources.blocks)
        if self.request.within is not None:
            within = np.unique(np.array(self.request.within, dtype=np.int64))
            self.allowed = within[contains(self.allowed, within)]
        entered = total(self.sources.blocks)
        self._report("prefilter", entered, self.allowed.size, 0, start)

    def keyword(self) -> None:
        """Add the best blocks by BM25."""
        if self._skips("keyword", seeds=True):
            return
        start = self.sources.clock.perf()
        hits = keyword(self.query, self.sources.keyword, self.allowed, KEYWORD_POOL)
        self._absorb_lexical("keyword", hits, start)

    def fuzzy(self) -> None:
        """Add blocks that match an unknown word of the query once it is read as a typo."""
        if self._skips("fuzzy"):
            return
        start = self.sources.clock.perf()
        result = fuzzy(self.request.text, self.query, self.sources.keyword, self.allowed, FUZZY_POOL)
        self.corrections = result.corrections
        self._absorb_lexical("fuzzy", result.hits, start)

    def vector(self) -> None:
        """Add the nearest blocks in meaning, and the cosine of every candidate so far."""
        if self._skips("vector", seeds=True):
            return
        start = self.sources.clock.perf()
        embedding = self.sources.embed(self.request.text)
        self.comparison = self.sources.vectors.compare(embedding, self.allowed)
        cosines = vector(self.comparison, VECTOR_POOL)
        fresh = len(cosines.keys() - self.findings.keys())
        for number in cosines:
            self._add(number, "vector")
        self._measure_raw(self.comparison)
        # What words found needs its cosine too: a score must not depend on which layer came first.
        self._add_cosines(self.comparison)
        self._report("vector", self.allowed.size, len(cosines), fresh, start)

    def graph(self) -> None:
        """Add the neighbours of the best candidates, up to `hops` edges away, with the similarity they receive."""
        if self._skips("graph"):
            return
        start = self.sources.clock.perf()
        similarities = {n: similarity(e, self.lexical_share) for n, e in self.findings.items()}
        seeds = best(similarities, GRAPH_SEEDS)
        flows = dict(expand(seeds, self.sources.graph.view(), self.allowed))
        ring = flows
        for _ in range(1, self.request.hops):
            walked = best(ring, GRAPH_SEEDS)
            ring = dict(expand(walked, self.sources.graph.view(), self.allowed))
            for number, flow in ring.items():
                flows[number] = max(flows.get(number, 0.0), flow)
        if self.seeding:
            self.findings = {}
        fresh = len(flows.keys() - self.findings.keys())
        for number, flow in flows.items():
            self._add(number, "graph").flow = flow
        self._report("graph", len(seeds), len(flows), fresh, start)

    def score(self) -> Gathered:
        """Compute the composite score of all candidates, read the best, and return everything gathered."""
        start = self.sources.clock.perf()
        for number in self._present():
            self._add(number, "prefilter")
        if self.fuses:
            self._read_days()
        if self.comparison is not None and not self.seeding:
            self._add_cosines(self.comparison)
        facts = self.sources.blocks.facts(sorted(self.findings))
        numbers = facts.numbers.tolist()
        evidence = self._evidence(facts.numbers) if self.fuses and numbers else None
        similarities = self._similarities(numbers, evidence)
        weights = self._weights(evidence)
        if self.request.filter.as_of is None:
            similarities = demote_superseded(similarities, facts.superseded)
        scored = score(
            facts, similarities, self.sources.graph.importances(facts.numbers), self.sources.clock.now(), weights
        )
        top_rows = scored.order[: self.request.most]
        candidates = self._candidates(scored, top_rows.tolist())
        self._report("score", len(numbers), len(candidates), 0, start)
        return Gathered(
            candidates,
            {str(facts.ids[row]): int(facts.numbers[row]) for row in top_rows.tolist()},
            tuple(self.reports),
            self.query,
            self.corrections,
            scored,
            weights,
            evidence,
            None if evidence is None else answerable(evidence),
            self.findings,
        )

    @property
    def fuses(self) -> bool:
        """Whether several kinds of layers run, so that features are weighed; a single kind decides by itself."""
        return self.has_words and _count_kinds(self.wanted) > 1

    # --- inside -----------------------------------------------------------------------------------------

    def _evidence(self, numbers: Numbers) -> Features:
        """Return the features of the candidates: first those of indexes, then those that need their text read."""
        flows = {number: finding.flow for number, finding in self.findings.items() if finding.flow > 0.0}
        asked = QueryFeatures(
            self.request.text,
            self.sources.keyword.correct_words(self.query, self.corrections),
            self.comparison,
            flows,
            {number: finding.share for number, finding in self.findings.items()},
            compare=lambda text: self.sources.vectors.compare(self.sources.embed(text), self.allowed),
            lexical="keyword" in self.wanted,
            order="graph" in self.wanted,
            written_then=self.written_then,
            mentioning=self.mentioning,
            days_share=self.days_share,
            meaning_weight=self.sources.meaning_weight,
            known_script=not self.unknown_script,
        )
        sources, most = self.sources, self.request.most or 0
        few = 0 < most <= FEW
        features = compute_features(numbers, asked, sources.sequences(), sources.keyword, sources.vectors)
        if asked.order:
            features = mark_non_answers(features, self.request.text, self._blocks, LIKELY if few else None)
            features = add_latest(features, self.request.text, self._blocks)
        if not asked.order or self.unknown_script:
            return features  # names are recognised by capital letters, which other scripts do not have
        if few:
            # Read now, in a single query, what the names and the hits need: two queries take longer than more rows.
            likely = np.argsort(-contributions(features).sum(axis=1), kind="stable")[: 2 * most]
            sources.blocks.read_blocks(numbers[likely].tolist())
        return add_shared_names(features, sources.keyword, self._blocks)

    def _blocks(self, numbers: Sequence[int]) -> dict[int, Block]:
        return {stored_block.number: stored_block.block for stored_block in self.sources.blocks.read_blocks(numbers)}

    def _weights(self, evidence: Features | None) -> Weights:
        """Return the requested weights of a score's parts, but similarity alone where a search is answered by a
        dialogue.

        A turn is not truer for being later, linked or sure: docs/results/search.md.
        """
        if evidence is None or self.request.weights != SEARCH_WEIGHTS:
            return self.request.weights
        best = np.argsort(-contributions(evidence).sum(axis=1), kind="stable")[:LEADING]
        return ALONE_WEIGHTS if 2 * np.count_nonzero(evidence.form[best] == TURN) > best.size else SEARCH_WEIGHTS

    def _similarities(self, numbers: Sequence[int], evidence: Features | None) -> NDArray[np.float64]:
        """Return the similarities (m,) in [0, 1]: from the features, or from the only layer where there are none."""
        if evidence is None:
            alone = [similarity(self.findings[n], self.lexical_share) for n in numbers]
            return np.array(alone, dtype=np.float64)
        exact = np.array([self.findings[n].exact for n in numbers], dtype=np.float64)
        return pull_exact(to_similarities(contributions(evidence).sum(axis=1)), exact)

    def _candidates(self, scored: CompositeScores, rows: Sequence[int]) -> tuple[Candidate, ...]:
        """Return these rows of the scores as candidates, in this order; only their blocks are read from the store."""
        numbers = [int(scored.facts.numbers[row]) for row in rows]
        blocks = {stored_block.number: stored_block.block for stored_block in self.sources.blocks.read_blocks(numbers)}
        candidates = []
        for row, number in zip(rows, numbers, strict=True):
            finding = self.findings[number]
            candidates.append(
                Candidate(
                    block=blocks[number],
                    parts=ScoreParts(*scored.parts[row].tolist()),
                    score=float(scored.totals[row]),
                    layers=finding.layers,
                    lexical=saturate_share(finding.share),
                    vector=max(finding.cosine or 0.0, 0.0),
                    graph=finding.flow,
                )
            )
        return tuple(candidates)

    def _read_days(self) -> None:
        """Note the blocks written on days that the query names, and the candidates whose text mentions those days.

        Where at most MOST_BLOCKS were written then, all become candidates; of more, only what other layers found.
        """
        days = find_asked_days(self.request.text, local_now(self.sources.clock))
        if days is None:
            return
        self.days_share = 1.0 if days.alone else BESIDE_WORDS
        blocks = self.sources.blocks
        written_then = blocks.numbers(days.within(self.request.filter))
        written_then = written_then[contains(self.allowed, written_then)]
        if written_then.size > MOST_BLOCKS:
            written_then = written_then[[number in self.findings for number in written_then.tolist()]]
        of_days = set(written_then.tolist())
        stored = blocks.read_blocks(sorted(of_days | self.findings.keys()))
        self.mentioning = tuple(
            stored_block.number for stored_block in stored if days.are_mentioned_by(stored_block.block)
        )
        self.written_then = tuple(
            stored_block.number
            for stored_block in stored
            if stored_block.number in of_days
            and days.contains_writing(stored_block.block)
            and not gives_its_day(stored_block.block)
        )
        for number in self.written_then:
            self._add(number, "prefilter")

    def _present(self) -> list[int]:
        """Return numbers, ascending, of blocks that are scored though no layer found them: `present` and `recent`."""
        present = set(self.request.present)
        if self.request.recent > 0 and (not self.has_words or not self.wanted):
            present.update(self.sources.blocks.numbers(self.request.filter, limit=self.request.recent).tolist())
        return sorted(present)

    def _skips(self, layer: str, *, seeds: bool = False) -> bool:
        """Return whether a layer must not run; if so, add a report with the reason.

        seeds: the layer also runs where the graph, requested alone, needs seeds.
        """
        off = layer not in self.wanted and not (seeds and self.seeding)
        if off or not self.has_words:
            reason = "switched off" if off else "no words in the query"
            if self.unknown_script and layer == "vector" in self.request.layers:
                reason = "the encoder does not know this script"
            self.reports.append(LayerReport(layer, 0, 0, 0, 0.0, reason))
        return off or not self.has_words

    def _absorb_lexical(self, layer: str, hits: Mapping[int, LexicalHit], start: float) -> None:
        """Add the hits of the keyword or the fuzzy layer to the findings, and its report."""
        fresh = len(hits.keys() - self.findings.keys())
        for number, hit in hits.items():
            known = self._add(number, layer)
            known.share += hit.share
            known.exact = max(known.exact, hit.exact)
        self._report(layer, self.allowed.size, len(hits), fresh, start)

    def _add(self, number: int, layer: str) -> Finding:
        """Return the block's Finding, new or not, with this layer among those that found it."""
        known = self.findings.setdefault(number, Finding())
        if layer not in known.layers:
            known.layers = (*known.layers, layer)
        return known

    def _measure_raw(self, comparison: QueryVectors) -> None:
        """Embed the best word matches that are still raw, so that their meaning counts too."""
        if comparison.spread[1] < LEAST_SPREAD:
            return
        from amgs.text.embedding_text import embedding_text  # what a search by words alone does without

        known = comparison.of(self.findings)
        raw = sorted((n for n in self.findings if n not in known), key=lambda n: (-self.findings[n].share, n))
        left = RAW_CHARACTERS
        stored = self.sources.blocks.read_blocks(raw[:RAW_BLOCKS])
        texts = {stored_block.number: embedding_text(stored_block.block) for stored_block in stored}
        for number in raw[:RAW_BLOCKS]:
            text = texts[number][:RAW_CHARACTERS]
            left -= len(text)
            if left < 0:
                break
            comparison.add(number, self.sources.embed_raw(text))

    def _add_cosines(self, comparison: QueryVectors) -> None:
        unmeasured = [number for number, finding in self.findings.items() if finding.cosine is None]
        for number, cosine in comparison.of(unmeasured).items():
            self.findings[number].cosine = cosine

    def _report(self, layer: str, entered: int, left: int, fresh: int, start: float) -> None:
        milliseconds = 1000.0 * (self.sources.clock.perf() - start)
        reason = "ran for seeds only" if self.seeding and layer in ("keyword", "vector") else ""
        self.reports.append(LayerReport(layer, int(entered), int(left), fresh, milliseconds, reason))

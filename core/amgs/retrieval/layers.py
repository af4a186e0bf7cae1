"""The layers of a search (AMGS §6), a function each: pre-filter, keyword, fuzzy, vector, graph, score.

`waterfall` calls them in this order and `why` calls them again for a single block. They take numbers of
blocks and return scores by number; none reads a block's text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from amgs.clock import microseconds_of
from amgs.errors import ModelError
from amgs.graph.view import GraphView
from amgs.index.arrays import contains
from amgs.index.lexical import LexicalIndex, StemCorrection, find_corrections
from amgs.index.terms import LexicalQuery
from amgs.index.vector import QueryVectors
from amgs.retrieval.sources import BlockReader, Numbers
from amgs.storage.block_columns import ScoringFacts
from amgs.text.language import foreign_function_words
from amgs.text.minilm import resolve
from amgs.text.words import is_spaceless
from amgs.types import COMPONENTS, STATUSES, BlockFilter, Weights


def prefilter(wanted: BlockFilter, blocks: BlockReader) -> Numbers:
    """Return the numbers (n,), ascending, of the blocks that pass the filter; no later layer adds any other."""
    return blocks.numbers(wanted)


def total(blocks: BlockReader) -> int:
    """Return how many blocks the store holds, of any status."""
    return int(blocks.numbers(BlockFilter(statuses=STATUSES)).size)


_SLOPE = 1.6
"""Chosen so that a perfect match of average length scores 0.80."""


@dataclass(frozen=True, slots=True)
class LexicalHit:
    """Score of a block by words.

    share: BM25 divided by the sum of the query's idf; 1 is a perfect match of average length, short texts reach 2.
    exact: share of the query's identifiers that the block contains, in [0, 1], rare ones counting more.
    """

    share: float
    exact: float = 0.0


def keyword(query: LexicalQuery, index: LexicalIndex, allowed: Numbers, limit: int) -> Mapping[int, LexicalHit]:
    """Return the best `limit` allowed blocks by BM25, by number; none for a query without search terms."""
    if query.mass <= 0:
        return {}
    hits = index.search(query, limit, allowed)
    return {hit.number: LexicalHit(hit.score / query.mass, hit.exact) for hit in hits}


def saturate_share(share: float) -> float:
    """Return a BM25 share as a score in [0, 1) that keeps BM25's order and is comparable between queries."""
    return 1.0 - math.exp(-_SLOPE * max(share, 0.0))


_WORD = re.compile(r"[^\W\d_]+")
_VOCABULARY = "vocab.txt"


@dataclass(frozen=True, slots=True)
class FuzzyResult:
    """Hits of the fuzzy layer, by number, and the words it read as typos."""

    hits: Mapping[int, LexicalHit]
    corrections: tuple[StemCorrection, ...]


def fuzzy(text: str, query: LexicalQuery, index: LexicalIndex, allowed: Numbers, limit: int) -> FuzzyResult:
    """Find blocks that contain a correction of an unknown word; a correction counts more the closer it is to the word.

    text: the query as typed. An English word is no typo even if no block contains it, nor is a function word of the
    query's language.
    """
    unknown = [term.text for term in query.unknown]
    if not unknown or query.mass <= 0 or limit <= 0:
        return FuzzyResult({}, ())
    known = foreign_function_words(text) | english_words()
    typed = {stem: word for word in _WORD.findall(text.lower()) for stem in index.stems(word)}
    fixes = find_corrections([stem for stem in unknown if typed.get(stem) not in known], index.vocabulary(), typed)
    closest: dict[str, float] = {}
    for correction in fixes:
        closest[correction.known] = max(closest.get(correction.known, 0.0), correction.closeness)
    hits = index.rank_documents(sorted(closest.items()), limit, allowed)
    return FuzzyResult({hit.number: LexicalHit(hit.score / query.mass) for hit in hits}, fixes)


def list_unmatched_words(
    text: str, query: LexicalQuery, index: LexicalIndex, corrected: Collection[StemCorrection]
) -> tuple[str, ...]:
    """Return the words of a query, as typed, that no block contains and that were not corrected; function words and
    scripts without spaces are left out.
    """
    missing = {term.text for term in query.unknown} - {correction.unknown for correction in corrected}
    if not missing:
        return ()
    function = foreign_function_words(text)
    return tuple(
        word
        for word in dict.fromkeys(_WORD.findall(text))
        if len(word) > 1
        and word.lower() not in function
        and not is_spaceless(word)
        and missing.issuperset(index.stems(word) or ("",))
    )


@lru_cache(maxsize=1)
def english_words() -> frozenset[str]:
    """Return some 20,000 common words and names in lower case, from the packaged encoder's vocabulary; none without it.

    The vocabulary comes from books and articles, so that misspellings are not in it.
    """
    try:
        lines = (Path(resolve()) / _VOCABULARY).read_text(encoding="utf-8").split("\n")
    except (OSError, ModelError):
        return frozenset()
    return frozenset(line for line in lines if len(line) > 1 and line.isalpha())


def vector(comparison: QueryVectors, limit: int) -> Mapping[int, float]:
    """Return the cosines of the `limit` nearest blocks, by number, without those that are not above 0."""
    return {number: cosine for number, cosine in comparison.best(limit) if cosine > 0.0}


GRAPH_SHARE = 0.25
"""Share of a seed's similarity that an edge of full strength passes on."""


def best(similarities: Mapping[int, float], count: int) -> dict[int, float]:
    """Return the `count` most similar blocks above 0, ties by number: the seeds of `expand`."""
    ranked = sorted(similarities.items(), key=lambda item: (-item[1], item[0]))
    return {number: similarity for number, similarity in ranked[:count] if similarity > 0.0}


def expand(
    seeds: Mapping[int, float], view: GraphView, allowed: Numbers, share: float = GRAPH_SHARE
) -> Mapping[int, float]:
    """Return the similarity in [0, 1] that the seeds pass on to their allowed neighbours, by number.

    An edge passes on share x strength x the seed's similarity; several are joined as independent chances, so that a
    block with edges to many seeds ranks above a block with a single edge. A seed receives from the other seeds.
    """
    missed: dict[int, float] = {}
    for number in sorted(seeds):
        node = view.index_of(number)
        if node is None:
            continue
        neighbours, strengths = view.around(node)
        flows = share * strengths * seeds[number]
        for neighbour, flow in zip(view.nodes[neighbours].tolist(), flows.tolist(), strict=True):
            missed[neighbour] = missed.get(neighbour, 1.0) * (1.0 - min(flow, 1.0))
    reached = np.array(sorted(missed), dtype=np.int64)
    inside = reached[contains(allowed, reached)].tolist()
    return {number: 1.0 - missed[number] for number in inside if missed[number] < 1.0}


SEARCH_WEIGHTS = Weights(recency=0.01, centrality=0.01, confidence=0.01, similarity=0.96, reinforcement=0.01)
"""A search asks what matches; the other parts only order what matches equally well: docs/results/search.md."""

ALONE_WEIGHTS = Weights(recency=0.0, centrality=0.0, confidence=0.0, similarity=1.0, reinforcement=0.0)
"""A layer that runs alone gives its own order."""

REINFORCEMENTS_FOR_HALF = 4.0
"""Number of reinforcements at which the part `reinforcement` is 0.5."""

_IDENTIFIER_PULL = 0.9
"""How far the similarity of a block with all rare identifiers of the query moves towards 1."""

_IDENTIFIER_PUSH = 0.5
"""How far all similarities first move towards 0 where some block has those identifiers."""

_SUPERSEDED_SHARE = 0.5
"""Share of its similarity that a superseded block keeps."""

_MICROSECONDS_PER_HOUR = 3_600_000_000.0


@dataclass(slots=True)
class Finding:
    """What the layers say so far about a single candidate; mutable, because each layer of a query adds to hundreds.

    share, exact: see LexicalHit. cosine: None without an embedding. flow: similarity that came along edges, in [0, 1].
    layers: names of those that found the block, in the order of the waterfall.
    """

    share: float = 0.0
    exact: float = 0.0
    cosine: float | None = None
    flow: float = 0.0
    layers: tuple[str, ...] = ()


def similarity(finding: Finding, lexical_share: float) -> float:
    """Return how well a block matches the query, in [0, 1], without features: for the graph's seeds, and where only one
    kind of layer runs.

    Weighs the lexical score by `lexical_share` and the cosine by the rest; without an embedding the lexical score
    counts alone. The flow along edges is joined as an independent chance.
    """
    lexical = saturate_share(finding.share)
    matched = lexical
    if finding.cosine is not None:
        matched = lexical_share * lexical + (1.0 - lexical_share) * max(finding.cosine, 0.0)
    matched += (1.0 - matched) * _IDENTIFIER_PULL * finding.exact
    return min(1.0, 1.0 - (1.0 - matched) * (1.0 - finding.flow))


def pull_exact(similarities: NDArray[np.float64], exact: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return similarities (m,) raised by the share of exact identifiers (m,), so that a block with a rare identifier of
    the query ranks above those without.
    """
    lowered = similarities * (1.0 - _IDENTIFIER_PUSH * float(exact.max(initial=0.0)))
    return np.clip(lowered + (1.0 - lowered) * _IDENTIFIER_PULL * exact, 0.0, 1.0)


def demote_superseded(similarities: NDArray[np.float64], superseded: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return similarities (m,), halved where a block is superseded (m,), so that it ranks behind its successor."""
    return np.where(superseded, _SUPERSEDED_SHARE * similarities, similarities)


def reinforcement(count: float) -> float:
    """Return n / (n + 4) for n reinforcements: each one adds less than the previous."""
    return count / (count + REINFORCEMENTS_FOR_HALF)


def weight_row(weights: Weights) -> NDArray[np.float64]:
    """Return the weights (5,) in the order of COMPONENTS."""
    return np.array([getattr(weights, name) for name in COMPONENTS])


@dataclass(frozen=True, eq=False)
class CompositeScores:
    """Composite scores of m candidates. parts: (m, 5) in the order of COMPONENTS. totals: (m,).

    order: rows from best to worst, ties by block id, so that equal runs give equal lists.
    """

    facts: ScoringFacts
    parts: NDArray[np.float64]
    totals: NDArray[np.float64]
    order: NDArray[np.int64]


def score(
    facts: ScoringFacts,
    similarities: NDArray[np.float64],
    importance: NDArray[np.float64],
    now: datetime,
    weights: Weights,
) -> CompositeScores:
    """Compute the composite score of m candidates, rows as in the facts. importance: centrality in [0, 1].

    The sum is linear, so that `find_admission` can say which weights would admit a block. Source: AMGS §7.2.
    """
    hours = np.maximum(microseconds_of(now) - facts.reinforced, 0) / _MICROSECONDS_PER_HOUR
    columns = {
        "recency": np.exp(-facts.decay_lambda * hours),
        "centrality": importance,
        "confidence": np.clip(facts.confidence, 0.0, 1.0),
        "similarity": similarities,
        "reinforcement": facts.reinforcements / (facts.reinforcements + REINFORCEMENTS_FOR_HALF),
    }
    parts = np.stack([columns[name] for name in COMPONENTS], axis=1)
    totals = np.clip((parts * weight_row(weights)).sum(axis=1), 0.0, 1.0)
    order = np.argsort(-totals)
    if (np.diff(totals[order]) == 0).any():  # sorting by id is slow, and only ties need it
        order = np.lexsort((facts.ids.astype(str), -totals))
    return CompositeScores(facts, parts, totals, order)

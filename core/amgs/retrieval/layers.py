"""The layers of a search before its scoring (AMGS §6), a function each: pre-filter, keyword, fuzzy, vector, graph.

`waterfall` calls them in this order and `why` calls them again for a single block. They take numbers of blocks and
return scores by number; none reads a block's text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from amgs.errors import ModelError
from amgs.graph.view import GraphView
from amgs.index.ascending import contains
from amgs.index.fuzzy import StemCorrection, find_corrections
from amgs.index.lexical import LexicalIndex
from amgs.index.terms import LexicalQuery
from amgs.index.vector import QueryVectors
from amgs.retrieval.sources import BlockReader, Numbers
from amgs.text.language import foreign_function_words
from amgs.text.minilm import resolve
from amgs.text.scripts import spaceless
from amgs.types import STATUSES, BlockFilter


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
    hits = index.ranked(sorted(closest.items()), limit, allowed)
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
        and not spaceless(word)
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
    block with edges to many seeds ranks above one with a single edge. A seed receives from the other seeds.
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

"""The layers of a search before its scoring (AMGS §6): what may be considered, words, typos, meaning, edges."""

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
from amgs.index.fuzzy import StemCorrection, corrections
from amgs.index.lexical import LexicalIndex
from amgs.index.terms import LexicalQuery
from amgs.index.vector import QueryVectors
from amgs.retrieval.sources import BlockReader, Numbers
from amgs.text.language import foreign_function_words
from amgs.text.minilm import resolve
from amgs.text.scripts import spaceless
from amgs.types import STATUSES, BlockFilter


def prefilter(wanted: BlockFilter, blocks: BlockReader) -> Numbers:
    """Return numbers of the blocks that may be considered at all, ascending: (n,). No later layer lets another one
    in.
    """
    return blocks.numbers(wanted)


def total(blocks: BlockReader) -> int:
    """Return how many blocks the pre-filter chose from."""
    return int(blocks.numbers(BlockFilter(statuses=STATUSES)).size)


_SLOPE = 1.6
"""Chosen so that a perfect match of average length reads 0.80."""


@dataclass(frozen=True, slots=True)
class LexicalHit:
    """share: BM25 over the query's idf mass; 1 is a perfect match of average length, short texts reach 2.

    exact in [0, 1]: share of the query's identifiers that the block holds, counted by their rarity.
    """

    share: float
    exact: float = 0.0


def keyword(query: LexicalQuery, index: LexicalIndex, allowed: Numbers, limit: int) -> Mapping[int, LexicalHit]:
    """Return the best blocks by number, among the allowed."""
    if query.mass <= 0:
        return {}
    hits = index.search(query, limit, allowed)
    return {hit.number: LexicalHit(hit.score / query.mass, hit.exact) for hit in hits}


def saturate_share(share: float) -> float:
    """Return the lexical score in [0, 1): strictly rising in the share, so that BM25's order stays, and comparable
    between queries.
    """
    return 1.0 - math.exp(-_SLOPE * max(share, 0.0))


_WORD = re.compile(r"[^\W\d_]+")
_VOCABULARY = "vocab.txt"


@dataclass(frozen=True, slots=True)
class FuzzyResult:
    """The hits by number, and what was read for what."""

    hits: Mapping[int, LexicalHit]
    corrections: tuple[StemCorrection, ...]


def fuzzy(text: str, query: LexicalQuery, index: LexicalIndex, allowed: Numbers, limit: int) -> FuzzyResult:
    """Return blocks that hold a correction of an unknown word; each weighs as close as it is to what was typed.

    text: the query as it was typed. An English word is no typo, even if no block holds it; nor is a function word of
    the language that the query is in.
    """
    unknown = [term.text for term in query.unknown]
    if not unknown or query.mass <= 0 or limit <= 0:
        return FuzzyResult({}, ())
    known = foreign_function_words(text) | english_words()
    typed = {stem: word for word in _WORD.findall(text.lower()) for stem in index.stems(word)}
    fixes = corrections([stem for stem in unknown if typed.get(stem) not in known], index.vocabulary(), typed)
    closest: dict[str, float] = {}
    for correction in fixes:
        closest[correction.known] = max(closest.get(correction.known, 0.0), correction.closeness)
    hits = index.ranked(sorted(closest.items()), limit, allowed)
    return FuzzyResult({hit.number: LexicalHit(hit.score / query.mass) for hit in hits}, fixes)


def unheld(
    text: str, query: LexicalQuery, index: LexicalIndex, corrected: Collection[StemCorrection]
) -> tuple[str, ...]:
    """Return the words of a query, as they were typed, that no block holds and that were taken for no typo; function
    words and what is written without spaces are left out.
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
    """Return some 20,000 common words and names in lower case, the vocabulary of the packaged encoder; none without it.

    It was counted from books and articles, so what is often misspelt is there as it is spelt right.
    """
    try:
        lines = (Path(resolve()) / _VOCABULARY).read_text(encoding="utf-8").split("\n")
    except (OSError, ModelError):
        return frozenset()
    return frozenset(line for line in lines if len(line) > 1 and line.isalpha())


def vector(comparison: QueryVectors, limit: int) -> Mapping[int, float]:
    """Return cosine by number of the best blocks. What points away from the query (cosine <= 0) is no hit."""
    return {number: cosine for number, cosine in comparison.best(limit) if cosine > 0.0}


GRAPH_SHARE = 0.25
"""How much of a seed's similarity flows along an edge of full strength."""


def best(similarities: Mapping[int, float], count: int) -> dict[int, float]:
    """Return the `count` most similar blocks, ties by number: the seeds."""
    ranked = sorted(similarities.items(), key=lambda item: (-item[1], item[0]))
    return {number: similarity for number, similarity in ranked[:count] if similarity > 0.0}


def expand(
    seeds: Mapping[int, float], view: GraphView, allowed: Numbers, share: float = GRAPH_SHARE
) -> Mapping[int, float]:
    """Return what flows into the neighbours of the seeds (number -> similarity), by number: values in [0, 1].

    Along an edge flows share x strength x the seed's similarity; what comes in from several seeds is
    joined as independent chances, so that a block that many of them point to stands out. A seed gets what the
    others send it.
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

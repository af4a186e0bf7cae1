"""Layer 2: BM25 over stemmed words and whole identifiers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from amgs.index.lexical import LexicalIndex
from amgs.index.terms import LexicalQuery
from amgs.retrieval.sources import Numbers

_SLOPE = 1.6
"""Chosen so that a perfect match of average length reads 0.80."""


@dataclass(frozen=True, slots=True)
class LexicalHit:
    """share: BM25 over the query's idf mass; 1 is a perfect match of average length, short texts reach 2.

    exact in [0, 1]: share of the query's identifiers that the block holds, counted by their rarity.
    """

    share: float
    exact: float = 0.0


def keyword(
    query: LexicalQuery, index: LexicalIndex, allowed: Numbers, limit: int
) -> Mapping[int, LexicalHit]:
    """The best blocks by number, among the allowed."""
    if query.mass <= 0:
        return {}
    hits = index.search(query, limit, allowed)
    return {hit.number: LexicalHit(hit.score / query.mass, hit.exact) for hit in hits}


def saturated(share: float) -> float:
    """The lexical score in [0, 1): strictly rising in the share, so that BM25's order stays, and comparable
    between queries.
    """
    return 1.0 - math.exp(-_SLOPE * max(share, 0.0))

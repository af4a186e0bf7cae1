"""What may answer a question, and which of it each pack holds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from amgs.retrieval.similarity import contributions
from amgs.retrieval.sources import Sources
from amgs.retrieval.waterfall import RetrievalRequest, gather
from amgs.types import BlockFilter
from amgs.wings.packs.engine.routing import RouteItem

_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_MOST = 512
"""Blocks that may answer; the rest together is next to nothing."""


@dataclass(frozen=True, slots=True)
class Facets:
    """What may answer a question: blocks, each as a facet with its likelihood, together 1, and the packs as items that
    cover those which they hold. words: those of the question that say what is asked about; said: which of them each
    pack holds, by its name.
    """

    shares: tuple[float, ...]
    items: tuple[RouteItem, ...]
    words: tuple[str, ...]
    said: Mapping[str, frozenset[str]]


def facets(
    query: str,
    numbers: Mapping[str, Sequence[int]],
    tokens: Mapping[str, int],
    sources: Sources,
) -> Facets:
    """numbers, tokens: of the blocks of each pack that are read, by the pack's name."""
    found = likely(query, sorted({n for own in numbers.values() for n in own}), sources)
    place = {number: n for n, number in enumerate(found)}
    terms = sources.keyword.content(sources.keyword.query(query))
    asked = {stem: word for word in reversed(_WORD.findall(query)) for stem in sources.keyword.stems(word)}
    holding = {
        asked.get(term.text, term.text): set(
            sources.keyword.postings(term.text, sources.keyword.documents).numbers.tolist()
        )
        for term in terms
    }
    said: dict[str, frozenset[str]] = {}
    items = []
    for name, own in numbers.items():
        covers = np.zeros(len(place))
        covers[[place[n] for n in own if n in place]] = 1.0
        said[name] = frozenset(word for word, having in holding.items() if not having.isdisjoint(own))
        items.append(RouteItem(name, tokens[name], tuple(covers.tolist())))
    return Facets(tuple(found.values()), tuple(items), tuple(holding), said)


def likely(query: str, numbers: Sequence[int], sources: Sources) -> dict[int, float]:
    """How likely each block is the one that answers, by number, for the likeliest of them; together 1.

    The evidence of the search, found by any layer or none, as the listwise model gives it by which it was fitted.
    """
    if not numbers:
        return {}
    wanted = tuple(numbers)
    asked = BlockFilter(statuses=("raw", "consolidated"))
    request = RetrievalRequest(query, asked, within=wanted, present=wanted, most=0)
    evidence = gather(request, sources).evidence
    if evidence is None:
        return {}
    linear = contributions(evidence).sum(axis=1)
    best = np.argsort(-linear, kind="stable")[:_MOST]
    likely = np.exp(linear[best] - linear.max())
    likely /= likely.sum()
    return dict(zip(evidence.numbers[best].tolist(), likely.tolist(), strict=True))

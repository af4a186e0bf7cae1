"""What a question asks for, facet by facet, and how far each pack answers each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from amgs.decay import hours_between
from amgs.packs.routing import RouteItem
from amgs.retrieval.similarity import contributions, fused
from amgs.retrieval.sources import Sources
from amgs.retrieval.waterfall import RetrievalRequest, gather
from amgs.settings import RetrievalSettings
from amgs.types import BlockFilter
from amgs.types.packs import PackUsage

MEANING = "what it is about"
"""The name of the facet that the whole question is."""
_MEANING_SHARE = 0.5
_HELD = 0.9
"""How likely a facet is answered where a word of the question stands in a pack: a word is not yet an answer."""
_HALF_LIFE = 30 * 24.0
"""Hours after which what was read, or kept, last counts half as recent."""
_PRIOR = 2.0
"""Readings of even outcome that a pack starts with."""


@dataclass(frozen=True, slots=True)
class Facets:
    """The facets of a question by name, what each counts, together 1, and the packs as items that cover them."""

    names: tuple[str, ...]
    shares: tuple[float, ...]
    items: tuple[RouteItem, ...]


def facets(
    query: str,
    packs: Sequence[PackUsage],
    numbers: Mapping[str, Sequence[int]],
    tokens: Mapping[str, int],
    now: datetime,
    sources: Sources,
    settings: RetrievalSettings,
) -> Facets:
    """numbers, tokens: of the blocks of each pack that are read, by the pack's name."""
    terms = sources.keyword.content(sources.keyword.query(query))
    mass = sum(term.idf for term in terms)
    meaning = 1.0 if not mass else _MEANING_SHARE
    shares = (meaning, *((1.0 - meaning) * term.idf / mass for term in terms))
    holding = [
        set(sources.keyword.postings(t.text, sources.keyword.documents).numbers.tolist()) for t in terms
    ]
    likely = _likely(query, [n for own in numbers.values() for n in own], sources, settings)
    stems = {term.text for term in terms}
    items = []
    for one in packs:
        name = one.pack.name
        own = numbers[name]
        covers = [max((likely.get(n, 0.0) for n in own), default=0.0)]
        covers += [_HELD if not having.isdisjoint(own) else 0.0 for having in holding]
        keyword_stems = {stem for word in one.pack.keywords for stem in sources.keyword.stems(word)}
        hours = max(hours_between(one.last_used or one.pack.created_at, now), 0.0)
        items.append(
            RouteItem(
                name,
                tokens[name],
                tuple(covers),
                ((one.success or 0.0) * one.judged + _PRIOR / 2) / (one.judged + _PRIOR),
                0.5 ** (hours / _HALF_LIFE),
                len(keyword_stems & stems) / max(len(keyword_stems), 1),
            )
        )
    return Facets((MEANING, *(term.text for term in terms)), shares, tuple(items))


def _likely(
    query: str, numbers: Sequence[int], sources: Sources, settings: RetrievalSettings
) -> dict[int, float]:
    """The similarity that a search shows, by number, of blocks found by any layer or none."""
    wanted = tuple(sorted(set(numbers)))
    if not wanted or not any(c.isalnum() for c in query):
        return {}
    asked = BlockFilter(statuses=("raw", "consolidated"))
    request = RetrievalRequest(query, asked, within=wanted, present=wanted, most=0)
    evidence = gather(request, sources, settings).evidence
    if evidence is None:
        return {}
    shown = fused(contributions(evidence).sum(axis=1))
    return dict(zip(evidence.numbers.tolist(), shown.tolist(), strict=True))

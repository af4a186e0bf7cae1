"""Layer 3: words that no block holds are taken for typos of the nearest words that some block holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from amgs.index.fuzzy import StemCorrection, corrections
from amgs.index.lexical import LexicalIndex
from amgs.index.terms import LexicalQuery
from amgs.retrieval.keyword import LexicalHit
from amgs.retrieval.sources import Numbers
from amgs.text.english_words import english_words

_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class FuzzyResult:
    """The hits by number, and what was read for what."""

    hits: Mapping[int, LexicalHit]
    corrections: tuple[StemCorrection, ...]


def fuzzy(text: str, query: LexicalQuery, index: LexicalIndex, allowed: Numbers, limit: int) -> FuzzyResult:
    """Blocks that hold a correction of an unknown word; each weighs as close as it is to what was typed.

    text: the query as it was typed. An English word is no typo, even if no block holds it.
    """
    unknown = [term.text for term in query.unknown]
    if unknown:
        meant = {word for word in _WORD.findall(text.lower()) if word in english_words()}
        spelt = {stem for word in meant for stem in index.stems(word)}
        unknown = [stem for stem in unknown if stem not in spelt]
    if not unknown or query.mass <= 0 or limit <= 0:
        return FuzzyResult({}, ())
    found = corrections(unknown, index.vocabulary())
    closest: dict[str, float] = {}
    for correction in found:
        closest[correction.known] = max(closest.get(correction.known, 0.0), correction.closeness)
    hits = index.ranked(sorted(closest.items()), limit, allowed)
    return FuzzyResult({hit.number: LexicalHit(hit.score / query.mass) for hit in hits}, found)

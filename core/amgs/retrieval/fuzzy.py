"""Layer 3: words that no block holds are taken for typos of the nearest words that some block holds."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from amgs.errors import ModelError
from amgs.index.fuzzy import StemCorrection, corrections
from amgs.index.lexical import LexicalIndex
from amgs.index.terms import LexicalQuery
from amgs.retrieval.keyword import LexicalHit
from amgs.retrieval.sources import Numbers
from amgs.text.language import foreign_function_words
from amgs.text.minilm import resolve
from amgs.text.scripts import spaceless

_WORD = re.compile(r"[^\W\d_]+")
_VOCABULARY = "vocab.txt"


@dataclass(frozen=True, slots=True)
class FuzzyResult:
    """The hits by number, and what was read for what."""

    hits: Mapping[int, LexicalHit]
    corrections: tuple[StemCorrection, ...]


def fuzzy(text: str, query: LexicalQuery, index: LexicalIndex, allowed: Numbers, limit: int) -> FuzzyResult:
    """Blocks that hold a correction of an unknown word; each weighs as close as it is to what was typed.

    text: the query as it was typed. An English word is no typo, even if no block holds it, nor is a function word of
    the language that the query is in.
    """
    unknown = [term.text for term in query.unknown]
    if unknown:
        meant = {word for word in _WORD.findall(text.lower()) if word in english_words()}
        meant |= foreign_function_words(text)
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


def unheld(
    text: str, query: LexicalQuery, index: LexicalIndex, corrected: Collection[StemCorrection]
) -> tuple[str, ...]:
    """The words of a query, as they were typed, that no block holds and that were taken for no typo; function words and
    what is written without spaces are left out.
    """
    missing = {term.text for term in query.unknown} - {one.unknown for one in corrected}
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
    """Some 20,000 common words and names in lower case: the vocabulary of the packaged encoder; none without it.

    It was counted from books and articles, so what is often misspelt is there as it is spelt right.
    """
    try:
        lines = (Path(resolve()) / _VOCABULARY).read_text(encoding="utf-8").split("\n")
    except (OSError, ModelError):
        return frozenset()
    return frozenset(line for line in lines if len(line) > 1 and line.isalpha())

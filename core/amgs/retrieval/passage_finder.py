"""Find the passage of a block that answers a query: the words that match it, as the keyword index reads words; and the
sentence that holds most words of a question.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from amgs.index.fuzzy import StemCorrection
from amgs.index.lexical import LexicalIndex
from amgs.index.terms import LexicalQuery, identifiers
from amgs.text.best_passage import SENTENCE, Match, best_passage
from amgs.text.scripts import spaceless
from amgs.types import Candidate, PassageSpan

HIT = 240
"""Characters of the passage of a hit."""

_WORD = re.compile(r"\w+")
_MOST = 20_000
"""Characters of a content that are looked through."""


class PassageFinder:
    """The passages of many blocks for one query; a word is looked up once."""

    def __init__(self, query: LexicalQuery, keyword: LexicalIndex, corrections: Sequence[StemCorrection] = ()) -> None:
        self._keyword = keyword
        self._weights = {term.text: term.idf for term in query.terms}
        self._weights |= {correction.known: self._weights.get(correction.unknown, 1.0) for correction in corrections}
        self._terms: dict[str, str | None] = {}

    def matches(self, content: str) -> list[Match]:
        """Return where the content holds a word of the query, in any of its forms."""
        if not self._weights:
            return []
        read = content[:_MOST]
        words = list(_words(read))
        self._read({word for _, word in words})
        return [
            Match(start, start + len(word), term, self._weights[term])
            for start, word in words
            if (term := self._terms[word]) is not None
        ]

    def passage(self, content: str, most: int) -> PassageSpan:
        """Return the passage of at most `most` characters in which most of what is asked for stands."""
        matches = self.matches(content)
        start, end = best_passage(content, matches, most)
        inside = tuple((m.start, m.end) for m in matches if start <= m.start and m.end <= end)
        return PassageSpan(start, end, inside)

    def _read(self, words: Collection[str]) -> None:
        """Note of each word, as it is written, which term of the query it is a form of, if any."""
        fresh = {word: word.lower() for word in set(words) - self._terms.keys()}
        stems = self._keyword.stems_of(set(fresh.values()))
        for word, lower in fresh.items():
            self._terms[word] = next((stem for stem in stems[lower] if stem in self._weights), None)


def _words(text: str) -> Iterator[tuple[int, str]]:
    """Yield each word with where it begins; of a script without spaces each pair of characters."""
    for match in _WORD.finditer(text):
        word, start = match[0], match.start()
        if len(word) > 1 and not word.isascii() and spaceless(word):
            yield from ((start + at, word[at : at + 2]) for at in range(len(word) - 1))
        else:
            yield start, word


def with_passages(hits: Sequence[Candidate], finder: PassageFinder) -> tuple[Candidate, ...]:
    """Return the hits, each with the passage that answers the query."""
    return tuple(replace(hit, passage=finder.passage(hit.block.content, HIT)) for hit in hits)


_LONGEST = 100
_MOST_WORDS = 6
_MOST_CHARACTERS = 20_000
"""Of a content that are read: a quotation from the beginning of a huge block will do."""


def held(query: LexicalQuery, content: str, index: LexicalIndex) -> tuple[str, ...]:
    """Return the words of the content that match the query, in lower case, in the order they stand there."""
    stems = {term.text for term in query.terms}
    named = {form for t in query.identifiers for form in (t.identifier.exact, t.identifier.squeezed)}
    exact_names = [
        identifier.exact
        for identifier in identifiers(content[:_MOST_CHARACTERS])
        if {identifier.exact, identifier.squeezed} & named
    ]
    return tuple(dict.fromkeys((*exact_names, *with_stems(stems, content, index))))


def with_stems(stems: Collection[str], content: str, index: LexicalIndex) -> tuple[str, ...]:
    """Return the words of the content that have one of these stems, in lower case, each once; of a script without
    spaces the stems themselves.
    """
    words = dict.fromkeys(match.group().lower() for match in _WORD.finditer(content[:_MOST_CHARACTERS]))
    matches: dict[str, None] = {}
    for word in words:
        shared = [stem for stem in index.stems(word) if stem in stems]
        if shared:
            matches |= dict.fromkeys(shared if spaceless(word) else (word,))
    return tuple(matches)


def told(words: Collection[str], content: str) -> str:
    """`“dome”, “stalled”: “The dome stalled twice.”`: the words, and where they stand; empty for none."""
    if not words:
        return ""
    named = ", ".join(f"“{word}”" for word in list(words)[:_MOST_WORDS])
    return f"{named}: “{_quotation(words, content[:_MOST_CHARACTERS])}”"


def _quotation(words: Collection[str], content: str) -> str:
    """Return the sentence that holds most of the words, cut to what surrounds the first of them."""
    sentences = [" ".join(match.group().split()) for match in SENTENCE.finditer(content)]
    best = max(sentences or [content], key=lambda text: sum(word in text.lower() for word in words))
    if len(best) <= _LONGEST:
        return best
    at = min((place for word in words if (place := best.lower().find(word)) >= 0), default=0)
    start = max(0, min(at - _LONGEST // 3, len(best) - _LONGEST))
    piece = best[start : start + _LONGEST]
    if start:
        piece = "…" + piece.partition(" ")[2]
    return piece if start + _LONGEST >= len(best) else piece.rpartition(" ")[0] + "…"

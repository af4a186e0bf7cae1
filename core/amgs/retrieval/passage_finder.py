"""Which passage of a block answers a query: the words that match it, as the keyword index reads words."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from amgs.index.fuzzy import StemCorrection
from amgs.index.lexical import LexicalIndex
from amgs.index.terms import LexicalQuery
from amgs.text.best_passage import Match, best_passage
from amgs.types import Candidate, PassageSpan

HIT = 240
"""Characters of the passage of a hit."""

_WORD = re.compile(r"\w+")
_MOST = 20_000
"""Characters of a content that are looked through."""


class PassageFinder:
    """The passages of many blocks for one query; a word is looked up once."""

    def __init__(
        self, query: LexicalQuery, keyword: LexicalIndex, corrections: Sequence[StemCorrection] = ()
    ) -> None:
        self._keyword = keyword
        self._weights = {term.text: term.idf for term in query.terms}
        self._weights |= {one.known: self._weights.get(one.unknown, 1.0) for one in corrections}
        self._terms: dict[str, str | None] = {}

    def matches(self, content: str) -> list[Match]:
        """Where the content holds a word of the query, in any of its forms."""
        if not self._weights:
            return []
        read = content[:_MOST]
        self._read(_WORD.findall(read))
        found = []
        for word in _WORD.finditer(read):
            term = self._terms[word[0]]
            if term is not None:
                found.append(Match(word.start(), word.end(), term, self._weights[term]))
        return found

    def passage(self, content: str, most: int) -> PassageSpan:
        """The passage of at most `most` characters in which most of what is asked for stands."""
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


def with_passages(hits: Sequence[Candidate], finder: PassageFinder) -> tuple[Candidate, ...]:
    """The hits, each with the passage that answers the query."""
    return tuple(replace(hit, passage=finder.passage(hit.block.content, HIT)) for hit in hits)

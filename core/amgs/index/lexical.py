"""Interface of a word index for retrieval, whatever the store behind it: BM25 over stemmed words and whole identifiers.

An index says which documents hold a stem or an identifier and ranks documents by weighted terms; how a query is cut
into terms, and that an identifier is never crowded out, is the same for all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from amgs.index.fuzzy import StemCorrection
from amgs.index.terms import (
    COMMON_RARITY,
    LONGEST_QUERY,
    LONGEST_WORD,
    STEMMED,
    Identifier,
    IdentifierTerm,
    LexicalQuery,
    Term,
    common,
    has_digit,
    identifiers,
    idf,
    mark,
    stemmed,
    without_section_numbers,
    word_analyzer,
    words_of,
)
from amgs.storable import make_storable
from amgs.text.language import ENGLISH, foreign_function_words, language_of
from amgs.text.language_tables import lone_characters
from amgs.text.scripts import spaced

MOST_TERMS = 128
"""Terms of one query that are looked up, the rarest first."""

MOST_CONTENT_TERMS = 24
"""Terms of one query whose documents are looked up one by one."""

WeightedStems = Sequence[tuple[str, float]]
WeightedIdentifiers = Sequence[tuple[Identifier, float]]


_REMEMBERED = 50_000
"""Words whose stems are remembered."""


@lru_cache(maxsize=_REMEMBERED)
def _stems(word: str) -> tuple[str, ...]:
    """Return what a word is looked up as where all documents are English."""
    return tuple(word_analyzer().analyze(spaced(make_storable(word), singles=True)))


@dataclass(frozen=True, slots=True)
class Hit:
    """A document found. score: BM25. exact in [0, 1]: share of the query's identifiers it holds, by their
    rarity.
    """

    number: int
    score: float
    exact: float = 0.0


@dataclass(frozen=True, slots=True)
class StemPostings:
    """Documents that hold a stem, and what BM25 gives each for it: numbers (k,), scores (k,)."""

    numbers: NDArray[np.int64]
    scores: NDArray[np.float64]


def _is_one(word: str) -> bool:
    """Return whether a text is one word and nothing else."""
    return word.isascii() and word.isalnum() and len(word) < LONGEST_WORD


class LexicalIndex(ABC):
    """One index of words; documents are block numbers."""

    def __init__(self) -> None:
        self._languages: tuple[str, ...] | None = None
        self._stemmed: dict[tuple[str, str], list[str]] = {}

    # --- what each index answers in its own way ---------------------------------------------------------

    @property
    @abstractmethod
    def documents(self) -> int:
        """Number of documents."""

    @abstractmethod
    def frequency(self, stem: str) -> int:
        """Return how many documents hold a stem."""

    @abstractmethod
    def identifier_frequency(self, identifier: Identifier) -> int:
        """Return how many documents hold an identifier in either form, at least the commoner form's."""

    @abstractmethod
    def vocabulary(self) -> Mapping[str, int]:
        """Return every stem with the number of documents that hold it."""

    @abstractmethod
    def postings(self, term: str, limit: int) -> StemPostings:
        """Return the best `limit` documents of one stem."""

    @abstractmethod
    def openings(self, term: str, limit: int) -> StemPostings:
        """Return the best `limit` documents that hold one stem, which is none of the commonest, in their opening, by
        BM25 over openings.
        """

    @abstractmethod
    def ranked(
        self,
        stems: WeightedStems,
        limit: int,
        allowed: NDArray[np.int64] | None = None,
        identifiers: WeightedIdentifiers = (),
    ) -> list[Hit]:
        """Return the best `limit` documents among the allowed (ascending; None: all) by the sum of weight × BM25, that
        of the opening counted OPENING_SHARE beside that of the whole; ties by number. Stems and identifiers that no
        document holds bring nothing.
        """

    # --- what is the same for all of them ---------------------------------------------------------------

    def query(self, text: str) -> LexicalQuery:
        """Cut a query into terms, without the commonest words of its language unless it has no others. Any text is
        allowed: what has no letter or digit has no terms.
        """
        text = make_storable(text[:LONGEST_QUERY])
        language = language_of(text)
        every = dict.fromkeys(self._terms_of(f"{spaced(text, singles=False)} {lone_characters(text)}", language))
        idle = set[str]()
        if language != ENGLISH:  # a lone "war" or "man" is no function word of German yet
            idle.update(self.stems(" ".join(foreign_function_words(text)), language))
        words = [word for word in every if not common(word) and word not in idle] or list(every)
        terms = sorted((self._term(word) for word in words), key=lambda term: -term.idf)[:MOST_TERMS]
        asked = identifiers(without_section_numbers(text))
        named = sorted((self._identifier(i) for i in asked), key=lambda term: -term.idf)[:MOST_TERMS]
        mass = sum(term.idf for term in terms) + sum(term.weight * term.idf for term in named)
        return LexicalQuery(tuple(terms), tuple(named), mass)

    def search(self, query: LexicalQuery, limit: int, allowed: NDArray[np.int64] | None = None) -> list[Hit]:
        """Return the best `limit` documents among the allowed numbers (ascending; None: all), by BM25, ties by
        number.
        """
        stems = [(t.text, 1.0) for t in query.terms if t.document_frequency]
        named = [(t.identifier, t.weight) for t in query.identifiers if t.document_frequency and t.weight]
        exact = self._exact(query, allowed)
        best = self.ranked(stems, limit, allowed, named)
        if not exact:
            return best
        hits_by_number = {hit.number: hit for hit in best}
        # An identifier is never crowded out of the pool by documents that share many common words.
        missing = [number for number in exact if number not in hits_by_number]
        if missing:
            hits = self.ranked(stems, len(missing), np.array(sorted(missing), dtype=np.int64), named)
            hits_by_number.update((hit.number, hit) for hit in hits)
        ranked = [Hit(hit.number, hit.score, exact.get(hit.number, 0.0)) for hit in hits_by_number.values()]
        ranked.sort(key=lambda hit: (-hit.exact, -hit.score, hit.number))
        top = ranked[:limit]
        return sorted(top, key=lambda hit: (-hit.score, hit.number))

    def content(self, query: LexicalQuery, without: Iterable[str] = ()) -> tuple[Term, ...]:
        """Return the terms that say what is asked about: all but the words `without`, the rarest MOST_CONTENT_TERMS.
        Where that leaves nothing, every term counts.
        """
        idle = {stem for word in without for stem in self.stems(word)}
        terms = [t for t in query.terms if t.text not in idle]
        return tuple((terms or list(query.terms))[:MOST_CONTENT_TERMS])

    def corrected(self, query: LexicalQuery, corrections: Sequence[StemCorrection]) -> LexicalQuery:
        """Return the query with the nearest known stem for each word that was taken for a typo, as close as that is to
        it.
        """
        read = {correction.unknown: correction for correction in reversed(corrections)}
        if not read:
            return query
        terms = []
        for term in query.terms:
            correction = read.get(term.text)
            known = term if correction is None else self._term(correction.known)
            terms.append(term if correction is None else replace(known, idf=correction.closeness * known.idf))
        return replace(query, terms=tuple(dict.fromkeys(terms)))

    def stems(self, words: str, language: str = ENGLISH) -> list[str]:
        """Return what words are looked up as. language: the one they are likely in."""
        if not self._present():
            return list(_stems(words))
        known = self._stemmed.get((words, language))
        if known is None:  # the words of hits are asked for again and again
            known = self._terms_of(spaced(make_storable(words), singles=True), language)
            if len(self._stemmed) < _REMEMBERED:
                self._stemmed[words, language] = known
        return list(known)

    def stems_of(self, words: Iterable[str]) -> Mapping[str, Sequence[str]]:
        """Return what each of many words is looked up as by itself; fresh ones are stemmed together, which is
        quicker.
        """
        if not self._present():
            return {word: _stems(word) for word in words}
        known = {word: self._stemmed.get((word, ENGLISH)) for word in words}
        fresh = [word for word, stems in known.items() if stems is None and _is_one(word)]
        for word, stem_of_it in zip(fresh, self._terms_of(" ".join(fresh), ENGLISH), strict=True):
            known[word] = [stem_of_it]
            if len(self._stemmed) < _REMEMBERED:
                self._stemmed[word, ENGLISH] = [stem_of_it]
        return {word: self.stems(word) if stems is None else stems for word, stems in known.items()}

    # --- inside -----------------------------------------------------------------------------------------

    def _present(self) -> tuple[str, ...]:
        """Return the languages of the documents besides English that have a stemmer."""
        if self._languages is None:
            self._languages = tuple(name for name in STEMMED if self.frequency(mark(name)))
        return self._languages

    def _terms_of(self, spaced_text: str, language: str) -> list[str]:
        """Return the terms of a text: each word by the stemmer under which most documents hold it, of equal ones the
        likely language's. The first that any document holds would be misled by the few whose language was told wrong.
        """
        present = self._present()
        if not present:
            return list(word_analyzer().analyze(spaced_text))
        languages = dict.fromkeys((*((language,) if language in present else ()), ENGLISH, *present))
        words = words_of(spaced_text)
        terms = []
        for variants in zip(*(stemmed(words, name) for name in languages), strict=True):
            stems = dict.fromkeys(variants)
            terms.append(max(stems, key=self.frequency) if len(stems) > 1 else variants[0])
        return terms

    def _exact(self, query: LexicalQuery, allowed: NDArray[np.int64] | None) -> dict[int, float]:
        """By number: the share of the query's identifiers that the document holds, each counted by its
        rarity.
        """
        asked = [term for term in query.identifiers if has_digit(term.identifier)]
        exact: dict[int, float] = {}
        for term in asked:
            if term.document_frequency == 0 or not term.rarity:
                continue
            # The commonest identifiers decide nothing; reading all their documents would only cost.
            hits = self.ranked((), min(term.document_frequency, 200), allowed, [(term.identifier, 1.0)])
            for hit in hits:
                exact[hit.number] = exact.get(hit.number, 0.0) + term.rarity / len(asked)
        return {number: min(share, 1.0) for number, share in exact.items()}

    def _term(self, word: str) -> Term:
        frequency = self.frequency(word)
        return Term(word, frequency, idf(self.documents, frequency))

    def _identifier(self, identifier: Identifier) -> IdentifierTerm:
        frequency = self.identifier_frequency(identifier)
        weight = idf(self.documents, frequency)
        rarity = (weight / idf(self.documents, 1)) ** 2
        above = max(0.0, (rarity - COMMON_RARITY) / (1.0 - COMMON_RARITY))
        return IdentifierTerm(identifier, frequency, weight, above)

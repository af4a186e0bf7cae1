"""Define the word index that searches use: BM25 over stemmed words and whole identifiers, with typos corrected.
A subclass (`KeywordIndex`) counts and ranks documents; how a query becomes terms, and that a rare identifier
always makes it among the hits, is the same for all and is here. `TextBm25` scores a few texts in memory.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from amgs.incoming import make_storable
from amgs.index.terms import (
    COMMON_RARITY,
    LONGEST_QUERY,
    LONGEST_WORD,
    STEMMED,
    Identifier,
    IdentifierTerm,
    LexicalQuery,
    Term,
    has_digit,
    identifiers,
    idf,
    is_common_term,
    language_term,
    stem_words,
    without_section_numbers,
    word_analyzer,
    words_of,
)
from amgs.text.language import ENGLISH, foreign_function_words, language_of, lone_characters
from amgs.text.words import split_spaceless

MOST_WORDS = 8
"""Unknown words of a query that are corrected, in their order."""

MOST_CORRECTIONS = 3
"""Known stems tried for an unknown word."""

_CORRECTED_WORDS = 256
"""Words whose corrections are cached, as long as no document comes."""


@dataclass(frozen=True, slots=True)
class StemCorrection:
    """A known stem read for an unknown word. closeness: 1 - edits / length, in (0, 1), the weight of its matches."""

    unknown: str
    known: str
    edits: int
    closeness: float


def count_allowed_edits(word: str) -> int:
    """Return how many edits a typo may have: none in numbers and words under 4 letters, 1 up to 7, then 2."""
    return 0 if len(word) < 4 or word.isdigit() else 1 if len(word) <= 7 else 2


_ENDINGS = ("e", "s", "es", "ed", "ing")
"""Endings that a stemmer removes from a correct word, and may leave on a misspelt word."""


class Vocabulary(dict[str, int]):
    """Known stems of an index, with the number of documents that contain them."""

    def __init__(self, counts: Iterable[tuple[str, int]]) -> None:
        super().__init__(counts)
        self.nearest = lru_cache(maxsize=_CORRECTED_WORDS)(self._nearest)
        """Return the corrections of a stem; each child of a frame asks for those of the same words."""

    @cached_property
    def _by_length(self) -> Mapping[int, Sequence[str]]:
        stems = defaultdict[int, list[str]](list)
        for stem in self:
            stems[len(stem)].append(stem)
        return stems

    def _nearest(self, stem: str, word: str) -> tuple[StemCorrection, ...]:
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        edits_to: dict[str, int] = {}
        for form in {stem, word, *(word[: -len(end)] for end in _ENDINGS if word.endswith(end))}:
            allowed = count_allowed_edits(form)
            for length in range(len(form) - allowed, len(form) + allowed + 1) if allowed else ():
                near = self._by_length.get(length, ())
                matches = process.extract(form, near, scorer=OSA.distance, score_cutoff=allowed, limit=None)
                for known, edits, _ in matches:
                    edits_to[known] = min(max(int(edits), 1), edits_to.get(known, allowed))
        ranked = sorted((edits, -self[known], known) for known, edits in edits_to.items())
        # Only the nearest: "dome" must not also be corrected to "done" when "domes" is an edit closer.
        nearest = [r for r in ranked if r[0] == ranked[0][0]][:MOST_CORRECTIONS]
        return tuple(StemCorrection(stem, known, edits, 1.0 - edits / max(len(word), 1)) for edits, _, known in nearest)


def find_corrections(
    unknown: Iterable[str], vocabulary: Vocabulary, typed: Mapping[str, str] = MappingProxyType({})
) -> tuple[StemCorrection, ...]:
    """Return the nearest known stems for each unknown stem.

    typed: the word behind a stem, which is compared too, with and without its ending. Nearest by optimal string
    alignment (swapping two adjacent letters is a single edit); ties to the commonest, then alphabetically.
    """
    stems = list(unknown)[:MOST_WORDS]
    return tuple(fix for stem in stems for fix in vocabulary.nearest(stem, typed.get(stem, stem)))


MOST_TERMS = 128
"""Terms of a query that are used, the rarest first."""

MOST_CONTENT_TERMS = 24
"""Terms of a query whose postings are read for the features."""

WeightedStems = Sequence[tuple[str, float]]
WeightedIdentifiers = Sequence[tuple[Identifier, float]]


_CACHED_WORDS = 50_000
"""Words whose stems are cached."""


@lru_cache(maxsize=_CACHED_WORDS)
def _stems(word: str) -> tuple[str, ...]:
    """Return the stems of a word where all documents are English."""
    return tuple(word_analyzer().analyze(split_spaceless(make_storable(word), singles=True)))


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that matches. score: BM25. exact: share of the query's identifiers that it has, in [0, 1], rare ones
    counting more.
    """

    number: int
    score: float
    exact: float = 0.0


@dataclass(frozen=True, slots=True)
class StemPostings:
    """Documents with a stem: their numbers (k,) and BM25 scores for it (k,)."""

    numbers: NDArray[np.int64]
    scores: NDArray[np.float64]


def _is_one(word: str) -> bool:
    """Return whether a text is a single ASCII word."""
    return word.isascii() and word.isalnum() and len(word) < LONGEST_WORD


class LexicalIndex(ABC):
    """Index of words; documents are blocks, by number."""

    def __init__(self) -> None:
        self._languages: tuple[str, ...] | None = None
        self._stemmed: dict[tuple[str, str], list[str]] = {}

    # --- for each kind of index to implement ------------------------------------------------------------

    @property
    @abstractmethod
    def documents(self) -> int:
        """Number of documents."""

    @abstractmethod
    def frequency(self, stem: str) -> int:
        """Return how many documents hold a stem."""

    @abstractmethod
    def identifier_frequency(self, identifier: Identifier) -> int:
        """Return the number of documents with an identifier: that of its commoner form."""

    @abstractmethod
    def vocabulary(self) -> Vocabulary:
        """Return every stem with the number of documents that hold it."""

    @abstractmethod
    def postings(self, term: str, limit: int) -> StemPostings:
        """Return the best `limit` documents with a stem."""

    @abstractmethod
    def openings(self, term: str, limit: int) -> StemPostings:
        """Return the best `limit` documents with a stem in their opening, by BM25 over openings; not for
        common stems.
        """

    @abstractmethod
    def rank_documents(
        self,
        stems: WeightedStems,
        limit: int,
        allowed: NDArray[np.int64] | None = None,
        identifiers: WeightedIdentifiers = (),
    ) -> list[Hit]:
        """Return the best `limit` documents by the sum of weight × BM25, ties by number.

        BM25 of the opening is added with weight OPENING_SHARE. allowed: numbers, ascending; None: all.
        """

    # --- the same for every index -----------------------------------------------------------------------

    def query(self, text: str) -> LexicalQuery:
        """Return the terms of a query, without the commonest words of its language unless it has no others. A text
        without letters and digits has no terms.
        """
        text = make_storable(text[:LONGEST_QUERY])
        language = language_of(text)
        every = dict.fromkeys(
            self._terms_of(f"{split_spaceless(text, singles=False)} {lone_characters(text)}", language)
        )
        idle = set[str]()
        if language != ENGLISH:  # "war" or "man" alone may be English
            idle.update(self.stems(" ".join(foreign_function_words(text)), language))
        words = [word for word in every if not is_common_term(word) and word not in idle] or list(every)
        terms = sorted((self._term(word) for word in words), key=lambda term: -term.idf)[:MOST_TERMS]
        asked = identifiers(without_section_numbers(text))
        named = sorted((self._identifier(i) for i in asked), key=lambda term: -term.idf)[:MOST_TERMS]
        mass = sum(term.idf for term in terms) + sum(term.weight * term.idf for term in named)
        return LexicalQuery(tuple(terms), tuple(named), mass)

    def search(self, query: LexicalQuery, limit: int, allowed: NDArray[np.int64] | None = None) -> list[Hit]:
        """Return the best `limit` documents by BM25, ties by number; those with a rare identifier of the query always
        come before others. allowed: numbers, ascending; None: all.
        """
        stems = [(t.text, 1.0) for t in query.terms if t.document_frequency]
        named = [(t.identifier, t.weight) for t in query.identifiers if t.document_frequency and t.weight]
        exact = self._exact_shares(query, allowed)
        best = self.rank_documents(stems, limit, allowed, named)
        if not exact:
            return best
        hits_by_number = {hit.number: hit for hit in best}
        # Documents with many common words must not push out those with the identifier.
        missing = [number for number in exact if number not in hits_by_number]
        if missing:
            hits = self.rank_documents(stems, len(missing), np.array(sorted(missing), dtype=np.int64), named)
            hits_by_number.update((hit.number, hit) for hit in hits)
        ranked = [Hit(hit.number, hit.score, exact.get(hit.number, 0.0)) for hit in hits_by_number.values()]
        ranked.sort(key=lambda hit: (-hit.exact, -hit.score, hit.number))
        top = ranked[:limit]
        return sorted(top, key=lambda hit: (-hit.score, hit.number))

    def content(self, query: LexicalQuery, without: Iterable[str] = ()) -> tuple[Term, ...]:
        """Return the rarest MOST_CONTENT_TERMS terms of a query, except those of the words in `without`; if none are
        left, those too.
        """
        idle = {stem for word in without for stem in self.stems(word)}
        terms = [t for t in query.terms if t.text not in idle]
        return tuple((terms or list(query.terms))[:MOST_CONTENT_TERMS])

    def correct_words(self, query: LexicalQuery, corrections: Sequence[StemCorrection]) -> LexicalQuery:
        """Return the query with each corrected word replaced by its nearest known stem, weighted by its closeness."""
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
        """Return the stems of words, as the index has them. language: the likely language."""
        if not self._foreign_languages():
            return list(_stems(words))
        known = self._stemmed.get((words, language))
        if known is None:  # the words of hits are asked for again and again
            known = self._terms_of(split_spaceless(make_storable(words), singles=True), language)
            if len(self._stemmed) < _CACHED_WORDS:
                self._stemmed[words, language] = known
        return list(known)

    def stems_of(self, words: Iterable[str]) -> Mapping[str, Sequence[str]]:
        """Return the stems of each word; new words are stemmed together, which is faster."""
        if not self._foreign_languages():
            return {word: _stems(word) for word in words}
        known = {word: self._stemmed.get((word, ENGLISH)) for word in words}
        fresh = [word for word, stems in known.items() if stems is None and _is_one(word)]
        for word, stem_of_it in zip(fresh, self._terms_of(" ".join(fresh), ENGLISH), strict=True):
            known[word] = [stem_of_it]
            if len(self._stemmed) < _CACHED_WORDS:
                self._stemmed[word, ENGLISH] = [stem_of_it]
        return {word: self.stems(word) if stems is None else stems for word, stems in known.items()}

    # --- inside -----------------------------------------------------------------------------------------

    def _foreign_languages(self) -> tuple[str, ...]:
        """Return the languages with a stemmer, other than English, in which the index has documents."""
        if self._languages is None:
            self._languages = tuple(name for name in STEMMED if self.frequency(language_term(name)))
        return self._languages

    def _terms_of(self, spaced_text: str, language: str) -> list[str]:
        """Return the terms of a text: of each word the stem, over all languages of the index, that most documents have;
        ties to the likely language. Taking the first stem in the index would follow documents of a misread language.
        """
        present = self._foreign_languages()
        if not present:
            return list(word_analyzer().analyze(spaced_text))
        languages = dict.fromkeys((*((language,) if language in present else ()), ENGLISH, *present))
        words = words_of(spaced_text)
        terms = []
        for variants in zip(*(stem_words(words, name) for name in languages), strict=True):
            stems = dict.fromkeys(variants)
            terms.append(max(stems, key=self.frequency) if len(stems) > 1 else variants[0])
        return terms

    def _exact_shares(self, query: LexicalQuery, allowed: NDArray[np.int64] | None) -> dict[int, float]:
        """Return, by number, the share of the query's identifiers that each document has, rare ones counting more."""
        asked = [term for term in query.identifiers if has_digit(term.identifier)]
        exact: dict[int, float] = {}
        for term in asked:
            if term.document_frequency == 0 or not term.rarity:
                continue
            # Common identifiers decide nothing, so at most 200 documents are read.
            hits = self.rank_documents((), min(term.document_frequency, 200), allowed, [(term.identifier, 1.0)])
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


K1, B = 1.2, 0.75


class TextBm25:
    """BM25 index of n texts. texts: the words of each, cut and stemmed like those of the queries."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        lengths = np.array([len(words) for words in texts], dtype=np.float64)
        self._norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1.0))
        self._holders: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for row, words in enumerate(texts):
            for word, count in Counter(words).items():
                self._holders[word].append((row, count))

    def scores(self, query: Sequence[str]) -> NDArray[np.float64]:
        """Return the score of each text (n,); a repeated query word counts once."""
        size = self._norm.size
        total = np.zeros(size)
        for word in dict.fromkeys(query):
            postings = self._holders.get(word, [])
            weight = math.log(1 + (size - len(postings) + 0.5) / (len(postings) + 0.5))
            for row, count in postings:
                total[row] += weight * count * (K1 + 1) / (count + self._norm[row])
        return total

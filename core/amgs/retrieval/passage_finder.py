"""Find the passage of a text that matches a query best, and the words that match, as the keyword index reads
words.

A search shows a passage with each hit; `why` quotes the sentence with most of the query's words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from amgs.index.lexical import LexicalIndex, StemCorrection
from amgs.index.terms import LexicalQuery, identifiers
from amgs.text.words import is_spaceless
from amgs.types import Candidate, PassageSpan

SENTENCE = re.compile(r"[^\s].*?(?:[.!?](?=\s|$)|[。！？]|(?=\n)|$)", re.DOTALL)
_SHORTEST = 12


@dataclass(frozen=True, slots=True)
class Match:
    """Characters [start, end) of a text that match a term of the query. weight: of the term."""

    start: int
    end: int
    term: str
    weight: float = 1.0


def best_passage(text: str, matches: Sequence[Match], most: int) -> tuple[int, int]:
    """Return the characters [start, end) of the best passage of at most `most` characters.

    It has whole sentences where they are short enough, else whole words. The best has the greatest weight of distinct
    terms, ties to the earliest; without a match it is the text's beginning.
    """
    bare = len(text) - len(text.lstrip())
    if len(text.strip()) <= most:
        return (bare, len(text.rstrip())) if text.strip() else (0, 0)
    pieces = [piece for sentence in SENTENCE.finditer(text) for piece in _short(text, *sentence.span(), most)]
    best, chosen = -1.0, (bare, bare)
    for first, (start, stop) in enumerate(pieces):
        if first and not any(start <= m.start < stop for m in matches):
            continue
        end = max(piece_end for _, piece_end in pieces[first:] if piece_end - start <= most)
        terms = {m.term: m.weight for m in matches if start <= m.start and m.end <= end}
        weight = sum(terms.values())
        if weight > best:
            best, chosen = weight, (start, end)
    return _extend_start(chosen, pieces, most)


def _short(text: str, start: int, end: int, most: int) -> list[tuple[int, int]]:
    """Return a sentence cut at blanks into pieces of half of what is wanted, where it is longer than all of it."""
    pieces = []
    while end - start > most:
        step = max(most // 2, _SHORTEST)
        blank = max(text.rfind(" ", start + 1, start + step), text.rfind("\n", start + 1, start + step))
        stop = blank if blank > start else start + min(step, most)
        pieces.append((start, stop))
        start = stop + (blank > start)
    return [*pieces, (start, end)]


def _extend_start(chosen: tuple[int, int], pieces: Sequence[tuple[int, int]], most: int) -> tuple[int, int]:
    """Return the same with what stands before, as far as there is room: at the end of a text, after the last match."""
    start, end = chosen
    return min((first for first, _ in pieces if first <= start and end - first <= most), default=start), end


HIT = 240
"""Longest passage of a hit, in characters."""

_WORD = re.compile(r"\w+")
_MOST_CHARACTERS = 20_000
"""Characters of a block that are searched for a passage or a quotation: the beginning of a huge block will do."""
_LONGEST_QUOTE = 100
"""Characters of a quoted sentence."""
_MOST_WORDS = 6
"""Matching words that `quote_words` names."""


class PassageFinder:
    """Finds passages of many blocks for a query; remembers which words match, so that each is stemmed only once."""

    def __init__(self, query: LexicalQuery, keyword: LexicalIndex, corrections: Sequence[StemCorrection] = ()) -> None:
        self._keyword = keyword
        self._weights = {term.text: term.idf for term in query.terms}
        self._weights |= {correction.known: self._weights.get(correction.unknown, 1.0) for correction in corrections}
        self._terms: dict[str, str | None] = {}

    def matches(self, content: str) -> list[Match]:
        """Return every place where the content has a word of the query, in any of its forms."""
        if not self._weights:
            return []
        beginning = content[:_MOST_CHARACTERS]
        words = list(_words(beginning))
        self._look_up({word for _, word in words})
        return [
            Match(start, start + len(word), term, self._weights[term])
            for start, word in words
            if (term := self._terms[word]) is not None
        ]

    def passage(self, content: str, most: int) -> PassageSpan:
        """Return the passage of at most `most` characters that matches most of the query, rare words counting more."""
        matches = self.matches(content)
        start, end = best_passage(content, matches, most)
        inside = tuple((m.start, m.end) for m in matches if start <= m.start and m.end <= end)
        return PassageSpan(start, end, inside)

    def _look_up(self, words: Collection[str]) -> None:
        """Record for each new word, as written, which term of the query it is a form of; None for no term."""
        fresh = {word: word.lower() for word in set(words) - self._terms.keys()}
        stems = self._keyword.stems_of(set(fresh.values()))
        for word, lower in fresh.items():
            self._terms[word] = next((stem for stem in stems[lower] if stem in self._weights), None)


def _words(text: str) -> Iterator[tuple[int, str]]:
    """Yield each word with its start; for scripts without spaces, each pair of characters."""
    for match in _WORD.finditer(text):
        word, start = match[0], match.start()
        if len(word) > 1 and not word.isascii() and is_spaceless(word):
            yield from ((start + at, word[at : at + 2]) for at in range(len(word) - 1))
        else:
            yield start, word


def add_passages(hits: Sequence[Candidate], finder: PassageFinder) -> tuple[Candidate, ...]:
    """Return the hits, each with the passage that answers the query."""
    return tuple(replace(hit, passage=finder.passage(hit.block.content, HIT)) for hit in hits)


def matching_words(query: LexicalQuery, content: str, index: LexicalIndex) -> tuple[str, ...]:
    """Return the content's words that match the query, each once: identifiers first, then words in lower case."""
    stems = {term.text for term in query.terms}
    named = {form for t in query.identifiers for form in (t.identifier.exact, t.identifier.squeezed)}
    exact_names = [
        identifier.exact
        for identifier in identifiers(content[:_MOST_CHARACTERS])
        if {identifier.exact, identifier.squeezed} & named
    ]
    return tuple(dict.fromkeys((*exact_names, *words_with_stems(stems, content, index))))


def words_with_stems(stems: Collection[str], content: str, index: LexicalIndex) -> tuple[str, ...]:
    """Return the content's words that have any of these stems, in lower case, each once; for scripts without spaces,
    the stems themselves.
    """
    words = dict.fromkeys(match.group().lower() for match in _WORD.finditer(content[:_MOST_CHARACTERS]))
    matches: dict[str, None] = {}
    for word in words:
        shared = [stem for stem in index.stems(word) if stem in stems]
        if shared:
            matches |= dict.fromkeys(shared if is_spaceless(word) else (word,))
    return tuple(matches)


def quote_words(words: Collection[str], content: str) -> str:
    """Return the words and a sentence with them, `“dome”, “stalled”: “The dome stalled twice.”`; "" for no words."""
    if not words:
        return ""
    named = ", ".join(f"“{word}”" for word in list(words)[:_MOST_WORDS])
    return f"{named}: “{_quote_sentence(words, content[:_MOST_CHARACTERS])}”"


def _quote_sentence(words: Collection[str], content: str) -> str:
    """Return the sentence with most of the words, cut to _LONGEST_QUOTE characters around the first of them."""
    sentences = [" ".join(match.group().split()) for match in SENTENCE.finditer(content)]
    best = max(sentences or [content], key=lambda text: sum(word in text.lower() for word in words))
    if len(best) <= _LONGEST_QUOTE:
        return best
    at = min((place for word in words if (place := best.lower().find(word)) >= 0), default=0)
    start = max(0, min(at - _LONGEST_QUOTE // 3, len(best) - _LONGEST_QUOTE))
    piece = best[start : start + _LONGEST_QUOTE]
    if start:
        piece = "…" + piece.partition(" ")[2]
    return piece if start + _LONGEST_QUOTE >= len(best) else piece.rpartition(" ")[0] + "…"

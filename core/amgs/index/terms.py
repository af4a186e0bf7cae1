"""Turn text into index terms: stemmed words, and whole identifiers (`QX-7741-B`, `v2.3.1`).

Queries and documents are cut by the same rules; a change here needs a new `keyword.FORMAT`, and new numbers in
docs/results/search.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from amgs.incoming import make_storable
from amgs.text.language import ENGLISH, OTHER_LANGUAGES, language_of
from amgs.text.words import COMMON_WORDS, is_grammatical, remove_spaceless, split_spaceless

LONGEST_WORD = 60
LONGEST_IDENTIFIER = 120
LONGEST_QUERY = 100_000
"""Characters of a query that are used."""

COMMON_RARITY = 0.1
"""Rarity below which an identifier counts for nothing: that of a term in every ninth of a thousand documents."""

IDENTIFIER_SHARE = 0.3
"""Weight of an identifier's BM25: its words count already, and it only adds that they are adjacent."""

LONGEST_OPENING = 300
"""Characters of a text's first paragraph that count as its opening."""

OPENING_SHARE = 0.25
"""Weight of BM25 over the opening, beside that over the whole text."""

STEMMED = tuple(name for name in OTHER_LANGUAGES if name != "russian")
"""Languages with a stemmer of their own; the Russian stemmer runs after the English stemmer, as their letters differ.
"""

_WORD = r"[\p{Alphabetic}\p{N}][\p{Alphabetic}\p{N}\p{M}]*"
"""Letters and digits, with the marks that belong to them."""

_TOKEN = re.compile(r"\w+(?:[-._/:#@+~]\w+)*(?:\+\+|#)?")
_BLANK_LINE = re.compile(r"\n\s*\n")
_AROUND_WORDS = ".,;:!?()[]{}\"'“”‘’«»…—–*"
_CONNECTOR = re.compile(r"[-._/:#@+~]+")
_OUTER_CONNECTOR = re.compile(r"[/:#@]+")


@cache
def word_analyzer(language: str = ENGLISH) -> TextAnalyzer:
    """Return the analyzer of a language's words: lower case, without accents, stemmed.

    Split text in a script without spaces before (`split_spaceless`). A stemmer leaves words of other alphabets alone.
    """
    words = _words()
    if language in STEMMED:
        # Stem first: its endings differ in accents.
        return words.filter(Filter.stemmer(language)).filter(Filter.ascii_fold()).build()
    stemmers = (ENGLISH, "russian", "arabic")
    words = words.filter(Filter.ascii_fold())
    for stemmer in stemmers:
        words = words.filter(Filter.stemmer(stemmer))
    return words.build()


def _words() -> TextAnalyzerBuilder:
    return (
        TextAnalyzerBuilder(Tokenizer.regex(_WORD)).filter(Filter.remove_long(LONGEST_WORD)).filter(Filter.lowercase())
    )


@cache
def _plain() -> TextAnalyzer:
    return _words().build()


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, as they are written."""
    return list(_plain().analyze(text))


def stem_words(words: Sequence[str], language: str) -> list[str]:
    """Return the stem of each word, as texts of this language are indexed. words: from `words_of`."""
    analyzer = word_analyzer(language)
    stems = list(analyzer.analyze(" ".join(words)))
    # A word may become too long in lower case and be dropped; then stem them separately to keep the order.
    return stems if len(stems) == len(words) else [" ".join(analyzer.analyze(word)) for word in words]


def term_analyzer() -> TextAnalyzer:
    """Return the analyzer for terms that are extracted already and joined by spaces."""
    return TextAnalyzerBuilder(Tokenizer.whitespace()).filter(Filter.remove_long(LONGEST_IDENTIFIER)).build()


@cache
def common_stems() -> frozenset[str]:
    """Return the stems of the commonest English words."""
    analyzer = word_analyzer()
    return frozenset(stem for word in COMMON_WORDS for stem in analyzer.analyze(word))


def is_common_term(term: str) -> bool:
    """Return whether a term says nothing about a text's subject: a very common English word, a Japanese ending, or the
    term of a language.
    """
    return term in common_stems() or is_grammatical(term) or term.startswith(_LANGUAGE)


def language_term(language: str) -> str:
    """Return the term that marks every text of this language, other than English."""
    return f"{_LANGUAGE}{language}"


_LANGUAGE = "language:"


@dataclass(frozen=True, slots=True)
class TextTerms:
    """Index terms of a text.

    stems: of its words, in order. opening: those of its first paragraph and the headings above, which state its
    subject. common: stems of very common words, apart so that they do not count towards its length. identifiers: in
    both forms.
    """

    stems: tuple[str, ...]
    opening: tuple[str, ...]
    common: tuple[str, ...]
    identifiers: tuple[str, ...]


def extract_terms(text: str) -> TextTerms:
    """Return the index terms of a text, stemmed by its language."""
    text = make_storable(text)
    language = language_of(text)
    analyzer = word_analyzer(language)
    whole = text.strip()
    opening = _BLANK_LINE.split(whole, 1)[0][:LONGEST_OPENING]
    words = analyzer.analyze(split_spaceless(text, singles=True))
    first = words if opening == whole else analyzer.analyze(split_spaceless(opening, singles=True))
    idle = {word for word in {*words, *first} if is_common_term(word)}
    marks = (language_term(language),) if language in STEMMED else ()
    return TextTerms(
        tuple(word for word in words if word not in idle),
        tuple(word for word in first if word not in idle),
        (*(word for word in words if word in idle), *marks),
        tuple(_identifier_forms(identifiers(text))),
    )


@dataclass(frozen=True, slots=True)
class Identifier:
    """A token that is matched as a whole, in lower case. squeezed: the same without connectors ("qx7741b")."""

    exact: str
    squeezed: str


def identifiers(text: str) -> tuple[Identifier, ...]:
    """Return the distinct identifiers of a text, in order of first appearance.

    A token is an identifier when it has a connector ("dome-motor", "a.b", "C++") or mixes digits and letters ("M31").
    Parts of a path or address count too, so that a part number is found in "store/QX-7741-B".
    """
    by_exact: dict[str, Identifier] = {}
    text = remove_spaceless(text)
    # Most pieces between spaces are plain words; skip those early.
    looked_at = (piece for piece in text.lower().split() if not piece.strip(_AROUND_WORDS).isalpha())
    for token in (match.group() for piece in looked_at for match in _TOKEN.finditer(piece)):
        parts = _OUTER_CONNECTOR.split(token)
        for part in (token, *parts) if len(parts) > 1 else (token,):
            if part not in by_exact and len(part) <= LONGEST_IDENTIFIER and _is_identifier(part):
                by_exact[part] = Identifier(part, _CONNECTOR.sub("", part) or part)
    return tuple(by_exact.values())


_SECTION_NUMBER = re.compile(
    r"(?:^|(?:§|\b(?:chapter|part|section|sect\.|sec\.|ch\.))\s*)[1-9]\d?(?:\.[1-9]\d?){1,3}\.?(?=[\s:,]|$)",
    re.IGNORECASE,
)


def without_section_numbers(query: str) -> str:
    """Return a query without the section number before a heading.

    "4.7 Security" does not mean a thing named 4.7, and other sections refer to it by that number. Versions such as
    0.2.0, and numbers elsewhere in the text, stay.
    """
    return _SECTION_NUMBER.sub(" ", query.strip())


def _is_identifier(token: str) -> bool:
    if _CONNECTOR.search(token):
        return any(map(str.isalnum, token))
    return any(map(str.isdigit, token)) and any(map(str.isalpha, token))


def has_digit(identifier: Identifier) -> bool:
    """Return whether an identifier has a digit and so names a certain thing; "long-term" is only a hyphenated word."""
    return any(c.isdigit() for c in identifier.exact)


def _identifier_forms(exact_names: Iterable[Identifier]) -> Iterable[str]:
    for identifier in exact_names:
        yield identifier.exact
        if identifier.squeezed != identifier.exact:
            yield identifier.squeezed


def idf(documents: int, document_frequency: int) -> float:
    """Return BM25's inverse document frequency, ln(1 + (N - n + ½) / (n + ½)); an unknown word (n = 0) counts as 1."""
    n = min(max(document_frequency, 1), max(documents, 1))
    return math.log(1.0 + (max(documents, 1) - n + 0.5) / (n + 0.5))


@dataclass(frozen=True, slots=True)
class Term:
    """A query's stem and its weight `idf`. document_frequency: 0 where no document has it."""

    text: str
    document_frequency: int
    idf: float


@dataclass(frozen=True, slots=True)
class IdentifierTerm:
    """An identifier of the query. rarity: 1 where at most a single document has it, 0 where too many do, as with a
    project's name.
    """

    identifier: Identifier
    document_frequency: int
    idf: float
    rarity: float

    @property
    def weight(self) -> float:
        """Weight of its BM25."""
        return IDENTIFIER_SHARE * self.rarity


@dataclass(frozen=True, slots=True)
class LexicalQuery:
    """Terms of a query. mass: the sum of their idf, which a perfect match of average length scores."""

    terms: tuple[Term, ...]
    identifiers: tuple[IdentifierTerm, ...]
    mass: float

    @property
    def unknown(self) -> tuple[Term, ...]:
        """Terms that are in no document."""
        return tuple(term for term in self.terms if term.document_frequency == 0)

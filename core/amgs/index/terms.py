"""Turn text into index terms: stemmed words, and identifiers kept whole (`QX-7741-B`, `v2.3.1`)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from amgs.storable import make_storable
from amgs.text.language import ENGLISH, OTHER_LANGUAGES, language_of
from amgs.text.scripts import grammatical, spaced, without_spaceless
from amgs.text.stop_words import COMMON_WORDS

LONGEST_WORD = 60
LONGEST_IDENTIFIER = 120
LONGEST_QUERY = 100_000
"""Characters of a query that are read; nobody means the rest."""

COMMON_RARITY = 0.1
"""An identifier of less rarity names nothing: in a store of a thousand it stands in every ninth document."""

IDENTIFIER_SHARE = 0.3
"""Of BM25, for an identifier: its words count already, and it says no more than that they stand together."""

LONGEST_OPENING = 300
"""Characters of the first paragraph of a text that are its opening."""

OPENING_SHARE = 0.25
"""What BM25 of the opening counts beside that of the whole text."""

STEMMED = tuple(name for name in OTHER_LANGUAGES if name != "russian")
"""Languages that have a stemmer of their own; that for Russian goes with English, whose letters it does not know."""

_WORD = r"[\p{Alphabetic}\p{N}][\p{Alphabetic}\p{N}\p{M}]*"
"""Letters and digits, with the marks that belong to them."""

_TOKEN = re.compile(r"\w+(?:[-._/:#@+~]\w+)*(?:\+\+|#)?")
_BLANK_LINE = re.compile(r"\n\s*\n")
_AROUND_WORDS = ".,;:!?()[]{}\"'“”‘’«»…—–*"
_CONNECTOR = re.compile(r"[-._/:#@+~]+")
_OUTER_CONNECTOR = re.compile(r"[/:#@]+")


@cache
def word_analyzer(language: str = ENGLISH) -> TextAnalyzer:
    """Words in lower case without accents, stemmed; what a script without spaces holds must be `spaced` before.

    The stemmers know their own letters only: a Russian one leaves English words alone.
    """
    words = _words()
    if language in STEMMED:
        # Its endings are told by their accents, too.
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


def stemmed(words: Sequence[str], language: str) -> list[str]:
    """Words of `words_of` as texts of this language are looked up, one by one."""
    analyzer = word_analyzer(language)
    stems = list(analyzer.analyze(" ".join(words)))
    # One in small letters may be too long for a word, which it was not as it was written.
    return stems if len(stems) == len(words) else [" ".join(analyzer.analyze(word)) for word in words]


def cut_analyzer() -> TextAnalyzer:
    """Words and identifiers arrive already cut, joined by spaces."""
    return TextAnalyzerBuilder(Tokenizer.whitespace()).filter(Filter.remove_long(LONGEST_IDENTIFIER)).build()


@cache
def common_stems() -> frozenset[str]:
    """Return the stems of the commonest English words."""
    analyzer = word_analyzer()
    return frozenset(stem for word in COMMON_WORDS for stem in analyzer.analyze(word))


def common(term: str) -> bool:
    """Return whether a term says nothing of what a text is about: the commonest English words, Japanese endings, and
    the mark of a language.
    """
    return term in common_stems() or grammatical(term) or term.startswith(_LANGUAGE)


def mark(language: str) -> str:
    """Return the term that each text in another language than English has."""
    return f"{_LANGUAGE}{language}"


_LANGUAGE = "language:"


@dataclass(frozen=True, slots=True)
class CutText:
    """Index terms of a text: the stems of its words in order, those of the commonest apart, so that they do not count
    towards its length; those of its opening, the first paragraph with the headings above it, which states its subject;
    and its identifiers in both forms.
    """

    stems: tuple[str, ...]
    opening: tuple[str, ...]
    common: tuple[str, ...]
    identifiers: tuple[str, ...]


def cut(text: str) -> CutText:
    """Cut a text into index terms, by the stemmer of its language."""
    text = make_storable(text)
    language = language_of(text)
    analyzer = word_analyzer(language)
    whole = text.strip()
    opening = _BLANK_LINE.split(whole, 1)[0][:LONGEST_OPENING]
    words = analyzer.analyze(spaced(text, singles=True))
    first = words if opening == whole else analyzer.analyze(spaced(opening, singles=True))
    idle = {word for word in {*words, *first} if common(word)}
    marks = (mark(language),) if language in STEMMED else ()
    return CutText(
        tuple(word for word in words if word not in idle),
        tuple(word for word in first if word not in idle),
        (*(word for word in words if word in idle), *marks),
        tuple(_both(identifiers(text))),
    )


@dataclass(frozen=True, slots=True)
class Identifier:
    """A token to be matched whole, in lower case; squeezed is it without its connectors ("qx7741b")."""

    exact: str
    squeezed: str


def identifiers(text: str) -> tuple[Identifier, ...]:
    """Return the identifiers of a text in order of first appearance, each once.

    A token counts when it holds a connector ("dome-motor", "a.b", "C++") or mixes digits and letters ("M31").
    Of a path or an address the parts that are identifiers count too, so that a part number is found inside
    "store/QX-7741-B".
    """
    by_exact: dict[str, Identifier] = {}
    text = without_spaceless(text)
    # No token spans white space, and most pieces are plain words: those need no closer look.
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
    """Return a query without the number of a section before its heading.

    "4.7 Security" asks for no thing named 4.7, and other sections refer to it by that number. A version such as 0.2.0,
    and a number elsewhere in the text, stays.
    """
    return _SECTION_NUMBER.sub(" ", query.strip())


def _is_identifier(token: str) -> bool:
    if _CONNECTOR.search(token):
        return any(map(str.isalnum, token))
    return any(map(str.isdigit, token)) and any(map(str.isalpha, token))


def has_digit(identifier: Identifier) -> bool:
    """Return whether it names one thing, as numbers do; "long-term" is only a word with a hyphen."""
    return any(c.isdigit() for c in identifier.exact)


def _both(exact_names: Iterable[Identifier]) -> Iterable[str]:
    for identifier in exact_names:
        yield identifier.exact
        if identifier.squeezed != identifier.exact:
            yield identifier.squeezed


def idf(documents: int, document_frequency: int) -> float:
    """BM25's inverse document frequency, ln(1 + (N - n + ½) / (n + ½)); n of 0 counts as 1, an unknown word
    is a rare one.
    """
    n = min(max(document_frequency, 1), max(documents, 1))
    return math.log(1.0 + (max(documents, 1) - n + 0.5) / (n + 0.5))


@dataclass(frozen=True, slots=True)
class Term:
    """A query word as the index knows it; document_frequency 0 when it does not. idf is its weight."""

    text: str
    document_frequency: int
    idf: float


@dataclass(frozen=True, slots=True)
class IdentifierTerm:
    """An identifier of the query. rarity in [0, 1]: 1 when at most one document has it, 0 when too many have it, as
    those of a project have its name, for it to name any of them.
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
    """A query cut into terms; mass: the sum of their idf, what a perfect match of mean length scores."""

    terms: tuple[Term, ...]
    identifiers: tuple[IdentifierTerm, ...]
    mass: float

    @property
    def unknown(self) -> tuple[Term, ...]:
        """Words that no document holds."""
        return tuple(term for term in self.terms if term.document_frequency == 0)

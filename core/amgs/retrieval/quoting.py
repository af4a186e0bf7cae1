"""The words of a question that a text holds, as they are written there, and the sentence that holds most of them."""

from __future__ import annotations

import re
from collections.abc import Collection

from amgs.index.lexical import LexicalIndex
from amgs.index.terms import LexicalQuery, identifiers
from amgs.text.scripts import spaceless

_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"[^\s].*?(?:[.!?](?=\s|$)|(?=\n)|$)", re.DOTALL)
_LONGEST = 100
_MOST_WORDS = 6
_MOST_CHARACTERS = 20_000
"""Of a content that are read: a quotation from the beginning of a huge block will do."""


def held(query: LexicalQuery, content: str, index: LexicalIndex) -> tuple[str, ...]:
    """The words of the content that match the query, in lower case, in the order they stand there."""
    stems = {term.text for term in query.terms}
    named = {form for t in query.identifiers for form in (t.identifier.exact, t.identifier.squeezed)}
    found = [
        one.exact for one in identifiers(content[:_MOST_CHARACTERS]) if {one.exact, one.squeezed} & named
    ]
    return tuple(dict.fromkeys((*found, *with_stems(stems, content, index))))


def with_stems(stems: Collection[str], content: str, index: LexicalIndex) -> tuple[str, ...]:
    """The words of the content that have one of these stems, in lower case, each once; of a script without spaces the
    stems themselves.
    """
    words = dict.fromkeys(found.group().lower() for found in _WORD.finditer(content[:_MOST_CHARACTERS]))
    found: dict[str, None] = {}
    for word in words:
        shared = [stem for stem in index.stems(word) if stem in stems]
        if shared:
            found |= dict.fromkeys(shared if spaceless(word) else (word,))
    return tuple(found)


def told(words: Collection[str], content: str) -> str:
    """`“dome”, “stalled”: “The dome stalled twice.”`: the words, and where they stand; empty for none."""
    if not words:
        return ""
    named = ", ".join(f"“{word}”" for word in list(words)[:_MOST_WORDS])
    return f"{named}: “{_quotation(words, content[:_MOST_CHARACTERS])}”"


def _quotation(words: Collection[str], content: str) -> str:
    """The sentence that holds most of the words, cut to what surrounds the first of them."""
    sentences = [" ".join(found.group().split()) for found in _SENTENCE.finditer(content)]
    best = max(sentences or [content], key=lambda text: sum(word in text.lower() for word in words))
    if len(best) <= _LONGEST:
        return best
    at = min((place for word in words if (place := best.lower().find(word)) >= 0), default=0)
    start = max(0, min(at - _LONGEST // 3, len(best) - _LONGEST))
    piece = best[start : start + _LONGEST]
    if start:
        piece = "…" + piece.partition(" ")[2]
    return piece if start + _LONGEST >= len(best) else piece.rpartition(" ")[0] + "…"

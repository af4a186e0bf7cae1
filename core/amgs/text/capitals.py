"""The sentences of a text that could name somebody or something: those with a capital that no rule of writing asks for.

A network that finds names reads every word, and most sentences name nothing.
"""

from __future__ import annotations

import re

from amgs.text.stop_words import COMMON_WORDS

_END = re.compile(r"(?<=[.!?;])[\"'”’)]*\s+|\n+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_COMMON = frozenset(COMMON_WORDS) | {"i'm", "i’m", "i'll", "i’ll", "i've", "i’ve", "i'd", "i’d"}


def naming_sentences(text: str) -> str:
    """The text without the sentences in which no word could be a name: each is lower case, or a common word."""
    kept, start = [], 0
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        sentence, start = text[start:end], end
        if any(_may_name(match[0]) for match in _WORD.finditer(sentence)):
            kept.append(sentence)
    return "".join(kept)


def _may_name(word: str) -> bool:
    """Scripts without capitals may always."""
    return not (word.islower() or word.isdigit() or word.lower() in _COMMON)

"""Which words are English, so that none of them is taken for a typo of another."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from amgs.errors import ModelError
from amgs.text.minilm import resolve

_FILE = "vocab.txt"


@lru_cache(maxsize=1)
def english_words() -> frozenset[str]:
    """Some 20,000 common words and names in lower case: the vocabulary of the packaged encoder; none without it.

    It was counted from books and articles, so what is often misspelt is there as it is spelt right.
    """
    try:
        lines = (Path(resolve()) / _FILE).read_text(encoding="utf-8").split("\n")
    except (OSError, ModelError):
        return frozenset()
    return frozenset(line for line in lines if len(line) > 1 and line.isalpha())

"""The words that tell a pack from the rest of the memory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from amgs.index.lexical import LexicalIndex
from amgs.index.terms import idf
from amgs.text.stop_words import COMMON_WORDS

MOST = 8
"""Keywords of a pack."""
_COMMON = frozenset(COMMON_WORDS)
_WORD = re.compile(r"[^\W\d_][\w'’-]{2,}")


def keywords(texts: Sequence[str], index: LexicalIndex) -> tuple[str, ...]:
    """The words that stand in most of the texts and in few others, the best first: texts with it times its idf.

    A word is written as it is most often; equal ones in alphabetical order.
    """
    written: dict[str, Counter[str]] = {}
    texts_with: Counter[str] = Counter()
    for text in texts:
        here = set[str]()
        for word in _WORD.findall(text):
            stems = index.stems(word)
            if len(stems) != 1 or word.lower() in _COMMON:
                continue
            written.setdefault(stems[0], Counter())[word] += 1
            here.add(stems[0])
        texts_with.update(here)
    worth = {stem: n * idf(index.documents, index.frequency(stem)) for stem, n in texts_with.items()}
    best = sorted(worth, key=lambda stem: (-worth[stem], stem))[:MOST]
    return tuple(min(written[stem], key=lambda word: (-written[stem][word], word)) for stem in best)

"""BM25 over a few texts, to show what a search by words alone would find."""

from __future__ import annotations

from collections.abc import Sequence

from amgs.index.bm25 import TextBm25
from amgs.index.terms import word_analyzer
from amgs.text.stop_words import COMMON_WORDS


class WordSearch:
    """Search over stemmed words without stop words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._analyzer = word_analyzer()
        self._common = {stem for word in COMMON_WORDS for stem in self._analyzer.analyze(word)}
        self._bm25 = TextBm25([self._words(text) for text in texts]) if texts else None

    def ranked(self, query: str) -> list[int]:
        """Return the indices of the texts that contain a word of the query, best first."""
        if self._bm25 is None:
            return []
        scores = self._bm25.scores(self._words(query))
        return [int(place) for place in (-scores).argsort(kind="stable") if scores[place] > 0]

    def _words(self, text: str) -> list[str]:
        return [word for word in self._analyzer.analyze(text) if word not in self._common]

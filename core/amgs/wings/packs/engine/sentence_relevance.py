"""What each sentence of a pack is worth for a query, by what the search knows: no language model is involved.

A question may need two texts of which it names but one. So words count twice, those of the question and those of the
sentence that answers most of it; and so does a member whose title the best sentences, or the question, name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from amgs.index.bm25 import TextBm25
from amgs.index.lexical import LexicalIndex
from amgs.retrieval.similarity import contributions
from amgs.retrieval.sources import Sources
from amgs.retrieval.waterfall import RetrievalRequest, gather
from amgs.text.stop_words import COMMON_WORDS
from amgs.types import STATUSES, BlockFilter
from amgs.types.block import heading_path
from amgs.wings.packs.engine.pruning import PackSentence, Worths

Floats = NDArray[np.float64]

WEIGHTS: Mapping[str, float] = {"words": 2.0, "words_beyond": 1.0, "named": 1.0, "asked_for": 1.0, "evidence": 0.2}
"""words: BM25 for the question and the sentence with most of its words together, by the best. words_beyond: the same
for the question and the best sentence by words and evidence. named: whether the three best sentences of others name the
title of its member. asked_for: whether the question does. evidence: the search's linear score of its member, under that
of the best. Chosen by hand; docs/results/packs.md has what they reach and what fitted ones do.
"""
ROUTED_WEIGHTS: Mapping[str, float] = {**WEIGHTS, "evidence": 1.0}
"""Among the members of many packs: what the search knows of a member tells more there."""
_BEST = (1.0, 0.75, 0.5)
"""What naming a title counts in the best sentence, the second and the third."""
_EVIDENCE = 1 / 8
_SHORTEST_NAME = 4
_WORD = re.compile(r"[\w'’-]+")
_ASIDE = re.compile(r"\s*\([^)]*\)")


class SearchRelevance:
    """A `SentenceRelevance` over the indexes of a memory. numbers: of the members in the store, by their ids. weights:
    of the columns.
    """

    def __init__(self, sources: Sources, numbers: Mapping[str, int], weights: Mapping[str, float] = WEIGHTS) -> None:
        self._weights = weights
        self._sources = sources
        self._numbers = numbers

    def worths(self, query: str, sentences: Sequence[PackSentence]) -> Worths:
        """All 0 for a query without words."""
        columns = self.features(query, sentences)
        return sum((self._weights[name] * column for name, column in columns.items()), np.zeros(len(sentences)))

    def features(self, query: str, sentences: Sequence[PackSentence]) -> dict[str, Floats]:
        """The columns that WEIGHTS weighs, (n,) each."""
        size = len(sentences)
        if not size or not any(c.isalnum() for c in query):
            return {name: np.zeros(size) for name in WEIGHTS}
        titles = [sentence_title(one) for one in sentences]
        texts = [f"{title} {one.text}" for title, one in zip(titles, sentences, strict=True)]
        words = SentenceWords(texts, self._sources.keyword)
        alone = words.scores(query)
        evidence = self._evidence(query, sentences)
        best = np.argsort(-(_by_best(alone) + _EVIDENCE * evidence), kind="stable")[: len(_BEST)].tolist()
        return {
            "words": _by_best(words.scores(f"{query} {texts[int(np.argmax(alone))]}")),
            "words_beyond": _by_best(words.scores(f"{query} {texts[best[0]]}")),
            "named": _named(sentences, titles, best),
            "asked_for": np.array([float(_names(query, title)) for title in titles]),
            "evidence": evidence,
        }

    def _evidence(self, query: str, sentences: Sequence[PackSentence]) -> Floats:
        """(n,) the linear score of the member, less that of the best; of one that is not indexed, the worst."""
        ids = [one.block.id for one in sentences]
        within = tuple(sorted({self._numbers[one] for one in ids if one in self._numbers}))
        request = RetrievalRequest(query, BlockFilter(statuses=STATUSES), within=within, present=within, most=0)
        found = gather(request, self._sources).evidence if within else None
        if found is None:
            return np.zeros(len(sentences))
        linear = contributions(found).sum(axis=1)
        by_number = dict(zip(found.numbers.tolist(), (linear - linear.max()).tolist(), strict=True))
        worst = min(by_number.values(), default=0.0)
        return np.array([by_number.get(self._numbers.get(one, -1), worst) for one in ids])


class SentenceWords:
    """BM25 over some texts, with words as a keyword index reads them."""

    def __init__(self, texts: Sequence[str], index: LexicalIndex) -> None:
        self._index = index
        self._stems: dict[str, tuple[str, ...]] = {}
        self._common = {stem for word in COMMON_WORDS for stem in index.stems(word)}
        self._bm25 = TextBm25([self._words(text) for text in texts])

    def scores(self, query: str) -> Floats:
        """(n,) one score a text."""
        return self._bm25.scores(self._words(query))

    def _words(self, text: str) -> list[str]:
        found = []
        for word in _WORD.findall(text.lower()):
            if word not in self._stems:
                self._stems[word] = tuple(self._index.stems(word))
            found += [stem for stem in self._stems[word] if stem not in self._common]
        return found


def _by_best(scores: Floats) -> Floats:
    """Scores by the best one; all 0 where there is none."""
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores


def sentence_title(sentence: PackSentence) -> str:
    """The title of its member."""
    path = heading_path(sentence.block.meta)
    return path[-1] if path else sentence.block.title


def _names(text: str, title: str) -> bool:
    """Whether a text names a title, what stands in brackets aside."""
    bare = _ASIDE.sub("", title).casefold()
    return len(bare) >= _SHORTEST_NAME and bare in text.casefold()


def _named(sentences: Sequence[PackSentence], titles: Sequence[str], best: Sequence[int]) -> Floats:
    made = np.zeros(len(sentences))
    for share, place in zip(_BEST, best, strict=False):
        said, own = sentences[place].text, sentences[place].block.id
        for row, title in enumerate(titles):
            if sentences[row].block.id != own and _names(said, title):
                made[row] = max(made[row], share)
    return made

"""Two indexes of words as one: a large one that was built, and beside it what came since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from amgs.index.ascending import contains
from amgs.index.lexical import Hit, LexicalIndex, StemPostings, WeightedIdentifiers, WeightedStems
from amgs.index.terms import Identifier, idf


class JoinedWords(LexicalIndex):
    """No document is in both; gone: numbers (ascending) of the built one that are not to be found any more.

    A word weighs by how rare it is in both together, in an opening as in a whole text. How long a text is, BM25 holds
    against the mean of the index that the text is in. Counts of words still count what is gone.
    """

    def __init__(self, built: LexicalIndex, since: LexicalIndex, gone: NDArray[np.int64]) -> None:
        super().__init__()
        self._parts = (built, since)
        self._gone = gone

    @property
    def documents(self) -> int:
        return sum(part.documents for part in self._parts) - int(self._gone.size)

    def frequency(self, stem: str) -> int:
        return sum(part.frequency(stem) for part in self._parts)

    def identifier_frequency(self, identifier: Identifier) -> int:
        return sum(part.identifier_frequency(identifier) for part in self._parts)

    def vocabulary(self) -> Mapping[str, int]:
        return self._vocabulary

    @cached_property
    def _vocabulary(self) -> Mapping[str, int]:
        built, since = (part.vocabulary() for part in self._parts)
        return {**built, **{stem: built.get(stem, 0) + count for stem, count in since.items()}}

    def postings(self, term: str, limit: int) -> StemPostings:
        return self._merged(term, [part.postings(term, limit) for part in self._parts], limit)

    def openings(self, term: str, limit: int) -> StemPostings:
        return self._merged(term, [part.openings(term, limit) for part in self._parts], limit)

    def _merged(self, term: str, found: Sequence[StemPostings], limit: int) -> StemPostings:
        frequency = self.frequency(term)
        numbers = np.concatenate([each.numbers for each in found])
        scores = np.concatenate(
            [
                each.scores * self._weight(part, frequency, part.frequency(term))
                for part, each in zip(self._parts, found, strict=True)
            ]
        ).round(5)
        stays = ~contains(self._gone, numbers)
        numbers, scores = numbers[stays], scores[stays]
        order = np.lexsort((numbers, -scores))[:limit]
        return StemPostings(numbers[order], scores[order])

    def ranked(
        self,
        stems: WeightedStems,
        limit: int,
        allowed: NDArray[np.int64] | None = None,
        identifiers: WeightedIdentifiers = (),
    ) -> list[Hit]:
        found: list[Hit] = []
        for part in self._parts:
            words = [
                (stem, weight * self._weight(part, self.frequency(stem), held))
                for stem, weight in stems
                if (held := part.frequency(stem))
            ]
            names = [
                (each, weight * self._weight(part, self.identifier_frequency(each), held))
                for each, weight in identifiers
                if (held := part.identifier_frequency(each))
            ]
            found += part.ranked(words, limit + self._gone.size, allowed, names)
        numbers = np.array([hit.number for hit in found], dtype=np.int64)
        gone = contains(self._gone, numbers).tolist()
        kept = [
            Hit(hit.number, round(hit.score, 5)) for hit, left in zip(found, gone, strict=True) if not left
        ]
        return sorted(kept, key=lambda hit: (-hit.score, hit.number))[:limit]

    def _weight(self, part: LexicalIndex, everywhere: int, here: int) -> float:
        """By what a score of a part is multiplied so that a word weighs as it does in both together."""
        return idf(self.documents, everywhere) / idf(part.documents, here) if here else 1.0

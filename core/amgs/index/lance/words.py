"""The words of a built dataset: BM25 by Lance's inverted index over stems and identifiers that were cut here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from amgs.index.ascending import contains
from amgs.index.lance.dataset import SearchDataset, told
from amgs.index.lexical import Hit, LexicalIndex, StemPostings, WeightedIdentifiers, WeightedStems
from amgs.index.terms import OPENING_SHARE, Identifier, common, idf

if TYPE_CHECKING:
    from lance.query import FullTextQuery

STEMS, OPENING, COMMON, IDENTIFIERS = "stems", "opening", "common", "identifiers"
"""Columns: the words of a text and of its opening as they are looked up, the commonest apart, and its identifiers,
joined by spaces.
"""

_FEW = 1000
"""A filter of so few documents is made part of the query where they are a small share."""
_RARE = 20
_POSTINGS_KEPT = 2000
"""Words whose documents were looked up last and are kept, 32 kB each at most."""
_COMMONEST = 0.7
"""Documents of an identifier are counted up to this power of all: a commoner one names nothing."""


class LanceWords(LexicalIndex):
    """The words of one version."""

    def __init__(self, dataset: SearchDataset) -> None:
        super().__init__()
        self._dataset = dataset
        self.numbers: NDArray[np.int64] = dataset.numbers[dataset.searchable]
        self._counted: dict[str, int] = {}
        # A version does not change, and questions share many of their words.
        self._read = lru_cache(maxsize=_POSTINGS_KEPT)(self._postings)

    @property
    def documents(self) -> int:
        return int(self.numbers.size)

    def frequency(self, stem: str) -> int:
        return self._dataset.terms.get(stem, 0)

    def identifier_frequency(self, identifier: Identifier) -> int:
        # Each document that holds it in any form holds it in this one.
        return self._count(identifier.squeezed)

    def vocabulary(self) -> Mapping[str, int]:
        return self._dataset.terms

    def postings(self, term: str, limit: int) -> StemPostings:
        limit = min(limit, self.documents)
        if limit <= 0 or not self.frequency(term):
            return StemPostings(np.zeros(0, np.int64), np.zeros(0, np.float64))
        return self._read(_column(term), term, limit)

    def openings(self, term: str, limit: int) -> StemPostings:
        limit = min(limit, self.documents)
        if limit <= 0 or not self.frequency(term):
            return StemPostings(np.zeros(0, np.int64), np.zeros(0, np.float64))
        return self._read(OPENING, term, limit)

    def ranked(
        self,
        stems: WeightedStems,
        limit: int,
        allowed: NDArray[np.int64] | None = None,
        identifiers: WeightedIdentifiers = (),
    ) -> list[Hit]:
        stems = [(stem, weight) for stem, weight in stems if self.frequency(stem)]
        if not (stems or identifiers) or limit <= 0 or (allowed is not None and not allowed.size):
            return []
        query = self._query(stems, identifiers)
        few = allowed is not None and allowed.size <= _FEW and allowed.size * _RARE < self.documents
        only = allowed if few else None
        look = min(2 * limit, self.documents)
        while True:
            numbers, scores = self._found(query, look, only)
            passes = np.ones(numbers.size, np.bool_) if allowed is None else contains(allowed, numbers)
            if int(passes.sum()) >= limit or numbers.size < look or look >= self.documents:
                break
            look = min(4 * look, self.documents)
        numbers, scores = numbers[passes], scores[passes]
        order = np.lexsort((numbers, -scores))[:limit]
        return [Hit(n, s) for n, s in zip(numbers[order].tolist(), scores[order].tolist(), strict=True)]

    def _postings(self, column: str, term: str, limit: int) -> StemPostings:
        return StemPostings(*self._found(_match(term, column), limit))

    def _count(self, form: str) -> int:
        """How many documents hold a form of an identifier."""
        if form not in self._counted:
            most = max(2000, int(self.documents**_COMMONEST))
            self._counted[form] = len(self._found(_match(form, IDENTIFIERS), most)[0])
        return self._counted[form]

    def _query(self, stems: WeightedStems, identifiers: WeightedIdentifiers) -> FullTextQuery:
        """Any of them, each by its weight."""
        from lance.query import BooleanQuery, Occur

        if len({(_column(stem), weight) for stem, weight in stems}) == 1:
            stems = [(" ".join(stem for stem, _ in stems), stems[0][1])]
        parts = [
            _match(text, column, share * weight) for text, weight in stems for column, share in _columns(text)
        ]
        for each, weight in identifiers:
            parts.append(_match(each.squeezed, IDENTIFIERS, weight))
            if (exact := self._count(each.exact)) < self._count(each.squeezed):
                # A document counts for the rarer of the forms it holds; Lance adds, so this adds what is missing.
                rarer = idf(self.documents, exact)
                missing = 1.0 - idf(self.documents, self._count(each.squeezed)) / rarer
                parts.append(_match(each.exact, IDENTIFIERS, weight * missing))
        return BooleanQuery([(Occur.SHOULD, part) for part in parts])

    def _found(
        self, query: FullTextQuery, limit: int, only: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Numbers and scores of the best documents; only: of these alone."""
        asked: dict[str, Any] = {"columns": ["_rowid", "_score"], "full_text_query": query, "limit": limit}
        if only is not None:
            listed = ", ".join(map(str, only.tolist()))
            asked |= {"filter": f"number IN ({listed})", "prefilter": True}
        with told(self._dataset.folder):
            table = self._dataset.blocks.scanner(**asked).to_table()
        scores = table["_score"].to_numpy().astype(np.float64).round(5)
        return self._dataset.numbers_at(table["_rowid"].to_numpy()), scores


def _column(stem: str) -> str:
    return COMMON if common(stem) else STEMS


def _columns(stems: str) -> tuple[tuple[str, float], ...]:
    """The columns in which stems of one column are looked up, each with its share."""
    column = _column(stems.split(" ", 1)[0])
    return ((column, 1.0),) if column == COMMON else ((STEMS, 1.0), (OPENING, OPENING_SHARE))


def _match(text: str, column: str, weight: float = 1.0) -> FullTextQuery:
    from lance.query import MatchQuery

    return MatchQuery(text, column, boost=weight)

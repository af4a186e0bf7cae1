"""Building the search tier: all rows anew, or those that changed since the version before; whole or not at all.

What is written becomes visible when the tag moves, in one step at the end. A build that finds what another left half
done goes back to the version that was built.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from amgs.errors import StoreError
from amgs.index.ascending import contains, joined
from amgs.index.lance.dataset import (
    BLOCKS,
    MOMENTS,
    NOTE,
    TAG,
    TERMS,
    BuiltFrom,
    SearchDataset,
    built_version,
    lance,
    told,
)
from amgs.index.lance.vectors import VECTOR, matrix_of
from amgs.index.lance.words import COMMON, IDENTIFIERS, OPENING, STEMS
from amgs.index.terms import cut
from amgs.index.vector import unit
from amgs.types import Vector

if TYPE_CHECKING:
    from lance import LanceDataset

BUILDER = "amgs.builder"
"""The entry of the configuration that says whose build is going on."""

KEPT_FOR = timedelta(hours=1)
"""So long an older version stays, for those who still read it."""

_AT_ONCE = 5000
_PARTS = 32
"""With more fragments than this they are written together."""
_ROWS_A_PARTITION = 1000


@dataclass(frozen=True, eq=False)
class BlockRows:
    """Blocks as they are to be found: numbers (m,); texts: None for one that words do not find; vectors (m, d), rows of
    those where `embedded` (m,) holds.
    """

    numbers: NDArray[np.int64]
    texts: list[str | None]
    vectors: Vector
    embedded: NDArray[np.bool_]


class DatasetBuild:
    """One build of a store's datasets. dimension: of its vectors. approximate_from: with so many vectors on they get an
    index.
    """

    def __init__(self, folder: str, dimension: int, approximate_from: int) -> None:
        self._folder, self._dimension, self._approximate_from = folder, dimension, approximate_from
        self._name = uuid.uuid4().hex
        self._terms: Counter[str] = Counter()
        self._total = np.zeros(dimension)
        self._second = np.zeros((dimension, dimension))

    def anew(self, rows: Iterable[BlockRows]) -> LanceDataset:
        """Write all rows, and index them."""
        made: LanceDataset = lance().write_dataset(
            pa.RecordBatchReader.from_batches(self._schema(), map(self._batch, rows)),
            f"{self._folder}/{BLOCKS}.lance",
            mode="overwrite",
        )
        made.update_config({BUILDER: self._name})
        for column in (STEMS, OPENING, COMMON, IDENTIFIERS):
            made.create_scalar_index(
                column,
                "INVERTED",
                base_tokenizer="whitespace",
                lower_case=False,
                stem=False,
                remove_stop_words=False,
                ascii_folding=False,
                max_token_length=None,
                with_position=False,
            )
        made.create_scalar_index("number", "BTREE")
        return made

    def from_before(
        self,
        before: SearchDataset,
        rows: Iterable[BlockRows],
        put: NDArray[np.int64],
        gone: NDArray[np.int64],
        *,
        compact: bool,
    ) -> LanceDataset:
        """Put rows in place of those of the same number, or beside them, and take out what is gone. put: the numbers of
        the rows, ascending.
        """
        made: LanceDataset = lance().dataset(f"{self._folder}/{BLOCKS}.lance")
        if made.version != before.version:
            made = lance().dataset(f"{self._folder}/{BLOCKS}.lance", version=before.version)
            made.restore()  # type: ignore[no-untyped-call]
        made.update_config({BUILDER: self._name})
        self._terms.update(before.terms)
        if before.built.space is not None:
            total, second = before.moments
            self._total, self._second = total.copy(), second.copy()
        for some in chunks(joined(np.intersect1d(put, before.numbers), gone)):
            self._leave(before, some)
            made.delete(f"number IN ({', '.join(map(str, some.tolist()))})")
        if put.size:
            made.insert(pa.RecordBatchReader.from_batches(self._schema(), map(self._batch, rows)))
        if compact or len(made.get_fragments()) > _PARTS:
            made.optimize.compact_files()
        made.optimize.optimize_indices()
        return made

    def finish(self, made: LanceDataset, built_from: Mapping[str, Any]) -> SearchDataset:
        """Index the vectors where they are many, and move the tag: from here on this is the version that is read.

        built_from: store, structure, space and instant of `BuiltFrom`. Raises StoreError where another build has begun
        meanwhile.
        """
        names = {one.name for one in made.describe_indices()}
        vectors = made.count_rows(filter="embedded")
        nearby = f"{VECTOR}_idx" in names
        if not nearby and vectors >= self._approximate_from:
            made.create_index(
                VECTOR, "IVF_SQ", metric="cosine", num_partitions=max(1, vectors // _ROWS_A_PARTITION)
            )
            nearby = True
        terms = sorted((stem, count) for stem, count in self._terms.items() if count > 0)
        stems, counts = [stem for stem, _ in terms], [count for _, count in terms]
        built = BuiltFrom(
            **built_from,
            terms=self._put(TERMS, pa.table({"stem": pa.array(stems, pa.string()), "blocks": counts})),
            moments=self._put(MOMENTS, pa.table({"sums": [self._total.tolist(), *self._second.tolist()]})),
            nearby=nearby,
        )
        latest: LanceDataset = lance().dataset(f"{self._folder}/{BLOCKS}.lance")
        if latest.config().get(BUILDER) != self._name:
            raise StoreError(
                f"Another build of the search index at {self._folder} has begun meanwhile.",
                title="Two builds",
                way_out="Let it end; it takes up what this one would have.",
            )
        latest.update_config({NOTE: built.note()})  # refused where somebody else has just written another
        if built_version(self._folder) is None:
            latest.tags.create(TAG, latest.version)
        else:
            latest.tags.update(TAG, latest.version)
        return SearchDataset(self._folder, latest, built)

    # --- inside -----------------------------------------------------------------------------------------

    def _schema(self) -> pa.Schema:
        return pa.schema(
            [
                ("number", pa.int64()),
                ("searchable", pa.bool_()),
                ("embedded", pa.bool_()),
                (STEMS, pa.string()),
                (OPENING, pa.string()),
                (COMMON, pa.string()),
                (IDENTIFIERS, pa.string()),
                (VECTOR, pa.list_(pa.float32(), self._dimension)),
            ]
        )

    def _batch(self, rows: BlockRows) -> pa.RecordBatch:
        """The rows as Lance keeps them, counted."""
        stems: list[str | None] = []
        openings: list[str | None] = []
        common: list[str | None] = []
        names: list[str | None] = []
        for text in rows.texts:
            if text is None:
                stems.append(None)
                openings.append(None)
                common.append(None)
                names.append(None)
                continue
            words = cut(text)
            self._terms.update({*words.stems, *words.common})
            stems.append(" ".join(words.stems))
            openings.append(" ".join(words.opening))
            common.append(" ".join(words.common))
            names.append(" ".join(words.identifiers))
        vectors = unit(rows.vectors)
        self._add(vectors[rows.embedded], 1.0)
        flat = pa.array(vectors.ravel(), pa.float32())
        column = pa.FixedSizeListArray.from_arrays(flat, self._dimension, mask=pa.array(~rows.embedded))
        columns = [
            pa.array(rows.numbers),
            pa.array([text is not None for text in rows.texts], pa.bool_()),
            pa.array(rows.embedded),
            pa.array(stems, pa.string()),
            pa.array(openings, pa.string()),
            pa.array(common, pa.string()),
            pa.array(names, pa.string()),
            column,
        ]
        return pa.record_batch(columns, schema=self._schema())

    def _leave(self, before: SearchDataset, numbers: NDArray[np.int64]) -> None:
        """Take what rows of the version before count for out of the counts."""
        rows = np.flatnonzero(contains(numbers, before.numbers))
        for start in range(0, rows.size, _AT_ONCE):
            addresses = before.addresses[rows[start : start + _AT_ONCE]].tolist()
            table = before.blocks._take_rows(addresses, columns=["embedded", STEMS, COMMON, VECTOR])
            for stems, common in zip(table[STEMS].to_pylist(), table[COMMON].to_pylist(), strict=True):
                self._terms.subtract({*(stems or "").split(), *(common or "").split()})
            held = table.filter(table["embedded"])[VECTOR].combine_chunks()
            self._add(matrix_of(held, self._dimension), -1.0)

    def _add(self, vectors: Vector, sign: float) -> None:
        self._total += sign * vectors.sum(axis=0, dtype=np.float64)
        self._second += sign * (vectors.T @ vectors)

    def _put(self, name: str, table: pa.Table) -> int:
        where = f"{self._folder}/{name}.lance"
        written = lance().write_dataset(table, where, mode="overwrite")
        return int(written.version)


def clean_up(folder: str, *, at_once: bool = False) -> None:
    """Remove the files of versions that nobody reads any more; at_once: of all but the built one."""
    age = timedelta(0) if at_once else KEPT_FOR
    with told(folder):
        for name in (BLOCKS, TERMS, MOMENTS):
            where = f"{folder}/{name}.lance"
            lance().dataset(where).cleanup_old_versions(
                older_than=age, delete_unverified=at_once, error_if_tagged_old_versions=False
            )


def chunks(numbers: NDArray[np.int64], size: int = _AT_ONCE) -> Iterator[NDArray[np.int64]]:
    """Numbers, so many at a time."""
    return (numbers[start : start + size] for start in range(0, numbers.size, size))

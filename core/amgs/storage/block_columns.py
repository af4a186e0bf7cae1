"""Columns of `memory_blocks` for many blocks at once, as arrays, which indexes, scoring and verification read;
and the filter of blocks as SQL: layer 1 of retrieval (AMGS §6).
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from amgs.clock import as_utc
from amgs.storage.connection import StoragePart, to_stored_time
from amgs.storage.sources import STANDING
from amgs.types import STATUSES, BlockFilter, Vector

_HELD = (
    "(status IN (SELECT unnest(?::VARCHAR[])) OR status = 'archived' AND valid_to IS NOT NULL) AND "
    "(coalesce(valid_from, created_at) <= ? AND (valid_to IS NULL OR valid_to > ?) OR id IN "
    f"(SELECT block_id FROM {STANDING} WHERE since <= ? AND until > ?) OR id IN (SELECT id FROM (SELECT id, "
    "unnest(from_json(meta->'held_before', '[\"VARCHAR\"]')) AS period FROM memory_blocks WHERE "
    "contains(meta::VARCHAR, '\"held_before\"')) AS p WHERE split_part(period, '/', 1) <= ? AND "
    "split_part(period, '/', 2) > ?))"
)
"""SQL: what held at an instant, by its own validity, because a source contained it then, or in an earlier period of
validity.
"""

FADED = (
    "exp(greatest(-700, -decay_lambda * greatest(0, epoch_us(?::TIMESTAMP) - epoch_us(last_reinforced_at)) / 3.6e9))"
)
"""SQL: decay factor of a row at an instant. The exponent is limited, since databases reject very low ones."""


_SEVERAL = "contains(meta::VARCHAR, '\"categories\"')"
"""SQL: the block has several categories."""


def texts_of(column: str) -> str:
    """Return SQL for the list of texts in a JSON column."""
    return f"from_json({column}, '[\"VARCHAR\"]')"


def where(wanted: BlockFilter) -> tuple[str, list[Any]]:
    """Return a condition on `memory_blocks` and its parameters.

    Time ranges include their start and exclude their end. An empty list of statuses passes no block.
    """
    conditions = ["status IN (SELECT unnest(?::VARCHAR[]))"]
    parameters: list[Any] = [list(wanted.statuses)]
    if wanted.as_of is not None:
        at = to_stored_time(wanted.as_of)
        conditions = [_HELD]
        timestamp = as_utc(wanted.as_of).isoformat()
        parameters += [at, at, at, at, timestamp, timestamp]
    if wanted.current:
        conditions.append("valid_to IS NULL")
    if wanted.categories is not None:
        named = [json.dumps(category, ensure_ascii=False) for category in wanted.categories]
        clause = " OR ".join(["contains(CAST(meta->'categories' AS VARCHAR), ?)"] * len(named))
        # A look for the key is much cheaper than to parse every row.
        several = f" OR {_SEVERAL} AND ({clause})" if named else ""
        conditions.append(f"(category IN (SELECT unnest(?::VARCHAR[])){several})")
        parameters += [list(wanted.categories), *named]
    if wanted.without:
        conditions.append(f"(category <> ? OR {_SEVERAL})")
        parameters.append(wanted.without)
    for column, sign, instant in (
        ("created_at", ">=", wanted.since),
        ("created_at", "<", wanted.until),
        ("last_reinforced_at", ">=", wanted.reinforced_since),
    ):
        if instant is not None:
            conditions.append(f"{column} {sign} ?")
            parameters.append(to_stored_time(instant))
    if wanted.self_only:
        conditions.append("is_self_component")
    for key, value in wanted.meta.items():
        if key.isascii() and key.isidentifier():
            # Such a key stands in the text as it is: a look for it is much cheaper than to parse every row.
            conditions.append("contains(meta::VARCHAR, ?)")
            parameters.append(f'"{key}"')
        conditions.append("json_extract_string(meta, ?) = ?")
        # A JSON pointer: the only form of path in which any key can be written.
        parameters += ["/" + key.replace("~", "~0").replace("/", "~1"), value]
    return " AND ".join(conditions), parameters


@dataclass(frozen=True, eq=False)
class ScoringColumns:
    """The numbers from which a score is computed, a row per block in rising running number; arrays of length n.

    reinforced: microseconds since 1970. reinforcements: how often. superseded: it no longer holds.
    """

    numbers: NDArray[np.int64]
    reinforced: NDArray[np.int64]
    decay_lambda: NDArray[np.float64]
    confidence: NDArray[np.float64]
    reinforcements: NDArray[np.int64]
    superseded: NDArray[np.bool_]

    def of(self, wanted: Sequence[int] | NDArray[np.int64]) -> Self:
        """Return the rows with these running numbers, rising; unknown numbers are left out."""
        numbers = np.sort(np.asarray(wanted, dtype=np.int64))
        numbers = numbers[np.diff(numbers, prepend=-1) != 0]  # not np.unique, which loads masked arrays first
        at = np.searchsorted(self.numbers, numbers)
        inside = at < self.numbers.size
        rows = at[inside][self.numbers[at[inside]] == numbers[inside]]
        return type(self)(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})


@dataclass(frozen=True, eq=False)
class ScoringFacts(ScoringColumns):
    """Scoring columns with the blocks' ids."""

    ids: NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class BlockFacts(ScoringFacts):
    """Scoring columns with ids, time of creation (microseconds since 1970), and whether the block belongs
    to the self.
    """

    created: NDArray[np.int64]
    self_component: NDArray[np.bool_]


@dataclass(frozen=True)
class FadingColumns:
    """Columns from which forgetting is computed, for n blocks in rising number.

    names: categories by name; category: (n,) index into them. Times are microseconds since 1970. uses: number of
    reinforcements.
    """

    numbers: NDArray[np.int64]
    created: NDArray[np.int64]
    reinforced: NDArray[np.int64]
    uses: NDArray[np.int64]
    decay_lambda: NDArray[np.float64]
    category: NDArray[np.int64]
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ClockColumns:
    """Decay clocks of n blocks in rising number. reinforced: microseconds since 1970; reinforcements: how often."""

    numbers: NDArray[np.int64]
    reinforced: NDArray[np.int64]
    reinforcements: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class StatusColumns:
    """Columns that decide which index holds a block, for n blocks in rising number.

    status: (n,) index into STATUSES. embedded: (n,) it has an embedding.
    """

    numbers: NDArray[np.int64]
    status: NDArray[np.int8]
    embedded: NDArray[np.bool_]


@dataclass(frozen=True)
class EmbeddingColumns:
    """Embeddings of n blocks: numbers (n,), ids (n,), matrix (n, d) float32."""

    numbers: NDArray[np.int64]
    ids: NDArray[np.object_]
    matrix: Vector


@dataclass(frozen=True)
class FeatureColumns:
    """Features of n blocks that retrieval uses without reading the blocks, in rising number.

    episode: equal for pieces of the same dialogue or file, 0 without a source. name: speaker or author in lower case,
    "" if unknown. characters: length. questions, sentences: number of question marks, and of all sentence ends. asks:
    the last sentence is a question.
    """

    numbers: NDArray[np.int64]
    episode: NDArray[np.uint64]
    name: tuple[str, ...]
    characters: NDArray[np.int64]
    questions: NDArray[np.int64]
    sentences: NDArray[np.int64]
    asks: NDArray[np.bool_]


_FACTS = (
    "number, id, epoch_us(created_at) AS created, epoch_us(last_reinforced_at) AS reinforced, "
    "decay_lambda, confidence, reinforcements, valid_to IS NOT NULL AS superseded, "
    "is_self_component AS self_component"
)


class BlockColumnStorage(StoragePart, ABC):
    """Reads columns of many blocks as arrays, without an object per row."""

    def numbers(self, wanted: BlockFilter, *, limit: int | None = None, since: int = -1) -> NDArray[np.int64]:
        """Return the running numbers of blocks that pass the filter, rising: (n,).

        limit: only the latest reinforced. since: only rows changed after that revision.
        """
        condition, parameters = where(wanted)
        sql = f"SELECT number FROM memory_blocks WHERE {condition}"
        if since >= 0:
            sql += f" AND revision > {int(since)}"
        if limit is not None:
            sql += f" ORDER BY last_reinforced_at DESC, number DESC LIMIT {int(limit)}"
        return np.sort(
            np.asarray(self._columns(sql, parameters, whole=limit is None and since < 0)["number"], dtype=np.int64)
        )

    def brief(self, size: int) -> NDArray[np.int64]:
        """Return the running numbers of blocks shorter than `size` bytes in UTF-8, rising: (n,)."""
        columns = self._columns(
            "SELECT number FROM memory_blocks WHERE bit_length(content) < ? ORDER BY number", [8 * size]
        )
        return np.asarray(columns["number"], dtype=np.int64)

    def count(self) -> int:
        """Count all blocks."""
        return self._count("SELECT count(*) FROM memory_blocks")

    def statuses(self, *, since: int = -1, embedded: bool = True) -> StatusColumns:
        """Return the statuses of blocks changed after revision `since`.

        embedded: False if the caller knows which blocks have an embedding; to find out, a file must read the
        embeddings, which are most of its content.
        """
        expression = "embedding IS NOT NULL" if embedded else "false"
        c = self._columns(
            f"SELECT number, coalesce(array_position(?::VARCHAR[], status), 0) - 1 AS status, {expression} AS embedded "
            "FROM memory_blocks WHERE revision > ?",
            [list(STATUSES), since],
            whole=since < 0,
        )
        order = np.argsort(c["number"], kind="stable")
        return StatusColumns(
            numbers=np.asarray(c["number"], dtype=np.int64)[order],
            status=np.asarray(c["status"], dtype=np.int8)[order],
            embedded=np.asarray(c["embedded"], dtype=np.bool_)[order],
        )

    def facts(self, wanted: BlockFilter) -> BlockFacts:
        """Return the scoring columns of the blocks that pass the filter."""
        condition, parameters = where(wanted)
        c = self._columns(f"SELECT {_FACTS} FROM memory_blocks WHERE {condition} ORDER BY number", parameters)
        return BlockFacts(
            numbers=np.asarray(c["number"], dtype=np.int64),
            ids=np.asarray(c["id"], dtype=object),
            created=np.asarray(c["created"], dtype=np.int64),
            reinforced=np.asarray(c["reinforced"], dtype=np.int64),
            decay_lambda=np.asarray(c["decay_lambda"], dtype=np.float64),
            confidence=np.asarray(c["confidence"], dtype=np.float64),
            reinforcements=np.asarray(c["reinforcements"], dtype=np.int64),
            superseded=np.asarray(c["superseded"], dtype=np.bool_),
            self_component=np.asarray(c["self_component"], dtype=np.bool_),
        )

    def scoring(self, *, since: int = -1) -> ScoringColumns:
        """Return the scoring columns of blocks changed after revision `since`."""
        c = self._columns(
            "SELECT number, epoch_us(last_reinforced_at) AS reinforced, decay_lambda, confidence, reinforcements, "
            "valid_to IS NOT NULL AS superseded FROM memory_blocks WHERE revision > ?",
            [since],
            whole=since < 0,
        )
        order = np.argsort(c["number"], kind="stable")  # sorting one column of numbers here is faster than all there
        return ScoringColumns(
            numbers=np.asarray(c["number"], dtype=np.int64)[order],
            reinforced=np.asarray(c["reinforced"], dtype=np.int64)[order],
            decay_lambda=np.asarray(c["decay_lambda"], dtype=np.float64)[order],
            confidence=np.asarray(c["confidence"], dtype=np.float64)[order],
            reinforcements=np.asarray(c["reinforcements"], dtype=np.int64)[order],
            superseded=np.asarray(c["superseded"], dtype=np.bool_)[order],
        )

    def fading(self, wanted: BlockFilter) -> FadingColumns:
        """Return the clocks, decay constants and categories of the blocks that pass the filter."""
        condition, parameters = where(wanted)
        rows = self._rows(f"SELECT DISTINCT category FROM memory_blocks WHERE {condition} ORDER BY 1", parameters)
        names = [row[0] for row in rows]
        c = self._columns(
            "SELECT number, epoch_us(created_at) AS created, epoch_us(last_reinforced_at) AS reinforced, "
            "decay_lambda, reinforcements, array_position(?::VARCHAR[], category) - 1 AS category "
            f"FROM memory_blocks WHERE {condition} ORDER BY number",
            [names, *parameters],
        )
        return FadingColumns(
            numbers=np.asarray(c["number"], dtype=np.int64),
            created=np.asarray(c["created"], dtype=np.int64),
            reinforced=np.asarray(c["reinforced"], dtype=np.int64),
            uses=np.asarray(c["reinforcements"], dtype=np.int64),
            decay_lambda=np.asarray(c["decay_lambda"], dtype=np.float64),
            category=np.asarray(c["category"], dtype=np.int64),
            names=tuple(names),
        )

    def clocks(self, *, since: int = -1) -> ClockColumns:
        """Return the decay clocks of all blocks reinforced after revision `since`, and possibly of others.

        These scoring columns change without a structural change, so they are read more often than the rest.
        """
        changed = self._connection.clock_changes.after(since)
        if changed is not None and not changed:
            none = np.zeros(0, np.int64)
            return ClockColumns(none, none, none)
        only = "" if changed is None else "WHERE id IN (SELECT unnest(?::VARCHAR[]))"
        c = self._columns(
            f"SELECT number, epoch_us(last_reinforced_at) AS reinforced, reinforcements FROM memory_blocks {only}",
            [] if changed is None else [list(changed)],
        )
        order = np.argsort(c["number"], kind="stable")
        return ClockColumns(
            numbers=np.asarray(c["number"], dtype=np.int64)[order],
            reinforced=np.asarray(c["reinforced"], dtype=np.int64)[order],
            reinforcements=np.asarray(c["reinforcements"], dtype=np.int64)[order],
        )

    def ids_after(self, number: int) -> tuple[NDArray[np.int64], list[str]]:
        """Return running numbers (rising) and ids of blocks with a higher number."""
        c = self._columns(
            "SELECT number, id FROM memory_blocks WHERE number > ? ORDER BY number", [number], whole=not number
        )
        return np.asarray(c["number"], dtype=np.int64), list(c["id"])

    def embedding_batches(self, *, since: int = -1, batch: int = 50_000) -> Iterator[EmbeddingColumns]:
        """Yield embeddings as `embeddings` does, in batches of running numbers, so that a large store is never in
        memory twice.
        """
        changed = self._columns(
            "SELECT number FROM memory_blocks WHERE embedding IS NOT NULL AND revision > ?", [since], whole=since < 0
        )["number"]
        for start in np.unique(changed // batch).tolist():
            yield self.embeddings(since=since, above=start * batch - 1, upto=start * batch + batch - 1)

    def read_embedded(self) -> NDArray[np.int64]:
        """Return the running numbers of blocks that have an embedding, rising: (n,)."""
        columns = self._columns(
            "SELECT number FROM memory_blocks WHERE embedding IS NOT NULL ORDER BY number", whole=True
        )
        return np.asarray(columns["number"], dtype=np.int64)

    # --- for verification ---------------------------------------------------------------------------------

    def find_repeated(self) -> tuple[str, ...]:
        """Return running numbers that more than one block has; empty in a sound store."""
        rows = self._rows("SELECT number FROM memory_blocks GROUP BY number HAVING count(*) > 1 ORDER BY number")
        return tuple(row[0] for row in rows)

    def out_of_range(self, statuses: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Return ids of blocks with invalid metadata, with what is wrong; empty in a sound store."""
        rows = self._rows(
            "SELECT * FROM (SELECT id, "
            "CASE WHEN status NOT IN (SELECT unnest(?::VARCHAR[])) THEN 'its status is ' || status "
            "WHEN NOT confidence BETWEEN 0 AND 1 THEN 'its confidence is ' || confidence "
            "WHEN NOT (decay_lambda >= 0 AND isfinite(decay_lambda)) THEN 'its decay constant is ' || decay_lambda "
            "WHEN status = 'consolidated' AND embedding IS NULL THEN 'it is consolidated without an embedding' "
            "END AS what FROM memory_blocks) AS seen WHERE what IS NOT NULL ORDER BY id",
            [list(statuses)],
        )
        return tuple(rows)

    def newest_revision(self) -> int:
        """Return the highest revision of a block, 0 for an empty store."""
        return self._count("SELECT coalesce(max(revision), 0) FROM memory_blocks")

    @abstractmethod
    def embeddings(
        self, *, since: int = -1, wanted: BlockFilter | None = None, above: int = 0, upto: int | None = None
    ) -> EmbeddingColumns:
        """Return embeddings of blocks changed after revision `since`, in rising number; blocks without an embedding are
        left out.

        above, upto: only numbers in (above, upto].
        """

    @abstractmethod
    def features(self, *, since: int = -1) -> FeatureColumns:
        """Return the features of blocks changed after revision `since`, computed in SQL without reading the blocks."""

    @abstractmethod
    def contents(self, batch: int = 4000) -> Iterator[list[tuple[str, str, Vector | None]]]:
        """Yield (id, content, embedding) of all blocks in batches, for verification."""

    @abstractmethod
    def nearest(self, query: Vector, limit: int) -> list[tuple[int, float]]:
        """Return the `limit` best (running number, cosine) by comparing every embedding; the vector index is checked
        against this.

        query: (d,), not zero. Ties by number.
        """

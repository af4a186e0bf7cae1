"""Columns of `memory_blocks` for many blocks at once, as arrays: what indexes, scoring and verification read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from amgs.errors import StoreCorruptError
from amgs.storage.duckdb.connection import Store
from amgs.storage.duckdb.filters import where
from amgs.types import BlockFilter, Vector


def numbers(store: Store, wanted: BlockFilter, *, limit: int | None = None) -> NDArray[np.int64]:
    """Running numbers of the blocks that pass, rising: (n,); a limit keeps the last reinforced."""
    condition, parameters = where(wanted)
    sql = f"SELECT number FROM memory_blocks WHERE {condition}"
    if limit is not None:
        sql += f" ORDER BY last_reinforced_at DESC, number DESC LIMIT {int(limit)}"
    return np.sort(np.asarray(store.columns(sql, parameters)["number"], dtype=np.int64))


@dataclass(frozen=True)
class StoredFacts:
    """What scoring needs of many blocks at once, one row a block in rising number: arrays of length n.

    Instants are microseconds since 1970.
    """

    numbers: NDArray[np.int64]
    ids: NDArray[np.object_]
    created: NDArray[np.int64]
    reinforced: NDArray[np.int64]
    decay_lambda: NDArray[np.float64]
    confidence: NDArray[np.float64]
    reinforcements: NDArray[np.int64]
    self_component: NDArray[np.bool_]

    def of(self, wanted: Sequence[int]) -> StoredFacts:
        """The rows of these numbers, rising; unknown numbers are left out."""
        given = np.unique(np.asarray(wanted, dtype=np.int64))
        at = np.searchsorted(self.numbers, given)
        inside = at < self.numbers.size
        rows = at[inside][self.numbers[at[inside]] == given[inside]]
        return StoredFacts(*(getattr(self, each.name)[rows] for each in fields(self)))


def facts(store: Store, wanted: BlockFilter) -> StoredFacts:
    """The scoring columns of the blocks that pass the filter."""
    condition, parameters = where(wanted)
    c = store.columns(f"SELECT {_FACTS} FROM memory_blocks WHERE {condition} ORDER BY number", parameters)
    return StoredFacts(
        numbers=np.asarray(c["number"], dtype=np.int64),
        ids=np.asarray(c["id"], dtype=object),
        created=np.asarray(c["created"], dtype=np.int64),
        reinforced=np.asarray(c["reinforced"], dtype=np.int64),
        decay_lambda=np.asarray(c["decay_lambda"], dtype=np.float64),
        confidence=np.asarray(c["confidence"], dtype=np.float64),
        reinforcements=np.asarray(c["reinforcements"], dtype=np.int64),
        self_component=np.asarray(c["self_component"], dtype=np.bool_),
    )


_FACTS = (
    "number, id, epoch_us(created_at) AS created, epoch_us(last_reinforced_at) AS reinforced, "
    "decay_lambda, confidence, reinforcements, is_self_component AS self_component"
)


@dataclass(frozen=True)
class Scoring:
    """The numbers that a score is made from, of all n blocks in rising number: see Facts, without what is text."""

    numbers: NDArray[np.int64]
    reinforced: NDArray[np.int64]
    decay_lambda: NDArray[np.float64]
    confidence: NDArray[np.float64]
    reinforcements: NDArray[np.int64]


def scoring(store: Store) -> Scoring:
    """The scoring columns of every block."""
    c = store.columns(
        "SELECT number, epoch_us(last_reinforced_at) AS reinforced, decay_lambda, confidence, reinforcements "
        "FROM memory_blocks"
    )
    order = np.argsort(
        c["number"], kind="stable"
    )  # sorting one column of numbers here is faster than all there
    return Scoring(
        numbers=np.asarray(c["number"], dtype=np.int64)[order],
        reinforced=np.asarray(c["reinforced"], dtype=np.int64)[order],
        decay_lambda=np.asarray(c["decay_lambda"], dtype=np.float64)[order],
        confidence=np.asarray(c["confidence"], dtype=np.float64)[order],
        reinforcements=np.asarray(c["reinforcements"], dtype=np.int64)[order],
    )


@dataclass(frozen=True)
class Fading:
    """What forgetting needs of n blocks in rising number. names: the categories, by name; category: (n,) places in
    them. Instants are microseconds since 1970. uses: how often each was reinforced.
    """

    numbers: NDArray[np.int64]
    created: NDArray[np.int64]
    reinforced: NDArray[np.int64]
    uses: NDArray[np.int64]
    decay_lambda: NDArray[np.float64]
    category: NDArray[np.int64]
    names: tuple[str, ...]


def fading(store: Store, wanted: BlockFilter) -> Fading:
    """The clocks, decay constants and categories of the blocks that pass the filter."""
    condition, parameters = where(wanted)
    found = store.rows(
        f"SELECT DISTINCT category FROM memory_blocks WHERE {condition} ORDER BY 1", parameters
    )
    names = [str(row[0]) for row in found]
    c = store.columns(
        "SELECT number, epoch_us(created_at) AS created, epoch_us(last_reinforced_at) AS reinforced, "
        "decay_lambda, reinforcements, list_position(?::VARCHAR[], category) - 1 AS category "
        f"FROM memory_blocks WHERE {condition} ORDER BY number",
        [names, *parameters],
    )
    return Fading(
        numbers=np.asarray(c["number"], dtype=np.int64),
        created=np.asarray(c["created"], dtype=np.int64),
        reinforced=np.asarray(c["reinforced"], dtype=np.int64),
        uses=np.asarray(c["reinforcements"], dtype=np.int64),
        decay_lambda=np.asarray(c["decay_lambda"], dtype=np.float64),
        category=np.asarray(c["category"], dtype=np.int64),
        names=tuple(names),
    )


def clocks(store: Store, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """When every block was last reinforced (microseconds since 1970) and how often: (n,) each. numbers: (n,) of
    all blocks, rising. What of the scoring columns changes without a change of structure.
    """
    c = store.columns(
        "SELECT number, epoch_us(last_reinforced_at) AS reinforced, reinforcements FROM memory_blocks"
    )
    rows = np.searchsorted(numbers, c["number"])
    reinforced, times = np.zeros(numbers.size, np.int64), np.zeros(numbers.size, np.int64)
    reinforced[rows], times[rows] = c["reinforced"], c["reinforcements"]
    return reinforced, times


def ids_after(store: Store, number: int) -> tuple[NDArray[np.int64], list[str]]:
    """Numbers, rising, and ids of the blocks with a higher number than this."""
    c = store.columns("SELECT number, id FROM memory_blocks WHERE number > ? ORDER BY number", [number])
    return np.asarray(c["number"], dtype=np.int64), [str(i) for i in c["id"]]


@dataclass(frozen=True)
class Embeddings:
    """Embeddings of n blocks: numbers (n,), ids (n,), matrix (n, d) float32."""

    numbers: NDArray[np.int64]
    ids: NDArray[np.object_]
    matrix: Vector


def embeddings(
    store: Store,
    *,
    since: int = -1,
    wanted: BlockFilter | None = None,
    above: int = 0,
    upto: int | None = None,
) -> Embeddings:
    """All embeddings of rows changed after revision `since`, in rising number.

    above, upto: only of numbers above the one and up to the other. Rows without one are left out.
    """
    condition, parameters = where(wanted) if wanted is not None else ("true", [])
    if upto is not None:
        condition += f" AND number > {int(above)} AND number <= {int(upto)}"
    which = f"FROM memory_blocks WHERE embedding IS NOT NULL AND revision > ? AND {condition}"
    given = [since, *parameters]
    lengths = [int(row[0]) for row in store.rows(f"SELECT DISTINCT len(embedding) {which}", given)]
    if len(lengths) > 1:
        raise StoreCorruptError(
            "Its embeddings have different lengths.",
            way_out="Verify the store to see which blocks.",
            about="check",
        )
    c = store.columns(f"SELECT number, id {which} ORDER BY number", given)
    # One flat column: a list a row would be an object a row.
    flat = store.columns(
        f"SELECT unnest(embedding) AS x FROM (SELECT embedding {which} ORDER BY number)", given
    )["x"]
    matrix = np.asarray(flat, dtype=np.float32).reshape(len(c["id"]), lengths[0] if lengths else 0)
    return Embeddings(np.asarray(c["number"], dtype=np.int64), np.asarray(c["id"], dtype=object), matrix)


def embedding_batches(store: Store, *, since: int = -1, batch: int = 50_000) -> Iterator[Embeddings]:
    """The same in rising number, so many numbers at a time: a large store is never held twice."""
    changed = store.columns(
        "SELECT number FROM memory_blocks WHERE embedding IS NOT NULL AND revision > ?", [since]
    )["number"]
    for start in np.unique(changed // batch).tolist():
        yield embeddings(store, since=since, above=start * batch - 1, upto=start * batch + batch - 1)


@dataclass(frozen=True)
class BlockFeatureColumns:
    """What retrieval wants to know of n blocks without reading them; see index/block_features.py."""

    numbers: NDArray[np.int64]
    episode: NDArray[np.uint64]
    name: tuple[str, ...]
    characters: NDArray[np.int64]
    questions: NDArray[np.int64]
    sentences: NDArray[np.int64]
    asks: NDArray[np.bool_]


# Who speaks: what the source says, else a name before a colon at the very start ("Mara Lind: …").
_SPEAKER = (
    "lower(coalesce(said[2], said[3], "
    r"regexp_extract(content, '^(\p{Lu}[\p{L}\p{N}.''’-]*(?: \p{Lu}[\p{L}\p{N}.''’-]*){0,2}):\s', 1)))"
)


def traits(store: Store, *, since: int = -1) -> BlockFeatureColumns:
    """The traits of the blocks changed after revision `since`; a scan of the columns, no block is read."""
    c = store.columns(
        # Most blocks ask nothing: their marks need not be counted.
        "SELECT number, CASE WHEN said[1] IS NULL THEN 0 ELSE "
        "hash(regexp_replace(said[1], '(#[0-9]+){1,2}$', '')) END AS "
        f"episode, {_SPEAKER} AS name, strlen(content) AS characters, "
        "CASE WHEN asking THEN strlen(content) - strlen(replace(content, '?', '')) ELSE 0 END AS questions, "
        "CASE WHEN asking THEN length(content) - length(translate(content, '.!?…', '')) ELSE 0 END AS "
        r"sentences, asking AND regexp_matches(content, '\?[^.!?…]*$') AS asks FROM ("
        "SELECT number, content, contains(content, '?') AS asking, "
        "json_extract_string(meta, ['$.source', '$.speaker', '$.author']) AS said "
        "FROM memory_blocks WHERE revision > ?) ORDER BY number",
        [since],
    )
    return BlockFeatureColumns(
        numbers=np.asarray(c["number"], dtype=np.int64),
        episode=np.asarray(c["episode"], dtype=np.uint64),
        name=tuple(c["name"].tolist()),
        characters=np.asarray(c["characters"], dtype=np.int64),
        questions=np.asarray(c["questions"], dtype=np.int64),
        sentences=np.asarray(c["sentences"], dtype=np.int64),
        asks=np.asarray(c["asks"], dtype=np.bool_),
    )


def embedded(store: Store) -> NDArray[np.int64]:
    """Running numbers of the blocks that have an embedding, rising: (n,)."""
    found = store.columns("SELECT number FROM memory_blocks WHERE embedding IS NOT NULL ORDER BY number")
    return np.asarray(found["number"], dtype=np.int64)


# --- for verification -------------------------------------------------------------------------------------


def contents(store: Store, batch: int = 4000) -> Iterator[list[tuple[str, str, Vector | None]]]:
    """Every (id, content, embedding) in batches, for verification."""
    last = 0
    while True:
        some = "FROM memory_blocks WHERE number > ? ORDER BY number LIMIT ?"
        c = store.columns(
            f"SELECT number, id, content, coalesce(len(embedding), 0) AS size {some}", [last, batch]
        )
        if not len(c["number"]):
            return
        flat = store.columns(f"SELECT unnest(embedding) AS x FROM (SELECT embedding {some})", [last, batch])
        ends = np.cumsum(np.asarray(c["size"], dtype=np.int64))
        held = np.asarray(flat["x"], dtype=np.float32)
        last = int(c["number"][-1])
        yield [
            (str(i), str(text), held[end - size : end] if size else None)
            for i, text, size, end in zip(c["id"], c["content"], c["size"], ends, strict=True)
        ]


def repeated(store: Store) -> tuple[str, ...]:
    """Numbers given to more than one block, as text; empty in a sound store."""
    found = store.rows("SELECT number FROM memory_blocks GROUP BY number HAVING count(*) > 1 ORDER BY number")
    return tuple(str(row[0]) for row in found)


def out_of_range(store: Store, statuses: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Blocks with metadata that no block may have, each with what is wrong; empty in a sound store."""
    found = store.rows(
        "SELECT id, CASE WHEN status NOT IN (SELECT unnest(?::VARCHAR[])) THEN 'its status is ' || status "
        "WHEN NOT confidence BETWEEN 0 AND 1 THEN 'its confidence is ' || confidence "
        "WHEN NOT (decay_lambda >= 0 AND isfinite(decay_lambda)) THEN 'its decay constant is ' || "
        "decay_lambda "
        "WHEN status = 'consolidated' AND embedding IS NULL THEN 'it is consolidated without an embedding' "
        "END AS what "
        "FROM memory_blocks WHERE what IS NOT NULL ORDER BY id",
        [list(statuses)],
    )
    return tuple((str(i), str(what)) for i, what in found)


def newest_revision(store: Store) -> int:
    """The highest revision of a block, 0 for an empty store."""
    return int(store.value("SELECT coalesce(max(revision), 0) FROM memory_blocks"))

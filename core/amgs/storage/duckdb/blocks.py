"""The table `memory_blocks`.

Content that never changes under its hash, and metadata that does (AMGS §3.1).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from amgs.clock import as_utc
from amgs.storage.duckdb import meta as stored_meta
from amgs.storage.duckdb.connection import Store, microseconds, stored
from amgs.storage.duckdb.filters import where
from amgs.types import Block, BlockFilter, Vector

if TYPE_CHECKING:
    import pyarrow as pa

_HIGHEST = "highest_number"

Order = Literal["created", "reinforced", "id", "arrival"]

_ORDERS: Mapping[str, str] = {
    "created": "created_at DESC, number DESC",
    "reinforced": "last_reinforced_at DESC, number DESC",
    "id": "id",
    "arrival": "number",
}
_PLAIN = (
    "id, content, created_at, last_reinforced_at, category, confidence, decay_lambda, status, "
    "is_self_component, "
    "meta::VARCHAR"
)


# --- writing ----------------------------------------------------------------------------------------------


def insert(store: Store, blocks: Sequence[Block]) -> tuple[str, ...]:
    """Add the blocks that are not there yet, without embedding; returns their ids in the order given.

    Ids given twice count once. About 100,000 blocks a second.
    """
    known = existing(store, [b.id for b in blocks])
    fresh = [b for b in {b.id: b for b in reversed(blocks)}.values() if b.id not in known][::-1]
    if not fresh:
        return ()
    first = _highest_number(store) + 1
    store.execute(
        "INSERT INTO memory_blocks SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), "
        "make_timestamp(unnest(?::BIGINT[])), "
        "make_timestamp(unnest(?::BIGINT[])), unnest(?::VARCHAR[]), unnest(?::DOUBLE[]), "
        "unnest(?::DOUBLE[]), NULL, "
        "unnest(?::VARCHAR[]), unnest(?::BOOLEAN[]), unnest(?::VARCHAR[])::JSON, 0, unnest(?::BIGINT[]), ?",
        [
            [b.id for b in fresh],
            [b.content for b in fresh],
            microseconds([b.created_at for b in fresh]),
            microseconds([b.last_reinforced_at for b in fresh]),
            [b.category for b in fresh],
            [b.confidence for b in fresh],
            [b.decay_lambda for b in fresh],
            [b.status for b in fresh],
            [b.is_self_component for b in fresh],
            [_dump(b.meta) for b in fresh],
            list(range(first, first + len(fresh))),
            store.revision(),
        ],
    )
    return tuple(b.id for b in fresh)


def update(store: Store, blocks: Sequence[Block], embeddings: Vector | None = None) -> None:
    """Write the metadata of blocks that exist: category, confidence, λ, status, self flag, meta.

    embeddings: (n, d), written along when given. Content, created_at and the reinforcement clock stay.
    """
    if not blocks:
        return
    import pyarrow as pa

    columns = {
        "id": [b.id for b in blocks],
        "category": [b.category for b in blocks],
        "confidence": [b.confidence for b in blocks],
        "decay_lambda": [b.decay_lambda for b in blocks],
        "status": [b.status for b in blocks],
        "self": [b.is_self_component for b in blocks],
        "meta": [_dump(b.meta) for b in blocks],
    }
    table = pa.table(columns)
    also = ""
    if embeddings is not None:
        table = table.append_column("embedding", _rows(embeddings))
        also = "embedding = n.embedding, "
    revision = store.revision()
    with store.arrays("new_metadata", table):
        store.execute(
            "UPDATE memory_blocks SET category = n.category, confidence = n.confidence, "
            "decay_lambda = n.decay_lambda, status = n.status, is_self_component = n.self, "
            f"meta = n.meta::JSON, {also}revision = ? FROM new_metadata AS n WHERE memory_blocks.id = n.id",
            [revision],
        )


def set_embeddings(store: Store, ids: Sequence[str], embeddings: Vector | None) -> None:
    """Write the embeddings (n, d) of n blocks; None takes them away."""
    if not ids:
        return
    if embeddings is None:
        store.execute(
            "UPDATE memory_blocks SET embedding = NULL, revision = ? WHERE id IN (SELECT "
            "unnest(?::VARCHAR[]))",
            [store.revision(), list(ids)],
        )
        return
    revision = store.revision()
    import pyarrow as pa

    with store.arrays("vectors", pa.table({"id": list(ids), "embedding": _rows(embeddings)})):
        store.execute(
            "UPDATE memory_blocks SET embedding = v.embedding, revision = ? FROM vectors AS v "
            "WHERE memory_blocks.id = v.id",
            [revision],
        )


def _rows(embeddings: Vector) -> pa.FixedSizeListArray:
    """Embeddings (n, d) as an Arrow column of n lists; nothing is copied."""
    import pyarrow as pa  # here and above: late, a program that only reads starts without it

    flat = pa.array(np.ascontiguousarray(embeddings, dtype=np.float32).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, embeddings.shape[1])


def reinforce(store: Store, ids: Sequence[str], at: datetime) -> None:
    """Reset the decay clock of blocks and count the event; a clock that went back never moves it back."""
    store.execute(
        "UPDATE memory_blocks SET last_reinforced_at = greatest(last_reinforced_at, ?), "
        "reinforcements = reinforcements + 1 WHERE id IN (SELECT unnest(?::VARCHAR[]))",
        [stored(at), list(ids)],
        structural=False,
    )


def turn_back(store: Store, block_id: str, at: datetime, before: datetime) -> None:
    """Put the decay clock of a block back to `before`, where it still stands at the instant `at`."""
    store.execute(
        "UPDATE memory_blocks SET last_reinforced_at = ? WHERE id = ? AND last_reinforced_at = ?",
        [stored(before), block_id, stored(at)],
        structural=False,
    )


def recount(store: Store, ids: Sequence[str]) -> None:
    """Set the counters of reinforcement to what the log says: for blocks that come back."""
    store.execute(
        "UPDATE memory_blocks SET reinforcements = (SELECT count(*) FROM reinforcement_log AS l "
        "WHERE l.block_id = memory_blocks.id) WHERE id IN (SELECT unnest(?::VARCHAR[]))",
        [list(ids)],
        structural=False,
    )


def delete(store: Store, ids: Sequence[str]) -> None:
    """Take blocks out for good: for undoing what made them, and for hard pruning.

    Their running numbers are not given out again: an index that has not caught up yet would take the next
    block for the one that left.
    """
    if not ids:
        return
    stored_meta.put(store, _HIGHEST, str(_highest_number(store)))
    store.execute("DELETE FROM memory_blocks WHERE id IN (SELECT unnest(?::VARCHAR[]))", [list(ids)])


def _highest_number(store: Store) -> int:
    """The highest running number ever given."""
    return max(
        int(store.value("SELECT coalesce(max(number), 0) FROM memory_blocks")),
        int(stored_meta.get(store, _HIGHEST) or 0),
    )


# --- reading ----------------------------------------------------------------------------------------------


def existing(store: Store, ids: Iterable[str]) -> set[str]:
    """Which of the ids the store holds."""
    found = store.rows("SELECT id FROM memory_blocks WHERE id IN (SELECT unnest(?::VARCHAR[]))", [list(ids)])
    return {str(row[0]) for row in found}


def get(store: Store, ids: Iterable[str], *, embeddings: bool = False) -> dict[str, Block]:
    """The blocks with these ids, by id; unknown ids are missing from the answer."""
    wanted = list(ids)
    if not wanted:
        return {}
    sql = f"SELECT {_selection(embeddings)} FROM memory_blocks WHERE id IN (SELECT unnest(?::VARCHAR[]))"
    return {row[0]: _block(row) for row in store.rows(sql, [wanted])}


@dataclass(frozen=True)
class Numbered:
    """A block with its running number and how often it was reinforced."""

    number: int
    block: Block
    reinforcements: int


def by_number(store: Store, wanted: Sequence[int]) -> tuple[Numbered, ...]:
    """The blocks with these running numbers, rising; unknown numbers are left out."""
    if not len(wanted):
        return ()
    sql = (
        f"SELECT number, reinforcements, {_PLAIN} FROM memory_blocks "
        "WHERE number IN (SELECT unnest(?::BIGINT[])) ORDER BY number"
    )
    found = store.rows(sql, [[int(n) for n in wanted]])
    return tuple(Numbered(int(row[0]), _block(row[2:]), int(row[1])) for row in found)


@dataclass(frozen=True)
class Described:
    """What is known of a block without its text."""

    number: int
    id: str
    created_at: datetime
    status: str
    meta: Mapping[str, Any]


def described(store: Store, wanted: BlockFilter, batch: int = 10_000) -> Iterator[Described]:
    """The blocks that pass the filter without their texts, in order of arrival, read in batches."""
    condition, parameters = where(wanted)
    sql = (
        "SELECT number, id, created_at, status, meta::VARCHAR FROM memory_blocks "
        f"WHERE number > ? AND {condition} ORDER BY number LIMIT ?"
    )
    last = -1
    while found := store.rows(sql, [last, *parameters, batch]):
        last = int(found[-1][0])
        for number, block, created, status, meta in found:
            yield Described(int(number), str(block), as_utc(created), str(status), json.loads(meta))


def contents_of(store: Store, ids: Sequence[str]) -> dict[str, str]:
    """The texts of blocks, by id; unknown ids are missing from the answer."""
    sql = "SELECT id, content FROM memory_blocks WHERE id IN (SELECT unnest(?::VARCHAR[]))"
    return {str(i): str(content) for i, content in store.rows(sql, [list(ids)])}


def numbers_of(store: Store, ids: Sequence[str]) -> dict[str, int]:
    """The running number of each id that exists."""
    sql = "SELECT id, number FROM memory_blocks WHERE id IN (SELECT unnest(?::VARCHAR[]))"
    return {str(i): int(n) for i, n in store.rows(sql, [list(ids)])}


def expand(store: Store, prefix: str, limit: int = 10) -> tuple[str, ...]:
    """Ids that begin with `prefix`, at most `limit`, sorted."""
    sql = "SELECT id FROM memory_blocks WHERE starts_with(id, ?) ORDER BY id LIMIT ?"
    return tuple(str(row[0]) for row in store.rows(sql, [prefix, limit]))


def select(
    store: Store,
    wanted: BlockFilter,
    *,
    order: Order = "created",
    limit: int | None = None,
    offset: int = 0,
    embeddings: bool = False,
) -> tuple[Block, ...]:
    """Blocks that pass the filter; `created` and `reinforced` give the latest first."""
    condition, parameters = where(wanted)
    sql = f"SELECT {_selection(embeddings)} FROM memory_blocks WHERE {condition} ORDER BY {_ORDERS[order]}"
    if limit is not None:
        sql += f" LIMIT {int(limit)}"
    if offset:
        sql += f" OFFSET {int(offset)}"
    return tuple(_block(row) for row in store.rows(sql, parameters))


def count(store: Store, wanted: BlockFilter) -> int:
    """How many blocks pass the filter."""
    condition, parameters = where(wanted)
    return int(store.value(f"SELECT count(*) FROM memory_blocks WHERE {condition}", parameters))


def texts(store: Store, wanted: Sequence[int]) -> list[tuple[int, str]]:
    """(number, content) of the blocks with these numbers, rising."""
    sql = (
        "SELECT number, content FROM memory_blocks "
        "WHERE number IN (SELECT unnest(?::BIGINT[])) ORDER BY number"
    )
    return [(int(n), str(c)) for n, c in store.rows(sql, [[int(n) for n in wanted]])]


def with_source(store: Store, source: str) -> tuple[str, ...]:
    """Ids of the blocks that came from a source, from `source#part`, or that it repeats.

    In order of arrival.
    """
    found = store.rows(
        "SELECT id FROM memory_blocks WHERE meta->>'$.source' = ? OR (starts_with(meta->>'$.source', ? || '#') AND "
        "regexp_replace(meta->>'$.source', '(#[0-9]+){1,2}$', '') = regexp_replace(?, '(#[0-9]+){1,2}$', '')) "
        "OR list_contains(CAST(meta->'$.sources' AS VARCHAR[]), ?) ORDER BY number",
        [source, source, source, source],
    )
    return tuple(str(row[0]) for row in found)


def of_sources(store: Store, sources: Sequence[str]) -> set[str]:
    """Ids of the blocks whose source, or one of whose sources, is among these."""
    found = store.rows(
        "SELECT id FROM memory_blocks WHERE meta->>'$.source' IN (SELECT unnest(?::VARCHAR[])) "
        "OR list_has_any(CAST(meta->'$.sources' AS VARCHAR[]), ?::VARCHAR[])",
        [list(sources), list(sources)],
    )
    return {str(row[0]) for row in found}


def outlines(store: Store) -> list[tuple[str, str, str]]:
    """(id, title, first 200 characters) of every block that is not pruned, in order of arrival.

    For the finder.
    """
    found = store.rows(
        "SELECT id, coalesce(meta->>'$.title', ''), left(content, 200) FROM memory_blocks "
        "WHERE status <> 'pruned' ORDER BY number"
    )
    return [(str(i), str(t), str(c)) for i, t, c in found]


def by_status(store: Store) -> dict[str, int]:
    """How many blocks have each status."""
    return {
        str(s): int(n)
        for s, n in store.rows("SELECT status, count(*) FROM memory_blocks GROUP BY 1 ORDER BY 1")
    }


def by_category(store: Store) -> dict[str, int]:
    """How many consolidated blocks each category has."""
    found = store.rows(
        "SELECT category, count(*) FROM memory_blocks WHERE status = 'consolidated' GROUP BY 1 ORDER BY 2 "
        "DESC, 1"
    )
    return {str(c): int(n) for c, n in found}


def marked(store: Store, name: str) -> list[tuple[str, str, str]]:
    """(id, value, category) of the blocks with a value under this name in their meta, in order of arrival."""
    found = store.rows(
        "SELECT id, meta->>?, category FROM memory_blocks WHERE contains(meta::VARCHAR, ?) AND meta->>? IS NOT NULL "
        "ORDER BY number",
        [f"$.{name}", f'"{name}"', f"$.{name}"],
    )
    return [(str(i), str(value), str(category)) for i, value, category in found]


def mean_relevance(store: Store, now: datetime) -> float:
    """Mean of e^(-λt) over the consolidated blocks; 0 when there are none."""
    value = store.value(
        "SELECT avg(exp(-decay_lambda * greatest(0, epoch_us(?::TIMESTAMP) - epoch_us(last_reinforced_at)) "
        "/ 3.6e9)) "
        "FROM memory_blocks WHERE status = 'consolidated'",
        [stored(now)],
    )
    return 0.0 if value is None else float(value)


# --- rows -------------------------------------------------------------------------------------------------


def _selection(embeddings: bool) -> str:
    return f"{_PLAIN}, embedding" if embeddings else _PLAIN


def _block(row: Sequence[Any]) -> Block:
    return Block(
        id=row[0],
        content=row[1],
        created_at=as_utc(row[2]),
        last_reinforced_at=as_utc(row[3]),
        category=row[4],
        confidence=row[5],
        decay_lambda=row[6],
        status=row[7],
        is_self_component=row[8],
        meta=json.loads(row[9]),
        embedding=np.asarray(row[10], dtype=np.float32) if len(row) > 10 and row[10] is not None else None,
    )


def _dump(meta: Mapping[str, Any]) -> str:
    return json.dumps(dict(meta), ensure_ascii=False, sort_keys=True)

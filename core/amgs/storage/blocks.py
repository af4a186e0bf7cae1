"""Table `memory_blocks`: content, which never changes since its hash is the id, and metadata, which does
(AMGS §3.1).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import numpy as np

from amgs.clock import as_utc, microseconds_of
from amgs.storage.block_columns import FADED, texts_of, where
from amgs.storage.connection import OfferedColumn, SqlConnection, StoragePart, microseconds, to_stored_time
from amgs.storage.tables import MetaStorage
from amgs.types import Block, BlockFilter, Vector

BlockOrder = Literal["created", "reinforced", "id", "arrival"]


@dataclass(frozen=True)
class NumberedBlock:
    """A block with its running number (1, 2, 3 … in order of arrival) and its number of reinforcements."""

    number: int
    block: Block
    reinforcements: int


@dataclass(frozen=True)
class BlockDescription:
    """A block without its text."""

    number: int
    id: str
    created_at: datetime
    status: str
    meta: Mapping[str, Any]


_HIGHEST = "highest_number"
_ORDERS: Mapping[str, str] = {
    "created": "created_at DESC, number DESC",
    "reinforced": "last_reinforced_at DESC, number DESC",
    "id": "id",
    "arrival": "number",
}
_PLAIN = (
    "id, content, created_at, last_reinforced_at, category, confidence, decay_lambda, status, "
    "is_self_component, "
    "meta::VARCHAR, valid_from, valid_to"
)

_PLACES = texts_of("meta->'sources'")
"""SQL: all sources that a block came from."""


class BlockStorage(StoragePart):
    """Reads and writes single blocks, by id, running number, filter or source."""

    def __init__(self, connection: SqlConnection, meta: MetaStorage) -> None:
        super().__init__(connection)
        self._meta = meta

    # --- writing ------------------------------------------------------------------------------------------

    def insert(self, blocks: Sequence[Block]) -> tuple[str, ...]:
        """Insert the blocks that are not in the store yet, without embeddings; return their ids in order.

        Repeated ids count once. About 100,000 blocks a second.
        """
        known = self.existing([b.id for b in blocks])
        fresh = [b for b in {b.id: b for b in reversed(blocks)}.values() if b.id not in known][::-1]
        if not fresh:
            return ()
        first = self._highest_number() + 1
        self._execute(
            "INSERT INTO memory_blocks SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), "
            "make_timestamp(unnest(?::BIGINT[])), "
            "make_timestamp(unnest(?::BIGINT[])), unnest(?::VARCHAR[]), unnest(?::DOUBLE[]), "
            "unnest(?::DOUBLE[]), NULL, "
            "unnest(?::VARCHAR[]), unnest(?::BOOLEAN[]), unnest(?::VARCHAR[])::JSON, 0, unnest(?::BIGINT[]), ?, "
            "make_timestamp(unnest(?::BIGINT[])), make_timestamp(unnest(?::BIGINT[]))",
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
                self._connection.revision(),
                [_instant_in(b.valid_from) for b in fresh],
                [_instant_in(b.valid_to) for b in fresh],
            ],
        )
        return tuple(b.id for b in fresh)

    def update(self, blocks: Sequence[Block], embeddings: Vector | None = None) -> None:
        """Write the metadata of existing blocks: date, category, confidence, λ, status, self flag, validity, meta.

        embeddings: (n, d), written too if passed. Content and decay clock are not touched.
        """
        if not blocks:
            return
        columns = {
            "id": OfferedColumn("VARCHAR", [block.id for block in blocks]),
            "category": OfferedColumn("VARCHAR", [block.category for block in blocks]),
            "confidence": OfferedColumn("DOUBLE", [block.confidence for block in blocks]),
            "decay_lambda": OfferedColumn("DOUBLE", [block.decay_lambda for block in blocks]),
            "status": OfferedColumn("VARCHAR", [block.status for block in blocks]),
            "self": OfferedColumn("BOOLEAN", [block.is_self_component for block in blocks]),
            "meta": OfferedColumn("VARCHAR", [_dump(block.meta) for block in blocks]),
            "created": OfferedColumn("BIGINT", [_instant_in(block.created_at) for block in blocks]),
            "valid_from": OfferedColumn("BIGINT", [_instant_in(block.valid_from) for block in blocks]),
            "valid_to": OfferedColumn("BIGINT", [_instant_in(block.valid_to) for block in blocks]),
        }
        also = ""
        if embeddings is not None:
            columns["embedding"] = OfferedColumn("FLOAT[]", list(embeddings))
            also = "embedding = n.embedding, "
        revision = self._connection.revision()
        with self._connection.offer_columns("new_metadata", columns):
            self._execute(
                "UPDATE memory_blocks SET category = n.category, confidence = n.confidence, "
                "decay_lambda = n.decay_lambda, status = n.status, is_self_component = n.self, "
                "created_at = make_timestamp(n.created), "
                "valid_from = make_timestamp(n.valid_from), valid_to = make_timestamp(n.valid_to), "
                f"meta = n.meta::JSON, {also}revision = ? FROM new_metadata AS n WHERE memory_blocks.id = n.id",
                [revision],
            )

    def set_embeddings(self, ids: Sequence[str], embeddings: Vector | None) -> None:
        """Write the embeddings (n, d) of n blocks; None deletes them."""
        if not ids:
            return
        if embeddings is None:
            self._execute(
                "UPDATE memory_blocks SET embedding = NULL, revision = ? WHERE id IN (SELECT unnest(?::VARCHAR[]))",
                [self._connection.revision(), list(ids)],
            )
            return
        revision = self._connection.revision()
        columns = {"id": OfferedColumn("VARCHAR", ids), "embedding": OfferedColumn("FLOAT[]", list(embeddings))}
        with self._connection.offer_columns("vectors", columns):
            self._execute(
                "UPDATE memory_blocks SET embedding = v.embedding, revision = ? FROM vectors AS v "
                "WHERE memory_blocks.id = v.id",
                [revision],
            )

    def reinforce(self, ids: Sequence[str], at: datetime) -> None:
        """Set the decay clock of blocks to `at`, unless it is later already, and count another reinforcement."""
        self._connection.clock_changes.note(ids)
        self._note(
            "UPDATE memory_blocks SET last_reinforced_at = greatest(last_reinforced_at, ?), "
            "reinforcements = reinforcements + 1 WHERE id IN (SELECT unnest(?::VARCHAR[]))",
            [to_stored_time(at), list(ids)],
        )

    def turn_back(self, block_id: str, at: datetime, before: datetime) -> None:
        """Set the decay clock of a block back to `before`, if it still stands at `at`."""
        self._connection.clock_changes.note([block_id])
        self._note(
            "UPDATE memory_blocks SET last_reinforced_at = ? WHERE id = ? AND last_reinforced_at = ?",
            [to_stored_time(before), block_id, to_stored_time(at)],
        )

    def recount(self, ids: Sequence[str]) -> None:
        """Set the number of reinforcements of blocks to what the log says, for blocks that were restored."""
        self._connection.clock_changes.note(ids)
        self._note(
            "UPDATE memory_blocks SET reinforcements = (SELECT count(*) FROM reinforcement_log AS l "
            "WHERE l.block_id = memory_blocks.id) WHERE id IN (SELECT unnest(?::VARCHAR[]))",
            [list(ids)],
        )

    def delete(self, ids: Sequence[str]) -> None:
        """Delete blocks for good, for undo and hard pruning.

        Their running numbers are never used again, since an index that has not caught up would mistake a new block for
        the deleted edge.
        """
        if not ids:
            return
        self._meta.put(_HIGHEST, str(self._highest_number()))
        self._execute("DELETE FROM memory_blocks WHERE id IN (SELECT unnest(?::VARCHAR[]))", [list(ids)])

    def _highest_number(self) -> int:
        """Return the highest running number ever used."""
        return max(
            self._count("SELECT coalesce(max(number), 0) FROM memory_blocks"), int(self._meta.get(_HIGHEST) or 0)
        )

    # --- reading ------------------------------------------------------------------------------------------

    def existing(self, ids: Iterable[str]) -> set[str]:
        """Return those of the ids that the store holds."""
        rows = self._rows("SELECT id FROM memory_blocks WHERE id IN (SELECT unnest(?::VARCHAR[]))", [list(ids)])
        return {row[0] for row in rows}

    def get(self, ids: Iterable[str], *, embeddings: bool = False) -> dict[str, Block]:
        """Return blocks by id; unknown ids are left out."""
        wanted = list(ids)
        if not wanted:
            return {}
        sql = f"SELECT {_selection(embeddings)} FROM memory_blocks WHERE id IN (SELECT unnest(?::VARCHAR[]))"
        return {row[0]: _block(row) for row in self._rows(sql, [wanted])}

    def by_number(self, wanted: Sequence[int]) -> tuple[NumberedBlock, ...]:
        """Return blocks by running number, rising; unknown numbers are left out."""
        if not len(wanted):
            return ()
        sql = f"SELECT number, reinforcements, {_PLAIN} FROM memory_blocks WHERE number IN (SELECT unnest(?::BIGINT[]))"
        # Sorted here: a database that sorts whole texts takes a fifth longer.
        rows = sorted(self._rows(sql, [[int(n) for n in wanted]]), key=lambda row: row[0])
        return tuple(NumberedBlock(row[0], _block(row[2:]), row[1]) for row in rows)

    def describe(self, wanted: BlockFilter) -> Iterator[BlockDescription]:
        """Yield descriptions of the blocks that pass the filter, in order of arrival, read in batches."""
        condition, parameters = where(wanted)
        sql = (
            "SELECT number, id, created_at, status, meta::VARCHAR FROM memory_blocks "
            f"WHERE number > ? AND {condition} ORDER BY number LIMIT ?"
        )
        last = -1
        while rows := self._rows(sql, [last, *parameters, 10_000]):
            last = rows[-1][0]
            for number, block, created, status, meta in rows:
                yield BlockDescription(number, block, as_utc(created), status, json.loads(meta))

    def contents_of(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the texts of blocks by id; unknown ids are left out."""
        sql = "SELECT id, content FROM memory_blocks WHERE id IN (SELECT unnest(?::VARCHAR[]))"
        return dict(self._rows(sql, [list(ids)]))

    def numbers_of(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the running numbers of blocks by id; unknown ids are left out."""
        sql = "SELECT id, number FROM memory_blocks WHERE id IN (SELECT unnest(?::VARCHAR[]))"
        return dict(self._rows(sql, [list(ids)]))

    def expand(self, prefix: str, limit: int = 10) -> tuple[str, ...]:
        """Return at most `limit` ids that begin with `prefix`, sorted."""
        sql = "SELECT id FROM memory_blocks WHERE starts_with(id, ?) ORDER BY id LIMIT ?"
        return tuple(row[0] for row in self._rows(sql, [prefix, limit]))

    def select(
        self, wanted: BlockFilter, *, order: BlockOrder = "created", limit: int | None = None, offset: int = 0
    ) -> tuple[Block, ...]:
        """Return the blocks that pass the filter; orders `created` and `reinforced` give the latest first."""
        condition, parameters = where(wanted)
        by = f"ORDER BY {_ORDERS[order]}"
        if limit is not None:
            # Sort numbers only, so that texts outside the page are not read.
            page = f"SELECT number FROM memory_blocks WHERE {condition} {by} LIMIT {int(limit)} OFFSET {int(offset)}"
            condition = f"number IN ({page})"
        sql = f"SELECT {_PLAIN} FROM memory_blocks WHERE {condition} {by}"
        if offset and limit is None:
            sql += f" OFFSET {int(offset)}"
        return tuple(_block(row) for row in self._rows(sql, parameters))

    def earliest(self, wanted: BlockFilter) -> datetime | None:
        """Return when the oldest block that passes the filter was created; None if none passes."""
        condition, parameters = where(wanted)
        created_at = self._rows(f"SELECT min(created_at) FROM memory_blocks WHERE {condition}", parameters)[0][0]
        return None if created_at is None else as_utc(created_at)

    def count(self, wanted: BlockFilter) -> int:
        """Count the blocks that pass the filter."""
        condition, parameters = where(wanted)
        return self._count(f"SELECT count(*) FROM memory_blocks WHERE {condition}", parameters)

    def texts(self, wanted: Sequence[int]) -> list[tuple[int, str, Mapping[str, Any]]]:
        """Return (running number, content, title metadata) of blocks, rising."""
        sql = (
            "SELECT number, content, meta->>'title', meta->>'document', meta->>'headings' FROM memory_blocks "
            "WHERE number IN (SELECT unnest(?::BIGINT[])) ORDER BY number"
        )
        return [(n, content, _titles(*titles)) for n, content, *titles in self._rows(sql, [[int(n) for n in wanted]])]

    def with_source(self, source: str) -> tuple[str, ...]:
        """Return ids of blocks from a source, or from a part of it (`source#part`), in order of arrival."""
        rows = self._rows(
            "SELECT id FROM memory_blocks WHERE meta->>'source' = ? OR (starts_with(meta->>'source', ? || '#') AND "
            "regexp_replace(meta->>'source', '(#[0-9]+){1,2}$', '') = regexp_replace(?, '(#[0-9]+){1,2}$', '')) "
            f"OR ? = ANY({_PLACES}) ORDER BY number",
            [source, source, source, source],
        )
        return tuple(row[0] for row in rows)

    def has_source(self, sources: Sequence[str]) -> bool:
        """Return whether a block has exactly one of these source names."""
        sql = "SELECT 1 FROM memory_blocks WHERE meta->>'source' IN (SELECT unnest(?::VARCHAR[])) LIMIT 1"
        return bool(self._rows(sql, [list(sources)]))

    def outlines(self) -> list[tuple[str, str, str]]:
        """Return (id, title, first 200 characters) of all blocks that are not pruned, in order of arrival; for the
        finder.
        """
        return self._rows(
            "SELECT id, coalesce(meta->>'title', ''), left(content, 200) FROM memory_blocks "
            "WHERE status <> 'pruned' ORDER BY number"
        )

    def by_status(self) -> dict[str, int]:
        """Count the blocks by status."""
        return dict(self._rows("SELECT status, count(*) FROM memory_blocks GROUP BY 1 ORDER BY 1"))

    def by_category(self) -> dict[str, int]:
        """Count the consolidated blocks by category, most frequent first."""
        return dict(
            self._rows(
                "SELECT category, count(*) FROM memory_blocks WHERE status = 'consolidated' GROUP BY 1 "
                "ORDER BY 2 DESC, 1"
            )
        )

    def categories(self) -> frozenset[str]:
        """Return the names of the categories that any block has, alone or beside others."""
        several = (
            "SELECT DISTINCT CAST(meta->'categories' AS VARCHAR) FROM memory_blocks "
            "WHERE contains(meta::VARCHAR, '\"categories\"')"
        )
        named = [name for (value,) in self._rows(several) for name in json.loads(value or "[]")]
        return frozenset((*(name for (name,) in self._rows("SELECT DISTINCT category FROM memory_blocks")), *named))

    def find_marked(self, name: str) -> list[tuple[str, str, str]]:
        """Return (id, value, category) of blocks with a value under this key of their meta, in order of arrival."""
        return self._rows(
            "SELECT id, meta->>?, category FROM memory_blocks WHERE contains(meta::VARCHAR, ?) "
            "AND meta->>? IS NOT NULL "
            "ORDER BY number",
            [name, f'"{name}"', name],
        )

    def mean_relevance(self, now: datetime) -> float:
        """Return the mean of e^(−λt) over consolidated blocks; 0 if there are none."""
        value = self._value(
            f"SELECT avg({FADED}) FROM memory_blocks WHERE status = 'consolidated'", [to_stored_time(now)]
        )
        return 0.0 if value is None else value


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
        valid_from=None if row[10] is None else as_utc(row[10]),
        valid_to=None if row[11] is None else as_utc(row[11]),
        embedding=np.asarray(row[12], dtype=np.float32) if len(row) > 12 and row[12] is not None else None,
    )


def _instant_in(instant: datetime | None) -> int | None:
    return None if instant is None else microseconds_of(as_utc(instant))


def _dump(meta: Mapping[str, Any]) -> str:
    return json.dumps(dict(meta), ensure_ascii=False, sort_keys=True)


def _titles(title: str | None, document: str | None, headings: str | None) -> dict[str, Any]:
    """Return the part of a block's meta that concerns its title."""
    titles = {"title": title, "document": document, "headings": json.loads(headings) if headings else None}
    return {key: value for key, value in titles.items() if value}

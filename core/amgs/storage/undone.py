"""The tables `undone_blocks` and `undone_edges`: what an undo found and what it left, so that redo can put it back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amgs.clock import as_utc
from amgs.storage.connection import SqlConnection
from amgs.types import Edge, EdgeKey

_STATE = (
    "created_at, category, confidence, decay_lambda, status, is_self_component, meta, valid_from, valid_to"
)
_BLOCK = "id, content, created_at, last_reinforced_at"
_EDGE = (
    "source_id, target_id, relation_type, weight, confidence, created_at, last_reinforced_at, decay_lambda"
)
_OF_BLOCKS = "(SELECT key FROM operation_rows WHERE operation_id = ? AND target = 'block')"
_OF_EDGES = "(SELECT key FROM operation_rows WHERE operation_id = ? AND target = 'edge')"
_KEY = "concat(source_id, ' ', target_id, ' ', relation_type)"


class UndoneStorage:
    """Blocks and edges around an undo."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def keep_found(self, operation: int) -> None:
        """Before an undo: the operation's blocks and edges as they are, and every edge at those blocks."""
        self._keep_blocks(operation, found=True)
        self._connection.execute(
            f"INSERT INTO undone_edges SELECT ?, true, {_EDGE} FROM edges WHERE source_id IN {_OF_BLOCKS} "
            f"OR target_id IN {_OF_BLOCKS} OR {_KEY} IN {_OF_EDGES}",
            [operation] * 4,
            structural=False,
        )

    def keep_left(self, operation: int) -> None:
        """After an undo: the same as it is now. Of the edges that are not the operation's own, those that went stay."""
        self._keep_blocks(operation, found=False)
        self._connection.execute(
            f"DELETE FROM undone_edges WHERE operation_id = ? AND {_KEY} NOT IN {_OF_EDGES} "
            f"AND {_KEY} IN (SELECT {_KEY} FROM edges)",
            [operation, operation],
            structural=False,
        )
        self._connection.execute(
            f"INSERT INTO undone_edges SELECT ?, false, {_EDGE} FROM edges WHERE {_KEY} IN {_OF_EDGES}",
            [operation, operation],
            structural=False,
        )

    def _keep_blocks(self, operation: int, *, found: bool) -> None:
        vector = "embedding" if found else "NULL"
        self._connection.execute(
            f"INSERT INTO undone_blocks SELECT ?, ?, {_BLOCK}, category, confidence, decay_lambda, {vector}, "
            f"status, is_self_component, meta, number, valid_from, valid_to FROM memory_blocks "
            f"WHERE id IN {_OF_BLOCKS}",
            [operation, found, operation],
            structural=False,
        )

    def forget(self, operation: int) -> None:
        """Drop what was kept of an undo."""
        for table in ("undone_blocks", "undone_edges"):
            self._connection.execute(
                f"DELETE FROM {table} WHERE operation_id = ?", [operation], structural=False
            )

    def kept(self, operation: int) -> bool:
        """Whether what an undo found was kept; an earlier version kept nothing."""
        return bool(
            self._connection.value(
                "SELECT (SELECT count(*) FROM undone_blocks WHERE operation_id = ?) + "
                "(SELECT count(*) FROM undone_edges WHERE operation_id = ?)",
                [operation, operation],
            )
        )

    def moved(self, operation: int) -> tuple[str, ...]:
        """Blocks and edges of an operation that are no longer as its undo left them; clocks may have run on."""
        blocks = self._connection.rows(
            f"SELECT coalesce(l.id, m.id) FROM (SELECT * FROM undone_blocks WHERE operation_id = ? AND NOT found) l "
            f"FULL JOIN (SELECT * FROM memory_blocks WHERE id IN {_OF_BLOCKS}) m ON l.id = m.id "
            f"WHERE {_differ(_STATE)} OR l.id IS NULL OR m.id IS NULL ORDER BY 1",
            [operation, operation],
        )
        edges = self._connection.rows(
            f"SELECT coalesce(l.key, m.key) FROM (SELECT {_KEY} AS key, * FROM undone_edges WHERE operation_id = ? "
            f"AND NOT found) l FULL JOIN (SELECT {_KEY} AS key, * FROM edges WHERE {_KEY} IN {_OF_EDGES}) m "
            f"ON l.key = m.key WHERE {_differ('weight, confidence, decay_lambda')} OR l.key IS NULL OR m.key IS NULL "
            "ORDER BY 1",
            [operation, operation],
        )
        return tuple(str(row[0]) for row in (*blocks, *edges))

    def taken(self, operation: int) -> tuple[str, ...]:
        """Blocks that the operation had taken out of the store and its undo brought back."""
        found = self._connection.rows(
            "SELECT id FROM undone_blocks WHERE operation_id = ? AND NOT found AND id NOT IN "
            "(SELECT id FROM undone_blocks WHERE operation_id = ? AND found) ORDER BY id",
            [operation, operation],
        )
        return tuple(str(row[0]) for row in found)

    def pruned(self, operation: int) -> tuple[str, ...]:
        """Blocks that were pruned when the undo found them."""
        found = self._connection.rows(
            "SELECT id FROM undone_blocks WHERE operation_id = ? AND found AND status = 'pruned' ORDER BY id",
            [operation],
        )
        return tuple(str(row[0]) for row in found)

    def put_blocks_back(self, operation: int) -> tuple[str, ...]:
        """Blocks as the undo found them; returns those that had left. One that stayed keeps its clock."""
        revision = self._connection.revision()
        gone = self._connection.rows(
            "SELECT id FROM undone_blocks WHERE operation_id = ? AND found AND id NOT IN "
            "(SELECT id FROM memory_blocks) ORDER BY number",
            [operation],
        )
        away = [str(row[0]) for row in gone]
        self._connection.execute(
            f"UPDATE memory_blocks SET {', '.join(f'{c} = u.{c}' for c in _STATE.split(', '))}, "
            "embedding = u.embedding, revision = ? FROM undone_blocks AS u "
            "WHERE u.operation_id = ? AND u.found AND memory_blocks.id = u.id",
            [revision, operation],
        )
        self._connection.execute(
            f"INSERT INTO memory_blocks SELECT {_BLOCK}, category, confidence, decay_lambda, embedding, status, "
            "is_self_component, meta, 0, number, ?, valid_from, valid_to FROM undone_blocks WHERE operation_id = ? "
            "AND found AND id IN (SELECT unnest(?::VARCHAR[])) ORDER BY number",
            [revision, operation, away],
        )
        return tuple(away)

    def edges(self, operation: int, *, own: bool) -> tuple[Edge, ...]:
        """The edges that the undo found and that are to come back: its own, or those that went with a block."""
        rows = self._connection.rows(
            f"SELECT {_EDGE} FROM undone_edges WHERE operation_id = ? AND found AND {_KEY} "
            f"{'' if own else 'NOT '}IN {_OF_EDGES} ORDER BY 1, 2, 3",
            [operation, operation],
        )
        return tuple(_edge(row) for row in rows)

    def edges_brought_back(self, operation: int) -> tuple[EdgeKey, ...]:
        """The operation's edges that were not there when its undo began: the undo put them back."""
        rows = self._connection.rows(
            f"SELECT source_id, target_id, relation_type FROM undone_edges WHERE operation_id = ? AND NOT found "
            f"AND {_KEY} NOT IN (SELECT {_KEY} FROM undone_edges WHERE operation_id = ? AND found) ORDER BY 1, 2, 3",
            [operation, operation],
        )
        return tuple((str(s), str(t), str(r)) for s, t, r in rows)


def _differ(columns: str) -> str:
    every = columns.split(", ")
    texts = [
        f"l.{c}::VARCHAR IS DISTINCT FROM m.{c}::VARCHAR" if c == "meta" else f"l.{c} IS DISTINCT FROM m.{c}"
        for c in every
    ]
    return " OR ".join(texts)


def _edge(row: Sequence[Any]) -> Edge:
    return Edge(row[0], row[1], row[2], row[3], row[4], as_utc(row[5]), as_utc(row[6]), row[7])

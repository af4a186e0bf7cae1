"""Erase every trace of blocks from the tables, and rewrite the database so that no deleted byte is left.

Also the table `deleted_blocks`: complete copies of blocks removed by hard pruning.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from amgs.storage.block_columns import texts_of
from amgs.storage.connection import SqlConnection, StoragePart, to_stored_time
from amgs.storage.tables import MetaStorage

LEDGER = "deleted_blocks"
"""Name of the table of hard-pruned blocks."""


class DeletedBlockStorage(StoragePart):
    """Hard-pruned blocks, oldest first; only erasure deletes them."""

    def add(self, lines: Mapping[str, Mapping[str, Any]], at: datetime) -> None:
        """Store the blocks that this transaction deletes, by id."""
        if lines:
            entries = [json.dumps(line, ensure_ascii=False, sort_keys=True) for line in lines.values()]
            self._note(
                f"INSERT INTO {LEDGER} SELECT ?, unnest(?::VARCHAR[]), unnest(?::VARCHAR[])::JSON",
                [to_stored_time(at), list(lines), entries],
            )

    def lines(self) -> tuple[Mapping[str, Any], ...]:
        """Return all stored blocks."""
        rows = self._rows(f"SELECT line::VARCHAR FROM {LEDGER} ORDER BY rowid")
        return tuple(json.loads(line) for (line,) in rows)


_UNFINISHED = "erasure_unfinished"
_IDS = "(SELECT unnest(?::VARCHAR[]))"
_OWN_ROWS = (
    f"((target IN ('block', 'clock') AND key IN {_IDS}) OR (target = 'edge' AND "
    f"(split_part(key, ' ', 1) IN {_IDS} OR split_part(key, ' ', 2) IN {_IDS})))"
)
_BY_ID = {
    "scores_cache": ("block_id",),
    "reinforcement_log": ("block_id",),
    "edge_walks": ("source_id", "target_id"),
    "undone_blocks": ("id",),
    "undone_edges": ("source_id", "target_id"),
    "reviews": ("older_id", "newer_id"),
    "prepared_vectors": ("block_id",),
    "block_uses": ("block_id",),
    LEDGER: ("block_id",),
    "centrality": ("block_id",),
}
"""Tables whose rows are deleted, and the columns that name a block."""
_DIGITS = 16
"""Digits of an id by which searches and assemblies name blocks."""
_BLANK = "(erased)"
_OWN = f"{texts_of('blocks')} && ?::VARCHAR[]"
_OWN_MESSAGES = f"(SELECT DISTINCT conversation, number, added_by FROM messages WHERE {_OWN})"
"""SQL: messages that the blocks are pieces of."""


class ErasureStorage(StoragePart):
    """Erases rows about blocks in all tables but `memory_blocks` and `edges`, and compacts the database."""

    def __init__(self, connection: SqlConnection, meta: MetaStorage) -> None:
        super().__init__(connection)
        self._meta = meta

    def erase_traces(self, ids: Collection[str], reveals: Callable[[str], bool]) -> dict[str, int]:
        """Delete what other tables hold about these blocks: logs, journal rows, undo copies, reviews, searches,
        assemblies, caches.

        Runs inside a transaction and leaves the store `unfinished`. reveals: returns whether a free text (a summary, a
        query) reveals their content; such a text is blanked. Returns the number of rows deleted or blanked by table.
        Forecasts stay, since they hold only numbers and ids.
        """
        every = list(ids)
        changed = self._erase_journal(every, reveals)
        for table, columns in _BY_ID.items():
            condition = " OR ".join(f"{column} IN {_IDS}" for column in columns)
            changed[table] = self._delete(table, condition, [every] * len(columns))
        changed |= self._erase_sources(every)
        changed |= self._erase_exchanges(every, reveals)
        changed["mentions"] = self._erase_mentions(every, reveals)
        changed["messages"] = self._erase_messages(every)
        changed |= self._erase_packs(every, reveals)
        changed |= self._erase_texts(every, reveals)
        self.begin()
        return {table: rows for table, rows in changed.items() if rows}

    def holds(self, word: str) -> bool:
        """Return whether a block of the store contains this word, also within a longer word, in any case."""
        sql = "SELECT count(*) FROM memory_blocks WHERE contains(lower(content), lower(?))"
        return bool(self._value(sql, [word]))

    def begin(self) -> None:
        """Mark the store as `unfinished`, and make other programs rebuild their indexes; inside a transaction."""
        self._delete("outbox", "true", [])
        self._connection.edge_changes.forget()
        self._connection.clock_changes.forget()
        self._meta.put(_UNFINISHED, "yes")

    @property
    def unfinished(self) -> bool:
        """Return whether rows were erased but the file not rewritten since, so that it may still contain
        their bytes.
        """
        return self._meta.get(_UNFINISHED) is not None

    def compact(self, wait: float = 5.0) -> bool:
        """Rewrite the file without freed pages; needs as much free space as the new file.

        Waits at most `wait` seconds for readers; False, with nothing done, if a reader needs longer. Raises StoreError
        if there is no space.
        """
        return self._connection.compact(wait, ("DELETE FROM meta WHERE key = ?", [_UNFINISHED]))

    # --- inside -----------------------------------------------------------------------------------------

    def _delete(self, table: str, condition: str, parameters: Sequence[object]) -> int:
        """Delete the rows that meet the condition; return their number."""
        rows = int(self._value(f"SELECT count(*) FROM {table} WHERE {condition}", parameters))
        if rows:
            self._execute(f"DELETE FROM {table} WHERE {condition}", parameters)
        return rows

    def _erase_journal(self, ids: list[str], reveals: Callable[[str], bool]) -> dict[str, int]:
        """Delete the journal rows of the blocks and their edges, and blank summaries that reveal them."""
        own = [ids] * 3
        touched = self._rows(
            "SELECT o.id, o.summary, any_value(o.blocks + o.edges) = count(*), "
            f"count(*) FILTER (WHERE target = 'edge'), count(*) FROM operation_rows r "
            f"JOIN operations o ON o.id = r.operation_id WHERE {_OWN_ROWS} "
            "GROUP BY o.id, o.summary",
            own,
        )
        blanked = 0
        for number, summary, whole, edges, rows in touched:
            # An operation on these blocks alone may quote a former text of theirs.
            blank = bool(whole) or reveals(str(summary))
            blanked += blank
            self._execute(
                "UPDATE operations SET blocks = blocks - ?, edges = edges - ?, summary = ? WHERE id = ?",
                [rows - edges, edges, _BLANK if blank else summary, number],
            )
        return {"operation_rows": self._delete("operation_rows", _OWN_ROWS, own), "operations": blanked}

    def _erase_sources(self, ids: list[str]) -> dict[str, int]:
        """Delete the positions of the blocks in their sources, and sources without other blocks."""
        source_rows = self._rows(f"SELECT DISTINCT source FROM source_blocks WHERE block_id IN {_IDS}", [ids])
        names = [str(row[0]) for row in source_rows]
        rows = self._delete("source_blocks", f"block_id IN {_IDS}", [ids])
        bare = f"name IN {_IDS} AND name NOT IN (SELECT source FROM source_blocks)"
        return {"source_blocks": rows, "sources": self._delete("sources", bare, [names])}

    def _erase_exchanges(self, ids: list[str], reveals: Callable[[str], bool]) -> dict[str, int]:
        """Delete gateway requests that contained the blocks' messages or reveal their texts, and prompts of no other
        request.
        """
        from amgs.storage.messages import WITHOUT_EXCHANGE  # here: most sessions read no message

        own = "SELECT 1 FROM messages m WHERE m.conversation = e.conversation AND m.number <= e.last AND "
        own += f"{texts_of('m.blocks')} && ?::VARCHAR[]"
        rows = self._rows(f"SELECT number FROM exchanges e WHERE EXISTS ({own})", [ids])
        rest = self._rows("SELECT number, record FROM exchanges")
        gone = {int(row[0]) for row in rows} | {int(n) for n, record in rest if reveals(str(record))}
        prompts = self._rows("SELECT id, content FROM prompts")
        telling = [str(prompt_id) for prompt_id, content in prompts if reveals(str(content))]
        used = self._rows(f"SELECT DISTINCT exchange FROM exchange_prompts WHERE prompt IN {_IDS}", [telling])
        gone |= {int(row[0]) for row in used}
        changed = {"exchanges": self._delete("exchanges", "number IN (SELECT unnest(?::BIGINT[]))", [sorted(gone)])}
        return changed | {table: self._delete(table, bare, []) for table, bare in WITHOUT_EXCHANGE.items()}

    def _erase_mentions(self, ids: list[str], reveals: Callable[[str], bool]) -> int:
        """Delete mentions in the blocks' messages, and mentions elsewhere that refer to or reveal them."""
        rows = self._rows(
            "SELECT n.rowid, n.means::VARCHAR, own.number IS NOT NULL OR told.number IS NOT NULL FROM mentions n "
            f"LEFT JOIN {_OWN_MESSAGES} own ON own.conversation = n.conversation AND own.number = n.number "
            f"AND own.added_by IS NOT DISTINCT FROM n.said_by "
            f"LEFT JOIN {_OWN_MESSAGES} told ON told.conversation = n.conversation AND "
            "told.number = CAST(n.antecedent->>0 AS BIGINT)",
            [ids, ids],
        )
        gone = [int(row) for row, means, own in rows if own or reveals(" ".join(json.loads(means)))]
        return self._delete("mentions", "rowid IN (SELECT unnest(?::BIGINT[]))", [gone])

    def _erase_messages(self, ids: list[str]) -> int:
        """Blank the messages that the blocks are pieces of; their numbers stay, so that no other number changes."""
        rows = self._rows(f"SELECT conversation, number, added_by, calls::VARCHAR FROM messages WHERE {_OWN}", [ids])
        for conversation, number, added_by, calls in rows:
            bare = json.dumps([[call[0], call[1], "{}"] for call in json.loads(calls)], ensure_ascii=False)
            self._execute(
                "UPDATE messages SET content = ?, speaker = '', blocks = '[]', calls = ? WHERE conversation = ? "
                "AND number = ? AND added_by IS NOT DISTINCT FROM ?",
                [_BLANK, bare, conversation, number, added_by],
            )
        return len(rows)

    def _erase_packs(self, ids: list[str], reveals: Callable[[str], bool]) -> dict[str, int]:
        """Remove the blocks from packs, proposals and uses, and blank revealing words.

        A pack keeps its id, which was computed from more members. Works without the wing of packs.
        """
        gone, changed = set(ids), {"packs": 0, "pack_uses": 0, "pack_proposals": 0}
        packs = self._rows(
            "SELECT name, version, title, members::VARCHAR, keywords::VARCHAR, query FROM packs ORDER BY name, version"
        )
        for name, version, title, members, keywords, query in packs:
            other_members = [member for member in json.loads(members) if member[0] not in gone]
            less = len(other_members) < len(json.loads(members))
            words = [] if less else json.loads(keywords)
            texts = [_BLANK if reveals(str(text)) else str(text) for text in (title, query)]
            if less or texts != [title, query]:
                changed["packs"] += 1
                self._execute(
                    "UPDATE packs SET title = ?, members = ?, keywords = ?, query = ? WHERE name = ? AND version = ?",
                    [texts[0], json.dumps(other_members), json.dumps(words), texts[1], name, version],
                )
        uses = self._rows("SELECT number, query, blocks::VARCHAR FROM pack_uses")
        for number, query, blocks in uses:
            read = [block for block in json.loads(blocks) if block not in gone]
            told_query = _BLANK if reveals(str(query)) else str(query)
            if len(read) < len(json.loads(blocks)) or told_query != query:
                changed["pack_uses"] += 1
                self._execute(
                    "UPDATE pack_uses SET query = ?, blocks = ? WHERE number = ?",
                    [told_query, json.dumps(read), number],
                )
        proposed = self._rows("SELECT number, come::VARCHAR, gone::VARCHAR FROM pack_proposals ORDER BY number")
        for number, come, out in proposed:
            before = [json.loads(come), json.loads(out)]
            after = [[block for block in own if block not in gone] for own in before]
            if after != before:
                changed["pack_proposals"] += 1
                self._execute(
                    "UPDATE pack_proposals SET come = ?, gone = ? WHERE number = ?", [*map(json.dumps, after), number]
                )
        return changed

    def _erase_texts(self, ids: list[str], reveals: Callable[[str], bool]) -> dict[str, int]:
        """Delete searches and remembered values that name or reveal the blocks, blank queries, and empty the frame
        cache.
        """
        starts = [block_id[:_DIGITS] for block_id in ids]
        named = "EXISTS (SELECT 1 FROM (SELECT unnest(?::VARCHAR[]) AS start) s WHERE contains({0}, start))".format
        changed = {
            "waterfalls": self._delete("waterfalls", named("candidates"), [starts]),
            "searches": self._delete("searches", named("candidates"), [starts]),
            "monitor_log": self._delete("monitor_log", named("detail::VARCHAR"), [starts]),
            "frame_cache": self._delete("frame_cache", "true", []),
        }
        queries = self._rows("SELECT serial, query FROM searches")
        telling = [int(serial) for serial, query in queries if reveals(str(query))]
        changed["searches"] += self._delete("searches", "serial IN (SELECT unnest(?::BIGINT[]))", [telling])
        asked = self._rows("SELECT serial, query FROM assemblies WHERE query <> ''")
        telling = [int(serial) for serial, query in asked if reveals(str(query))]
        self._execute("UPDATE assemblies SET query = '' WHERE serial IN (SELECT unnest(?::BIGINT[]))", [telling])
        changed["assemblies"] = len(telling)
        rows = self._rows("SELECT key, value FROM meta WHERE starts_with(key, 'kept:')")
        gone = [
            str(key) for key, value in rows if any(start in f"{key} {value}" for start in starts) or reveals(str(value))
        ]
        changed["meta"] = self._delete("meta", f"key IN {_IDS}", [gone])
        return changed

"""The tables `packs`, `pack_uses` and `pack_credits`; those of proposals stand beside."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from amgs.clock import as_utc
from amgs.storage.connection import stored
from amgs.storage.pack_proposals import PackProposalStorage
from amgs.types.packs import Pack, PackMember, PackUse

_STANDING = (
    "(SELECT p.*, (p.retired_by IS NOT NULL AND r.undone IS NOT TRUE) AS retired FROM packs p "
    "LEFT JOIN operations a ON a.id = p.added_by LEFT JOIN operations r ON r.id = p.retired_by "
    "WHERE a.undone IS NOT TRUE)"
)
"""The versions whose operations stand, and whether one that stands has retired them."""
_COLUMNS = (
    "name, version, id, title, members::VARCHAR, keywords::VARCHAR, tokens, created_at, query, frame, retired"
)
_USES = (
    "number, name, version, pack, used_at, query, session, tokens, blocks::VARCHAR, outcome, credit, model"
)
_READ = (
    "(SELECT u.*, c.credit, c.model FROM pack_uses u LEFT JOIN (SELECT DISTINCT ON (number) number, credit, model "
    "FROM pack_credits k LEFT JOIN operations o ON o.id = k.credited_by WHERE o.undone IS NOT TRUE "
    "ORDER BY number, credited_by DESC) c ON c.number = u.number)"
)
"""Readings, with the last credit that stands."""


class PackStorage(PackProposalStorage):
    """Versions of packs by name. One counts while the operation that kept it stands; it is retired while the one that
    retired it does.
    """

    def put(self, pack: Pack, operation: int) -> None:
        """Note a version."""
        self._connection.execute(
            "INSERT INTO packs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
            [
                pack.name,
                pack.version,
                pack.id,
                pack.title,
                json.dumps([[one.block, one.role] for one in pack.members]),
                json.dumps(list(pack.keywords), ensure_ascii=False),
                pack.tokens,
                stored(pack.created_at),
                pack.query,
                pack.frame,
                operation,
            ],
            structural=False,
        )

    def retire(self, name: str, operation: int) -> None:
        """Note that all standing versions of a name are retired."""
        self._connection.execute(
            "UPDATE packs SET retired_by = ? WHERE name = ? AND (retired_by IS NULL OR retired_by IN "
            "(SELECT id FROM operations WHERE undone))",
            [operation, name],
            structural=False,
        )

    def versions(self, name: str) -> tuple[Pack, ...]:
        """The versions of a name, the oldest first, retired ones too."""
        rows = self._connection.rows(
            f"SELECT {_COLUMNS} FROM {_STANDING} WHERE name = ? ORDER BY version", [name]
        )
        return tuple(map(_pack, rows))

    def latest(self) -> tuple[Pack, ...]:
        """The latest version of each name, by name, retired ones too."""
        rows = self._connection.rows(
            f"SELECT DISTINCT ON (name) {_COLUMNS} FROM {_STANDING} ORDER BY name, version DESC"
        )
        return tuple(map(_pack, rows))

    def log(
        self, pack: Pack, at: datetime, query: str, session: str, tokens: int, blocks: Sequence[str]
    ) -> int:
        """Log that a pack was read; returns the number of the row."""
        number = int(self._connection.value("SELECT coalesce(max(number), 0) + 1 FROM pack_uses"))
        self._connection.execute(
            "INSERT INTO pack_uses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
            [
                number,
                pack.name,
                pack.version,
                pack.id,
                stored(at),
                query,
                session,
                tokens,
                json.dumps(list(blocks)),
            ],
            structural=False,
        )
        return number

    def judge(self, number: int, outcome: float) -> bool:
        """Note the outcome of a use; False where there is none of that number."""
        if not self._connection.value("SELECT count(*) FROM pack_uses WHERE number = ?", [number]):
            return False
        self._connection.execute(
            "UPDATE pack_uses SET outcome = ? WHERE number = ?", [outcome, number], structural=False
        )
        return True

    def credit(self, credits: Mapping[int, float], model: str, operation: int) -> None:
        """Note what readings are credited with, by their numbers, in nats a token of an answer."""
        for number, credit in credits.items():
            self._connection.execute(
                "INSERT INTO pack_credits VALUES (?, ?, ?, ?)",
                [number, credit, model, operation],
                structural=False,
            )

    def uses(self, name: str | None = None, limit: int | None = None) -> tuple[PackUse, ...]:
        """What was read, of one name when it is given, the newest first."""
        where = "" if name is None else " WHERE name = ?"
        most = "" if limit is None else " LIMIT ?"
        rows = self._connection.rows(
            f"SELECT {_USES} FROM {_READ} AS r{where} ORDER BY number DESC{most}",
            [*([] if name is None else [name]), *([] if limit is None else [limit])],
        )
        return tuple(map(_use, rows))

    def session(self, session: str) -> tuple[PackUse, ...]:
        """What was read in a session, in order."""
        rows = self._connection.rows(
            f"SELECT {_USES} FROM {_READ} AS r WHERE session = ? ORDER BY number", [session]
        )
        return tuple(map(_use, rows))


def _pack(row: Sequence[Any]) -> Pack:
    name, version, id_, title, members, keywords, tokens, created_at, query, frame, retired = row
    return Pack(
        str(name),
        int(version),
        str(id_),
        str(title),
        tuple(PackMember(str(block), role) for block, role in json.loads(members)),
        tuple(map(str, json.loads(keywords))),
        int(tokens),
        as_utc(created_at),
        str(query),
        str(frame),
        bool(retired),
    )


def _use(row: Sequence[Any]) -> PackUse:
    number, name, version, pack, used_at, query, session, tokens, blocks, outcome, credit, model = row
    return PackUse(
        int(number),
        str(name),
        int(version),
        str(pack),
        as_utc(used_at),
        str(query),
        str(session),
        int(tokens),
        tuple(map(str, json.loads(blocks))),
        None if outcome is None else float(outcome),
        None if credit is None else float(credit),
        str(model or ""),
    )

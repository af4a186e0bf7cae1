"""The tables `packs`, `pack_uses` and `pack_proposals`. Nothing reads `pack_credits`, which stays as it is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from amgs.clock import as_utc
from amgs.storage.connection import StoragePart, stored
from amgs.wings.packs.values import Pack, PackAction, PackMember, PackProposal, PackUse

_STANDING = (
    "(SELECT p.*, (p.retired_by IS NOT NULL AND r.undone IS NOT TRUE) AS retired FROM packs p "
    "LEFT JOIN operations a ON a.id = p.added_by LEFT JOIN operations r ON r.id = p.retired_by "
    "WHERE a.undone IS NOT TRUE)"
)
"""The versions whose operations stand, and whether one that stands has retired them."""
_COLUMNS = "name, version, id, title, members::VARCHAR, keywords::VARCHAR, tokens, created_at, query, frame, retired"
_USES = "number, name, version, pack, used_at, query, session, tokens, blocks::VARCHAR, outcome"


class PackStorage(StoragePart):
    """Versions of packs by name. One counts while the operation that kept it stands; it is retired while the one that
    retired it does.
    """

    def put(self, pack: Pack, operation: int) -> None:
        """Note a version."""
        self._execute(
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
        self._execute(
            "UPDATE packs SET retired_by = ? WHERE name = ? AND (retired_by IS NULL OR retired_by IN "
            "(SELECT id FROM operations WHERE undone))",
            [operation, name],
            structural=False,
        )

    def versions(self, name: str) -> tuple[Pack, ...]:
        """The versions of a name, the oldest first, retired ones too."""
        rows = self._rows(f"SELECT {_COLUMNS} FROM {_STANDING} WHERE name = ? ORDER BY version", [name])
        return tuple(map(_pack, rows))

    def latest(self) -> tuple[Pack, ...]:
        """The latest version of each name, by name, retired ones too."""
        rows = self._rows(f"SELECT DISTINCT ON (name) {_COLUMNS} FROM {_STANDING} ORDER BY name, version DESC")
        return tuple(map(_pack, rows))

    def log(self, pack: Pack, at: datetime, query: str, session: str, tokens: int, blocks: Sequence[str]) -> int:
        """Log that a pack was read; returns the number of the row."""
        number = int(self._value("SELECT coalesce(max(number), 0) + 1 FROM pack_uses"))
        self._execute(
            "INSERT INTO pack_uses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
            [number, pack.name, pack.version, pack.id, stored(at), query, session, tokens, json.dumps(list(blocks))],
            structural=False,
        )
        return number

    def judge(self, number: int, outcome: float) -> bool:
        """Note the outcome of a use; False where there is none of that number."""
        if not self._value("SELECT count(*) FROM pack_uses WHERE number = ?", [number]):
            return False
        self._execute("UPDATE pack_uses SET outcome = ? WHERE number = ?", [outcome, number], structural=False)
        return True

    def uses(self, name: str | None = None, limit: int | None = None) -> tuple[PackUse, ...]:
        """What was read, of one name when it is given, the newest first."""
        where = "" if name is None else " WHERE name = ?"
        most = "" if limit is None else " LIMIT ?"
        rows = self._rows(
            f"SELECT {_USES} FROM pack_uses{where} ORDER BY number DESC{most}",
            [*([] if name is None else [name]), *([] if limit is None else [limit])],
        )
        return tuple(map(_use, rows))

    def decide(self, proposal: PackProposal, verdict: str, at: datetime, operation: int) -> None:
        """Note a verdict on a proposal, "accepted" or "rejected", and the operation that carried it out."""
        number = int(self._value("SELECT coalesce(max(number), 0) + 1 FROM pack_proposals"))
        self._execute(
            "INSERT INTO pack_proposals VALUES (?, ?, ?, 'rule', 0, 1, 1, ?, ?, ?, ?, ?, ?, '{}', ?, NULL, 0, ?, ?)",
            [
                number,
                operation,
                stored(at),
                proposal.action,
                json.dumps(list(proposal.packs), ensure_ascii=False),
                proposal.name,
                json.dumps(list(proposal.come)),
                json.dumps(list(proposal.gone)),
                proposal.because,
                proposal.sure,
                verdict,
                operation,
            ],
            structural=False,
        )

    def decided(self) -> set[tuple[PackAction, tuple[str, ...]]]:
        """The proposals with a verdict that stands, by their actions and packs."""
        rows = self._rows(
            "SELECT p.action, p.packs::VARCHAR FROM pack_proposals p "
            "JOIN operations v ON v.id = p.decided_by AND NOT v.undone"
        )
        return {(action, tuple(map(str, json.loads(packs)))) for action, packs in rows}


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
    number, name, version, pack, used_at, query, session, tokens, blocks, outcome = row
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
    )

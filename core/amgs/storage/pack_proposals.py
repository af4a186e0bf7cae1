"""The table `pack_proposals`: what could be done with packs, and what was decided of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from amgs.clock import as_utc
from amgs.storage.connection import SqlConnection, stored
from amgs.types.pack_learning import PackProposal, PackProposals

_STANDING = (
    "SELECT p.number, p.found_by, p.found_at, p.policy, p.explore, p.place, p.propensity, p.action, "
    "p.packs::VARCHAR, p.name, p.come::VARCHAR, p.gone::VARCHAR, p.because, p.features::VARCHAR, p.sure, "
    "p.likely, p.bound, CASE WHEN v.id IS NULL OR v.undone THEN 'open' ELSE p.verdict END, "
    "CASE WHEN v.id IS NULL OR v.undone THEN NULL ELSE v.id END "
    "FROM pack_proposals p JOIN operations f ON f.id = p.found_by AND NOT f.undone "
    "LEFT JOIN operations v ON v.id = p.decided_by "
    "ORDER BY p.found_by DESC, p.place = 0, p.place, p.number"
)


class PackProposalStorage:
    """The part of `PackStorage` that is about proposals."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def queue(self, plan: PackProposals, operation: int) -> PackProposals:
        """Put a plan's proposals into the queue; returns it with their numbers, which are not given out twice."""
        first = int(self._connection.value("SELECT coalesce(max(number), 0) + 1 FROM pack_proposals"))
        numbered = [
            replace(one, number=first + n) for n, one in enumerate((*plan.proposals, *plan.passed_over))
        ]
        for one in numbered:
            self._connection.execute(
                "INSERT INTO pack_proposals VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)",
                [
                    one.number,
                    operation,
                    stored(plan.made_at),
                    plan.policy,
                    plan.explore,
                    one.place,
                    one.propensity,
                    one.action,
                    json.dumps(list(one.packs), ensure_ascii=False),
                    one.name,
                    json.dumps(list(one.come)),
                    json.dumps(list(one.gone)),
                    one.because,
                    json.dumps(dict(one.features)),
                    one.sure,
                    one.likely,
                    one.bound,
                ],
                structural=False,
            )
        queued = len(plan.proposals)
        return replace(
            plan,
            proposals=tuple(numbered[:queued]),
            passed_over=tuple(numbered[queued:]),
            operation=operation,
        )

    def decide(self, number: int, verdict: str, operation: int) -> None:
        """Note a verdict on a proposal and the operation that carried it out."""
        self._connection.execute(
            "UPDATE pack_proposals SET verdict = ?, decided_by = ? WHERE number = ?",
            [verdict, operation, number],
            structural=False,
        )

    def proposals(self) -> tuple[PackProposals, ...]:
        """What was queued and stands, the latest first; a verdict counts while its own operation stands."""
        return tuple(
            _plan(list(rows)) for _, rows in groupby(self._connection.rows(_STANDING), lambda row: row[1])
        )


def _plan(rows: Sequence[Sequence[Any]]) -> PackProposals:
    every = [_proposal(row) for row in rows]
    _, found_by, found_at, policy, explore, *_ = rows[0]
    return PackProposals(
        tuple(one for one in every if one.place),
        policy,
        float(explore),
        tuple(one for one in every if not one.place),
        as_utc(found_at),
        int(found_by),
    )


def _proposal(row: Sequence[Any]) -> PackProposal:
    number, *_, place, propensity, action, packs, name, come, gone = row[:12]
    because, features, sure, likely, bound, state, decided_by = row[12:]
    return PackProposal(
        int(number),
        action,
        tuple(map(str, json.loads(packs))),
        str(name),
        tuple(map(str, json.loads(come))),
        tuple(map(str, json.loads(gone))),
        str(because),
        {str(key): float(value) for key, value in json.loads(features).items()},
        float(sure),
        None if likely is None else float(likely),
        float(bound),
        int(place),
        float(propensity),
        state,
        None if decided_by is None else int(decided_by),
    )

"""The tables `frame_definitions` and `frame_compositions`: what a frame is, as data (AMGS §4, §5.2)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from amgs.errors import StoreCorruptError, WeightsError
from amgs.storage.frames import FrameStorage, decode_rule, encode_rule, encode_weights
from amgs.types import ChildFrame, FrameDefinition, Weights

if TYPE_CHECKING:
    from amgs.storage.sql.connection import SqlConnection


class SqlFrames(FrameStorage):
    """`FrameStorage` in SQL."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def put(self, definitions: Sequence[FrameDefinition]) -> None:
        names = [d.name for d in definitions]
        self.delete(names)
        columns: list[list[Any]] = [
            names,
            ["composite" if d.is_composite else "atomic" for d in definitions],
            [d.purpose for d in definitions],
            [json.dumps(encode_rule(d.rule), sort_keys=True) for d in definitions],
            [encode_weights(d.weights) for d in definitions],
            [d.assembly for d in definitions],
            [d.budget for d in definitions],
            [d.refresh_hours for d in definitions],
            [d.merge for d in definitions],
            [d.budget_strategy for d in definitions],
            [d.semantic_threshold for d in definitions],
            [None if d.rescore is None else encode_weights(d.rescore) for d in definitions],
        ]
        self._connection.execute(
            "INSERT INTO frame_definitions SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), "
            "unnest(?::VARCHAR[]), unnest(?::VARCHAR[])::JSON, unnest(?::VARCHAR[])::JSON, "
            "unnest(?::VARCHAR[]), unnest(?::BIGINT[]), unnest(?::DOUBLE[]), unnest(?::VARCHAR[]), "
            "unnest(?::VARCHAR[]), unnest(?::DOUBLE[]), unnest(?::VARCHAR[])::JSON",
            columns,
        )
        links = [(d.name, c.name, d.merge, c.share, i) for d in definitions for i, c in enumerate(d.children)]
        if links:
            self._connection.execute(
                "INSERT INTO frame_compositions SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), "
                "unnest(?::VARCHAR[]), unnest(?::DOUBLE[]), unnest(?::INTEGER[])",
                [list(column) for column in zip(*links, strict=True)],
            )

    def delete(self, names: Sequence[str]) -> None:
        given = [list(names)]
        self._connection.execute(
            "DELETE FROM frame_definitions WHERE name IN (SELECT unnest(?::VARCHAR[]))", given
        )
        self._connection.execute(
            "DELETE FROM frame_compositions WHERE parent_frame IN (SELECT unnest(?::VARCHAR[]))", given
        )

    def everything(self) -> tuple[FrameDefinition, ...]:
        children: dict[str, list[ChildFrame]] = {}
        for parent, child, share in self._connection.rows(
            "SELECT parent_frame, child_frame, budget_allocation FROM frame_compositions ORDER BY "
            "parent_frame, position"
        ):
            children.setdefault(str(parent), []).append(ChildFrame(str(child), float(share)))
        found = self._connection.rows(
            "SELECT name, purpose, selection_rules::VARCHAR, scoring_weights::VARCHAR, assembly_strategy, "
            "budget, "
            "refresh_hours, merge_strategy, budget_strategy, semantic_threshold, rescore_weights::VARCHAR "
            "FROM frame_definitions ORDER BY name"
        )
        return tuple(_definition(row, tuple(children.get(str(row[0]), ()))) for row in found)


def _definition(row: tuple[Any, ...], children: tuple[ChildFrame, ...]) -> FrameDefinition:
    try:
        return FrameDefinition(
            name=row[0],
            purpose=row[1],
            weights=Weights(**json.loads(row[3])),
            rule=decode_rule(json.loads(row[2])),
            assembly=row[4],
            budget=int(row[5]),
            refresh_hours=float(row[6]),
            children=children,
            merge=row[7],
            budget_strategy=row[8],
            semantic_threshold=row[9],
            rescore=None if row[10] is None else Weights(**json.loads(row[10])),
        )
    except (KeyError, TypeError, ValueError, AttributeError, WeightsError) as error:
        raise StoreCorruptError(
            f"The definition of the frame {row[0]} cannot be read: {error!r}.",
            way_out="Restore the store from a backup, or import an export of it.",
        ) from error

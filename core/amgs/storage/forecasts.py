"""Tables `calibration_log`, `edge_forecasts` and `block_uses`: forecasts that a block will be useful, the edges that
led to it, and the outcomes by verdict or answer (AMGS §7.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from amgs.clock import as_utc
from amgs.storage.connection import SqlConnection, StoragePart, microseconds, to_stored_time
from amgs.types import EdgeKey

if TYPE_CHECKING:
    from amgs.types import Outcome
    from amgs.types.calibration import BlockUse


ForecastGroup = Literal["frame", "category", "relation"]
"""How forecasts are grouped. relation: by type of an edge walked to the block."""

CaseRow: TypeAlias = "tuple[Outcome, str, tuple[str, ...], datetime]"
"""(forecast, query of its assembly, types of edges walked to its block, time it was made)."""

GroupRow = tuple[
    Literal["all", "frame", "category", "relation"], str, int, int, float | None, float | None, float | None
]
"""(kind, name, forecasts, outcomes, mean of decided forecasts, share that came true, Brier score)."""

QuestionRow = tuple[str, str, tuple[str, ...]]
"""(frame, question, ids of useful blocks)."""

NEEDS = "needs:"
"""Key prefix in `meta`, followed by an operation's number, of what that operation measured about frames' coverage."""

_COLUMNS = "prediction_id, predicted, actual, brier_score, timestamp, block_id, frame_name, category"
_CONDITIONS: dict[ForecastGroup, str] = {
    "frame": "frame_name = ?",
    "category": "category = ?",
    "relation": "prediction_id IN (SELECT prediction_id FROM edge_forecasts WHERE relation_type = ?)",
}


@dataclass(frozen=True, slots=True)
class CalibrationFit:
    """Results of calibrations as JSON: the curve from scores to forecasts, and what questions need of frames; None if
    there is none.
    """

    curve: str | None
    needs: str | None


class ForecastStorage(StoragePart):
    """The log of forecasts and their outcomes."""

    def __init__(self, connection: SqlConnection) -> None:
        super().__init__(connection)
        self._fitted: tuple[Sequence[Any], CalibrationFit] | None = None

    def next_serial(self) -> int:
        """Return the serial of the next forecast, from 1."""
        return self._connection.highest("calibration_log", "serial") + 1

    def insert(
        self, forecasts: Sequence[Outcome], assembly_id: str, first_serial: int, scores: Sequence[float] | None = None
    ) -> None:
        """Log open forecasts of an assembly, with serials from `first_serial`.

        scores: composite scores that they were computed from, if a curve changed them.
        """
        if not forecasts:
            return
        self._note(
            "INSERT INTO calibration_log SELECT unnest(?::VARCHAR[]), unnest(?::DOUBLE[]), NULL, NULL, "
            "make_timestamp(unnest(?::BIGINT[])), NULL, unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), ?, "
            "unnest(?::VARCHAR[]), unnest(?::BIGINT[]), unnest(?::DOUBLE[])",
            [
                [f.prediction_id for f in forecasts],
                [f.predicted for f in forecasts],
                microseconds([f.at for f in forecasts]),
                [f.block_id for f in forecasts],
                [f.frame for f in forecasts],
                assembly_id,
                [f.category for f in forecasts],
                list(range(first_serial, first_serial + len(forecasts))),
                list(scores) if scores is not None else [None] * len(forecasts),
            ],
        )
        self._connection.note_highest("calibration_log", first_serial + len(forecasts) - 1)

    def read_scored(self) -> tuple[tuple[float, float], ...]:
        """Return (composite score, outcome) of every decided forecast, oldest first; the outcome is the verdict, else
        whether an answer used the block.
        """
        return tuple(
            self._rows(
                "SELECT coalesce(c.score, c.predicted), "
                "coalesce(c.actual, CASE WHEN u.used_by = '' THEN 0.0 ELSE 1.0 END) FROM calibration_log c "
                "LEFT JOIN block_uses u ON u.prediction_id = c.prediction_id "
                "WHERE c.actual IS NOT NULL OR u.used_by IS NOT NULL ORDER BY c.serial"
            )
        )

    def put_curve(self, operation: int, curve: str) -> None:
        """Store the curve (JSON) that an operation fitted."""
        self._note("INSERT INTO forecast_curves VALUES (?, ?::JSON)", [operation, curve])

    def curve(self) -> str | None:
        """Return the curve (JSON) of the latest operation that is not undone; None if there is none."""
        value = self._value(
            "SELECT curve::VARCHAR FROM forecast_curves JOIN operations ON id = operation_id WHERE NOT undone "
            "ORDER BY operation_id DESC LIMIT 1"
        )
        return None if value is None else str(value)

    def put_needs(self, operation: int, needs: str) -> None:
        """Store what questions need of frames (JSON), as measured by an operation."""
        self._note("INSERT INTO meta VALUES (?, ?)", [f"{NEEDS}{operation}", needs])

    def read_fit(self) -> CalibrationFit:
        """Return the results of the calibrations that are not undone; cached until another calibration or undo."""
        standing = self._connection.read_cached_rows(
            "operations", "SELECT id FROM operations WHERE kind = 'calibrate' AND NOT undone ORDER BY id"
        )
        known = self._fitted
        if known is None or known[0] != standing:
            self._fitted = known = standing, CalibrationFit(self.curve(), self.needs())
        return known[1]

    def needs(self) -> str | None:
        """Return what questions need of frames (JSON), from the latest operation that is not undone; None if there is
        none.
        """
        value = self._value(
            "SELECT value FROM meta JOIN operations ON key = concat(?::VARCHAR, id) WHERE NOT undone "
            "ORDER BY id DESC LIMIT 1",
            [NEEDS],
        )
        return None if value is None else str(value)

    def read_judged_questions(self, limit: int) -> tuple[QuestionRow, ...]:
        """Return the latest questions with a verdict or a telling answer, oldest first; repeated questions to a frame
        count once.
        """
        rows = self._rows(
            "SELECT frame, any_value(query), array_agg(DISTINCT block_id ORDER BY block_id) "
            "FILTER (WHERE useful >= 0.5) FROM (SELECT c.serial, c.frame_name AS frame, c.block_id, "
            "(SELECT any_value(query) FROM assemblies a WHERE a.id = c.assembly_id) AS query, "
            "coalesce(c.actual, CASE WHEN u.used_by = '' THEN 0.0 ELSE 1.0 END) AS useful "
            "FROM calibration_log c LEFT JOIN block_uses u ON u.prediction_id = c.prediction_id "
            "WHERE c.actual IS NOT NULL OR u.used_by IS NOT NULL) AS told WHERE trim(query) <> '' "
            "GROUP BY frame, lower(trim(query)) ORDER BY max(serial) DESC LIMIT ?",
            [limit],
        )
        return tuple((frame, query, tuple(ids or ())) for frame, query, ids in reversed(rows))

    def open_forecast(
        self, block_id: str, assembly_id: str | None = None, prediction_id: str | None = None
    ) -> Outcome | None:
        """Return the latest undecided forecast of a block, optionally of an assembly or with an id."""
        named = {"assembly_id": assembly_id, "prediction_id": prediction_id}
        criteria = {column: value for column, value in named.items() if value is not None}
        rows = self._rows(
            f"SELECT {_COLUMNS} FROM calibration_log WHERE block_id = ? AND actual IS NULL"
            + "".join(f" AND {column} = ?" for column in criteria)
            + " ORDER BY serial DESC LIMIT 1",
            [block_id, *criteria.values()],
        )
        return _outcome(rows[0]) if rows else None

    def find_awaited(self, ids: Sequence[str], since: datetime) -> dict[str, str]:
        """Return the id of the latest forecast of each block since a time, if it has neither verdict nor answer; by
        block.
        """
        rows = self._rows(
            "SELECT block_id, prediction_id FROM (SELECT c.block_id, c.prediction_id, row_number() OVER "
            "(PARTITION BY c.block_id ORDER BY c.serial DESC) AS place FROM calibration_log c LEFT JOIN block_uses u "
            "ON u.prediction_id = c.prediction_id WHERE c.actual IS NULL AND u.number IS NULL AND c.timestamp >= ? "
            "AND c.block_id IN (SELECT unnest(?::VARCHAR[]))) AS latest WHERE place = 1",
            [to_stored_time(since), list(ids)],
        )
        return dict(rows)

    def verdicts(self, frame: str, query: str) -> dict[str, float]:
        """Return the outcome of the latest forecast of each block that a frame selected for a query; undecided ones are
        left out.
        """
        return dict(
            self._rows(
                "SELECT block_id, actual FROM (SELECT c.block_id, c.actual, row_number() OVER "
                "(PARTITION BY c.block_id ORDER BY c.serial DESC) AS place FROM calibration_log c JOIN assemblies a "
                "ON a.id = c.assembly_id WHERE c.frame_name = ? AND a.query = ?) "
                "WHERE place = 1 AND actual IS NOT NULL",
                [frame, query],
            )
        )

    def decide(self, prediction_id: str, actual: float, brier: float, at: datetime) -> None:
        """Write the outcome of a forecast."""
        self._note(
            "UPDATE calibration_log SET actual = ?, brier_score = ?, decided_at = ? WHERE prediction_id = ?",
            [actual, brier, to_stored_time(at), prediction_id],
        )

    def reopen(self, prediction_ids: Sequence[str]) -> None:
        """Delete the outcomes of forecasts, which then wait for a verdict again."""
        self._note(
            "UPDATE calibration_log SET actual = NULL, brier_score = NULL, decided_at = NULL "
            "WHERE prediction_id IN (SELECT unnest(?::VARCHAR[]))",
            [list(prediction_ids)],
        )

    def read_decided(self, *, by: ForecastGroup | None = None, value: str | None = None) -> tuple[Outcome, ...]:
        """Return decided forecasts, latest verdict first; `at` is the time of the verdict."""
        condition = "" if by is None or value is None else f" AND {_CONDITIONS[by]}"
        rows = self._rows(
            "SELECT prediction_id, predicted, actual, brier_score, decided_at, block_id, frame_name, category "
            f"FROM calibration_log WHERE actual IS NOT NULL{condition} ORDER BY decided_at DESC, serial DESC",
            [value] if condition else [],
        )
        return tuple(_outcome(row) for row in rows)

    def cases(
        self,
        *,
        decided: bool | None,
        in_bin: tuple[int, int] | None = None,
        by: ForecastGroup | None = None,
        value: str | None = None,
        limit: int,
    ) -> tuple[CaseRow, ...]:
        """Return forecasts with query and edges, latest first.

        decided: with an outcome, without, or (None) both. in_bin: (bin from 0, number of bins).
        """
        conditions = ["true"] if decided is None else [f"c.actual IS {'NOT ' if decided else ''}NULL"]
        values: list[Any] = []
        if in_bin is not None:
            conditions.append("least(? - 1, floor(predicted * ?)::BIGINT) = ?")
            values += [in_bin[1], in_bin[1], in_bin[0]]
        if by is not None and value is not None:
            conditions.append(_CONDITIONS[by])
            values.append(value)
        rows = self._rows(
            "SELECT prediction_id, predicted, actual, brier_score, coalesce(decided_at, timestamp), block_id, "
            "frame_name, category, coalesce((SELECT any_value(query) FROM assemblies a "
            "WHERE a.id = c.assembly_id), ''), "
            "(SELECT array_agg(DISTINCT relation_type ORDER BY relation_type) FROM edge_forecasts e "
            "WHERE e.prediction_id = c.prediction_id), timestamp FROM calibration_log c "
            f"WHERE {' AND '.join(conditions)} ORDER BY coalesce(decided_at, timestamp) DESC, serial DESC LIMIT ?",
            [*values, limit],
        )
        return tuple((_outcome(row), row[8], tuple(row[9] or ()), as_utc(row[10])) for row in rows)

    def count_verdicts(self, ids: Sequence[str] | None = None) -> dict[str, tuple[int, int]]:
        """Return (times useful, verdicts) by block; blocks without verdicts are left out.

        An answer that used a block counts as a verdict if the forecast has none. An answer that shows no use does not
        count: it may have used the block in other words.
        """
        condition = "" if ids is None else " WHERE block_id IN (SELECT unnest(?::VARCHAR[]))"
        rows = self._rows(
            "SELECT block_id, count(*) FILTER (WHERE actual >= 0.5), count(*) FROM ("
            "SELECT block_id, actual FROM calibration_log WHERE actual IS NOT NULL UNION ALL "
            "SELECT u.block_id, 1.0 FROM block_uses u LEFT JOIN calibration_log c ON c.prediction_id = u.prediction_id "
            f"WHERE u.used_by <> '' AND c.actual IS NULL) AS told{condition} GROUP BY 1 ORDER BY 1",
            [] if ids is None else [list(ids)],
        )
        return {block: (useful, verdicts) for block, useful, verdicts in rows}

    def latest(self, limit: int) -> tuple[Outcome, ...]:
        """Return the latest forecasts, newest first."""
        rows = self._rows(f"SELECT {_COLUMNS} FROM calibration_log ORDER BY serial DESC LIMIT ?", [limit])
        return tuple(_outcome(row) for row in rows)

    def count(self, *, by: ForecastGroup | None = None, value: str | None = None) -> int:
        """Count the forecasts, of all or of a frame, category or relation."""
        if by is None or value is None:
            return self._count("SELECT count(*) FROM calibration_log")
        return self._count(f"SELECT count(*) FROM calibration_log WHERE {_CONDITIONS[by]}", [value])

    def groups(self) -> tuple[GroupRow, ...]:
        """Return totals of all forecasts, then by frame, category and relation."""
        of_decided = "avg(predicted) FILTER (WHERE actual IS NOT NULL), avg(actual), avg(brier_score)"
        rows = self._rows(
            f"SELECT 'all', '', count(*), count(actual), {of_decided}, 0 AS place FROM calibration_log "
            f"UNION ALL SELECT 'frame', frame_name, count(*), count(actual), {of_decided}, 1 FROM calibration_log "
            f"GROUP BY 2 UNION ALL SELECT 'category', category, count(*), count(actual), {of_decided}, 2 FROM "
            f"calibration_log GROUP BY 2 UNION ALL SELECT 'relation', relation_type, count(*), count(actual), "
            f"{of_decided}, 3 FROM calibration_log JOIN (SELECT DISTINCT prediction_id, relation_type FROM "
            "edge_forecasts) USING (prediction_id) GROUP BY 2 ORDER BY place, 2"
        )
        return tuple((k, name, n, d, p, r, b) for k, name, n, d, p, r, b, _ in rows)

    def counts(self) -> tuple[int, int, float | None]:
        """Return (forecasts, outcomes, mean Brier score or None)."""
        n, decided_n, brier = self._rows("SELECT count(*), count(actual), avg(brier_score) FROM calibration_log")[0]
        return n, decided_n, None if brier is None else brier


def _outcome(row: Sequence[Any]) -> Outcome:
    from amgs.types import Outcome

    return Outcome(row[0], row[1], row[2], row[3], as_utc(row[4]), row[5], row[6], row[7])


class BlockUseStorage(StoragePart):
    """Log of the blocks that answers used. Writing it does not change the memory."""

    def add(self, uses: Sequence[BlockUse], keep: int) -> None:
        """Log what an answer used, and delete all but the latest `keep` entries."""
        first = self._count("SELECT coalesce(max(number), 0) + 1 FROM block_uses")
        for number, use in enumerate(uses, first):
            self._execute(
                "INSERT INTO block_uses VALUES (?, ?, ?, ?, ?, ?)",
                [number, to_stored_time(use.at), use.block_id, use.prediction_id, use.by, use.chance],
                counted=False,
            )
        self._execute("DELETE FROM block_uses WHERE number <= ?", [first + len(uses) - 1 - keep], counted=False)

    def latest(self, limit: int) -> tuple[BlockUse, ...]:
        """Return the latest uses, newest first, without titles."""
        from amgs.types.calibration import BlockUse

        rows = self._rows(
            "SELECT answered_at, block_id, used_by, chance, prediction_id FROM block_uses ORDER BY number DESC LIMIT ?",
            [limit],
        )
        return tuple(BlockUse(as_utc(at), i, by, p, of) for at, i, by, p, of in rows)

    def controls(self, without: Sequence[str], limit: int) -> tuple[str, ...]:
        """Return texts of other live blocks for comparison: those with the smallest ids, which are hashes and so as
        good as random.
        """
        rows = self._rows(
            "SELECT content FROM memory_blocks WHERE status IN ('raw', 'consolidated') AND "
            "id NOT IN (SELECT unnest(?::VARCHAR[])) ORDER BY id LIMIT ?",
            [list(without), limit],
        )
        return tuple(content for (content,) in rows)


@dataclass(frozen=True, slots=True)
class EdgeVerdicts:
    """An edge with the verdicts on what it led to that no operation has learned from yet. hits: sum of outcomes."""

    key: EdgeKey
    hits: float
    count: int


class EdgeForecastStorage(StoragePart):
    """Log of the edges that led to the block of each forecast."""

    def insert(self, walked: Iterable[tuple[str, EdgeKey]]) -> None:
        """Log pairs of a prediction id and the key of an edge walked to its block."""
        rows = list(walked)
        if not rows:
            return
        self._note(
            "INSERT INTO edge_forecasts SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), "
            "unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), NULL",
            [[p for p, _ in rows], *([key[place] for _, key in rows] for place in range(3))],
        )

    def open_verdicts(self, predictions: Sequence[str] | None = None) -> tuple[EdgeVerdicts, ...]:
        """Return per edge the verdicts that no standing operation has counted.

        predictions: only edges that led to the blocks of these forecasts; None for all.
        """
        only = (
            ""
            if predictions is None
            else "JOIN (SELECT DISTINCT source_id, target_id, relation_type FROM edge_forecasts WHERE prediction_id IN "
            "(SELECT unnest(?::VARCHAR[]))) AS p ON p.source_id = e.source_id AND p.target_id = e.target_id AND "
            "p.relation_type = e.relation_type "
        )
        rows = self._rows(
            "SELECT e.source_id, e.target_id, e.relation_type, sum(c.actual), count(*) FROM edge_forecasts e "
            f"{only}JOIN calibration_log c ON c.prediction_id = e.prediction_id "
            "LEFT JOIN operations o ON o.id = e.counted "
            "WHERE c.actual IS NOT NULL AND coalesce(o.undone, true) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
            [] if predictions is None else [list(predictions)],
        )
        return tuple(EdgeVerdicts((s, t, r), h, n) for s, t, r, h, n in rows)

    def count_in(self, operation: int, keys: Sequence[EdgeKey]) -> None:
        """Record that an operation has learned from the open verdicts on these edges."""
        self._note(
            "UPDATE edge_forecasts SET counted = ? WHERE prediction_id IN (SELECT prediction_id FROM "
            "calibration_log WHERE actual IS NOT NULL) AND concat(source_id, ' ', target_id, ' ', relation_type) "
            "IN (SELECT unnest(?::VARCHAR[])) AND (counted IS NULL OR counted IN (SELECT id FROM operations "
            "WHERE undone))",
            [operation, [" ".join(key) for key in keys]],
        )

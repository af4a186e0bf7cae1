"""The door to learning from outcomes: recalibration, tuning, metrics, monitors."""

from __future__ import annotations

from collections.abc import Sequence

from amgs.calibration import metrics as measures
from amgs.calibration import plan as planning
from amgs.calibration.questions import Question, label
from amgs.calibration.recalibrate import Method
from amgs.calibration.results import (
    Calibrated,
    CalibrationPlan,
    Metrics,
    Monitored,
    OutcomeGroup,
    OutcomeGroups,
    Sighting,
)
from amgs.frames.cache import shift
from amgs.retrieval import waterfall
from amgs.room import Room
from amgs.store import assemblies as stored_assemblies
from amgs.store import blocks as stored_blocks
from amgs.store import calibration_log, monitors

_RECENT = 20
_CENTRAL = 200


class Calibration:
    """See the module."""

    def __init__(self, room: Room) -> None:
        self._room = room

    # --- recalibration ----------------------------------------------------------------------------------

    def groups(self) -> OutcomeGroups:
        """Forecasts and outcomes by frame, category and relation type of the edges walked."""
        rows = calibration_log.groups(self._room.store)
        return OutcomeGroups(tuple(OutcomeGroup(*row) for row in rows))

    def plan(self, method: Method = "isotonic") -> CalibrationPlan:
        """What recalibrating confidences would do; raises UsageError for too few outcomes."""
        room = self._room
        return planning.make(room.store, method, room.settings.calibration, room.clock.now())

    def apply(self, plan: CalibrationPlan) -> Calibrated:
        """Carry a plan out, journalled; raises UsageError when it is out of date."""
        return Calibrated(plan, planning.apply(self._room.store, plan, self._room.clock.now()))

    # --- metrics and monitors ---------------------------------------------------------------------------

    def metrics(self, questions: Sequence[Question] = (), *, seed: int = 0) -> Metrics:
        """The six success metrics (AMGS §13.1); precision and recall need labelled questions. Leaves no trace."""
        store = self._room.store
        every = stored_assemblies.latest(store)
        _, outcomes, score = calibration_log.counts(store)
        labelled = label(questions, self._blocks_of)
        return Metrics(
            (
                *measures.retrieval(labelled, self._find, seed, len(questions)),
                measures.coherence(store, every),
                measures.graph_stability(store),
                measures.calibration(score, outcomes),
                measures.attention_stability(every),
            ),
            self._room.clock.now(),
        )

    def _blocks_of(self, source: str) -> tuple[str, ...]:
        return stored_blocks.with_source(self._room.store, source)

    def _find(self, query: str, top_k: int) -> list[str]:
        room = self._room
        with room.lock:
            request = waterfall.Request(query)
            found = waterfall.search(request, room.derived.sources(), room.settings.retrieval, top_k)
        return [hit.block.id for hit in found.hits]

    def monitor(self, *, record: bool = False, limit: int = 30) -> Monitored:
        """What the monitors see: drift of centrality since the last record, entropy and stability by frame.

        record: keep it, so that the next look is compared with this one.
        """
        store = self._room.store
        before = monitors.latest(store, limit)
        seen = self._seen()
        if record:
            with store.transaction():
                monitors.append(store, seen)
        return Monitored(tuple(_sighting(s) for s in seen), tuple(_sighting(s) for s in before), record)

    def _seen(self) -> list[monitors.Seen]:
        store, now = self._room.store, self._room.clock.now()
        importance = self._importance()
        last = monitors.last(store, "centrality drift")
        drift = None if last is None else shift(last.detail, importance)
        seen = [monitors.Seen(now, "centrality drift", "graph", drift, importance)]
        every = stored_assemblies.latest(store)
        for name in sorted({a.name for a in every}):
            own = [a for a in every if a.name == name]
            bits = sum(a.entropy_bits for a in own[:_RECENT]) / len(own[:_RECENT])
            seen.append(monitors.Seen(now, "entropy", name, bits, {}))
            stable = measures.attention_stability(every, name).value
            seen.append(monitors.Seen(now, "attention stability", name, stable, {}))
        return seen

    def _importance(self) -> dict[str, float]:
        """The centrality of the most central blocks, by id."""
        room = self._room
        with room.lock:
            view, scores = room.derived.graph.view(), room.derived.graph.measures().importance()
        best = [i for i in scores.argsort(kind="stable")[::-1][:_CENTRAL].tolist() if scores[i] > 0]
        numbers = {int(view.nodes[i]): float(scores[i]) for i in best}
        found = stored_blocks.by_number(room.store, sorted(numbers))
        return {one.block.id: numbers[one.number] for one in found}


def _sighting(seen: monitors.Seen) -> Sighting:
    return Sighting(seen.at, seen.kind, seen.subject, seen.value)

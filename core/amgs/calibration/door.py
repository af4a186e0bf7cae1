"""The door to learning from outcomes: recalibration, tuning, metrics, monitors."""

from __future__ import annotations

from amgs.calibration import plan as planning
from amgs.calibration.recalibrate import Method
from amgs.calibration.results import Calibrated, CalibrationPlan, OutcomeGroup, OutcomeGroups
from amgs.room import Room
from amgs.store import calibration_log


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

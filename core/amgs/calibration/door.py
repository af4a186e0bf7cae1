"""The door to learning from outcomes: recalibration, tuning, metrics, monitors."""

from __future__ import annotations

from amgs.room import Room


class Calibration:
    """See the module."""

    def __init__(self, room: Room) -> None:
        self._room = room

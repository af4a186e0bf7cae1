"""Consolidation is due by volume and by time."""

from __future__ import annotations

from datetime import timedelta

from amgs.lifecycle.upkeep import decide_due
from amgs.settings import ConsolidationSettings
from tests.engine.memory_world import NOW


def test_consolidation_is_due_by_volume_or_by_time_and_never_for_nothing() -> None:
    settings = ConsolidationSettings(interval_minutes=15, volume=3)
    hour = timedelta(hours=1)
    assert not decide_due(0, None, NOW - hour, NOW, settings).due
    assert decide_due(3, NOW, NOW, NOW, settings).due
    assert not decide_due(2, NOW, NOW - timedelta(minutes=14), NOW, settings).due
    assert decide_due(2, NOW, NOW - timedelta(minutes=15), NOW, settings).due
    assert decide_due(1, NOW - hour, None, NOW, settings).due

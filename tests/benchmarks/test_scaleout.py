"""`scaleout`: equal answers are found equal, a lost note is found lost, and a simulation keeps what it places."""

from __future__ import annotations

from pathlib import Path

import pytest

from amgs.errors import StoreError
from amgs.storage.opening import open_storage
from benchmarks.scaleout.kills import measure_kills
from benchmarks.scaleout.parity import measure_parity
from benchmarks.scaleout.setup import ScaleoutEffort, ScaleoutSetup
from tests.benchmarks.rigs import memory_rig
from tests.engine.memory_world import write_notes


def test_both_kinds_of_store_answer_alike_and_the_comparison_can_tell(postgres: str, tmp_path: Path) -> None:
    notes = write_notes(tmp_path / "notes")
    (notes / "corpus.toml").write_text("now = 2026-03-01T09:00:00Z", encoding="utf-8")
    found = measure_parity(memory_rig(), ScaleoutSetup(postgres, tmp_path), notes).metrics
    assert found["parity_steps"] > 25 and found["parity_unequal"] == 0
    assert found["parity_unequal_control"] > 10


def test_what_a_killed_writer_acknowledged_is_there_and_a_promise_is_found_out(postgres: str, tmp_path: Path) -> None:
    setup = ScaleoutSetup(postgres, tmp_path, effort=ScaleoutEffort(kills=2))
    found = measure_kills(memory_rig(), setup).metrics
    assert found["writer_acknowledged"] >= 2 and found["writer_acknowledged_lost"] == 0
    assert found["writer_verified"] == 1 and found["writer_lost_control"] >= 1
    with pytest.raises(StoreError, match="no store"):
        open_storage(setup.place("kills"), read_only=True)  # nothing of the bench is left


# --- the simulation of skew -------------------------------------------------------------------------------

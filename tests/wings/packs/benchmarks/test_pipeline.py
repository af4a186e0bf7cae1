"""`packs`, pipeline: what the text of all packs holds, and what a model answers after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from amgs_focus.model.tiny import TinyModel
from benchmarks.packs import pipeline
from tests.benchmarks.test_answers import RIG, written


def test_a_text_of_all_packs_is_measured_beside_a_frame_of_as_many_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pipeline.measure_pipeline(RIG, tmp_path / "nowhere") is None
    monkeypatch.setattr(pipeline, "BUDGET", 150)
    made = pipeline.measure_pipeline(RIG, written(tmp_path), TinyModel, questions=1)
    assert made is not None
    found = made.metrics
    assert found["pipeline_locomo_ceiling"] == 100 > found["pipeline_locomo_random"]
    assert found["pipeline_locomo_ceiling"] >= found["pipeline_locomo_recall"] > 0
    recalls, nats = made.tables
    assert [row[1] for row in recalls.rows] == list(pipeline.METHODS)
    assert all(0 < float(row[-1]) <= 150 and row[2] == 6 for row in recalls.rows)
    assert [row[2] for row in nats.rows] == [1] * (len(pipeline.METHODS) + 2)
    # the answer half way through the list says the same, so that it gains as much
    assert found["pipeline_locomo_nats_shuffled"] == pytest.approx(found["pipeline_locomo_nats_recall"])
    assert set(made.goals) == {"pipeline_ahead_of_session_least", "pipeline_nats_ahead_of_session_least"}

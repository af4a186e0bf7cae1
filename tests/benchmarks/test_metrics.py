"""The bench of the success metrics runs on any folder of notes with questions, and tells the held-out third apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import metrics
from tests.benchmarks.rigs import memory_rig
from tests.tui.headless_world import NOW, write_corpus


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    write_corpus(tmp_path)
    (tmp_path / "corpus.toml").write_text(f'now = "{NOW}"\n', encoding="utf-8")
    asked = [
        ("Why did the dome stall at azimuth 214?", "stall.md"),
        ("Which part did the encoder need?", "motor.md"),
        ("What stood on the terrace?", "goat.md"),
        ("Who may speak after ten?", "values/quiet.md"),
    ]
    lines = [
        json.dumps({"id": f"q{n}", "question": asked[n % 4][0], "kind": "single", "answers": [asked[n % 4][1]]})
        for n in range(16)
    ]
    (tmp_path / "questions.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def test_every_metric_is_a_number_and_the_last_third_is_told_apart(corpus: Path) -> None:
    found = metrics.run(memory_rig(), corpus)
    assert set(metrics.BENCH.goals) <= set(found.metrics)
    assert found.metrics["questions"] == 16
    assert 0 < found.metrics["questions_held_out"] < 16
    for name in ("precision_held_out", "recall_held_out", "brier", "brier_held_out", "attention_stability"):
        assert 0 <= found.metrics[name] <= 1, name
    assert all(goal.met == (found.metrics[name] >= goal.value) for name, goal in found.goals.items() if goal.op == ">=")

"""The bench of the recorder on a small scale: what it counts, and that its controls tell chance from use."""

from __future__ import annotations

from amgs.text.embedding import HashingEmbedder
from amgs.text.language_model import approximate_tokens
from benchmarks.bench_results import MemoryRig
from benchmarks.recorder.bench import run


def test_nothing_is_lost_and_what_was_planted_is_found() -> None:
    rig = MemoryRig(embedder=HashingEmbedder(), count_tokens=approximate_tokens)
    found = run(rig, None, kills=1, bodies=12, seconds=1).metrics
    assert [found[name] for name in ("attributes_lost", "acknowledged_lost", "hostile_tracebacks")] == [0, 0, 0]
    assert found["spans_a_second"] > 0 and found["spans_taken_lost"] == 0
    assert found["audit_recall"] >= 0.9 and found["audit_precision"] >= 0.9
    assert found["use_right"] >= 0.95 > 0.5 > found["use_elsewhere"]
    assert found["scores_auroc"] > 0.75 > 0.6 > found["scores_auroc_dealt_anew"]

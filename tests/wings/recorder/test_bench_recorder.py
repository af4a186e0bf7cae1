"""The bench of the recorder on a small scale: what it counts, and that its controls tell chance from use."""

from __future__ import annotations

import random
from dataclasses import replace

from amgs.text.embedding import HashingEmbedder
from amgs.text.tokens import approximate_tokens
from amgs_focus.model.tiny import TinyModel
from benchmarks.bench_results import MemoryRig
from benchmarks.recorder.bench import run
from benchmarks.recorder.bisected import measure_window, summary
from benchmarks.recorder.bisection import SpanWeight
from benchmarks.recorder.planted_causes import planted_causes


def test_nothing_is_lost_and_what_was_planted_is_found() -> None:
    rig = MemoryRig(embedder=HashingEmbedder(), count_tokens=approximate_tokens)
    found = run(rig, None, kills=1, bodies=12, seconds=1).metrics
    assert [found[name] for name in ("attributes_lost", "acknowledged_lost", "hostile_tracebacks")] == [0, 0, 0]
    assert found["spans_a_second"] > 0 and found["spans_taken_lost"] == 0
    assert found["audit_recall"] >= 0.9 and found["audit_precision"] >= 0.9
    assert found["use_right"] >= 0.95 > 0.5 > found["use_elsewhere"]
    assert found["scores_auroc"] > 0.75 > 0.6 > found["scores_auroc_dealt_anew"]


def test_a_window_is_judged_with_the_controls_beside_it() -> None:
    rows = [measure_window(TinyModel(), one, random.Random(0)) for one in planted_causes(3, 1, seed=0)]
    right = []
    for one in rows[:-1]:
        at = (one.planted.cause or 0) + 1
        others = [weight for weight in one.bisection.weights if weight.first != at]
        found = replace(one.bisection, weights=(SpanWeight(at, at, 9.0, 9.0), *others), named=(at, at))
        right.append(replace(one, bisection=found))
    none = replace(rows[-1], bisection=replace(rows[-1].bisection, named=None))
    metrics, table = summary([*right, none])
    assert metrics["cause_bisect_all"] == metrics["cause_told_right"] == metrics["cause_none_said"] == 100
    assert table.rows[0][:2] == ("bisect", "100 (44 to 100) of 3") and metrics["cause_the_last_span_all"] < 100

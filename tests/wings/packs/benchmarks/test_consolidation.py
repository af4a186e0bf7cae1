"""`packs`: what learnings keep of two short conversations whose facts are known by heart."""

from __future__ import annotations

import json
from pathlib import Path

from amgs.text.embedding import HashingEmbedder
from amgs.text.tokens import approximate_tokens
from benchmarks.bench_results import MemoryRig
from benchmarks.packs.consolidation import CLASSES, OURS, RESTORED, measure_consolidation

SAID = [
    ["The dome stalled at azimuth 214.", "Was anybody there, Tally?", "Nobody. It was very cold that night."],
    ["We decided to replace the motor.", "Order AB-1234 is at Brightlea Works.", "They deliver on 12 May 2024."],
    ["Ilse went to Oslo yesterday.", "She will call the works from there.", "I hope the motor fits the dome."],
]


def test_one_restore_brings_all_back_and_nothing_is_lost_by_learning_again(tmp_path: Path) -> None:
    given: dict[str, object] = {
        "qa": [{"question": "Where is the order?", "answer": "Brightlea Works", "evidence": ["D2:2"], "category": 4}]
    }
    for n, turns in enumerate(SAID, 1):
        given[f"session_{n}_date_time"] = f"1:56 pm on {n} May, 2024"
        given[f"session_{n}"] = [
            {"speaker": ("Ilse", "Tally")[k % 2], "dia_id": f"D{n}:{k + 1}", "text": text}
            for k, text in enumerate(turns)
        ]
    (tmp_path / "locomo").mkdir()
    (tmp_path / "locomo" / "one.json").write_text(json.dumps(given), encoding="utf-8")
    assert measure_consolidation(_rig(), tmp_path / "locomo") is None
    found = measure_consolidation(_rig(), tmp_path)
    assert found is not None
    assert found.metrics["learnings_within_one_restore_worst"] == 100.0
    assert found.metrics["learnings_same_in_any_order"] == found.metrics["learnings_left_after_five_times"] == 1.0
    kept = {str(row[1]): row for row in found.tables[0].rows}
    for control in ("random sentences", "first sentences"):
        assert float(kept[control][-1]) <= float(kept[OURS][-1]) < float(kept[f"{OURS}, {RESTORED}"][-1])
    assert float(kept[OURS][2]) < 1 < float(kept[f"{OURS}, {RESTORED}"][2])
    known = dict(zip(CLASSES, kept["facts, all"][3:], strict=False))
    assert known["decision"] == 1 and known["id"] == 1
    rows = {str(row[2]): row[3] for row in found.tables[1].rows if row[1] == "facts left"}
    assert float(rows["learnings of learnings"]) < float(rows[OURS]) == 1.0


def _rig() -> MemoryRig:
    return MemoryRig(embedder=HashingEmbedder(), count_tokens=approximate_tokens)

"""`conversation`, evidence: what is measured is what is kept, and the controls run on the same tokens."""

from __future__ import annotations

import json
from pathlib import Path

from amgs.text.embedding import HashingEmbedder
from amgs.text.tokens import approximate_tokens
from benchmarks.bench_results import MemoryRig
from benchmarks.conversation.evidence import measure_evidence

THINGS = ("mast", "keel", "rope", "sail", "tide", "harbour", "lantern", "compass", "anchor", "deck")


def test_evidence_that_the_query_names_is_kept_and_chance_keeps_its_share(tmp_path: Path) -> None:
    turns = [
        {"speaker": ("Ann", "Ben")[n % 2], "dia_id": f"D1:{n + 1}", "text": f"The {thing} is {n} years old today."}
        for n, thing in enumerate(THINGS * 6)
    ]
    for place in range(0, 60, 6):
        turns[place]["text"] = f"My marker{place} stands on the shelf now."
    asked = [
        {"question": f"Where is marker{n}?", "category": 4, "evidence": [f"D1:{n + 1}"], "answer": "shelf"}
        for n in range(0, 60, 6)
    ]
    made = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns, "qa": asked}
    (tmp_path / "locomo").mkdir()
    (tmp_path / "locomo" / "1.json").write_text(json.dumps(made))
    (tmp_path / "qmsum").mkdir()
    meeting = [{"speaker": "A", "content": turn["text"]} for turn in turns]
    span = {"query": "Where is marker30?", "relevant_text_span": [["29", "31"]]}
    row = {"meeting_transcripts": meeting, "specific_query_list": [span]}
    (tmp_path / "qmsum" / "val.jsonl").write_text(json.dumps(row))
    found = measure_evidence(MemoryRig(embedder=HashingEmbedder(), count_tokens=approximate_tokens), tmp_path)
    assert found is not None
    metrics = found.metrics
    assert metrics["evidence_kept_7_locomo"] == 100.0
    assert metrics["evidence_locomo_random"] < 60.0 > metrics["evidence_locomo_recent"]
    assert metrics["evidence_locomo_bm25_neighbours"] == 100.0
    assert 30.0 < metrics["evidence_kept_7_qmsum"] <= 100.0
    assert measure_evidence(MemoryRig(embedder=HashingEmbedder(), count_tokens=len), tmp_path / "qmsum") is None

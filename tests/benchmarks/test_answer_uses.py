"""`answers` and `written`: the log is held against what answers, the checks against what is made up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amgs.text.embedding import HashingEmbedder
from amgs.text.tokens import approximate_tokens
from benchmarks import answer_uses, written
from benchmarks.bench_results import MemoryRig

THINGS = ("mast", "keel", "rope", "sail", "tide", "harbour", "lantern", "compass", "anchor", "deck")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two conversations in which every sixth turn is about a thing of its own, and asked for."""
    folder = tmp_path / "locomo"
    folder.mkdir()
    for number, (ann, ben) in enumerate((("Ann", "Ben"), ("Cid", "Dora"))):
        turns = [
            {
                "speaker": (ann, ben)[n % 2],
                "dia_id": f"D1:{n + 1}",
                "text": f"The {thing} of {ann} was {700 * number + 7 * n} years old on that day.",
            }
            for n, thing in enumerate(THINGS * 9)
        ]
        for place in range(0, 90, 6):
            turns[place + 1]["text"] = f"I would like a marker{place} as well."
            turns[place]["text"] = f"My marker{place} stands beside shelf{place}{number} since spring."
        asked = [
            {
                "question": f"Where is marker{n}?",
                "category": 4,
                "evidence": [f"D1:{n + 1}"],
                "answer": f"shelf{n}{number}",
            }
            for n in range(0, 90, 6)
        ]
        made = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns, "qa": asked}
        (folder / f"{number}.json").write_text(json.dumps(made))
    return tmp_path


def test_the_log_names_the_blocks_that_answer_and_chance_does_not(data: Path) -> None:
    rig = MemoryRig(embedder=HashingEmbedder(), count_tokens=approximate_tokens)
    found = answer_uses.run(rig, data)
    assert found.metrics["used_precision_given_locomo"] == found.metrics["used_recall_given_locomo"] == 1.0
    assert found.metrics["questions_locomo"] > 10
    assert found.metrics["false_rate"] == 0.0
    shown, learned = found.tables
    rows = {row[1:4]: row for row in shown.rows}
    assert float(rows["frame", "the answer alone", "everything shown"][4]) <= 0.5
    assert rows["conversation", "the answer alone", "the log"][4:6] == ("1.00", "1.00")
    brier = {row[1]: float(row[2]) for row in learned.rows}
    assert brier["the log"] == brier["what answers, the ceiling"] < brier["everything shown"]


def test_own_sentences_stay_and_what_is_made_of_them_does_not(data: Path) -> None:
    metrics = written.run(data).metrics
    assert metrics["own_locomo"] == 1.0
    assert metrics["number changed_locomo"] == metrics["another name_locomo"] == 0.0
    assert metrics["elsewhere_locomo"] < 0.2

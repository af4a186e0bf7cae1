"""`locomo` on a conversation made up here: the protocol, the result's shape, and what it says when data
is missing.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from amgs_app.render.catalogue import table_of
from amgs_app.render.encode import to_json
from benchmarks import locomo
from benchmarks.locomo_data import read_folder
from tests.benchmarks.rigs import memory_rig

LINES = [
    "I adopted a grey parrot last week.",
    "Lovely! What is it called?",
    "Biscuit. It whistles at night.",
    "My telescope mirror cracked on Tuesday.",
    "Bye!",
    "Bye!",
]


def conversation(shift: int = 0) -> dict[str, object]:
    """Two sessions of the same six turns about other things."""
    made: dict[str, object] = {"speaker_a": "Rosa", "speaker_b": "Emil"}
    for session in (1, 2):
        made[f"session_{session}_date_time"] = f"{session}:05 pm on {session + shift} May, 2023"
        made[f"session_{session}"] = [
            {
                "speaker": ("Rosa", "Emil")[i % 2],
                "dia_id": f"D{session}:{i + 1}",
                "text": f"{t} {'again ' * (session - 1)}",
            }
            for i, t in enumerate(LINES)
        ]
    made["session_1_summary"] = "Rosa adopted a parrot: leaks the answer"
    made["qa"] = [
        {"question": "What is Rosa's parrot called?", "answer": "Biscuit", "evidence": ["D1:3; D9:9"], "category": 4},
        {"question": "What cracked for Emil?", "answer": "mirror", "evidence": ["D:1:4", "D2:4"], "category": 1},
        {"question": "What cracked for Rosa?", "adversarial_answer": "x", "evidence": ["D1:4"], "category": 5},
        {"question": "Nothing known?", "answer": "", "evidence": [], "category": 3},
        {"question": "Only a missing turn?", "answer": "", "evidence": ["D7:1"], "category": 3},
    ]
    return made


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("locomo")
    for i in range(2):
        (folder / f"c{i}.json").write_text(json.dumps(conversation(i)))
    return folder


def test_the_protocol_is_read_as_it_is_written(data: Path) -> None:
    first = read_folder(data)[0]
    assert first.now == datetime(2023, 5, 3, 14, 5, tzinfo=UTC)
    assert [q.evidence for q in first.questions] == [("session-1#3",), ("session-1#4", "session-2#4"), ("session-1#4",)]
    turn = first.drafts[2]
    assert turn.content == "Rosa: Biscuit. It whistles at night. \n(1:05 pm on 1 May, 2023)"
    assert turn.meta["follows"] == "session-1#2" and turn.meta["speaker"] == "Rosa"
    assert "follows" not in first.drafts[6].meta
    assert not any("leaks" in draft.content for draft in first.drafts)


def test_the_bench_gives_every_metric_that_is_asked_for(data: Path) -> None:
    found = locomo.run(memory_rig(), data)
    asked = {*locomo.BENCH.goals, "ref_bm25_neighbours_c14", "ref_bm25_neighbours_all", "recall10_c14_left_out"}
    assert asked <= set(found.metrics)
    assert found.metrics["recall10_c14"] == 100.0
    assert all(v >= 0 for v in found.metrics.values())
    given = json.loads(to_json(found))
    assert {"commit", "machine", "settings", "metrics", "goals"} <= set(given)
    assert given["goals"]["recall10_c14"] == {"op": ">=", "value": 79.0, "met": True}
    methods = [row[0] for row in found.tables[1].rows]
    assert {"amgs", "BM25", "MiniLM", "without graph", "vector alone", "amgs, left out"} <= set(methods)
    assert any("multi-hop" in line for line in table_of(found).notes)

"""The bench of diagnoses on a conversation that is small enough to know by heart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from amgs.text.embedding import HashingEmbedder
from amgs.text.language_model import approximate_tokens
from amgs.types.diagnosis import DiagnosisCause
from benchmarks.bench_results import MemoryRig
from benchmarks.diagnose import run

THINGS = ("mainsail", "anchor", "compass", "lantern", "rudder", "galley", "hammock", "sextant")
PLACES = ("Visby", "Faro", "Riga", "Turku", "Bergen", "Danzig", "Malmo", "Lübeck")


def conversation() -> dict[str, Any]:
    """Ilse tells where each thing was bought; each is asked for, and retold by somebody else."""
    turns, asked, told = [], [], []
    for number, (thing, place) in enumerate(zip(THINGS, PLACES, strict=True), 1):
        place_of = f"D1:{number}"
        text = f"I bought the new {thing} from an old trader in {place} last week."
        turns.append({"speaker": "Ilse", "dia_id": place_of, "text": text})
        question = f"Where did Ilse buy the new {thing}?"
        asked.append({"question": question, "answer": place, "evidence": [place_of], "category": 4})
        told.append([f"Ilse bought the new {thing} from an old trader in {place}.", place_of])
    return {
        "speaker_a": "Ilse",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": turns,
        "session_1_observation": {"Ilse": told},
        "qa": asked,
    }


def test_planted_failures_are_named_and_mended_and_the_controls_know_less(tmp_path: Path) -> None:
    path = tmp_path / "boat.json"
    told = conversation()
    # The last fact is said again, so without its turn it is still stored: it is no failure of any cause.
    told["session_1"].append({**told["session_1"][-1], "speaker": "Jon", "dia_id": "D1:9"})
    path.write_text(json.dumps(told), encoding="utf-8")
    rig = MemoryRig(embedder=HashingEmbedder(), count_tokens=approximate_tokens)
    planted: tuple[tuple[DiagnosisCause, int], ...] = (
        ("not stored", 1),
        ("not consolidated", 2),
        ("superseded", 1),
        ("set aside", 1),
        ("collapsed", 1),
    )
    found = run(rig, path, planted)
    assert 5 <= found.metrics["failures"] <= 6 and found.metrics["said_twice"] == 1
    assert found.metrics["cause_right"] == found.metrics["failures"]
    # The same block with a gist beside the fact and not in its place: nothing kept the fact out.
    assert found.metrics["unplanted"] == found.metrics["unplanted_in_the_context"] == 1
    assert found.metrics["fix_works"] >= 3
    assert found.metrics["cause_right_majority"] == 2
    assert found.metrics["cause_right_credulous"] < found.metrics["cause_right"]
    assert found.metrics["cause_right_shuffled"] < found.metrics["cause_right"]
    # Of the facts some are found; of the same ones without their turn a block is taken for fewer.
    facts = {name: found.metrics[f"facts_{name}"] for name in ("right", "wrong", "absent")}
    assert found.metrics["facts"] == 8 and facts["right"] > facts["absent"] + facts["wrong"]

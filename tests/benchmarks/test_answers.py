"""`conversation`, answers: what a model loses, and what is asked of what."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from amgs.text.embedding import HashingEmbedder
from amgs.text.language_model import approximate_tokens
from amgs_focus.model.tiny import TinyModel
from benchmarks.bench_results import MemoryRig
from benchmarks.conversation.answers import drawn, measure_answers, stretches
from benchmarks.focus_evaluation.answers import ContextReader

THINGS = ("mast", "keel", "rope", "sail", "tide", "harbour", "lantern", "compass", "anchor", "deck")
RIG = MemoryRig(embedder=HashingEmbedder(), count_tokens=approximate_tokens)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return written(tmp_path)


def written(tmp_path: Path) -> Path:
    """A folder of LoCoMo's layout: two sessions of twenty turns, six questions."""
    made: dict[str, object] = {}
    asked = []
    for session in (1, 2):
        made[f"session_{session}_date_time"] = f"1:56 pm on {session} May, 2023"
        made[f"session_{session}"] = [
            {
                "speaker": ("Ann", "Ben")[n % 2],
                "dia_id": f"D{session}:{n + 1}",
                "text": f"The {thing} of ship {session} is {n} years old today, as Kim said.",
            }
            for n, thing in enumerate(THINGS * 2)
        ]
        for n in (4, 9, 15):
            question = f"How old is the {THINGS[n % 10]} of ship {session}?"
            asked.append({"question": question, "category": 4, "evidence": [f"D{session}:{n + 1}"], "answer": str(n)})
    asked.append({"question": "Who swam?", "category": 5, "evidence": ["D1:1"], "adversarial_answer": "Kim"})
    (tmp_path / "locomo").mkdir()
    (tmp_path / "locomo" / "1.json").write_text(json.dumps({**made, "qa": asked}))
    return tmp_path


def test_an_answer_costs_what_the_model_says_of_it_and_the_context_stays_as_it_was() -> None:
    model = TinyModel()
    reader = ContextReader(model, "The mast is red.")
    (first,) = reader.nll("Which colour?", ["red"])
    before = [*model.sinks(), *model.encode("The mast is red."), *model.encode(model.turn("Which colour?"))]
    said = model.encode("red")
    with torch.no_grad():
        states = model.forward(model.embed(torch.tensor([[*before, *said[:-1]]])))[0, len(before) - 1 :]
        logs = torch.log_softmax(model.logits(states).double(), dim=-1)
    assert first == pytest.approx(-float(logs.gather(1, torch.tensor(said)[:, None]).mean()), abs=1e-4)
    assert reader.nll("Which colour?", ["blue", "red"])[1] == pytest.approx(first, abs=1e-4)


def test_answers_are_judged_after_every_context_beside_their_controls(data: Path) -> None:
    found = stretches(data / "locomo", approximate_tokens)
    assert sum(len(one.questions) for one in found) == 6
    assert sum(len(one.questions) for one in drawn(found, 2, seed=0)) == 2
    judged = measure_answers(RIG, data, TinyModel, 2)
    assert judged is not None
    shown = {(row[0], row[1]): row for row in judged.tables[0].rows}
    assert shown["all", "nothing"][4] == 0.0 and shown["all", "the whole stretch"][4] == 1.0
    assert np.isfinite([judged.metrics[name] for name in ("gap_kept_7", "gap_random", "gap_shuffled")]).all()
    assert measure_answers(RIG, data / "locomo", TinyModel, 2) is None

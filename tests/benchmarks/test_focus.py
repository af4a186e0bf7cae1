"""The benches of the focus engine on the tiny model: every metric that is asked for, and rows that are kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from amgs.text.embedding import HashingEmbedder
from amgs_app.render.catalogue import table_of
from amgs_app.render.encode import to_json
from amgs_focus.model.tiny import TinyModel
from amgs_focus.records import Segment
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.settings import FocusSettings
from benchmarks import focus_gist, focus_policy, focus_questions, focus_sample
from benchmarks.bench_results import Stopwatch
from benchmarks.focus_rig import TokenCorpus, read_texts
from tests.benchmarks.rigs import focus_rig

torch.set_num_threads(1)

TEXT = "".join(f"On day {day} the keeper of light {day % 7} wrote {day * day} words, and slept. " for day in range(90))


class Counted(TinyModel):
    """Counts its passes."""

    passes = 0

    def forward(self, embeddings: torch.Tensor, cache: object = None) -> torch.Tensor:
        self.passes += 1
        return super().forward(embeddings, cache)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("text") / "keeper.txt"
    file.write_text(TEXT, encoding="utf-8")
    return file


def test_the_gist_bench_gives_every_metric_and_measures_nothing_twice(text: Path, tmp_path: Path) -> None:
    model = Counted()
    prose = read_texts(model, text, "focus-gist")
    code = TokenCorpus("code", ("a", "b"), (prose.documents[0][:1500], prose.documents[0][:60]), "2")
    rig = focus_rig(tmp_path, prose, code, model=model)
    found = focus_gist.run(rig, windows=4)
    shapes = ("2_0_32", "4_1_64", "6_2_64")
    kinds = ("gap_recovered", "gap_nats", "content_share")
    asked = {f"{kind}_{shape}" for kind in kinds for shape in shapes}
    asked |= {"l2_harm_nats", "l2_harm_nats_code", "gap_nats_2_0_32_code", "content_share_4_1_64_code"}
    assert asked <= set(found.metrics)
    assert set(focus_gist.BENCH.goals) == set(found.goals)
    assert json.loads(to_json(found))["bench"] == "focus-gist"
    assert any("recovered" in line for line in table_of(found).notes)
    rows = [json.loads(line) for line in Path(found.settings["rows"]).read_text().splitlines()[1:]]
    assert all(set(row) > {"key", "drop", "gist"} for row in rows)
    main = [row for row in rows if "/4_1_64/pointer/" in row["key"]]
    assert main and all({"shuffled", "other", "constant"} <= set(row) for row in main)
    titles = [table.title for table in found.tables]
    assert sum(title.startswith("What gists that know nothing") for title in titles) == 2
    assert [title for title in titles if title.startswith("By document")] == ["By document of code"]
    passes = model.passes
    assert focus_gist.run(rig, windows=4).metrics.keys() == asked | (found.metrics.keys())
    assert model.passes == passes


def test_the_policy_bench_compares_every_rule_with_a_window_that_stands_still(text: Path, tmp_path: Path) -> None:
    rig = focus_rig(tmp_path, read_texts(TinyModel(), text, "focus-policy"))
    settings = FocusSettings(window=384)
    found = focus_policy.run(rig, places=2, refocuses=3, lifetime=1300, settings=settings)
    still, *others = (json.loads(line) for line in Path(found.settings["rows"]).read_text().splitlines()[1:5])
    assert still["key"].startswith("still") and len(others) == 3
    assert found.metrics["changed"] > 0 and found.metrics["residency"] > 0
    table = {row[0]: row for row in found.tables[0].rows}
    assert str(table["still"][1]).startswith("0.000 [0.000") and not str(table["random"][1]).startswith("0.000 [0.000")


def test_questions_are_answered_by_every_system_and_the_rows_are_kept(text: Path, tmp_path: Path) -> None:
    facts = focus_questions.read_facts()
    kinds = {fact.kind for fact in facts}
    assert len(facts) == 32 and all(len({f.answer for f in facts if f.kind == kind}) == 8 for kind in kinds)
    rig = focus_rig(tmp_path, read_texts(TinyModel(), text, "focus-questions"))
    settings, sizes = FocusSettings(window=384), {"7k": 4096, "65k": 10**6}
    found = focus_questions.run(rig, facts, HashingEmbedder(), sizes=sizes, asked=2, settings=settings)
    again = focus_questions.run(rig, facts, HashingEmbedder(), sizes=sizes, asked=2, settings=settings)
    assert again.metrics == found.metrics and found.metrics["asked_own_7k"] == 2
    assert found.metrics["opened_own_7k_nothing"] == 0
    assert [row[0] for row in found.tables[0].rows] == list(focus_questions.SYSTEMS)


def test_questions_to_the_sample_are_judged_by_what_only_the_answer_has(tmp_path: Path) -> None:
    questions, opened = focus_sample.read_questions(), list[str]()
    assert len(questions) == 30
    heavy = next(question for question in questions if "heavy" in question.text)
    assert heavy.is_right("It weighs 148 kg.") and not heavy.is_right("It weighs 1480 kg, no: 48.")
    assert focus_sample.is_loop("it is a very old part of the dome and " * 3)
    assert not focus_sample.is_loop("The cat is old, and the dome is old, and so is the clock.")
    segments = (Segment("The mirror weighs 148 kg. " * 40),)

    def open_frame(question: str) -> tuple[tuple[Segment, ...], FocusRuntime]:
        opened.append(question)
        runtime = FocusRuntime(TinyModel(), settings=FocusSettings(window=384), clock=Stopwatch())
        runtime.ingest(segments)
        runtime.question(question)
        return segments, runtime

    for _ in range(2):
        found = focus_sample.run([heavy], open_frame, HashingEmbedder(), tmp_path, {}, lambda *_: None)
    assert opened == [heavy.text]
    assert [row[0] for row in found.tables[0].rows] == list(focus_sample.SYSTEMS)
    assert (
        "148" in json.loads((tmp_path / Path(str(found.settings["rows"])).name).read_text().splitlines()[1])["window"]
    )

"""The commands that train a lens, as their manual shows them, and the bench that asks whether it knows the question."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import benchmarks.__main__
from amgs.types import Progress
from amgs_focus.lens.scoring import TailSimilarity
from benchmarks import focus_c1c2
from benchmarks.focus_rig import TokenCorpus
from tests.benchmarks.rigs import focus_rig
from tests.focus.focus_world import MODEL
from tests.focus.lens_samples import scorer

MANUAL = (Path(__file__).parents[2] / "benchmarks" / "focus_training" / "README.md").read_text(
    encoding="utf-8"
)
WORDS = "the lamp stood by the river and the quilt lay on the stone while Ember told a fable at noon. "


def bench(tmp_path: Path, *words: str) -> int:
    return benchmarks.__main__.run(["--model", "tiny", "--store", str(tmp_path / "s.duckdb"), *words])


def test_the_first_lens_of_the_manual_is_labelled_and_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text(WORDS * 30, encoding="utf-8")
    shell = re.findall(r"```sh\n(.*?)```", MANUAL, flags=re.S)[0]
    lines = [line.split()[3:] for line in shell.splitlines() if line.startswith("python -m benchmarks ")]
    assert [words[0] for words in lines] == ["label", "train-lensnet"]
    for words in lines:
        assert bench(tmp_path, *words) == 0
    said = capsys.readouterr().out
    assert "snapshots in the folder" in said and "6 of 6" in said
    card = (tmp_path / "run" / "toy.md").read_text(encoding="utf-8")
    assert "two" in card and "pointer" in card
    assert bench(tmp_path, *lines[1]) == 2
    assert "--resume" in capsys.readouterr().err
    assert bench(tmp_path, *lines[0], "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["done"], found["snapshots"]) == (0, 2)


def test_labels_of_a_folder_without_texts_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(tmp_path, "label", str(tmp_path), "--out", str(tmp_path / "labels")) != 0
    assert "contains no text files" in capsys.readouterr().err


def corpus() -> TokenCorpus:
    return TokenCorpus("words", ("words",), (tuple(MODEL.encode(WORDS * 40)),), "mark")


def test_the_twin_s_margins_are_equal_and_the_question_moves_the_lens_s(tmp_path: Path) -> None:
    rig = focus_rig(tmp_path, corpus(), model=MODEL, scorers=[scorer(), TailSimilarity()])
    found = focus_c1c2.run(rig, pairs=5)
    assert found.metrics["flip_rate_causal"] == 0
    assert found.metrics["causal_difference"] == 0
    assert found.goals["causal_difference"].met
    assert 0 <= found.metrics["flip_rate"] <= 1
    named = ["small", "tail-similarity", "causal twin", "causal twin, asked first"]
    assert [row[0] for row in found.tables[0].rows] == named
    rows = [json.loads(line) for line in next(tmp_path.glob("*.jsonl")).read_text().splitlines()[1:]]
    assert len(rows) == 5
    assert all(row["small"][0] != row["small"][1] for row in rows)
    first = [row["causal twin, asked first"] for row in rows]
    assert all(one != other for one, other in first), "asked before the facts, the twin knows the question"


def test_a_flip_is_counted_only_with_the_right_sign_under_each_question() -> None:
    rows = [{"kind": "ship", "x": margins} for margins in ([0.2, -0.1], [-0.2, 0.1], [0.2, 0.1], [0.0, -0.1])]
    assert focus_c1c2._flips(rows, "x") == 0.25


def test_pairs_can_be_taken_up_where_they_were_left(tmp_path: Path) -> None:
    def stop(done: int, total: int, doing: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    rig = focus_rig(tmp_path, corpus(), model=MODEL)
    with pytest.raises(KeyboardInterrupt):
        focus_c1c2.run(replace(rig, progress=Progress(stop)), pairs=4)
    found = focus_c1c2.run(rig, pairs=4)
    assert "flip_rate_causal" not in found.metrics
    assert len(next(tmp_path.glob("*.jsonl")).read_text().splitlines()) == 5

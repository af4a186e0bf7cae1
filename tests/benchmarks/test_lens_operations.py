"""The commands that train a lens, as their manual shows them, and the bench that asks whether it knows the question."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.benchmarks.training_world import bench

MANUAL = (Path(__file__).parents[2] / "benchmarks" / "focus_training" / "README.md").read_text(encoding="utf-8")
WORDS = "the lamp stood by the river and the quilt lay on the stone while Ember told a fable at noon. "


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

"""The benches of the focus engine on the tiny model: every metric that is asked for, and rows that are kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from amgs_focus.gistnet import PointerEncoder
from amgs_focus.tiny import TinyModel
from amgs_tui import cli
from amgs_tui.benches import focus_gist
from amgs_tui.benches.focus_texts import Corpus, read_texts
from amgs_tui.benches.ledger import Ledger
from amgs_tui.headless.encode import to_json
from amgs_tui.headless.tables import table_of

torch.set_num_threads(1)

TEXT = "".join(
    f"On day {day} the keeper of light {day % 7} wrote {day * day} words, and slept. " for day in range(90)
)


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


def test_rows_are_kept_and_a_run_that_was_cut_short_goes_on(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, "some", {"seed": 1})
    assert ledger.once("a", lambda: {"nll": 1.5}) == {"nll": 1.5}
    with ledger.path.open("a") as file:
        file.write('{"key": "b", "nl')
    again = Ledger(tmp_path, "some", {"seed": 1})
    assert again.once("a", lambda: {"nll": 9.0}) == {"nll": 1.5}
    assert again.once("b", lambda: {"nll": 2.5}) == {"nll": 2.5}
    lines = again.path.read_text().splitlines()
    assert json.loads(lines[0]) == {"seed": 1}
    assert [json.loads(line)["key"] for line in lines[1:]] == ["a", "b"]
    assert Ledger(tmp_path, "some", {"seed": 2}).path != again.path


def test_the_gist_bench_gives_every_metric_and_measures_nothing_twice(text: Path, tmp_path: Path) -> None:
    model = Counted()
    prose = read_texts(model, text, "focus-gist")
    code = Corpus("code", ("a", "b"), (prose.documents[0][:1500], prose.documents[0][:60]), "2")
    found = focus_gist.run(model, PointerEncoder(), [prose, code], tmp_path, windows=4)
    shapes = ("2_0_32", "4_1_64", "6_2_64")
    asked = {f"{kind}_{shape}" for kind in ("gap_recovered", "gap_nats") for shape in shapes}
    asked |= {"l2_harm_nats", "l2_harm_nats_code", "gap_nats_2_0_32_code"}
    assert asked <= set(found.metrics)
    assert set(focus_gist.GOALS) == set(found.goals)
    assert [row[0] for row in found.tables[-1].rows] == ["1", "2", "4", "8"]
    assert all("untrained" in str(row[1]) for row in found.tables[-1].rows)
    assert json.loads(to_json(found))["bench"] == "focus-gist"
    assert any("recovered" in line for line in table_of(found).notes)
    rows = [json.loads(line) for line in Path(found.settings["rows"]).read_text().splitlines()[1:]]
    assert all(set(row) > {"key", "drop", "gist"} for row in rows)
    passes = model.passes
    assert focus_gist.run(
        model, PointerEncoder(), [prose, code], tmp_path, windows=4
    ).metrics.keys() == asked | (found.metrics.keys())
    assert model.passes == passes


def test_a_bench_without_its_text_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.run(["--model", "tiny", "bench", "focus-gist"]) != 0
    assert "--text" in capsys.readouterr().err
    assert cli.run(["--model", "tiny", "bench", "focus-gist", "--text", str(tmp_path / "no.txt")]) != 0
    assert "no.txt" in capsys.readouterr().err

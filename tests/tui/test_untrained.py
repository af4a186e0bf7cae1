"""A model without trained gists says so wherever it is seen; a checkpoint in the own folder ends that."""

from __future__ import annotations

from pathlib import Path

import pytest

from amgs_app.engine import Engine, Options
from amgs_app.focus.figure import focus
from amgs_app.render.canvas import Canvas
from amgs_app.render.format import UNTRAINED, WARNING
from amgs_app.session import Operator
from amgs_app.shell.output import as_text
from amgs_focus.gist import GistNet, GistShape, save_checkpoint
from amgs_focus.model.loading import load
from tests.benchmarks.training_world import LAMPS
from tests.focus.model_world import write_model
from tests.tui.real_world import say


@pytest.mark.parametrize("trained", [False, True])
def test_a_model_without_trained_gists_says_so_and_how_to_end_it(
    trained: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    llama = write_model(tmp_path / "llama")
    monkeypatch.setenv("AMGS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("AMGS_MODEL__PRECISION", "fp32")
    (tmp_path / "lamps.txt").write_text(LAMPS[:900], encoding="utf-8")
    if trained:
        (tmp_path / "data" / "checkpoints").mkdir(parents=True)
        net = GistNet(GistShape(width=16, hidden=16, heads=2))
        model = load(str(write_model(tmp_path / "copy")), precision="fp32")
        save_checkpoint(tmp_path / "data" / "checkpoints" / "mine.safetensors", net, net, model=model)
    with Operator(Engine(Options(store=":memory:", model=str(llama)))) as operator:
        opened = say(operator, f"focus open {tmp_path / 'lamps.txt'}")
        assert opened.view.gist == ("mine" if trained else "pointer")
        picture = focus(opened.view, Canvas(200, 50)).render().plain
        for said in (as_text(opened), as_text(say(operator, "status")), as_text(say(operator, "focus view"))):
            assert (WARNING[:40] in " ".join(said.split())) is not trained
        assert (UNTRAINED in picture) is not trained and ("checkpoints." in picture) is not trained
    assert "without them" in WARNING and "[paths] checkpoints" in WARNING

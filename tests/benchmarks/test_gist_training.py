"""Training gists, as its manual shows it."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
import torch

import benchmarks.__main__
from amgs_app.engine import Engine, Options
from amgs_app.models.choice import gist_encoder
from amgs_app.session.operator import Operator
from amgs_focus.errors import CheckpointError
from amgs_focus.gist.checkpoint import load_checkpoint, save_checkpoint
from amgs_focus.gist.gistnet import GistNet, GistShape
from amgs_focus.model.adapter import AdapterShape, attach
from amgs_focus.model.loading import load
from amgs_focus.model.tiny import TinyModel
from amgs_focus.records import Segment
from benchmarks.commands.rigs import encoder_of
from benchmarks.focus_training.run_config import GistConfig, RunConfig, parse_config
from tests.focus.model_world import write_model
from tests.focus.training_world import LAMPS, keys_of, written_keys

MANUAL = (Path(__file__).parents[2] / "benchmarks" / "focus_training" / "GISTS.md").read_text(
    encoding="utf-8"
)
TOY, REFERENCE = re.findall(r"```toml\n(.*?)```", MANUAL, flags=re.S)


def commands(block: str) -> list[list[str]]:
    return [line.split()[3:] for line in block.splitlines() if line.startswith("python -m benchmarks ")]


def bench(tmp_path: Path, *words: str) -> int:
    return benchmarks.__main__.run(["--model", "tiny", "--store", str(tmp_path / "s.duckdb"), *words])


def test_the_first_run_of_the_manual_works_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "toy.toml").write_text(TOY, encoding="utf-8")
    (tmp_path / "book.txt").write_text(LAMPS, encoding="utf-8")
    lines = commands(re.findall(r"```sh\n(.*?)```", MANUAL, flags=re.S)[0])
    assert [words[2] for words in lines] == ["--stage", "--steps", "--resume"]
    said = []
    for words in lines:
        assert bench(tmp_path, *words) == 0
        said.append(capsys.readouterr().out)
    assert "book" in said[0] and "written" in said[0]
    assert "3 of 4" in said[1] and "--resume" in said[1]
    assert "4 of 4" in said[2]
    assert (tmp_path / "run" / "toy.safetensors").exists()
    assert "gists" in (tmp_path / "run" / "toy.md").read_text(encoding="utf-8").casefold()
    assert bench(tmp_path, *lines[2], "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["checkpoint"].endswith("toy.safetensors")
    assert bench(tmp_path, *lines[1]) == 2
    assert "--resume" in capsys.readouterr().err


def test_a_wrong_key_is_told_with_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "toy.toml"
    file.write_text(TOY.replace("held_out", "heldout"), encoding="utf-8")
    assert bench(tmp_path, "train-gistnet", str(file), "--stage") == 2
    assert "data.texts.0.heldout is no key (did you mean held_out?)" in capsys.readouterr().err


def test_the_manual_lists_every_key_with_its_default() -> None:
    given = tomllib.loads(REFERENCE)
    assert parse_config(given, Path("here"))
    assert parse_config({"data": given["data"]}, Path("here")) == parse_config(
        {name: value for name, value in given.items() if name != "focus"}, Path("here")
    )
    missing = set(keys_of(RunConfig)) - set(written_keys(given))
    apart = {"model.cache", *(key for key in missing if key.startswith(("focus.", "gistnet.gists")))}
    assert missing <= apart
    assert GistConfig().gists.hidden == 320


def test_what_was_trained_is_used_where_the_settings_name_it(tmp_path: Path) -> None:
    llama = write_model(tmp_path / "llama")
    shape = GistShape(width=16, hidden=16, heads=2, slots=2)
    save_checkpoint(
        tmp_path / "mine.safetensors",
        GistNet(shape),
        GistNet(shape),
        model=load(str(llama), precision="fp32"),
    )
    attach(load(str(llama), precision="fp32"), AdapterShape(rank=2)).save(tmp_path / "small.safetensors")
    told = tmp_path / "settings.toml"
    told.write_text(
        f'[model]\nprecision = "fp32"\ngists = "{tmp_path}/mine.safetensors"\n'
        f'adapter = "{tmp_path}/small.safetensors"\n',
        encoding="utf-8",
    )
    with Operator(
        Engine(Options(store=str(tmp_path / "s.duckdb"), model=str(llama), settings=told))
    ) as session:
        session.engine.open_focus([Segment(LAMPS[:900])])
        header = session.engine.focus_trace().header
        assert (header.gist, session.engine.focus.tree.slots) == ("mine", 2)
        assert header.model.adapter.startswith("small@")


def test_benches_and_runs_read_the_gists_of_the_settings(tmp_path: Path) -> None:
    shape = GistShape(width=64, hidden=16, heads=2)
    torch.manual_seed(0)
    mine = GistNet(shape)
    torch.nn.init.normal_(mine.write.weight, std=0.1)
    save_checkpoint(tmp_path / "mine.safetensors", mine, mine, model=TinyModel())
    told = tmp_path / "settings.toml"
    told.write_text(f'[model]\ngists = "{tmp_path}/mine.safetensors"\nslots = 4\n', encoding="utf-8")
    with Operator(Engine(Options(store=":memory:", model="tiny", settings=told))) as session:
        model = session.engine.load_model()
        of_run, of_bench = (
            gist_encoder(model, session.engine.settings.model),
            encoder_of(session.engine, model, None),
        )
        assert (of_run.name, of_run.slots) == (of_bench.name, of_bench.slots) == ("mine", 4)
        assert of_run.version == of_bench.version
        assert of_run.version != load_checkpoint(tmp_path / "mine.safetensors", model).version
        save_checkpoint(tmp_path / "other.safetensors", mine, mine, model=TinyModel())
        other = encoder_of(session.engine, model, tmp_path / "other.safetensors")
        assert (other.name, other.slots) == ("other", 4)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ('gists = "two.safetensors"\nslots = 4', "2 gists per block, not 4"),
        ('gists = "wide.safetensors"', "width 64; this model has 16"),
        ('adapter = "none.safetensors"', "cannot be read"),
    ],
)
def test_weights_that_do_not_fit_are_refused(tmp_path: Path, line: str, error: str) -> None:
    llama = write_model(tmp_path / "llama")
    wide = GistNet(GistShape(width=64, hidden=16, heads=2))
    save_checkpoint(tmp_path / "wide.safetensors", wide, wide, model=TinyModel())
    two = GistNet(GistShape(width=16, hidden=16, heads=2, slots=2))
    save_checkpoint(tmp_path / "two.safetensors", two, two, model=load(str(llama), precision="fp32"))
    told = tmp_path / "settings.toml"
    told.write_text(f"[model]\n{line}\n".replace('= "', f'= "{tmp_path}/'), encoding="utf-8")
    with (
        Operator(Engine(Options(store=":memory:", model=str(llama), settings=told))) as session,
        pytest.raises(CheckpointError, match=error),
    ):
        session.engine.open_focus([Segment(LAMPS[:900])])

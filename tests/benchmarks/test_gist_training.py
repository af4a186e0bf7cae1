"""Training gists, as its manual shows it."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
import torch

from amgs_app.engine import Engine, Options
from amgs_app.session import Operator
from amgs_focus.gist import GistNet, GistShape, save_checkpoint
from amgs_focus.model.adapter import AdapterShape, attach
from amgs_focus.model.loading import load
from amgs_focus.records import Segment
from benchmarks.focus_training.divergence import Divergence
from benchmarks.focus_training.run_config import GistConfig, RunConfig, parse_config
from tests.benchmarks.training_world import LAMPS, bench, keys_of, written_keys
from tests.focus.model_world import write_model

MANUAL = (Path(__file__).parents[2] / "benchmarks" / "focus_training" / "GISTS.md").read_text(encoding="utf-8")
TOY, REFERENCE = re.findall(r"```toml\n(.*?)```", MANUAL, flags=re.S)


def commands(block: str) -> list[list[str]]:
    return [line.split()[3:] for line in block.splitlines() if line.startswith("python -m benchmarks ")]


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
    shape = GistShape(width=16, hidden=16, heads=2)
    save_checkpoint(
        tmp_path / "mine.safetensors", GistNet(shape), GistNet(shape), model=load(str(llama), precision="fp32")
    )
    attach(load(str(llama), precision="fp32"), AdapterShape(rank=2)).save(tmp_path / "small.safetensors")
    told = tmp_path / "settings.toml"
    told.write_text(
        f'[model]\nprecision = "fp32"\ngists = "{tmp_path}/mine.safetensors"\n'
        f'adapter = "{tmp_path}/small.safetensors"\n',
        encoding="utf-8",
    )
    with Operator(Engine(Options(store=str(tmp_path / "s.duckdb"), model=str(llama), settings=told))) as session:
        session.engine.open_focus([Segment(LAMPS[:900])])
        header = session.engine.focus_trace().header
        assert header.gist == "mine"
        assert header.model.adapter.startswith("small@")


def test_divergence_agrees_with_the_plain_formulas() -> None:
    torch.manual_seed(0)
    student = torch.randn(70, 50, dtype=torch.float64, requires_grad=True)
    teacher = torch.randn(70, 50, dtype=torch.float64)
    targets = torch.randint(50, (70,))
    kl, nll = Divergence.apply(student, teacher.clone(), targets)  # type: ignore[no-untyped-call]
    (0.7 * kl.sum() + 0.3 * (nll * torch.arange(70)).sum()).backward()
    plain = student.detach().clone().requires_grad_(True)
    log = plain.log_softmax(-1)
    slow_kl = (teacher.softmax(-1) * (teacher.log_softmax(-1) - log)).sum(-1)
    slow_nll = -log.gather(1, targets[:, None])[:, 0]
    slow = 0.7 * slow_kl.sum() + 0.3 * (slow_nll * torch.arange(70)).sum()
    slow.backward()  # type: ignore[no-untyped-call]
    torch.testing.assert_close(kl, slow_kl)
    torch.testing.assert_close(nll, slow_nll)
    assert student.grad is not None
    torch.testing.assert_close(student.grad, plain.grad)

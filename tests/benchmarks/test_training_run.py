"""Training runs from a file: the configuration, the shards, cancelling and resuming, the log, the card, workers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open

from amgs_focus.gist import load_checkpoint
from amgs_focus.model.tiny import TinyModel
from benchmarks.focus_training.corpus import open_corpus
from benchmarks.focus_training.gist_run import train_gistnet
from benchmarks.focus_training.records import TrainedRun
from benchmarks.focus_training.run_config import RunConfig, read_config
from tests.benchmarks.training_world import write_run


class Ticking:
    """A clock that is a second later at every look."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def perf(self) -> float:
        self.seconds += 1.0
        return self.seconds


def run(config: RunConfig, **told: Any) -> TrainedRun:
    return train_gistnet(config, clock=Ticking(), **told)


def weights(file: Path) -> dict[str, torch.Tensor]:
    encoder = load_checkpoint(file, TinyModel())
    return {**encoder.token_net.state_dict(prefix="t."), **encoder.gist_net.state_dict(prefix="g.")}


def test_a_run_ends_in_a_checkpoint_and_a_card_of_its_own_figures(tmp_path: Path) -> None:
    config = read_config(write_run(tmp_path))
    told: list[tuple[int, int, str]] = []
    done = run(config, progress=lambda *said: told.append(said))
    assert done.complete
    encoder = load_checkpoint(Path(done.checkpoint), TinyModel())
    assert encoder.token_net.write.weight.abs().sum() > 0
    with safe_open(done.checkpoint, framework="pt") as file:
        made = file.metadata()
    as_told = json.loads(made["configuration"])
    assert as_told["gistnet"]["tokens"]["steps"] == 6 and made["seed"] == str(config.seed)
    assert str(tmp_path) not in made["configuration"] and "out" not in as_told
    shards = json.loads(made["texts"])
    assert shards == {part.name: part.digest for part in open_corpus(config.data, TinyModel()).parts}
    card = Path(done.card).read_text(encoding="utf-8")
    assert made["commit"] in card and all(digest in card for digest in shards.values())
    assert encoder.gist_net.write.weight.abs().sum() > 0
    record = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert [(leg["part"], leg["start"], leg["stop"]) for leg in record["legs"]] == [("tokens", 0, 6), ("gists", 0, 2)]
    assert record["configuration"]["gistnet"]["tokens"]["steps"] == 6
    card = Path(done.card).read_text(encoding="utf-8")
    tokens = next(part for part in done.parts if part.part == "tokens")
    assert f"| harm_lamps_2_0_32 | {tokens.validation['harm_lamps_2_0_32']:.3f} |" in card
    assert str(encoder.version) in card and "6 of 6" in card
    assert any("left" in doing and "kl" in doing for _, _, doing in told)


def test_a_run_in_sittings_equals_one_in_one_go(tmp_path: Path) -> None:
    whole = run(read_config(write_run(tmp_path / "whole")))
    config = read_config(write_run(tmp_path / "parts"))
    first = run(config, steps=4)
    assert not first.complete and not first.checkpoint
    assert [part.step for part in first.parts] == [4, 0]
    second = run(config, steps=3, resume=True)
    assert [part.step for part in second.parts] == [6, 1]
    third = run(config, resume=True)
    assert third.complete
    straight, parted = weights(Path(whole.checkpoint)), weights(Path(third.checkpoint))
    assert all(torch.equal(straight[name], parted[name]) for name in straight)
    again = run(config, resume=True)
    assert again.complete and again.checkpoint == third.checkpoint

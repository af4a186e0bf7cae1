"""LoRA and the joint schedule: adapters that come and go, phases that resume, effects that are told as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from amgs_focus.errors import ConfigurationError, ModelMismatchError
from amgs_focus.gist import GistNet, GistShape, save_checkpoint
from amgs_focus.model import loading
from amgs_focus.model.adapter import AdapterShape, attach, load_adapter
from amgs_focus.model.pretrained import PretrainedModel
from benchmarks.focus_training.joint_config import JointRunConfig as RunConfig
from benchmarks.focus_training.joint_run import train_lora
from benchmarks.focus_training.records import TrainedRun
from benchmarks.focus_training.run_config import read_as
from tests.benchmarks.training_world import write_run
from tests.focus.focus_world import StillClock
from tests.focus.model_world import write_model

SHAPE = GistShape(width=16, hidden=16, heads=2)

CONFIG = """
name = "turns"
seed = 5

[model]
base = "llama"

[focus]
window = 120
horizon = 16
tail_blocks = 1
cadence = 4
focus_share = 0.2

[[data.texts]]
name = "lamps"
path = "lamps.txt"
held_out = 0.5

[gistnet]
start = "gists.safetensors"

[contexts]
lifetime = 224
windows = 6

[lora]
steps = 6
sequences = 2
learning_rate = 2e-2
warmup = 1
validate_every = 2
rank = 4
targets = ["q_proj", "v_proj"]

[joint]
cycles = 2
phases = ["b1", "b3"]

[joint.gistnet]
steps = 4
sequences = 2
learning_rate = 1e-2
warmup = 1
validate_every = 2
stability = 0.1
boundary = 2.0
"""


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("base") / "llama")


def load(llama: Path) -> PretrainedModel:
    model = loading.load(str(llama), precision="fp32")
    assert isinstance(model, PretrainedModel)
    return model


def net(seed: int = 0) -> GistNet:
    torch.manual_seed(seed)
    made = GistNet(SHAPE)
    torch.nn.init.normal_(made.write.weight, std=0.01)
    return made


def config(folder: Path, llama: Path) -> RunConfig:
    file = write_run(folder, CONFIG.replace('base = "llama"', f'base = "{llama}"'))
    save_checkpoint(folder / "gists.safetensors", net(), net(1), model=load(llama))
    return read_as(RunConfig, file)


def run(told: RunConfig, **more: Any) -> TrainedRun:
    return train_lora(told, clock=StillClock(), **more)


def test_a_fresh_adapter_changes_nothing_and_a_trained_one_can_be_switched_off(llama: Path, tmp_path: Path) -> None:
    model = load(llama)
    rows = model.embed(torch.tensor([model.encode("the lamps")]))
    plain = model.forward(rows)
    adapter = attach(model, AdapterShape(rank=4))
    assert torch.equal(model.forward(rows), plain)
    assert model.card.adapter == f"lora@{adapter.version:08x}"
    for parameter in adapter.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    changed = model.forward(rows)
    assert not torch.allclose(changed, plain)
    with adapter.disable():
        assert torch.equal(model.forward(rows), plain)
    assert torch.equal(model.forward(rows), changed)
    assert all(parameter.requires_grad for parameter in adapter.parameters())

    adapter.save(tmp_path / "mine.safetensors")
    other = load(llama)
    again = load_adapter(other, tmp_path / "mine.safetensors")
    assert torch.equal(other.forward(rows), changed)
    assert other.card.adapter == model.card.adapter == f"mine@{again.version:08x}"
    assert not any(parameter.requires_grad for parameter in other.module.parameters())
    assert load(llama).card.adapter == ""
    with pytest.raises(ModelMismatchError, match="already"):
        load_adapter(other, tmp_path / "mine.safetensors")


def test_lora_is_held_against_the_frozen_base_and_resumes_exactly(llama: Path, tmp_path: Path) -> None:
    whole = run(config(tmp_path / "whole", llama))
    told = config(tmp_path / "parts", llama)
    assert not run(told, steps=3).complete
    with pytest.raises(ConfigurationError, match="already holds a run"):
        run(told)

    parted = run(told, resume=True)
    assert parted.complete
    assert parted.effects == whole.effects
    (found,) = parted.effects
    assert (found.phase, found.windows) == ("cycle1-b3", 6)
    record = json.loads((told.out / "run.json").read_text(encoding="utf-8"))
    assert [(leg["start"], leg["stop"]) for leg in record["legs"]] == [(0, 3), (3, 6)]
    assert found.verdict in Path(parted.card).read_text(encoding="utf-8")
    assert bool(parted.checkpoint) == (found.verdict == "better")
    assert run(told, resume=True).effects == parted.effects

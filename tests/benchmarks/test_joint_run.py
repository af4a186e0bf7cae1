"""LoRA and the joint schedule: adapters that come and go, phases that resume, effects that are told as they are."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
import torch

import benchmarks.focus_training
from amgs_focus.errors import CheckpointError, ConfigurationError, ModelMismatchError, TextError
from amgs_focus.gist.checkpoint import load_checkpoint, save_checkpoint
from amgs_focus.gist.gistnet import GistNet, GistNetEncoder, GistShape, PointerEncoder
from amgs_focus.lens.scoring import TailSimilarity
from amgs_focus.model import loading
from amgs_focus.model.adapter import AdapterShape, attach, load_adapter
from amgs_focus.model.pretrained import PretrainedModel
from amgs_focus.model.tiny import TinyModel
from amgs_focus.settings import FocusSettings
from benchmarks.focus_training import context_phase, joint_run
from benchmarks.focus_training.contexts import (
    HeldOutResult,
    context_rows,
    edge_weights,
    effect,
    following_nll,
    full_rows,
    plain_rows,
    situation,
)
from benchmarks.focus_training.joint_config import JointRunConfig as RunConfig
from benchmarks.focus_training.joint_run import train_joint, train_lora
from benchmarks.focus_training.records import TrainedRun
from benchmarks.focus_training.run_config import RunConfig as PlainConfig
from benchmarks.focus_training.run_config import parse_as, read_as
from tests.focus.focus_world import StillClock
from tests.focus.model_world import write_model
from tests.focus.training_world import LAMPS, keys_of, write_run, written_keys

SHAPE = GistShape(width=16, hidden=16, heads=2)
SETTINGS = FocusSettings(window=120, horizon=16, tail_blocks=1, cadence=4, focus_share=0.2)

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


def config(folder: Path, llama: Path, text: str = CONFIG) -> RunConfig:
    file = write_run(folder, text.replace('base = "llama"', f'base = "{llama}"'))
    save_checkpoint(folder / "gists.safetensors", net(), net(1), model=load(llama))
    return read_as(RunConfig, file)


def run(train: Any, told: RunConfig, **more: Any) -> TrainedRun:
    found = train(told, clock=StillClock(), **more)
    assert isinstance(found, TrainedRun)
    return found


# --- the adapter ------------------------------------------------------------------------------------------


def test_a_fresh_adapter_changes_nothing_and_a_trained_one_can_be_switched_off(
    llama: Path, tmp_path: Path
) -> None:
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
    with adapter.disabled():
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


def test_an_adapter_that_does_not_fit_is_refused(llama: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelMismatchError, match="does not support adapters"):
        attach(TinyModel(), AdapterShape())
    with pytest.raises(ModelMismatchError, match="No adapter fits"):
        attach(load(llama), AdapterShape(targets=("nowhere",)))
    attach(model := load(llama), AdapterShape()).save(tmp_path / "mine.safetensors")
    other = write_model(tmp_path / "qwen", "Qwen2")
    with pytest.raises(CheckpointError, match=f"trained on {model.card.name}"):
        load_adapter(loading.load(str(other), precision="fp32"), tmp_path / "mine.safetensors")
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_adapter(load(llama), tmp_path / "none.safetensors")
    save_checkpoint(tmp_path / "gists.safetensors", net(), net(), model=load(llama))
    with pytest.raises(CheckpointError, match="not an adapter"):
        load_adapter(load(llama), tmp_path / "gists.safetensors")


# --- working contexts -------------------------------------------------------------------------------------


def test_a_situation_is_what_the_runtime_would_read(llama: Path) -> None:
    model = load(llama)
    tokens = torch.tensor(model.encode(LAMPS)[:240])
    first = net()
    encoder = GistNetEncoder(first, net(1), name="n", version=1)
    case = situation(model, encoder, TailSimilarity(), SETTINGS, tokens)
    assert case.tree.length == 224 and case.context.used <= 120
    assert {entry.level for entry in case.context.entries()} == {0, 1}
    rows = context_rows(case)
    assert len(rows) == len(plain_rows(case)) == case.context.used
    assert torch.equal(plain_rows(case)[-1], full_rows(case)[-1])
    # gists go through the files' half precision on their way into the tree
    torch.testing.assert_close(context_rows(case, first), rows, atol=2e-3, rtol=2e-3)
    context_rows(case, first.requires_grad_(True)).sum().backward()  # type: ignore[no-untyped-call]
    assert first.write.weight.grad is not None
    alone = following_nll(model, [rows], [case])
    beside = following_nll(model, [rows, full_rows(case)], [case, case])
    torch.testing.assert_close(beside[0], alone[0])


def test_b1_refuses_gists_that_its_net_only_makes_a_part_of() -> None:
    encoder = GistNetEncoder(net(), net(1), name="mine", version=1)
    assert context_phase.GistTrainee(encoder).encoder().slots == 1
    with pytest.raises(CheckpointError, match="Of 4 gists a block the net of mine makes 1") as refused:
        context_phase.GistTrainee(encoder.with_slots(4))
    assert "gistnet.slots" in (refused.value.way_out or "")


def test_tokens_beside_an_edge_count_more(llama: Path) -> None:
    model = load(llama)
    case = situation(
        model, PointerEncoder(), TailSimilarity(), SETTINGS, torch.tensor(model.encode(LAMPS)[:240])
    )
    (row,) = edge_weights([case], 2.0)
    assert row.mean() == pytest.approx(1)
    assert row[0] == pytest.approx(2 * row[5].item())  # 224 is a block's edge
    assert torch.equal(edge_weights([case], 1.0), torch.ones(1, 16))


def test_an_effect_needs_an_interval_without_zero() -> None:
    before = HeldOutResult((4.0, 5.0, 6.0, 5.0), (5.0, 5.5, 6.5, 5.0), {})
    lower = replace(before, mixed=(3.9, 4.8, 5.9, 4.8))
    found = effect("b3", before, lower, seed=0)
    assert found.verdict == "better" and found.change[2] < 0
    assert found.beyond_plain[0] == pytest.approx(found.change[0])
    both = replace(lower, plain=(4.9, 5.3, 6.4, 4.8))
    assert effect("b3", before, both, seed=0).beyond_plain[0] == pytest.approx(0)
    assert effect("b3", lower, before, seed=0).verdict == "worse"
    mixed = replace(before, mixed=(3.0, 6.0, 5.0, 6.0))
    assert effect("b3", before, mixed, seed=0).verdict == "no effect"
    assert effect("b3", before, before, seed=0).verdict == "no effect"


# --- the runs ---------------------------------------------------------------------------------------------


def test_lora_is_held_against_the_frozen_base_and_resumes_exactly(llama: Path, tmp_path: Path) -> None:
    whole = run(train_lora, config(tmp_path / "whole", llama))
    told = config(tmp_path / "parts", llama)
    assert not run(train_lora, told, steps=3).complete
    with pytest.raises(ConfigurationError, match="already holds a run"):
        run(train_lora, told)

    class StoppedError(Exception):
        """The operator's word."""

    def progress(done: int, total: int, doing: str) -> None:
        if "step 5" in doing:
            raise StoppedError

    with pytest.raises(StoppedError):
        run(train_lora, told, resume=True, progress=progress)
    parted = run(train_lora, told, resume=True)
    assert parted.complete
    assert parted.effects == whole.effects
    (found,) = parted.effects
    assert (found.phase, found.windows) == ("cycle1-b3", 6)
    record = json.loads((told.out / "run.json").read_text(encoding="utf-8"))
    assert [(leg["start"], leg["stop"]) for leg in record["legs"]] == [(0, 3), (3, 5), (5, 6)]
    assert found.verdict in Path(parted.card).read_text(encoding="utf-8")
    assert bool(parted.checkpoint) == (found.verdict == "better")
    assert run(train_lora, told, resume=True).effects == parted.effects


def test_the_schedule_takes_turns_and_keeps_only_what_is_better(llama: Path, tmp_path: Path) -> None:
    told = config(tmp_path / "whole", llama)
    done = run(train_joint, told)
    names = [one.phase for one in done.effects]
    assert names == ["cycle1-b1", "cycle1-b3", "cycle2-b1", "cycle2-b3"][: len(names)]
    for one in done.effects:
        assert (told.out / f"{one.phase}.safetensors").exists() == (one.verdict == "better")
    parts = config(tmp_path / "parts", llama)
    for _ in range(12):
        if (again := run(train_joint, parts, steps=3, resume=True)).complete:
            break
    assert again.effects == done.effects


def test_a_phase_begins_with_what_was_kept_and_one_without_effect_is_taken_back(
    llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdicts: Iterator[Literal["better", "no effect"]] = iter(("better", "no effect", "no effect"))
    begun: list[dict[str, torch.Tensor]] = []
    real = context_phase.train_phase

    def judged(stage: Any, plan: Any, trainee: Any, *more: Any) -> Any:
        begun.append(trainee.state_dict())
        found = real(stage, plan, trainee, *more)
        assert found is not None
        return replace(found, verdict=next(verdicts))

    monkeypatch.setattr(joint_run, "train_phase", judged)
    text = CONFIG.replace('phases = ["b1", "b3"]', 'phases = ["b1"]').replace("cycles = 2", "cycles = 5")
    told = config(tmp_path, llama, text)
    done = run(train_joint, told)
    assert [one.verdict for one in done.effects] == ["better", "no effect"]  # one idle cycle is enough
    kept = load_checkpoint(told.out / "cycle1-b1.safetensors", load(llama)).token_net.state_dict()
    assert all(torch.equal(begun[1][name], kept[name]) for name in kept)
    assert not (told.out / "cycle2-b1.safetensors").exists()


def test_the_lens_learns_from_labels_of_its_own_gists(llama: Path, tmp_path: Path) -> None:
    text = CONFIG.replace('phases = ["b1", "b3"]', 'phases = ["b2"]').replace("cycles = 2", "cycles = 1")
    text += """
[joint.lensnet]
tokens = 4000
snapshots = 2
exact = 2
facts = 0.0
warm = 0
warm_steps = 0
steps = 2
save_every = 1
"""
    told = config(tmp_path, llama, text)

    class StoppedError(Exception):
        """The operator's word."""

    def progress(done: int, total: int, doing: str) -> None:
        if doing == "lens" and done == 1:
            raise StoppedError

    with pytest.raises(StoppedError):
        run(train_joint, told, progress=progress)
    labels = told.out / "cycle1-b2" / "labels"
    written = {file: file.stat().st_mtime_ns for file in labels.iterdir()}
    assert len(written) == 2
    done = run(train_joint, told, resume=True)
    (found,) = done.effects
    assert (found.phase, found.windows) == ("cycle1-b2", 6)
    assert {file: file.stat().st_mtime_ns for file in labels.iterdir()} == written
    assert (told.out / "cycle1-b2.safetensors").exists() == (found.verdict == "better")


def test_gists_without_a_net_cannot_be_trained_in_turns(llama: Path, tmp_path: Path) -> None:
    told = config(tmp_path, llama, CONFIG.replace('start = "gists.safetensors"', 'start = ""'))
    with pytest.raises(CheckpointError, match="no net to train"):
        run(train_joint, told)


def test_a_text_that_keeps_too_little_apart_is_refused(llama: Path, tmp_path: Path) -> None:
    told = config(tmp_path, llama, CONFIG.replace("held_out = 0.5", "held_out = 0.01"))
    with pytest.raises(TextError, match="two validation windows"):
        run(train_lora, told)


def test_the_manual_lists_every_key_of_the_phases_with_its_default() -> None:
    manual = Path(benchmarks.focus_training.__file__).with_name("README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```toml\n(.*?)```", manual, flags=re.S)
    given = tomllib.loads(block)
    data = {"data": {"texts": [{"name": "a", "path": "a.txt"}]}}
    assert parse_as(RunConfig, data, Path("here")) == parse_as(RunConfig, {**data, **given}, Path("here"))
    assert set(written_keys(given)) == set(keys_of(RunConfig)) - set(keys_of(PlainConfig))

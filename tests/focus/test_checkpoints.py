"""Checkpoints of gists, lens and adapter are found by the embeddings of their model, in the own folder first."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from amgs_focus import gist as gist_checkpoint
from amgs_focus.errors import CheckpointError
from amgs_focus.gist import GistNet, GistShape, PointerEncoder
from amgs_focus.lens import lensnet as lens_checkpoint
from amgs_focus.lens.lensnet import LensNet, LensShape
from amgs_focus.lens.scoring import TailSimilarity
from amgs_focus.model import loading
from amgs_focus.model.adapter import AdapterShape, attach, load_adapter
from amgs_focus.model.base_model import BaseModel
from tests.focus.model_world import write_model


def load(folder: Path, *, seed: int = 0, precision: str = "fp32") -> BaseModel:
    return loading.load(str(write_model(folder, seed=seed)), precision=precision)


def gists(path: Path, model: BaseModel, *, seed: int = 0) -> Path:
    torch.manual_seed(seed)
    net = GistNet(GistShape(width=model.card.width, hidden=16, heads=2))
    torch.nn.init.normal_(net.write.weight, std=0.1)
    gist_checkpoint.save_checkpoint(path, net, net, model=model)
    return path


def lens(path: Path, model: BaseModel) -> Path:
    net = LensNet(LensShape(model.card.width, hidden=16, heads=2, stacks=1))
    lens_checkpoint.save_net(path, net, model=model, gist="pointer 0")
    return path


def without_fingerprint(path: Path, name: str) -> None:
    """The file as an earlier version would have written it, for a model of this name."""
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    metadata.pop("embeddings", None)
    save_file(load_file(path), path, metadata={**metadata, "model": name})


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "checkpoints").mkdir()
    return tmp_path / "checkpoints"


def test_what_was_trained_on_a_model_is_found_for_its_copy_of_another_name_and_precision(
    tmp_path: Path, own: Path
) -> None:
    original = load(tmp_path / "original")
    gists(own / "mine.safetensors", original)
    lens(own / "my-lens.safetensors", original)
    copy = load(tmp_path / "models--Somebody--copy" / "snapshots" / "0a1b2c", precision="bf16")
    assert copy.card.name == "Somebody/copy"
    assert gist_checkpoint.find_gist_encoder(copy, own=own).name == "mine"
    assert lens_checkpoint.find_scorer(copy, own=own).name == "my-lens"


def test_an_adapter_follows_the_embeddings_and_not_the_name(tmp_path: Path) -> None:
    original = load(tmp_path / "here" / "llama")
    attach(original, AdapterShape(rank=2)).save(tmp_path / "small.safetensors")
    copy = load(tmp_path / "copy")
    load_adapter(copy, tmp_path / "small.safetensors")
    assert copy.card.adapter.startswith("small@")
    with pytest.raises(CheckpointError, match=r"trained on llama.*other embeddings"):
        load_adapter(load(tmp_path / "there" / "llama", seed=1), tmp_path / "small.safetensors")


def test_the_latest_of_the_own_folder_comes_first(tmp_path: Path, own: Path) -> None:
    model = load(tmp_path / "llama")
    for at, name in enumerate(("old", "new")):
        path = gists(own / f"{name}.safetensors", model, seed=at)
        os.utime(path, (1000 + at, 1000 + at))
    assert gist_checkpoint.find_gist_encoder(model, own=own).name == "new"
    assert isinstance(gist_checkpoint.find_gist_encoder(model, own=tmp_path / "nowhere"), PointerEncoder)


def test_a_file_without_a_fingerprint_goes_by_the_name(tmp_path: Path, own: Path) -> None:
    model = load(tmp_path / "llama")
    path = gists(own / "old.safetensors", model)
    without_fingerprint(path, "Owner/Llama")
    assert gist_checkpoint.find_gist_encoder(model, own=own).name == "old"
    without_fingerprint(lens(own / "lens.safetensors", model), "mistral")
    assert isinstance(lens_checkpoint.find_scorer(model, own=own), TailSimilarity)
    with pytest.raises(CheckpointError, match="only the name tells"):
        lens_checkpoint.load_checkpoint(own / "lens.safetensors", model)


def test_a_damaged_file_in_the_own_folder_is_named(tmp_path: Path, own: Path) -> None:
    model = load(tmp_path / "llama")
    (own / "torn.safetensors").write_bytes(b"no weights")
    with pytest.raises(CheckpointError, match=r"torn.safetensors cannot be read") as told:
        gist_checkpoint.find_gist_encoder(model, own=own)
    assert "move it out" in told.value.way_out

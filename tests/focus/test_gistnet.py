"""Gists: the pointer start, checkpoints, the divergence."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from amgs_focus.errors import CheckpointError
from amgs_focus.gist import (
    BLOCK,
    GistNet,
    GistShape,
    PointerEncoder,
    find_gist_encoder,
    load_checkpoint,
    pointer_gist,
    save_checkpoint,
)
from amgs_focus.model.tiny import TinyModel

SHAPE = GistShape(width=64, hidden=32, heads=4)


def filled(shape: GistShape, seed: int = 0) -> GistNet:
    """A net whose delta is not zero."""
    torch.manual_seed(seed)
    net = GistNet(shape)
    torch.nn.init.normal_(net.write.weight, std=0.1)
    return net.eval()


@pytest.mark.parametrize("length", [1, 5, BLOCK])
def test_an_untrained_net_is_exactly_its_pointer(length: int) -> None:
    entries = torch.randn(3, length, 64)
    assert torch.equal(GistNet(SHAPE)(entries), pointer_gist(entries))
    assert torch.equal(pointer_gist(entries), entries[:, -1])


def test_a_net_tells_the_order_of_its_tokens() -> None:
    entries = torch.randn(1, BLOCK, 64)
    swapped = entries[:, [1, 0, *range(2, BLOCK)]]
    net = filled(SHAPE)
    assert not torch.allclose(net(entries), net(swapped), atol=1e-5)


def test_a_checkpoint_comes_back_with_the_same_gists_and_version(tmp_path: Path) -> None:
    path = tmp_path / "gistnet-tiny.safetensors"
    tokens, gists = filled(SHAPE, 1), filled(replace(SHAPE, hidden=16), 2)
    save_checkpoint(path, tokens, gists, model=TinyModel())
    loaded = load_checkpoint(path, TinyModel())
    again = load_checkpoint(path, TinyModel())
    entries = torch.randn(2, BLOCK, 64)
    ids = torch.zeros(2, BLOCK, dtype=torch.int64)
    torch.testing.assert_close(loaded.encode_tokens(entries, ids), tokens(entries), atol=2e-3, rtol=2e-3)
    torch.testing.assert_close(loaded.encode_gists(entries[:, :9]), gists(entries[:, :9]), atol=2e-3, rtol=2e-3)
    assert torch.equal(loaded.encode_tokens(entries, ids), again.encode_tokens(entries, ids))
    assert (loaded.name, loaded.version) == ("gistnet-tiny", again.version)
    assert 0 < loaded.version < 2**32
    save_checkpoint(path, filled(SHAPE, 3), gists, model=TinyModel())
    assert load_checkpoint(path, TinyModel()).version != loaded.version


def test_a_damaged_missing_or_foreign_checkpoint_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gist.safetensors"
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_checkpoint(path, TinyModel())
    save_checkpoint(path, GistNet(SHAPE), GistNet(SHAPE), model=TinyModel())
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_checkpoint(path, TinyModel())
    shape = json.dumps({"width": 64, "slots": 2})
    several = {"format": "amgs-gistnet-1", "tokens": shape, "gists": shape}
    for metadata, match in (({"format": "something else"}, "format"), (several, "several gists a block")):
        header = json.dumps({"__metadata__": metadata}).encode()
        path.write_bytes(struct.pack("<Q", len(header)) + header)
        with pytest.raises(CheckpointError, match=match):
            load_checkpoint(path, TinyModel())


def test_a_model_without_a_trained_net_gets_pointer_gists() -> None:
    encoder = find_gist_encoder(TinyModel(seed=7))
    assert isinstance(encoder, PointerEncoder)
    assert encoder.version == 0

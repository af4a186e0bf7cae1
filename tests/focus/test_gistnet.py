"""Gists: the pointer start, checkpoints, the divergence."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from amgs_focus.errors import CheckpointError
from amgs_focus.gist.checkpoint import for_model, load_checkpoint, save_checkpoint
from amgs_focus.gist.gistnet import (
    BLOCK,
    SLOTS,
    GistNet,
    GistNetEncoder,
    GistShape,
    PointerEncoder,
    mean_gist,
    pointer_gist,
)
from amgs_focus.model.tiny import TinyModel
from amgs_focus.tree.gist_tree import LifetimeTree
from benchmarks.focus_training.divergence import Divergence

SHAPE = GistShape(width=64, hidden=32, heads=4)


def filled(shape: GistShape, seed: int = 0) -> GistNet:
    """A net whose delta is not zero."""
    torch.manual_seed(seed)
    net = GistNet(shape)
    torch.nn.init.normal_(net.write.weight, std=0.1)
    return net.eval()


@pytest.mark.parametrize("slots", SLOTS)
@pytest.mark.parametrize("length", [1, 5, BLOCK])
def test_an_untrained_net_is_exactly_its_pointer(slots: int, length: int) -> None:
    entries = torch.randn(3, length, 64)
    net = GistNet(replace(SHAPE, slots=slots))
    assert torch.equal(net(entries), pointer_gist(entries, slots))
    assert pointer_gist(entries, slots).shape == (3, slots, 64)
    assert mean_gist(entries, slots).shape == (3, slots, 64)


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
    assert (loaded.name, loaded.slots, loaded.version) == ("gistnet-tiny", 1, again.version)
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
    header = json.dumps({"__metadata__": {"format": "something else"}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header)
    with pytest.raises(CheckpointError, match="format"):
        load_checkpoint(path, TinyModel())


def test_a_model_without_a_trained_net_gets_pointer_gists() -> None:
    encoder = for_model(TinyModel(seed=7), slots=2)
    assert isinstance(encoder, PointerEncoder)
    assert (encoder.slots, encoder.version) == (2, 0)


@given(slots=st.sampled_from(SLOTS), size=st.integers(2, 9), blocks=st.integers(1, 40))
def test_a_lifetime_of_any_shape_takes_any_slots(slots: int, size: int, blocks: int) -> None:
    model = TinyModel(seed=7)
    net = GistNet(SHAPE)
    tree = LifetimeTree(model, GistNetEncoder(net, net, name="n", version=7).with_slots(slots), block_size=size)
    tree.append([token % 200 for token in range(size * blocks)])
    for level in range(1, tree.depth + 1):
        assert tree.gists(level, 0, tree.count(level)).shape == (blocks // size ** (level - 1), slots, 64)
    ends = torch.from_numpy(tree.tokens(0, tree.length).astype("int64"))[size - 1 :: size]
    # an untrained net is its pointer: a block's last entry is its last token with any slots
    torch.testing.assert_close(tree.gists(1, 0, blocks)[:, -1], model.embed(ends).float(), atol=1e-3, rtol=1e-3)


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

"""Gists that read the frozen model's states, and the objective that makes a gist say what its own block says."""

from __future__ import annotations

from pathlib import Path

import torch

from amgs_focus.gist import BLOCK, GistNet, GistShape, load_checkpoint, save_checkpoint
from amgs_focus.model.tiny import TinyModel

SHAPE = GistShape(width=64, hidden=32, heads=4)
LAYERED = GistShape(width=64, hidden=32, heads=4, layer=1)


def filled(shape: GistShape, seed: int = 0) -> GistNet:
    """A net whose delta is not zero."""
    torch.manual_seed(seed)
    net = GistNet(shape)
    with torch.no_grad():
        net.write.weight.normal_(0, 0.1)
    return net.eval()


def test_states_after_all_layers_are_what_the_last_norm_reads() -> None:
    model = TinyModel()
    rows = model.embed(torch.randint(0, 256, (3, 9)))
    last = model.states(rows, 2)
    normed = last * torch.rsqrt(last.pow(2).mean(-1, keepdim=True) + 1e-6)
    torch.testing.assert_close(normed, model.forward(rows))
    assert not torch.allclose(model.states(rows, 1), last)


def test_gists_of_states_depend_on_the_model_and_on_nothing_outside_their_block(tmp_path: Path) -> None:
    model, net = TinyModel(), filled(LAYERED)
    with torch.no_grad():
        net.read_state.weight.normal_(0, 0.1)
    save_checkpoint(tmp_path / "layered.safetensors", net, filled(SHAPE), model=model)
    encoder = load_checkpoint(tmp_path / "layered.safetensors", model)
    ids = torch.randint(0, 256, (4, BLOCK))
    together = encoder.encode_tokens(model.embed(ids), ids)
    alone = [encoder.encode_tokens(model.embed(one[None]), one[None]) for one in ids]
    torch.testing.assert_close(together, torch.cat(alone), atol=1e-5, rtol=1e-4)
    with torch.no_grad():
        blind = net(model.embed(ids).float())
    assert not torch.allclose(together.float(), blind, atol=1e-3)

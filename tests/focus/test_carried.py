"""What gists carry: by the definition, with gists of elsewhere as the control, and refused where it cannot be told."""

from __future__ import annotations

import pytest
import torch

from amgs_focus.carried import BLOCKS, HORIZON, Carried, CarriedWindow, carried
from amgs_focus.records import NodeRef
from tests.focus.focus_world import MODEL, small_tree


def windows(*rows: tuple[float, float, float]) -> Carried:
    return Carried(tuple(CarriedWindow(NodeRef(1, n), *row) for n, row in enumerate(rows)))


def test_a_window_is_the_nll_of_what_follows_after_tokens_own_gists_and_those_of_elsewhere() -> None:
    tree = small_tree(200)
    found = carried(tree, windows=5)
    one = found.windows[1]
    size = tree.block_size
    start, end = one.node.index * size, (one.node.index + BLOCKS) * size
    targets = torch.from_numpy(tree.tokens(end, end + HORIZON).astype("int64"))
    own = tree.gists(1, one.node.index, one.node.index + BLOCKS).flatten(0, 1)
    sinks = MODEL.embed(torch.tensor(MODEL.sinks()))
    for rows, nats in (
        (MODEL.embed(torch.from_numpy(tree.tokens(start, end).astype("int64"))), one.tokens),
        (own.to(sinks), one.own),
    ):
        hidden = MODEL.forward(torch.cat([sinks, rows, MODEL.embed(targets)])[None])[0]
        at = len(sinks) + len(rows) - 1
        logits = MODEL.logits(hidden[at : at + HORIZON]).double()
        assert nats == pytest.approx(float(torch.nn.functional.cross_entropy(logits, targets)), abs=1e-4)
    assert one.elsewhere != one.own

"""Labels are drawn, kept and read back exactly; training learns from them, resumes bit for bit and keeps its files."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from amgs_focus.lens.lensnet import LensReader
from amgs_focus.lens.scoring import LensView, TailSimilarity
from amgs_focus.window.working_context import WorkingContext
from benchmarks.focus_training.lens_examples import LensExample
from benchmarks.focus_training.lens_labels import label_runs, opened_blocks, read, with_open
from benchmarks.focus_training.lens_runs import LensSnapshot, snapshot_at
from benchmarks.focus_training.lens_training import LensTraining, evaluate, lens_losses, train
from tests.focus.focus_world import MODEL
from tests.focus.lens_samples import GIST, RUNS, SHAPE, net, texts

TRAINING = LensTraining(SHAPE, warm_steps=3, steps=6, batch=2, validate_every=3, save_every=2)


def drawn(number: int) -> LensSnapshot:
    return snapshot_at(number, texts(), RUNS, MODEL, GIST, TailSimilarity(), block_size=16)


def test_what_blocks_are_worth_together_is_what_two_full_passes_give(tmp_path: Path) -> None:
    runs = dataclasses.replace(RUNS, blocks=(34, 36), facts=0.0)
    label_runs(tmp_path, texts(), runs, MODEL, GIST, TailSimilarity(), snapshots=1, exact=1, together=5)
    found = read(tmp_path / "000000.parquet", MODEL, GIST)
    context, tree = found.snapshot.context, found.snapshot.tree
    future = torch.tensor(found.snapshot.future)
    closed = with_open(context, opened_blocks(context), ())

    def said(rows: torch.Tensor) -> torch.Tensor:
        hidden = MODEL.forward(torch.cat([rows, MODEL.embed(future[:-1])])[None])[0, -len(future) :]
        return MODEL.logits(hidden).double().log_softmax(dim=-1)

    tokens = torch.from_numpy(tree.tokens(0, tree.length).astype("int64"))
    whole = said(MODEL.embed(torch.cat([torch.tensor(MODEL.sinks()), tokens])))

    def cost(chosen: WorkingContext) -> float:
        """KL(the full text ‖ the context), in nats a token."""
        read = said(chosen.embeddings(tree, 0, chosen.used))
        return float((whole.exp() * (whole - read)).sum(dim=-1).mean())

    assert len(found.joint) == 5
    for label in found.joint:
        chosen = with_open(closed, (), label.nodes)
        assert chosen.used <= context.window
        assert label.positions == chosen.used - closed.used == 31 * len(label.nodes)
        assert label.gain == pytest.approx(cost(closed) - cost(chosen), abs=1e-4)


def example(number: int = 3) -> LensExample:
    """Labels by hand: the third settled entry is worth much, the others nothing."""
    snapshot = drawn(number).snapshot
    reader = LensReader()
    given = reader.read(LensView(snapshot.context, snapshot.tree, snapshot.question))
    count = len(snapshot.context.entries())
    settled = torch.tensor([e.end <= snapshot.context.tail_start for e in snapshot.context.entries()])
    worth = torch.zeros(count)
    worth[2] = 2.0
    return LensExample(
        group="one",
        given=given,
        members=torch.eye(count),
        target=worth,
        weight=torch.ones(count),
        alone=torch.ones(count, dtype=torch.bool),
        settled=settled,
        gain=torch.tensor([15.0 if e.level else 0.0 for e in snapshot.context.entries()]),
        refund=torch.tensor([0.0 if e.level else 15.0 for e in snapshot.context.entries()]),
    )


def test_training_finds_what_is_worth_its_room() -> None:
    examples = [example(number) for number in (3, 4, 5)]
    settings = LensTraining(SHAPE, warm_steps=0, steps=60, batch=3, learning_rate=1e-2, noise=0.0)
    state = train(settings, [], examples, [], lambda report: None)
    with torch.no_grad():
        for one in examples:
            said = state.net(one.given).sum(dim=1)
            # blocks that end on the same letter have the same pointer gist, and may be taken for it
            assert float(said[2]) > float(said.max()) - 0.1 > float(said.median()) + 1
    assert evaluate(state.net, examples)["caught"] > 0.5


def test_the_losses_are_the_specification_s() -> None:
    """The slow twin: each loss written out entry by entry."""
    one, settings = example(), dataclasses.replace(TRAINING, noise=0.0)
    trained = net()
    with torch.no_grad():
        found = lens_losses(settings, trained, one, torch.Generator())
        worth = trained(one.given).sum(dim=1).tolist()
    settled = [value for value, inside in zip(worth, one.settled, strict=True) if inside]
    middle = sorted(settled)[(len(settled) - 1) // 2]
    asked = given_back = wrong = 0.0
    for value, inside, gain, refund in zip(worth, one.settled, one.gain, one.refund, strict=True):
        score = float(np.tanh(value - middle)) if inside else 0.0
        asked += float(gain) * max(0.0, score)
        given_back += float(refund) * max(0.0, -score)
        wrong += max(0.0, score) * (gain == 0) + max(0.0, -score) * (refund == 0)
    least = 0.1 * float(one.gain.sum() + one.refund.sum())
    assert float(found["budget"]) == pytest.approx(((asked - given_back) / (least + asked + given_back)) ** 2, rel=1e-4)
    assert float(found["legality"]) == pytest.approx(wrong / len(settled), rel=1e-4)
    errors = [abs(value - float(target)) for value, target in zip(worth, one.target, strict=True)]
    huber = [error**2 / 2 if error <= 1 else error - 0.5 for error in errors]
    assert float(found["regression"]) == pytest.approx(float(np.mean(huber)), rel=1e-4)
    others = [value for at, value in enumerate(worth) if at != 2]
    ranked = np.mean([np.log1p(np.exp(other - worth[2])) for other in others])
    assert float(found["ranking"]) == pytest.approx(float(ranked), rel=1e-3)

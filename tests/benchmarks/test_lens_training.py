"""Labels are drawn, kept and read back exactly; training learns from them, resumes bit for bit and keeps its files."""

from __future__ import annotations

import dataclasses
import json
import random
from pathlib import Path

import numpy as np
import pytest
import torch

from amgs_focus.errors import CheckpointError, TextError
from amgs_focus.lens.lensnet import LensReader, LensShape
from amgs_focus.lens.linear import NAMES
from amgs_focus.lens.scoring import LensView, TailSimilarity
from amgs_focus.model.tiny import TinyModel
from amgs_focus.utility import counterfactuals
from amgs_focus.window.working_context import WorkingContext
from benchmarks.focus_evaluation.exact_allocation import with_open
from benchmarks.focus_training.facts import fact_text
from benchmarks.focus_training.lens_examples import LensExample, measured_example, target_of, warm_examples
from benchmarks.focus_training.lens_labels import full_text, label_runs, opened_blocks, read
from benchmarks.focus_training.lens_run import of_lens
from benchmarks.focus_training.lens_runs import LensSnapshot, LensText, fact_lifetime, snapshot_at
from benchmarks.focus_training.lens_training import (
    LensTraining,
    evaluate,
    lens_losses,
    resumed,
    solved,
    start,
    train,
)
from benchmarks.focus_training.model_card import card_section
from benchmarks.focus_training.trainer import StepReport
from tests.focus.focus_world import MODEL
from tests.focus.lens_samples import GIST, RUNS, SHAPE, net, texts

TRAINING = LensTraining(SHAPE, warm_steps=3, steps=6, batch=2, validate_every=3, save_every=2)


def drawn(number: int) -> LensSnapshot:
    return snapshot_at(number, texts(), RUNS, MODEL, GIST, TailSimilarity(), block_size=16)


def test_a_snapshot_is_a_function_of_its_number() -> None:
    one, other, next_one = drawn(3), drawn(3), drawn(4)
    assert one.snapshot.context == other.snapshot.context
    assert one.snapshot.tree.digest() == other.snapshot.tree.digest()
    assert one.snapshot.future == other.snapshot.future
    assert one.snapshot.tree.digest() != next_one.snapshot.tree.digest()


def test_runs_are_legal_contexts_with_what_comes_next() -> None:
    kinds = set()
    for number in range(8):
        snapshot = drawn(number).snapshot
        snapshot.context.check()
        assert snapshot.context.lifetime == snapshot.tree.length
        assert snapshot.future
        kinds.add(bool(snapshot.question))
    assert kinds == {True, False}


def test_the_fact_asked_about_stands_where_it_is_said_to() -> None:
    found = next(one for one in map(drawn, range(20)) if one.snapshot.question)
    answer = MODEL.decode(found.snapshot.future).rstrip(".").split()
    told = found.snapshot.tree.text(*found.asked)
    assert any(word in told for word in answer if len(word) > 3)


def test_facts_are_asked_about_in_other_words_and_each_about_something_else() -> None:
    written = fact_text(random.Random(1), ["filler"] * 5, 12)
    assert len(written.paragraphs) == 17
    assert len({fact.paragraph for fact in written.facts}) == 12
    for fact in written.facts:
        assert fact.question.endswith("?")
        assert fact.question not in written.paragraphs[fact.paragraph]


def test_labels_come_back_from_disk_as_they_were(tmp_path: Path) -> None:
    done = label_runs(
        tmp_path,
        texts(),
        dataclasses.replace(RUNS, blocks=(34, 36)),
        MODEL,
        GIST,
        TailSimilarity(),
        snapshots=2,
        exact=3,
        together=4,
    )
    assert (done.done, done.snapshots) == (2, 2)
    found = read(tmp_path / "000001.parquet", MODEL, GIST)
    again = counterfactuals(found.snapshot, teacher=full_text(found.snapshot))
    by_node = {(label.node, label.kind): label for label in again}
    assert 0 < len(found.labels) <= 3
    for label in found.labels:
        fresh = by_node[label.node, label.kind]
        assert label.gains == pytest.approx(fresh.gains, abs=1e-5)
        assert label.positions == fresh.positions


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


def test_labelling_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    runs = dataclasses.replace(RUNS, blocks=(34, 36))

    def stop(done: int, total: int, doing: str) -> None:
        if doing == "labels" and done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        label_runs(
            tmp_path, texts(), runs, MODEL, GIST, TailSimilarity(), snapshots=2, exact=2, progress=stop
        )
    first = (tmp_path / "000000.parquet").read_bytes()
    done = label_runs(tmp_path, texts(), runs, MODEL, GIST, TailSimilarity(), snapshots=2, exact=2)
    assert (done.done, done.snapshots) == (1, 2)
    assert (tmp_path / "000000.parquet").read_bytes() == first


def test_labels_of_another_model_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    label_runs(
        tmp_path,
        texts(),
        dataclasses.replace(RUNS, blocks=(34, 36)),
        MODEL,
        GIST,
        TailSimilarity(),
        snapshots=1,
        exact=1,
    )
    path = tmp_path / "000000.parquet"
    with pytest.raises(TextError, match="tiny-7"):
        read(path, TinyModel(8), GIST)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(TextError, match="cannot be read"):
        read(path, MODEL, GIST)


def test_texts_that_are_too_short_are_refused() -> None:
    with pytest.raises(TextError, match="fewer blocks"):
        snapshot_at(0, [dataclasses.replace(texts()[0], tokens=(1, 2))], RUNS, MODEL, GIST, TailSimilarity())


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


def test_the_features_weights_are_solved_within_each_snapshot() -> None:
    generator = torch.Generator().manual_seed(4)
    truth = torch.randn(len(NAMES), generator=generator)
    examples = []
    for offset, scale in ((0.0, 1.0), (50.0, 1.0), (-9.0, 1.0)):
        one = example()
        rows = torch.rand(len(one.target), len(NAMES), generator=generator)
        given = dataclasses.replace(one.given, features=rows)
        examples.append(dataclasses.replace(one, given=given, target=scale * rows @ truth + offset))
    assert torch.allclose(solved([], examples, ridge=1e-6), truth, atol=1e-3)
    shrunk = solved([], examples, ridge=10.0)
    assert shrunk.norm() < 0.5 * truth.norm()
    examples[1] = dataclasses.replace(examples[1], target=torch.full_like(examples[1].target, 7.0))
    assert torch.isfinite(solved(examples[1:2], examples)).all()


def test_what_examines_best_is_kept_even_if_that_is_no_attention_at_all() -> None:
    measured = [example(3), example(5)]
    # held out, worth is the other way round: whatever attention learns makes it worse
    held_out = [dataclasses.replace(one, target=-one.target) for one in measured]
    settings = LensTraining(SHAPE, warm_steps=0, steps=40, batch=2, learning_rate=1e-2, validate_every=20)
    state = train(settings, [], measured, held_out, lambda report: None)
    assert (state.step, state.best_step) == (40, 0)
    assert not state.net.head.weight.any()
    assert torch.equal(state.net.weights, solved([], measured))


def test_a_run_that_was_stopped_ends_bit_for_bit_as_one_that_was_not(tmp_path: Path) -> None:
    warm, measured = [example(3), example(5)], [example(4)]
    whole = train(TRAINING, warm, measured, measured, lambda report: None)
    path = tmp_path / "lens.state"

    def stop(report: StepReport) -> None:
        if report.step == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(TRAINING, warm, measured, measured, stop, save=lambda state: state.save(path))
    state = resumed(path, TRAINING)
    assert state.step == 4
    train(TRAINING, warm, measured, measured, lambda report: None, state=state)
    for name, value in whole.net.state_dict().items():
        assert torch.equal(value, state.net.state_dict()[name]), name


def test_a_state_of_other_settings_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lens.state"
    start(TRAINING).save(path)
    with pytest.raises(CheckpointError, match="seed 0, not 9"):
        resumed(path, dataclasses.replace(TRAINING, seed=9))


def test_training_on_nothing_is_refused() -> None:
    with pytest.raises(TextError, match="no labels"):
        train(TRAINING, [], [], [], lambda report: None)


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
    assert float(found["budget"]) == pytest.approx(
        ((asked - given_back) / (least + asked + given_back)) ** 2, rel=1e-4
    )
    assert float(found["legality"]) == pytest.approx(wrong / len(settled), rel=1e-4)
    errors = [abs(value - float(target)) for value, target in zip(worth, one.target, strict=True)]
    huber = [error**2 / 2 if error <= 1 else error - 0.5 for error in errors]
    assert float(found["regression"]) == pytest.approx(float(np.mean(huber)), rel=1e-4)
    others = [value for at, value in enumerate(worth) if at != 2]
    ranked = np.mean([np.log1p(np.exp(other - worth[2])) for other in others])
    assert float(found["ranking"]) == pytest.approx(float(ranked), rel=1e-3)


def test_the_warm_start_knows_where_the_fact_is() -> None:
    runs = dataclasses.replace(RUNS, facts=1.0, blocks=(10, 12), windows=(512,))
    found = [one for number in range(3) for one in warm_examples(number, texts(), runs, MODEL, GIST, each=2)]
    assert found
    asked = [one for one in found if bool((one.given.kinds == 2).any()) and float(one.target.max()) > 0]
    assert asked
    for one in asked:
        assert float(one.target.max()) <= target_of(0.6) + 1e-6
        assert one.members.sum(dim=1).tolist() == [1.0] * len(one.target)


def test_made_up_lifetimes_are_about_as_long_as_asked() -> None:
    made = fact_lifetime(random.Random(2), texts()[0], 600, MODEL)
    assert made is not None
    assert 300 < len(made.tokens) < 1200
    assert fact_lifetime(random.Random(2), texts()[0], 10**6, MODEL) is None


def test_measured_examples_count_by_how_sure_they_are(tmp_path: Path) -> None:
    runs = dataclasses.replace(RUNS, blocks=(34, 36))
    label_runs(tmp_path, texts(), runs, MODEL, GIST, TailSimilarity(), snapshots=1, exact=4)
    labelled = read(tmp_path / "000000.parquet", MODEL, GIST)
    one = measured_example(labelled, LensReader())
    assert one.target.tolist() == pytest.approx(
        [target_of(label.utility) for label in labelled.labels], rel=1e-4
    )
    assert one.members.sum(dim=1).tolist() == pytest.approx([1.0] * len(labelled.labels))
    order = np.argsort([label.error * label.horizon / label.positions for label in labelled.labels])
    assert np.all(np.diff(one.weight.numpy()[order]) <= 1e-6)


def test_the_hash_of_a_text_changes_with_a_token_and_stands_on_the_card() -> None:
    def digests(*texts: LensText) -> dict[str, str]:
        made = of_lens(LensTraining(LensShape(16), seed=5), texts)
        assert made["seed"] == "5" and json.loads(made["configuration"])["shape"]["width"] == 16
        found: dict[str, str] = json.loads(made["texts"])
        assert all(digest in "\n".join(card_section(made)) for digest in found.values())
        return found

    first = digests(LensText("a", "lib", (1, 2)), LensText("b", "lib", (3,)), LensText("c", "novel", (4,)))
    other = digests(LensText("a", "lib", (1, 2)), LensText("b", "lib", (5,)), LensText("c", "novel", (4,)))
    assert set(first) == {"lib", "novel"}
    assert first["lib"] != other["lib"] and first["novel"] == other["novel"]

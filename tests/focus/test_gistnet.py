"""Gists: the pointer start, checkpoints, training that learns and resumes, and the gap recovered."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from amgs_focus.errors import CheckpointError, TextError
from amgs_focus.gist.checkpoint import for_model, load_checkpoint, save_checkpoint
from amgs_focus.gist.divergence import Divergence
from amgs_focus.gist.gistnet import (
    BLOCK,
    SLOTS,
    GistNet,
    GistNetEncoder,
    GistShape,
    PointerEncoder,
    mean_gist,
    pointer_gist,
    pointer_positions,
    span_gists,
)
from amgs_focus.model import loading
from amgs_focus.model.tiny import TinyModel
from amgs_focus.tree.gist_tree import LifetimeTree
from benchmarks.focus_evaluation.gist import GistControls, gap_recovered, variant_nll
from benchmarks.focus_training.corpus import TrainingCorpus
from benchmarks.focus_training.gistnet import horizon_nll, resumed, train
from benchmarks.focus_training.run_config import GistTraining, Phase
from benchmarks.focus_training.trainer import StepReport
from tests.focus.model_world import write_model
from tests.focus.training_world import corpus_part

SHAPE = GistShape(width=64, hidden=32, heads=4)
TEXT = " ".join(f"the {i % 7} lamps of house {i % 11} burn until {i % 5} o'clock." for i in range(400))


def settings(**changes: object) -> GistTraining:
    base = GistTraining(
        shape=SHAPE,
        phases=(
            Phase(until=4, sequences=2, blocks=2, short=2, long=0, short_horizon=16),
            Phase(until=99, sequences=2, blocks=3, short=1, long=1, short_horizon=16, long_horizon=48, open_share=0.5),
        ),
        steps=8,
        seed=3,
        learning_rate=3e-3,
        warmup=2,
        hinge_every=2,
        validate_every=8,
        validation_windows=4,
        save_every=4,
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def corpus(model: TinyModel) -> TrainingCorpus:
    return TrainingCorpus((corpus_part(model, "lamps", 1.0, TEXT, 0.2), corpus_part(model, "again", 0.5, TEXT, 0.0)))


def filled(shape: GistShape, seed: int = 0) -> GistNet:
    """A net whose delta is not zero."""
    torch.manual_seed(seed)
    net = GistNet(shape)
    torch.nn.init.normal_(net.write.weight, std=0.1)
    return net.eval()


def test_pointer_positions_end_each_part_of_the_block() -> None:
    assert pointer_positions(32, 1) == [31]
    assert pointer_positions(32, 4) == [7, 15, 23, 31]
    assert pointer_positions(1, 8) == [0] * 8


@pytest.mark.parametrize("slots", SLOTS)
@pytest.mark.parametrize("length", [1, 5, BLOCK])
def test_an_untrained_net_is_exactly_its_pointer(slots: int, length: int) -> None:
    entries = torch.randn(3, length, 64)
    net = GistNet(replace(SHAPE, slots=slots))
    assert torch.equal(net(entries), pointer_gist(entries, slots))
    assert pointer_gist(entries, slots).shape == (3, slots, 64)
    assert mean_gist(entries, slots).shape == (3, slots, 64)


def test_mean_gist_of_one_slot_is_the_mean() -> None:
    entries = torch.randn(2, BLOCK, 8)
    torch.testing.assert_close(mean_gist(entries)[:, 0], entries.mean(dim=1))


def test_a_net_tells_the_order_of_its_tokens() -> None:
    entries = torch.randn(1, BLOCK, 64)
    swapped = entries[:, [1, 0, *range(2, BLOCK)]]
    net = filled(SHAPE)
    assert not torch.allclose(net(entries), net(swapped), atol=1e-5)


def test_an_unsupported_slot_count_is_refused() -> None:
    with pytest.raises(CheckpointError, match="3 slots"):
        GistNet(replace(SHAPE, slots=3))


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


def test_a_checkpoint_of_another_width_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.safetensors"
    save_checkpoint(path, GistNet(SHAPE), GistNet(SHAPE), model=TinyModel())
    narrow = loading.load(str(write_model(tmp_path / "narrow")), precision="fp32")
    with pytest.raises(CheckpointError, match="width 64; this model has 16") as refused:
        load_checkpoint(path, narrow)
    assert refused.value.way_out


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


def test_gists_keep_the_precision_of_their_entries() -> None:
    encoder = GistNetEncoder(filled(SHAPE), filled(SHAPE), name="n", version=1)
    entries = torch.randn(1, BLOCK, 64, dtype=torch.bfloat16)
    assert encoder.encode_tokens(entries, torch.zeros(1, BLOCK, dtype=torch.int64)).dtype == torch.bfloat16
    assert encoder.encode_gists(entries.double()).dtype == torch.float64


@pytest.mark.parametrize("slots", [2, 4, 8])
def test_more_slots_put_the_last_tokens_behind_the_gist_of_the_others(slots: int) -> None:
    one = GistNetEncoder(filled(SHAPE, 1), filled(SHAPE, 2), name="n", version=7)
    more = one.with_slots(slots)
    entries, ids = torch.randn(3, BLOCK, 64), torch.zeros(3, BLOCK, dtype=torch.int64)
    found = more.encode_tokens(entries, ids)
    front = BLOCK - slots + 1
    assert found.shape == (3, slots, 64)
    torch.testing.assert_close(found[:, :1], one.encode_tokens(entries[:, :front], ids))
    assert torch.equal(found[:, 1:], entries[:, front:])
    children = torch.randn(2, BLOCK * slots, 64)
    upper, gists = more.encode_gists(children), children[:, ::slots]
    torch.testing.assert_close(upper[:, :1], one.encode_gists(gists[:, :front]))
    assert torch.equal(upper[:, 1:], gists[:, front:])
    for length in (1, 3):
        assert more.encode_tokens(entries[:, :length], ids).shape == (3, slots, 64)
    versions = {one.with_slots(count).version for count in SLOTS}
    assert one.with_slots(1).version == more.with_slots(1).version == 7 and len(versions) == len(SLOTS)


def test_nets_for_several_gists_are_read_as_they_were_trained() -> None:
    two = GistNet(replace(SHAPE, slots=2))
    encoder = GistNetEncoder(two, two, name="n", version=7)
    assert encoder.with_slots(2).version == 7
    with pytest.raises(CheckpointError, match="2 gists per block, not 4") as refused:
        encoder.with_slots(4)
    assert "model.slots" in (refused.value.way_out or "")


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


def test_training_lowers_its_loss() -> None:
    model = TinyModel(seed=7)
    phase = Phase(until=99, sequences=1, blocks=2, short=2, long=0, short_horizon=16)
    window = TrainingCorpus((corpus_part(model, "window", 1.0, TEXT[:80], 0.0),))
    reports: list[StepReport] = []
    told = settings(steps=24, phases=(phase,), truth=0.0, hinge=0.0, reconstruction=0.0, style_share=0.0)
    train(told, window, model, reports.append)
    assert reports[-1].losses["kl"] < 0.8 * reports[0].losses["kl"]


def test_a_resumed_run_is_bit_exact(tmp_path: Path) -> None:
    model = TinyModel(seed=7)
    texts = corpus(model)
    straight = train(settings(), texts, model, lambda report: None)

    path = tmp_path / "run.state"
    seen: list[int] = []
    train(
        settings(),
        texts,
        model,
        lambda report: seen.append(report.step),
        save=lambda state: state.save(path),
        stopped=lambda: len(seen) == 4,
    )
    ended = train(settings(), texts, model, lambda report: None, state=resumed(path, settings()))
    assert seen == [1, 2, 3, 4]
    assert ended.step == straight.step == 8
    for name, value in straight.net.state_dict().items():
        assert torch.equal(value, ended.net.state_dict()[name]), name


def test_the_report_has_every_variant_and_repeats_exactly() -> None:
    model = TinyModel(seed=7)
    tokens = model.encode(TEXT)

    def measure() -> object:
        return gap_recovered(model, PointerEncoder(), tokens, blocks=2, tail=1, horizon=8, windows=6, seed=1, batch=4)

    report = gap_recovered(model, PointerEncoder(), tokens, blocks=2, tail=1, horizon=8, windows=6, seed=1, batch=4)
    assert report == measure()
    assert set(report.nll) == {"full", "drop", "sinks", "mean", "pointer", "recent", "gist"}
    assert all(len(values) == len(report.offsets) == 6 for values in report.nll.values())
    assert report.nll["gist"] == report.nll["pointer"]
    low, mean, high = report.gap().low, report.gap().mean, report.gap().high
    assert low <= mean <= high
    assert mean == pytest.approx(report.mean("drop").mean - report.mean("full").mean)
    if low <= 0:
        assert report.recovered() is None


def test_recovered_is_one_for_the_full_text_and_zero_for_nothing() -> None:
    model = TinyModel(seed=7)
    report = gap_recovered(model, PointerEncoder(), model.encode(TEXT), blocks=1, tail=0, horizon=8, windows=4, seed=1)
    rising = replace(report, nll={**report.nll, "drop": tuple(v + 1 for v in report.nll["full"])})
    full, drop = rising.recovered("full"), rising.recovered("drop")
    assert full is not None and full.mean == pytest.approx(1)
    assert drop is not None and drop.mean == pytest.approx(0)
    assert rising.harm("full").mean == pytest.approx(-1)


def test_controls_stand_in_the_place_of_the_gists() -> None:
    model, encoder = TinyModel(seed=7), PointerEncoder()
    text = torch.tensor(model.encode(TEXT))
    ids, others = text[:192].view(2, 96), text[400:528].view(2, 64)
    sinks = model.embed(torch.tensor([model.sinks()])).expand(2, -1, -1)
    vector = torch.randn(64, generator=torch.Generator().manual_seed(0))

    def measured(controls: GistControls, variant: str) -> list[float]:
        found = variant_nll(model, encoder, ids, span=64, horizon=32, variants=("drop", variant), controls=controls)
        assert set(found) == {"drop", variant}
        return found[variant]

    def expected(middle: torch.Tensor) -> list[float]:
        return horizon_nll(model, torch.cat([sinks, middle], dim=1), ids[:, 64:]).mean(dim=1).tolist()

    right, wrong = span_gists(encoder, model.embed(ids[:, :64]), ids[:, :64]), model.embed(others)[:, 31::32]
    assert measured(GistControls(), "gist") == expected(right) != expected(wrong)
    assert measured(GistControls(shuffled=others), "shuffled") == expected(wrong)
    assert measured(GistControls(other=others), "other") == expected(wrong)
    assert measured(GistControls(constant=vector), "constant") == expected(vector.expand(2, 2, 64))
    with pytest.raises(TextError, match="'other' has nothing"):
        measured(GistControls(shuffled=others), "other")

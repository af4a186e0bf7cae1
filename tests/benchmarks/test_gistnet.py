"""Training of gists: it learns, and what was stopped goes on as if it had not been."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch

from amgs_focus.gist.gistnet import GistShape
from amgs_focus.model.tiny import TinyModel
from benchmarks.focus_training.corpus import TrainingCorpus
from benchmarks.focus_training.gistnet import resumed, train
from benchmarks.focus_training.run_config import GistTraining, Phase
from benchmarks.focus_training.trainer import StepReport
from tests.benchmarks.training_world import corpus_part

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

"""Training of gists: it learns."""

from __future__ import annotations

from amgs_focus.gist.gistnet import GistShape
from amgs_focus.model.tiny import TinyModel
from benchmarks.focus_training.corpus import TrainingCorpus
from benchmarks.focus_training.gistnet import train
from benchmarks.focus_training.run_config import GistTraining, Phase
from benchmarks.focus_training.trainer import StepReport
from tests.benchmarks.training_world import corpus_part

SHAPE = GistShape(width=64, hidden=32, heads=4)
TEXT = " ".join(f"the {i % 7} lamps of house {i % 11} burn until {i % 5} o'clock." for i in range(400))


def test_training_lowers_its_loss() -> None:
    model = TinyModel(seed=7)
    phase = Phase(until=99, sequences=1, blocks=2, short=2, long=0, short_horizon=16)
    window = TrainingCorpus((corpus_part(model, "window", 1.0, TEXT[:80], 0.0),))
    reports: list[StepReport] = []
    alone = {"truth": 0.0, "hinge": 0.0, "reconstruction": 0.0, "style_share": 0.0, "warmup": 2, "learning_rate": 3e-3}
    told = GistTraining(shape=SHAPE, phases=(phase,), steps=24, seed=3, **alone)  # type: ignore[arg-type]
    train(told, window, model, reports.append)
    assert reports[-1].losses["kl"] < 0.8 * reports[0].losses["kl"]

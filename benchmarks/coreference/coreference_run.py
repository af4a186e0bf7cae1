"""Trains the scorer of antecedents: `python -m benchmarks.coreference.coreference_run --data DIR --out DIR`.

Texts are read once into OUT/examples; the training goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch

from amgs.conversation.coreference.parser import GrammarParser
from amgs.text.minilm import MiniLM
from amgs.types import Vector
from amgs_focus.training.trainer import StepReport, Trainer, TrainerSettings
from amgs_focus.training.training_state import TrainingState
from benchmarks.coreference.coreference_examples import Example, load
from benchmarks.coreference.coreference_net import (
    GAP,
    CoreferenceObjective,
    CoreferenceTraining,
    PairNet,
    judged,
    plain_rows,
)
from benchmarks.coreference.coreference_staging import stage
from benchmarks.coreference.token_states import TokenStates

_AWAY = 1e6
_HELD_OUT = 10  # one document in so many, and one example of GAP


Forms = dict[str, list[Example]]


def read_examples(cache: Path, without: str = "") -> tuple[Forms, Forms, Forms]:
    """Examples by form (GAP, LitBank, GUM): to train on, kept apart to choose by, and those of the form that is left
    out. GAP's validation half, by which `conversation` judges, is never trained on.
    """
    trained: Forms = {}
    apart: Forms = {}
    left_out: Forms = {}
    for number, path in enumerate(sorted(cache.glob("*.npz"))):
        form = path.name.split("-")[0]
        examples = load(path)
        if form == without:
            left_out.setdefault(form, []).extend(examples)
        elif path.name.startswith("gap-validation"):
            continue
        elif form != GAP:
            (apart if number % _HELD_OUT == 0 else trained).setdefault(form, []).extend(examples)
        else:
            apart.setdefault(form, []).extend(examples[::_HELD_OUT])
            trained.setdefault(form, []).extend(e for i, e in enumerate(examples) if i % _HELD_OUT)
    return trained, apart, left_out


def train(settings: CoreferenceTraining, forms: Forms, apart: Forms, out: Path) -> TrainingState[PairNet]:
    """Runs what is left of the steps; the state lies in `out`, with a line a validation in log.jsonl."""
    if settings.shuffled:
        drawn = np.random.default_rng(settings.seed)
        forms = {
            name: [replace(one, right=drawn.permutation(one.right)) for one in examples]
            for name, examples in forms.items()
        }
    torch.manual_seed(settings.seed)
    mean, scale = _moments([one for examples in forms.values() for one in examples[::3]])
    net = PairNet(settings, mean, scale, next(iter(forms.values()))[0].anaphor.shape[0])
    optimizer = torch.optim.AdamW(net.parameters(), lr=settings.rate, weight_decay=settings.decay)
    state = TrainingState(net, (optimizer,), told=asdict(settings))
    out.mkdir(parents=True, exist_ok=True)
    kept = out / "state"
    if kept.exists():
        state.load(kept)

    def progress(report: StepReport) -> None:
        if report.validation:
            line = {"step": report.step, "loss": report.losses["loss"], **report.validation}
            with (out / "log.jsonl").open("a") as log:
                log.write(json.dumps(line) + "\n")
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()

    trainer = Trainer(
        TrainerSettings(settings.steps, clip=1.0, validate_every=100, save_every=100, best_by="-nll"),
        state,
        CoreferenceObjective(net, forms, apart),
    )
    trainer.run(progress, save=lambda held_state: held_state.save(kept))
    state.take_best()
    return state


def _moments(examples: Sequence[Example]) -> tuple[Vector, Vector]:
    """Mean and deviation of every column; one that never changes is scaled away, as nothing is learned of it."""
    rows = np.concatenate([plain_rows(one) for one in examples])
    scale = rows.std(axis=0)
    return rows.mean(axis=0), np.where(scale > 1e-3, scale, _AWAY).astype(np.float32)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of gap-*.tsv, litbank and gum")
    parser.add_argument("--out", type=Path, required=True, help="where the examples and the trained net go")
    parser.add_argument("--steps", type=int, default=CoreferenceTraining().steps)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parts", default="attention,states", help="what is read besides the features")
    parser.add_argument("--without", default="", help="the form that is left out: gap, litbank or gum")
    parser.add_argument("--shuffled", action="store_true", help="train on shuffled annotation, as a control")
    parser.add_argument("--staged", action="store_true", help="take the examples that are there")
    given = parser.parse_args(words)
    cache = given.out / "examples"
    if not given.staged:
        stage(
            given.data,
            cache,
            GrammarParser(),
            TokenStates(MiniLM().encoder()),
            lambda line: print(line, flush=True),
        )
    parts = tuple(part for part in given.parts.split(",") if part)
    settings = CoreferenceTraining(steps=given.steps, seed=given.seed, parts=parts, shuffled=given.shuffled)
    ways = ("shuffled" if given.shuffled else "", f"without-{given.without}" if given.without else "")
    name = "-".join(("+".join(parts) or "features", *filter(None, ways), str(given.seed)))
    forms, apart, left_out = read_examples(cache, given.without)
    state = train(settings, forms, apart, given.out / name)
    figures = {which: judged(state.net.eval(), examples) for which, examples in (apart | left_out).items()}
    print(json.dumps({"best_step": state.best_step, "nll_and_right": figures}), flush=True)


if __name__ == "__main__":
    main()

"""`bisect` on planted causes, with the program's own model, beside what needs fewer readings.

The controls: what is lost without a span alone, what it gives alone, BM25 of the sentence over the spans, the model's
attention from the sentence to each span, chance, and the last span.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import torch

from amgs.calibration.brier import wilson_interval
from amgs.types import Progress
from amgs.wings.recorder.uses import WordSearch
from amgs_app.gateway.served_model import transcript
from amgs_focus.model.base_model import BaseModel
from amgs_focus.model.pretrained import PretrainedModel
from benchmarks.bench_results import BenchTable
from benchmarks.recorder.bisection import CALLS, Bisection, WindowMessage, find_cause
from benchmarks.recorder.likelihood import SentenceLikelihood
from benchmarks.recorder.planted_causes import PlantedCause, planted_causes

COUNTS: Final = 1.0
"""Nats that a sentence loses without its cause alone, from which on the cause counts for this model."""
_LAST_LAYERS: Final = 10
_EMPTY: Final = 20
"""Windows without a cause."""


@dataclass(frozen=True, slots=True)
class CauseFound:
    """What was found in a window. named: by each control, the place of a span, -1 for none."""

    planted: PlantedCause
    bisection: Bisection
    named: dict[str, int]

    @property
    def counts(self) -> bool:
        """Whether the sentence loses `COUNTS` without its cause."""
        cause = self.planted.cause
        return any(one.first - 1 == cause and one.lost >= COUNTS for one in self.bisection.weights)

    def right(self, way: str) -> bool | None:
        """Whether a way names the cause; None where it was not tried. "bisect": the heaviest span, whether or not it
        was sure; "named": the span that it names, wrong where it cannot tell; "among those asked": among the spans
        that a server would be asked without.
        """
        cause, weights = self.planted.cause, self.bisection.weights
        places = [one.first - 1 for one in weights]
        if way == "among those asked":
            return cause in places[: CALLS - 1]
        named = self.bisection.named
        places_named = {
            "bisect": places[0],
            "named": -1 if named is None else named[0] - 1,
            "lost without it": max(weights, key=lambda one: one.lost).first - 1,
            "given by it alone": max(weights, key=lambda one: one.alone).first - 1,
            **self.named,
        }
        return places_named[way] == cause if way in places_named else None


def measure_window(model: BaseModel, planted: PlantedCause, drawn: random.Random) -> CauseFound:
    """What `bisect` and the controls say of one window."""
    likelihood = SentenceLikelihood(model, planted.sentence)

    def score(window: Sequence[WindowMessage]) -> float:
        return likelihood.after(transcript(model, ((one.role, one.text) for one in window)))

    found = find_cause(planted.messages, score)
    if planted.cause is None:
        return CauseFound(planted, found, {})
    ranked = WordSearch(planted.texts).rank_texts(planted.sentence)
    named = {
        "BM25": ranked[0] if ranked else -1,
        "random": drawn.randrange(len(found.spans)),
        "the last span": len(found.spans) - 1,
    }
    if isinstance(model, PretrainedModel):
        named["attention"] = _attended(model, planted)
    return CauseFound(planted, found, named)


def _attended(model: PretrainedModel, planted: PlantedCause) -> int:
    """The span to which the sentence's tokens attend most, summed over its tokens."""
    text = transcript(model, ((one.role, one.text) for one in planted.messages))
    said = model.encode(planted.sentence)
    tokens = [*model.sinks(), *model.encode(text), *said]
    with torch.no_grad():
        paid = model.attention(model.embed(torch.tensor(tokens))[None], len(said), _LAST_LAYERS)
    places, at = [], len(model.sinks())
    for each in planted.texts:
        end = at + len(model.encode(f"{each}\n\n"))
        places.append(float(paid[at:end].sum()))
        at = end
    return max(range(len(places)), key=places.__getitem__)


def measure_causes(model: BaseModel, progress: Progress, seed: int, causes: int) -> tuple[dict[str, float], BenchTable]:
    """How often the planted cause is named, by kind and way, and how often it is said rightly that none is there."""
    drawn, rows = random.Random(seed), []
    for number, planted in enumerate(planted_causes(causes, _EMPTY, seed)):
        progress(number, causes + _EMPTY, "planted causes")
        rows.append(measure_window(model, planted, drawn))
    return summary(rows)


_GROUPS: Final[dict[str, Callable[[CauseFound], bool]]] = {
    "all": lambda _: True,
    "counts": lambda one: one.counts,
    "shared words": lambda one: one.planted.kind == "shared words",
    "other words": lambda one: one.planted.kind == "other words",
    "instruction": lambda one: one.planted.kind == "instruction",
}
_WAYS: Final = (
    "bisect",
    "named",
    "among those asked",
    "lost without it",
    "given by it alone",
    "BM25",
    "attention",
    "random",
    "the last span",
)


def summary(rows: Sequence[CauseFound]) -> tuple[dict[str, float], BenchTable]:
    """The figures of windows: how often each way names the cause, with 95 % intervals."""
    planted = [one for one in rows if one.planted.cause is not None]
    empty = [one for one in rows if one.planted.cause is None]
    metrics: dict[str, float] = {}
    lines: list[tuple[str, ...]] = []
    for way in _WAYS:
        line = [way]
        for group, holds in _GROUPS.items():
            judged = [right for one in planted if holds(one) and (right := one.right(way)) is not None]
            low, high = (100 * bound for bound in wilson_interval(sum(judged), len(judged)))
            share = 100 * sum(judged) / max(1, len(judged))
            line.append(f"{share:.0f} ({low:.0f} to {high:.0f}) of {len(judged)}" if judged else "–")
            if group in ("all", "counts") and judged:
                metrics[f"cause_{way}_{group}".replace(" ", "_")] = share
        lines.append(tuple(line))
    told = [one for one in planted if one.bisection.named is not None]
    metrics |= {
        "cause_told": 100 * len(told) / max(1, len(planted)),
        "cause_told_right": 100 * sum(one.right("named") is True for one in told) / max(1, len(told)),
        "cause_none_said": 100 * sum(one.bisection.named is None for one in empty) / max(1, len(empty)),
    }
    return metrics, BenchTable("Windows whose cause is named first, %", ("way", *_GROUPS), tuple(lines))

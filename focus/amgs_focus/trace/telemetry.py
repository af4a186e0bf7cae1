"""The telemetry that MegaContext asks for, from a trace alone: loss, swaps, residency, latency, utilization.

An iteration is a refocus and the tokens decoded until the next one. An entry's stay is counted in refocuses, from the
one that put it in place (or in which it left the tail) to the one in which it was gone. Telemetry can be sent to
Weights & Biases on request; the library is loaded only then.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from amgs_focus.errors import ConfigurationError
from amgs_focus.records import NodeRef, Refocus, StepRecord, tail_start
from amgs_focus.trace.events import Trace
from amgs_focus.trace.lineage import TraceBranch
from amgs_focus.tree.span_metadata import plain, round_floats


@dataclass(frozen=True, slots=True)
class Iteration:
    """A refocus and what was decoded after it.

    loss_at_h: mean NLL in nats of the next H tokens, None if there are none. latency_ms: of all its steps, including
    the refocus. swap_rate: actions per entry outside the tail. taken, given_back: positions that expansions took and
    collapses refunded.
    """

    refocus: int
    step: int
    lifetime: int
    tokens: int
    loss_at_h: float | None
    actions: int
    swap_rate: float
    mean_residency: float
    latency_ms: float
    token_budget_utilization: float
    dirty: int
    predicted_ms: float
    taken: int = 0
    given_back: int = 0


@dataclass(frozen=True, slots=True)
class Stays:
    """Refocuses for which entries outside the tail stayed at their level: of removed entries, and of present ones so
    far.
    """

    ended: tuple[int, ...]
    running: tuple[int, ...]

    @property
    def mean(self) -> float:
        """Mean over all stays, present ones included; 0 without any."""
        every = (*self.ended, *self.running)
        return statistics.fmean(every) if every else 0.0

    @property
    def mean_ended(self) -> float:
        """Mean over ended stays; 0 without any."""
        return statistics.fmean(self.ended) if self.ended else 0.0


@dataclass(frozen=True, slots=True)
class Telemetry:
    """A branch in the specification's figures: means over its iterations.

    latency_ms: the median, with the 95th percentile beside it. histogram: (length in refocuses, number of ended stays).
    """

    branch: str
    horizon: int
    iterations: tuple[Iteration, ...]
    loss_at_h: float | None
    swap_rate: float
    mean_residency: float
    ended_residency: float
    latency_ms: float
    latency_p95_ms: float
    token_budget_utilization: float
    histogram: tuple[tuple[int, int], ...]


def telemetry(trace: Trace, line: TraceBranch) -> Telemetry:
    """Return the telemetry of a branch of a trace."""
    settings = trace.header.settings
    horizon = int(settings["horizon"])
    refocuses, steps = line.refocuses, line.steps
    iterations = tuple(_iterations(refocuses, steps, horizon))
    residency = stays(refocuses, settings)
    losses = [iteration.loss_at_h for iteration in iterations if iteration.loss_at_h is not None]
    latencies = [iteration.latency_ms for iteration in iterations]
    return Telemetry(
        branch=line.name,
        horizon=horizon,
        iterations=iterations,
        loss_at_h=statistics.fmean(losses) if losses else None,
        swap_rate=_mean([iteration.swap_rate for iteration in iterations]),
        mean_residency=residency.mean,
        ended_residency=residency.mean_ended,
        latency_ms=statistics.median(latencies) if latencies else 0.0,
        latency_p95_ms=sorted(latencies)[math.ceil(0.95 * len(latencies)) - 1] if latencies else 0.0,
        token_budget_utilization=_mean([iteration.token_budget_utilization for iteration in iterations]),
        histogram=tuple(sorted(Counter(residency.ended).items())),
    )


def to_jsonl(report: Telemetry) -> str:
    """Return a line of JSON for each iteration, with floats rounded to 6 significant digits."""
    rows = ({"branch": report.branch, "horizon": report.horizon, **plain(iteration)} for iteration in report.iterations)
    return "".join(json.dumps(round_floats(row), ensure_ascii=False) + "\n" for row in rows)


def stays(refocuses: Sequence[Refocus], settings: Mapping[str, Any]) -> Stays:
    """Return how long entries outside the tail stayed at their level, from the entries that each refocus lists."""
    since: dict[NodeRef, int] = {}
    ended: list[int] = []
    for at, refocus in enumerate(refocuses):
        tail = tail_start(refocus.lifetime, int(settings["block_size"]), int(settings["tail_blocks"]))
        present = {row.node for row in refocus.scores if row.end <= tail}
        ended += [at - began for node, began in since.items() if node not in present]
        since = {node: since.get(node, at) for node in present}
    last = len(refocuses) - 1
    return Stays(tuple(ended), tuple(last - began for began in since.values()))


def _iterations(refocuses: Sequence[Refocus], steps: Sequence[StepRecord], horizon: int) -> list[Iteration]:
    iterations = []
    for at, refocus in enumerate(refocuses):
        end = refocuses[at + 1].step if at + 1 < len(refocuses) else len(steps)
        own = steps[refocus.step : end]
        losses = [step.nll for step in steps[refocus.step : refocus.step + horizon]]
        forced = refocus.milliseconds if refocus.forced else 0.0
        iterations.append(
            Iteration(
                refocus=refocus.number,
                step=refocus.step,
                lifetime=refocus.lifetime,
                tokens=len(own),
                loss_at_h=statistics.fmean(losses) if losses else None,
                actions=len(refocus.applied),
                swap_rate=refocus.swap_rate,
                mean_residency=refocus.mean_residency,
                latency_ms=forced + sum(step.milliseconds for step in own),
                token_budget_utilization=refocus.used / refocus.window,
                dirty=refocus.dirty,
                predicted_ms=refocus.predicted_ms,
                taken=sum(max(0, decision.cost) for decision in refocus.applied),
                given_back=sum(max(0, -decision.cost) for decision in refocus.applied),
            )
        )
    return iterations


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else 0.0


def begin_wandb_run(project: str, asked_by: str, **options: Any) -> Any:
    """Return a new run of Weights & Biases. Raises ConfigurationError that names `asked_by` if it is not installed."""
    if importlib.util.find_spec("wandb") is None:
        raise ConfigurationError(
            f"{asked_by} needs Weights & Biases, but the wandb package is not installed.",
            way_out="Install it (pip install wandb), or leave it out: the JSON lines contain everything.",
        )
    return importlib.import_module("wandb").init(project=project, **options)


def send_to_wandb(report: Telemetry, project: str, name: str) -> None:
    """Send a branch's telemetry, a step for each iteration, and a histogram of its stays."""
    run = begin_wandb_run(
        project, "The telemetry", name=name, config={"horizon": report.horizon, "branch": report.branch}
    )
    for iteration in report.iterations:
        values = {
            "loss_at_h": iteration.loss_at_h,
            "swap_rate": iteration.swap_rate,
            "mean_residency": iteration.mean_residency,
            "latency_ms": iteration.latency_ms,
            "token_budget_utilization": iteration.token_budget_utilization,
            "actions": iteration.actions,
            "dirty": iteration.dirty,
        }
        run.log({key: value for key, value in values.items() if value is not None}, step=iteration.refocus)
    run.log({f"stays/{length}": count for length, count in report.histogram})
    run.finish()

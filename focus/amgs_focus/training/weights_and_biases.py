"""Weights & Biases, where somebody asks for it and has it: an optional library, never loaded otherwise."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from amgs_focus.errors import ConfigurationError
from amgs_focus.trace.telemetry import Telemetry


def begin(project: str, asked_by: str, **said: Any) -> Any:
    """A run of the library; raises ConfigurationError, which names what asked for it, where it is not installed."""
    if importlib.util.find_spec("wandb") is None:
        raise ConfigurationError(
            f"{asked_by} needs Weights & Biases, but the wandb package is not installed.",
            way_out="Install it (pip install wandb), or leave it out: the JSON lines contain everything.",
        )
    return importlib.import_module("wandb").init(project=project, **said)


def send(found: Telemetry, project: str, name: str) -> None:
    """The telemetry of a branch, an iteration a step, and a histogram of its stays."""
    run = begin(
        project, "The telemetry", name=name, config={"horizon": found.horizon, "branch": found.branch}
    )
    for one in found.iterations:
        values = {
            "loss_at_h": one.loss_at_h,
            "swap_rate": one.swap_rate,
            "mean_residency": one.mean_residency,
            "latency_ms": one.latency_ms,
            "token_budget_utilization": one.token_budget_utilization,
            "actions": one.actions,
            "dirty": one.dirty,
        }
        run.log({key: value for key, value in values.items() if value is not None}, step=one.refocus)
    run.log({f"stays/{length}": count for length, count in found.histogram})
    run.finish()

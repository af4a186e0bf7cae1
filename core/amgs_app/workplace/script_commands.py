"""Make and check scripts: `snapshot`, `save`, `expect`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import eq, ge, gt, le, lt, ne
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Literal

from amgs.errors import ExpectationError, InputError, UsageError
from amgs_app import results
from amgs_app.calls.marks import Arg, Takes
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.types import Frame
    from amgs_app.session.operator import Operator
    from amgs_focus.trace.telemetry import Telemetry
    from amgs_focus.views import FocusView

Comparison = Literal["==", "!=", "<", "<=", ">", ">="]
_COMPARE: Mapping[str, Callable[[float, float], bool]] = MappingProxyType(
    {"==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
)


@operation(
    "snapshot",
    place="here",
    lane="model",
    summary="Write the current pane to NAME.txt, NAME.svg and NAME.json.",
    example="snapshot overview",
)
def snapshot(
    operator: Operator, name: Annotated[str, Arg(metavar="NAME", help="The files' name, without an extension.")]
) -> results.SnapshotFiles:
    """Write the pane shown last as text, as a picture and as data.

    In `amgs run SCRIPT --out DIR` the files go to DIR; with --check they are compared with the files there.
    """
    from amgs_app.render.snapshot import take_snapshot

    return take_snapshot(operator, name, operator.look_at)


@operation(
    "save",
    place="here",
    summary="Save this session's commands as a script, all or those from a moment on.",
    synonyms=("recording",),
    example="save session.amgs",
    keys=("R",),
)
def save(
    operator: Operator,
    file: Annotated[
        Path | None,
        Arg(metavar="FILE", help="The file to write; default: begin a recording."),
        Takes("file", made=True),
    ] = None,
) -> results.Saved | results.Recording:
    """Write the commands of this session, including those run by key, as a script that `amgs run` replays.

    Without FILE, begin a recording: `save FILE` ends it and writes only the commands since then. Such a script
    continues from the state that the store and the session had at that moment.
    """
    if file is None:
        # The registry notes this call itself after it was carried out.
        operator.recorded_from = len(operator.history) + 1
        return results.Recording(len(operator.history))
    acts = operator.history[operator.recorded_from or 0 :]
    lines = [call.line() for call in acts if call.operation.name != "save"]
    try:
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{file}: {error.strerror}.", title="Cannot write the script", way_out="Choose another path."
        ) from error
    operator.recorded_from = None
    return results.Saved(str(file), len(lines))


@operation(
    "expect",
    place="here",
    lane="model",
    summary="Stop the script unless a metric is as expected.",
    example="expect hits '>=' 3",
)
def expect(
    operator: Operator,
    metric: Annotated[str, Arg(metavar="METRIC", help="The metric; listed below.")],
    comparison: Annotated[Comparison, Arg(metavar="OP", help="==, !=, <, <=, > or >=.")],
    value: Annotated[float, Arg(metavar="VALUE", help="A number.")],
) -> results.Expectation:
    """Compare a number of the session with VALUE; a script stops with exit code 1 when it does not hold.

    blocks, raw, consolidated, edges, frames: of the store. hits: of the last search. frame.tokens,
    frame.budget, frame.selected, frame.candidates, frame.entropy: of the last frame. focus.lifetime,
    focus.window, focus.used, focus.entries, focus.levels, focus.step, focus.refocuses, focus.swap_rate,
    focus.residency, focus.dirty, focus.branches: of the working context. focus.loss_at_h, focus.latency_ms,
    focus.utilization, focus.mean_residency: of its telemetry. forecasts, outcomes, brier: of the calibration. Where
    only one metric ends so, the end will do: swap_rate is focus.swap_rate.
    """
    metric = _resolve_metric(metric)
    measurement = float(METRICS[metric](operator))
    if not _COMPARE[comparison](measurement, value):
        raise ExpectationError(f"{metric} is {measurement:g}, expected {comparison} {value:g}.")
    return results.Expectation(metric, comparison, value, measurement)


def _resolve_metric(metric: str) -> str:
    """Return the full name of a metric, given in full or by its unique last part. Raises UsageError."""
    fitting = [metric] if metric in METRICS else [name for name in METRICS if name.endswith(f".{metric}")]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise UsageError(f"{metric} may be {' or '.join(fitting)}.", way_out="Give its full name.")
    raise UsageError(f"There is no metric {metric!r}.", way_out=f"Available: {', '.join(METRICS)}.")


def _frame(operator: Operator) -> Frame:
    if operator.last_frame is None:
        raise UsageError("No frame has been assembled yet.", way_out="`frame assemble SESSION` first.")
    return operator.last_frame


def _focus(operator: Operator) -> FocusView:
    return operator.engine.focus.snapshot()


def _telemetry(operator: Operator) -> Telemetry:
    from amgs_app.calls.standard import standard

    measured: Telemetry = operator.carry_out(standard().call("focus trace", telemetry=True))
    return measured


def _hits(operator: Operator) -> float:
    if operator.last_search is None:
        raise UsageError("No search has been run yet.", way_out="`search QUERY` first.")
    return len(operator.last_search.hits)


def _brier(operator: Operator) -> float:
    brier = operator.engine.memory.status().brier
    if brier is None:
        raise UsageError("There are no outcomes yet.", way_out="`feedback useful ID` first.")
    return brier


METRICS: Mapping[str, Callable[[Operator], float]] = MappingProxyType(
    {
        "blocks": lambda operator: sum(operator.engine.memory.status().blocks.values()),
        "raw": lambda operator: operator.engine.memory.status().blocks.get("raw", 0),
        "consolidated": lambda operator: operator.engine.memory.status().blocks.get("consolidated", 0),
        "edges": lambda operator: operator.engine.memory.status().edges,
        "frames": lambda operator: operator.engine.memory.status().frames,
        "hits": _hits,
        "frame.tokens": lambda operator: _frame(operator).tokens,
        "frame.budget": lambda operator: _frame(operator).budget,
        "frame.selected": lambda operator: len(_frame(operator).selected),
        "frame.candidates": lambda operator: len(_frame(operator).candidates),
        "frame.entropy": lambda operator: _frame(operator).entropy_bits,
        "focus.lifetime": lambda operator: _focus(operator).lifetime,
        "focus.window": lambda operator: _focus(operator).window,
        "focus.used": lambda operator: _focus(operator).used,
        "focus.entries": lambda operator: len(_focus(operator).entries),
        "focus.levels": lambda operator: _focus(operator).levels,
        "focus.step": lambda operator: _focus(operator).step,
        "focus.refocuses": lambda operator: _focus(operator).refocuses,
        "focus.swap_rate": lambda operator: _focus(operator).swap_rate,
        "focus.residency": lambda operator: _focus(operator).mean_residency,
        "focus.dirty": lambda operator: _focus(operator).dirty,
        "focus.branches": lambda operator: len(_focus(operator).branches),
        "focus.loss_at_h": lambda operator: _telemetry(operator).loss_at_h or 0.0,
        "focus.latency_ms": lambda operator: _telemetry(operator).latency_ms,
        "focus.utilization": lambda operator: _telemetry(operator).token_budget_utilization,
        "focus.mean_residency": lambda operator: _telemetry(operator).mean_residency,
        "forecasts": lambda operator: operator.engine.memory.reliability().forecasts,
        "outcomes": lambda operator: operator.engine.memory.status().outcomes,
        "brier": _brier,
    }
)
"""Every metric that `expect` knows, by name."""

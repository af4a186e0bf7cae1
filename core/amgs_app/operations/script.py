"""What scripts are made and checked with: `snapshot`, `save`, `expect`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import eq, ge, gt, le, lt, ne
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Literal

from amgs.errors import ExpectationError, InputError, UsageError
from amgs_app.operations.marks import Arg, Takes
from amgs_app.operations.operation import operation
from amgs_app.operations.results import Expectation, Recording, Saved, SnapshotFiles

if TYPE_CHECKING:
    from amgs.types import Frame
    from amgs_app.session import Session
    from amgs_focus.trace.telemetry import Telemetry
    from amgs_focus.views import FocusView

Operator = Literal["==", "!=", "<", "<=", ">", ">="]
_COMPARE: Mapping[str, Callable[[float, float], bool]] = MappingProxyType(
    {"==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
)


@operation("snapshot", summary="Write the current pane to NAME.txt, NAME.svg and NAME.json.")
def snapshot(
    session: Session,
    name: Annotated[str, Arg(metavar="NAME", help="The files' name, without an extension.")],
) -> SnapshotFiles:
    """Write the pane shown last as text, as a picture and as data.

    In `amgs run SCRIPT --out DIR` the files go to DIR; with --check they are compared with the files there.
    """
    from amgs_app.snapshot import take

    return take(session, name)


@operation("record", summary="Start recording; `save` writes what is done from here on.", keys=("R",))
def record(session: Session) -> Recording:
    """Start a recording. `save FILE` ends it and writes only the commands since then as a script.

    Such a script continues from the state that the store and the session had at that moment.
    """
    # The registry notes this call itself after it was carried out.
    session.recorded_from = len(session.history) + 1
    return Recording(len(session.history))


@operation("save", summary="Save this session's commands as a script.")
def save(
    session: Session,
    file: Annotated[Path, Arg(metavar="FILE", help="The file to write."), Takes("file", made=True)],
) -> Saved:
    """Write the commands of this session, including those run by key, as a script that `amgs run` replays.

    Writes all of them, or those since `record`, which this ends.
    """
    acts = session.history[session.recorded_from or 0 :]
    lines = [call.line() for call in acts if call.operation.name not in ("save", "record")]
    try:
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{file}: {error.strerror}.", title="Cannot write the script", way_out="Choose another path."
        ) from error
    session.recorded_from = None
    return Saved(str(file), len(lines))


@operation("expect", summary="Stop the script unless a metric is as expected.")
def expect(
    session: Session,
    metric: Annotated[str, Arg(metavar="METRIC", help="The metric; listed below.")],
    operator: Annotated[Operator, Arg(metavar="OP", help="==, !=, <, <=, > or >=.")],
    value: Annotated[float, Arg(metavar="VALUE", help="A number.")],
) -> Expectation:
    """Compare a number of the session with VALUE; a script stops with exit code 1 when it does not hold.

    blocks, raw, consolidated, edges, frames: of the store. hits: of the last search. frame.tokens,
    frame.budget, frame.selected, frame.candidates, frame.entropy: of the last frame. focus.lifetime,
    focus.window, focus.used, focus.entries, focus.levels, focus.step, focus.refocuses, focus.swap_rate,
    focus.residency, focus.dirty, focus.branches: of the working context. focus.loss_at_h, focus.latency_ms,
    focus.utilization, focus.mean_residency, focus.alarms: of its telemetry. forecasts, outcomes, brier: of
    the calibration. Where only one metric ends so, the end will do: swap_rate is focus.swap_rate.
    """
    metric = _named(metric)
    found = float(METRICS[metric](session))
    if not _COMPARE[operator](found, value):
        raise ExpectationError(f"{metric} is {found:g}, expected {operator} {value:g}.")
    return Expectation(metric, operator, value, found)


def _named(metric: str) -> str:
    """The metric that a word names: in full, or by the end that only it has. Raises UsageError."""
    fitting = [metric] if metric in METRICS else [name for name in METRICS if name.endswith(f".{metric}")]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise UsageError(f"{metric} may be {' or '.join(fitting)}.", way_out="Give its full name.")
    raise UsageError(f"There is no metric {metric!r}.", way_out=f"Available: {', '.join(METRICS)}.")


def _frame(session: Session) -> Frame:
    if session.last_frame is None:
        raise UsageError("No frame has been assembled yet.", way_out="`frame assemble SESSION` first.")
    return session.last_frame


def _focus(session: Session) -> FocusView:
    return session.focus.snapshot()


def _telemetry(session: Session) -> Telemetry:
    from amgs_focus.trace.lineage import lineage
    from amgs_focus.trace.telemetry import telemetry

    trace = session.focus_trace()
    return telemetry(trace, lineage(trace).line())


def _hits(session: Session) -> float:
    if session.last_search is None:
        raise UsageError("No search has been run yet.", way_out="`search QUERY` first.")
    return len(session.last_search.hits)


def _brier(session: Session) -> float:
    brier = session.memory.status().brier
    if brier is None:
        raise UsageError("There are no outcomes yet.", way_out="`feedback useful ID` first.")
    return brier


METRICS: Mapping[str, Callable[[Session], float]] = MappingProxyType(
    {
        "blocks": lambda session: sum(session.memory.status().blocks.values()),
        "raw": lambda session: session.memory.status().blocks.get("raw", 0),
        "consolidated": lambda session: session.memory.status().blocks.get("consolidated", 0),
        "edges": lambda session: session.memory.status().edges,
        "frames": lambda session: session.memory.status().frames,
        "hits": _hits,
        "frame.tokens": lambda session: _frame(session).tokens,
        "frame.budget": lambda session: _frame(session).budget,
        "frame.selected": lambda session: len(_frame(session).selected),
        "frame.candidates": lambda session: len(_frame(session).candidates),
        "frame.entropy": lambda session: _frame(session).entropy_bits,
        "focus.lifetime": lambda session: _focus(session).lifetime,
        "focus.window": lambda session: _focus(session).window,
        "focus.used": lambda session: _focus(session).used,
        "focus.entries": lambda session: len(_focus(session).entries),
        "focus.levels": lambda session: _focus(session).levels,
        "focus.step": lambda session: _focus(session).step,
        "focus.refocuses": lambda session: _focus(session).refocuses,
        "focus.swap_rate": lambda session: _focus(session).swap_rate,
        "focus.residency": lambda session: _focus(session).mean_residency,
        "focus.dirty": lambda session: _focus(session).dirty,
        "focus.branches": lambda session: len(_focus(session).branches),
        "focus.loss_at_h": lambda session: _telemetry(session).loss_at_h or 0.0,
        "focus.latency_ms": lambda session: _telemetry(session).latency_ms,
        "focus.utilization": lambda session: _telemetry(session).token_budget_utilization,
        "focus.mean_residency": lambda session: _telemetry(session).mean_residency,
        "focus.alarms": lambda session: len(_telemetry(session).alarms),
        "forecasts": lambda session: session.memory.reliability().forecasts,
        "outcomes": lambda session: session.memory.status().outcomes,
        "brier": _brier,
    }
)
"""Every metric that `expect` knows, as a function of the session."""

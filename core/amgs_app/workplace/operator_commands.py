"""Arrange the screen (`layout`, `filter`), and make and check scripts (`snapshot`, `save`, `expect`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from operator import eq, ge, gt, le, lt, ne
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

from amgs.errors import ExpectationError, InputError, UsageError
from amgs_app import results
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.panes.layout import PANES, Layout, Pane
from amgs_app.panes.row_filter import ListFilter, Listing, check_filter, listings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amgs.types import Frame
    from amgs_app.session import Operator
    from amgs_focus.trace.telemetry import Telemetry
    from amgs_focus.views import FocusView


LAYOUT = "layout:"
LAST = "(last)"
"""Name of the layout that the last session left; the next session begins with it."""


LONGEST_NAME = 60


@operation(
    "layout",
    lane="turn",
    needs="write",
    summary="Arrange the panes: a large pane, the others beside it; save and restore arrangements.",
    example="layout frame --beside graph,decay",
)
def arrange(
    operator: Operator,
    pane: Annotated[
        Pane | None, Arg(metavar="PANE", help="The large pane; default: restore an arrangement."), Takes("pane")
    ] = None,
    *,
    beside: Annotated[
        str, Option("--beside", metavar="A,B,C", help="Up to three smaller panes shown with it where there is room.")
    ] = "",
    large: Annotated[bool, Option("--large", help="Show it full-screen.")] = False,
    theme: Annotated[
        str, Option("--theme", metavar="NAME", help="The colour theme to remember with it."), Takes("theme")
    ] = "",
    name: Annotated[
        str, Option("--name", metavar="NAME", help="A saved name; default: the arrangement of the last session.")
    ] = LAST,
    save: Annotated[bool, Option("--save", help="Save the arrangement under --name.")] = False,
    show: Annotated[bool, Option("--list", help="Change nothing: list what is saved.")] = False,
) -> Layout | results.LayoutList:
    """Arrange the panes; unless others are named, each large pane has its own companions. Without PANE, restore the
    arrangement of the last session, or the arrangement of that --name; --save keeps the current arrangement in this
    store.
    """
    if show:
        layouts = operator.engine.memory.read_saved(LAYOUT)
        return results.LayoutList(tuple((key.removeprefix(LAYOUT), _read(text)) for key, text in layouts.items()))
    if pane is not None:
        names = tuple(name.strip() for name in beside.split(",") if name.strip())
        wrong = [name for name in names if name not in PANES or name == pane]
        if wrong or len(names) > 3 or len(set(names)) < len(names):
            raise UsageError(
                f"{beside!r} is not a list of up to three other panes.", way_out=f"Available: {', '.join(PANES)}."
            )
        colours = theme or operator.layout.theme
        operator.layout = replace(operator.layout, pane=pane, beside=names, large=large, theme=colours)
        _save_last_layout(operator)
    if save:
        _save_layout(operator, name)
    elif pane is None:
        operator.layout = _restore_layout(operator, name)
    return operator.layout


def _restore_layout(operator: Operator, name: str) -> Layout:
    """Return a saved layout; raises UsageError for an unknown name."""
    layouts = operator.engine.memory.read_saved(LAYOUT)
    text = layouts.get(LAYOUT + name)
    if text is None and name != LAST:
        known = [key.removeprefix(LAYOUT) for key in layouts if key != LAYOUT + LAST]
        raise UsageError(
            f"There is no layout {name!r}.",
            way_out=f"Available: {', '.join(known)}." if known else "`layout --save --name NAME` saves a layout.",
        )
    layout = Layout() if text is None else _read(text)
    if name != LAST and layout.theme:
        operator.theme_name = layout.theme
    return layout


def _save_layout(operator: Operator, name: str) -> None:
    """Save the present layout under a name; raises UsageError for an invalid name.

    It stays in the store; an export does not contain it.
    """
    if not name.strip() or name == LAST or len(name) > LONGEST_NAME or not name.isprintable():
        raise UsageError(
            f"A layout needs a name of at most {LONGEST_NAME} letters on one line.",
            way_out="For example `layout --save --name night`.",
        )
    operator.engine.memory.keep(LAYOUT + name, layout_to_json(operator.layout))


# --- lists ------------------------------------------------------------------------------------------------

ListPane = Annotated[Pane, Arg(metavar="PANE", help="The pane with the list."), Takes("pane")]


@operation(
    "filter",
    needs="write",
    summary="Filter and sort the rows of a pane's list.",
    synonyms=("sort", "order"),
    example="filter inbox 'confidence>0.5' --sort confidence",
    keys=("F", "O"),
)
def filter_rows(
    operator: Operator,
    pane: ListPane,
    terms: Annotated[
        list[str] | None,
        Arg(metavar="TERM", help="word, field:word, field>0.5 or !term; all must match. Default: every row."),
    ] = None,
    *,
    sort: Annotated[
        str,
        Option(
            "--sort",
            metavar="FIELD",
            help="Numbers descending, texts ascending, -FIELD the other way; default: the rows' own order.",
        ),
    ] = "",
) -> results.Sifted:
    """Show only the rows of a pane's list that match every TERM, in the order of --sort; without any, all of them in
    their own order.

    A word matches any text of the row, `reason:budget` matches a field; `score>0.5` compares; `!` negates a term. The
    fields are listed in the pane's help. Filter and order are saved with the layout.
    """
    wanted = ListFilter(tuple(terms or ()), sort.removeprefix("-"), sort.startswith("-"))
    check_filter(wanted, _listing(pane))
    others = {name: sift for name, sift in operator.layout.sifts.items() if name != pane}
    operator.layout = replace(operator.layout, sifts=others | ({pane: wanted} if wanted else {}))
    _save_last_layout(operator)
    return results.Sifted(pane, wanted)


def _save_last_layout(operator: Operator) -> None:
    """Save the layout for the next session, unless there is no memory yet."""
    if not operator.engine.lacks_memory:
        operator.engine.memory.keep(LAYOUT + LAST, layout_to_json(operator.layout))


def _listing(pane: Pane) -> Listing:
    """Return the fields of a pane's list; raises UsageError if it has none."""
    listing = listings().get(pane)
    if listing is None:
        raise UsageError(f"The {pane} pane has no list.", way_out=f"Panes with a list: {', '.join(listings())}.")
    return listing


def layout_to_json(layout: Layout) -> str:
    """Return a layout as the JSON that the store holds."""
    sifts = {
        pane: {"terms": list(sift.terms), "order": sift.order, "reverse": sift.reverse}
        for pane, sift in layout.sifts.items()
    }
    return json.dumps(
        {
            "pane": layout.pane,
            "beside": list(layout.beside),
            "large": layout.large,
            "sifts": sifts,
            "theme": layout.theme,
        }
    )


def _read(text: str) -> Layout:
    """Parse a stored layout; an unreadable layout is the default layout."""
    try:
        fields = json.loads(text)
        pane, beside = fields["pane"], tuple(str(name) for name in fields["beside"])
        known = pane in PANES and all(name in PANES for name in beside)
        sifts = dict(_read_sifts(fields.get("sifts", {})))
        theme = str(fields.get("theme", ""))
    except (ValueError, KeyError, TypeError, AttributeError):
        return Layout()
    return Layout(pane, beside, bool(fields.get("large")), sifts, theme) if known else Layout()


def _read_sifts(filters: Mapping[str, Any]) -> Iterator[tuple[Pane, ListFilter]]:
    """Yield the stored filter and order of each pane, except those that this version cannot use."""
    for pane, values in filters.items():
        sift = ListFilter(tuple(values["terms"]), values["order"], bool(values["reverse"]))
        listing = listings().get(pane)  # any word may stand in a file
        if listing is not None:
            with suppress(UsageError):
                check_filter(sift, listing)
                yield pane, sift


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
        Takes("file", writes=True),
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

    blocks, raw, consolidated, edges, frames: of the store. hits: of the last search. frame.tokens, frame.budget,
    frame.selected, frame.candidates, frame.entropy: of the last frame. focus.lifetime, focus.window, focus.used,
    focus.entries, focus.levels, focus.step, focus.refocuses, focus.swap_rate, focus.residency, focus.dirty,
    focus.branches: of the working context. focus.loss_at_h, focus.latency_ms, focus.utilization, focus.mean_residency:
    of its telemetry. forecasts, outcomes, brier: of the calibration. Where a single metric ends so, the end will do:
    swap_rate is focus.swap_rate.
    """
    metric = _resolve_metric(metric)
    measurement = float(METRICS[metric](operator))
    if not _COMPARE[comparison](measurement, value):
        raise ExpectationError(f"{metric} is {measurement:g}, expected {comparison} {value:g}.")
    return results.Expectation(metric, comparison, value, measurement)


def _resolve_metric(metric: str) -> str:
    """Return the full name of a metric, named in full or by its unique last part. Raises UsageError."""
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
    from amgs_app.calls.registry import standard

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

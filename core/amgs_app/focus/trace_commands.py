"""Branches and traces of the working context: `focus branch`, `switch`, `diff`, `trace`, `resume`,
`telemetry`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from amgs.errors import InputError, UsageError
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.places.paths import lies_there
from amgs_app.results.focus import BranchList, Replayed, Resumed, RunPosition

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.engine import Engine
    from amgs_focus.trace.events import Trace
    from amgs_focus.trace.lineage import TraceBranch, TraceDiff, TraceSummary
    from amgs_focus.trace.telemetry import Telemetry

Run = Annotated[str, Arg(metavar="RUN", help="A branch, or PATH or PATH:BRANCH of a trace."), Takes("file")]


@operation(
    "focus branch",
    lane="model",
    needs="operate",
    summary="Start a branch of this run.",
    example="focus branch other",
    pane="focus",
    long=True,
    writes=True,
)
def branch(
    engine: Engine,
    name: Annotated[str | None, Arg(metavar="NAME", help="Name of the branch; default: branch-1, …")] = None,
    *,
    at: Annotated[
        int | None, Option("--at", metavar="STEP", min=0, help="The step at which it begins; default: here.")
    ] = None,
) -> RunPosition:
    """Leave the current branch at a step and continue beside it; the current one keeps everything it decoded.

    Any change after `focus back` (a pin, a question, a setting) begins a branch by itself.
    """
    return RunPosition("branch", 0, engine.focus.branch(name, at=at))


@operation(
    "focus switch",
    lane="model",
    needs="operate",
    summary="Go to the end of a branch, or list the branches.",
    example="focus switch other",
    pane="focus",
    long=True,
    writes=True,
)
def switch(
    engine: Engine,
    name: Annotated[str | None, Arg(metavar="NAME", help="A branch of this run; default: list them.")] = None,
) -> RunPosition | BranchList:
    """Go to another branch, exactly as it was left: lifetime, working context, scores and cooldowns.

    Without a name list every branch: where it leaves its parent, how many steps it has, and what was decoded on it.
    """
    if name is None:
        runtime = engine.focus
        return BranchList(runtime.branches(), runtime.snapshot())
    return RunPosition("switch", 0, engine.focus.switch(name))


@operation(
    "focus diff",
    lane="model",
    needs="operate",
    audience="workstation",
    summary="Compare two branches or traces up to the first difference.",
    example="focus diff main other",
)
def difference(engine: Engine, ours: Run, theirs: Run) -> TraceDiff:
    """Show the first action that differs, the first decision that differs, and both texts from there.

    Compares branches of this run, or of traces on disk, which needs no model.
    """
    from amgs_focus.trace.lineage import diff

    (one, our_line), (two, their_line) = _run(engine, ours), _run(engine, theirs)
    headers = None if one.header == two.header else (one.header, two.header)
    return diff(_line(one, our_line), _line(two, their_line), headers, (ours, theirs))


@operation(
    "focus trace",
    lane="model",
    needs="operate",
    summary="Show what a trace contains, or replay it.",
    example="focus trace run.trace",
    long=True,
)
def trace(
    engine: Engine,
    path: Annotated[Path, Arg(metavar="PATH", help="A trace."), Takes("file")],
    *,
    replay: Annotated[bool, Option("--replay", help="Run it on a fresh engine and compare state by state.")] = False,
    progress: Progress | None = None,
) -> TraceSummary | Replayed:
    """Read a trace without loading a model: what made it, what happened, its branches and its last answer.

    A truncated trace is read as far as it goes; an edited one is refused, with the line. --replay runs it with the
    settings in its header and names the first line that differs. What is open stays as it is; `focus resume` continues
    the last run instead.
    """
    from amgs_focus.trace.lineage import summary
    from amgs_focus.trace.trace import read

    if replay:
        return _replayed(engine, path, progress)
    return summary(read(path, allow_incomplete=True), str(path))


@operation(
    "focus resume",
    lane="model",
    needs="operate",
    summary="Continue the working context of the last session.",
    example="focus resume",
    pane="focus",
    long=True,
    writes=True,
)
def resume(engine: Engine, *, progress: Progress | None = None) -> Resumed:
    """Replay the trace that the last session left, and continue it: question, tokens, branches, pins and settings.

    Every state is compared on the way. A lifetime kept in a folder is opened as the folder holds it, without
    branches.
    """
    path, steps = engine.resume_focus(progress)
    return Resumed(path, steps, engine.focus.snapshot())


@operation(
    "focus telemetry",
    lane="model",
    needs="operate",
    audience="workstation",
    summary="Show loss, swaps, residency, latency and utilization of this run.",
    example="focus telemetry --out run.json",
)
def telemetry(
    engine: Engine,
    run: Annotated[
        str | None, Arg(metavar="RUN", help="A branch, or PATH or PATH:BRANCH of a trace; this run's branch.")
    ] = None,
    *,
    out: Annotated[
        Path | None,
        Option("--out", metavar="FILE", help="Also write one JSON object per iteration."),
        Takes("file", made=True),
    ] = None,
    wandb: Annotated[
        str, Option("--wandb", metavar="PROJECT", help="Also send them to Weights & Biases, where installed.")
    ] = "",
) -> Telemetry:
    """Show loss_at_h, swap_rate, mean_residency, latency_ms and token_budget_utilization.

    Reads the trace only: of this run, or of a trace on disk, which needs no model.
    """
    from amgs_focus.trace.telemetry import telemetry as measured
    from amgs_focus.trace.telemetry import to_jsonl

    told, name = (engine.focus_trace(), "") if run is None else _run(engine, run)
    found = measured(told, _line(told, name))
    if out is not None:
        try:
            out.write_text(to_jsonl(found), encoding="utf-8")
        except OSError as error:
            raise InputError(f"{out}: {error.strerror}.", way_out="Choose another path.") from error
    if wandb:
        from amgs_focus.trace.telemetry import send_to_wandb

        send_to_wandb(found, wandb, f"{told.header.model.name}-{found.branch}-{told.header.settings['seed']}")
    return found


def _replayed(engine: Engine, path: Path, progress: Progress | None) -> Replayed:
    """What came of a replay."""
    from amgs_app.models.choice import focus_runtime, gist_encoder
    from amgs_focus.options import SearchOptions
    from amgs_focus.runtime.replay import replay as again
    from amgs_focus.settings import FocusSettings
    from amgs_focus.trace.trace import read

    told = read(path, allow_incomplete=True)
    settings = FocusSettings.model_validate(dict(told.header.settings))
    model = engine.load_model(progress)
    gist = gist_encoder(model, engine.settings.model, engine.checkpoints)
    runtime, _ = focus_runtime(
        model,
        settings,
        settings.seed,
        engine.clock,
        gist=gist,
        checkpoints=engine.checkpoints,
        encoder=engine.text_encoder() if told.header.text_encoder else None,
        search_options=SearchOptions.of(told.header.search),
    )
    steps = again(told, runtime, progress)
    return Replayed(str(path), steps, len(runtime.branches()), runtime.state_hash(), told.complete)


def _line(told: Trace, name: str) -> TraceBranch:
    """A branch of a trace, the active one for ""."""
    from amgs_focus.trace.lineage import lineage

    return lineage(told).line(name)


def _run(engine: Engine, text: str) -> tuple[Trace, str]:
    """The trace and the branch that a word names: a branch of this run, else a file."""
    from amgs_focus.trace.trace import read

    if engine.focus_is_open and text in {one.name for one in engine.focus.branches()}:
        return engine.focus_trace(), text
    path, _, name = text.rpartition(":")
    if path and not lies_there(Path(text)) and lies_there(Path(path)):
        return read(Path(path), allow_incomplete=True), name
    if lies_there(Path(text)):
        return read(Path(text), allow_incomplete=True), ""
    raise UsageError(
        f"{text!r} is neither a branch of this run nor a trace.",
        way_out="`focus switch` lists the branches; a trace is named by its path.",
    )

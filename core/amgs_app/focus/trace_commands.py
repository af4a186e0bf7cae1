"""Branches and traces of a run: `focus branch` and `focus trace`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from amgs.errors import InputError, UsageError
from amgs.incoming import lies_there
from amgs_app import results
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.focus.commands import node_of

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.engine import Engine
    from amgs_focus.trace.events import Trace
    from amgs_focus.trace.lineage import TraceBranch, TraceDiff, TraceSummary
    from amgs_focus.trace.telemetry import Telemetry


@operation(
    "focus branch",
    lane="model",
    needs="operate",
    summary="Start a branch of this run, go to a branch, list or compare them.",
    synonyms=("switch", "diff", "compare"),
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
    switch: Annotated[bool, Option("--switch", help="Go to the end of the branch NAME.")] = False,
    list_all: Annotated[bool, Option("--list", help="Only list the branches.")] = False,
    without: Annotated[
        str,
        Option("--without", metavar="NODE", help="Decode the answer again with this block closed, beside the first."),
    ] = "",
    diff: Annotated[
        list[str] | None,
        Option("--diff", metavar="RUN", help="Compare NAME (default: this branch) with RUN; or twice, two runs."),
        Takes("file"),
    ] = None,
    progress: Progress | None = None,
) -> results.RunPosition | results.BranchList | TraceDiff:
    """Leave the current branch at a step and continue beside it; the current branch keeps everything it decoded.

    Any change after `focus back` (a pin, a question, a setting) begins a branch by itself. --switch goes to another
    branch, exactly as it was left: lifetime, working context, scores and cooldowns. --list shows where each leaves its
    parent, how many steps it has, and what was decoded on it. --without begins a branch where the answer began, keeps a
    block shut there, and decodes as many tokens as before: the answer without it. --diff shows both texts from where
    two runs part, and the first decision that differs; RUN is a branch, or PATH or PATH:BRANCH of a trace on disk;
    --diff twice compares two, and needs no model.
    """
    if diff:
        from amgs_focus.trace.lineage import diff as compare

        if len(diff) > 1:  # what a caller elsewhere may not name are files: NAME is a branch alone
            ours, (our_trace, our_line) = diff[0], _run(engine, diff[0])
        else:
            ours = our_line = name or engine.focus.branch_name
            our_trace = engine.focus_trace()
        theirs, their_line = _run(engine, diff[-1])
        headers = None if our_trace.header == theirs.header else (our_trace.header, theirs.header)
        return compare(_line(our_trace, our_line), _line(theirs, their_line), headers, (ours, diff[-1]))
    runtime = engine.focus
    if without:
        from amgs_focus.dependence import answer_without

        return results.RunPosition("without", 0, answer_without(runtime, node_of(runtime, without), progress))
    if switch and name:
        return results.RunPosition("switch", 0, runtime.switch(name))
    if list_all or switch:
        return results.BranchList(runtime.branches(), runtime.snapshot())
    return results.RunPosition("branch", 0, runtime.branch(name, at=at))


@operation(
    "focus trace",
    lane="model",
    needs="operate",
    summary="Show what a trace contains, replay or continue it, or measure the run.",
    synonyms=("resume", "telemetry", "replay"),
    example="focus trace run.trace",
    pane="focus",
    long=True,
    writes=True,
)
def trace(
    engine: Engine,
    run: Annotated[
        str | None,
        Arg(metavar="RUN", help="A trace: PATH or PATH:BRANCH; or a branch of this run. Default: the run at hand."),
        Takes("file"),
    ] = None,
    *,
    replay: Annotated[bool, Option("--replay", help="Run it on a fresh engine and compare state by state.")] = False,
    resume: Annotated[bool, Option("--resume", help="Continue the working context of the last session.")] = False,
    telemetry: Annotated[
        bool, Option("--telemetry", help="Show loss, swaps, residency, latency and utilization of each refocus.")
    ] = False,
    out: Annotated[
        Path | None,
        Option("--out", metavar="FILE", help="With --telemetry: also write a JSON object per iteration."),
        Takes("file", writes=True),
    ] = None,
    wandb: Annotated[
        str, Option("--wandb", metavar="PROJECT", help="With --telemetry: also send them to Weights & Biases.")
    ] = "",
    progress: Progress | None = None,
) -> TraceSummary | results.Replayed | results.RunPosition | Telemetry:
    """Read a trace without loading a model: what made it, what happened, its branches and its last answer.

    A truncated trace is read as far as it goes; an edited trace is refused, with the line. --replay runs it with the
    settings in its header and names the first line that differs; what is open stays as it is. --resume replays the
    trace that the last session left, and continues it: question, tokens, branches, pins and settings, every state
    compared on the way. A lifetime stored in a folder is opened as the folder holds it, without branches. --telemetry
    shows loss_at_h, swap_rate, mean_residency, latency_ms and token_budget_utilization.
    """
    from amgs_focus.trace.lineage import summary

    if resume:
        _, steps = engine.resume_focus(progress)
        return results.RunPosition("resume", steps, engine.focus.snapshot())
    if run is None and not engine.focus_is_open and (left := engine.last_run()).trace is not None:
        run = left.path
    run_trace, name = (engine.focus_trace(), "") if run is None else _run(engine, run)
    if telemetry or out is not None or wandb:
        return _measure(run_trace, name, out, wandb)
    if replay:
        return _replay(engine, run_trace, run or "this run", progress)
    return summary(run_trace, run or "this run")


def _measure(run_trace: Trace, name: str, out: Path | None, wandb: str) -> Telemetry:
    """Measure each refocus of a run; write the numbers to a file and send them to Weights & Biases if asked."""
    from amgs_focus.trace.telemetry import send_to_wandb, to_jsonl
    from amgs_focus.trace.telemetry import telemetry as measure

    measures = measure(run_trace, _line(run_trace, name))
    if out is not None:
        try:
            out.write_text(to_jsonl(measures), encoding="utf-8")
        except OSError as error:
            raise InputError(f"{out}: {error.strerror}.", way_out="Choose another path.") from error
    if wandb:
        send_to_wandb(
            measures, wandb, f"{run_trace.header.model.name}-{measures.branch}-{run_trace.header.settings['seed']}"
        )
    return measures


def _replay(engine: Engine, run_trace: Trace, name: str, progress: Progress | None) -> results.Replayed:
    """Replay a trace on a new engine with the settings of its header."""
    from amgs_app.models.choice import focus_runtime, gist_encoder
    from amgs_focus.options import SearchOptions
    from amgs_focus.runtime.replay import replay as again
    from amgs_focus.settings import FocusSettings

    settings = FocusSettings.model_validate(dict(run_trace.header.settings))
    model = engine.load_model(progress)
    gist = gist_encoder(model, engine.settings.model, engine.checkpoints)
    runtime, _ = focus_runtime(
        model,
        settings,
        settings.seed,
        engine.clock,
        gist=gist,
        checkpoints=engine.checkpoints,
        encoder=engine.text_encoder() if run_trace.header.text_encoder else None,
        search_options=SearchOptions.of(run_trace.header.search),
    )
    steps = again(run_trace, runtime, progress)
    return results.Replayed(name, steps, len(runtime.branches()), runtime.state_hash(), run_trace.complete)


def _line(run_trace: Trace, name: str) -> TraceBranch:
    """Return a branch of a trace; "" is the active branch."""
    from amgs_focus.trace.lineage import lineage

    return lineage(run_trace).line(name)


def _run(engine: Engine, text: str) -> tuple[Trace, str]:
    """Return the trace and branch that a word names: a branch of this run, else PATH or PATH:BRANCH.
    Raises UsageError.
    """
    from amgs_focus.trace.trace import read

    if engine.focus_is_open and text in {branch_view.name for branch_view in engine.focus.branches()}:
        return engine.focus_trace(), text
    path, _, name = text.rpartition(":")
    if path and not lies_there(Path(text)) and lies_there(Path(path)):
        return read(Path(path), allow_incomplete=True), name
    if lies_there(Path(text)):
        return read(Path(text), allow_incomplete=True), ""
    raise UsageError(
        f"{text!r} is neither a branch of this run nor a trace.",
        way_out="`focus branch --list` shows the branches; a trace is named by its path.",
    )

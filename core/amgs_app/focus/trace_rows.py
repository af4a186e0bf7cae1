"""Tables for runs of the working context: branches, traces, replays, telemetry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from amgs_app.focus.rows import LEAST_SCORE, draw_view
from amgs_app.render.catalogue import entry
from amgs_app.render.format import signed
from amgs_app.render.rows import RowList, Rows
from amgs_app.render.sheet import ResultTable, facts
from amgs_focus.records import BranchView
from amgs_focus.trace.telemetry import Iteration
from amgs_focus.views import REASON_SENTENCES

if TYPE_CHECKING:
    from amgs_app.results.focus import BranchList, LastRun, Replayed, RunPosition
    from amgs_focus.trace.lineage import TraceDiff, TraceSummary
    from amgs_focus.trace.telemetry import Telemetry


_TEXT = 240
"""Characters of decoded text shown in a table."""


def _short(text: str) -> str:
    return text if len(text) <= _TEXT else f"{text[:_TEXT]}…"


def _tokens(count: int) -> str:
    return "1 token" if count == 1 else f"{count:,} tokens"


def _stands(result: RunPosition) -> str:
    view = result.view
    if result.how == "back":
        return f"{_tokens(result.steps)} taken back: step {view.position:,} of {view.head:,} on {view.branch}"
    if result.how == "without":
        return f"The answer with that block shut, on {view.branch}: “{_short(view.text.strip())}”"
    if result.how == "resume":
        branches = f", {len(view.branches)} branches" if len(view.branches) > 1 else ""
        return f"Resumed at step {view.position:,} on {view.branch}{branches}"
    if result.how == "branch":
        return f"Branch {view.branch} begins at step {view.position:,}"
    return f"On branch {view.branch}, step {view.position:,} of {view.head:,}"


@entry(figure=draw_view, sentence=_stands)
def run_position(result: RunPosition) -> ResultTable:
    view = result.view
    pairs = [("branch", view.branch), ("step", f"{view.position} of {view.head}"), ("lifetime tokens", view.lifetime)]
    return facts(_stands(result), pairs, (f"“{_short(view.text)}”" if view.text else "",))


@entry(figure=draw_view)
def last_run(result: LastRun) -> ResultTable:
    if result.trace is None:
        return facts("No earlier working context", [("trace", result.path or None)])
    summary = result.trace
    pairs = [
        ("question", summary.question or None),
        ("tokens", max((branch.steps for branch in summary.branches), default=0)),
        ("branches", len(summary.branches)),
        ("lifetime tokens", summary.lifetime),
        ("folder", result.kept or None),
        ("trace", result.path),
    ]
    return facts("The last working context", pairs, ("`focus resume` continues it.",))


def _branches(result: BranchList) -> str:
    count = len(result.branches)
    many = "1 branch" if count == 1 else f"{count} branches"
    return f"{many}; on {result.view.branch} at step {result.view.step:,}"


BRANCHES: Final = Rows[BranchView](
    "now name! from at:n steps:n text* state?",
    lambda branch: (
        "●" if branch.active else "",
        branch.name,
        branch.parent,
        branch.at,
        branch.steps,
        branch.text,
        branch.state_hash,
    ),
)


@entry(figure=draw_view, sentence=_branches)
def branch_list(result: BranchList) -> RowList[BranchView]:
    title = f"{len(result.branches)} branches, {result.view.branch} is shown at step {result.view.step}"
    return BRANCHES.of(title, result.branches)


def _agrees(result: Replayed) -> str:
    return f"The replay agrees: {_tokens(result.steps)}, state {result.state_hash}"


@entry(sentence=_agrees)
def tabulate_replay(result: Replayed) -> ResultTable:
    return facts(
        _agrees(result),
        [
            ("trace", result.path),
            ("steps", result.steps),
            ("branches", result.branches),
            ("state", result.state_hash),
            ("end mark", "yes" if result.complete else "no: it was cut off, or is still being written"),
        ],
    )


@entry()
def trace_summary(result: TraceSummary) -> ResultTable:
    header = result.header
    pairs = [
        ("made by", f"{header.model.name} {header.model.precision}, {header.gist}, {header.scorer}"),
        ("at", header.created or None),
        ("seed / window", f"{header.settings['seed']} / {header.settings['window']}"),
        ("lifetime tokens", result.lifetime),
        *((f"  {name}", count) for name, count in result.events),
        ("seconds", f"{result.milliseconds / 1000:.1f}"),
        ("question", result.question or None),
        ("state", result.state_hash or None),
        ("end mark", "yes" if result.complete else "no: it was cut off, or is still being written"),
    ]
    notes = [
        f"{'●' if branch.active else '○'} {branch.name}: {branch.steps} steps, {branch.refocuses} refocuses, "
        f"{branch.actions} actions" + (f", from {branch.parent} at step {branch.at}" if branch.parent else "")
        for branch in result.branches
    ]
    if result.text:
        notes.append(f"“{_short(result.text)}”")
    return facts(result.path, pairs, notes)


@entry()
def trace_diff(result: TraceDiff) -> ResultTable:
    if result.same:
        return facts(f"{result.ours} and {result.theirs} do the same, {_tokens(result.shared)}", ())
    pairs = [
        (result.ours, f"“{_short(result.ours_text)}”"),
        (result.theirs, f"“{_short(result.theirs_text)}”"),
        *((name, f"{ours} against {theirs}") for name, ours, theirs in result.headers),
    ]
    if result.what != "nothing":
        pairs.append(("then", f"{result.ours} {result.ours_did}, {result.theirs} {result.theirs_did}"))
    decided = next(iter(result.changed), None)
    if decided is not None:
        sides = ((result.ours, decided.ours, decided.ours_score), (result.theirs, decided.theirs, decided.theirs_score))
        reasons = [
            f"{name}: {REASON_SENTENCES[reason] if reason else 'not asked for'}"
            + (f" ({signed(score)})" if abs(score) >= LEAST_SCORE else "")
            for name, reason, score in sides
        ]
        more = f", the first of {len(result.changed)}" if len(result.changed) > 1 else ""
        pairs.append(
            ("decided", f"{decided.kind} {decided.node} at step {result.refocus_step}{more}. {'; '.join(reasons)}")
        )
    return facts(f"{result.ours} and {result.theirs} share {_tokens(result.shared)}", pairs)


ITERATIONS: Final = Rows[Iteration](
    "refocus:n step:n loss:score actions:n swap:score residency:score time:ms used:score dirty:n taken:n back:n",
    lambda iteration: (
        iteration.refocus,
        iteration.step,
        iteration.loss_at_h,
        iteration.actions,
        iteration.swap_rate,
        iteration.mean_residency,
        iteration.latency_ms,
        iteration.token_budget_utilization,
        iteration.dirty,
        iteration.taken,
        iteration.given_back,
    ),
)


@entry()
def telemetry(result: Telemetry) -> RowList[Iteration]:
    loss = "–" if result.loss_at_h is None else f"{result.loss_at_h:.3f}"
    stays = ", ".join(f"{count} of {length}" for length, count in result.histogram[:12])
    notes = [
        f"surprise at the {result.horizon} tokens after a refocus (loss): {loss} nats a token · passages changed a "
        f"refocus (swap rate): {result.swap_rate:.1%} · refocuses that one stays as it is (residency): "
        f"{result.mean_residency:.1f}, {result.ended_residency:.1f} of those that ended · time a refocus: "
        f"{result.latency_ms:.0f} ms, 95th percentile {result.latency_p95_ms:.0f} · window used: "
        f"{result.token_budget_utilization:.0%}",
        f"how long a passage stayed as it was, in refocuses: {stays}" if stays else "",
    ]
    return ITERATIONS.of(f"Branch {result.branch}, {len(result.iterations)} refocuses", result.iterations, notes)

"""Tables for a lifetime and its runs: forgetting, tags, metadata, folders and checks; branches, traces, replays
and telemetry.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from amgs.text.words import plural
from amgs_app.focus.rows import LEAST_SCORE, draw_view
from amgs_app.render.catalogue import entry
from amgs_app.render.format import format_signed
from amgs_app.render.rows import RowList, Rows
from amgs_app.render.sheet import ResultTable, facts, sheet
from amgs_app.results.focus import ActRow, SpanRow
from amgs_focus.records import BranchView
from amgs_focus.trace.telemetry import Iteration
from amgs_focus.tree.span_metadata import Descriptor
from amgs_focus.views import REASON_SENTENCES

if TYPE_CHECKING:
    from amgs_app.results.focus import (
        BranchList,
        Brought,
        CorpusRead,
        Forgotten,
        ForgottenList,
        LastRun,
        Purged,
        Rebuilt,
        Replayed,
        RunPosition,
        SpanDescribed,
        SpanList,
        Tagged,
    )
    from amgs_focus.trace.lineage import TraceDiff, TraceSummary
    from amgs_focus.trace.telemetry import Telemetry
    from amgs_focus.tree.check import LifetimeCheck


_SHOWN = 40
"""Rows shown on the screen; CSV and JSON have all."""


RUNS: Final = Rows[Descriptor](
    "gists! start:n end:n strength:score idle:n opened:n checksum? from*",
    lambda run: (
        f"L{run.level}#{run.first}" + (f"–{run.stop - 1}" if run.stop - run.first > 1 else ""),
        run.start,
        run.end,
        run.strength,
        run.idle,
        run.opened,
        run.checksum,
        ", ".join(run.sources),
    ),
    empty=("There is nothing to forget.",),
)
ACTS: Final = Rows[ActRow](
    "act! what! gists:n still:n wanted:n at? by? why*",
    lambda row: (
        row.act.id,
        row.act.kind,
        len(row.act.nodes),
        row.in_force,
        row.wanted,
        row.act.at,
        row.act.by,
        row.act.why,
    ),
)
SPANS: Final = Rows[SpanRow](
    "#:n start:n? end:n? from*! domain language? time? trust:score? tags~ opened:n dwell:n? forgotten:score"
    " spread:score?",
    lambda row: (
        row.number,
        row.kept.span.start,
        row.kept.span.end,
        row.kept.span.label or row.kept.span.source or row.kept.span.kind,
        row.kept.about.domain,
        row.kept.about.language,
        row.kept.about.time[:10],
        row.kept.about.trust,
        " ".join(tag.word for tag in row.tags),
        row.opened,
        row.dwell,
        row.forgotten,
        row.spread,
    ),
)


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else "" if value is None else str(value)


@entry(figure=draw_view)
def forgotten(result: Forgotten) -> RowList[Descriptor]:
    from amgs_focus.tree.span_metadata import FATES

    plan = result.plan
    what = f"the detail of {len(plan.nodes):,} gists ({plan.tokens:,} of {plan.lifetime:,} tokens)"
    title = f"Would forget {what}" if result.act is None else f"Act {result.act.id} forgot {what}"
    if plan.is_empty:
        title = "There is nothing to forget"
    notes = [f"L{level} {fate.replace('_', ' ')}: {count:,}, {FATES[fate]}" for level, fate, count in plan.fates]
    if not plan.is_empty:
        notes.append(f"a purge would free {plan.bytes:,} bytes")
    return RUNS.of(title, plan.record, notes, digest=plan.record[:_SHOWN])


@entry(figure=draw_view)
def tabulate_brought_gists(result: Brought) -> ResultTable:
    return facts(
        f"Act {result.act.id} brought {result.gists:,} gists back",
        [("why", result.act.why), ("branch", result.view.branch), ("step", result.view.step)],
    )


@entry(figure=draw_view)
def tabulate_purge(result: Purged) -> ResultTable:
    done = "Would empty" if result.act is None else f"Act {result.act.id} emptied"
    return facts(
        f"{done} what lies below {result.gists:,} gists",
        [("tokens", result.tokens), ("bytes", result.bytes), ("why", result.act.why if result.act else None)],
    )


@entry(figure=draw_view)
def forgotten_list(result: ForgottenList) -> RowList[ActRow]:
    title = f"{result.sealed:,} gists have their detail forgotten, {result.purged:,} of them for good"
    return ACTS.of(title, result.rows)


@entry()
def tabulate_tags(result: Tagged) -> ResultTable:
    action = "Taken off" if result.released else "Tagged"
    rows = [(tag.word, tag.start, tag.end, tag.by, tag.at) for tag in result.tags]
    title = f"{action}: {result.tag.word} on tokens {result.tag.start:,} to {result.tag.end:,}"
    return sheet(title, "tag start:n end:n by at", rows)


@entry()
def span_list(result: SpanList) -> RowList[SpanRow]:
    title = f"{result.total:,} texts, {result.lifetime:,} tokens"
    return SPANS.of(title, result.rows, total=result.total, digest=result.rows[:_SHOWN])


@entry()
def tabulate_span_description(result: SpanDescribed) -> ResultTable:
    before, after = result.before.plain(), result.after.plain()
    names = dict.fromkeys((*before, *after))
    rows = [(name, _plain(before.get(name)), _plain(after.get(name))) for name in names]
    return sheet(f"Span {result.number}", "what before* after*", rows)


@entry(figure=draw_view)
def corpus_read(result: CorpusRead) -> ResultTable:
    plan = result.plan
    rows = [
        (section.domain, section.path, section.name, section.language, len(section.text), len(section.bridges))
        for section in plan.sections
    ]
    paths = len({section.path for section in plan.sections})
    done = "Read in" if result.read else "Would read in"
    notes = [
        f"{len(plan.bridges):,} bridges" if plan.bridges else "",
        f"{len(plan.unchanged):,} documents are there as they are" if plan.unchanged else "",
        f"{len(plan.replaced):,} documents replace an older version" if plan.replaced else "",
        *(
            f"left out: {duplicate.key}, {duplicate.share:.0%} as {duplicate.like}"
            for duplicate in plan.dropped[:_SHOWN]
        ),
        *(f"passed over: {file}, {why}" for file, why in result.skipped),
    ]
    table = sheet(
        f"{done} {plural(len(rows), 'section')} of {paths:,} documents",
        "domain path* section* language chars:n bridges:n",
        rows,
        notes,
    )
    return replace(table, digest=table.rows[:_SHOWN])


@entry(figure=draw_view)
def rebuilt(result: Rebuilt) -> ResultTable:
    return facts(
        f"{result.gists:,} gists encoded again",
        [("by", f"{result.gist}, version {result.version}"), ("left as they were (purged)", result.purged or None)],
    )


@entry()
def lifetime_check(result: LifetimeCheck) -> ResultTable:
    rows = [(file.name, file.rows, file.fault, "mended" if file.mended else "") for file in result.files]
    verdict = f"{plural(len(result.faults), 'fault')}" if result.faults else "whole"
    bare = [file.name for file in result.files if file.unsummed]
    note = f"No checksums yet: {', '.join(bare)}. The next append writes them." if bare else ""
    return sheet(
        f"{result.folder}: {verdict}, {result.tokens:,} tokens of {result.model}",
        "file rows:n fault* now",
        rows,
        (note,),
    )


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
            + (f" ({format_signed(score)})" if abs(score) >= LEAST_SCORE else "")
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
        f"refocus (swap rate): {result.swap_rate:.1%} · refocuses that an entry stays as it is (residency): "
        f"{result.mean_residency:.1f}, {result.ended_residency:.1f} of those that ended · time a refocus: "
        f"{result.latency_ms:.0f} ms, 95th percentile {result.latency_p95_ms:.0f} · window used: "
        f"{result.token_budget_utilization:.0%}",
        f"how long a passage stayed as it was, in refocuses: {stays}" if stays else "",
    ]
    return ITERATIONS.of(f"Branch {result.branch}, {len(result.iterations)} refocuses", result.iterations, notes)

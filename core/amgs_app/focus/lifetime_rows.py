"""Tables for forgetting, tags, metadata, folders and checks of a lifetime."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from amgs.text.plural import plural
from amgs_app.focus.rows import draw_view
from amgs_app.render.catalogue import entry
from amgs_app.render.rows import RowList, Rows
from amgs_app.render.sheet import ResultTable, facts, sheet
from amgs_app.results.focus import ActRow, SpanRow
from amgs_focus.tree.span_metadata import Descriptor

if TYPE_CHECKING:
    from amgs_app.results.focus import (
        Brought,
        CorpusRead,
        Forgotten,
        ForgottenList,
        Purged,
        Rebuilt,
        SpanDescribed,
        SpanList,
        Tagged,
    )
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
def purged(result: Purged) -> ResultTable:
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

"""What looks after a lifetime: forgetting, tags, metadata, corpora."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from amgs.text.plural import plural
from amgs_app.focus.figure_view import with_view
from amgs_app.render.catalogue import entry
from amgs_app.render.sheet import ResultTable, facts, sheet

if TYPE_CHECKING:
    from amgs_app.results.focus import (
        Brought,
        CorpusRead,
        Forgotten,
        ForgottenList,
        PolishedGists,
        Purged,
        Rebuilt,
        SpanDescribed,
        SpanList,
        Tagged,
    )
    from amgs_focus.records import NodeProvenance, SpanAbout
    from amgs_focus.tree.check import LifetimeCheck
    from amgs_focus.tree.span_metadata import Descriptor


_SHOWN = 40
"""Rows that people are shown; CSV and JSON hold them all."""


def kept_rows(keeping: NodeProvenance) -> Iterable[tuple[str, Any]]:
    """What `focus why` says of how an entry is kept."""
    use = keeping.use
    yield "provenance", f"{keeping.provenance}, gist version {keeping.gist_version}"
    known = [said for kept in keeping.spans if (said := _about(kept.about))]
    if known:
        more = f" and {keeping.span_count - len(keeping.spans)} more" if keeping.span_count > len(keeping.spans) else ""
        yield "known of it", "; ".join(known) + more
    if keeping.tags:
        yield "tags", ", ".join(dict.fromkeys(tag.word for tag in keeping.tags))
    worth = f", worth {use.gain:+.3f} nats a token" if use.gain is not None else ""
    yield "used", f"opened {use.opened} times, stood in {use.dwell} refocuses{worth}"
    if keeping.forgotten or keeping.purged:
        asked = f", asked for {use.wanted} times since" if use.wanted else ""
        gone = f"{keeping.purged:,} tokens for good" if keeping.purged else "can be restored"
        yield "forgotten", f"what lies below it ({gone}){asked}"


def _runs(title: str, record: tuple[Descriptor, ...], notes: Iterable[str]) -> ResultTable:
    rows = [
        (
            f"L{one.level}#{one.first}" + (f"–{one.stop - 1}" if one.stop - one.first > 1 else ""),
            one.start,
            one.end,
            one.strength,
            one.idle,
            one.opened,
            one.checksum,
            ", ".join(one.sources),
        )
        for one in record
    ]
    columns = "gists start:n end:n strength:score idle:n opened:n checksum from*"
    made = sheet(title, columns, rows, notes)
    return replace(made, digest=made.rows[:_SHOWN])


def _about(about: SpanAbout) -> str:
    said = [about.key.rstrip("#"), about.domain, about.language, about.time[:10]]
    said += ["" if about.trust is None else f"trust {about.trust:g}"]
    said += [f"version {about.version}" if about.version else ""]
    said += [f"bridges to {', '.join(about.bridges)}" if about.bridges else ""]
    return ", ".join(one for one in said if one)


def _said(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else "" if value is None else str(value)


@entry(figure=with_view)
def forgotten(result: Forgotten) -> ResultTable:
    from amgs_focus.tree.span_metadata import FATES

    plan = result.plan
    what = f"the detail of {len(plan.nodes):,} gists ({plan.tokens:,} of {plan.lifetime:,} tokens)"
    title = f"Would forget {what}" if result.act is None else f"Act {result.act.id} forgot {what}"
    notes = [f"L{level} {fate.replace('_', ' ')}: {count:,}, {FATES[fate]}" for level, fate, count in plan.fates]
    if not plan.is_empty:
        notes.append(f"a purge would free {plan.bytes:,} bytes")
    return _runs(title if not plan.is_empty else "There is nothing to forget", plan.record, notes)


@entry(figure=with_view)
def brought(result: Brought) -> ResultTable:
    return facts(
        f"Act {result.act.id} brought {result.gists:,} gists back",
        [("why", result.act.why), ("branch", result.view.branch), ("step", result.view.step)],
    )


@entry(figure=with_view)
def purged(result: Purged) -> ResultTable:
    done = "Would empty" if result.act is None else f"Act {result.act.id} emptied"
    return facts(
        f"{done} what lies below {result.gists:,} gists",
        [("tokens", result.tokens), ("bytes", result.bytes), ("why", result.act.why if result.act else None)],
    )


@entry(figure=with_view)
def forgotten_list(result: ForgottenList) -> ResultTable:
    rows = [
        (row.act.id, row.act.kind, len(row.act.nodes), row.in_force, row.wanted, row.act.at, row.act.by, row.act.why)
        for row in result.rows
    ]
    title = f"{result.sealed:,} gists have their detail forgotten, {result.purged:,} of them for good"
    return sheet(title, "act what gists:n still:n wanted:n at by why*", rows)


@entry()
def tagged(result: Tagged) -> ResultTable:
    said = "Taken off" if result.released else "Tagged"
    rows = [(tag.word, tag.start, tag.end, tag.by, tag.at) for tag in result.tags]
    title = f"{said}: {result.tag.word} on tokens {result.tag.start:,} to {result.tag.end:,}"
    return sheet(title, "tag start:n end:n by at", rows)


@entry()
def span_list(result: SpanList) -> ResultTable:
    rows = []
    for row in result.rows:
        span, about = row.kept.span, row.kept.about
        rows.append(
            (
                row.number,
                span.start,
                span.end,
                span.label or span.source or span.kind,
                about.domain,
                about.language,
                about.time[:10],
                about.trust,
                " ".join(tag.word for tag in row.tags),
                row.opened,
                row.dwell,
                row.forgotten,
                row.spread,
            )
        )
    columns = "#:n start:n end:n from* domain language time trust:score tags"
    columns += " opened:n dwell:n forgotten:score spread:score"
    made = sheet(f"{result.total:,} spans, {result.lifetime:,} tokens", columns, rows)
    return replace(made, digest=made.rows[:_SHOWN])


@entry()
def span_described(result: SpanDescribed) -> ResultTable:
    before, after = result.before.plain(), result.after.plain()
    names = dict.fromkeys((*before, *after))
    rows = [(name, _said(before.get(name)), _said(after.get(name))) for name in names]
    return sheet(f"Span {result.number}", "what before* after*", rows)


@entry(figure=with_view)
def corpus_read(result: CorpusRead) -> ResultTable:
    plan = result.plan
    rows = [(one.domain, one.path, one.name, one.language, len(one.text), len(one.bridges)) for one in plan.sections]
    paths = len({one.path for one in plan.sections})
    done = "Read in" if result.read else "Would read in"
    notes = [
        f"{len(plan.bridges):,} bridges" if plan.bridges else "",
        f"{len(plan.unchanged):,} documents are there as they are" if plan.unchanged else "",
        f"{len(plan.replaced):,} documents replace an older version" if plan.replaced else "",
        *(f"left out: {one.key}, {one.share:.0%} as {one.like}" for one in plan.dropped[:_SHOWN]),
        *(f"passed over: {file}, {why}" for file, why in result.skipped),
    ]
    made = sheet(
        f"{done} {plural(len(rows), 'section')} of {paths:,} documents",
        "domain path* section* language chars:n bridges:n",
        rows,
        notes,
    )
    return replace(made, digest=made.rows[:_SHOWN])


@entry(figure=with_view)
def polished_gists(result: PolishedGists) -> ResultTable:
    return facts(
        f"{plural(len(result.blocks), 'gist')} polished",
        [
            ("blocks", ", ".join(f"L1#{block}" for block in result.blocks) or None),
            ("left as the net made them", result.left),
            ("seconds", f"{result.seconds:.1f}"),
        ],
    )


@entry(figure=with_view)
def rebuilt(result: Rebuilt) -> ResultTable:
    return facts(
        f"{result.gists:,} gists encoded again",
        [("by", f"{result.gist}, version {result.version}"), ("left as they were (purged)", result.purged or None)],
    )


@entry()
def lifetime_check(result: LifetimeCheck) -> ResultTable:
    rows = [(one.name, one.rows, one.fault, "mended" if one.mended else "") for one in result.files]
    said = f"{plural(len(result.faults), 'fault')}" if result.faults else "whole"
    bare = [one.name for one in result.files if one.unsummed]
    note = f"No checksums yet: {', '.join(bare)}. The next append writes them." if bare else ""
    return sheet(
        f"{result.folder}: {said}, {result.tokens:,} tokens of {result.model}", "file rows:n fault* now", rows, (note,)
    )

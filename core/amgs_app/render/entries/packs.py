"""Packs: what is kept, what was read of it, and how one version differs from another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from amgs.text.plural import plural
from amgs_app.render.answer import answer_told
from amgs_app.render.catalogue import FigureOf, entry, title_of
from amgs_app.render.drawing import places
from amgs_app.render.figures.format import title_told
from amgs_app.render.sheet import ResultTable, facts, sheet

if TYPE_CHECKING:
    from rich.text import Text

    from amgs.types.pack_assembly import PackAssembly
    from amgs.types.packs import (
        Pack,
        PackContent,
        PackCourse,
        PackDifference,
        PackForecast,
        PackHabits,
        PackKept,
        PackRoute,
        PackText,
        PackUsage,
        PackUse,
        RoutedPack,
    )
    from amgs_app.render.figures.canvas import Canvas
    from amgs_app.results.memory import PackExported, PackList, PackUses
    from amgs_app.session.operator import Operator

_MEMBERS = "#:n id:id role title* category created:at"


def _named(pack: Pack) -> str:
    return f"{pack.name}@{pack.version}"


def _verdict(outcome: float | None) -> str | None:
    return None if outcome is None else "useful" if outcome else "useless"


def _usage(one: PackUsage) -> tuple[Any, ...]:
    pack = one.pack
    return (
        pack.name,
        pack.version,
        len(pack.members),
        pack.tokens,
        one.uses,
        one.success,
        one.last_used,
        "retired" if pack.retired else " ".join(pack.keywords),
    )


@entry(sentence=title_of, quiet=True)
def pack_kept(result: PackKept) -> ResultTable:
    pack = result.pack
    done = f"kept, as operation {result.operation}" if result.operation is not None else "kept already"
    pairs = [
        ("members", len(pack.members)),
        ("learnings", sum(one.role == "learning" for one in pack.members)),
        ("tokens", pack.tokens),
        ("keywords", ", ".join(pack.keywords)),
        ("query", pack.query or None),
        ("frame", pack.frame or None),
        ("content", pack.id[:12]),
    ]
    return facts(f"{_named(pack)} is {done}", pairs, _doubts(result))


def _doubts(result: PackKept) -> list[str]:
    """What the search says of the question of a pack, and what to do where it may be about something else."""
    from amgs.retrieval.answerable import LIKELY, UNLIKELY

    told = [f"{said[0].upper()}{said[1:]}." for said in answer_told(result)]
    chance = result.answerable
    if chance is None and result.unestimated:
        told.append(f"Whether the memory holds an answer was not estimated: {result.unestimated}.")
    doubted = (chance is not None and chance < UNLIKELY) or (bool(result.unheld) and (chance or 0.0) < LIKELY)
    if doubted:
        back = f" `undo {result.operation}` takes it back." if result.operation is not None else ""
        told.append(
            "The members are the nearest blocks there are, and may be about something else. Look with `pack show "
            f"{result.pack.name}`.{back}"
        )
    return told


@entry(figure=FigureOf("pack forecast"))
def pack_list(result: PackList) -> ResultTable:
    note = "" if result.packs else "`pack keep NAME QUERY` keeps one."
    return sheet(
        plural(len(result.packs), "pack"),
        "name* version:n members:n tokens:n uses:n success:score last:at keywords*",
        map(_usage, result.packs),
        (note,),
    )


def _content_drawn(operator: Operator, result: PackContent, canvas: Canvas) -> Text:
    from amgs_app.render.figures.packs import content

    del operator
    return content(result, canvas)


@entry(figure=_content_drawn)
def pack_content(result: PackContent) -> ResultTable:
    pack, usage = result.usage.pack, result.usage
    role = {one.block: one.role for one in pack.members}
    rows = [
        (n, block.id, role[block.id], title_told(block), block.category, block.created_at)
        for n, block in enumerate(result.blocks, 1)
    ]
    notes = (
        f"keywords: {', '.join(pack.keywords)}" if pack.keywords else "",
        f"kept from {pack.frame} for {pack.query!r}" if pack.query else "",
        f"{plural(len(result.gone), 'member')} no longer held: {', '.join(one[:8] for one in result.gone)}"
        if result.gone
        else "",
        f"read {plural(usage.uses, 'time')}"
        + (f", {usage.success:.0%} of {usage.judged} useful" if usage.success is not None else ""),
        f"{plural(len(result.versions), 'version')}, the latest {result.versions[-1].version}",
    )
    told = ", retired" if pack.retired else ""
    title = f"{_named(pack)}{told}: {plural(len(rows), 'block')}, {pack.tokens:,} tokens"
    return sheet(f"{title}, {pack.title}" if pack.title else title, _MEMBERS, rows, notes)


@entry()
def pack_difference(result: PackDifference) -> ResultTable:
    rows = [("come", block.id, title_told(block), block.created_at) for block in result.come]
    rows += [("gone", block.id, title_told(block), block.created_at) for block in result.gone]
    words = [f"+{one}" for one in result.keywords_come] + [f"−{one}" for one in result.keywords_gone]
    title = (
        f"{_named(result.left)} → {_named(result.right)}: {len(result.come)} come, {len(result.gone)} gone, "
        f"{result.shared} in both"
    )
    return sheet(
        title, "what id:id title* created:at", rows, (f"keywords: {' '.join(words)}" if words else "",)
    )


@entry(sentence=title_of)
def pack_text(result: PackText) -> ResultTable:
    out, gone = len(result.left_out), len(result.gone)
    logged = f", as use {result.use}" if result.use is not None else ""
    title = f"{_named(result.pack)}: {result.tokens:,} of {result.budget:,} tokens{logged}"
    notes = (
        f"{plural(out, 'member')} for which there was no room" if out else "",
        f"{plural(gone, 'member')} no longer held" if gone else "",
        f"{plural(len(result.shortened), 'member')} shortened" if result.shortened else "",
        "`--prune` reads sentences of what does not fit whole." if out and not result.blocks else "",
        result.text,
    )
    return replace(sheet(title, "text*", [(result.text,)], notes), digest=())


def _routed(one: RoutedPack, place: int | None) -> tuple[Any, ...]:
    parts = (one.relevance, one.efficiency, one.quality, one.recency, one.domain)
    return (place, _named(one.pack), one.tokens, one.gain, *parts)


def _route_drawn(operator: Operator, result: PackRoute, canvas: Canvas) -> Text:
    from amgs_app.render.figures.pack_route import route

    del operator
    return route(result, canvas)


@entry(figure=_route_drawn)
def pack_route(result: PackRoute) -> ResultTable:
    rows = [_routed(one, n) for n, one in enumerate(result.packs, 1)]
    rows += [_routed(one, None) for one in result.left_out]
    missing = ", ".join(word for word, there in result.words if not there)
    title = f"{plural(len(result.packs), 'pack')}, {result.tokens:,} of {result.budget:,} tokens"
    notes = (
        f"What answers is among them with a likelihood of {result.likely:.0%}, if any pack has it."
        if result.packs
        else "No pack fits whole, or none says anything of it. `pack assemble` reads sentences of what does not fit.",
        f"No chosen pack says: {missing}" if missing and result.packs else "",
        "A pack without a number was not chosen; its figures say what it would still add.",
    )
    columns = "#:n pack* tokens:n gain:score relevance:score efficiency:score quality:score recency:score domain:score"
    return sheet(title, columns, rows, notes if rows else notes[:1])


@entry(sentence=title_of)
def pack_assembly(result: PackAssembly) -> ResultTable:
    rows: list[tuple[Any, ...]] = []
    for n, stage in enumerate(result.stages, 1):
        rows.append((n, stage.unit, "in", stage.count_in, stage.tokens_in))
        rows += [(None, None, one.why, one.count or None, one.tokens) for one in stage.changes]
        rows.append((None, None, "out", stage.count_out, stage.tokens_out))
    chosen = ", ".join(_named(one.pack) for one in result.packs)
    logged = f", as {plural(len(result.uses), 'use')}" if result.uses else ""
    title = f"{plural(len(result.packs), 'pack')}, {result.tokens:,} of {result.budget:,} tokens{logged}"
    if not result.text:
        return sheet(title, _LEDGER, rows, ("No pack says anything of it.",))
    return sheet(title, _LEDGER, rows, (f"packs: {chosen}", result.text))


_LEDGER = "#:n stage what* number:n tokens:n"


def _use(one: PackUse) -> tuple[Any, ...]:
    return (
        one.number,
        f"{one.name}@{one.version}",
        one.at,
        one.tokens,
        len(one.blocks),
        _verdict(one.outcome),
        one.credit,
        one.session or None,
        one.query,
    )


_USES = "use:n pack at:at tokens:n blocks:n outcome credit:score~ session~ query*"


@entry(sentence=title_of, quiet=True)
def pack_use(result: PackUse) -> ResultTable:
    told = _verdict(result.outcome) or "not judged"
    return sheet(f"Use {result.number} of {result.name}@{result.version}: {told}", _USES, [_use(result)])


@entry(figure=FigureOf("pack forecast"))
def pack_uses(result: PackUses) -> ResultTable:
    return sheet(plural(len(result.uses), "reading"), _USES, map(_use, result.uses))


@entry(sentence=title_of, quiet=True)
def pack_exported(result: PackExported) -> ResultTable:
    return facts(
        f"{result.name}: {plural(result.members, 'member')} written to {result.path}",
        [("path", result.path), ("members", result.members)],
    )


def _forecast_drawn(operator: Operator, result: PackForecast, canvas: Canvas) -> Text:
    from amgs_app.panes.row_fields import of_packs
    from amgs_app.render.figures.packs import forecast

    kept = places(operator, "packs", of_packs(result.packs, operator.engine.clock.now()))
    return forecast(result, canvas, rows=None if kept is None else [result.packs[n] for n in kept])


@entry(figure=_forecast_drawn)
def pack_forecast(result: PackForecast) -> ResultTable:
    rows = [
        (
            one.usage.pack.name,
            one.needed,
            one.usage.uses,
            one.usage.last_used,
            one.usage.pack.tokens,
            ("retired" if result.operation is not None else "would go") if one.forget else None,
        )
        for one in result.packs
    ]
    gone = result.forgotten
    done = f", {len(gone)} retired as operation {result.operation}" if result.operation is not None else ""
    title = f"{plural(len(rows), 'pack')}, {result.tokens:,} tokens, over the next {result.days:g} days{done}"
    left = result.tokens - sum(one.usage.pack.tokens for one in gone)
    note = f"What stays takes {left:,} of {result.keep:,} tokens." if result.keep is not None else ""
    return sheet(title, "name* needed:score uses:n last:at tokens:n forgotten", rows, (note,))


def _course_drawn(operator: Operator, result: PackCourse, canvas: Canvas) -> Text:
    from amgs_app.render.figures.pack_course import course

    del operator
    return course(result, canvas)


@entry(figure=_course_drawn)
def pack_course(result: PackCourse) -> ResultTable:
    read = set(result.readings)
    rows = [
        (at, needed, "now" if at == result.now else "read" if at in read else None)
        for at, needed in zip(result.at, result.needed, strict=True)
    ]
    title = (
        f"{result.name}, read {plural(len(read), 'time')}: {result.here:.2f} now, over {result.days:g} days"
    )
    return sheet(title, "at:at needed:score what", rows, ("After now: if it is not read.",))


def _habits_drawn(operator: Operator, result: PackHabits, canvas: Canvas) -> Text:
    from amgs_app.render.figures.pack_habits import habits

    del operator
    return habits(result, canvas)


@entry(figure=_habits_drawn)
def pack_habits(result: PackHabits) -> ResultTable:
    rows: list[tuple[Any, ...]] = [
        ("together", " + ".join(one.names), one.sessions, None, None, f"{one.lift:.1f} × chance")
        for one in result.sets
    ]
    rows += [
        ("next", f"{one.before} → {one.after}", one.times, one.likely, one.usual, None)
        for one in result.sequences
    ]
    note = "" if rows else "`pack use NAME --session TASK` joins what is read for one task."
    return sheet(
        plural(result.sessions, "session"),
        "what packs* times:n likely:score usual:score lift",
        rows,
        (note,),
    )

"""Packs: what is kept and read, what learning makes of it, and what could be done with it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from amgs.text.plural import plural
from amgs_app.render.catalogue import entry, title_of
from amgs_app.render.drawing import places
from amgs_app.render.format import title_told
from amgs_app.render.sentences import answer_told
from amgs_app.render.sheet import ResultTable, facts, sheet
from amgs_app.terminal.line import quote

if TYPE_CHECKING:
    from rich.text import Text

    from amgs.wings.packs.values import (
        Pack,
        PackAssembly,
        PackContent,
        PackDifference,
        PackKept,
        PackLearned,
        PackRoute,
        PackText,
        PackUsage,
        PackUse,
        PackWeights,
    )
    from amgs_app.render.canvas import Canvas
    from amgs_app.session.operator import Operator
    from amgs_app.views.packs.results import PackExported, PackList, PackProposalList

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
        one.needed,
        "retired" if pack.retired else "would go" if one.forget else " ".join(pack.keywords),
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


def _list_drawn(operator: Operator, result: PackList, canvas: Canvas) -> Text:
    from amgs_app.views.packs.figures.packs import packs
    from amgs_app.views.packs.row_fields import of_packs

    kept = places(operator, "packs", of_packs(result.packs, operator.engine.clock.now()))
    return packs(result, canvas, rows=None if kept is None else [result.packs[n] for n in kept])


@entry(figure=_list_drawn)
def pack_list(result: PackList) -> ResultTable:
    notes = ["" if result.packs else "`pack keep NAME QUERY` keeps one."]
    if result.keep is not None:
        going = [one.pack.name for one in result.packs if one.forget]
        left = sum(one.pack.tokens for one in result.packs if not (one.forget or one.pack.retired))
        notes.append(f"What stays takes {left:,} of {result.keep:,} tokens.")
        notes.append(f"`pack retire {' '.join(map(quote, going))}` retires the others." if going else "")
    return sheet(
        plural(len(result.packs), "pack"),
        "name* version:n members:n tokens:n uses:n success:score last:at needed:score keywords*",
        map(_usage, result.packs),
        notes,
    )


def _content_drawn(operator: Operator, result: PackContent, canvas: Canvas) -> Text:
    from amgs_app.views.packs.figures.packs import content

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
        f"links: {', '.join(f'{one.count} {one.family} to {one.name}' for one in result.links)}"
        if result.links
        else "",
        *(f"use {_reading_told(one)}" for one in result.readings),
    )
    told = ", retired" if pack.retired else ""
    title = f"{_named(pack)}{told}: {plural(len(rows), 'block')}, {pack.tokens:,} tokens"
    return sheet(f"{title}, {pack.title}" if pack.title else title, _MEMBERS, rows, notes)


def _reading_told(one: PackUse) -> str:
    told = f"{one.number}: {one.at:%Y-%m-%d %H:%M}, {one.tokens:,} tokens, {_verdict(one.outcome) or 'not judged'}"
    return "; ".join(part for part in (told, one.session, one.query) if part)


@entry()
def pack_difference(result: PackDifference) -> ResultTable:
    rows = [("come", block.id, title_told(block), block.created_at) for block in result.come]
    rows += [("gone", block.id, title_told(block), block.created_at) for block in result.gone]
    words = [f"+{one}" for one in result.keywords_come] + [f"−{one}" for one in result.keywords_gone]
    title = (
        f"{_named(result.left)} → {_named(result.right)}: {len(result.come)} come, {len(result.gone)} gone, "
        f"{result.shared} in both"
    )
    return sheet(title, "what id:id title* created:at", rows, (f"keywords: {' '.join(words)}" if words else "",))


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


def _route_drawn(operator: Operator, result: PackRoute, canvas: Canvas) -> Text:
    from amgs_app.views.packs.figures.route import route

    del operator
    return route(result, canvas)


@entry(figure=_route_drawn)
def pack_route(result: PackRoute) -> ResultTable:
    from amgs_app.views.packs.figures.route import asked_for

    rows: list[tuple[Any, ...]] = [(n, _named(one.pack), one.tokens, one.gain) for n, one in enumerate(result.packs, 1)]
    rows += [(None, _named(one.pack), one.tokens, one.gain) for one in result.left_out]
    missing = ", ".join(word for word, there in result.words if not there)
    title = f"{plural(len(result.packs), 'pack')}, {result.tokens:,} of {result.budget:,} tokens"
    notes = (
        f"What answers is among them with a likelihood of {result.likely:.0%}, if any pack has it."
        if result.packs
        else "No pack fits whole, or none says anything of it. `pack assemble` reads sentences of what does not fit.",
        f"The question seems to ask for {asked_for(result)}.",
        f"No chosen pack says: {missing}" if missing and result.packs else "",
        "A pack without a number was not chosen; its gain says what it would still add.",
    )
    columns = "#:n pack* tokens:n gain:score"
    return sheet(title, columns, rows, notes if rows else notes[:2])


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
        one.session or None,
        one.query,
    )


_USES = "use:n pack at:at tokens:n blocks:n outcome session~ query*"


@entry(sentence=title_of, quiet=True)
def pack_use(result: PackUse) -> ResultTable:
    told = _verdict(result.outcome) or "not judged"
    return sheet(f"Use {result.number} of {result.name}@{result.version}: {told}", _USES, [_use(result)])


@entry(sentence=title_of, quiet=True)
def pack_exported(result: PackExported) -> ResultTable:
    return facts(
        f"{result.name}: {plural(result.members, 'member')} written to {result.path}",
        [("path", result.path), ("members", result.members)],
    )


@entry()
def pack_learned(result: PackLearned) -> ResultTable:
    rows = [
        (n, one.block.id, one.tokens, one.of, len(one.members), one.block.content)
        for n, one in enumerate(result.learnings, 1)
    ]
    pack = f"{result.pack.name}@{result.pack.version}"
    made = plural(len(rows), "learning")
    if result.operation is not None:
        title = f"{pack} has {made} more, as operation {result.operation}"
    elif result.planned and (rows or result.stale):
        title = f"{pack} would have {made} more; nothing is written yet"
    else:
        title = f"{pack}: nothing new to learn"
    waiting, stale = len(result.waiting), len(result.stale)
    notes = (
        f"{plural(result.stood, 'learning')} it had already" if result.stood else "",
        f"{plural(stale, 'learning')} set aside: a source is gone" if stale else "",
        f"{plural(waiting, 'source')} in no learning: it takes two that are consolidated" if waiting else "",
    )
    return sheet(title, "#:n id:id tokens:n of:n sources:n learning*", rows, notes)


def _proposals_drawn(operator: Operator, result: PackProposalList, canvas: Canvas) -> Text:
    from amgs_app.views.packs.figures.proposals import proposals

    del operator
    return proposals(result.proposals, canvas)


@entry(figure=_proposals_drawn)
def pack_proposal_list(result: PackProposalList) -> ResultTable:
    rows = [(one.id, one.action, " + ".join(one.packs), one.because, one.sure) for one in result.proposals]
    done = f"operation {result.decided.id}: {result.decided.summary}" if result.decided is not None else ""
    note = "`pack proposals --accept ID` carries one out, `--reject ID` is for good." if rows else ""
    return sheet(plural(len(rows), "proposal"), "id action packs* why* sure:score", rows, (done, note))


@entry()
def pack_weights(result: PackWeights) -> ResultTable:
    rows = [(one.name, one.judged, one.share, one.bound) for one in result.packs]
    left = f"{plural(result.left_out, 'verdict')} of whole sessions left out" if result.left_out else ""
    note = "" if rows else "`pack judge` notes the outcome of a reading."
    title = f"{plural(len(rows), 'pack')} with verdicts of their own"
    return sheet(title, "pack* judged:n useful:score least:score", rows, (left, note))

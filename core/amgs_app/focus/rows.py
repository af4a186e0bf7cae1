"""The working context: opened, stepped, shown, explained, steered."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from amgs_app.focus.figure_view import drawn_view, with_view
from amgs_app.focus.lifetime_rows import kept_rows
from amgs_app.render.catalogue import entry
from amgs_app.render.drawing import titles_of_view
from amgs_app.render.sentences import UNTRAINED, WARNING, unheld
from amgs_app.render.sheet import ResultTable, facts, sheet
from amgs_focus.records import with_sign
from amgs_focus.views import ACTION_SIGNS

if TYPE_CHECKING:
    from rich.text import Text

    from amgs_app.render.canvas import Canvas
    from amgs_app.results.focus import GistsMeasured, Measured, Opened, SettingChanged, Steered, Stepped
    from amgs_app.session.operator import Operator
    from amgs_focus.records import Refocus, TokenSpan
    from amgs_focus.views import EntryExplanation, EntryView, FocusView


_ENTRIES_SHOWN = 40
"""Entries of the working context that its table shows; CSV and JSON hold them all."""
NOTHING_ALIKE = "no block resembles the question"
NO_WORD_ALIKE = "no block shares a word with the question"


def _nothing_alike(view: FocusView) -> str:
    """What is said of a question that nothing resembles."""
    return NO_WORD_ALIKE if view.question_likelihood is None else NOTHING_ALIKE


def _held(result: FocusView) -> str:
    return f"{result.branch}: {result.lifetime:,}-token lifetime held in {result.used:,} of {result.window:,} slots"


def _judgements(view: FocusView, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows with neighbours that share a score handed down to them as one: it was one judgement."""
    told: list[tuple[Any, ...]] = []
    for _, run in groupby(
        zip(view.entries, rows, strict=True),
        key=lambda pair: (pair[0].level, pair[0].score) if pair[0].inherited else pair[0].position,
    ):
        group = list(run)
        (first, row), (last, _) = group[0], group[-1]
        if len(group) > 1:
            cost = sum(entry.cost for entry, _ in group)
            row = (
                f"{first.position}–{last.position}",
                f"{len(group)} × L{first.level}",
                first.start,
                last.end,
                cost,
                *row[5:],
            )
        told.append(row)
    return told


@entry(figure=drawn_view, sentence=_held)
def focus_view(result: FocusView) -> ResultTable:
    where = [span.start for span in result.sources]

    def origin(entry: EntryView) -> str | None:
        """The block that an entry came from, else the file or whatever its first tokens came from."""
        at = bisect_right(where, entry.start) - 1
        named = result.sources[at] if 0 <= at < len(where) else None
        return entry.source or (None if named is None else named.label or named.kind)

    rows = [
        (e.position, f"L{e.level}", e.start, e.end, e.cost, e.score, e.last_action, e.reason, origin(e))
        for e in result.entries
    ]
    title = (
        f"{result.branch}: {result.lifetime:,}-token lifetime held in {result.used:,} of {result.window:,} slots"
        f" ({result.model}); step {result.step:,}, {result.refocuses} refocuses, swap {result.swap_rate:.2f}"
    )
    columns = "#:n lod start:n end:n cost:n score:score last reason source:id"
    notes = (
        f"“{result.text}”" if result.text else "",
        f"! {_nothing_alike(result)}." if result.unanswered else "",
        f"! {WARNING}" if result.untrained else "",
        f"! {unheld(result)}" if result.unheld else "",
    )
    made = sheet(title, columns, rows, notes)
    return replace(made, digest=sheet("", columns, _judgements(result, rows)).rows[:_ENTRIES_SHOWN])


def _drawn_tokens(operator: Operator, result: TokenSpan, canvas: Canvas) -> Text:
    from amgs_app.focus.figure import focus

    view = operator.engine.focus.snapshot()
    zoom = max(1.0, view.lifetime / max(1, len(result.texts)))
    titles = titles_of_view(operator, view, result.sources)
    return focus(view, canvas, zoom=zoom, offset=result.start, titles=titles, tokens=result)


@entry(figure=_drawn_tokens)
def token_span(result: TokenSpan) -> ResultTable:
    rows = [
        (place, text, next((s.source for s in result.sources if s.start <= place < s.end), None))
        for place, text in enumerate(result.texts, start=result.start)
    ]
    return sheet(f"Tokens {result.start:,} to {result.end:,}", "token:n text source:id", rows)


def _opened(result: Opened) -> str:
    view = result.view
    line = f"{result.source} is open: {view.lifetime:,} tokens held in {view.used:,} of {view.window:,}"
    return f"{line} · {UNTRAINED}" if view.untrained else line


def _read(view: FocusView) -> str:
    """How the model reads the window after a refocus changed it."""
    if view.full_read_every == 1:
        return "computed anew behind each change"
    if not view.rotates:
        return "computed anew behind each change: this model's keys cannot be turned to other positions"
    return f"kept behind a change, computed anew every {view.full_read_every} changes"


@entry(figure=with_view, sentence=_opened)
def opened(result: Opened) -> ResultTable:
    view = result.view
    pairs = [
        ("from", result.source),
        ("question", result.question or None),
        ("segments", result.segments),
        ("lifetime tokens", view.lifetime),
        ("working context", f"{view.used} of {view.window} in {len(view.entries)} entries"),
        ("levels", view.levels),
        ("model", f"{view.model} {view.precision}"),
        ("gist / scorer", f"{view.gist} / {view.scorer}"),
        ("keys and values", _read(view)),
    ]
    return facts("Opened", pairs, (f"! {WARNING}",) if view.untrained else ())


def _decoded(result: Stepped) -> str:
    """How many tokens were decoded and what the refocuses among them did."""
    made = [record.refocus for record in result.records if record.refocus is not None]
    made += [result.refocus] if result.refocus is not None else []
    count = len(result.records)
    parts = ["1 token" if count == 1 else f"{count} tokens"] if count else []
    parts += [_refocused(made[-1])] if made else []
    parts += [_nothing_alike(result.view)] if made and result.view.unanswered else []
    parts += ["the answer is finished"] if result.view.finished else []
    return " · ".join(parts)


def _refocused(made: Refocus) -> str:
    counts = Counter(each.kind for each in made.applied)
    if not made.applied:
        return f"refocus {made.number}: nothing changed"
    return (
        f"refocus {made.number}: {counts['expand']} expanded, {counts['collapse']} collapsed, swap {made.swap_rate:.2f}"
    )


@entry(figure=with_view, sentence=_decoded)
def stepped(result: Stepped) -> ResultTable:
    rows = []
    for record in result.records:
        done = (
            ""
            if record.refocus is None
            else " ".join(f"{ACTION_SIGNS[d.kind]}{d.node}" for d in record.refocus.applied)
        )
        rows.append((record.step, record.text, record.nll, record.used, record.dirty, record.milliseconds, done))
    view = result.view
    title = f"{len(rows)} tokens, {view.used} of {view.window} used"
    notes = [f"“{view.text}”" if view.text else ""]
    if result.refocus is not None:
        decided = result.refocus
        proposed = f"{len(decided.applied)} of {len(decided.decisions)} proposals applied"
        notes.insert(0, f"Refocus {decided.number}: {proposed}, swap {decided.swap_rate:.2f}")
    if view.unanswered:
        notes.insert(0, f"! {_nothing_alike(view)}.")
    return sheet(title, "step:n token nll:score used:n dirty:n time:ms refocus*", rows, notes)


def _drawn_why(operator: Operator, result: EntryExplanation, canvas: Canvas) -> Text:
    from amgs_app.focus.figure import focus

    view = operator.engine.focus.snapshot()
    titles = titles_of_view(operator, view, result.sources)
    return focus(view, canvas, selected=result.entry.position, why=result, titles=titles)


def _reason(result: EntryExplanation) -> str:
    return f"{result.entry.node}: {result.reason_text}"


@entry(figure=_drawn_why, sentence=_reason)
def entry_explanation(result: EntryExplanation) -> ResultTable:
    entry, decision = result.entry, result.decision
    pairs: list[tuple[str, Any]] = [
        ("entry", f"#{entry.position}, {entry.node}, tokens {entry.start:,} to {entry.end:,}"),
        *_polished(result),
        ("text", result.text),
        ("from", ", ".join(dict.fromkeys(s.label or s.source or s.kind for s in result.sources))),
        ("score", f"{result.score:+.3f}" + (" (handed down, not scored by itself yet)" if entry.inherited else "")),
        *((f"  {name}", f"{value:+.3f}") for name, value in result.parts),
        *_resemblance(result),
        (
            "decision",
            result.reason_text if decision is None else f"{decision.kind} {decision.node}: {result.reason_text}",
        ),
        ("legal", result.legality),
        ("expand / collapse", f"{result.expand_cost} / {result.collapse_cost} tokens"),
        ("cooldown", result.cooldown),
        ("would", result.would),
        *(kept_rows(result.keeping) if result.keeping is not None else ()),
    ]
    return facts("Why", pairs, (f"! {NOTHING_ALIKE}.",) if result.unanswered else ())


def _polished(result: EntryExplanation) -> list[tuple[str, str]]:
    """How far the gist of a block is from its tokens since it was polished."""
    known = result.keeping.distances if result.keeping is not None else None
    if known is None:
        return [("gist", "polished")] if result.entry.polished else []
    told = f"polished: {known[2]:.2f} nats a token from its tokens, {known[1]:.2f} before, a neighbour's {known[0]:.2f}"
    return [("gist", told)]


def _resemblance(result: EntryExplanation) -> list[tuple[str, str]]:
    """How far the best block in the entry resembles the question, where the search found one."""
    one = result.found
    if one is None:
        return []
    told = f"L0#{one.block}, rank {result.found_rank}: meaning {one.meaning:+.2f}, words {one.words:.0%}"
    told += f", similar words {one.similar:+.1f}σ"
    return [("resembles the question", told)]


def _steered(result: Steered) -> str:
    node, branch = result.node, _branched(result)
    if result.released:
        freed = {"pin": "unpinned: it may collapse again", "forbid": "released: it may expand again"}
        return f"{node} {freed.get(result.word, 'will be left alone at the next refocus')}{branch}"
    if result.in_tail and result.word in ("expand", "collapse"):
        return (
            f"{node} is part of the tail, which stays tokens: "
            f"it can {result.word} only once it has left the tail{branch}"
        )
    told = {
        "pin": f"{node} pinned: it will not collapse",
        "forbid": f"{node} forbidden: it will not expand",
        "expand": f"Will expand {node} at the next refocus",
        "collapse": f"Will collapse into {node} at the next refocus",
    }
    return told[result.word] + branch


def _branched(result: Steered | SettingChanged) -> str:
    view = result.view
    return "" if len(view.branches) < 2 else f" · on branch {view.branch}"


@entry(figure=with_view, sentence=_steered)
def steered(result: Steered) -> ResultTable:
    heard = "from the next refocus on"
    if result.word in ("expand", "collapse"):
        heard = "none while it is in the tail" if result.in_tail and not result.released else "at the next refocus"
    return facts(
        _steered(result),
        [("node", result.node), ("effect", heard), ("branch", result.view.branch), ("step", result.view.step)],
    )


def _measured(result: Measured) -> str:
    found = result.measurement
    return (
        f"{found.node}: detail is worth {with_sign(found.gain)} ± {found.error:.2f} nats per token "
        f"over {found.horizon} tokens"
    )


@entry(figure=with_view, sentence=_measured)
def measured(result: Measured) -> ResultTable:
    found = result.measurement
    return facts(
        _measured(result),
        [
            ("gain", f"{found.gain:+.4f} ± {found.error:.4f} nats a token"),
            ("NLL fine / coarse", f"{found.nll_fine:.4f} / {found.nll_coarse:.4f}"),
            ("the gist saves", f"{with_sign(found.saved)} nats a token" if found.saved is not None else None),
            ("over", f"{found.horizon} tokens"),
            ("step", found.step),
        ],
    )


def _gists_measured(result: GistsMeasured) -> str:
    share = result.carried.share()
    if share is None:
        return "What follows is as easy with gists of elsewhere as with the text: nothing can be said of the gists"
    middle, low, high = share
    before = result.carried.unpolished
    was = None if before is None else before.share()
    return (
        f"The gists carry {middle:.0%} of what their blocks tell the model ({low:.0%} to {high:.0%}, 95 %, "
        f"{len(result.carried.windows)} places)"
        + ("" if was is None else f", {was[0]:.0%} ({was[1]:.0%} to {was[2]:.0%}) before they were polished")
    )


@entry(figure=with_view, sentence=_gists_measured)
def gists_measured(result: GistsMeasured) -> ResultTable:
    found = result.carried
    tokens, own, elsewhere = found.nats
    middle, low, high = found.content()
    before = found.unpolished
    columns = "first_block:id tokens own_gists gists_of_elsewhere"
    rows: list[tuple[float, ...]] = [(each.tokens, each.own, each.elsewhere) for each in found.windows]
    notes = [
        f"Nats a token of what follows: {tokens:.2f} with the tokens, {own:.2f} with the blocks' own gists, "
        f"{elsewhere:.2f} with gists of another place, which tell the kind of text. Own gists are better by "
        f"{middle:.2f} ({low:.2f} to {high:.2f})."
    ]
    if before is not None:
        columns += " own_before:n elsewhere_before:n polished:n"
        rows = [
            (*row, was.own, was.elsewhere, each.polished)
            for row, was, each in zip(rows, before.windows, found.windows, strict=True)
        ]
        _, own, elsewhere = before.nats
        middle, low, high = found.changed()
        notes.append(
            f"Before they were polished: {own:.2f} with the blocks' own gists, {elsewhere:.2f} with gists of another "
            f"place. Polishing changed the first by {middle:+.3f} ({low:+.3f} to {high:+.3f}); below 0 is better."
        )
    told = ([f"{cell:.2f}" if isinstance(cell, float) else cell for cell in row] for row in rows)
    nodes = (str(each.node) for each in found.windows)
    return sheet(_gists_measured(result), columns, ((node, *row) for node, row in zip(nodes, told, strict=True)), notes)


def _changed(result: SettingChanged) -> str:
    return f"{result.key} is now {result.after} (was {result.before}){_branched(result)}"


@entry(figure=with_view, sentence=_changed)
def setting_changed(result: SettingChanged) -> ResultTable:
    return facts(
        _changed(result), [("before", result.before), ("branch", result.view.branch), ("from step", result.view.step)]
    )

"""The live working context: the level-of-detail map, why an entry is as it is, and what is being decoded."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from rich.text import Text

from amgs.text.plural import plural
from amgs_app.focus.figure_inspector import inspect
from amgs_app.focus.figure_tokens import draw_tokens, token_lines
from amgs_app.render.canvas import Canvas, Figure, Piece, Region, clean, cut, ink, width_of
from amgs_app.render.empty_state import notice
from amgs_app.render.format import count, milliseconds, share, signed
from amgs_app.render.glyphs import HeaderPart, facts_line, gauge_pieces, wrap
from amgs_app.render.level_columns import Axis, columns, offset_for
from amgs_app.render.level_map import GUTTER, column_note, draw_map, plan_rows
from amgs_app.render.sentences import UNTRAINED, WARNING, unheld
from amgs_focus.records import TokenSpan
from amgs_focus.views import ACTION_SIGNS, REASON_LETTERS, REASON_SENTENCES, EntryExplanation, FocusView

__all__ = ["decoded", "entry_at", "focus", "offset_for", "why"]

_NOT_CHOSEN = "the spans expanded for it were not chosen by what it asks."
NOTHING_ALIKE = f"No block resembles the question: {_NOT_CHOSEN}"
NO_WORD_ALIKE = f"No block shares a word with the question: {_NOT_CHOSEN}"
_BY_RULE = ("illegal_level", "protected_tail")
"""Refusals that no score could have changed: listed last."""
_EMPTY = (
    "No working context yet",
    ("frame assemble SESSION --query “…”", "frame open", "focus step 32"),
    "A frame becomes the lifetime of the frozen model. "
    "While it decodes, what matters is expanded to tokens and the rest is held as gists.",
)


def focus(
    view: FocusView | None,
    canvas: Canvas,
    *,
    axis: Axis = "lifetime",
    zoom: float = 1.0,
    offset: int = 0,
    selected: int | None = None,
    why: EntryExplanation | None = None,
    titles: Mapping[str, str] | None = None,
    tokens: TokenSpan | None = None,
) -> Text:
    """Header, map, and below it the inspector beside the decoded text.

    selected: index into view.entries. zoom: from 1. offset: see offset_for. titles:
    by block id. tokens: the text of those in sight, once they are few.
    """
    if view is None or not view.entries:
        return notice(canvas, *_EMPTY)
    sheet = Figure(canvas)
    names = titles or {}
    _head(sheet, view)
    top = 1
    if sheet.height >= SENTENCE_FROM:
        sheet.put(1, 1, what_is_read(view, sheet.width - 2), ink(sheet.palette.text), width=sheet.width - 2)
        top = 2
    below = _below(sheet.height)
    room = sheet.height - top - 1 - below
    lines = token_lines(sheet, view, tokens, selected) if tokens is not None else []
    read = min(len(lines), max(0, room - 4))
    rows = plan_rows(view, room - read)
    field = sheet.part(0, top + 1, None, rows.total)
    cut_up = draw_map(field, view, axis=axis, zoom=zoom, offset=offset, selected=selected, titles=names, rows=rows)
    zoomed = f" · zoom {zoom:,.0f}×" if zoom > 1 else ""
    question = f"“{clean(view.question)}”" if view.question else f"{plural(len(view.entries), 'entry', 'entries')}"
    note = f"{axis} · {column_note(cut_up, axis)}{zoomed}"
    sheet.rule(top, cut(question, sheet.width - width_of(note) - 12) if sheet.width >= 60 else question, note)
    if read:
        draw_tokens(sheet.part(0, top + 1 + rows.total, None, read), lines)
    bottom = sheet.part(0, top + 1 + rows.total + read)
    if bottom.height >= 2:
        _bottom(bottom, view, why, selected, names)
    return sheet.render()


def why(explanation: EntryExplanation | None, canvas: Canvas, *, titles: Mapping[str, str] | None = None) -> Text:
    """Everything behind one entry."""
    sheet = Figure(canvas)
    inspect(sheet, explanation, None, titles or {})
    return sheet.render()


def decoded(view: FocusView | None, canvas: Canvas) -> Text:
    """The question and what has been decoded since."""
    if view is None:
        return notice(canvas, *_EMPTY)
    sheet = Figure(canvas)
    _decoded(sheet, view)
    return sheet.render()


def entry_at(
    view: FocusView, canvas: Canvas, x: int, *, axis: Axis = "lifetime", zoom: float = 1.0, offset: int = 0
) -> int | None:
    """The index of the entry that column x of the picture shows (the finest in it); None in the margin."""
    place = x - GUTTER
    width = canvas.width - GUTTER
    if not view.entries or not 0 <= place < width:
        return None
    cut_up = columns(view, width, axis, zoom, offset)
    if place >= cut_up.width:
        return None
    here = range(int(cut_up.first[place]), int(cut_up.last[place]))
    return min(here, key=lambda index: (view.entries[index].level, index))


SENTENCE_FROM = 12
"""Lines from which a sentence above the map says what it shows."""


def what_is_read(view: FocusView, width: int) -> str:
    """What the model has before it, in a sentence of at most so many cells: from the end backwards where it falls into
    few stretches, else summed up.
    """
    tokens = np.array([entry.end - entry.start for entry in view.entries], np.int64)
    levels = np.array([entry.level for entry in view.entries], np.int64)
    whole, rest = int(tokens[levels == 0].sum()), int(tokens[levels > 0].sum())
    gists = int((levels > 0).sum())
    read = f"The model reads {plural(view.used, 'position')}"
    summed = f"{count(whole)} of {plural(whole + rest, 'token')} word for word"
    summed += f", {count(rest)} as {plural(gists, 'gist')}" if gists else ""
    told = [f"{read}: {summed}.", f"Reads {count(view.used)}: {summed}."]
    told.append(f"Reads {count(view.used)}: {count(whole)} tokens word for word, {plural(gists, 'gist')}.")
    ends = np.flatnonzero(np.diff(levels)) + 1
    if len(ends) < MOST_STRETCHES and levels[-1] == 0:
        parts = [np.split(each, ends)[::-1] for each in (tokens, levels)]
        stretches = [
            _stretch(int(level[0]), int(size.sum()), len(level), last=place == 0)
            for place, (size, level) in enumerate(zip(*parts, strict=True))
        ]
        told.insert(0, f"{read}: {', '.join(stretches)}.")
    return next((one for one in told if width_of(one) <= width), told[-1])


MOST_STRETCHES = 4
"""Stretches of one level that a sentence can tell one by one."""


def _stretch(level: int, tokens: int, entries: int, *, last: bool) -> str:
    if last:
        return f"the last {plural(tokens, 'token')} word for word"
    how = "word for word" if level == 0 else f"as {plural(entries, 'gist')}"
    return f"{count(tokens)} before them {how}"


INSPECTED = 11
"""Lines in which the inspector has one for each part of a score."""


def _below(height: int) -> int:
    """Lines for the inspector and the decoded text."""
    if height < 10:
        return 0
    if height < 20:
        return max(3, height // 3)
    return max(min(INSPECTED, height // 2), min(height * 2 // 5, height - 27))


# --- head -------------------------------------------------------------------------------------------------


def _head(sheet: Figure, view: FocusView) -> None:
    palette = sheet.palette
    muted, plain = ink(palette.muted), ink(palette.text, bold=True)
    full = view.budget_utilization
    colour = palette.bad if full > 1 else palette.accent
    dirty: tuple[Piece, ...] = (("dirty ", muted), (str(view.dirty), plain))
    if view.predicted_ms > 0:
        dirty += ((f" ≈ {milliseconds(view.predicted_ms)}", muted),)
    due = "now" if view.next_refocus_in == 0 else f"in {view.next_refocus_in}"
    live: tuple[Piece, ...] = (("● live", ink(palette.good, bold=True)),)
    if view.finished and view.live:
        live = (("■ finished", ink(palette.good, bold=True)),)
    elif not view.live:
        live = ((f"◂ step {count(view.position)} of {count(view.head)}", ink(palette.warn, bold=True)),)
    facts_line(
        sheet,
        0,
        [
            HeaderPart(2, (("life ", muted), (f"{count(view.lifetime)}", plain), (" tok", muted))),
            HeaderPart(3, (("step ", muted), (count(view.step), plain))),
            HeaderPart(
                0,
                (
                    ("W ", muted),
                    (f"{count(view.used)}/{count(view.window)} ", plain),
                    *gauge_pieces(full, 10, sheet.symbols, ink(colour), ink(palette.faint)),
                    (f" {full:.0%}", muted),
                ),
            ),
            HeaderPart(4, (("refocus ", muted), (due, plain))),
            HeaderPart(5, dirty),
            HeaderPart(6, (("swap ", muted), (share(view.swap_rate), plain))),
            HeaderPart(7, (("residency ", muted), (f"{view.mean_residency:.1f}", plain))),
            HeaderPart(8, (("entries ", muted), (count(len(view.entries)), plain))),
            HeaderPart(10, ((f"{clean(view.model)} {view.precision}", muted),)),
            HeaderPart(11, ((f"gist {clean(view.gist)}, scores {clean(view.scorer)}", muted),)),
            *([HeaderPart(1, ((UNTRAINED, ink(palette.warn)),))] if view.untrained else []),
            HeaderPart(1, live),
        ],
    )


# --- below the map ----------------------------------------------------------------------------------------


def _bottom(
    region: Region,
    view: FocusView,
    explanation: EntryExplanation | None,
    selected: int | None,
    names: Mapping[str, str],
) -> None:
    if region.height < 6 and region.width < 100:
        _decoded(region, view)
    elif region.width >= 150:
        third = region.width // 3
        inspect(region.part(0, 0, third), explanation, selected, names)
        _decisions(region.part(third + 1, 0, third), view, names)
        _decoded(region.part(2 * third + 2, 0), view)
    elif region.width >= 72:
        left = region.width * 11 // 20
        inspect(region.part(0, 0, left), explanation, selected, names)
        right = region.part(left + 2, 0)
        said = len(wrap(view.text, right.width - 3, 200)) + 4
        lower = right.height - max(7, min(said, right.height // 2)) if right.height >= 14 else 0
        _decoded(right.part(0, 0, None, right.height - lower), view)
        if lower:
            _decisions(right.part(0, right.height - lower), view, names)
    else:
        lines = max(3, region.height // 3)
        inspect(region.part(0, 0, None, region.height - lines), explanation, selected, names)
        _decoded(region.part(0, region.height - lines), view)


def _decisions(region: Region, view: FocusView, names: Mapping[str, str]) -> None:
    """The last refocus: what was done, then what was refused and why, the strongest scores first."""
    palette = region.palette
    muted = ink(palette.muted)
    done = sum(decision.applied for decision in view.decisions)
    refused = sum(one.reason not in ("applied", "below_threshold") for one in view.decisions)
    region.rule(0, "last refocus", f"{done} done, {refused} refused")
    ranked = sorted(
        (one for one in view.decisions if one.reason != "below_threshold"),
        key=lambda one: (not one.applied, one.reason in _BY_RULE, -abs(one.score), one.level, one.index),
    )
    top = 1
    nothing = NO_WORD_ALIKE if view.question_likelihood is None else NOTHING_ALIKE
    told = [(nothing, 2)] if view.unanswered else []
    told += [(WARNING, 4)] if view.untrained else []
    told += [(unheld(view), 3)] if view.unheld else []
    for words, lines in told:
        for warning in wrap(words, max(8, region.width - 2), lines):
            region.put(1, top, warning, ink(palette.warn), width=region.width - 2)
            top += 1
    if not ranked:
        region.put(1, top, "No score reached a threshold; nothing was refused.", muted, width=region.width - 2)
    for row, one in enumerate(ranked[: max(0, region.height - top)], start=top):
        sign, colour = (ACTION_SIGNS[one.kind], palette.heat_low if one.kind == "collapse" else palette.heat_high)
        line: list[Piece] = [
            (
                sign if one.applied else REASON_LETTERS[one.reason],
                ink(colour if one.applied else palette.warn, bold=True),
            ),
            (f" {one.node!s:<8} ", ink(palette.text)),
            (f"{signed(one.score)} ", ink(colour)),
        ]
        if one.applied:
            line.append((f"{one.cost:+d} tok ".replace("-", "−"), ink(palette.text)))
        else:
            line.append((f"no {one.kind}: {one.detail or REASON_SENTENCES[one.reason]} ", muted))
        source = next((span for span in view.sources if span.start < one.end and span.end > one.start), None)
        if source is not None and one.applied:
            line.append((clean(names.get(source.source or "", "") or source.label), muted))
        region.pieces(1, row, line, width=region.width - 2)


def _decoded(region: Region, view: FocusView) -> None:
    """The question, then the end of what was decoded with a cursor behind it."""
    palette = region.palette
    region.rule(0, "decoded", f"{plural(view.step, 'token')}")
    width = max(8, region.width - 2)
    room = region.height - 1
    y = 1
    if view.question and room >= 4:
        for line in wrap(clean(view.question), width - 2, 2):
            region.put(1, y, "› " if y == 1 else "  ", ink(palette.accent))
            region.put(3, y, line, ink(palette.muted))
            y += 1
    room = region.height - y
    lines = wrap(view.text, width - 1, 10_000)[-room:] if view.text.strip() and room > 0 else [""]
    for line in lines:
        x = region.put(1, y, line, ink(palette.text))
        y += 1
    if room > 0:
        region.put(x, y - 1, "■" if view.finished else "▌", ink(palette.accent))

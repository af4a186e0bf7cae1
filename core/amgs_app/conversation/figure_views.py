"""What stands beside the spans of a conversation: what survives of each class of words, and other results as lines."""

from __future__ import annotations

from rich.text import Text

from amgs.text.plural import plural
from amgs.types.conversation_views import ClassSurvival, ConversationSurvival
from amgs_app.render.canvas import Canvas, Figure, Region, clean, ink
from amgs_app.render.format import count
from amgs_app.render.sheet import ResultTable, to_lines

_BAR = 20
"""Cells of the bar of a class."""


def survival(result: ConversationSurvival, canvas: Canvas) -> Text:
    """What of each class of words stands in a context, is one handle away, or lost."""
    sheet = Figure(canvas)
    draw_survival(sheet, result)
    return sheet.render()


def draw_survival(region: Region, result: ConversationSurvival) -> None:
    """A line for each class, those of which least stands in the context first."""
    if region.height < 2:
        return
    palette = region.palette
    quiet, plain = ink(palette.muted), ink(palette.text)
    region.rule(0, f"Survival: {result.verdict}", clean(result.of), strong=True)
    classes = sorted(result.classes, key=lambda one: one.in_window / one.there if one.there else 0.0)
    room = region.height - 1
    shown = classes if len(classes) <= room else classes[: max(0, room - 1)]
    kind_w = max([5, *(len(one.kind) for one in classes)])
    bar_x = 1 + kind_w + 14
    bar_w = _BAR if region.width >= 70 else 10
    for y, one in enumerate(shown, start=1):
        region.put(1, y, one.kind, plain, width=kind_w)
        told = f"{count(one.in_window)} of {count(one.there)}"
        region.put(1 + kind_w, y, told, plain, width=13, align="right")
        x = _bar(region, bar_x, y, bar_w, one)
        words = []
        if one.one_handle_away:
            words.append(f"{count(one.one_handle_away)} by handle")
        if one.lost:
            words.append(f"{count(one.lost)} lost")
        if one.invented:
            words.append(f"invented: {', '.join(map(clean, one.invented))}")
        x = region.put(x + 1, y, " · ".join(words), ink(palette.bad if one.lost or one.invented else palette.warn))
        missing = ", ".join(f"{clean(value)} {where}" for value, where in one.missing)
        region.put(x + 2, y, missing, quiet, width=max(0, region.width - x - 3))
    if len(shown) < len(classes):
        hidden = plural(len(classes) - len(shown), "more class", "more classes")
        region.put(1, room, f"… {hidden}, of which more stands here", quiet)


def _bar(region: Region, x: int, y: int, width: int, one: ClassSurvival) -> int:
    """The shares that stand in the context, are one handle away, and are lost; what there is of has a cell at least."""
    palette = region.palette
    parts = [
        (one.in_window, "█", ink(palette.good)),
        (one.one_handle_away, "▒", ink(palette.warn)),
        (one.lost, "·", ink(palette.bad)),
    ]
    total = max(1, sum(size for size, _, _ in parts))
    cells = [max(size > 0, round(width * size / total)) for size, _, _ in parts]
    cells[max(range(3), key=cells.__getitem__)] += width - sum(cells)
    at = x
    for (_, sign, style), wide in zip(parts, cells, strict=True):
        region.fill(at, y, wide, sign, style)
        at += wide
    return x + width


def draw_table(region: Region, table: ResultTable) -> None:
    """As many lines of a table as there is room for."""
    if region.height < 2:
        return
    palette = region.palette
    region.rule(0, clean(table.title), strong=True)
    lines = to_lines(ResultTable("", table.columns, table.rows, table.notes, table.digest), region.width - 2)
    room = region.height - 1
    for y, line in enumerate(lines[:room], start=1):
        region.put(1, y, line.plain, ink(palette.muted if y == 1 else palette.text), width=region.width - 2)
    if len(lines) > room:
        region.fill(0, room, region.width, " ")
        region.put(1, room, f"… {len(lines) - room + 1:,} more", ink(palette.muted))

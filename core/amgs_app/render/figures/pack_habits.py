"""Habits of reading: which pack is read after which, and which are read together far more often than by chance."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from amgs.text.plural import plural
from amgs.types.packs import PackHabits, PackSequence, PackSet
from amgs_app.render.figures.canvas import Canvas, Figure, Region, clean, ink, width_of
from amgs_app.render.figures.empty_state import notice_in
from amgs_app.render.figures.format import count, share
from amgs_app.render.figures.glyphs import bar
from amgs_app.render.figures.list_page import ListPage

_NAME = 20
"""Cells of a name at most."""


def habits(result: PackHabits, canvas: Canvas) -> Text:
    """All habits."""
    sheet = Figure(canvas)
    draw_habits(sheet, result)
    return sheet.render()


def draw_habits(region: Region, result: PackHabits, chosen: str = "") -> None:
    """What is read next, with how often that is so after any pack, then what is read together. chosen: a pack whose
    habits come first and stand out.
    """
    if region.height < 2:
        return
    region.rule(0, "Read one after another", plural(result.sessions, "session"), strong=True)
    body = region.part(0, 1)
    if not result.sequences and not result.sets:
        words = "Give what is read for one task the same session, and what is read after what shows here."
        if result.sessions:
            words = f"In none of {plural(result.sessions, 'session')} two packs were read. {words}"
        notice_in(body, "No habit yet", ("pack use NAME “a question” --session TASK",), words)
        return
    sets_high = min(len(result.sets) or 1, max(1, body.height // 3)) + 1
    sets_high = sets_high if body.height >= 6 else 0
    rows = sorted(result.sequences, key=lambda one: (chosen != one.before, chosen != one.after))
    shown = min(len(rows) + 1, body.height - sets_high)
    _sequences(body.part(0, 0, None, shown), rows, chosen)
    if sets_high:
        _sets(body.part(0, shown), result.sets, chosen)


def _sequences(region: Region, rows: Sequence[PackSequence], chosen: str) -> None:
    palette = region.palette
    quiet = ink(palette.muted)
    page = ListPage.around(rows, region.height - 1, None)
    widest = max([4, *(width_of(clean(name)) for one in rows for name in (one.before, one.after))])
    name_w = max(4, min(_NAME, widest, (region.width - 30) // 2))
    next_x = 1 + name_w + 3
    times_x = next_x + name_w + 1
    x = times_x + 6
    cells = max(0, min(24, region.width - x - 4 - 8))
    region.put(1, 0, "read", quiet)
    region.put(next_x, 0, "next", quiet)
    region.put(times_x, 0, "times", quiet, width=5, align="right")
    region.put(x, 0, "likely", quiet)
    region.put(x + 4 + cells, 0, "usual", quiet, width=7, align="right")
    if page.note and region.width - width_of(page.note) - 1 > x + 4 + cells + 8:
        region.put(region.width - width_of(page.note) - 1, 0, page.note, quiet)
    for y, one in enumerate(page.rows, start=1):
        here = chosen in (one.before, one.after)
        name = ink(palette.text, bold=here) if here or not chosen else quiet
        region.put(1, y, clean(one.before), name, width=name_w)
        region.put(1 + name_w + 1, y, "→", ink(palette.accent))
        region.put(next_x, y, clean(one.after), name, width=name_w)
        region.put(times_x, y, count(one.times), quiet, width=5, align="right")
        end = region.put(x, y, share(one.likely), ink(palette.text, bold=here), width=4)
        region.put(end, y, bar(one.likely, cells, region.symbols), ink(palette.heat_high))
        region.put(end + cells, y, share(one.usual), quiet, width=7, align="right")


def _sets(region: Region, sets: Sequence[PackSet], chosen: str) -> None:
    palette = region.palette
    quiet = ink(palette.muted)
    region.rule(0, "Read together", "pack propose offers one pack of them" if sets else "")
    if not sets:
        words = "No packs are read together far more often than by chance."
        region.put(1, 1, words, quiet, width=region.width - 2)
        return
    ordered = sorted(sets, key=lambda one: chosen not in one.names)
    room = region.height - 1
    for y, one in enumerate(ordered[:room], start=1):
        told = f"{plural(one.sessions, 'session')} · {one.lift:.1f} × chance"
        at = max(1, region.width - width_of(told) - 1)
        here = chosen in one.names
        names = clean(" + ".join(one.names))
        region.put(1, y, names, ink(palette.text, bold=here), width=at - 3)
        region.put(at, y, told, quiet)
    if len(ordered) > room > 0:
        told = f"{len(ordered) - room} more"
        region.put(region.width - width_of(told) - 1, room, told, quiet)

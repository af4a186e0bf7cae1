"""Packs: what is kept, how likely each is needed, and the members of one with their texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rich.text import Text

from amgs.text.plural import plural
from amgs.types import Block
from amgs.wings.packs.values import Pack, PackContent, PackRole, PackUsage
from amgs_app.render.block_card import content_lines
from amgs_app.render.canvas import Align, Canvas, Figure, Region, clean, cut, ink, width_of
from amgs_app.render.empty_state import notice
from amgs_app.render.format import ago, count, day, share, title_told
from amgs_app.render.glyphs import HeaderPart, ListPage, bar, facts_line, verdict_sign
from amgs_app.views.packs.results import PackList

ROLE_SIGNS: Final[dict[PackRole, str]] = {"source": "○", "learning": "◆"}
NO_PACK: Final = "A pack keeps what answered a question once, to be read again for the next."
KEEP_FIRST: Final = ":pack keep NAME “a question”"
_BESIDE = 120
"""From this width on what a pack holds stands beside the list."""
_BAR = 6

Beside = Callable[[Region], None]


@dataclass(frozen=True, slots=True)
class PackMemberRow:
    """A member as it is listed: a block with its role."""

    block: Block
    role: PackRole

    @property
    def origins(self) -> int:
        """Of how many blocks a learning was made."""
        made_of = self.block.meta.get("derived_from")
        return len(made_of) if self.role == "learning" and isinstance(made_of, list | tuple) else 0


def named(pack: Pack) -> str:
    """`dome@2`."""
    return f"{pack.name}@{pack.version}"


def members_of(content: PackContent) -> tuple[PackMemberRow, ...]:
    """The members that are held, the learnings first, as a reading writes them."""
    role = {one.block: one.role for one in content.usage.pack.members}
    rows = [PackMemberRow(block, role[block.id]) for block in content.blocks]
    return tuple(sorted(rows, key=lambda one: one.role == "source"))


def packs(result: PackList, canvas: Canvas, *, rows: Sequence[PackUsage] | None = None) -> Text:
    """The packs with how likely each is needed. rows: those that are listed; None for all."""
    if not result.packs:
        return notice(canvas, "No pack yet", (KEEP_FIRST.lstrip(":"),), NO_PACK)
    return packs_figure(result, canvas, rows=rows).render()


def content(result: PackContent, canvas: Canvas) -> Text:
    """A pack with its members, and the text of the first."""
    return members_figure(result, members_of(result), canvas, cursor=0).render()


def packs_figure(
    result: PackList,
    canvas: Canvas,
    *,
    rows: Sequence[PackUsage] | None = None,
    cursor: int | None = None,
    now: datetime | None = None,
    beside: Beside | None = None,
) -> Figure:
    """The list before it is rendered: it knows which pack each line shows. beside: draws what stands in the rest."""
    sheet = Figure(canvas)
    palette = sheet.palette
    listed = result.packs if rows is None else rows
    read = sum(one.uses for one in result.packs)
    tokens = sum(one.pack.tokens for one in result.packs)
    facts = [
        HeaderPart(0, ((plural(len(result.packs), "pack"), ink(palette.accent, bold=True)),)),
        HeaderPart(2, ((f"{count(tokens)} tok", ink(palette.text)),)),
        HeaderPart(3, ((f"read {plural(read, 'time')}", ink(palette.text)),)),
        HeaderPart(1, (("needed within 30 days", ink(palette.muted)),)),
    ]
    if result.keep is not None:
        going = sum(one.forget for one in result.packs)
        told = f"{plural(going, 'pack')} would go for {count(result.keep)} tok"
        facts.append(HeaderPart(1, ((told, ink(palette.warn)),)))
    facts_line(sheet, 0, facts, x=1)
    top, rest = beside_or_below(sheet.part(0, 1), len(listed) + 1, beside is not None)
    _list(top, listed, cursor, now)
    if beside is not None and rest is not None:
        beside(rest)
    return sheet


def beside_or_below(body: Region, lines: int, divided: bool) -> tuple[Region, Region | None]:
    """Where a list of so many lines stands, and the rest: beside it or below; None where there is no room."""
    if not divided or body.height < 8:
        return body, None
    if body.width >= _BESIDE and body.height >= 10:
        left = body.width // 2
        return body.part(0, 0, left), body.part(left + 2, 0)
    high = max(4, min(lines, body.height * 2 // 5))
    return body.part(0, 0, None, high), body.part(0, high)


@dataclass(frozen=True, slots=True)
class _Column:
    """rank: the higher, the sooner it goes where the line is narrow."""

    rank: int
    head: str
    width: int
    align: Align = "right"


def _columns(room: int, named_in: int) -> list[_Column]:
    every = [
        _Column(0, "pack", named_in, "left"),
        _Column(5, "members", 7),
        _Column(3, "tok", 6),
        _Column(2, "read", 4),
        _Column(6, "useful", 6),
        _Column(7, "last", 11),
        _Column(0, "needed", 4 + _BAR, "left"),
        _Column(4, "keywords", 16, "left"),
    ]
    while len(every) > 2 and sum(one.width + 2 for one in every) > room:
        every.remove(max(every, key=lambda one: one.rank))
    return every


def _list(region: Region, rows: Sequence[PackUsage], cursor: int | None, now: datetime | None) -> None:
    if region.height < 1:
        return
    palette = region.palette
    quiet, plain = ink(palette.muted), ink(palette.text)
    page = ListPage.around(rows, region.height - 1, cursor)
    wide = min(24, max([4, *(width_of(clean(named(one.pack))) for one in rows)]))
    columns = _columns(region.width - 2, wide)
    x = 2
    for one in columns:
        region.put(x, 0, one.head, quiet, width=one.width, align=one.align)
        x += one.width + 2
    if page.note:
        region.put(region.width - width_of(page.note) - 1, 0, page.note, quiet)
    if not rows and region.height > 1:
        region.put(2, 1, "No pack matches the filter.", quiet)

    def paint(line: Region, usage: PackUsage, chosen: bool) -> None:
        pack, gone = usage.pack, usage.forget
        learnt = sum(one.role == "learning" for one in pack.members)
        told = {
            "members": f"{len(pack.members)}" + (f" {ROLE_SIGNS['learning']}{learnt}" if learnt else ""),
            "tok": count(pack.tokens),
            "read": str(usage.uses) if usage.uses else "·",
            "useful": f"{usage.success:.0%}" if usage.success is not None else "·",
            "last": "·" if usage.last_used is None else ago(usage.last_used, now) if now else day(usage.last_used),
            "keywords": clean("retired" if pack.retired else "would go" if gone else " ".join(pack.keywords)),
        }
        x = 2
        for column in columns:
            room = column.width if column is not columns[-1] else line.width - x
            if column.head == "pack":
                line.put(x, 0, clean(named(pack)), ink(palette.text, bold=chosen), width=room)
            elif column.head == "needed":
                end = line.put(x, 0, share(usage.needed), ink(palette.text, bold=True), width=4)
                line.put(end, 0, bar(usage.needed, _BAR, line.symbols), ink(palette.heat_high))
            else:
                style = ink(palette.warn) if gone and column.head == "keywords" else quiet
                style = plain if column.head in ("members", "tok", "read") else style
                line.put(x, 0, told[column.head], style, width=room, align=column.align)
            x += column.width + 2

    page.draw(region.part(0, 1), paint)


# --- one pack ---------------------------------------------------------------------------------------------


def draw_content(region: Region, result: PackContent, now: datetime) -> None:
    """A pack beside the list: what it was kept from, what it is worth, its members, and its readings."""
    if region.height < 2:
        return
    rows = members_of(result)
    y = _about(region, result)
    room = region.height - y
    readings = min(len(result.readings), 10, room // 3)
    listed = min(len(rows) + 1, max(2, (room - readings) * 2 // 3))
    _members(region.part(0, y, None, listed), rows, None)
    if readings:
        _readings(region.part(0, y + listed, None, readings + 1), result, now)
        y += readings + 1
    if rows:
        _text(region.part(0, y + listed), rows[0])


def _readings(region: Region, result: PackContent, now: datetime) -> None:
    """When a pack was read, for what, and whether that was useful; the newest first."""
    palette = region.palette
    quiet = ink(palette.muted)
    waiting = sum(one.outcome is None for one in result.readings)
    region.rule(0, plural(len(result.readings), "reading"), f"{waiting} not judged")
    for y, one in enumerate(result.readings[: region.height - 1], start=1):
        sign, style = verdict_sign(one.outcome, palette)
        x = region.put(1, y, sign, style) + 1
        x = region.put(x, y, ago(one.at, now), quiet, width=10, align="right") + 1
        x = region.put(x, y, f"{count(one.tokens)} tok", quiet, width=10, align="right") + 2
        told = " · ".join(part for part in (one.session, one.query) if part)
        region.put(x, y, clean(told) or "no question", ink(palette.text), width=region.width - x - 1)


def _about(region: Region, result: PackContent) -> int:
    """The rule with its name, and up to five lines about it; gives how many lines are taken."""
    palette, pack, usage = region.palette, result.usage.pack, result.usage
    quiet = ink(palette.muted)
    retired = "retired" if pack.retired else plural(len(result.versions), "version")
    region.rule(0, clean(f"{named(pack)} {pack.title}"), retired, strong=True)
    lines = []
    if pack.query:
        lines.append(f"kept from {pack.frame} for “{pack.query}”")
    if pack.keywords:
        lines.append(f"keywords {' '.join(pack.keywords)}")
    judged = f", {usage.success:.0%} of {usage.judged} useful" if usage.success is not None else ""
    lines.append(f"read {plural(usage.uses, 'time')}{judged} · needed {share(usage.needed)}")
    if result.links:
        links = (f"{one.count} {one.family} to {one.name}" for one in result.links)
        lines.append(f"links {', '.join(links)}")
    if result.gone:
        lines.append(f"{plural(len(result.gone), 'member')} no longer held")
    shown = lines[: max(0, min(len(lines), region.height - 6))]
    for y, line in enumerate(shown, start=1):
        region.put(1, y, clean(line), quiet, width=region.width - 2)
    return 1 + len(shown)


def members_figure(
    result: PackContent, rows: Sequence[PackMemberRow], canvas: Canvas, *, cursor: int | None = None
) -> Figure:
    """The members of a pack with the text of the chosen one."""
    sheet = Figure(canvas)
    y = _about(sheet, result)
    body = sheet.part(0, y)
    chosen = rows[cursor] if cursor is not None and 0 <= cursor < len(rows) else None
    if body.width >= _BESIDE and body.height >= 8:
        left = body.width * 2 // 5
        _members(body.part(0, 0, left), rows, cursor)
        if chosen is not None:
            _text(body.part(left + 2, 0), chosen)
        return sheet
    listed = body.height if body.height < 7 else max(3, min(len(rows) + 1, body.height // 2))
    _members(body.part(0, 0, None, listed), rows, cursor)
    if chosen is not None:
        _text(body.part(0, listed), chosen)
    return sheet


def _members(region: Region, rows: Sequence[PackMemberRow], cursor: int | None) -> None:
    if region.height < 1:
        return
    palette = region.palette
    quiet = ink(palette.muted)
    page = ListPage.around(rows, region.height - 1, cursor)
    told = {id(one): _role_told(one) for one in rows}
    role_w = max([4, *map(width_of, told.values())])
    category_w = max([8, *(width_of(clean(one.block.category)) for one in rows)])
    wide = region.width >= 64
    title_w = region.width - 2 - role_w - 2 - ((category_w + 2 + 12) if wide else 0)
    x = region.put(2, 0, "role", quiet, width=role_w) + 2
    region.put(x, 0, page.note or "member", quiet, width=title_w)
    if wide:
        region.put(x + title_w + 2, 0, "category", quiet)
        region.put(x + title_w + 2 + category_w, 0, "made", quiet, width=11, align="right")
    if not rows and region.height > 1:
        region.put(2, 1, "None of its members is held any more.", quiet)

    def paint(line: Region, row: PackMemberRow, chosen: bool) -> None:
        colour = palette.good if row.role == "learning" else palette.accent
        x = line.put(2, 0, told[id(row)], ink(colour), width=role_w) + 2
        line.put(x, 0, clean(title_told(row.block)), ink(palette.text, bold=chosen), width=title_w)
        if wide:
            line.put(x + title_w + 2, 0, clean(row.block.category), quiet, width=category_w)
            made = day(row.block.created_at)
            line.put(x + title_w + 2 + category_w, 0, made, quiet, width=11, align="right")

    page.draw(region.part(0, 1), paint)


def _role_told(row: PackMemberRow) -> str:
    told = f"{ROLE_SIGNS[row.role]} {row.role}"
    return f"{told} of {row.origins}" if row.origins else told


def _text(region: Region, row: PackMemberRow) -> None:
    """The text of a member, as much as there is room for."""
    if region.height < 2:
        return
    palette = region.palette
    region.rule(0, cut(clean(row.block.title), max(8, region.width - 24)), row.role)
    for y, line in enumerate(content_lines(row.block.content, region.width - 2, region.height - 1), start=1):
        region.put(1, y, line, ink(palette.text))

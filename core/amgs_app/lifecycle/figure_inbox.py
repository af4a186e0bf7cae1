"""What waits in the inbox: raw blocks, one a line, and the chosen one in full."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.text import Text

from amgs.text.plural import plural
from amgs.types import Block
from amgs_app.render.block_card import content_lines
from amgs_app.render.canvas import Canvas, Figure, Region, clean, cut_middle, ink, width_of
from amgs_app.render.empty_state import notice
from amgs_app.render.format import age, ago, minute, short_id
from amgs_app.render.glyphs import HeaderPart, ListPage, facts_line, window_of

_SOURCE_CELLS = 22
"""Room for the sources beside titles that have the line to themselves."""


def inbox(
    blocks: Sequence[Block],
    canvas: Canvas,
    *,
    now: datetime,
    selected: str | None = None,
    total: int | None = None,
    before: int = 0,
    oldest: datetime | None = None,
) -> Text:
    """The raw blocks, one a line, and the chosen one below in full where there is room.

    total: how many wait, when `blocks` is a part of them; before: how many of them come before it; oldest: when the
    oldest was made.
    """
    if not blocks:
        return notice(
            canvas,
            "The inbox is empty",
            ("ingest --batch DIR", "ingest “a thought to keep”"),
            "Notes arrive here raw. Consolidation gives them a category, entities and edges; until then "
            "they are found by words only.",
        )
    sheet = Figure(canvas)
    palette = sheet.palette
    since = oldest or min(block.created_at for block in blocks)
    facts = [
        HeaderPart(0, ((plural(total or len(blocks), "raw block"), ink(palette.accent, bold=True)),)),
        HeaderPart(1, (("oldest ", ink(palette.muted)), (age(since, now), ink(palette.text)))),
        HeaderPart(
            2, (("found by words only until you ", ink(palette.muted)), ("consolidate", ink(palette.text, bold=True)))
        ),
    ]
    facts_line(sheet, 0, facts, x=1)
    rows = sheet.height - 2
    detail = 0
    if sheet.height >= 16:
        detail = max(min(rows - len(blocks) - 1, rows * 2 // 3), min(9, rows // 3))
    rows -= detail
    place = next((at for at, block in enumerate(blocks) if block.id == selected), None)
    # Pages are counted from the first block of all, wherever the part that is here begins.
    at = None if place is None else before + place
    first = max(0, window_of(total or len(blocks), rows, at, before) - before)
    page = ListPage(blocks[first : first + rows], before + first, total or len(blocks), at)
    _list(sheet.part(0, 1), page, now)
    if page.note and sheet.width >= 70:
        sheet.put(sheet.width - width_of(page.note) - 1, 0, page.note, ink(palette.muted))
    if detail >= 3:
        chosen = blocks[place] if place is not None else page.rows[0]
        _detail(sheet.part(0, 2 + rows), chosen, now)
    return sheet.render()


def _list(region: Region, page: ListPage[Block], now: datetime) -> None:
    """The blocks with their ages, sources and contents."""
    palette = region.palette
    titles = [clean(block.title) for block in page.rows]
    sources = [_source(block) for block in page.rows]
    free = region.width - 1 - 7
    # A column of contents that only repeats the titles leaves its room to them.
    previews = {block.id: _preview(block) for block in page.rows} if region.width >= 70 else {}
    shared = bool(previews) and any(map(_says_more, page.rows))
    most = free * 2 // 5 if shared else free - _SOURCE_CELLS if any(sources) and previews else free
    title_w = max(8, min(max(map(width_of, titles), default=0), most))
    source_w = (
        min(max(map(width_of, sources), default=0), max(0, (free - title_w) * 2 // 5 if shared else free - title_w - 3))
        if region.width >= 70
        else 0
    )
    source_w = source_w if source_w >= 8 else 0
    preview_x = 8 + title_w + 2 + (source_w + 2 if source_w else 0)
    preview_w = region.width - preview_x
    head = ink(palette.muted)
    region.put(1, 0, "age", head, width=6, align="right")
    region.put(8, 0, "title", head)
    if source_w:
        region.put(10 + title_w, 0, "source", head)
    if preview_w >= 12 and shared:
        region.put(preview_x, 0, "content", head)

    def paint(line: Region, block: Block, chosen: bool) -> None:
        line.put(1, 0, age(block.created_at, now), head, width=6, align="right")
        line.put(8, 0, clean(block.title), ink(palette.text, bold=chosen), width=title_w)
        if source_w:
            line.put(10 + title_w, 0, cut_middle(_source(block), source_w), head)
        if preview_w >= 12 and shared:
            line.put(preview_x, 0, previews[block.id], head, width=preview_w)

    page.draw(region.part(0, 1), paint)


def _source(block: Block) -> str:
    return clean(str(block.meta.get("source", "")))


def _preview(block: Block) -> str:
    """The content on one line, without a first line that repeats the title."""
    first, _, rest = block.content.strip().partition("\n")
    repeats = first.lstrip("#>*- ").strip() == block.title and rest.strip()
    return clean(rest if repeats else block.content)


def _says_more(block: Block) -> bool:
    """Whether the content has more than the line that its title was made of."""
    title = clean(block.title).rstrip("…").strip()
    return "\n" in block.content.strip() or not clean(block.content.lstrip("#>*- ")).strip().startswith(title)


def _detail(region: Region, block: Block, now: datetime) -> None:
    palette = region.palette
    source = _source(block)
    region.rule(0, clean(block.title), short_id(block.id), strong=True)
    told = f"{minute(block.created_at)}, {ago(block.created_at, now)}"
    if source:
        told += f"   {cut_middle(source, max(8, region.width - 4 - width_of(told)))}"
    region.put(1, 1, told, ink(palette.muted), width=region.width - 2)
    for row, line in enumerate(content_lines(block.content, region.width - 2, region.height - 2), start=2):
        region.put(1, row, line, ink(palette.text))

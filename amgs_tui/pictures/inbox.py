"""What waits in the inbox, and what consolidation would make of it, as a difference to read before it
happens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from rich.text import Text

from amgs.decay import profile_name
from amgs.model import Block, ConsolidationItem, ConsolidationPlan, Edge
from amgs_tui.pictures.block import content_lines
from amgs_tui.pictures.canvas import Canvas, Piece, Region, Sheet, clean, cut, cut_middle, ink, width_of
from amgs_tui.pictures.marks import Fact, facts_line, gauge_pieces, scroll_note, window_of
from amgs_tui.pictures.notice import notice
from amgs_tui.pictures.words import age, ago, count, half_life, minute, plural, share, short_id


def inbox(
    blocks: Sequence[Block],
    canvas: Canvas,
    *,
    now: datetime,
    selected: str | None = None,
    offset: int = 0,
    tokens: Callable[[str], int] | None = None,
    total: int | None = None,
    before: int = 0,
    oldest: datetime | None = None,
) -> Text:
    """The raw blocks, one a line, and the chosen one below in full where there is room.

    tokens: counts the tokens of a text; without it the column is not drawn. total: how many wait, when
    `blocks` is a part of them; before: how many of them come before it; oldest: when the oldest was made.
    """
    if not blocks:
        return notice(
            canvas,
            "The inbox is empty",
            ("ingest --batch DIR", "ingest “a thought to keep”"),
            "Notes arrive here raw. Consolidation gives them a category, entities and edges; then they can "
            "be found.",
        )
    sheet = Sheet(canvas)
    palette = sheet.palette
    since = oldest or min(block.created_at for block in blocks)
    costs = [tokens(block.content) for block in blocks] if tokens else []
    facts = [
        Fact(0, ((plural(total or len(blocks), "raw block"), ink(palette.accent, bold=True)),)),
        Fact(1, (("oldest ", ink(palette.muted)), (age(since, now), ink(palette.text)))),
        Fact(
            2, (("consolidate", ink(palette.text, bold=True)), (" makes them findable", ink(palette.muted)))
        ),
    ]
    if costs:
        facts.insert(1, Fact(3, ((f"{count(sum(costs))} tok", ink(palette.text)),)))
    facts_line(sheet, 0, facts, x=1)
    rows = sheet.height - 2
    detail = 0
    if sheet.height >= 16:
        detail = max(min(rows - len(blocks) - 1, rows * 2 // 3), min(9, rows // 3))
    rows -= detail
    place = next((at for at, block in enumerate(blocks) if block.id == selected), None)
    first = window_of(len(blocks), rows, place, offset)
    shown = blocks[first : first + rows]
    _list(sheet.part(0, 1), shown, now, selected, costs[first : first + rows])
    note = scroll_note(before + first, len(shown), total or len(blocks))
    if note and sheet.width >= 70:
        sheet.put(sheet.width - width_of(note) - 1, 0, note, ink(palette.muted))
    if detail >= 3:
        chosen = blocks[place] if place is not None else shown[0]
        _detail(sheet.part(0, 2 + rows), chosen, now)
    return sheet.render()


def _list(
    region: Region, blocks: Sequence[Block], now: datetime, selected: str | None, costs: Sequence[int]
) -> None:
    palette = region.palette
    titles = [clean(block.title) for block in blocks]
    sources = [clean(str(block.meta.get("source", ""))) for block in blocks]
    cost_w = 6 if costs else 0
    free = region.width - 1 - 7 - cost_w
    title_w = max(
        8, min(max(map(width_of, titles), default=0), free * 2 // 5 if region.width >= 70 else free)
    )
    source_w = (
        min(max(map(width_of, sources), default=0), max(0, (free - title_w) * 2 // 5))
        if region.width >= 70
        else 0
    )
    source_w = source_w if source_w >= 8 else 0
    preview_x = 8 + title_w + 2 + (source_w + 2 if source_w else 0)
    preview_w = region.width - cost_w - preview_x
    head = ink(palette.faint)
    region.put(1, 0, "age", head, width=5, align="right")
    region.put(8, 0, "title", head)
    if source_w:
        region.put(10 + title_w, 0, "source", head)
    if preview_w >= 12:
        region.put(preview_x, 0, "content", head)
    if costs:
        region.put(region.width - cost_w, 0, "tok", head, width=cost_w, align="right")
    for row, block in enumerate(blocks, start=1):
        chosen = block.id == selected
        region.put(0, row, "▸" if chosen else " ", ink(palette.accent, bold=True))
        region.put(1, row, age(block.created_at, now), ink(palette.muted), width=5, align="right")
        region.put(8, row, titles[row - 1], ink(palette.text, bold=chosen), width=title_w)
        if source_w:
            region.put(10 + title_w, row, cut_middle(sources[row - 1], source_w), ink(palette.muted))
        if preview_w >= 12:
            region.put(preview_x, row, _preview(block), ink(palette.muted), width=preview_w)
        if costs:
            region.put(
                region.width - cost_w,
                row,
                str(costs[row - 1]),
                ink(palette.text),
                width=cost_w,
                align="right",
            )
        if chosen:
            region.shade(row, palette.selection)


def _preview(block: Block) -> str:
    """The content on one line, without a first line that repeats the title."""
    first, _, rest = block.content.strip().partition("\n")
    repeats = first.lstrip("#>*- ").strip() == block.title and rest.strip()
    return clean(rest if repeats else block.content)


def _detail(region: Region, block: Block, now: datetime) -> None:
    palette = region.palette
    source = clean(str(block.meta.get("source", "")))
    region.rule(0, clean(block.title), short_id(block.id), strong=True)
    told = f"{minute(block.created_at)}, {ago(block.created_at, now)}"
    if source:
        told += f"   {cut_middle(source, max(8, region.width - 4 - width_of(told)))}"
    region.put(1, 1, told, ink(palette.muted), width=region.width - 2)
    for row, line in enumerate(content_lines(block.content, region.width - 2, region.height - 2), start=2):
        region.put(1, row, line, ink(palette.text))


# --- the plan ---------------------------------------------------------------------------------------------


def plan(
    result: ConsolidationPlan | None,
    canvas: Canvas,
    *,
    selected: str | None = None,
    offset: int = 0,
    titles: Mapping[str, str] | None = None,
) -> Text:
    """A consolidation plan as a difference: what each raw block becomes, with how sure and because of what.

    selected: the id of a block of the plan. offset: in blocks. titles: by block id, for the far ends of
    edges.
    """
    if result is None or not result.items:
        return notice(
            canvas,
            "Nothing to consolidate",
            ("ingest --batch DIR", "inbox list"),
            "No raw block waits. What is ingested next appears here with a proposal.",
        )
    sheet = Sheet(canvas)
    names = {item.block.id: clean(item.block.title) for item in result.items} | dict(titles or {})
    _plan_head(sheet, result)
    place = next((at for at, item in enumerate(result.items) if item.block.id == selected), None)
    rows = sheet.height - 2
    heights = [_item_height(item, sheet.width) for item in result.items]
    first = min(max(0, offset), len(heights) - 1)
    if place is not None:
        first = min(first, place)
        while first < place and sum(heights[first : place + 1]) > rows:
            first += 1
    while first > 0 and place is None and sum(heights[first - 1 :]) <= rows:
        first -= 1
    y = 2
    last = first
    for at in range(first, len(heights)):
        if y >= sheet.height:
            break
        _item(sheet.part(0, y, None, heights[at]), result.items[at], names, chosen=at == place)
        y += heights[at]
        last = at
    note = scroll_note(first, last - first + 1, len(heights))
    sheet.rule(1, "proposal, nothing has happened yet" if sheet.width >= 72 else "proposal", note)
    return sheet.render()


def _plan_head(sheet: Sheet, result: ConsolidationPlan) -> None:
    palette = sheet.palette
    edges = sum(len(item.edges) for item in result.items)
    entities = len({name for item in result.items for name in item.entities})
    tally = Counter(item.category for item in result.items).most_common()
    kinds = "  ".join(
        f"{clean(name)} {number}" for name, number in sorted(tally, key=lambda one: (-one[1], one[0]))
    )
    facts = [
        Fact(0, ((f"+ {plural(len(result.items), 'block')}", ink(palette.good, bold=True)),)),
        Fact(1, ((f"+ {plural(edges, 'edge')}", ink(palette.good)),)),
        Fact(2, ((plural(entities, "entity", "entities"), ink(palette.text)),)),
        Fact(4, ((kinds, ink(palette.muted)),)),
        Fact(3, ((f"change {result.change_counter}", ink(palette.muted)),)),
    ]
    facts_line(sheet, 0, facts, x=1)


def _edge_columns(width: int) -> int:
    return 2 if width >= 110 else 1


def _item_height(item: ConsolidationItem, width: int) -> int:
    columns = _edge_columns(width)
    return 1 + -(-(len(item.edges) + bool(item.entities)) // columns)


def _item(region: Region, item: ConsolidationItem, names: Mapping[str, str], *, chosen: bool) -> None:
    palette = region.palette
    sure = item.category_confidence
    colour = palette.good if sure >= 0.75 else palette.warn if sure >= 0.55 else palette.bad
    region.put(0, 0, "▸" if chosen else "+", ink(palette.accent if chosen else palette.good, bold=True))
    title_w = min(60, max(10, region.width // 3))
    region.put(2, 0, clean(item.block.title), ink(palette.text, bold=True), width=title_w)
    pieces: list[Piece] = [
        ("→ ", ink(palette.muted)),
        (cut(clean(item.category), 14).ljust(12), ink(palette.good, bold=True)),
        (f" {share(sure)} ", ink(colour)),
        *gauge_pieces(sure, 6, region.symbols, ink(colour), ink(palette.faint)),
        (f"  {clean(item.category_because)}", ink(palette.muted)),
    ]
    profile = profile_name(item.decay_lambda)
    lasts = profile if profile == "pinned" else f"{profile} ½ {half_life(item.decay_lambda)}"
    tail = ("◆ self  " if item.is_self_component else "") + lasts
    room = region.width - title_w - 3
    wide = room - width_of(tail) - 2 >= 40
    region.pieces(title_w + 3, 0, pieces, width=room - (width_of(tail) + 2 if wide else 0))
    if wide:
        region.put(region.width - width_of(tail) - 1, 0, tail, ink(palette.muted))
    if chosen:
        region.shade(0, palette.selection)
    columns = _edge_columns(region.width)
    step = (region.width - 4) // columns
    if item.entities:
        told = " · ".join(clean(name) for name in item.entities)
        names_of: list[Piece] = [("entities ", ink(palette.muted)), (told, ink(palette.text))]
        region.pieces(4, 1, names_of, width=step - 3)
    for place, edge in enumerate(item.edges, start=1 if item.entities else 0):
        _edge(region.part(4 + (place % columns) * step, 1 + place // columns, step - 3, 1), item, edge, names)


def _edge(region: Region, item: ConsolidationItem, edge: Edge, names: Mapping[str, str]) -> None:
    palette = region.palette
    outward = edge.source_id == item.block.id
    far = edge.target_id if outward else edge.source_id
    told = f"{share(edge.weight)} × {share(edge.confidence)}"
    line: list[Piece] = [
        ("─ ", ink(palette.faint)),
        (f"{clean(edge.relation_type)} ", ink(palette.relation(edge.relation_type))),
        ("▸ " if outward else "◂ ", ink(palette.muted)),
        (names.get(far, short_id(far)), ink(palette.text)),
    ]
    region.pieces(0, 0, line, width=region.width - width_of(told) - 1)
    region.put(region.width - width_of(told), 0, told, ink(palette.muted))

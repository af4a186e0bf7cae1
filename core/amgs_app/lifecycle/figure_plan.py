"""What consolidation would make of raw blocks, as a difference to read, and to correct, before it happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from amgs.decay import profile_name
from amgs.text.plural import plural
from amgs.types import ConsolidationItem, ConsolidationPlan, Edge
from amgs_app.render.canvas import Canvas, Figure, Piece, Region, clean, cut, ink, width_of
from amgs_app.render.empty_state import notice
from amgs_app.render.format import half_life, share, short_id
from amgs_app.render.glyphs import HeaderPart, facts_line, gauge_pieces, scroll_note, wrap

if TYPE_CHECKING:
    from amgs.lifecycle.plan_editing import ItemEdit, PlanDraft

_PREVIEW = 3
"""Lines of the chosen block's text, where there is room."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One block of a draft: as proposed, as it would be, what was corrected, and how much of it is drawn."""

    proposed: ConsolidationItem
    item: ConsolidationItem
    edit: ItemEdit
    left_out: frozenset[str]
    chosen: bool
    edge: int | None
    preview: Sequence[str]

    @property
    def out(self) -> bool:
        return self.edit.left_out


def plan(
    draft: PlanDraft | None,
    canvas: Canvas,
    *,
    selected: str | None = None,
    edge: int | None = None,
    titles: Mapping[str, str] | None = None,
    shown: Sequence[int] | None = None,
) -> Text:
    """A drafted consolidation as a difference: what each raw block becomes, with how sure, because of what, and what
    was corrected in it.

    selected: the id of a block of the plan; edge: the number (from 0) of its edge that is chosen. titles: by block id,
    for the far ends of edges. shown: the places of the items that are listed, in their order; None for all.
    """
    if draft is None or not draft.proposed.items:
        return notice(
            canvas,
            "Nothing to consolidate",
            ("ingest --batch DIR", "inbox list"),
            "No raw blocks waiting. What you ingest next appears here with a proposal.",
        )
    sheet = Figure(canvas)
    made, every = draft.plan, draft.proposed.items
    _head(sheet, draft, made)
    listed = every if shown is None else [every[place] for place in shown]
    if not listed:
        sheet.rule(1, "draft")
        sheet.put(1, 2, "No row matches the filter.", ink(sheet.palette.muted))
        return sheet.render()
    place = next((at for at, item in enumerate(listed) if item.block.id == selected), None)
    preview: Sequence[str] = ()
    if place is not None and sheet.height >= 14:
        preview = wrap(listed[place].block.content.strip(), sheet.width - 8, _PREVIEW)
    columns = _columns(sheet.width)
    heights = [_height(item, columns) + (len(preview) if at == place else 0) for at, item in enumerate(listed)]
    first = _first(heights, place, sheet.height - 2)
    names = _Names({item.block.id: item for item in every}, titles or {})
    planned = {item.block.id: item for item in made.items}
    y, last = 2, first
    for at in range(first, len(listed)):
        if y >= sheet.height:
            break
        proposed, chosen = listed[at], at == place
        item = planned.get(proposed.block.id, proposed)
        row = _Row(
            proposed,
            item,
            draft.edit_of(proposed.block.id),
            draft.left_out,
            chosen,
            edge if chosen else None,
            preview if chosen else (),
        )
        _item(sheet.part(0, y, None, heights[at]), row, names)
        y, last = y + heights[at], at
    said = "draft: nothing has changed yet" if draft.edits else "proposal: nothing has changed yet"
    note = scroll_note(first, last - first + 1, len(heights))
    sheet.rule(1, said if sheet.width >= 72 else said.partition(",")[0], note)
    return sheet.render()


def _height(item: ConsolidationItem, columns: int) -> int:
    cells = len(item.edges) + bool(item.entities)
    return 1 + -(-cells // columns)


def _first(heights: Sequence[int], place: int | None, room: int) -> int:
    """The first item that is drawn: as early a one as leaves the chosen one whole."""
    if place is None:
        return 0
    first, used = place, heights[place]
    while first > 0 and used + heights[first - 1] <= room:
        first -= 1
        used += heights[first]
    return first


@dataclass(frozen=True, slots=True)
class _Names:
    """Titles of blocks by id: those of the plan, and those that were seen elsewhere."""

    items: Mapping[str, ConsolidationItem]
    titles: Mapping[str, str]

    def of(self, block_id: str) -> str:
        if block_id in self.titles:
            return self.titles[block_id]
        item = self.items.get(block_id)
        return short_id(block_id) if item is None else clean(item.block.title)


def _head(sheet: Figure, draft: PlanDraft, result: ConsolidationPlan) -> None:
    palette = sheet.palette
    edges = sum(len(item.edges) for item in result.items)
    entities = len({name for item in result.items for name in item.entities})
    tally = Counter(item.category for item in result.items).most_common()
    kinds = "  ".join(f"{clean(name)} {number}" for name, number in sorted(tally, key=lambda one: (-one[1], one[0])))
    facts = [
        HeaderPart(0, ((f"+ {plural(len(result.items), 'block')}", ink(palette.good, bold=True)),)),
        HeaderPart(1, ((f"+ {plural(edges, 'edge')}", ink(palette.good)),)),
        HeaderPart(3, ((plural(entities, "entity", "entities"), ink(palette.text)),)),
        HeaderPart(5, ((kinds, ink(palette.muted)),)),
        HeaderPart(4, ((f"change {result.change_counter}", ink(palette.muted)),)),
    ]
    if draft.left_out:
        facts.insert(1, HeaderPart(2, ((f"{len(draft.left_out)} left out", ink(palette.warn, bold=True)),)))
    if draft.edits:
        facts.insert(1, HeaderPart(1, ((f"{len(draft.edits)} corrected", ink(palette.accent, bold=True)),)))
    facts_line(sheet, 0, facts, x=1)


def _columns(width: int) -> int:
    return 2 if width >= 110 else 1


def _item(region: Region, row: _Row, names: _Names) -> None:
    palette = region.palette
    item = row.item
    corrected = row.edit != type(row.edit)(row.edit.block_id)
    sign = "▸" if row.chosen else "✗" if row.out else "~" if corrected else "+"
    region.put(0, 0, sign, ink(palette.accent if row.chosen or corrected else palette.good, bold=True))
    title_w = min(60, max(10, region.width // 3))
    title = ink(palette.muted if row.out else palette.text, bold=not row.out)
    region.put(2, 0, clean(item.block.title), title, width=title_w)
    _becomes(region, row, title_w)
    if row.chosen:
        region.shade(0, palette.selection)
    for n, line in enumerate(row.preview, start=1):
        region.put(4, n, "▏", ink(palette.faint))
        region.put(6, n, line, ink(palette.muted))
    below = region.part(0, 1 + len(row.preview))
    columns = _columns(region.width)
    step = (region.width - 4) // columns
    if item.entities:
        told = " · ".join(clean(name) for name in item.entities)
        told_in = ink(palette.muted if row.out else palette.text)
        names_of: list[Piece] = [("entities ", ink(palette.muted)), (told, told_in)]
        below.pieces(4, 0, names_of, width=step - 3)
    for number, edge in enumerate(row.proposed.edges):
        place = number + bool(item.entities)
        part = below.part(4 + (place % columns) * step, place // columns, step - 3, 1)
        _edge(part, row, number, edge, names)


def _becomes(region: Region, row: _Row, title_w: int) -> None:
    """What a block becomes: its category with how sure and why, its pace of forgetting, how far it is believed."""
    palette, item, edit = region.palette, row.item, row.edit
    if row.out:
        told: list[Piece] = [("✗ stays in the inbox", ink(palette.warn, bold=True))]
        region.pieces(title_w + 3, 0, told)
        return
    sure = item.category_confidence
    colour = palette.good if sure >= 0.75 else palette.warn if sure >= 0.55 else palette.bad
    pieces: list[Piece] = [
        ("→ ", ink(palette.muted)),
        (cut(clean(item.category), 14).ljust(12), ink(palette.good, bold=True)),
    ]
    if edit.category is not None:
        was = f" was {clean(row.proposed.category)} {share(row.proposed.category_confidence)}"
        pieces += [(" by hand", ink(palette.accent, bold=True)), (f"  {was}", ink(palette.muted))]
    else:
        pieces += [
            (f" {share(sure)} ", ink(colour)),
            *gauge_pieces(sure, 6, region.symbols, ink(colour), ink(palette.faint)),
            (f"  {clean(item.category_because)}", ink(palette.muted)),
        ]
    profile = profile_name(item.decay_lambda)
    lasts = profile if profile == "pinned" else f"{profile} ½ {half_life(item.decay_lambda)}"
    changed = edit.confidence is not None
    belief = f"belief {share(item.confidence)}"
    believed = ink(palette.accent, bold=True) if changed else ink(palette.muted)
    tail: list[Piece] = [("◆ self  " if item.is_self_component else "", ink(palette.muted))]
    if row.chosen or changed or region.width >= 150:
        was = f" was {share(row.proposed.confidence)}" if changed else ""
        tail += [(belief, believed), (f"{was}  ", ink(palette.muted))]
    tail.append((lasts, ink(palette.muted)))
    tail_w = sum(width_of(text) for text, _ in tail)
    room = region.width - title_w - 3
    wide = room - tail_w - 2 >= 44
    if not wide and changed:
        pieces.insert(2, (f" {belief}", believed))
    region.pieces(title_w + 3, 0, pieces, width=room - (tail_w + 2 if wide else 0))
    if wide:
        region.pieces(region.width - tail_w - 1, 0, tail)


def _edge(region: Region, row: _Row, number: int, edge: Edge, names: _Names) -> None:
    palette = region.palette
    outward = edge.source_id == row.proposed.block.id
    from amgs.lifecycle.plan_editing import far_end

    far = far_end(row.proposed, edge)
    dropped = edge.key in row.edit.dropped
    gone = dropped or row.out or far in row.left_out
    sure = dict(row.edit.sure).get(edge.key)
    told: list[Piece] = [
        (f"{share(edge.weight)} × ", ink(palette.muted)),
        (
            share(edge.confidence if sure is None else sure),
            ink(palette.muted) if sure is None else ink(palette.accent, bold=True),
        ),
    ]
    told_w = sum(width_of(text) for text, _ in told)
    lead = f"{number + 1}" if row.chosen else "✗" if dropped else "─"
    name = names.of(far)
    mark = ink(palette.accent, bold=True) if row.chosen else ink(palette.warn if dropped else palette.faint)
    line: list[Piece] = [
        (f"{lead} ", mark),
        (f"{clean(edge.relation_type)} ", ink(palette.muted) if gone else ink(palette.relation(edge.relation_type))),
        ("▸ " if outward else "◂ ", ink(palette.muted)),
        (name, ink(palette.muted if gone else palette.text)),
    ]
    if dropped and row.chosen:
        line.insert(1, ("✗ ", ink(palette.warn, bold=True)))
    region.pieces(0, 0, line, width=region.width - told_w - 1)
    region.pieces(region.width - told_w, 0, told)
    if row.edge == number:
        region.shade(0, palette.selection, bold=True)

"""Packs as lists: one table a result, from which come its printed form, its file, the pane's rows, their filter and
their picture, and what stands below the row under the cursor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amgs.text.plural import plural
from amgs_app.render.canvas import Align, Canvas, Figure, Region, clean, ink, width_of
from amgs_app.render.catalogue import entry, title_of
from amgs_app.render.drawing import places
from amgs_app.render.format import short_id, title_told
from amgs_app.render.glyphs import HOLDS_SIGNS, ListPage, gauge, wrap
from amgs_app.render.sentences import answer_told
from amgs_app.render.sheet import ResultTable, facts, sheet, to_cells

if TYPE_CHECKING:
    from rich.text import Text

    from amgs.wings.packs.values import Pack, PackAssembly, PackContent, PackKept, PackOutcome
    from amgs_app.panes.row_filter import Row
    from amgs_app.session.operator import Operator
    from amgs_app.views.packs.results import PackList, PackProposals

Told = tuple[str, str]
"""What a text is, and the text."""
_GAUGE, _GAUGE_FROM, _DETAIL_FROM = 6, 70, 10
"""Cells of a score's bar, of a line that has one, and lines from which on what a row holds stands below the list."""


@dataclass(frozen=True, slots=True)
class PackPage:
    """A list. table: its rows as they are printed. below: what stands below each. ids: of its blocks, or packs."""

    table: ResultTable
    below: tuple[tuple[Told, ...], ...] = ()
    ids: tuple[str, ...] = ()

    @property
    def fields(self) -> list[Row]:
        """What the rows are filtered and sorted by."""
        names = [column.name for column in self.table.columns]
        return [dict(zip(names, row, strict=True)) for row in self.table.rows]


def named(pack: Pack) -> str:
    """`dome@2`."""
    return f"{pack.name}@{pack.version}"


def list_page(result: PackList) -> PackPage:
    """The packs that are kept."""
    rows = [
        (
            named(one.pack),
            "retired" if one.pack.retired else "would go" if one.forget else None,
            len(one.pack.members),
            one.pack.tokens,
            one.uses,
            one.success,
            one.last_used,
            one.needed,
            one.weight,
            " ".join(one.pack.keywords),
        )
        for one in result.packs
    ]
    notes = ["" if rows else "`pack keep NAME QUERY` keeps one."]
    if result.keep is not None:
        going = [one.pack.name for one in result.packs if one.forget]
        left = sum(one.pack.tokens for one in result.packs if not (one.forget or one.pack.retired))
        notes.append(f"What stays takes {left:,} of {result.keep:,} tokens.")
        notes.append(f"`pack change DELETE {' '.join(going)}` retires the others." if going else "")
    columns = "pack* state~ members:n? tokens:n uses:n useful:score? last:day? needed:score weight:score? keywords*"
    return PackPage(
        sheet(plural(len(rows), "pack"), columns, rows, notes), ids=tuple(one.pack.name for one in result.packs)
    )


def content_page(result: PackContent) -> PackPage:
    """The members of a pack, and below each its text."""
    pack = result.usage.pack
    role = {member.block: member.role for member in pack.members}
    rows = [
        (n, block.id, role[block.id], title_told(block), block.category, block.created_at)
        for n, block in enumerate(result.blocks, 1)
    ]
    told = ", retired" if pack.retired else ""
    title = f"{named(pack)}{told}: {plural(len(rows), 'block')}, {pack.tokens:,} tokens"
    table = sheet(
        f"{title}, {pack.title}" if pack.title else title,
        "#:n id:id role member* category? created:day?",
        rows,
        [f"{label}: {text}" if label else text for label, text in about_pack(result)],
    )
    below = tuple(((role[block.id], block.content),) for block in result.blocks)
    return PackPage(table, below, tuple(block.id for block in result.blocks))


def about_pack(result: PackContent) -> list[Told]:
    """What a pack was kept from, what ties it to others, and its readings, the newest first."""
    usage, pack = result.usage, result.usage.pack
    success = f", {usage.success:.0%} useful" if usage.success is not None else ""
    gone = [f"{plural(len(result.gone), 'member')}: {' '.join(map(short_id, result.gone))}"] if result.gone else []
    told = [
        ("keywords", " ".join(pack.keywords)),
        ("kept for", f"{pack.query} ({pack.frame})" if pack.query else ""),
        ("no longer held", " ".join(gone)),
        ("read", f"{plural(usage.uses, 'time')}{success}; {plural(len(result.versions), 'version')}"),
        ("links", ", ".join(f"{one.graph} {one.weight:.2f} to {one.name}" for one in result.links)),
        ("read with", " ".join(result.beside)),
    ]
    for use in result.readings:
        sign = HOLDS_SIGNS[None if use.outcome is None else use.outcome >= 0.5]
        parts = (f"{use.at:%Y-%m-%d %H:%M}", f"{use.tokens:,} tokens", use.session, use.query)
        told.append((f"{sign} reading {use.number}", "; ".join(filter(None, parts))))
    return [one for one in told if one[1]]


def assembly_page(result: PackAssembly) -> PackPage:
    """The packs for a question, with why each is in or out; below them the text, and what each layer did."""
    rows = [
        (named(one.pack), "in" if one.chosen else "out", one.tokens, one.worth, one.because) for one in result.packs
    ]
    stages = tuple((one.name, f"{one.did} ({one.tokens_in:,} → {one.tokens_out:,} tokens)") for one in result.stages)
    agents = tuple((f"agent {name}", told) for name, told in result.rationale)
    below = (("text", result.text or "No pack says anything of it."), *stages, *agents)
    table = sheet(_assembled(result), "pack* state tokens:n worth:score because*", rows)
    return PackPage(table, (below,) * len(rows), tuple(one.pack.name for one in result.packs))


def _assembled(result: PackAssembly) -> str:
    logged = f", as {plural(len(result.uses), 'reading')} {' '.join(map(str, result.uses))}" if result.uses else ""
    chosen = sum(one.chosen for one in result.packs)
    return f"{plural(chosen, 'pack')}, {result.tokens:,} of {result.budget:,} tokens{logged}"


def proposals_page(result: PackProposals) -> PackPage:
    """What could be done with packs, and below each what would come and go."""
    rows = [(one.id, one.action, " + ".join(one.packs), one.sure, one.because) for one in result.proposals]
    below = tuple(
        (
            ("becomes", one.name),
            ("because", one.because),
            *((sign, short_id(block)) for sign, blocks in (("+", one.come), ("−", one.gone)) for block in blocks),
        )
        for one in result.proposals
    )
    done = f"operation {result.done.id}: {result.done.summary}" if result.done is not None else ""
    note = "`pack change --accept ID` carries one out, `--reject ID` is for good." if rows else ""
    table = sheet(plural(len(rows), "proposal"), "id action pack* sure:score because*", rows, (done, note))
    return PackPage(table, below, tuple(one.packs[0].rpartition("@")[0] for one in result.proposals))


def draw_page(
    canvas: Canvas,
    page: PackPage,
    shown: Sequence[int] | None = None,
    cursor: int | None = None,
    below: Sequence[Told] | None = None,
) -> Figure:
    """The title, the list, and below it what the row under the cursor holds. shown: the rows that a filter leaves.
    below: in place of what the page has.
    """
    drawn = Figure(canvas)
    quiet, plain = ink(drawn.palette.muted), ink(drawn.palette.text)
    drawn.put(1, 0, clean(page.table.title), ink(drawn.palette.accent, bold=True), width=drawn.width - 2)
    rows = range(len(page.table.rows)) if shown is None else shown
    chosen = rows[cursor] if cursor is not None and 0 <= cursor < len(rows) else None
    under = below if below is not None else page.below[chosen] if chosen is not None and page.below else ()
    tall = drawn.height - 1 - min(len(rows) + 2, drawn.height // 2) if under and drawn.height >= _DETAIL_FROM else 0
    listed = drawn.part(0, 2, None, max(0, drawn.height - 2 - tall))
    columns, cells = to_cells(page.table)
    while len(columns) > 2:
        widths = [
            max(width_of(clean(one)) for one in (column.name, *(row[n] for row in cells)))
            for n, column in enumerate(columns)
        ]
        bars = sum(column.kind == "score" for column in columns) * (_GAUGE + 1) * (drawn.width >= _GAUGE_FROM)
        if sum(widths[:-1]) + 2 * len(widths) + bars + 12 <= drawn.width:
            break
        out = max(range(len(columns)), key=lambda n: (columns[n].rank, not columns[n].wide, -n))
        columns, cells = columns[:out] + columns[out + 1 :], [row[:out] + row[out + 1 :] for row in cells]
    else:
        widths = [min(24, drawn.width // 2)] * len(columns)

    def paint(line: Region, place: int | None, marked: bool) -> None:
        x = 2
        for n, (column, width) in enumerate(zip(columns, widths, strict=True)):
            cell = column.name if place is None else cells[place][n]
            last = n == len(columns) - 1
            style = quiet if place is None else ink(drawn.palette.text, bold=marked) if n == 0 else plain
            align: Align = "right" if column.kind in ("number", "score") and not last else "left"
            room = line.width - x if last else width
            line.put(x, 0, clean(cell), style, width=max(0, room), align=align)
            x += width + 1
            if column.kind == "score" and line.width >= _GAUGE_FROM and not last:
                value = None if place is None else page.fields[place][column.name]
                if value is not None:
                    gauge(line, x, 0, _GAUGE, float(value), ink(drawn.palette.heat_high))
                x += _GAUGE + 1
            x += 1

    if drawn.height > 1:
        paint(drawn.part(0, 1, None, 1), None, False)
    ListPage.around(rows, listed.height, cursor).draw(listed, paint)
    if tall:
        _draw_below(drawn.part(0, drawn.height - tall), under)
    return drawn


def _draw_below(region: Region, told: Sequence[Told]) -> None:
    region.rule(0, "")
    y, wide = 1, min(18, max((width_of(clean(label)) for label, _ in told), default=0))
    for label, text in told:
        region.put(1, y, clean(label), ink(region.palette.muted), width=wide)
        for line in wrap(text, max(8, region.width - wide - 3), max(1, region.height - y)):
            region.put(wide + 2, y, line, ink(region.palette.text))
            y += 1
        if y >= region.height:
            return


# --- how each result is shown ---------------------------------------------------------------------------------


def _list_drawn(operator: Operator, result: PackList, canvas: Canvas) -> Text:
    page = list_page(result)
    return draw_page(canvas, page, places(operator, "packs", page.fields)).render()


@entry(figure=_list_drawn)
def pack_list(result: PackList) -> ResultTable:
    return list_page(result).table


def _content_drawn(_: Operator, result: PackContent, canvas: Canvas) -> Text:
    return draw_page(canvas, content_page(result), below=about_pack(result)).render()


@entry(figure=_content_drawn)
def pack_content(result: PackContent) -> ResultTable:
    return content_page(result).table


def _assembly_drawn(_: Operator, result: PackAssembly, canvas: Canvas) -> Text:
    return draw_page(canvas, assembly_page(result), cursor=0).render()


@entry(figure=_assembly_drawn, sentence=title_of)
def pack_assembly(result: PackAssembly) -> ResultTable:
    rows = [
        (n, one.name, one.did, one.unit, one.count_in, one.count_out, one.tokens_in, one.tokens_out)
        for n, one in enumerate(result.stages, 1)
    ]
    page = assembly_page(result)
    notes = [f"{name} {state}: {because}" for name, state, _, _, because in page.table.rows]
    notes += [f"agent {name}: {told}" for name, told in result.rationale]
    columns = "#:n layer did* unit? in:n out:n tokens_in:n tokens_out:n"
    return sheet(_assembled(result), columns, rows, (*notes, page.below[0][0][1] if page.below else "No pack is kept."))


def _proposals_drawn(_: Operator, result: PackProposals, canvas: Canvas) -> Text:
    return draw_page(canvas, proposals_page(result), cursor=0).render()


@entry(figure=_proposals_drawn)
def pack_proposals(result: PackProposals) -> ResultTable:
    return proposals_page(result).table


@entry(sentence=title_of, quiet=True)
def pack_kept(result: PackKept) -> ResultTable:
    from amgs.retrieval.answerable import UNLIKELY

    pack, chance = result.pack, result.answerable
    done = f"kept, as operation {result.operation}" if result.operation is not None else "kept already"
    pairs: list[tuple[str, Any]] = [
        ("members", len(pack.members)),
        ("tokens", pack.tokens),
        ("keywords", ", ".join(pack.keywords)),
        ("query", pack.query or None),
        ("frame", pack.frame or None),
    ]
    told = [f"{said[0].upper()}{said[1:]}." for said in answer_told(result)]
    if chance is None and result.unestimated:
        told.append(f"Whether the memory holds an answer was not estimated: {result.unestimated}.")
    if result.unheld or (chance is not None and chance < UNLIKELY):
        look = f"The members are the nearest blocks there are: look with `pack list {pack.name}`."
        told.append(f"{look} `undo {result.operation}` takes it back." if result.operation is not None else look)
    return facts(f"{named(pack)} is {done}", pairs, told)


@entry(sentence=title_of, quiet=True)
def pack_outcome(result: PackOutcome) -> ResultTable:
    rows = [
        (use.number, f"{use.name}@{use.version}", use.at, use.tokens, use.outcome, use.session or None, use.query)
        for use in result.uses
    ]
    taught = [f"weight of {name}: {before:.2f} → {after:.2f}" for name, before, after in result.taught]
    title = f"Outcome of {plural(len(rows), 'reading')}, as operation {result.operation}"
    return sheet(title, "use:n pack at:at tokens:n outcome:score session~ query*", rows, taught)

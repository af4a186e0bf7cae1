"""What could be done with packs: proposals with how sure they are, and the one under the cursor in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from rich.text import Text

from amgs.text.plural import plural
from amgs.wings.packs.values import PackAction, PackProposal
from amgs_app.render.canvas import Canvas, Figure, Region, clean, ink, width_of
from amgs_app.render.empty_state import notice
from amgs_app.render.format import share, short_id
from amgs_app.render.glyphs import HeaderPart, ListPage, bar, facts_line, wrap
from amgs_app.views.packs.figures.packs import beside_or_below

MEANING: Final[Mapping[PackAction, str]] = MappingProxyType(
    {
        "ADD": "If you accept, one pack of them all is kept; they stay.",
        "UPDATE": "If you accept, the next version has the block that took the place of a member.",
        "DELETE": "If you accept, it is listed and used no more.",
        "MERGE": "If you accept, the first has the members of both, and the second is retired.",
    }
)
_BAR = 8
NO_TITLES: Final[Mapping[str, str]] = MappingProxyType({})


def proposals(proposed: Sequence[PackProposal], canvas: Canvas) -> Text:
    """The list, and the first in full."""
    if not proposed:
        return notice(
            canvas,
            "No proposal",
            ("pack use NAME --session TASK",),
            "There is nothing to merge, update, join or retire.",
        )
    return proposals_figure(proposed, canvas, cursor=0).render()


def proposals_figure(
    rows: Sequence[PackProposal], canvas: Canvas, *, cursor: int | None = None, titles: Mapping[str, str] = NO_TITLES
) -> Figure:
    """The picture before it is rendered. titles: of blocks that come or go, by id, as far as they are known."""
    sheet = Figure(canvas)
    palette = sheet.palette
    facts = [
        HeaderPart(0, ((plural(len(rows), "proposal"), ink(palette.accent, bold=True)),)),
        HeaderPart(2, (("nothing is done before you accept", ink(palette.muted)),)),
    ]
    facts_line(sheet, 0, facts, x=1)
    chosen = rows[cursor] if cursor is not None and 0 <= cursor < len(rows) else None
    top, rest = beside_or_below(sheet.part(0, 1), len(rows) + 1, chosen is not None)
    _list(top, rows, cursor)
    if chosen is not None and rest is not None:
        _detail(rest, chosen, titles)
    return sheet


def _list(region: Region, rows: Sequence[PackProposal], cursor: int | None) -> None:
    if region.height < 1:
        return
    palette = region.palette
    quiet, plain = ink(palette.muted), ink(palette.text)
    page = ListPage.around(rows, region.height - 1, cursor)
    packs_w = min(region.width // 3, max([5, *(width_of(clean(" + ".join(one.packs))) for one in rows)]))
    sure_x = 10 + packs_w + 2
    because_x = sure_x + 4 + _BAR + 3
    region.put(2, 0, "action", quiet)
    region.put(10, 0, "packs", quiet)
    region.put(sure_x, 0, "sure", quiet)
    region.put(because_x, 0, page.note or "because", quiet)

    def paint(line: Region, one: PackProposal, marked: bool) -> None:
        line.put(2, 0, one.action, ink(palette.accent, bold=True))
        line.put(10, 0, clean(" + ".join(one.packs)), ink(palette.text, bold=marked), width=packs_w)
        x = line.put(sure_x, 0, share(one.sure), plain, width=4)
        line.put(x, 0, bar(one.sure, _BAR, line.symbols), ink(palette.heat_high))
        line.put(because_x, 0, clean(one.because), quiet, width=max(0, line.width - because_x))

    page.draw(region.part(0, 1), paint)


def _detail(region: Region, one: PackProposal, titles: Mapping[str, str]) -> None:
    """Why, what would come and go, and what it means."""
    if region.height < 2:
        return
    palette = region.palette
    quiet, plain = ink(palette.muted), ink(palette.text)
    region.rule(0, clean(f"{one.action} {' + '.join(one.packs)}"), one.id, strong=True)
    lines: list[tuple[str, str]] = [("", line) for line in wrap(one.because, max(8, region.width - 2), 3)]
    if one.action in ("ADD", "MERGE"):
        lines.append(("→", one.name))
    for sign, blocks in (("+", one.come), ("−", one.gone)):
        lines += [(sign, titles.get(block, short_id(block))) for block in blocks]
    tail = [f"sure {share(one.sure)}", *wrap(MEANING[one.action], max(8, region.width - 2), 2)]
    room = region.height - 1 - len(tail)
    shown = lines if len(lines) <= room else lines[: max(1, room - 1)]
    colours = {"+": palette.good, "−": palette.bad}
    y = 1
    for sign, told in shown:
        x = region.put(1, y, f"{sign} ", ink(colours.get(sign, palette.accent), bold=True)) if sign else 1
        region.put(x, y, clean(told), plain, width=region.width - x - 1)
        y += 1
    if len(shown) < len(lines):
        region.put(1, y, f"… {len(lines) - len(shown)} more", quiet)
        y += 1
    for told in tail:
        region.put(1, y, clean(told), quiet, width=region.width - 2)
        y += 1

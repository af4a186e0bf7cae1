"""The packs that a question is given: what each adds as a bar, and why the others are out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from rich.text import Text

from amgs.text.plural import plural
from amgs.wings.packs.values import PackRoute, QuestionIntent, RoutedPack
from amgs_app.render.canvas import Canvas, Figure, Piece, Region, clean, ink, width_of
from amgs_app.render.format import count, share
from amgs_app.render.glyphs import HeaderPart, ListPage, bar, facts_line, gauge_pieces
from amgs_app.views.packs.figures.packs import Beside, beside_or_below, named

_INTENTS: Final[Mapping[QuestionIntent, str]] = MappingProxyType(
    {"multi-hop": "several things", "temporal": "a time", "open-domain": "what is likely", "single-hop": "one thing"}
)
_NOTHING = 1e-9
_LEAST_BAR = 20


def route(result: PackRoute, canvas: Canvas) -> Text:
    """The chosen packs, then the others."""
    return route_figure(result, routed_of(result), canvas).render()


def routed_of(result: PackRoute) -> tuple[RoutedPack, ...]:
    """The packs as they are listed: the chosen ones in the order of choice, then the others."""
    return (*result.packs, *result.left_out)


def why_out(one: RoutedPack, result: PackRoute) -> tuple[str, str]:
    """Why a pack was not chosen, in few words, and what more there is to say of it."""
    left = result.budget - result.tokens
    if one.gain <= _NOTHING:
        return "adds nothing", ""
    if one.tokens > left:
        return "no room", f": {count(left)} tok left"
    return "adds less", " for its tokens"


def asked_for(result: PackRoute) -> str:
    """`a time (.97)`: what the question most likely asks for, and how likely that is."""
    intent, likely = result.intents[0]
    return f"{_INTENTS[intent]} ({share(likely)})"


def route_figure(
    result: PackRoute,
    rows: Sequence[RoutedPack],
    canvas: Canvas,
    *,
    cursor: int | None = None,
    larger: int = 0,
    beside: Beside | None = None,
) -> Figure:
    """The picture before it is rendered. rows: those that are listed. larger: how many packs are larger than the
    budget. beside: draws what stands in the rest.
    """
    sheet = Figure(canvas)
    palette = sheet.palette
    x = sheet.put(1, 0, "? ", ink(palette.accent, bold=True))
    sheet.put(x, 0, clean(result.query), ink(palette.text, bold=True), width=sheet.width - x - 1)
    used = result.tokens / result.budget if result.budget else 0.0
    gauged = gauge_pieces(used, 8, sheet.symbols, ink(palette.accent), ink(palette.faint))
    tokens = (f"{count(result.tokens)}/{count(result.budget)} tok ", ink(palette.text))
    facts = [
        HeaderPart(0, ((f"{plural(len(result.packs), 'pack')} chosen", ink(palette.accent, bold=True)),)),
        HeaderPart(1, (tokens, *gauged)),
        HeaderPart(2, (("holds what answers ", ink(palette.muted)), (share(result.likely), ink(palette.text)))),
        HeaderPart(4, ((f"seems to ask for {asked_for(result)}", ink(palette.muted)),)),
    ]
    if larger:
        facts.append(HeaderPart(3, ((f"{plural(larger, 'pack')} larger than that", ink(palette.warn)),)))
    facts_line(sheet, 1, facts, x=1)
    _words(sheet.part(0, 2, None, 1), result.words)
    body = sheet.part(0, 3)
    top, rest = beside_or_below(body, len(rows) + 2, beside is not None)
    _list(top, rows, result, cursor)
    if beside is not None and rest is not None:
        beside(rest)
    return sheet


def _words(region: Region, words: Sequence[tuple[str, bool]]) -> None:
    """The words of the question, those first that no chosen pack says."""
    palette = region.palette
    missing = [word for word, there in words if not there]
    there = [word for word, held in words if held]
    pieces: list[Piece] = []
    if missing:
        pieces += [("no chosen pack says ", ink(palette.muted)), (clean(" ".join(missing)), ink(palette.warn))]
        pieces.append(("   ", None))
    if there:
        pieces += [("said ", ink(palette.muted)), (clean(" ".join(there)), ink(palette.good))]
    region.pieces(1, 0, pieces, width=region.width - 2)


def _list(region: Region, rows: Sequence[RoutedPack], result: PackRoute, cursor: int | None) -> None:
    if region.height < 1:
        return
    palette = region.palette
    quiet = ink(palette.muted)
    chosen_ids = {id(one) for one in result.packs}
    name_w = min(24, max([4, *(width_of(clean(named(one.pack))) for one in rows)]))
    bar_x = 2 + name_w + 2 + 7 + 6
    whys: dict[int, str] = {}
    for words in (2, 1, 0):
        for one in rows:
            told = "".join(why_out(one, result)[:words])
            whys[id(one)] = "in" if id(one) in chosen_ids else f"out · {told}" if told else "out"
        why_w = max([3, *map(width_of, whys.values())])
        if bar_x + _LEAST_BAR + 2 + why_w <= region.width:
            break
    bar_w = max(4, region.width - bar_x - 2 - why_w - 1)
    page = ListPage.around(rows, region.height - 1, cursor)
    most = max([_NOTHING, *(one.gain for one in rows)])
    region.put(2, 0, "pack", quiet)
    region.put(2 + name_w + 2, 0, "tok", quiet, width=6, align="right")
    region.put(bar_x - 6, 0, "adds", quiet, width=5, align="right")
    region.put(bar_x, 0, page.note, quiet)
    if not rows and region.height > 1:
        region.put(2, 1, "No pack fits, or none says anything of it.", quiet)

    def paint(line: Region, one: RoutedPack, marked: bool) -> None:
        taken = id(one) in chosen_ids
        main = ink(palette.text, bold=marked) if taken else quiet
        line.put(2, 0, clean(named(one.pack)), main, width=name_w)
        line.put(2 + name_w + 2, 0, count(one.tokens), main, width=6, align="right")
        line.put(bar_x - 6, 0, share(one.gain), ink(palette.text, bold=taken), width=5, align="right")
        colour = palette.part_similarity
        drawn = ink(colour if taken else palette.fade(colour, 0.45))
        line.put(bar_x, 0, bar(one.gain / most, bar_w, line.symbols), drawn, width=bar_w)
        line.put(bar_x + bar_w + 2, 0, whys[id(one)], ink(palette.good if taken else palette.warn), width=why_w)

    page.draw(region.part(0, 1), paint)

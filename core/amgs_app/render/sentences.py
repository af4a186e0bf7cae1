"""How a result is told in one line, and on a page where no pane shows it: mostly as the headless tables
tell it.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from amgs.types import Explanation, Outcome
from amgs_app.operations.results import BlockDetail, HelpList, ThemeSet, VerbHelp
from amgs_app.render.figures.block import block, content_lines
from amgs_app.render.sentences_of_focus import said as said_of_focus
from amgs_app.render.sentences_of_memory import of_memory
from amgs_app.render.sheet import to_table
from amgs_app.render.tables.workstation import table_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from amgs_app.render.figures.canvas import Canvas

MOST_LINES = 2000
CARD_LINES = 8
"""Lines of a block's card around its content."""
SHORT_HELP = 6
"""Up to this many verbs are explained in full, more are listed."""


def say(result: Any, verb: str = "") -> str:
    """What came of an action, in a few words; empty where nothing is to be said but that it is done."""
    if (of_focus := said_of_focus(result)) is not None:
        return of_focus
    if isinstance(result, Outcome):
        verdict = "useful" if result.actual else "useless"
        return f"Noted as {verdict}: the forecast was {result.predicted:.2f}, its Brier score {result.brier or 0:.2f}"
    if isinstance(result, ThemeSet):
        return f"Theme {result.name}"
    return of_memory(result, verb)


def page(result: Any, canvas: Canvas, now: datetime) -> RenderableType:
    """A result in full, as wide as the canvas and as high as it takes."""
    if isinstance(result, BlockDetail):
        lines = content_lines(result.block.content, canvas.width - 2, MOST_LINES)
        return block(result.block, canvas.sized(canvas.width, len(lines) + CARD_LINES), now=now)
    if isinstance(result, HelpList) and len(result.verbs) <= SHORT_HELP:
        return Group(*(_explained(each) for each in result.verbs))
    if isinstance(result, Explanation):
        return _followed(result)
    return to_table(table_of(result))


def _followed(fall: Explanation) -> RenderableType:
    """A block on its way down the layers, each with its reason in full."""
    told = table_of(fall)
    way = Table.grid(padding=(0, 1))
    for each in fall.layers:
        sign = {"passed": "✓", "missed": "✗"}.get(each.verdict, "–")
        value = "" if each.value is None else f"{each.value:.2f}"
        needed = "" if each.needed is None else f"of {each.needed:.2f}"
        way.add_row(sign, Text(each.layer, style="bold"), value, needed, Text(each.because))
    notes = [Text(note) for note in told.notes]
    return Group(Text(f"{told.title}\n", style="bold"), way, Text(""), *notes)


def _explained(each: VerbHelp) -> RenderableType:
    text = Text()
    text.append(f"{each.usage}\n", style="bold")
    text.append(f"{each.text.rstrip()}\n")
    for label, said in each.parameters:
        text.append(f"  {label:<14} ", style="bold")
        text.append(f"{said}\n")
    return text

"""What stands on the page of a memory, and on that of a diagnosis."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from amgs_app.html_page import HtmlSection, page
from amgs_app.render.catalogue import draw, portable, table_of
from amgs_app.render.sheet import sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from amgs.types import Block
    from amgs.types.diagnosis import Diagnosis
    from amgs_app.operator import Operator
    from amgs_app.render.catalogue import Look
    from amgs_app.render.figures.canvas import Canvas
    from amgs_app.themes import Palette

SHOWN = "It holds titles and texts of this memory: read it before you attach it to anything."
REDACTED = "Texts of this memory are left out; ids, numbers and dates are not."
_GONE = 20


def of_memory(
    operator: Operator,
    look: Look,
    used: Sequence[tuple[Block, int]],
    palettes: tuple[Palette, Palette],
    *,
    redacted: bool,
) -> str:
    """The page of a memory. look: the result of another command. used: its most used blocks, with how often."""

    def drawn(result: Any) -> Any:
        def figure(canvas: Canvas) -> Text:
            return draw(operator, result, canvas, look)

        return figure

    status, table = portable(look("status")), look("calibration table")
    curves, gone = look("decay categories"), look("decay forecast")
    overview = table_of(status)
    overview = replace(overview, rows=tuple(row for row in overview.rows if row[1] != ""))
    gone = replace(gone, rows=gone.rows[:_GONE])
    rows = [(block.id, block.title, block.category, times) for block, times in used]
    sections = (
        HtmlSection("Overview", overview, drawn(status), 26, own=("what",)),
        HtmlSection("Health", replace(table_of(look("health")), title=""), own=("area", "status", "command")),
        HtmlSection("Calibration", table_of(table), drawn(table), 26, own=("forecast", "95_%")),
        HtmlSection("Decay", table_of(curves), drawn(curves), 26),
        HtmlSection("Most used", sheet("", "id:id title* category uses:n", rows)),
        HtmlSection("What drops below the threshold", table_of(gone)),
    )
    return page(
        "A memory",
        _note(f"{status.store.now:%Y-%m-%d %H:%M}", redacted=redacted),
        sections,
        palettes,
        redacted=redacted,
    )


def of_diagnosis(result: Diagnosis, palettes: tuple[Palette, Palette], *, redacted: bool) -> str:
    """The page of one diagnosed answer."""
    from amgs_app.render.figures import diagnosis as figure
    from amgs_app.render.figures.canvas import Canvas

    def drawn(canvas: Canvas) -> Text:
        return figure.diagnosis(result, canvas)

    lines = figure.height(result, Canvas(100, 1, palettes[0]))
    asked = sheet("", "what value*", [("cause", result.cause)])
    sections = (
        HtmlSection("Cause", asked, own=("what", "value")),
        HtmlSection("Evidence", table_of(result), drawn, lines, own=("_", "step")),
    )
    return page(
        "Why an answer missed a fact", _note("", redacted=redacted), sections, palettes, redacted=redacted
    )


def _note(at: str, *, redacted: bool) -> str:
    return ". ".join(part for part in (at, REDACTED if redacted else SHOWN) if part)

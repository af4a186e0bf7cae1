"""What stands on the page of a memory, and on that of a diagnosis."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amgs_app.pages import memory_charts
from amgs_app.pages.html_page import HtmlSection, page
from amgs_app.render.catalogue import portable, table_of
from amgs_app.render.sheet import sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amgs.types import Block
    from amgs.types.diagnosis import Diagnosis
    from amgs_app.render.catalogue import Look
    from amgs_app.session.operator import Operator
    from amgs_app.terminal.themes import Palette

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
    engine = operator.engine
    status, table = portable(look("status")), look("calibration")
    frame, gone = look("frame last").frame, look("decay forecast")
    overview = table_of(status)
    overview = replace(overview, rows=tuple(row for row in overview.rows if row[1] != ""))
    gone = replace(table_of(gone), rows=table_of(gone).rows[:_GONE])
    rows = [(block.id, block.title, block.category, times) for block, times in used]
    sections = (
        HtmlSection("Overview", overview, own=("what",)),
        memory_charts.kinds(status.store, redacted=redacted),
        memory_charts.ages(engine.memory, status.store.now),
        HtmlSection("Health", replace(table_of(look("health")), title=""), own=("area", "status", "command")),
        memory_charts.calibration(table),
        memory_charts.brier(table),
        memory_charts.decay(look("decay categories"), redacted=redacted),
        None if frame is None else memory_charts.fill(frame, redacted=redacted),
        HtmlSection("Most used", sheet("", "id:id title* category uses:n", rows)),
        HtmlSection("What drops below the threshold", gone),
    )
    return page(
        # What a file is called may be a text of the memory, and an address may end in a password.
        "A memory" if redacted else engine.store_name.partition("?")[0],
        _note(f"{status.store.now:%Y-%m-%d %H:%M}", redacted=redacted),
        [one for one in sections if one is not None],
        palettes,
        redacted=redacted,
    )


def of_diagnosis(result: Diagnosis, palettes: tuple[Palette, Palette], *, redacted: bool) -> str:
    """The page of one diagnosed answer."""
    asked = sheet("", "what value*", [("cause", result.cause)])
    sections = (
        HtmlSection("Cause", asked, own=("what", "value")),
        HtmlSection("Evidence", table_of(result), own=("_", "step")),
    )
    return page(
        "Why an answer missed a fact", _note("", redacted=redacted), sections, palettes, redacted=redacted
    )


def _note(at: str, *, redacted: bool) -> str:
    return ". ".join(part for part in (at, REDACTED if redacted else SHOWN) if part)

"""A session as a self-contained HTML page, for an issue or a colleague."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amgs_app.pages.charts import ChartLine, draw_lines
from amgs_app.pages.html_page import HtmlSection, page
from amgs_app.render.catalogue import table_of
from amgs_app.views.sessions.results import SessionCache, SessionLosses, SessionRegrets

if TYPE_CHECKING:
    from amgs.wings.sessions.review import SessionReview
    from amgs_app.terminal.themes import Palette

_NOTE = "Made from the session's own file by rules, without a model."
_OPEN = "It holds words and paths of the session; --redact leaves them out."
_CLOSED = "Words and paths of the session are left out."


def of_session(result: SessionReview, palettes: tuple[Palette, Palette], *, redacted: bool) -> str:
    """Return the page of a session: the window, losses, what was needed again, and the cache."""
    facts = result.facts
    title = f"A session of {facts.agent}" if redacted else f"{facts.agent}: {facts.title or facts.project}"
    sections = [
        HtmlSection("The session", replace(table_of(result), digest=None), own=("part", "kind")),
        *(HtmlSection("The window", charts=(chart,)) for chart in _window(result)),
        HtmlSection("Lost", table_of(SessionLosses(facts, result.losses)), own=("class",)),
        HtmlSection("Needed again", table_of(SessionRegrets(facts, result.regrets, result.kinds)), own=("kind",)),
        HtmlSection("The cache", table_of(SessionCache(facts, result.cache)), own=("because",)),
    ]
    return page(title, f"{_NOTE} {_CLOSED if redacted else _OPEN}", sections, palettes, redacted=redacted)


def _window(result: SessionReview) -> tuple[str, ...]:
    """Return a chart of the window's fill; none if the file reports no tokens."""
    fills = result.fills
    if len(fills) < 2:
        return ()
    top = float(result.facts.window or max(fill.tokens for fill in fills) or 1)
    first, last = fills[0].turn, fills[-1].turn
    points = tuple((float(fill.turn), float(fill.tokens)) for fill in fills)
    chart = draw_lines(
        "The window",
        [ChartLine("tokens", points, f"{fills[-1].tokens:,}")],
        across=[(float(first), f"turn {first}"), (float(last), f"turn {last}")],
        up=[(0.0, "0"), (top / 2, f"{top / 2:,.0f}"), (top, f"{top:,.0f}")],
        limit=(0.8 * top, "80 %"),
    )
    return (chart,)

"""The one line at the top: which store, how much it holds, which model, what time it is there, how well it
forecasts.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget


@dataclass(frozen=True, slots=True)
class Facts:
    """What the header knows; None where it is not known yet.

    threshold: relevance under which a block fades. brier: mean Brier score. live: False while the past is
    shown."""

    store: str
    now: datetime | None = None
    blocks: int | None = None
    raw: int | None = None
    threshold: float | None = None
    model: str = ""
    brier: float | None = None
    live: bool | None = None


def header_line(facts: Facts, width: int) -> Content:
    """The facts in at most `width` cells; what matters least is left out first."""
    parts: list[tuple[int, str, str]] = [(0, " amgs ", "bold $accent"), (1, facts.store, "bold $foreground")]
    if facts.blocks is not None:
        parts.append((2, f"{facts.blocks:,} blocks", "$foreground"))
        parts.append((3, f"{facts.raw or 0:,} raw", "bold $warn" if facts.raw else "$muted"))
    if facts.threshold is not None:
        parts.append((8, f"θ {facts.threshold:.2f}", "$muted"))
    if facts.model:
        parts.append((5, facts.model, "$muted"))
    if facts.now is not None:
        parts.append((4, facts.now.strftime("%Y-%m-%d %H:%M"), "$foreground"))
    parts.append(
        (7, "Brier —" if facts.brier is None else f"Brier {facts.brier:.3f}".replace("0.", "."), "$muted")
    )
    if facts.live is not None:
        parts.append((6, *(("● live", "$good") if facts.live else ("◆ past", "bold $warn"))))
    while len(parts) > 1 and _width(parts) > width:
        parts.remove(max(parts))
    pieces: list[str | tuple[str, str]] = []
    for position, (_, text, style) in enumerate(parts):
        pieces += [("   " if position > 1 else " ", "") if position else "", (text, style)]
    return Content.assemble(*pieces).truncate(width, ellipsis=True)


def _width(parts: list[tuple[int, str, str]]) -> int:
    return sum(len(text) for _, text, _ in parts) + 3 * (len(parts) - 1)


class HeaderLine(Widget):
    """Draws Facts; the app sets them."""

    DEFAULT_CSS = """
    HeaderLine { height: 1; background: $panel; color: $foreground; }
    """

    facts: reactive[Facts] = reactive(Facts("…"))

    def render(self) -> Content:
        return header_line(self.facts, self.size.width)

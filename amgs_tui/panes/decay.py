"""4 Decay: how the selected block fades, and which blocks will fall under the threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text

from amgs_tui.keys import shown
from amgs_tui.panes.base import Ask, ListPane
from amgs_tui.pictures.canvas import Canvas
from amgs_tui.pictures.notice import notice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amgs.model import DecayCurve, Forecast

DAYS = (1.0, 3.0, 7.0, 14.0, 30.0, 90.0, 180.0, 365.0)


class DecayPane(ListPane):
    """The curve of the selection above the forecast."""

    NAME = "decay"
    SHOWS = frozenset({"decay curve", "decay forecast"})
    PURPOSE = """\
Relevance halves with every half-life since a block was last reinforced. The curve is the selected block's,
with a mark for every reinforcement; the list is of blocks that fall under the threshold within the days
ahead, soonest first. Moving in the list selects the block."""

    BINDINGS: ClassVar[list[Any]] = [
        shown("left_square_bracket", "days(-1)", "days", "decay.fewer", "Look less far ahead"),
        shown("right_square_bracket", "days(1)", "days", "decay.more", "Look farther ahead"),
        shown(
            "w", "what_if", "what if", "decay.what_if", "What a pin or another decay would do to this block"
        ),
        shown("enter", "read", "read", "decay.read", "Read the block under the cursor"),
        *ListPane.BINDINGS,
    ]

    def __init__(self) -> None:
        super().__init__()
        self.curve: DecayCurve | None = None
        self.forecast: Forecast | None = None
        self.days = 30.0

    def asks(self) -> Iterable[Ask]:
        selected = self.workstation.selected
        if selected is not None:
            yield "decay curve", {"block": selected, "days": self.days}
        yield "decay forecast", {"days": self.days}

    def take(self, verb: str, result: Any) -> None:
        if verb == "decay curve":
            self.curve = result
        else:
            self.forecast = result
            self.cursor = max(0, min(self.cursor, self.rows - 1))

    @property
    def rows(self) -> int:
        return len(self.forecast.rows) if self.forecast is not None else 0

    def subtitle(self) -> str:
        return f"{self.days:g} days ahead · [ ] change them" if self.forecast is not None else ""

    def moved(self) -> None:
        if self.forecast is not None and self.rows:
            self.post_message(self.Picked(self.forecast.rows[self.cursor].block.id))

    def selection_changed(self, block_id: str | None) -> None:
        rows = self.forecast.rows if self.forecast is not None else ()
        self.cursor = next((n for n, row in enumerate(rows) if row.block.id == block_id), self.cursor)
        if block_id is not None and self.has_place:
            self.ask("decay curve", origin="screen", block=block_id, days=self.days)
        else:
            self.stale = True

    def draw(self, canvas: Canvas) -> Text:
        if self.curve is None and self.forecast is None:
            return notice(canvas, "Decay", (), "Waiting for the memory …")
        from amgs_tui.pictures import decay

        rows = self.forecast.rows if self.forecast is not None else ()
        return decay.decay(
            canvas,
            now=self.forecast.as_of if self.forecast is not None else self.workstation.now(),
            curve=self.curve,
            forecast=self.forecast,
            selected=self.workstation.selected if rows else None,
        )

    def action_days(self, by: int) -> None:
        place = min(range(len(DAYS)), key=lambda n: abs(DAYS[n] - self.days))
        self.days = DAYS[max(0, min(place + by, len(DAYS) - 1))]
        self.look()

    def action_what_if(self) -> None:
        """A preview that changes nothing; `block set` or `block pin` makes it so."""
        selected = self.workstation.selected
        if selected is not None:
            self.workstation.action_command(f"decay preview {selected[:12]} --days {self.days:g} --pin")

    def action_read(self) -> None:
        if self.forecast is not None and self.rows:
            self.workstation.pick(self.forecast.rows[self.cursor].block.id)
            self.workstation.action_peek()

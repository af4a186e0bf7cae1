"""4 Decay: how blocks and categories fade, and the whole memory as it will be on a day ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from rich.text import Text

from amgs.text.words import plural
from amgs_app import operations
from amgs_app.decay.rows import list_falling
from amgs_app.render.canvas import Canvas, Figure
from amgs_app.render.glyphs import notice
from amgs_tui.dialogs.questions import confirm
from amgs_tui.keys import hide, show
from amgs_tui.panes.lists import ListPane, next_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amgs.lifecycle.decay_forecast import DecayPreview
    from amgs.types import CategoryCurves, DecayCurve, Forecast
    from amgs_app.calls.call import Call
    from amgs_app.calls.marks import ProfileName
    from amgs_app.render.rows import RowList
    from amgs_tui.host import Host

REACHES = (1.0, 3.0, 7.0, 14.0, 30.0, 90.0, 180.0, 365.0, 1095.0)
"""Days that the curves reach ahead."""
STEPS = 30
"""Steps that the scrubber takes over the reach, of a day at least where the reach is longer."""
Curves = Literal["both", "block", "categories"]
Supposition = Literal["", "pinned", "core", "durable", "standard", "ephemeral"]
CURVES: tuple[Curves, ...] = get_args(Curves)
SUPPOSITIONS: tuple[Supposition, ...] = get_args(Supposition)
"""Decay profiles that w previews for the selected block, in turn."""
BESIDE = 4
"""Curves of categories beside that of a block."""


class DecayPane(ListPane):
    """The curves, above the memory as it will be."""

    NAME = "decay"
    SHOWS = frozenset({"decay curve", "decay forecast"})
    PURPOSE = """\
Relevance halves with every half-life since a block was last used. A block that drops below the threshold ranks lower,
but it stays in the memory and can be found: nothing is removed before prune. The bright curve is the selected block's,
with a mark for every use; the curves with letters are the means of categories. ← and → move through the days ahead: the
list, the categories and the histogram show the memory as it will look then if nothing is used until then. The list
names the blocks that drop below the threshold on the way, those that were of use first. w previews a pin or another
decay profile of the selected block, c applies it. Moving in the list selects the block."""

    BINDINGS: ClassVar[list[Any]] = [
        show("right", "scrub(1)", "time", "decay.later", "One step into the future", key_display="←→"),
        hide("left", "scrub(-1)", "time", "decay.sooner", "One step back towards today"),
        show("left_square_bracket", "reach(-1)", "reach", "decay.fewer", "Shorten the range of days"),
        show("right_square_bracket", "reach(1)", "reach", "decay.more", "Extend the range of days"),
        show("w", "suppose", "what if", "decay.what_if", "Preview a pin or another decay profile, in turn"),
        show("c", "make_so", "apply", "decay.make_so", "Apply the previewed decay profile"),
        show("v", "view", "curves", "decay.view", "Show block and categories, the block alone, the categories alone"),
        show("enter", "read", "read", "decay.read", "Read the selected block"),
        *ListPane.BINDINGS,
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.curve: DecayCurve | None = None
        self.curves: CategoryCurves | None = None
        self.forecast: Forecast | None = None
        self._page: RowList[Any] | None = None
        self.preview: DecayPreview | None = None
        self.reach = 30.0
        self.days = 30.0
        self.supposed: Supposition = ""
        self.view: Curves = "both"

    # --- what it asks and gets ------------------------------------------------------------------------------

    def asks(self) -> Iterable[Call[Any]]:
        yield from self._asks_of_block()
        yield operations.decay.curve(days=self.reach, categories=True)
        yield operations.decay.forecast(days=self.days)

    def slot_of(self, call: Call[Any]) -> str:
        return f"{call.operation.name} {call.arguments.get('categories', '')}"

    def _asks_of_block(self) -> Iterable[Call[Any]]:
        selected = self.host.selected
        if selected is not None:
            yield operations.decay.curve(
                selected, profile=self._profile, pin=self.supposed == "pinned", days=self.reach
            )

    @property
    def _profile(self) -> ProfileName | None:
        """The supposed decay profile; None for none, and for a pin."""
        if self.supposed == "" or self.supposed == "pinned":
            return None
        return self.supposed

    def take(self, result: object) -> None:
        from amgs.lifecycle.decay_forecast import DecayPreview
        from amgs.types import CategoryCurves, DecayCurve, Forecast

        match result:
            case DecayCurve():
                self.curve = result
            case DecayPreview():
                self.curve, self.preview = result.now, result
            case CategoryCurves():
                self.curves = result
            case Forecast():
                chosen = self.block_at_cursor()
                self.forecast, self._page = result, list_falling(result)
                self.clip_cursor()
                self.place_on(row.block.id == chosen for row, _ in self.items)

    # --- the list -------------------------------------------------------------------------------------------

    @property
    def page(self) -> RowList[Any] | None:
        return self._page

    def subtitle(self) -> str:
        if self.forecast is None:
            return ""
        if self.supposed:
            return f"what if {self.supposed} · w another · c applies it"
        return f"in {self.days:g} of {self.reach:g} days · ← → time · [ ] reach"

    def selection_changed(self, block_id: str | None) -> None:
        self.place_on(row.block.id == block_id for row, _ in self.items)
        self.supposed, self.preview = "", None
        if block_id is None or not self.has_place:
            self.stale = True
            return
        self._look_at_block()

    # --- drawing --------------------------------------------------------------------------------------------

    def draw(self, canvas: Canvas) -> Text:
        if self.curve is None and self.forecast is None:
            return notice(canvas, "Decay", (), self.waits)
        if self.curve is None and self.curves is not None and not self.curves.curves:
            keys = ("1  the inbox: c consolidates it", "/  find a block to see its curve")
            return notice(canvas, "Nothing fades yet", keys, "Blocks fade once they are consolidated.")
        return super().draw(canvas)

    def figure(self, canvas: Canvas) -> Figure | None:
        from amgs_app.decay import figure as decay

        curve = self.curve if self.view != "categories" else None
        categories: dict[str, decay.Series] = {}
        if self.curves is not None and (self.view != "block" or curve is None):
            most = BESIDE if curve is not None else decay.MOST_CATEGORIES
            own = curve.block.category if curve is not None else ""
            categories = decay.series_of(self.curves, own, most)
        supposed = self.preview.then if self.preview is not None and self.supposed else None
        return decay.decay(
            canvas,
            now=self.forecast.as_of if self.forecast is not None else self.host.now(),
            curve=curve,
            forecast=self.forecast,
            categories=categories,
            listed=self.shown_rows,
            cursor=self.shown_rows.place_of(self._marked) if self.shown_rows is not None else None,
            supposed=supposed,
            at_days=self.days,
        )

    @property
    def _marked(self) -> str | None:
        """Block of the marked row: the selected block, whose curve is drawn.

        With no selection, the block under the cursor; none where the selected block is not in the list.
        """
        selected = self.host.selected
        if selected is None and self.rows:
            return self.block_at_cursor()
        return selected if any(row.block.id == selected for row, _ in self.items) else None

    # --- what the keys do -----------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        """Move the cursor; if the selected block is not in the list, select the row where the cursor was left."""
        if self.rows and self._marked is None:
            self.cursor = min(self.cursor, self.rows - 1)
            self.follow_cursor()
            self.repaint()
        else:
            super().action_move(by)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action == "make_so":
            return bool(self.supposed)
        return self.host.selected is not None if action == "suppose" else True

    def action_scrub(self, by: int) -> None:
        """Go to another day: only the memory at that time is requested, the curves stay."""
        step = self.reach / STEPS
        step = max(1.0, round(step)) if self.reach > 1 else step
        days = min(self.reach, max(0.0, (round(self.days / step + 1e-9) + by) * step))
        if days != self.days:
            self.days = days
            self._look_ahead()

    def action_reach(self, by: int) -> None:
        """Look farther ahead or less far, at the end of the new reach."""
        place = min(range(len(REACHES)), key=lambda n: abs(REACHES[n] - self.reach))
        self.reach = self.days = REACHES[max(0, min(place + by, len(REACHES) - 1))]
        self.look()

    def action_suppose(self) -> None:
        """Preview the next decay profile for the selected block; nothing is changed."""
        turn = [name for name in SUPPOSITIONS if not name or name != self._present]
        self.supposed = next_of(turn, self.supposed)
        self.preview = None
        self._look_at_block()

    def _look_at_block(self) -> None:
        for call in self._asks_of_block():
            self.ask(call, origin="screen")
        self.show_change()

    @property
    def _present(self) -> str:
        """Present decay profile of the selected block."""
        if self.curve is None:
            return ""
        from amgs.decay import profile_name

        return profile_name(self.curve.block.decay_lambda)

    def action_make_so(self) -> None:
        """Set the previewed decay profile, after confirmation."""
        block, pace = self.host.selected, self.supposed
        if block is None or not pace:
            return
        title = self.host.titles.get(block, block[:12])
        words = f"“{title}” changes from {self._present} to {pace}. `undo` reverts it."

        def apply() -> None:
            self.supposed, self.preview = "", None
            if pace == "pinned":
                self.ask(operations.block.set_block(block, pin=True))
            else:
                self.ask(operations.block.set_block(block, profile=pace))

        confirm(self.app, "Apply this decay profile?", words, apply)

    def action_view(self) -> None:
        self.view = next_of(CURVES, self.view)
        self.repaint()

    def action_read(self) -> None:
        self.read(self.block_at_cursor() if self.host.selected is None else None)

    def _look_ahead(self) -> None:
        self.ask(operations.decay.forecast(days=self.days), origin="screen")
        self.show_change()

    def copy_text(self) -> str:
        """Return the blocks that drop below the threshold, one per line; without any, the picture."""
        if not self.rows or self.forecast is None:
            return super().copy_text()
        lines = [
            f"{row.falls_at:%Y-%m-%d %H:%M}  {row.relevance_now:.3f} → {row.relevance_then:.3f}  "
            f"{row.block.category}  {row.block.title}  {row.block.id[:12]}"
            for row, _ in self.items
        ]
        drop = "drops" if len(lines) == 1 else "drop"
        head = f"{plural(len(lines), 'block')} {drop} below {self.forecast.threshold:g} within {self.days:g} days"
        return "\n".join([head, *lines])

"""4 Decay: how blocks and categories fade, and the whole memory as it will look at any day ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from rich.text import Text

from amgs_tui.keys import quiet, shown
from amgs_tui.listings import of_falling
from amgs_tui.panes.base import Ask, ListPane
from amgs_tui.pictures.canvas import Canvas
from amgs_tui.pictures.notice import notice
from amgs_tui.pictures.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from amgs.lifecycle.preview import DecayPreview
    from amgs.model import CategoryCurves, DecayCurve, Forecast, ForecastRow
    from amgs_tui.sifting import Row

REACHES = (1.0, 3.0, 7.0, 14.0, 30.0, 90.0, 180.0, 365.0, 1095.0)
"""Days that the curves reach ahead."""
STEPS = 30
"""Steps that the scrubber takes over the reach, of a day at least where the reach is longer."""
Curves = Literal["both", "block", "categories"]
CURVES: tuple[Curves, ...] = ("both", "block", "categories")
SUPPOSITIONS = ("", "pinned", "core", "durable", "standard", "ephemeral")
"""What w supposes of the selected block, in turn."""
BESIDE = 4
"""Curves of categories beside that of a block."""


class DecayPane(ListPane):
    """The curves above the memory as it will look."""

    NAME = "decay"
    SHOWS = frozenset({"decay curve", "decay categories", "decay forecast", "decay preview"})
    PURPOSE = """\
Relevance halves with every half-life since a block was last used. The bright curve is the selected block's, with a
mark for every use; the others are the means of categories. Left and right move through the days ahead: the list, the
categories and the histogram show the memory as it will look then, if nothing is used until then. w supposes a pin
or another pace for the selected block, W makes it so. Moving in the list selects the block."""

    BINDINGS: ClassVar[list[Any]] = [
        shown("right", "scrub(1)", "time", "decay.later", "A step into the days ahead", key_display="←→"),
        quiet("left", "scrub(-1)", "time", "decay.sooner", "A step back towards today"),
        shown("left_square_bracket", "reach(-1)", "reach", "decay.fewer", "Curves that reach less far ahead"),
        shown("right_square_bracket", "reach(1)", "reach", "decay.more", "Curves that reach farther ahead"),
        shown(
            "w", "suppose", "what if", "decay.what_if", "Suppose a pin or another pace of this block, in turn"
        ),
        shown("W", "make_so", "make it so", "decay.make_so", "Give the block the pace that is supposed"),
        shown("v", "view", "curves", "decay.view", "Block and categories, the block, the categories"),
        shown("enter", "read", "read", "decay.read", "Read the block under the cursor"),
        *ListPane.BINDINGS,
    ]

    def __init__(self) -> None:
        super().__init__()
        self.curve: DecayCurve | None = None
        self.curves: CategoryCurves | None = None
        self.forecast: Forecast | None = None
        self.preview: DecayPreview | None = None
        self.reach = 30.0
        self.days = 30.0
        self.supposed = ""
        self.view: Curves = "both"

    # --- what it asks and gets ------------------------------------------------------------------------------

    def asks(self) -> Iterable[Ask]:
        yield from self._asks_of_block()
        yield "decay categories", {"days": self.reach}
        yield self._asks_ahead()

    def _asks_of_block(self) -> Iterable[Ask]:
        selected = self.workstation.selected
        if selected is not None:
            yield "decay curve", {"block": selected, "days": self.reach}
            if self.supposed:
                yield "decay preview", {"block": selected, "days": self.reach} | self._pace

    def _asks_ahead(self) -> Ask:
        selected = self.workstation.selected
        what_if = {"block": selected} | self._pace if self.supposed and selected is not None else {}
        return "decay forecast", {"days": self.days} | what_if

    @property
    def _pace(self) -> dict[str, Any]:
        """What is supposed, as the verbs take it."""
        return {"pin": True} if self.supposed == "pinned" else {"profile": self.supposed}

    def take(self, verb: str, result: Any) -> None:
        if verb == "decay curve":
            self.curve = result
        elif verb == "decay categories":
            self.curves = result
        elif verb == "decay preview":
            self.preview = result
        else:
            chosen = self.listed[self.cursor].block.id if self.cursor < self.rows else None
            self.forecast = result
            ids = [row.block.id for row in self.listed]
            self.cursor = ids.index(chosen) if chosen in ids else max(0, min(self.cursor, self.rows - 1))

    # --- the list -------------------------------------------------------------------------------------------

    def all_rows(self) -> Sequence[Row]:
        return of_falling(self.forecast) if self.forecast is not None else ()

    @property
    def listed(self) -> Sequence[ForecastRow]:
        """What falls, as the filter leaves it and in its order."""
        rows = self.forecast.rows if self.forecast is not None else ()
        return [rows[place] for place in self.places] if self.sift else rows

    def sifted(self) -> None:
        self.cursor = 0
        self.moved()

    @property
    def rows(self) -> int:
        return len(self.listed)

    def subtitle(self) -> str:
        if self.forecast is None:
            return ""
        if self.supposed:
            return f"what if {self.supposed} · w another · W makes it so"
        return f"in {self.days:g} of {self.reach:g} days · ← → time · [ ] reach"

    def moved(self) -> None:
        if self.rows:
            self.post_message(self.Picked(self.listed[self.cursor].block.id))

    def selection_changed(self, block_id: str | None) -> None:
        self.cursor = next((n for n, row in enumerate(self.listed) if row.block.id == block_id), self.cursor)
        was_supposed, self.supposed, self.preview = self.supposed, "", None
        if block_id is None or not self.has_place:
            self.stale = True
            return
        for verb, arguments in (*self._asks_of_block(), *([self._asks_ahead()] if was_supposed else [])):
            self.ask(verb, origin="screen", **arguments)
        self._say()

    # --- drawing --------------------------------------------------------------------------------------------

    def draw(self, canvas: Canvas) -> Text:
        if self.curve is None and self.forecast is None:
            return notice(canvas, "Decay", (), "Waiting for the memory …")
        if self.curve is None and self.curves is not None and not self.curves.curves:
            keys = ("1  the inbox: c consolidates what waits", "/  find a block to see its curve")
            return notice(canvas, "Nothing fades yet", keys, "What is consolidated fades at its own pace.")
        from amgs_tui.pictures import decay

        curve = self.curve if self.view != "categories" else None
        categories: dict[str, decay.Series] = {}
        if self.curves is not None and (self.view != "block" or curve is None):
            most = BESIDE if curve is not None else decay.MOST_CATEGORIES
            own = curve.block.category if curve is not None else ""
            categories = decay.series_of(self.curves, own, most)
        supposed = self.preview.then if self.preview is not None and self.supposed else None
        return decay.decay(
            canvas,
            now=self.forecast.as_of if self.forecast is not None else self.workstation.now(),
            curve=curve,
            forecast=self.forecast,
            categories=categories,
            selected=self._marked,
            shown=self.places if self.sift else None,
            supposed=supposed,
            at_days=self.days,
        )

    @property
    def _marked(self) -> str | None:
        """The row that is marked: the selected block, else the one under the cursor."""
        selected = self.workstation.selected
        if not self.rows or any(row.block.id == selected for row in self.listed):
            return selected if self.rows else None
        return self.listed[self.cursor].block.id

    # --- what the keys do -----------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action == "make_so":
            return bool(self.supposed)
        return self.workstation.selected is not None if action == "suppose" else True

    def action_scrub(self, by: int) -> None:
        """Another day: only the memory then is asked for, the curves stay."""
        step = self.reach / STEPS
        step = max(1.0, round(step)) if self.reach > 1 else step
        days = min(self.reach, max(0.0, (round(self.days / step + 1e-9) + by) * step))
        if days != self.days:
            self.days = days
            self._look_ahead()

    def action_reach(self, by: int) -> None:
        """Farther or less far; the scrubber goes to the end."""
        place = min(range(len(REACHES)), key=lambda n: abs(REACHES[n] - self.reach))
        self.reach = self.days = REACHES[max(0, min(place + by, len(REACHES) - 1))]
        self.look()

    def action_suppose(self) -> None:
        """The next supposition about the selected block; nothing is changed by it."""
        turn = [name for name in SUPPOSITIONS if not name or name != self._present]
        self.supposed = (
            turn[(turn.index(self.supposed) + 1) % len(turn)] if self.supposed in turn else turn[1]
        )
        self.preview = None
        for verb, arguments in self._asks_of_block():
            self.ask(verb, origin="screen", **arguments)
        self._look_ahead()

    @property
    def _present(self) -> str:
        """The pace that the selected block has now."""
        if self.curve is None:
            return ""
        from amgs.decay import profile_name

        return profile_name(self.curve.block.decay_lambda)

    def action_make_so(self) -> None:
        """Ask, then set what was supposed; it is in the journal like any change."""
        from amgs_tui.screens.dialog import Confirm

        block, pace = self.workstation.selected, self.supposed
        if block is None or not pace:
            return
        title = self.workstation.titles.get(block, block[:12])
        words = f"“{title}” is {self._present}. It becomes {pace}; `undo` takes it back."

        def answered(yes: bool | None) -> None:
            if yes:
                self.supposed, self.preview = "", None
                if pace == "pinned":
                    self.ask("block pin", block=block)
                else:
                    self.ask("block set", block=block, profile=pace)

        self.workstation.push_screen(Confirm("Make it so?", words), answered)

    def action_view(self) -> None:
        self.view = CURVES[(CURVES.index(self.view) + 1) % len(CURVES)]
        self.repaint()

    def action_read(self) -> None:
        if self.rows:
            self.workstation.pick(self.listed[self.cursor].block.id)
            self.workstation.action_peek()

    def _look_ahead(self) -> None:
        verb, arguments = self._asks_ahead()
        self.ask(verb, origin="screen", **arguments)
        self._say()
        self.repaint()
        self.refresh_bindings()

    def copied(self) -> str:
        """What falls, one block a line; the picture where nothing does."""
        if not self.rows or self.forecast is None:
            return super().copied()
        lines = [
            f"{row.falls_at:%Y-%m-%d %H:%M}  {row.relevance_now:.3f} → {row.relevance_then:.3f}  "
            f"{row.block.category}  {row.block.title}  {row.block.id[:12]}"
            for row in self.listed
        ]
        head = f"{plural(len(lines), 'block')} under {self.forecast.threshold:g} in {self.days:g} days"
        return "\n".join([head, *lines])

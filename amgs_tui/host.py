"""Access of panes and widgets to the program, and completion of typed lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from amgs.types import Block, Frame
    from amgs_app.calls.call import Call
    from amgs_app.render.canvas import Canvas
    from amgs_app.results.overview import Overview
    from amgs_app.terminal.output import Symbols
    from amgs_app.terminal.themes import Palette
    from amgs_focus.views import FocusView
    from amgs_tui.messages import EngineRequest, Follow, Origin


@dataclass(frozen=True, slots=True)
class Completion:
    """A completion: the word to show, and the whole resulting line."""

    label: str
    line: str


Complete = Callable[[str], Sequence[Completion]]
"""Returns completions of a line, most likely first; called with every key, so it must be fast."""
Explain = Callable[[str], str]
"""Returns a hint for a line: the usage of its command."""


class Host(Protocol):
    """The workstation for its panes: drawing, known state, and actions."""

    # --- to draw with -------------------------------------------------------------------------------------

    @property
    def palette(self) -> Palette:
        """Colours of the present theme."""

    @property
    def symbols(self) -> Symbols:
        """Symbols that the terminal can show."""

    def canvas(self, width: int, height: int) -> Canvas:
        """Return a canvas of width × height cells in the present theme and the terminal's symbols."""

    # --- what is known ------------------------------------------------------------------------------------

    def now(self) -> datetime:
        """Return the memory's time."""

    @property
    def selected(self) -> str | None:
        """Id of the block that is selected in every pane."""

    @property
    def titles(self) -> Mapping[str, str]:
        """Titles of the blocks seen so far, by id."""

    @property
    def overview(self) -> Overview | None:
        """Status of the memory; None until it has been read."""

    @property
    def last_frame(self) -> Frame | None:
        """Frame assembled last."""

    @property
    def lifetime(self) -> FocusView | None:
        """Working context as shown in the focus pane."""

    @property
    def waits_for(self) -> str:
        """Running request and its remaining time; "" if nothing runs."""

    def shows(self, pane: str) -> bool:
        """Return whether the layout includes this pane."""

    # --- to have done -------------------------------------------------------------------------------------

    def ask(
        self, call: Call[Any], *, slot: str = "", origin: Origin = "operator", follow: Follow | None = None
    ) -> EngineRequest | None:
        """Pass a call to the engine's threads; None if the same call already waits.

        follow: further requests delivered with the result, so that the screen gets both at once.
        """

    def run_line(self, line: str) -> EngineRequest | None:
        """Pass a line to the engine's threads, as if the operator had typed it."""

    def pick(self, block_id: str) -> None:
        """Select a block in every pane."""

    def go(self, pane: str) -> None:
        """Go to a pane; the layout is stored."""

    def read_block(self) -> None:
        """Show the selected block in full."""

    def show_page(self, title: str, result: object) -> None:
        """Show a result on a page above the panes."""

    def copy(self, text: str) -> None:
        """Copy a text to the terminal's clipboard and this machine's."""

    def find_block(self, title: str, chosen: Callable[[str], None], first: Sequence[Block] = ()) -> None:
        """Let the operator find a block by its words; `chosen` is called with its id. first: offered before anything is
        typed.
        """

    def command(self, start: str = "") -> None:
        """Open the command line with initial text."""

    def ask_line(
        self,
        topic: str,
        label: str,
        value: str = "",
        *,
        complete: Complete | None = None,
        explain: Explain | None = None,
        hint: str = "",
        replace: bool = False,
        blank: bool = False,
    ) -> None:
        """Ask the operator for a line; the pane whose NAME is the topic receives it in `take_answer`."""

    def give_way(self) -> None:
        """Let panes with nothing to show give their place to others, except the focused pane."""

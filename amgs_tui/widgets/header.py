"""The top line: store, its size, model, time, and quality of forecasts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from amgs_app.terminal.output import printable_line

if TYPE_CHECKING:
    from amgs.types import StoreStatus
    from amgs_tui.host import Host


@dataclass(frozen=True, slots=True)
class HeaderFacts:
    """What the header shows.

    store: the file's name, until the status is known. threshold: relevance below which a block fades. live: False while
    the past is shown. recording: acts are being recorded. sample_time: the clock shows a corpus's own year. read_only:
    the store was opened for reading only.
    """

    store: str
    status: StoreStatus | None = None
    model: str = ""
    threshold: float | None = None
    live: bool = True
    recording: bool = False
    sample_time: bool = False
    read_only: bool = False


class HeaderLine(Widget):
    """Draws its facts."""

    DEFAULT_CSS = """
    HeaderLine { height: 1; background: $panel; color: $foreground; }
    """

    facts: reactive[HeaderFacts] = reactive(HeaderFacts("…"))

    def __init__(self, host: Host) -> None:
        super().__init__()
        self._host = host

    def render(self) -> Content | Text:
        facts = self.facts
        if facts.status is None:
            # The picture needs the engine's types, which are not imported before the first paint.
            return Content.assemble((" amgs", "bold $accent"), "   ", (printable_line(facts.store), "$foreground"))
        from amgs_app.workplace import rows as header

        canvas = self._host.canvas(self.size.width, 1)
        return header.header(
            canvas,
            status=facts.status,
            model=facts.model,
            live=facts.live,
            threshold=facts.threshold,
            recording=facts.recording,
            sample_time=facts.sample_time,
            read_only=facts.read_only,
        )

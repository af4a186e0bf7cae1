"""Sessions: those that agents left on this machine; of a session, the window, what was lost, and what that cost."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events

from amgs_app.render.canvas import Canvas, Figure
from amgs_app.views.sessions import commands
from amgs_app.views.sessions.lists import list_found
from amgs_tui.keys import show
from amgs_tui.panes.lists import FollowingPane, ListPane

if TYPE_CHECKING:
    from amgs.wings.sessions.review import SessionReview
    from amgs_app.calls.call import Call
    from amgs_app.render.rows import RowList
    from amgs_app.views.sessions.figure import SessionRow
    from amgs_tui.host import Host

AT_ONCE = 16 * 1024 * 1024
"""Size in bytes up to which a session is read whole before it is shown, which takes a fifth of a second."""


class SessionsPane(FollowingPane):
    """The list of sessions, or one session in one of its views.

    path: of the open session, "" for none. at: turn whose window is shown, None for the last. words: that the listed
    turns contain.
    """

    NAME = "sessions"
    OF_MEMORY = False
    SHOWS = frozenset({"session", "follow"})
    VIEWS = ("overview", "turns", "window", "lost", "regret", "cache", "rules", "outlook")
    VIEW_OF = {  # noqa: RUF012
        "SessionListing": "sessions",
        "SessionReview": "overview",
        "SessionTurns": "turns",
        "SessionWindowShown": "window",
        "SessionLosses": "lost",
        "SessionRegrets": "regret",
        "SessionCache": "cache",
        "SessionRules": "rules",
        "SessionOutlook": "outlook",
    }
    PURPOSE = """\
The sessions that coding agents left on this machine, newest first; enter opens a session. The strip shows how full the
model's window was at each request, ▼ where it was compacted. Below: of what each compaction dropped, by class, what the
new window holds word for word (█), in other words (▒) and not at all (░), what the agent had to open again, what filled
the window, files, errors, waits and cost; in red above, what went wrong. v opens the next tab: turns, the window at a
turn, all that was lost, what was needed again, the cache, rules, and what a compaction now would drop. w tells why a
thing is lost, r copies the turn under the cursor, / finds words. Nothing is changed or stored; a session that is still
written is followed."""

    BINDINGS: ClassVar[list[Any]] = [
        show("enter", "open", "open", "sessions.open", "Open the session; of a row, read its turn in full"),
        show("v", "view", "view", "sessions.view", "The next tab: turns, window, lost, regret, cache, rules, outlook"),
        show("left", "step(-1)", "time", "sessions.before", "The request before", key_display="←→"),
        show("right", "step(1)", "time", "sessions.after", "The request after"),
        show("w", "why", "why", "sessions.why", "Why it is lost, and whether it was needed again"),
        show("r", "restore", "copy back", "sessions.restore", "Copy the whole turn to the clipboard"),
        show("slash", "find", "find", "sessions.find", "Find words in the turns"),
        show("L", "live", "live", "sessions.live", "Go to the last turn"),
        show("backspace", "back", "back", "sessions.back", "Back to the list of sessions"),
        *ListPane.BINDINGS,
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.path = self.words = ""
        self.at: int | None = None
        self._copying = self._moved = False

    @property
    def waits(self) -> str:
        return "Looking for sessions …"

    # --- what is looked at ----------------------------------------------------------------------------------

    @property
    def review(self) -> SessionReview | None:
        """The open session; None while the list is shown."""
        return self.results.get("overview") if self.view != self.first else None

    def asks(self) -> Iterable[Call[Any]]:
        if self.view == self.first:
            yield commands.session()
        else:
            yield commands.session(self.path)
            yield from self._asks_view()

    def _asks_view(self) -> Iterable[Call[Any]]:
        """Yield the request for the view's own content."""
        if self.view == "turns":
            yield commands.session(self.path, view="turns", find=self.words, at=self.at)
        elif self.view == "window":
            yield commands.session(self.path, view="window", at=self.at)

    def slot_of(self, call: Call[Any]) -> str:
        return f"{call.operation.name} {call.arguments.get('view', '')}"

    def stamp(self) -> float | None:
        return _read_change_time(self.path) if self.review is not None else None

    def list_result(self, result: Any) -> RowList[Any] | None:
        return list_found(result) if self.VIEW_OF[type(result).__name__] == self.first else super().list_result(result)

    def take_view(self, view: str) -> None:
        from amgs_app.views.sessions.rows import list_views

        if view == self.first:
            return
        result = self.results[view]
        if result.facts.path != self.path:
            self._begin(view)
        if view == "overview":
            self.lists |= {"overview": None, **list_views(result)}
        elif view == self.view and self._moved:
            self._stand_on_turn()

    def _begin(self, view: str) -> None:
        """Drop the previous session's results, since another session was opened."""
        for shown in (self.results, self.lists):
            for other in shown.keys() - {self.first, view}:
                del shown[other]
        self.path, self.at, self.words = self.results[view].facts.path, None, ""
        self._stamp = _read_change_time(self.path)
        if view != "overview":
            self.ask(commands.session(self.path), origin="screen")

    def _stand_on_turn(self) -> None:
        """Put the cursor on the chosen turn, or the last row before it."""
        self._moved = False
        if self.view in ("turns", "window"):
            places = (n for n, turn in enumerate(self.items) if self.at is None or turn.number <= self.at)
            self.cursor = max(places, default=0)

    def show_to_operator(self, command: str, result: Any) -> None:
        """Show the view of a result; a turn that was requested for copying is copied instead."""
        if self._copying and type(result).__name__ == "SessionText":
            self.host.copy(result.turn.words)
        else:
            super().show_to_operator(command, result)
            self._stand_on_turn()
        self._copying = False

    # --- rows -----------------------------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        return self.review is None and not self.rows

    @property
    def shown_places(self) -> tuple[int, ...] | None:
        return super().shown_places if self.review is None else None

    @property
    def lines(self) -> list[SessionRow]:
        """Rows of the overview; [] in another view."""
        from amgs_app.views.sessions.figure import overview_rows

        if self.review is None or self.view != "overview":
            return []
        return overview_rows(self.review, self.host.palette, self.canvas().width)

    @property
    def rows(self) -> int:
        return len(self.lines) or super().rows

    @property
    def turn(self) -> int | None:
        """Number of the turn in the row under the cursor, or None."""
        line = self.at_cursor(self.lines)
        turn = line.turn if line is not None else self.block_at_cursor()
        return None if turn is None else int(turn)

    @property
    def lost(self) -> tuple[int, str] | None:
        """Compaction that dropped the text under the cursor, and that text; None if nothing dropped is there."""
        if self.view == "lost" and self.row is not None:
            return self.row[0], self.row[1].text
        line = self.at_cursor(self.lines)
        if line is None or line.lost is None or line.boundary is None:
            return None
        return line.boundary, line.lost.text

    def follow_cursor(self) -> None:
        self.refresh_bindings()

    # --- the picture ----------------------------------------------------------------------------------------

    def subtitle(self) -> str:
        if self.review is None:
            return "enter opens one" if self.rows else ""
        where = "" if self.at is None else f"turn {self.at} · "
        query = f"“{self.words}” · " if self.words and self.view == "turns" else ""
        return f"{where}{query}v next tab"

    def figure(self, canvas: Canvas) -> Figure | None:
        from amgs_app.views.sessions.figure import draw_session

        if self.review is None:
            return super().figure(canvas)
        at = self.turn if self.at is None else self.at
        return draw_session(canvas, self.review, self.cursor, at, self.view, self.shown_rows)

    # --- what the keys do -----------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "open":
                return bool(self.rows) if self.review is None else self.turn is not None
            case "view" | "step" | "find" | "back" | "live":
                return self.review is not None
            case "why":
                return self.lost is not None
            case "restore":
                return self.turn is not None
            case "filter_rows" | "sort_rows":
                return self.review is None
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        """Open the session under the cursor, its end first if the file is large; in an open session, read the turn."""
        if self.review is not None:
            self._read()
        elif self.row is not None:
            session = self.row[0]
            if session.size > AT_ONCE:
                self.ask(commands.session(session.path, end=True), slot="sessions:end")
            self.ask(commands.session(session.path))

    def _read(self, *, copying: bool = False) -> None:
        if self.turn is not None:
            self._copying = copying
            self.ask(commands.session(self.path, view="text", at=self.turn))

    def action_view(self) -> None:
        self._open_view(self.next_view)

    def _open_view(self, view: str) -> None:
        self.turn_to(view)
        self._moved = True
        for call in self._asks_view():
            self.ask(call, origin="screen")

    def on_click(self, event: events.Click) -> None:
        """Open the view of a clicked tab, or put the cursor on a clicked row."""
        from amgs_app.views.sessions.figure import tab_at

        offset = event.get_content_offset(self)
        tab = tab_at(offset.x, offset.y) if offset is not None and self.review is not None else None
        if tab is not None:
            self._open_view(tab)
        else:
            super().on_click(event)

    def action_step(self, by: int) -> None:
        """Go to the request before or after the chosen turn."""
        if self.review is None or not self.review.fills:
            return
        turns = [fill.turn for fill in self.review.fills]
        now = turns[-1] if self.at is None else self.at
        place = min(range(len(turns)), key=lambda n: abs(turns[n] - now))
        self.at = turns[max(0, min(place + by, len(turns) - 1))]
        self._open_view(self.view if self.view == "turns" else "window")

    def action_live(self) -> None:
        self.at = None
        self._open_view(self.view)

    def action_why(self) -> None:
        if self.lost is not None:
            boundary, text = self.lost
            self.ask(commands.session(self.path, view="why", at=boundary, find=text))

    def action_restore(self) -> None:
        """Request the turn, which is copied when it arrives."""
        self._read(copying=True)

    def action_find(self) -> None:
        hint = "Words that a turn must hold, all of them. Blank: every turn."
        self.ask_line("words", self._search, self.words, hint=hint, replace=True, blank=True)

    def _search(self, line: str) -> None:
        self.words, self.at = line.strip(), None
        self._open_view("turns")

    def action_back(self) -> None:
        self.turn_to(self.first)
        self.path = ""
        if self.first not in self.results:
            self.ask(commands.session(), origin="screen")


def _read_change_time(path: str) -> float:
    """Return the time of a file's last change; 0 if there is none."""
    try:
        file = Path(path)
        return (file if file.exists() else Path(path.rpartition("#")[0])).stat().st_mtime
    except OSError:
        return 0.0

"""Sessions: those of agents that lie on this machine; of one, the window, what was lost, and what that cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual import events

from amgs_app.render.canvas import Canvas, Figure
from amgs_app.render.empty_state import notice
from amgs_app.views.sessions import commands
from amgs_app.views.sessions.row_fields import list_found
from amgs_tui.keys import show
from amgs_tui.panes.lists import ListPane

if TYPE_CHECKING:
    from amgs.wings.sessions.listing import ListedSession, SessionListing
    from amgs.wings.sessions.review import SessionReview
    from amgs_app.calls.call import Call
    from amgs_app.render.rows import RowList
    from amgs_app.views.sessions.figure import SessionRow
    from amgs_app.views.sessions.results import SessionText, SessionWhy
    from amgs_tui.host import Host

VIEWS: tuple[commands.View, ...] = ("overview", "turns", "window", "lost", "regret", "cache", "rules", "outlook")
"""The views of a session, in the order of their tabs."""
AT_ONCE = 16 * 1024 * 1024
"""Bytes up to which a session is read whole before it is shown: a fifth of a second."""
_EVERY = 1.0
"""Seconds between two looks at the file of the session that is shown, which may still grow."""


class SessionsPane(ListPane):
    """The sessions that lie here, or one of them in one of its views.

    listing: what lies here. review: of the session that is open. view: which of its views; shown: the results of the
    others, by view. at: the turn whose window is shown, None for the last.
    """

    NAME = "sessions"
    OF_MEMORY = False
    SHOWS = frozenset({"session", "follow"})
    PURPOSE = """\
The sessions that coding agents left on this machine, newest first; enter opens one. The strip shows how full the
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
        self.listing: SessionListing | None = None
        self._found: RowList[Any] | None = None
        self.review: SessionReview | None = None
        self.view: commands.View = "overview"
        self.shown: dict[str, object] = {}
        self.at: int | None = None
        self.words = ""
        self._copying = False
        self._moved = False
        self._stamp = 0.0

    def on_mount(self) -> None:
        self.set_interval(_EVERY, self._follow)

    # --- what is looked at ----------------------------------------------------------------------------------

    def asks(self) -> Iterable[Call[Any]]:
        if self.review is None:
            yield commands.session()
        else:
            yield self._asks_review()
            yield from self._asks_view()

    def _asks_review(self) -> Call[Any]:
        return commands.session(self._path)

    def _asks_view(self) -> Iterable[Call[Any]]:
        """Return what the view shows beside the review."""
        if self.view == "turns":
            yield commands.session(self._path, view="turns", find=self.words, at=self.at)
        elif self.view == "window":
            yield commands.session(self._path, view="window", at=self.at)

    def slot_of(self, call: Call[Any]) -> str:
        return f"{call.operation.name} {call.arguments.get('view', '')}"

    @property
    def _path(self) -> str:
        return self.review.facts.path if self.review is not None else ""

    def take(self, result: object) -> None:
        from amgs.wings.sessions.listing import FoundTurns, SessionListing
        from amgs.wings.sessions.review import SessionReview
        from amgs_app.views.sessions.results import (
            SessionCache,
            SessionLosses,
            SessionOutlook,
            SessionRegrets,
            SessionText,
            SessionTurns,
            SessionWhy,
            SessionWindowShown,
        )

        match result:
            case SessionListing():
                self.listing, self._found = result, list_found(result)
                self.clip_cursor()
            case SessionReview():
                if self.review is None or self.review.facts.path != result.facts.path:
                    self._begin(result)
                self.review = result
                self.clip_cursor()
            case SessionTurns():
                self._show(result.facts.path, "turns", result)
            case SessionWindowShown():
                self._show(result.facts.path, "window", result)
            case SessionLosses():
                self._show(result.facts.path, "lost", result)
            case SessionRegrets():
                self._show(result.facts.path, "regret", result)
            case SessionCache():
                self._show(result.facts.path, "cache", result)
            case SessionText():
                self._read(result)
            case SessionWhy():
                self._explain(result)
            case FoundTurns():
                self.host.show_page("Found in all sessions", result)
            case SessionOutlook():
                self.host.show_page("A compaction now would drop", result)

    def _begin(self, result: SessionReview) -> None:
        """Another session is open."""
        self.view, self.shown, self.at, self.words, self.cursor = "overview", {}, None, "", 0
        self._stamp = _read_change_time(result.facts.path)

    def _show(self, path: str, view: commands.View, result: object) -> None:
        """Keep what a view shows; one that the operator asked for comes to the front."""
        if self.review is None or self.review.facts.path != path:
            self.ask(commands.session(path), origin="screen")
        fresh = view not in self.shown or self._moved
        self.shown[view] = result
        if self.view != view and view in VIEWS and self.busy is not None:
            self.view = view
        if fresh and view == self.view and view in ("turns", "window"):
            self._moved = False
            self.cursor = self._place_of(self.at)
        self.clip_cursor()

    def _place_of(self, turn: int | None) -> int:
        """Return the row of a turn, or the last one before it; the last row for None."""
        places = [n for n, row in enumerate(self.lines) if turn is None or (row.turn or 0) <= turn]
        return places[-1] if places else 0

    def _follow(self) -> None:
        """Look again at a session that has grown since."""
        if self.review is None or not self.has_place or self.busy is not None:
            return
        stamp = _read_change_time(self._path)
        if stamp != self._stamp:
            self._stamp = stamp
            self.look()

    # --- rows -----------------------------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        return self.review is None and (self.listing is None or not self.listing.sessions)

    @property
    def page(self) -> RowList[Any] | None:
        return self._found if self.review is None else None

    @property
    def lines(self) -> Sequence[SessionRow]:
        """Rows of the view."""
        from amgs_app.views.sessions import figure as figures
        from amgs_app.views.sessions.results import SessionTurns, SessionWindowShown

        palette, review = self.host.palette, self.review
        if review is None:
            return ()
        result = self.shown.get(self.view)
        if isinstance(result, SessionTurns | SessionWindowShown):
            return figures.turn_rows(result.turns, palette)
        match self.view:
            case "lost":
                return figures.build_lost_rows(review.losses, palette, self.content_size.width)
            case "regret":
                return figures.regret_rows(review.regrets, palette, review.kinds)
            case "cache":
                return figures.cache_rows(review.cache, palette)
            case "rules":
                return figures.rules_rows(review, palette)
            case "outlook":
                return figures.outlook_rows(review.outlook, palette)
            case "turns" | "window":
                return ()
        return figures.overview_rows(review, palette, self.canvas().width)

    @property
    def rows(self) -> int:
        return len(self.items) if self.review is None else len(self.lines)

    @property
    def row(self) -> SessionRow | None:
        """Row under the cursor, of a session that is open."""
        rows = self.lines if self.review is not None else ()
        return rows[self.cursor] if 0 <= self.cursor < len(rows) else None

    # --- the picture ----------------------------------------------------------------------------------------

    def subtitle(self) -> str:
        if self.review is None:
            return "enter opens one" if self.rows else ""
        where = "" if self.at is None else f"turn {self.at} · "
        query = f"“{self.words}” · " if self.words and self.view == "turns" else ""
        return f"{where}{query}v next tab"

    def rows_on_screen(self) -> Mapping[int, int] | None:
        return {} if self.empty else self._figure(self.canvas()).rows

    def draw(self, canvas: Canvas) -> Text:
        from amgs_app.views.sessions.rows import NONE_HERE

        if self.empty and self.listing is None:
            return notice(canvas, "Sessions", (), "Looking for sessions …")
        if self.empty:
            return notice(
                canvas,
                "No session lies here",
                (":session FILE  open one by its path", ":session sample  open one that comes with the program"),
                NONE_HERE,
            )
        return self._figure(canvas).render()

    def _figure(self, canvas: Canvas) -> Figure:
        from amgs_app.views.sessions import figure as figures

        if self.review is not None:
            row = self.row
            at = self.at if self.at is not None else row.turn if row is not None else None
            return figures.page(canvas, self.review, self.lines, self.cursor, at, self.view)
        return super().figure(canvas) or Figure(canvas)

    # --- what the keys do -----------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        row = self.row
        match action:
            case "open":
                return bool(self.rows) if self.review is None else row is not None and row.turn is not None
            case "view" | "step" | "find" | "back" | "live":
                return self.review is not None
            case "why":
                return row is not None and row.lost is not None
            case "restore":
                return row is not None and row.turn is not None
            case "filter_rows" | "sort_rows":
                return self.review is None
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        """Open the session on the list; of a row, read its turn in full."""
        if self.review is None:
            if self.rows:
                self._ask_for(self.items[self.cursor][0])
            return
        row = self.row
        if row is not None and row.turn is not None:
            self._copying = False
            self.ask(commands.session(self._path, view="text", at=row.turn))

    def _ask_for(self, session: ListedSession) -> None:
        """Open a session; of a large file the end is shown while the rest is read."""
        if session.size > AT_ONCE:
            self.ask(commands.session(session.path, end=True), slot="sessions:end")
        self.ask(commands.session(session.path))

    def action_view(self) -> None:
        self._open_view(VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)])

    def _open_view(self, view: commands.View) -> None:
        self.view, self.cursor = view, 0
        self._look_at_view()

    def on_click(self, event: events.Click) -> None:
        """Open the view of a clicked tab, or put the cursor on a clicked row."""
        from amgs_app.views.sessions.figure import tab_at

        offset = event.get_content_offset(self)
        tab = tab_at(offset.x, offset.y) if offset is not None and self.review is not None else None
        if view := next((name for name in VIEWS if name == tab), None):
            self._open_view(view)
        else:
            super().on_click(event)

    def action_step(self, by: int) -> None:
        """To the request before or after the turn that is looked at."""
        if self.review is None or not self.review.fills:
            return
        turns = [fill.turn for fill in self.review.fills]
        now = self.at if self.at is not None else turns[-1]
        place = min(range(len(turns)), key=lambda n: abs(turns[n] - now))
        self.at = turns[max(0, min(place + by, len(turns) - 1))]
        if self.view not in ("turns", "window"):
            self.view = "window"
        self._look_at_view()

    def action_live(self) -> None:
        self.at = None
        self._look_at_view()

    def _look_at_view(self) -> None:
        self._moved = True
        for call in self._asks_view():
            self.ask(call, origin="screen")
        self.show_change()

    def action_why(self) -> None:
        row = self.row
        if row is not None and row.lost is not None and row.boundary is not None:
            self.ask(commands.session(self._path, view="why", at=row.boundary, find=row.lost.text))

    def action_restore(self) -> None:
        """Have the turn read, and copy it when it comes."""
        row = self.row
        if row is not None and row.turn is not None:
            self._copying = True
            self.ask(commands.session(self._path, view="text", at=row.turn))

    def action_find(self) -> None:
        hint = "Words that a turn must hold, all of them. Blank: every turn."
        self.ask_line("words", self._search, self.words, hint=hint, replace=True, blank=True)

    def _search(self, line: str) -> None:
        self.words, self.view, self.cursor = line.strip(), "turns", 0
        self.at = None
        self._look_at_view()

    def action_back(self) -> None:
        self.review, self.shown, self.cursor = None, {}, 0
        if self.listing is None:
            self.ask(commands.session(), origin="screen")
        self.show_change()

    def _read(self, result: SessionText) -> None:
        """Copy or show the turn that has arrived."""
        if not self._copying:
            self.host.show_page(f"Turn {result.turn.number}", result)
            return
        self._copying = False
        self.host.copy(result.turn.words)

    def _explain(self, result: SessionWhy) -> None:
        self.host.show_page("Why it is lost", result)


def has_sessions() -> bool:
    """Return whether any session lies on this machine."""
    from amgs.wings.sessions.listing import has_sessions as any_below

    return any_below(Path.home())


def _read_change_time(path: str) -> float:
    """Return the time of a file's last write; 0 for none."""
    try:
        return Path(path).stat().st_mtime
    except OSError:
        return 0.0

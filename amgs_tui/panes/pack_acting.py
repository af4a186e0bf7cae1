"""What is done with packs: keep the present frame, read one, judge that, retire, export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from amgs.text.plural import plural
from amgs_app import operations
from amgs_app.terminal.line import quote
from amgs_tui.keys import shown
from amgs_tui.panes.base import Pane

if TYPE_CHECKING:
    from amgs.types.packs import PackForecast, PackOutlook, PackRoute, PackUse
    from amgs_tui.host import Host


ACTING: Final[list[Any]] = [
    shown("e", "ask", "question", "packs.ask", "Ask which packs a question is given"),
    shown("b", "budget", "budget", "packs.budget", "Change the budget, in tokens"),
    shown("K", "keep", "keep frame", "packs.keep", "Keep the present frame as a pack"),
    shown("r", "use", "read", "packs.use", "Read the pack; that it was read is logged"),
    shown(
        "u",
        "judge(True)",
        "useful",
        "packs.useful",
        "The last reading of this pack was useful; of proposals: carry this one out, undo takes it back",
    ),
    shown(
        "x",
        "judge(False)",
        "useless",
        "packs.useless",
        "The last reading of this pack was useless; of proposals: reject this one",
    ),
    shown("D", "retire", "retire", "packs.retire", "List and use this pack no more; undo brings it back"),
    shown("d", "forget", "draft room", "packs.forget", "Plan what to retire so that the others fit"),
    shown("c", "apply", "apply", "packs.apply", "Retire what the plan says"),
    shown("E", "export", "export", "packs.export", "Type the export of this pack to a file"),
]
OF_PACKS: Final = frozenset({"open", "view", "ask", "budget", "use", "retire", "forget", "apply", "export"})
"""Actions on what is listed where that is packs."""


class PackActing(Pane):
    """A pane over packs, one of which is chosen.

    forecast: all of them. route: those for a question, None for no question. room: tokens that are to be enough, None
    for no plan. readings: of the chosen one.
    """

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.forecast: PackForecast | None = None
        self.route: PackRoute | None = None
        self.question = ""
        self.budget: int | None = None
        self.readings: tuple[PackUse, ...] = ()
        self.room: int | None = None
        self._typing: Literal["name", "room", "question", "budget"] = "name"

    @property
    def chosen(self) -> PackOutlook | None:
        """The pack that is looked at."""
        return None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("use", "retire", "export"):
            return self.chosen is not None
        if action == "judge":
            return bool(self.readings)
        if action in ("forget", "ask"):
            return self.forecast is not None and bool(self.forecast.packs)
        if action == "budget":
            return bool(self.question)
        if action == "apply":
            return self.room is not None and self.forecast is not None and bool(self.forecast.forgotten)
        return super().check_action(action, parameters)

    def action_keep(self) -> None:
        """Ask for a name for the frame that was assembled last; without one, type the command."""
        frame = self.host.last_frame
        if frame is None or not frame.selected:
            self.host.command("pack keep ")
            return
        self._typing = "name"
        about = f" for “{frame.query}”" if frame.query else ""
        hint = f"Keeps the {plural(len(frame.selected), 'block')} of {frame.name}{about}; a known name: a new version."
        self.host.ask_line(self.NAME, "name of the pack", hint=hint)

    def action_forget(self) -> None:
        """Ask for the room; what would go is marked in the list."""
        self._typing = "room"
        hint = "How many tokens may all packs take? Blank: no plan. What would go is shown first."
        room = str(self.room) if self.room is not None else ""
        self.host.ask_line(self.NAME, "room in tokens", room, hint=hint, replace=True, blank=True)

    def action_ask(self) -> None:
        self._typing = "question"
        hint = "Which packs should it be given? Blank: all packs."
        self.host.ask_line(self.NAME, "question", self.question, hint=hint, replace=True, blank=True)

    def action_budget(self) -> None:
        self._typing = "budget"
        self.host.ask_line(self.NAME, "budget in tokens", str(self.budget or ""), replace=True)

    def answered(self, line: str) -> None:
        line = line.strip()
        if self._typing == "question" and not line:
            self.all_packs()
        elif self._typing == "question":
            self.ask(operations.pack.route(line, budget=self.budget))
        elif self._typing == "name":
            self._keep(line)
        elif (size := line.replace(",", "")) and not (size.isdecimal() and int(size)):
            self.notify("Give a number of tokens, such as 4000.", title="No budget", severity="warning")
        elif self._typing == "budget":
            self.ask(operations.pack.route(self.question, budget=int(size)))
        else:
            self.room = int(size) if size else None
            self.ask(operations.pack.forecast(keep=self.room))

    def all_packs(self) -> None:
        """No question any more."""

    def _keep(self, name: str) -> None:
        frame = self.host.last_frame
        if frame is not None:
            blocks = [one.block.id for one in frame.selected]
            self.ask(operations.pack.keep(name, block=blocks, title=frame.query or ""))

    def action_apply(self) -> None:
        from amgs_tui.dialogs.dialog import Confirm

        plan, room = self.forecast, self.room
        if plan is None or room is None or not plan.forgotten:
            return
        names = ", ".join(one.usage.pack.name for one in plan.forgotten)
        words = f"{names[:160]}: listed and used no more. Nothing is lost; `undo` brings them back."

        def answered(yes: bool | None) -> None:
            if yes:
                self.room = None
                self.ask(operations.pack.forget(room))

        self.app.push_screen(Confirm(f"Retire {plural(len(plan.forgotten), 'pack')}?", words), answered)

    def action_use(self) -> None:
        if self.chosen is not None:
            self.ask(operations.pack.use(self.chosen.usage.pack.name))

    def action_judge(self, useful: bool) -> None:
        """The verdict on the last reading of the pack."""
        if self.readings:
            self.ask(operations.pack.judge(self.readings[0].number, useful=useful))

    def action_retire(self) -> None:
        from amgs_tui.dialogs.dialog import Confirm

        if self.chosen is None:
            return
        name = self.chosen.usage.pack.name
        words = f"“{name}” is listed and used no more, in all its versions. `undo` brings it back."

        def answered(yes: bool | None) -> None:
            if yes:
                self.ask(operations.pack.retire(name))

        self.app.push_screen(Confirm("Retire this pack?", words), answered)

    def action_export(self) -> None:
        if self.chosen is not None:
            name = self.chosen.usage.pack.name
            self.host.command(f"pack export {quote(name)} {quote(f'{name}.json')}")

"""9 Packs: what is kept, what stands in it, which a question is given, and what could be done with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from rich.text import Text

from amgs.text.plural import plural
from amgs_app.render.canvas import Canvas, Figure
from amgs_app.render.empty_state import notice
from amgs_app.views import packs
from amgs_app.views.packs import rows as pages
from amgs_tui.keys import show
from amgs_tui.panes.lists import ListPane

if TYPE_CHECKING:
    from amgs.wings.packs.values import PackContent
    from amgs_app.calls.call import Call
    from amgs_app.panes.row_filter import Row
    from amgs_tui.host import Host

View = Literal["packs", "members", "question", "proposals"]
NO_PACK = "A pack keeps what answered a question once, to be read again for the next."


class PacksPane(ListPane):
    """One of four lists: all packs, the members of one, the packs for a question, or what could be done with packs.

    pages: what each list shows. results: what it was made of. content: of the pack under the cursor.
    """

    NAME = "packs"
    SHOWS = frozenset({"pack list", "pack assemble", "pack change"})
    PURPOSE = """\
A pack is a frame that was kept: the blocks that answered a question once, under a name, to be read again. The list says
how likely each is to be read within 30 days. enter shows its members: a source was taken in, a learning was made from
others. e asks which packs to read for a question, and writes the text; r reads one pack; u and x say whether that was
useful. K keeps the present frame, P lists what could be done with packs. What was done is in the journal, where U
undoes it."""

    BINDINGS: ClassVar[list[Any]] = [
        show("enter,right", "open", "open", "packs.open", "Its members; the member, or the text, in full"),
        show("left,backspace", "back", "back", "packs.back", "Back to the packs"),
        show("e", "ask", "question", "packs.ask", "Write the text of the packs for a question; it is logged"),
        show("K", "keep", "keep frame", "packs.keep", "Keep the present frame as a pack"),
        show("r", "use", "read", "packs.use", "Read the pack; that it was read is logged"),
        show(
            "u",
            "judge(True)",
            "useful",
            "packs.useful",
            "The last reading was useful; of proposals: carry this one out, undo takes it back",
        ),
        show(
            "x",
            "judge(False)",
            "useless",
            "packs.useless",
            "The last reading was useless; of proposals: reject this one",
        ),
        show("P", "propose", "proposals", "packs.propose", "What could be done with packs"),
        show("D", "retire", "retire", "packs.retire", "List and use this pack no more; undo brings it back"),
        *ListPane.BINDINGS,
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.view: View = "packs"
        self.pages: dict[View, pages.PackPage] = {}
        self.results: dict[View, Any] = {}
        self.content: PackContent | None = None
        self._outer = 0
        self._typing: Literal["name", "question"] = "name"

    # --- what is looked at ----------------------------------------------------------------------------------

    def asks(self) -> Iterable[Call[Any]]:
        yield packs.commands.packs()
        if self.view == "proposals":
            yield packs.commands.change()

    def look(self) -> None:
        """As every pane; without a place too, it asks whether there is a pack by now."""
        super().look()
        if self.stale:
            for call in self.asks():
                self.ask(call, origin="screen")

    def take(self, result: Any) -> None:
        name = self.name_at_cursor
        match type(result).__name__:
            case "PackList":
                self._keep("packs", result, pages.list_page(result))
                if self.view == "packs":
                    self.place_on(one == name for one in self.names)
                self._ask_chosen()
            case "PackContent":
                self.content = result
                self._keep("members", result, pages.content_page(result))
            case "PackAssembly":
                self._keep("question", result, pages.assembly_page(result))
            case "PackProposals":
                self._keep("proposals", result, pages.proposals_page(result))
        self.clip_cursor()

    def _keep(self, view: View, result: Any, page: pages.PackPage) -> None:
        self.results[view], self.pages[view] = result, page

    def _ask_chosen(self) -> None:
        """Ask what stands in the pack under the cursor."""
        name = self.name_at_cursor
        if name and self.has_place:
            self.ask(packs.commands.packs(name), origin="screen")

    def show_to_operator(self, command: str, result: object) -> None:
        """What the operator asked for themselves comes to the front."""
        del command
        views: Mapping[str, View] = {
            "PackList": "packs",
            "PackContent": "members",
            "PackAssembly": "question",
            "PackProposals": "proposals",
        }
        if getattr(result, "done", None) is None:  # what was done is said; the operator goes on where they are
            self._turn_to(views[type(result).__name__])

    def _turn_to(self, view: View) -> None:
        if view != self.view:
            self._outer = self.cursor if self.view == "packs" else self._outer
            self.view, self.cursor = view, self._outer if view == "packs" else 0
        self.clip_cursor()
        self.follow_cursor()
        self.show_change()

    # --- rows -----------------------------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        return not self.pages["packs"].ids if "packs" in self.pages else True

    @property
    def listed(self) -> pages.PackPage | None:
        """What the list shows; None while it is read."""
        return self.pages.get(self.view)

    @property
    def shown(self) -> Sequence[int]:
        """The places of the rows that the filter leaves."""
        if self.listed is None:
            return ()
        return self.places if self.sift else range(len(self.listed.table.rows))

    @property
    def names(self) -> Sequence[str]:
        """What the rows are of: packs, or blocks."""
        page = self.listed
        return [] if page is None else [page.ids[place] for place in self.shown]

    @property
    def name_at_cursor(self) -> str:
        """The name of the pack that is looked at, "" for none."""
        if self.view == "members":
            return self.content.usage.pack.name if self.content is not None else ""
        return self.at_cursor(self.names) or ""

    def all_rows(self) -> Sequence[Row]:
        return self.listed.fields if self.listed is not None else ()

    @property
    def rows(self) -> int:
        return len(self.shown)

    def follow_cursor(self) -> None:
        """Inside a pack the member is selected everywhere; in the list what stands in the pack is read."""
        block = self.at_cursor(self.names)
        if self.view == "members" and block:
            self.post_message(self.Picked(block))
        elif self.view == "packs":
            self._ask_chosen()

    # --- the picture ----------------------------------------------------------------------------------------

    def rows_on_screen(self) -> Mapping[int, int] | None:
        figure = self._figure(self.canvas())
        return figure.rows if figure is not None else {}

    def subtitle(self) -> str:
        if self.view == "proposals":
            return "u accepts · x rejects · ← back"
        if self.view != "packs":
            return f"{plural(self.rows, 'row')} · ← back"
        return "" if self.empty else "e asks · P proposals"

    def draw(self, canvas: Canvas) -> Text:
        if "packs" in self.pages and self.empty:
            ways = ("K  keep the present frame", ":pack keep NAME “a question”")
            return notice(canvas, "No pack yet", ways, NO_PACK)
        if self.view == "proposals" and self.listed is not None and not self.rows and not self.sift:
            words = "There is nothing to add, update, delete or merge."
            return notice(canvas, "No proposal", ("←  all packs",), words)
        figure = self._figure(canvas)
        return notice(canvas, "Packs", (), self.waits) if figure is None else figure.render()

    def _figure(self, canvas: Canvas) -> Figure | None:
        """The picture of the list; None while it is read, or empty."""
        if self.listed is None or self.empty:
            return None
        known = self.content is not None and self.content.usage.pack.name == self.name_at_cursor
        about = pages.about_pack(self.content) if self.view == "packs" and known and self.content is not None else None
        return pages.draw_page(canvas, self.listed, self.shown, self.cursor, about)

    # --- what the keys do -----------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "back":
                return self.view != "packs"
            case "judge":
                return bool(self.rows if self.view == "proposals" else self._readings())
            case "open":
                return bool(self.names) and self.view != "proposals"
            case "use" | "retire":
                return bool(self.name_at_cursor) and self.view != "proposals"
            case "ask":
                return not self.empty
        return super().check_action(action, parameters)

    def _readings(self) -> Sequence[int]:
        """The numbers of the last readings: those of the text, or of the pack."""
        if self.view == "question":
            return self.results["question"].uses if "question" in self.results else ()
        return [use.number for use in self.content.readings[:1]] if self.content is not None else []

    def action_open(self) -> None:
        """Into the pack; there, the member is read in full, and of a question the text."""
        block = self.at_cursor(self.names)
        if self.view == "question" and self.listed is not None:
            self.host.show_page("Pack assemble", self.results["question"])
        elif self.view == "members" and block:
            self.host.pick(block)
            self.host.read_block()
        elif "members" in self.pages:
            self._turn_to("members")

    def action_back(self) -> None:
        self._turn_to("packs")

    def action_ask(self) -> None:
        self._typing = "question"
        self.host.ask_line(self.NAME, "question", hint="What should packs answer?", replace=True)

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

    def take_answer(self, line: str) -> None:
        frame = self.host.last_frame
        if self._typing == "question":
            self._turn_to("question")
            self.ask(packs.commands.assemble(line.strip()))
        elif frame is not None:
            blocks = [one.block.id for one in frame.selected]
            self.ask(packs.commands.keep(line.strip(), block=blocks, title=frame.query or ""))

    def action_use(self) -> None:
        name = self.name_at_cursor
        self._turn_to("question")
        self.ask(packs.commands.assemble(pack=name))

    def action_judge(self, useful: bool) -> None:
        """The verdict on the last reading; of proposals, the one under the cursor is carried out or rejected."""
        if self.view == "proposals":
            own = self.results["proposals"].proposals[self.shown[self.cursor]].id
            self.ask(packs.commands.change(accept=own) if useful else packs.commands.change(reject=own))
        elif readings := self._readings():
            self.ask(packs.commands.outcome(list(readings), score=float(useful)))

    def action_propose(self) -> None:
        self._turn_to("proposals")
        self.ask(packs.commands.change())

    def action_retire(self) -> None:
        from amgs_tui.dialogs.dialog import Confirm

        name = self.name_at_cursor
        words = f"“{name}” is listed and used no more, in all its versions. `undo` brings it back."

        def answered(yes: bool | None) -> None:
            if yes:
                self.ask(packs.commands.change("DELETE", [name]))

        self.app.push_screen(Confirm("Retire this pack?", words), answered)

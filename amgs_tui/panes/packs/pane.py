"""9 Packs: the stored packs, their members, those for a question, and proposals about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from amgs.text.words import plural
from amgs_app.render.canvas import Canvas, Figure
from amgs_app.views import packs
from amgs_app.views.packs.rows import about_pack, format_name, list_routed
from amgs_tui.dialogs.questions import confirm
from amgs_tui.keys import show
from amgs_tui.panes.lists import ListPane, ViewsPane

if TYPE_CHECKING:
    from amgs.wings.packs.values import PackContent
    from amgs_app.calls.call import Call
    from amgs_app.render.rows import RowList


class PacksPane(ViewsPane):
    """Four lists: all packs, the members of a pack, the packs for a question, and proposals."""

    VIEW_OF: ClassVar[Mapping[str, str]] = {
        "PackList": "packs",
        "PackContent": "members",
        "PackAssembly": "question",
        "PackProposals": "proposals",
    }

    NAME = "packs"
    ASKS_AWAY = True
    SHOWS = frozenset({"pack list", "pack assemble", "pack change"})
    PURPOSE = """\
A pack is a frame that was kept: the blocks that answered a question once, under a name, to be read again. The list says
how likely each is to be read within 30 days. enter shows its members: a source was taken in, a learning was made from
others. e asks which packs to read for a question, and writes the text; r reads a pack; u and x say whether that was
useful. K keeps the present frame, P lists what could be done with packs. What was done is in the journal, where U
undoes it."""

    BINDINGS: ClassVar[list[Any]] = [
        show("enter,right", "open", "open", "packs.open", "Its members; the member, or the text, in full"),
        show("left,backspace", "back", "back", "packs.back", "Back to the packs"),
        show("e", "ask", "question", "packs.ask", "Write the text of the packs for a question; it is logged"),
        show("K", "keep", "keep frame", "packs.keep", "Keep the present frame as a pack"),
        show("r", "use", "read", "packs.use", "Read the pack; that it was read is logged"),
        show("u", "judge(True)", "useful", "packs.useful", "The reading was useful; of proposals: do it"),
        show("x", "judge(False)", "useless", "packs.useless", "The reading was useless; of proposals: reject it"),
        show("P", "propose", "proposals", "packs.propose", "What could be done with packs"),
        show("D", "retire", "retire", "packs.retire", "List and use this pack no more; undo brings it back"),
        *ListPane.BINDINGS,
    ]

    def asks(self) -> Iterable[Call[Any]]:
        yield packs.commands.packs()
        if self.view == "proposals":
            yield packs.commands.change()

    def take(self, result: Any) -> None:
        name = self.name_at_cursor
        super().take(result)
        if type(result).__name__ == "PackList":
            if self.view == self.first:
                self.place_on(usage.pack.name == name for usage in self.items)
            self._ask_chosen()

    def list_result(self, result: Any) -> RowList[Any] | None:
        return list_routed(result) if type(result).__name__ == "PackAssembly" else super().list_result(result)

    def _ask_chosen(self) -> None:
        """Request the members of the pack under the cursor."""
        name = self.name_at_cursor
        if name and self.has_place:
            self.ask(packs.commands.packs(name), origin="screen")

    def show_to_operator(self, command: str, result: object) -> None:
        """Show the requested view; after a change the operator stays where they are."""
        if getattr(result, "done", None) is None:
            super().show_to_operator(command, result)

    @property
    def content(self) -> PackContent | None:
        """The pack read last, with its members."""
        return self.results.get("members")

    @property
    def empty(self) -> bool:
        return "packs" not in self.results or not self.results["packs"].packs

    @property
    def name_at_cursor(self) -> str:
        """Name of the pack under the cursor or on view; "" for none."""
        if self.view == "members":
            return self.content.usage.pack.name if self.content is not None else ""
        if self.row is None:
            return ""
        return str(self.row.packs[0].rpartition("@")[0] if self.view == "proposals" else self.row.pack.name)

    def follow_cursor(self) -> None:
        """Select the member of a pack; in the list of packs, request the pack's members."""
        super().follow_cursor()
        if self.view == "packs":
            self._ask_chosen()

    def subtitle(self) -> str:
        if self.view != "packs":
            verdicts = "u accepts · x rejects · " if self.view == "proposals" and self.rows else ""
            return f"{verdicts}← back"
        return "" if self.empty else "e asks · P proposals"

    def figure(self, canvas: Canvas) -> Figure | None:
        """Return the list with facts about the pack under the cursor below it."""
        pack, rows = self.content, self.shown_rows
        if self.view != "packs" or rows is None or pack is None or pack.usage.pack.name != self.name_at_cursor:
            return super().figure(canvas)
        about = [(format_name(pack.usage.pack), ""), *about_pack(pack)]
        kind = replace(rows.kind, detail=lambda _: about)
        return replace(rows, kind=kind).draw(canvas, self.cursor, filtered=bool(self.sift))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "back":
                return self.view != "packs"
            case "judge":
                return bool(self.rows if self.view == "proposals" else self._readings())
            case "open":
                return bool(self.rows) and self.view != "proposals"
            case "use" | "retire":
                return bool(self.name_at_cursor) and self.view != "proposals"
            case "ask":
                return not self.empty
        return super().check_action(action, parameters)

    def _readings(self) -> Sequence[int]:
        """Return the numbers of the last readings, of the text for a question or of the pack."""
        if self.view == "question":
            return self.results["question"].uses if "question" in self.results else ()
        return [use.number for use in self.content.readings[:1]] if self.content is not None else []

    def action_open(self) -> None:
        """Open the pack; in a pack read the member, and of a question the text, in full."""
        block = self.block_at_cursor()
        if self.view == "question" and self.row is not None:
            self.host.show_page("Pack assemble", self.results["question"])
        elif self.view == "members" and block:
            self.read(block)
        elif "members" in self.lists:
            self.turn_to("members")

    def action_back(self) -> None:
        self.turn_to("packs")

    def action_ask(self) -> None:
        self.ask_line("question", self._answer, hint="What should packs answer?", replace=True)

    def _answer(self, question: str) -> None:
        self.turn_to("question")
        self.ask(packs.commands.assemble(question.strip()))

    def action_keep(self) -> None:
        """Ask for a name under which to store the last frame; without a frame, open the command line."""
        frame = self.host.last_frame
        if frame is None or not frame.selected:
            self.host.command("pack keep ")
            return
        about = f" for “{frame.query}”" if frame.query else ""
        hint = f"Keeps the {plural(len(frame.selected), 'block')} of {frame.name}{about}; a known name: a new version."
        blocks = [candidate.block.id for candidate in frame.selected]

        def keep(name: str) -> None:
            self.ask(packs.commands.keep(name.strip(), block=blocks, title=frame.query or ""))

        self.ask_line("name of the pack", keep, hint=hint)

    def action_use(self) -> None:
        name = self.name_at_cursor
        self.turn_to("question")
        self.ask(packs.commands.assemble(pack=name))

    def action_judge(self, useful: bool) -> None:
        """Record a verdict on the last reading; of proposals, accept or reject the one under the cursor."""
        if self.view == "proposals":
            own = self.row.id
            self.ask(packs.commands.change(accept=own) if useful else packs.commands.change(reject=own))
        elif readings := self._readings():
            self.ask(packs.commands.outcome(list(readings), score=float(useful)))

    def action_propose(self) -> None:
        self.turn_to("proposals")
        self.ask(packs.commands.change())

    def action_retire(self) -> None:
        name = self.name_at_cursor
        words = f"“{name}” is listed and used no more, in all its versions. `undo` brings it back."
        retired = packs.commands.change("DELETE", [name])
        confirm(self.app, "Retire this pack?", words, lambda: self.ask(retired))

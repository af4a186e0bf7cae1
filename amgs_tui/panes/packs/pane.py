"""9 Packs: what is kept, how likely it is needed, what stands in it, and what could be done with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from rich.text import Text

from amgs.text.plural import plural
from amgs_app.render.canvas import Canvas, Figure, Region
from amgs_app.render.empty_state import notice
from amgs_app.terminal.line import quote
from amgs_app.views import packs
from amgs_app.views.packs.row_fields import of_packs, of_proposals, of_routed
from amgs_tui.keys import show
from amgs_tui.panes.lists import ListPane

if TYPE_CHECKING:
    from amgs.wings.packs.values import PackContent, PackProposal, PackRoute, PackUsage, RoutedPack
    from amgs_app.calls.call import Call
    from amgs_app.panes.row_filter import Row
    from amgs_app.views.packs.figures.packs import PackMemberRow
    from amgs_app.views.packs.results import PackList
    from amgs_tui.host import Host

_OF_PACKS = frozenset({"ask", "budget", "use", "retire", "export"})
"""Actions on what is listed where that is packs."""


class PacksPane(ListPane):
    """The packs, those for a question, or what could be done with them; or the members of one.

    listed: all packs. route: those for a question. proposals: what could be done, listed while `deciding`. content: of
    the pack under the cursor. inside: whether its members are listed.
    """

    NAME = "packs"
    SHOWS = frozenset({"pack list", "pack show", "pack route", "pack proposals"})
    PURPOSE = """\
A pack is a frame that was kept: the blocks that answered a question once, under a name, to be read again. The list says
how likely each is to be read within 30 days. enter shows its members: ○ a source was taken in, ◆ a learning was made
from others. e asks which packs to read for a question, and what each adds. r reads a pack, u and x say whether that was
useful. K keeps the present frame, P lists what could be done with packs. What was done is in the journal, where U
undoes it."""

    BINDINGS: ClassVar[list[Any]] = [
        show("enter,right", "open", "open", "packs.open", "Its members; the member in full"),
        show("left,backspace", "back", "back", "packs.back", "Back to the packs"),
        show("e", "ask", "question", "packs.ask", "Ask which packs a question is given"),
        show("b", "budget", "budget", "packs.budget", "Change the budget, in tokens"),
        show("K", "keep", "keep frame", "packs.keep", "Keep the present frame as a pack"),
        show("r", "use", "read", "packs.use", "Read the pack; that it was read is logged"),
        show(
            "u",
            "judge(True)",
            "useful",
            "packs.useful",
            "The last reading of this pack was useful; of proposals: carry this one out, undo takes it back",
        ),
        show(
            "x",
            "judge(False)",
            "useless",
            "packs.useless",
            "The last reading of this pack was useless; of proposals: reject this one",
        ),
        show("P", "propose", "proposals", "packs.propose", "What could be done with packs"),
        show("D", "retire", "retire", "packs.retire", "List and use this pack no more; undo brings it back"),
        show("E", "export", "export", "packs.export", "Type the export of this pack to a file"),
        *ListPane.BINDINGS,
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.listed: PackList | None = None
        self.route: PackRoute | None = None
        self.proposals: tuple[PackProposal, ...] = ()
        self.deciding = False
        self.content: PackContent | None = None
        self.inside = False
        self.question = ""
        self.budget: int | None = None
        self._outer = 0
        self._typing: Literal["name", "question", "budget"] = "name"

    # --- what is looked at ----------------------------------------------------------------------------------

    def asks(self) -> Iterable[Call[Any]]:
        yield packs.commands.packs()
        if self.question:
            yield packs.commands.route(self.question, budget=self.budget)
        if self.deciding:
            yield packs.commands.proposals()

    def look(self) -> None:
        """As every pane; without a place too, it asks whether there is a pack by now."""
        super().look()
        if self.stale:
            for call in self.asks():
                self.ask(call, origin="screen")

    def take(self, result: Any) -> None:
        from amgs.wings.packs.values import PackContent, PackRoute
        from amgs_app.views.packs.results import PackList, PackProposalList

        match result:
            case PackList():
                before = self.name_at_cursor
                self.listed = result
                self._stay_with(before)
            case PackRoute():
                before = self.name_at_cursor
                fresh = self.route is None or self.route.query != result.query
                self.route, self.question, self.budget = result, result.query, result.budget
                if fresh:
                    self._leave()
                    before = ""
                self._stay_with(before)
            case PackProposalList():
                self.proposals = result.proposals
                if self.deciding:
                    self.cursor = max(0, min(self.cursor, self.rows - 1))
                    self.follow_cursor()
            case PackContent():
                self.content = result
                if self.inside:
                    self.cursor = max(0, min(self.cursor, self.rows - 1))

    def _stay_with(self, name: str) -> None:
        """The list is another: the cursor stays with the pack, inside it too."""
        if self.deciding:
            return
        if self.inside and name in self.names:
            self._outer = self.names.index(name)
        else:
            self._leave()
            self._place_on(name)
        self._ask_chosen()

    def _place_on(self, name: str) -> None:
        """Put the cursor on a pack; where it is not listed, it stays in its place."""
        names = self.names
        self.cursor = names.index(name) if name in names else max(0, min(self.cursor, len(names) - 1))

    def _ask_chosen(self) -> None:
        """Ask what stands in the pack under the cursor."""
        name = self.name_at_cursor
        if self.content is not None and self.content.usage.pack.name != name:
            self.content = None
        if name and self.has_place:
            self.ask(packs.commands.show(name), origin="screen")

    # --- rows -----------------------------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        return self.listed is None or not self.listed.packs

    @property
    def packs(self) -> Sequence[PackUsage]:
        """The packs that the filter leaves."""
        every = self.listed.packs if self.listed is not None else ()
        return [every[place] for place in self.places] if self.sift else every

    @property
    def routed(self) -> Sequence[RoutedPack]:
        """The packs for the question that the filter leaves, those that were not chosen too."""
        every = (*self.route.packs, *self.route.left_out) if self.route is not None else ()
        return [every[place] for place in self.places] if self.sift else every

    @property
    def names(self) -> Sequence[str]:
        """The packs that are listed."""
        return [one.pack.name for one in (self.routed if self.route is not None else self.packs)]

    @property
    def name_at_cursor(self) -> str:
        """The name of the pack that is looked at, "" for none."""
        if self.proposal is not None:
            return self.proposal.packs[0].rpartition("@")[0]
        place = self._outer if self.inside else self.cursor
        names = self.names
        return names[place] if 0 <= place < len(names) else ""

    @property
    def proposed(self) -> Sequence[PackProposal]:
        """The proposals that the filter leaves."""
        return [self.proposals[place] for place in self.places] if self.sift else self.proposals

    @property
    def proposal(self) -> PackProposal | None:
        """The one under the cursor."""
        rows = self.proposed if self.deciding else ()
        return rows[self.cursor] if 0 <= self.cursor < len(rows) else None

    @property
    def members(self) -> Sequence[PackMemberRow]:
        """The members of the pack."""
        from amgs_app.views.packs.figures.packs import members_of

        return () if self.content is None else members_of(self.content)

    @property
    def member(self) -> PackMemberRow | None:
        """The member under the cursor."""
        rows = self.members if self.inside else ()
        return rows[self.cursor] if 0 <= self.cursor < len(rows) else None

    def all_rows(self) -> Sequence[Row]:
        if self.deciding:
            return of_proposals(self.proposals)
        if self.route is not None:
            return of_routed(self.route)
        return of_packs(self.listed.packs, self.host.now()) if self.listed is not None else ()

    @property
    def rows(self) -> int:
        if self.deciding:
            return len(self.proposed)
        return len(self.members) if self.inside else len(self.names)

    def follow_filter(self) -> None:
        self._leave()
        self.cursor = 0
        self.follow_cursor()

    def follow_cursor(self) -> None:
        """Inside a pack the member is selected everywhere; in the list what stands in the pack is read."""
        one = self.proposal
        if one is not None:
            known = self.host.titles
            if any(block not in known for block in (*one.come, *one.gone)):
                for place, reference in enumerate(one.packs):
                    self.ask(packs.commands.show(reference), slot=f"packs:of proposal {place}", origin="screen")
        elif self.member is not None:
            self.post_message(self.Picked(self.member.block.id))
        elif not self.inside and not self.deciding:
            self._ask_chosen()

    # --- the picture ----------------------------------------------------------------------------------------

    def rows_on_screen(self) -> Mapping[int, int] | None:
        return self._figure(self.canvas()).rows if not self.empty else {}

    def subtitle(self) -> str:
        if self.deciding:
            return "u accepts · x rejects · ← back"
        if self.inside:
            return f"{plural(self.rows, 'member')} · ← back"
        if self.empty:
            return ""
        return "← all packs" if self.route is not None else "e asks · P proposals"

    def draw(self, canvas: Canvas) -> Text:
        from amgs_app.views.packs.figures.packs import KEEP_FIRST, NO_PACK

        if self.listed is None:
            return notice(canvas, "Packs", (), self.waits)
        if self.empty:
            return notice(canvas, "No pack yet", ("K  keep the present frame", KEEP_FIRST), NO_PACK)
        if self.deciding and not self.proposals:
            words = "There is nothing to merge, update, join or retire."
            return notice(canvas, "No proposal", ("←  all packs",), words)
        return self._figure(canvas).render()

    def _figure(self, canvas: Canvas) -> Figure:
        from amgs_app.views.packs.figures.packs import members_figure, packs_figure

        assert self.listed is not None
        if self.deciding:
            from amgs_app.views.packs.figures.proposals import proposals_figure

            return proposals_figure(self.proposed, canvas, cursor=self.cursor, titles=self.host.titles)
        if self.inside and self.content is not None:
            return members_figure(self.content, self.members, canvas, cursor=self.cursor)
        if self.route is not None:
            from amgs_app.views.packs.figures.route import route_figure

            known = len(self.route.packs) + len(self.route.left_out)
            larger = max(0, len(self.listed.packs) - known)
            return route_figure(self.route, self.routed, canvas, cursor=self.cursor, larger=larger, beside=self._beside)
        rows, now = self.packs if self.sift else None, self.host.now()
        return packs_figure(self.listed, canvas, rows=rows, cursor=self.cursor, now=now, beside=self._beside)

    def _beside(self, region: Region) -> None:
        from amgs_app.views.packs.figures.packs import draw_content

        if self.content is not None:
            draw_content(region, self.content, self.host.now())

    # --- what the keys do -----------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self.deciding and action in _OF_PACKS:
            return False
        match action:
            case "judge":
                return self.proposal is not None or (
                    not self.deciding and self.content is not None and bool(self.content.readings)
                )
            case "open":
                return self.member is not None if self.inside else self.content is not None and not self.deciding
            case "back":
                return self.deciding or self.inside or self.route is not None
            case "use" | "retire" | "export":
                return bool(self.name_at_cursor)
            case "ask":
                return not self.empty
            case "budget":
                return bool(self.question)
            case "filter_rows" | "sort_rows":
                return not self.inside
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        """Into the pack; there, the member is read in full."""
        member = self.member
        if not self.inside:
            self._enter()
        elif member is not None:
            self.host.pick(member.block.id)
            self.host.read_block()

    def _enter(self) -> None:
        self._outer, self.cursor, self.inside = self.cursor, 0, True
        self.follow_cursor()
        self._changed()

    def action_back(self) -> None:
        if self.deciding or self.inside:
            self._leave()
        else:
            self._all_packs()
        self.follow_cursor()
        self._changed()

    def _all_packs(self) -> None:
        """From the packs for a question back to all of them; the cursor stays with its pack."""
        name = self.name_at_cursor
        self._leave()
        self.route, self.question = None, ""
        self._place_on(name)

    def _leave(self) -> None:
        """Out to the packs."""
        if self.inside:
            self.cursor = self._outer
        elif self.deciding:
            self.cursor = 0
        self.deciding = self.inside = False

    def _changed(self) -> None:
        self._say()
        self.repaint()
        self.refresh_bindings()

    def action_ask(self) -> None:
        self._typing = "question"
        hint = "Which packs should it be given? Blank: all packs."
        self.host.ask_line(self.NAME, "question", self.question, hint=hint, replace=True, blank=True)

    def action_budget(self) -> None:
        self._typing = "budget"
        self.host.ask_line(self.NAME, "budget in tokens", str(self.budget or ""), replace=True)

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
        line = line.strip()
        frame = self.host.last_frame
        if self._typing == "name":
            if frame is not None:
                blocks = [one.block.id for one in frame.selected]
                self.ask(packs.commands.keep(line, block=blocks, title=frame.query or ""))
        elif self._typing == "question":
            if line:
                self.ask(packs.commands.route(line, budget=self.budget))
            else:
                self._all_packs()
                self.follow_cursor()
                self._changed()
        elif (size := line.replace(",", "")).isdecimal() and int(size):
            self.ask(packs.commands.route(self.question, budget=int(size)))
        else:
            self.notify("Give a number of tokens, such as 4000.", title="No budget", severity="warning")

    def action_use(self) -> None:
        self.ask(packs.commands.use(self.name_at_cursor))

    def action_judge(self, useful: bool) -> None:
        """The verdict on the last reading; of proposals, the one under the cursor is carried out or rejected."""
        if self.proposal is not None:
            own = self.proposal.id
            self.ask(packs.commands.proposals(accept=own) if useful else packs.commands.proposals(reject=own))
        elif self.content is not None and self.content.readings:
            self.ask(packs.commands.judge(self.content.readings[0].number, useful=useful))

    def action_propose(self) -> None:
        self.ask(packs.commands.proposals())

    def action_retire(self) -> None:
        from amgs_tui.dialogs.dialog import Confirm

        name = self.name_at_cursor
        words = f"“{name}” is listed and used no more, in all its versions. `undo` brings it back."

        def answered(yes: bool | None) -> None:
            if yes:
                self.ask(packs.commands.retire([name]))

        self.app.push_screen(Confirm("Retire this pack?", words), answered)

    def action_export(self) -> None:
        name = self.name_at_cursor
        self.host.command(f"pack export {quote(name)} {quote(f'{name}.json')}")

    def show_to_operator(self, command: str, result: Any) -> None:
        """What the operator typed themselves is shown: the pack that they named, or what is proposed."""
        del command
        from amgs.wings.packs.values import PackContent
        from amgs_app.views.packs.results import PackProposalList

        if isinstance(result, PackContent):
            self._all_packs()
            self._place_on(result.usage.pack.name)
            self.content = result
            self._enter()
        elif isinstance(result, PackProposalList):
            self._leave()
            self.deciding, self.cursor = True, 0
            self.follow_cursor()
            self._changed()

"""9 Packs: what is kept, how likely it is needed, what stands in it, and what was read of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text

from amgs_app import operations
from amgs_app.render.figures.canvas import Canvas, Figure, Region
from amgs_app.render.figures.empty_state import notice
from amgs_app.render.figures.format import plural, title_told
from amgs_app.row_fields import of_packs, of_proposals, of_routed
from amgs_tui.keys import shown
from amgs_tui.panes.lists import ListPane
from amgs_tui.panes.pack_acting import ACTING, OF_PACKS, PackActing
from amgs_tui.panes.pack_deciding import DECIDING, PROPOSING, PackDeciding
from amgs_tui.panes.pack_views import ASKING, VIEWS, calls_of, next_of

if TYPE_CHECKING:
    from amgs.types import Block
    from amgs.types.pack_families import PackGraph
    from amgs.types.pack_learning import PackProposal
    from amgs.types.pack_sentences import PackSentences
    from amgs.types.packs import PackContent, PackForecast, PackOutlook, PackRoute, RoutedPack
    from amgs_app.calls.call import Call
    from amgs_app.render.figures.packs import PackMemberRow
    from amgs_app.row_filter import Row
    from amgs_tui.host import Host


class PacksPane(PackActing, PackDeciding, ListPane):
    """The packs; one of them with its members; or what a learning in it was made of.

    inside: whether the members of a pack are listed in place of the packs; learning: whose origins are listed.
    """

    NAME = "packs"
    SHOWS = frozenset(
        {"pack list", "pack forecast", "pack forget", "pack route", *PROPOSING, *VIEWS.values()}
    )
    PURPOSE = """\
A pack is a frame that was kept: the blocks that answered a question once, under a name, to be read again. The list says
how likely each is read within the next days, and behind it how that goes down while it is not read. enter shows its
members: ○ a source was taken in, ◆ a learning was made of others, which enter on it lists. e asks which packs a
question is given, and what each adds for each agent. r reads a pack, u and x say whether that was useful. K keeps the
present frame, P lists what could be done with packs. What was done stands in the journal: U there undoes it."""

    BINDINGS: ClassVar[list[Any]] = [
        shown("enter,right", "open", "open", "packs.open", "Its members; of a learning: what it was made of"),
        shown("left,backspace", "back", "back", "packs.back", "Back to the packs"),
        *ACTING,
        *DECIDING,
        shown(
            "v",
            "view",
            "view",
            "packs.view",
            "Beside the list: members, readings, links, what sentences are worth",
        ),
        *ListPane.BINDINGS,
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.content: PackContent | None = None
        self.inside = False
        self.learning: Block | None = None
        self.view = next(iter(VIEWS))
        self.graph: PackGraph | None = None
        self.weighed: PackSentences | None = None
        """What the sentences of a pack, or of those for the question, are worth."""
        self._back_to: list[int] = []

    # --- what is looked at ----------------------------------------------------------------------------------

    def asks(self) -> Iterable[Call[Any]]:
        yield operations.pack.forecast(keep=self.room)
        if self.question:
            yield operations.pack.route(self.question, budget=self.budget)
        if self.deciding:
            yield operations.pack_learning.proposals()

    def look(self) -> None:
        """As every pane; without a place too, it asks whether there is a pack by now."""
        super().look()
        if self.stale:
            for call in self.asks():
                self.ask(call, origin="screen")

    def take(self, command: str, result: Any) -> None:
        match command:
            case "pack list":
                self.look()
            case "pack forecast" | "pack forget":
                self._take_forecast(result)
            case "pack route":
                self._take_route(result)
            case "pack propose" | "pack proposals":
                self.waiting = result.proposals
                if self.deciding:
                    self.cursor = max(0, min(self.cursor, self.rows - 1))
                    self.moved()
            case "pack show":
                self._take_content(result)
            case "pack uses":
                self.readings = tuple(one for one in result.uses if one.name == self.name_at_cursor)
            case "pack graph":
                self.graph = result
            case "pack sentences":
                self.weighed = result

    def _take_forecast(self, result: PackForecast) -> None:
        before = self.name_at_cursor
        self.forecast = result
        self.room = result.keep if result.operation is None else None
        self._stay_with(before)

    def _take_route(self, result: PackRoute) -> None:
        fresh = self.route is None or self.route.query != result.query
        before = self.name_at_cursor
        self.route, self.question, self.budget = result, result.query, result.budget
        if fresh:
            self._leave()
            self.cursor = 0
            self._ask_chosen()
        else:
            self._stay_with(before)

    def _stay_with(self, name: str) -> None:
        """The list is another: the cursor stays with the pack, inside it too."""
        if self.deciding:
            return
        if not self.inside:
            self._place_on(name)
        elif name in self.names:
            self._back_to[0] = self.names.index(name)
            self._ask_chosen()
        else:
            self._leave()
            self._place_on(name)

    def _place_on(self, name: str) -> None:
        """Put the cursor on a pack; where it is not listed, it stays in its place."""
        names = self.names
        self.cursor = names.index(name) if name in names else max(0, min(self.cursor, len(names) - 1))
        self._ask_chosen()

    def _take_content(self, result: PackContent) -> None:
        self.content = result
        if self.inside and self.learning is not None:
            held = {one.id: one for one in result.blocks}
            self.learning = held.get(self.learning.id)
        self.cursor = max(0, min(self.cursor, self.rows - 1)) if self.inside else self.cursor

    def _ask_chosen(self) -> None:
        """Ask what stands in the pack under the cursor, and when it was read."""
        chosen = self.chosen
        if chosen is None:
            self.content, self.readings = None, ()
        elif self.has_place:
            name = chosen.usage.pack.name
            if self.content is not None and self.content.usage.pack.name != name:
                self.content, self.readings = None, ()
            for call in calls_of(self.view, name, self.question, self.budget):
                self.ask(call, origin="screen")

    # --- rows -----------------------------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        return self.forecast is None or not self.forecast.packs

    @property
    def packs(self) -> Sequence[PackOutlook]:
        """The packs that the filter leaves."""
        every = self.forecast.packs if self.forecast is not None else ()
        return [every[place] for place in self.places] if self.sift else every

    @property
    def routed(self) -> Sequence[RoutedPack]:
        """The packs for the question that the filter leaves, those that were not chosen too."""
        every = (*self.route.packs, *self.route.left_out) if self.route is not None else ()
        return [every[place] for place in self.places] if self.sift else every

    @property
    def names(self) -> Sequence[str]:
        """The packs that are listed."""
        if self.route is not None:
            return [one.pack.name for one in self.routed]
        return [one.usage.pack.name for one in self.packs]

    @property
    def name_at_cursor(self) -> str:
        """The name of the pack that is looked at, "" for none."""
        if self.proposal is not None:
            return self.proposal.packs[0].partition("@")[0]
        place = self._back_to[0] if self._back_to else self.cursor
        names = self.names
        return names[place] if 0 <= place < len(names) else ""

    @property
    def chosen(self) -> PackOutlook | None:
        every, name = self.forecast.packs if self.forecast is not None else (), self.name_at_cursor
        return next((one for one in every if one.usage.pack.name == name), None)

    @property
    def proposed(self) -> Sequence[PackProposal]:
        return [self.waiting[place] for place in self.places] if self.sift else self.waiting

    @property
    def proposal(self) -> PackProposal | None:
        rows = self.proposed if self.deciding else ()
        return rows[self.cursor] if 0 <= self.cursor < len(rows) else None

    @property
    def members(self) -> Sequence[PackMemberRow]:
        """The members of the pack, or the blocks that a learning in it was made of."""
        from amgs_app.render.figures.packs import PackMemberRow, members_of

        if self.content is None:
            return ()
        if self.learning is None:
            return members_of(self.content)
        from amgs.packs.keeping import origins_of, role_of

        held = {one.id: one for one in self.content.origins}
        return [PackMemberRow(held[i], role_of(held[i])) for i in origins_of(self.learning) if i in held]

    @property
    def member(self) -> PackMemberRow | None:
        """The member under the cursor."""
        rows = self.members if self.inside else ()
        return rows[self.cursor] if 0 <= self.cursor < len(rows) else None

    def all_rows(self) -> Sequence[Row]:
        if self.deciding:
            return of_proposals(self.waiting)
        if self.route is not None:
            return of_routed(self.route)
        return of_packs(self.forecast.packs, self.host.now()) if self.forecast is not None else ()

    @property
    def rows(self) -> int:
        if self.deciding:
            return len(self.proposed)
        return len(self.members) if self.inside else len(self.names)

    def sifted(self) -> None:
        self._leave()
        self.cursor = 0
        self.moved()

    def moved(self) -> None:
        """Inside a pack the member is selected everywhere; in the list what stands in the pack is read."""
        if self.proposal is not None:
            self.ask_titles(self.proposal)
        elif not self.inside:
            self._ask_chosen()
        elif self.member is not None:
            self.post_message(self.Picked(self.member.block.id))

    def rows_on_screen(self) -> Mapping[int, int] | None:
        return self._figure(self.canvas()).rows if not self.empty else {}

    # --- drawing --------------------------------------------------------------------------------------------

    def subtitle(self) -> str:
        if self.deciding:
            return "a accepts · x rejects · P proposes anew"
        if self.inside:
            return f"{plural(self.rows, 'member')} · ← back"
        if self.empty:
            return ""
        if self.room is not None and self.forecast is not None and self.forecast.forgotten:
            return f"{plural(len(self.forecast.forgotten), 'pack')} would go · c retires · f changes it"
        return f"← all packs · v {self._next_view}" if self.route else f"e asks · v {self._next_view}"

    @property
    def _next_view(self) -> str:
        return next_of(self.view, asked=bool(self.question))

    def draw(self, canvas: Canvas) -> Text:
        from amgs_app.render.figures.packs import KEEP_FIRST, NO_PACK

        if self.forecast is None:
            return notice(canvas, "Packs", (), self.waits)
        if self.empty:
            return notice(canvas, "No pack yet", ("K  keep the present frame", KEEP_FIRST), NO_PACK)
        if self.deciding and not self.waiting:
            words = "Nothing about packs waits for a decision."
            return notice(canvas, "No proposal", ("P  look for proposals", "←  all packs"), words)
        return self._figure(canvas).render()

    def _figure(self, canvas: Canvas) -> Figure:
        from amgs_app.render.figures.packs import members_figure, packs_figure

        assert self.forecast is not None
        if self.deciding:
            from amgs_app.render.figures.pack_proposals import proposals_figure

            return proposals_figure(self.proposed, canvas, cursor=self.cursor, titles=self.host.titles)
        if self.inside and self.content is not None:
            of = title_told(self.learning) if self.learning is not None else ""
            return members_figure(
                self.content, self.members, canvas, cursor=self.cursor, of=of, outlook=self.chosen
            )
        if self.route is not None:
            from amgs_app.render.figures.pack_route import route_figure

            known = len(self.route.packs) + len(self.route.left_out)
            return route_figure(
                self.route,
                self.routed,
                canvas,
                cursor=self.cursor,
                larger=max(0, len(self.forecast.packs) - known),
                beside=self._beside,
            )
        return packs_figure(
            self.forecast,
            canvas,
            rows=self.packs if self.sift else None,
            cursor=self.cursor,
            now=self.host.now(),
            beside=self._beside,
        )

    def _beside(self, region: Region) -> None:
        from amgs_app.render.figures.pack_graph import draw_graph
        from amgs_app.render.figures.pack_sentences import draw_sentences
        from amgs_app.render.figures.packs import draw_content, draw_readings

        if self.content is None:
            return
        weighed, pack = self.weighed, self.content.usage.pack
        if self.view in ASKING and self.question:
            if weighed is not None and weighed.query == self.question:
                own = weighed.packs == (f"{pack.name}@{pack.version}",) and not weighed.stages
                if own if self.view == "sentences" else weighed.stages:
                    draw_sentences(region, weighed)
        elif self.view == "families" and self.graph is not None:
            draw_graph(region, self.graph, pack.name)
        elif self.view == "readings":
            draw_readings(region, pack, self.readings, self.host.now())
        else:
            draw_content(region, self.content, self.chosen)

    # --- what the keys do -----------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self.deciding and action == "judge":
            return not parameters[0] and self.check_action("decide", ())
        if self.deciding and action in OF_PACKS:
            return False
        if action == "open":
            return self.member is not None if self.inside else self.content is not None
        if action == "back":
            return self.deciding or self.inside or self.route is not None
        if action == "decide":
            return self.proposal is not None and self.proposal.number is not None
        if action in ("view", "filter_rows", "sort_rows"):
            return not self.inside
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        """Into the pack, then into a learning; a source is read in full."""
        member = self.member
        if not self.inside:
            self.inside = self.content is not None
            self._enter()
        elif member is not None and member.origins and self.learning is None:
            self.learning = member.block
            self._enter()
        elif member is not None:
            self.host.pick(member.block.id)
            self.host.read_block()

    def _enter(self) -> None:
        self._back_to.append(self.cursor)
        self.cursor = 0
        self.moved()
        self._changed()

    def action_back(self) -> None:
        if self.deciding:
            self.deciding, self.cursor = False, 0
            self.moved()
            self._changed()
        elif self.inside:
            if self.learning is not None:
                self.learning = None
            else:
                self.inside = False
            self.cursor = self._back_to.pop()
            self.moved()
            self._changed()
        else:
            self.all_packs()

    def all_packs(self) -> None:
        """From the packs for a question back to all of them; the cursor stays with its pack."""
        name = self.name_at_cursor
        self._leave()
        self.route, self.question = None, ""
        self.view = "members" if self.view in ASKING else self.view
        self._place_on(name)
        self._changed()

    def action_judge(self, useful: bool) -> None:
        """The verdict on the last reading; of proposals, x rejects the one under the cursor."""
        if not self.deciding:
            super().action_judge(useful)
        elif not useful:
            self.action_decide(False)

    def _leave(self) -> None:
        """Out to the packs."""
        self.deciding = False
        self.cursor = self._back_to[0] if self._back_to else self.cursor
        self.inside, self.learning, self._back_to = False, None, []

    def action_view(self) -> None:
        """The next view."""
        self.view = self._next_view
        self._ask_chosen()
        self._changed()

    def _changed(self) -> None:
        self._say()
        self.repaint()
        self.refresh_bindings()

    def shown_to_operator(self, command: str, result: Any) -> None:
        """What the operator typed themselves is shown: the pack that they named, or its readings."""
        if command == "pack show":
            self._leave()
            self.route, self.question = None, ""
            self._place_on(result.usage.pack.name)
            self.content, self.inside = result, True
            self._enter()
        elif command == "pack uses" and result.uses:
            self._leave()
            self.view = "readings"
            self._place_on(result.uses[0].name)
            self._changed()
        elif command in PROPOSING:
            self._leave()
            self.deciding, self.cursor = True, 0
            self.moved()
            self._changed()
        elif command == "pack sentences":
            self._leave()
            self.question, self.budget = result.query, result.budget
            self.view = "sentences" if not result.stages else "text"
            self.ask(operations.pack.route(result.query, budget=result.budget), origin="screen")
            self._place_on(result.packs[0].partition("@")[0] if result.packs else "")
            self._changed()
        elif command == "pack graph":
            self._leave()
            self.view = "families"
            self._changed()

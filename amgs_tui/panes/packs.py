"""9 Packs: what is kept, how likely it is needed, what stands in it, and what was read of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from amgs_app import operations
from amgs_tui.keys import shown
from amgs_tui.panes.lists import ListPane
from amgs_tui.panes.pack_acting import ACTING, OF_PACKS
from amgs_tui.panes.pack_deciding import DECIDING, PROPOSING
from amgs_tui.panes.pack_drawing import PackDrawing
from amgs_tui.panes.pack_views import ASKING, VIEWS, calls_of, of_all

if TYPE_CHECKING:
    from amgs.types.packs import PackContent, PackForecast, PackRoute
    from amgs_app.calls.call import Call


class PacksPane(PackDrawing):
    """The packs; one of them with its members; or what a learning in it was made of."""

    NAME = "packs"
    SHOWS = frozenset(
        {
            *("pack list", "pack forecast", "pack forget", "pack route", "pack course"),
            *PROPOSING,
            *VIEWS.values(),
        }
    )
    PURPOSE = """\
A pack is a frame that was kept: the blocks that answered a question once, under a name, to be read again. The list says
how likely each is to be read within the next days, and then how that falls while nobody reads it. enter shows its
members: ○ a source was taken in, ◆ a learning was made from others, which enter on it lists. e asks which packs to read
for a question, and what each adds for each agent. r reads a pack, u and x say whether that was useful. K keeps the
present frame, P lists what could be done with packs. What was done is in the journal, where U undoes it."""

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
            "Beside the list: members, readings, links, weights, habits, what sentences are worth",
        ),
        *ListPane.BINDINGS,
    ]

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
            case "pack weights":
                self.weights = result
            case "pack course":
                self.course = result
            case "pack habits":
                self.habits = result

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

    # --- the cursor -----------------------------------------------------------------------------------------

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

    # --- what the keys do -----------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self.deciding and action == "judge":
            return self.proposal is not None and self.proposal.number is not None
        if self.deciding and action in OF_PACKS:
            return False
        if action == "open":
            return self.member is not None if self.inside else self.content is not None
        if action == "back":
            return self.deciding or self.inside or self.route is not None
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
        """The verdict on the last reading; of proposals, the one under the cursor is carried out or rejected."""
        if self.deciding:
            self.action_decide(useful)
        else:
            super().action_judge(useful)

    def _leave(self) -> None:
        """Out to the packs."""
        self.deciding = False
        self.cursor = self._back_to[0] if self._back_to else self.cursor
        self.inside, self.learning, self._back_to = False, None, []

    def action_view(self) -> None:
        """The next view."""
        self.view = self.next_view
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
        elif command == "pack course" or (command == "pack uses" and result.uses):
            self._leave()
            self.view = "readings"
            self._place_on(result.name if command == "pack course" else result.uses[0].name)
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
        elif view := of_all(command):
            self._leave()
            self.view = view
            self._changed()

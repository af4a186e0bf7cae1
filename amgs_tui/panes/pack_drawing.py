"""What the Packs pane draws: its list, a pack's members, or proposals, and a view of the chosen pack beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.text import Text

from amgs.text.plural import plural
from amgs_app.render.figures.canvas import Canvas, Figure, Region
from amgs_app.render.figures.empty_state import notice
from amgs_app.render.figures.format import title_told
from amgs_tui.panes.pack_rows import PackRows
from amgs_tui.panes.pack_views import ASKING, VIEWS, next_of

if TYPE_CHECKING:
    from amgs.types.pack_families import PackGraph
    from amgs.types.pack_sentences import PackSentences
    from amgs.types.pack_weights import PackWeights
    from amgs.types.packs import PackCourse, PackHabits
    from amgs_tui.host import Host


class PackDrawing(PackRows):
    """A pane that draws packs.

    view: what stands beside the list, of VIEWS. weighed: what the sentences of a pack, or of those for the question,
    are worth. graph, weights, habits: of all packs. course: of one pack.
    """

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.view = next(iter(VIEWS))
        self.graph: PackGraph | None = None
        self.weighed: PackSentences | None = None
        self.weights: PackWeights | None = None
        self.habits: PackHabits | None = None
        self.course: PackCourse | None = None

    def rows_on_screen(self) -> Mapping[int, int] | None:
        return self._figure(self.canvas()).rows if not self.empty else {}

    def subtitle(self) -> str:
        if self.deciding:
            return "u accepts · x rejects · P proposes anew"
        if self.inside:
            return f"{plural(self.rows, 'member')} · ← back"
        if self.empty:
            return ""
        if self.room is not None and self.forecast is not None and self.forecast.forgotten:
            return f"{plural(len(self.forecast.forgotten), 'pack')} would go · c retires · f changes it"
        return f"← all packs · v {self.next_view}" if self.route else f"e asks · v {self.next_view}"

    @property
    def next_view(self) -> str:
        """The view that comes after this one."""
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
        from amgs_app.render.figures.pack_habits import draw_habits
        from amgs_app.render.figures.pack_sentences import draw_sentences
        from amgs_app.render.figures.pack_weights import draw_weights
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
        elif self.view == "weights" and self.weights is not None:
            draw_weights(region, self.weights, pack.name)
        elif self.view == "habits" and self.habits is not None:
            draw_habits(region, self.habits, pack.name)
        elif self.view == "readings":
            course = self.course if self.course is not None and self.course.name == pack.name else None
            draw_readings(region, pack, self.readings, self.host.now(), course)
        else:
            draw_content(region, self.content, self.chosen)

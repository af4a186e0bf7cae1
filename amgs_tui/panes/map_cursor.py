"""Where the operator stands on the map of the working context: the entry under the cursor, and what is in sight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from amgs_app import operations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amgs_app.calls.call import Call
    from amgs_focus.views import FocusView

Axis = Literal["lifetime", "log", "context"]


def entry_holding(view: FocusView | None, token: int | None) -> int:
    """The place of the finest entry that holds a lifetime token; the last one for None or when nothing does."""
    entries = view.entries if view is not None else ()
    last = max(0, len(entries) - 1)
    if token is None:
        return last
    return max((place for place, entry in enumerate(entries) if entry.start <= token < entry.end), default=last)


@runtime_checkable
class OfRun(Protocol):
    """A result that shows how a run stands."""

    @property
    def view(self) -> FocusView: ...


def view_in(result: object) -> FocusView | None:
    """How the run stands after what gave this result; None for one that does not say."""
    from amgs_focus.views import FocusView

    if isinstance(result, FocusView):
        return result
    return result.view if isinstance(result, OfRun) else None


@dataclass(frozen=True, slots=True)
class MapCursor:
    """token: of the lifetime, in the entry under the cursor; None for the last entry. pan: in tokens, from the entry.

    As the follow-up of a request it looks at the new map from here: the entry is explained, and the tokens in sight
    are read where they are few.
    """

    token: int | None
    axis: Axis
    zoom: float
    pan: int

    def left_edge(self, view: FocusView, place: int) -> int:
        """The lifetime token at the left edge of the map, with the cursor on the entry at this place."""
        from amgs_app.render.level_columns import offset_for

        middle = offset_for(view, place, self.axis, self.zoom)
        return max(0, min(middle + self.pan, view.lifetime - 1))

    def tokens_in_sight(self, view: FocusView, place: int) -> tuple[int, int] | None:
        """The lifetime tokens [start, end) that are read one by one; None where too many are in sight."""
        from amgs_app.focus.figure_tokens import is_read
        from amgs_app.render.level_columns import window

        start, end = window(view, self.axis, self.zoom, self.left_edge(view, place))
        return (start, end) if is_read(start, end) else None

    def __call__(self, result: Any) -> Sequence[Call[Any]]:
        view = view_in(result)
        if view is None or not view.entries:
            return ()
        place = entry_holding(view, self.token)
        seen = self.tokens_in_sight(view, place)
        calls: list[Call[Any]] = [operations.focus.why(str(place))]
        return calls if seen is None else [*calls, operations.focus.tokens(seen[0], seen[1] - seen[0])]

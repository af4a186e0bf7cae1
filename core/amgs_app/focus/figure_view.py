"""The working context as it stands, for every result that holds or changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amgs_app.render.drawing import titles_of_view

if TYPE_CHECKING:
    from rich.text import Text

    from amgs_app.render.canvas import Canvas
    from amgs_app.session.operator import Operator
    from amgs_focus.views import FocusView


def drawn_view(operator: Operator, result: FocusView | None, canvas: Canvas) -> Text:
    """The figure of a working context; None where nothing is open."""
    from amgs_app.focus.figure import focus

    return focus(result, canvas, titles=titles_of_view(operator, result))


def with_view(operator: Operator, result: Any, canvas: Canvas) -> Text:
    """The figure of a result that says how the working context stands after it."""
    return drawn_view(operator, result.view, canvas)

"""Asking before a command that is not lightly done, where somebody sits at a terminal to answer."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from amgs_app.render.figures.format import undoing

if TYPE_CHECKING:
    from amgs_app.calls.call import Call
    from amgs_app.session.operator import Operator


def agreed(operator: Operator, call: Call[Any]) -> bool:
    """Whether the command may go on: asked where it asks and somebody can answer, else yes.

    Raises what its dry run raises.
    """
    if not call.operation.asks or call.arguments.get("yes") or call.arguments.get("dry_run"):
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    plan: Any = call.having(dry_run=True).run(operator)
    if plan.later:
        return True  # it will be refused, with its reason
    sys.stderr.write(f"Undo {undoing(plan, operator.engine.clock.now())}\nUndo it? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    sys.stderr.write("Nothing was changed.\n")
    return False

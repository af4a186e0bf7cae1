"""What one command on the command line hands to the next: the blocks listed last (`@1`) and the selected one.

They lie in a small file beside the store. A draft of a consolidation and an open lifetime are too large for that: they
live in a script, the shell or the workstation.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs_app.operator import Operator

MOST = 1000
"""Blocks that are remembered of a list."""
_ENDING = ".last"


def recall(operator: Operator) -> None:
    """Take over what the command before listed and selected; a file that cannot be read says nothing."""
    path = operator.engine.beside_store(_ENDING)
    if path is None:
        return
    with suppress(OSError, ValueError, TypeError, AttributeError):
        told = json.loads(path.read_text(encoding="utf-8"))
        listed, selected = told.get("listed", []), told.get("selected")
        operator.listed = tuple(one for one in listed if isinstance(one, str))
        operator.selection = selected if isinstance(selected, str) else None


def remember(operator: Operator) -> None:
    """Leave for the next command what this one listed and selected."""
    path = operator.engine.beside_store(_ENDING)
    if path is None or not operator.engine.memory_is_open:
        return
    told = {"listed": operator.listed[:MOST], "selected": operator.selection}
    with suppress(OSError):
        fresh = path.with_name(f"{path.name}.new")
        fresh.write_text(json.dumps(told), encoding="utf-8")
        fresh.replace(path)

"""What one command on the command line hands to the next: the blocks listed last (`@1`) and the selected one.

They lie in a small file beside the store. An open lifetime is too large for that, and drafts are taken up by the shell
and the workstation alone: two commands in a row would draft a consolidation anew.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from amgs_app.whole_file import write_whole

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
        write_whole(path, json.dumps(told))

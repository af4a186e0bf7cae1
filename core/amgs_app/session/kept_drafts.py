"""Save an operator's unapplied corrections to the consolidation plan between sessions, in a small file beside the
store.

Only the corrections are saved. The plan that they correct is computed again, since the inbox may have changed.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from amgs_app.places.paths import write_whole

if TYPE_CHECKING:
    from amgs.lifecycle.plan_editing import ItemEdit
    from amgs_app.engine import Engine

_ENDING: Final = ".drafts"


def keep_drafts(engine: Engine, edits: tuple[ItemEdit, ...]) -> None:
    """Save corrections for the next session; without any, delete the file. A disk error is ignored."""
    path = engine.beside_store(_ENDING)
    if path is None:
        return
    with suppress(OSError):
        if not edits:
            path.unlink(missing_ok=True)
            return
        from amgs import wire

        write_whole(path, wire.dumps((edits, ())).decode())  # corrections of edges stood second once


def read_drafts(engine: Engine) -> tuple[ItemEdit, ...]:
    """Read the corrections of an earlier session; empty for a missing or unreadable file. Corrections to blocks that
    have left the inbox are dropped.
    """
    path = engine.beside_store(_ENDING)
    if path is None or not path.exists():
        return ()
    from amgs import wire
    from amgs.errors import AmgsError
    from amgs.lifecycle.plan_editing import ItemEdit

    with suppress(OSError, ValueError, TypeError, AmgsError):
        edits, _ = wire.loads(path.read_text(encoding="utf-8"))
        return tuple(edit for edit in edits if isinstance(edit, ItemEdit) and _waits(engine, edit.block_id))
    return ()


def _waits(engine: Engine, block_id: str) -> bool:
    """Return whether the block is still in the inbox (raw)."""
    from amgs.errors import UnknownBlockError

    try:
        return engine.block(block_id).status == "raw"
    except UnknownBlockError:
        return False

"""A draft outlives the session it was made in: corrections that were neither applied nor discarded lie in a small file
beside the store, written after each of them, and the next workstation or shell goes on from there.

Of a consolidation only the corrections are kept. What they correct is proposed anew, for the inbox may have changed.
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
    """Leave corrections for the next session; without any there is no file."""
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
    """Read what the session before left. A file that cannot be read says nothing; corrections to a block that no longer
    waits in the inbox are dropped.
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
    from amgs.errors import UnknownBlockError

    try:
        return engine.block(block_id).status == "raw"
    except UnknownBlockError:
        return False

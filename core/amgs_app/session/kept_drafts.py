"""Drafts outlive the session they were made in: corrections that were neither applied nor discarded lie in a small file
beside the store, written after each of them, and the next workstation or shell goes on from there.

Of a consolidation only the corrections are kept. What they correct is proposed anew, for the inbox may have changed.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from amgs_app.places.paths import write_whole

if TYPE_CHECKING:
    from amgs.lifecycle.plan_editing import ItemEdit
    from amgs.types.edge_draft import EdgeEdit
    from amgs_app.engine import Engine

_ENDING: Final = ".drafts"


@dataclass(frozen=True, slots=True)
class KeptDrafts:
    """Corrections to blocks of a consolidation, and to edges."""

    items: tuple[ItemEdit, ...] = ()
    edges: tuple[EdgeEdit, ...] = ()


def keep(engine: Engine, drafts: KeptDrafts) -> None:
    """Leave drafts for the next session; without corrections there is no file."""
    path = engine.beside_store(_ENDING)
    if path is None:
        return
    with suppress(OSError):
        if drafts == KeptDrafts():
            path.unlink(missing_ok=True)
            return
        from amgs import wire

        write_whole(path, wire.dumps((drafts.items, drafts.edges)).decode())


def kept(engine: Engine) -> KeptDrafts:
    """What the session before left. A file that cannot be read says nothing; corrections to a block that no longer
    waits in the inbox are dropped.
    """
    path = engine.beside_store(_ENDING)
    if path is None or not path.exists():
        return KeptDrafts()
    from amgs import wire
    from amgs.errors import AmgsError
    from amgs.lifecycle.plan_editing import ItemEdit
    from amgs.types.edge_draft import EdgeEdit

    with suppress(OSError, ValueError, TypeError, AmgsError):
        items, edges = wire.loads(path.read_text(encoding="utf-8"))
        return KeptDrafts(
            tuple(each for each in items if isinstance(each, ItemEdit) and _waits(engine, each.block_id)),
            tuple(each for each in edges if isinstance(each, EdgeEdit)),
        )
    return KeptDrafts()


def _waits(engine: Engine, block_id: str) -> bool:
    from amgs.errors import UnknownBlockError

    try:
        return engine.block(block_id).status == "raw"
    except UnknownBlockError:
        return False

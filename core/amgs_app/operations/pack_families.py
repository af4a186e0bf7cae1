"""How packs hang together: `pack graph`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.types.pack_families import PackGraph
    from amgs_app.engine import Engine


@operation("pack graph", summary="Show which packs are linked, and by what.", pane="packs")
def graph(engine: Engine) -> PackGraph:
    """Show how many relations there are between the members of each two packs: semantic, temporal, causal and of
    entities.
    """
    return engine.memory.packs.graph()

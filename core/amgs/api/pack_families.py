"""How packs hang together by the relations of their members."""

from __future__ import annotations

from amgs.api.context import MemoryContext
from amgs.packs import families
from amgs.types.pack_families import PackGraph


class PackFamilies:
    """The part of `memory.packs` that reads the graph."""

    def __init__(self, context: MemoryContext) -> None:
        self._context = context

    def graph(self) -> PackGraph:
        """The packs and how many relations of each family there are between the members of each two."""
        with self._context.derived.reading() as state:
            packs = tuple(one for one in self._context.storage.packs.latest() if not one.retired)
            number_of = self._context.storage.blocks.numbers_of(
                sorted({block for one in packs for block in one.blocks})
            )
            members = {
                one.name: {number_of[block] for block in one.blocks if block in number_of} for one in packs
            }
            return PackGraph(packs, families.links(members, state.graph.view()))

"""Derived data stored beside the file of a store from one opening to the next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from amgs.derived.roll import Numbers
from amgs.graph import live
from amgs.index.id_map import IdMap
from amgs.index.snapshot_store import Generation, SnapshotStore, Stamp, save_arrays
from amgs.retrieval import sequence_index
from amgs.types import Fault, Progress

if TYPE_CHECKING:
    from amgs.graph.view import GraphView
    from amgs.index.vector import VectorIndex
    from amgs.retrieval.sequence_index import SequenceIndex
    from amgs.storage.store import Storage

WORTH_KEEPING = 2000
"""From this many blocks on, derived arrays are kept; below, deriving is faster than loading."""
_VECTORS = 1
"""Format of the kept vectors."""


class KeptArrays:
    """The kept arrays of one open store."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        formats = {"vectors": _VECTORS, "graph": live.FORMAT, "blocks": sequence_index.FORMAT}
        self._snapshots = {name: self._open_snapshots(name, format) for name, format in formats.items()}

    def forget(self) -> None:
        """Remove all of it: the store was filled from elsewhere."""
        for snapshots in self._snapshots.values():
            snapshots.forget()

    def damage(self) -> list[Fault]:
        """Return kept files that are not what was written; they are removed, and derived anew at the next open."""
        faults = []
        for name, snapshots in self._snapshots.items():
            bad = snapshots.damage(self._storage.meta.store_id())
            if bad:
                snapshots.forget()
                faults.append(Fault(f"kept {name}", bad, repairable=True))
        return faults

    # --- reading ------------------------------------------------------------------------------------------

    def latest(self, name: str) -> Generation | None:
        """Return what was kept of this store; what claims to be of its future is of a copy, and is not used."""
        snapshots = self._snapshots[name]
        if snapshots.is_empty:
            return None
        generation = snapshots.latest(self._storage.meta.store_id())
        return None if generation is None or generation.stamp.revision > self._storage.structure_counter else generation

    def graph(self) -> live.StoredGraph | None:
        """Return the graph."""
        generation = self.latest("graph")
        return None if generation is None else live.read_graph(generation)

    def order(self) -> tuple[SequenceIndex, int] | None:
        """Return the order of all blocks, and the structure it is of."""
        generation = self.latest("blocks")
        return None if generation is None else (sequence_index.read_sequences(generation), generation.stamp.revision)

    def embedded(self) -> tuple[Numbers, int] | None:
        """Return the blocks that have a vector among those kept, and the structure that they are of; None without
        any.
        """
        generation = self.latest("vectors")
        return None if generation is None else (generation.array("numbers"), generation.stamp.revision)

    def ids(self) -> IdMap:
        """Return the ids of all blocks, none where they were not kept."""
        generation = self.latest("blocks")
        return IdMap.none() if generation is None else IdMap(generation.array("roll"), generation.array("ids"))

    # --- writing ------------------------------------------------------------------------------------------

    def lacks(self, name: str, revision: int) -> bool:
        """Return whether a snapshot can be written and is not of this revision already."""
        if revision < 0 or not self._snapshots[name].writable:
            return False
        generation = self.latest(name)
        return generation is None or generation.stamp.revision != revision

    def put_graph(self, version: int, view: GraphView, highest: int) -> None:
        """Keep a graph. highest: the highest number of a block then."""
        header = live.describe_view(view, highest)
        with self._snapshots["graph"].writing(self._stamp(version), header) as folder:
            live.write_view(folder, view)

    def put_order(self, structure: int, sequences: SequenceIndex, ids: IdMap) -> None:
        """Keep the order of all blocks, and their ids."""
        header = sequence_index.describe_names(sequences)
        with self._snapshots["blocks"].writing(self._stamp(structure), header) as folder:
            sequence_index.write_sequences(folder, sequences)
            save_arrays(folder, {"roll": ids.numbers, "ids": ids.ids})

    def put_vectors(
        self, structure: int, vectors: VectorIndex, approximate_from: int, progress: Progress | None = None
    ) -> None:
        """Keep the vectors; with the graph of near ones from so many on. Raises Cancelled where progress is."""
        header = {"space": list(self._storage.meta.embedding_space() or ())}
        with self._snapshots["vectors"].writing(self._stamp(structure), header) as folder:
            vectors.write(folder, approximate_from=approximate_from, progress=progress)

    @property
    def keeps_vectors(self) -> bool:
        """Return whether vectors can be stored."""
        return self._snapshots["vectors"].writable

    # --- inside -------------------------------------------------------------------------------------------

    def _stamp(self, revision: int) -> Stamp:
        return Stamp(self._storage.meta.store_id(), revision)

    def _open_snapshots(self, name: str, format: int) -> SnapshotStore:
        file = self._storage.file
        folder = None if file is None else Path(f"{file}.index") / name
        return SnapshotStore(folder, format, read_only=self._storage.read_only)

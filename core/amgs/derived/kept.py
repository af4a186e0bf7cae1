"""Derived arrays saved beside the store's file from one opening to the next: vectors, graph, order of blocks."""

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
"""Number of blocks from which derived arrays are saved; below, deriving is faster than loading."""
_VECTORS = 1
"""Format version of saved vectors."""


class KeptArrays:
    """The saved arrays of one open store."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        formats = {"vectors": _VECTORS, "graph": live.FORMAT, "blocks": sequence_index.FORMAT}
        self._snapshots = {name: self._open_snapshots(name, format) for name, format in formats.items()}

    def forget(self) -> None:
        """Delete all of them, after the store was bulk-loaded."""
        for snapshots in self._snapshots.values():
            snapshots.forget()

    def damage(self) -> list[Fault]:
        """Return saved files whose content is damaged; they are deleted and rebuilt at the next opening."""
        faults = []
        for name, snapshots in self._snapshots.items():
            bad = snapshots.damage(self._storage.meta.store_id())
            if bad:
                snapshots.forget()
                faults.append(Fault(f"kept {name}", bad, repairable=True))
        return faults

    # --- reading ------------------------------------------------------------------------------------------

    def latest(self, name: str) -> Generation | None:
        """Return the latest saved arrays of this store; arrays from ahead of the store belong to another copy and are
        ignored.
        """
        snapshots = self._snapshots[name]
        if snapshots.is_empty:
            return None
        generation = snapshots.latest(self._storage.meta.store_id())
        return None if generation is None or generation.stamp.revision > self._storage.structure_counter else generation

    def graph(self) -> live.StoredGraph | None:
        """Return the saved graph; None without one."""
        generation = self.latest("graph")
        return None if generation is None else live.read_graph(generation)

    def order(self) -> tuple[SequenceIndex, int] | None:
        """Return the saved order of blocks and its structure counter; None without one."""
        generation = self.latest("blocks")
        return None if generation is None else (sequence_index.read_sequences(generation), generation.stamp.revision)

    def embedded(self) -> tuple[Numbers, int] | None:
        """Return the blocks with a saved vector and their structure counter; None without any."""
        generation = self.latest("vectors")
        return None if generation is None else (generation.array("numbers"), generation.stamp.revision)

    def ids(self) -> IdMap:
        """Return the saved ids of blocks; empty if they were not saved."""
        generation = self.latest("blocks")
        return IdMap.none() if generation is None else IdMap(generation.array("roll"), generation.array("ids"))

    # --- writing ------------------------------------------------------------------------------------------

    def lacks(self, name: str, revision: int) -> bool:
        """Return whether arrays can be saved and those on disk are of another revision."""
        if revision < 0 or not self._snapshots[name].writable:
            return False
        generation = self.latest(name)
        return generation is None or generation.stamp.revision != revision

    def put_graph(self, version: int, view: GraphView, highest: int) -> None:
        """Save a graph. highest: highest running number then."""
        header = live.describe_view(view, highest)
        with self._snapshots["graph"].writing(self._stamp(version), header) as folder:
            live.write_view(folder, view)

    def put_order(self, structure: int, sequences: SequenceIndex, ids: IdMap) -> None:
        """Save the order of blocks, and their ids."""
        header = sequence_index.describe_names(sequences)
        with self._snapshots["blocks"].writing(self._stamp(structure), header) as folder:
            sequence_index.write_sequences(folder, sequences)
            save_arrays(folder, {"roll": ids.numbers, "ids": ids.ids})

    def put_vectors(
        self, structure: int, vectors: VectorIndex, approximate_from: int, progress: Progress | None = None
    ) -> None:
        """Save the vectors, from `approximate_from` on with a neighbour graph. Raises Cancelled if progress is
        cancelled.
        """
        header = {"space": list(self._storage.meta.embedding_space() or ())}
        with self._snapshots["vectors"].writing(self._stamp(structure), header) as folder:
            vectors.write(folder, approximate_from=approximate_from, progress=progress)

    @property
    def keeps_vectors(self) -> bool:
        """Return whether vectors can be saved."""
        return self._snapshots["vectors"].writable

    # --- inside -------------------------------------------------------------------------------------------

    def _stamp(self, revision: int) -> Stamp:
        return Stamp(self._storage.meta.store_id(), revision)

    def _open_snapshots(self, name: str, format: int) -> SnapshotStore:
        file = self._storage.file
        folder = None if file is None else Path(f"{file}.index") / name
        return SnapshotStore(folder, format, read_only=self._storage.read_only)

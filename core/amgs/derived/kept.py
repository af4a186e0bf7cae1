"""What is derived and kept from one opening to the next: beside the file of a store, or, where programs share the
store, at the place of its search index.

A program that shares its store believes what is kept only where each change since is known, so that it can be caught
up; everything else is derived anew.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from amgs.derived.roll import Numbers, Roll
from amgs.graph import live
from amgs.index.id_map import IdMap
from amgs.index.snapshot_store import Generation, SnapshotStore, Stamp, save_arrays
from amgs.retrieval import sequence_index
from amgs.storage.block_columns import ScoringColumns
from amgs.types import Fault, Progress

if TYPE_CHECKING:
    from amgs.derived.search_tier import SearchTier
    from amgs.graph.view import GraphView
    from amgs.index.vector import VectorIndex
    from amgs.retrieval.sequence_index import SequenceIndex
    from amgs.storage.store import Storage

WORTH_KEEPING = 2000
"""From this many blocks on, derived arrays are kept; below, deriving is faster than loading."""
_VECTORS = 1
"""Format of the kept vectors."""
_COLUMNS = 1
"""Format of the kept columns."""
_SCORING = tuple(each.name for each in fields(ScoringColumns) if each.name != "numbers")
_BESIDE = ("vectors", "graph", "blocks")
_AT_INDEX = ("graph", "blocks", "columns")
"""What is kept beside a file, and at the place of a search index, which holds the vectors itself."""


class KeptArrays:
    """The kept arrays of one open store. tier: the search index, None without one."""

    def __init__(self, storage: Storage, tier: SearchTier | None) -> None:
        self._storage = storage
        self._formats = {
            "vectors": _VECTORS,
            "graph": live.FORMAT,
            "blocks": sequence_index.FORMAT,
            "columns": _COLUMNS,
        }
        self.at_index = storage.shared and tier is not None
        self._tier = tier
        self._snapshots = {name: self._opened(name) for name in (_AT_INDEX if self.at_index else _BESIDE)}

    def close(self) -> None:
        """Leave nothing of what was fetched."""
        for snapshots in self._snapshots.values():
            snapshots.close()

    def forget(self) -> None:
        """Remove all of it: the store was filled from elsewhere."""
        for snapshots in self._snapshots.values():
            snapshots.forget()

    def damage(self) -> list[Fault]:
        """Kept files that are not what was written; they are removed, and derived anew at the next open."""
        found = []
        for name, snapshots in self._snapshots.items():
            bad = snapshots.damage(self._storage.meta.store_id())
            if bad:
                snapshots.forget()
                found.append(Fault(f"kept {name}", bad, repairable=True))
        return found

    # --- reading ------------------------------------------------------------------------------------------

    def latest(self, name: str) -> Generation | None:
        """What was kept of this store; what claims to be of its future is of a copy, and is not used."""
        snapshots = self._snapshots.get(name)
        if snapshots is None or snapshots.is_empty:
            return None
        found = snapshots.latest(self._storage.meta.store_id())
        changes, structure = self._storage.counters
        if found is None or found.stamp.revision > structure:
            return None
        if self.at_index:
            at = int(found.said.get("changes", changes + 1))
            if at > changes or not self._storage.followed(at):
                return None
        return found

    def graph(self) -> live.KeptGraph | None:
        """The graph."""
        kept = self.latest("graph")
        return None if kept is None else live.read(kept)

    def order(self) -> tuple[SequenceIndex, int] | None:
        """The order of all blocks, and the structure it is of."""
        kept = self.latest("blocks")
        return None if kept is None else (sequence_index.read(kept), kept.stamp.revision)

    def embedded(self) -> tuple[Numbers, int] | None:
        """The blocks that have a vector among those kept, and the structure that they are of; None without any."""
        kept = self.latest("vectors")
        return None if kept is None else (kept.array("numbers"), kept.stamp.revision)

    def ids(self) -> IdMap:
        """The ids of all blocks, none where they were not kept."""
        kept = self.latest("blocks")
        return IdMap.none() if kept is None else IdMap(kept.array("roll"), kept.array("ids"))

    def columns(self) -> tuple[Roll, ScoringColumns, int] | None:
        """Which blocks there are and their scoring columns, both of one structure, and the change counter then."""
        kept = self.latest("columns")
        if kept is None:
            return None
        at, numbers = kept.stamp.revision, kept.array("numbers")
        return (
            Roll(at, at, numbers, kept.array("status"), kept.array("embedded")),
            ScoringColumns(numbers=kept.array("scored"), **{name: kept.array(name) for name in _SCORING}),
            int(kept.said["changes"]),
        )

    # --- writing ------------------------------------------------------------------------------------------

    def lacks(self, name: str, revision: int) -> bool:
        """Whether a snapshot can be written and is not of this revision already."""
        if revision < 0 or name not in self._snapshots or not self._snapshots[name].writable:
            return False
        kept = self.latest(name)
        return kept is None or kept.stamp.revision != revision

    def put_graph(self, version: int, view: GraphView, highest: int, changes: int) -> None:
        """Keep a graph. highest: the highest number of a block then."""
        said = {**live.said(view, highest), "changes": changes}
        with self._snapshots["graph"].writing(self._stamp(version), said) as folder:
            live.write(folder, view)

    def put_order(self, structure: int, sequences: SequenceIndex, ids: IdMap, changes: int) -> None:
        """Keep the order of all blocks, and their ids."""
        said = {**sequence_index.said(sequences), "changes": changes}
        with self._snapshots["blocks"].writing(self._stamp(structure), said) as folder:
            sequence_index.write(folder, sequences)
            save_arrays(folder, {"roll": ids.numbers, "ids": ids.ids})

    def put_columns(self, roll: Roll, scoring: ScoringColumns, changes: int) -> None:
        """Keep which blocks there are, and their scoring columns as of a change counter."""
        with self._snapshots["columns"].writing(self._stamp(roll.structure), {"changes": changes}) as folder:
            save_arrays(
                folder,
                {
                    "numbers": roll.numbers,
                    "status": roll.status,
                    "embedded": roll.embedded,
                    "scored": scoring.numbers,
                    **{name: getattr(scoring, name) for name in _SCORING},
                },
            )

    def put_vectors(
        self,
        structure: int,
        vectors: VectorIndex,
        approximate_from: int,
        progress: Progress | None = None,
    ) -> None:
        """Keep the vectors; with the graph of near ones from so many on. Raises Cancelled where progress is."""
        said = {"space": list(self._storage.meta.embedding_space() or ())}
        with self._snapshots["vectors"].writing(self._stamp(structure), said) as folder:
            vectors.write(folder, approximate_from=approximate_from, progress=progress)

    @property
    def keeps_vectors(self) -> bool:
        """Whether vectors are kept here, and not by a search index."""
        return self._tier is None and "vectors" in self._snapshots and self._snapshots["vectors"].writable

    # --- inside -------------------------------------------------------------------------------------------

    def _stamp(self, revision: int) -> Stamp:
        return Stamp(self._storage.meta.store_id(), revision)

    def _opened(self, name: str) -> SnapshotStore:
        file, read_only, format = self._storage.file, self._storage.read_only, self._formats[name]
        if not self.at_index or self._tier is None:
            folder = None if file is None else Path(f"{file}.index") / name
            return SnapshotStore(folder, format, read_only=read_only)
        where = f"{self._tier.folder}/kept/{name}"
        if "://" not in where:
            return SnapshotStore(Path(where), format, read_only=read_only, shared=True)
        from amgs.index.lance.dataset import StoredFiles

        return SnapshotStore(None, format, read_only=read_only, remote=StoredFiles(where))

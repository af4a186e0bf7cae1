"""How a lifetime is looked at: of each gist how often it was opened, how long its detail stood in the window, when
last, how often more of it was wanted, and what its detail was measured to be worth.

MegaContext, "Signals to collect". One row of 32 bytes a node, mapped from `L{n}.use` beside the .ctx files: an update
touches the rows of the window and no others, survives the end of the process at any point, and costs no memory for
nodes that were never looked at. The tail passes through every block and is no look at it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from amgs_focus.ctx_file import unwritten
from amgs_focus.node_set import NodeSet
from amgs_focus.records import Measurement, NodeRef, Refocus

if TYPE_CHECKING:
    from amgs_focus.working_context import WorkingContext

ROW = np.dtype(
    [
        ("opened", "<u4"),  # expansions
        ("dwell", "<u4"),  # refocuses after which its detail stood in the window
        ("last", "<u8"),  # lifetime tokens at the last of them
        ("wanted", "<u4"),  # refocuses that asked for its detail after it was forgotten
        ("measured", "<u4"),
        ("gain", "<f4"),  # mean of the measurements, nats a token
        ("spare", "<u4"),
    ]
)
GROWTH = 4096  # rows

Rows = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Use:
    """One node's row; last: 0 where its detail never stood outside the tail; gain: None where never measured."""

    opened: int = 0
    dwell: int = 0
    last: int = 0
    wanted: int = 0
    measured: int = 0
    gain: float | None = None


class UseTable:
    """The rows of one level, on the disk where there is a path. What was not written yet reads as zeros."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._rows: Rows = np.zeros(0, ROW)
        if path is not None and path.exists():
            self._grow(path.stat().st_size // ROW.itemsize)

    def row(self, index: int) -> Use:
        """What is known of a node."""
        if index >= len(self._rows):
            return Use()
        row = self._rows[index]
        measured = int(row["measured"])
        return Use(
            opened=int(row["opened"]),
            dwell=int(row["dwell"]),
            last=int(row["last"]),
            wanted=int(row["wanted"]),
            measured=measured,
            gain=float(row["gain"]) if measured else None,
        )

    def rows(self, start: int, stop: int) -> Rows:
        """Rows [start, stop) as a structured array."""
        held = self._rows[start:stop]
        return np.concatenate([held, np.zeros(stop - start - len(held), ROW)])

    def add(self, indexes: Iterable[int], name: str, last: int | None = None) -> None:
        """One more of a count for each node; last: the lifetime's length, where this was a look."""
        places = np.fromiter(indexes, np.int64)
        if not len(places):
            return
        self._grow(int(places.max()) + 1)
        self._rows[name][places] += 1
        if last is not None:
            self._rows["last"][places] = last

    def look(self, first: int, stop: int, last: int) -> None:
        """Nodes [first, stop) were looked at when the lifetime had so many tokens, and are wanted no more."""
        self._grow(stop)
        self._rows["last"][first:stop] = last
        self._rows["wanted"][first:stop] = 0

    def measure(self, index: int, gain: float) -> None:
        """Take in a measured worth."""
        self._grow(index + 1)
        row = self._rows[index : index + 1]
        row["measured"] += 1
        row["gain"] += (gain - row["gain"]) / row["measured"]

    def forget(self, start: int) -> None:
        """Nodes from `start` on are gone."""
        self._rows[start:] = np.zeros((), ROW)

    def close(self) -> None:
        """Let go of the file."""
        self._rows = np.zeros(0, ROW)

    def _grow(self, rows: int) -> None:
        if rows <= len(self._rows):
            return
        size = -(-rows // GROWTH) * GROWTH
        if self._path is None:
            self._rows = np.concatenate([self._rows, np.zeros(size - len(self._rows), ROW)])
            return
        try:
            with self._path.open("ab"):
                os.truncate(self._path, size * ROW.itemsize)
            self._rows = np.memmap(self._path, ROW, "r+", 0, (size,))
        except OSError as error:
            raise unwritten(self._path, error) from error


class Usage:
    """The tables of all levels; a folder keeps them."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._tables: dict[int, UseTable] = {}

    def of(self, node: NodeRef) -> Use:
        """What is known of a gist; of a block of tokens, of the gist above it."""
        return self.table(max(1, node.level)).row(node.index)

    def table(self, level: int) -> UseTable:
        if level not in self._tables:
            path = None if self._folder is None else self._folder / f"L{level}.use"
            self._tables[level] = UseTable(path)
        return self._tables[level]

    def refocused(self, context: WorkingContext, refocus: Refocus, tau: float) -> None:
        """Take in a refocus: what it opened, whose detail stands now, and what was forgotten and has a score
        above τ.
        """
        opened = [one.node for one in refocus.applied if one.kind == "expand"]
        refused = [one for one in refocus.decisions if one.reason == "illegal_level" and one.level]
        wanted = [one.node for one in refused if one.kind == "expand" and one.score > tau]
        for name, nodes in (("opened", opened), ("wanted", wanted), ("dwell", context.standing())):
            for level in {node.level for node in nodes}:
                held = [node.index for node in nodes if node.level == level]
                self.table(level).add(held, name, None if name == "wanted" else context.lifetime)

    def restored(self, nodes: NodeSet, lifetime: int) -> None:
        """What was brought back counts as looked at, so that it is not forgotten again at once."""
        for run in nodes.runs:
            self.table(run.level).look(run.first, run.stop, lifetime)

    def measured(self, found: Measurement) -> None:
        """Take in a measured ΔNLL."""
        self.table(found.node.level).measure(found.node.index, found.gain)

    def cut(self, length: int, block_size: int) -> None:
        """Nodes that reach beyond `length` tokens are gone."""
        for level, table in self._tables.items():
            table.forget(length // block_size**level)

    def close(self) -> None:
        for table in self._tables.values():
            table.close()

"""Record the usage of a lifetime: for every gist the number of openings, the time its detail stood in the window, the
last use, the requests for more of it, and the measured value of its detail.

MegaContext, "Signals to collect". One row of 32 bytes a node, mapped from `L{n}.use` beside the .ctx files: an update
touches the rows of the window and no others, survives the end of the process at any point, and costs no memory for
nodes that were never looked at. The tail passes through every block and is no look at it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs_focus.records import NodeRef, Refocus, Use
from amgs_focus.tree.node_set import NodeSet

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
PAGE = 1024  # rows

Rows = NDArray[Any]


class UseTable:
    """The rows of one level in pages of 1,024, of which only those that were written take room: mapped from the file
    where there is a path, else in memory. What was not written yet reads as zeros.

    A page is on the disk before it is mapped, as a mapped page that a full disk cannot take ends the process. Where
    there is no room the page is counted in memory and lost with the process: no work is held up by it.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._pages: dict[int, Rows] = {}

    def row(self, index: int) -> Use:
        """Return what is known of a node."""
        row = self.rows(index, index + 1)[0]
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
        """Return rows [start, stop) as a structured array, a copy."""
        records = np.zeros(max(0, stop - start), ROW)
        if self._path is not None and self._path.exists():
            disk_rows = np.fromfile(self._path, ROW, max(0, stop - start), offset=start * ROW.itemsize)
            records[: len(disk_rows)] = disk_rows
        for number, page in self._pages.items():
            low, high = max(start, number * PAGE), min(stop, (number + 1) * PAGE)
            if low < high:
                records[low - start : high - start] = page[low - number * PAGE : high - number * PAGE]
        return records

    def add(self, indexes: Iterable[int], name: str, last: int | None = None) -> None:
        """Increment a count for every node; last: the lifetime's length, where this was a look."""
        for index in indexes:
            row = self._at(index)
            row[name] += 1
            if last is not None:
                row["last"] = last

    def look(self, first: int, stop: int, last: int) -> None:
        """Nodes [first, stop) were looked at when the lifetime had so many tokens, and are wanted no more."""
        for index in range(first, stop):
            row = self._at(index)
            row["last"], row["wanted"] = last, 0

    def measure(self, index: int, gain: float) -> None:
        """Take in a measured worth."""
        row = self._at(index)
        row["measured"] += 1
        row["gain"] += (gain - row["gain"]) / row["measured"]

    def forget(self, start: int) -> None:
        """Nodes from `start` on are gone."""
        last = start // PAGE
        self._pages = {number: page for number, page in self._pages.items() if number <= last}
        if self._path is not None and self._path.exists():
            size = self._path.stat().st_size
            if size > last * PAGE * ROW.itemsize:
                self._page(last)
            os.truncate(self._path, min(size, (last + 1) * PAGE * ROW.itemsize))
        if last in self._pages:
            self._pages[last][start % PAGE :] = np.zeros((), ROW)

    def close(self) -> None:
        """Let go of the file."""
        self._pages.clear()

    def _at(self, index: int) -> Any:
        """Return a node's row, to be changed."""
        return self._page(index // PAGE)[index % PAGE : index % PAGE + 1]

    def _page(self, number: int) -> Rows:
        if number not in self._pages:
            self._pages[number] = np.zeros(PAGE, ROW) if self._path is None else self._map_page(self._path, number)
        return self._pages[number]

    def _map_page(self, path: Path, number: int) -> Rows:
        """Return a page of the file, written before it is mapped; in memory where the disk does not take it."""
        offset = number * PAGE * ROW.itemsize
        try:
            with path.open("r+b" if path.exists() else "w+b", buffering=0) as file:
                file.seek(offset)
                content = file.read(PAGE * ROW.itemsize)
                whole = content.ljust(PAGE * ROW.itemsize, b"\0")
                file.seek(offset)
                if file.write(whole) != len(whole):
                    raise OSError("the disk is full")
                os.fsync(file.fileno())
            return np.memmap(path, ROW, "r+", offset, (PAGE,))
        except OSError:
            return np.zeros(PAGE, ROW)


class GistUsage:
    """The tables of all levels; a folder keeps them."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._tables: dict[int, UseTable] = {}

    def of(self, node: NodeRef) -> Use:
        """Return what is known of a gist; of a block of tokens, of the gist above it."""
        return self.table(max(1, node.level)).row(node.index)

    def table(self, level: int) -> UseTable:
        if level not in self._tables:
            path = None if self._folder is None else self._folder / f"L{level}.use"
            self._tables[level] = UseTable(path)
        return self._tables[level]

    def refocused(self, refocus: Refocus, standing: Iterable[NodeRef], tau: float) -> None:
        """Take in a refocus: what it opened, what was forgotten and has a score above τ, and the gists whose detail
        stands in the window since.
        """
        opened = [decision.node for decision in refocus.applied if decision.kind != "collapse"]
        refused = [decision for decision in refocus.decisions if decision.reason == "illegal_level" and decision.level]
        wanted = [decision.node for decision in refused if decision.kind != "collapse" and decision.score > tau]
        for name, nodes in (("opened", opened), ("wanted", wanted), ("dwell", set(standing))):
            for level in {node.level for node in nodes}:
                indices = [node.index for node in nodes if node.level == level]
                self.table(level).add(indices, name, None if name == "wanted" else refocus.lifetime)

    def restored(self, nodes: NodeSet, lifetime: int) -> None:
        """Count restored nodes as looked at, so that they are not forgotten again at once."""
        for run in nodes.runs:
            self.table(run.level).look(run.first, run.stop, lifetime)

    def measured(self, node: NodeRef, gain: float) -> None:
        """Take in a measured ΔNLL of a gist's detail, in nats a token."""
        self.table(node.level).measure(node.index, gain)

    def cut(self, length: int, block_size: int) -> None:
        """Nodes that reach beyond `length` tokens are gone."""
        for level, table in self._tables.items():
            table.forget(length // block_size**level)

    def close(self) -> None:
        for table in self._tables.values():
            table.close()

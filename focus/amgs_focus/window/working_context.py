"""The working context: entries at mixed levels of detail that tile the lifetime and fit the window, and the signed
scores of its positions.

MegaContext, "Working context API". An immutable value: an edit gives a new value and a record that undoes it exactly.
The first four positions are sink tokens, which belong to no span of the lifetime but count in W_max. Positions are
dense and local to the window: sinks, then entries in order; a block takes a position for each token, a gist takes one.

The model reads a row of more than four gists of the same parent as a single gist, which the gist net computes from
them. The net was trained with rows of up to four gists; after dozens of gists the model answers worse from the text
between them (docs/results/focus.md). The entries stay as they are, and each counts in the budget.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, pairwise
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from amgs_focus.errors import FocusError
from amgs_focus.options import OPTIONS
from amgs_focus.records import Band, NodeRef, join_bands, parent_of, span_id, tail_start
from amgs_focus.tree.gist_tree import LifetimeTree

SINKS = 4
READ_AS_ONE = 36
"""Lowest bit of the part of a code that holds how many preceding gists are read together with a node's."""

Codes = NDArray[np.int64]


class TreeShape(Protocol):
    """Shape of a lifetime: its sizes and which nodes exist, without tensors."""

    @property
    def length(self) -> int: ...

    @property
    def block_size(self) -> int: ...

    @property
    def depth(self) -> int: ...

    def count(self, level: int) -> int: ...

    def is_stale(self, node: NodeRef) -> bool: ...

    def is_sealed(self, node: NodeRef) -> bool: ...


@dataclass(frozen=True, slots=True)
class Entry:
    """A block of tokens (level 0) or a gist: node (level, index), lifetime tokens [start, end), cost in positions."""

    level: int
    index: int
    start: int
    end: int
    cost: int

    @property
    def node(self) -> NodeRef:
        return NodeRef(self.level, self.index)


@dataclass(frozen=True, slots=True)
class Edit:
    """Replacement of the entries `removed` at `position` by `inserted`; with the two swapped it undoes itself."""

    position: int
    removed: tuple[Entry, ...]
    inserted: tuple[Entry, ...]

    @property
    def inverse(self) -> Edit:
        return Edit(self.position, self.inserted, self.removed)

    @property
    def cost(self) -> int:
        """Change in positions."""
        return sum(entry.cost for entry in self.inserted) - sum(entry.cost for entry in self.removed)


@dataclass(frozen=True)
class WorkingContext:
    """Entries that tile [0, lifetime) without gap or overlap; with the sinks they cost at most `window` positions."""

    items: tuple[Entry, ...]
    lifetime: int
    window: int
    block_size: int
    tail_blocks: int

    @cached_property
    def used(self) -> int:
        """Positions in use, sinks included."""
        return SINKS + sum(entry.cost for entry in self.items)

    @property
    def free(self) -> int:
        return self.window - self.used

    @property
    def tail_start(self) -> int:
        """First lifetime token of the tail, which always stays tokens: the last whole blocks and the open block."""
        return tail_start(self.lifetime, self.block_size, self.tail_blocks)

    def entries(self) -> tuple[Entry, ...]:
        """Return all entries in order of time."""
        return self.items

    def distance(self, entry: Entry) -> int:
        """Return the number of blocks between the entry's end and the decode cursor."""
        return -(-(self.lifetime - entry.end) // self.block_size)

    def position(self, node: NodeRef) -> int | None:
        """Return the index of a node's entry, or None if it is no entry."""
        return self._places.get(node)

    def covering(self, token: int) -> int | None:
        """Return the index of the entry that covers a lifetime token, or None outside the lifetime."""
        if not 0 <= token < self.lifetime:
            return None
        return bisect_right(self.items, token, key=lambda entry: entry.start) - 1

    def bands(self) -> tuple[Band, ...]:
        """Return the level-of-detail map, which tiles the lifetime; neighbours of the same level are joined."""
        return join_bands(tuple(Band(entry.start, entry.end, entry.level) for entry in self.items))

    def standing(self) -> frozenset[NodeRef]:
        """Return the complete gists whose detail is in the window, outside the tail."""
        gists: set[NodeRef] = set()
        for entry in self.items:
            above = parent_of(entry.node, self.block_size)
            while above not in gists and gist_entry(above, self.block_size).end <= self.tail_start:
                gists.add(above)
                above = parent_of(above, self.block_size)
        return frozenset(gists)

    def codes(self) -> Codes:
        """Return (R,) codes of what the model reads at each position; in one lifetime, equal codes mean equal
        embeddings.
        """
        return self._codes

    @property
    def read(self) -> int:
        """R: number of positions that the model reads; a long row of gists is one position."""
        return len(self._codes)

    @cached_property
    def rows(self) -> tuple[tuple[Entry, ...], ...]:
        """Entries as they are read: more sibling gists in a row than gists were trained for stand together, others
        alone.
        """
        rows: list[tuple[Entry, ...]] = []
        for parent, run in groupby(self.items, key=lambda entry: parent_of(entry.node, self.block_size)):
            entries = tuple(run)
            together = parent.level > 1 and len(entries) > OPTIONS.longest_row
            rows += [entries] if together else [(entry,) for entry in entries]
        return tuple(rows)

    @cached_property
    def signature(self) -> str:
        """Text that identifies the entries, for hashing."""
        return ",".join(f"{entry.level}.{entry.index}.{entry.cost}" for entry in self.items)

    def expand(self, position: int) -> tuple[WorkingContext, Edit]:
        """Replace a gist by its children. The result may exceed the window; `check` raises then."""
        entry = self.items[position]
        if entry.level == 0:
            raise FocusError(f"{entry.node} is already held as tokens.")
        return self.apply(Edit(position, (entry,), self.children(entry)))

    def collapse(self, node: NodeRef) -> tuple[WorkingContext, Edit]:
        """Replace all children of a gist by it. Raises FocusError unless all of them are entries."""
        children = self.group(node)
        if not children:
            raise FocusError(f"The children of {node} are not all in the working context.")
        first = self._places[children[0].node]
        return self.apply(Edit(first, children, (gist_entry(node, self.block_size),)))

    def group(self, node: NodeRef) -> tuple[Entry, ...]:
        """Return the entries that a collapse removes: the node's children if all of them are entries, else ()."""
        children = self.children(gist_entry(node, self.block_size))
        first, last = self.position(children[0].node), self.position(children[-1].node)
        if first is None or last is None:
            return ()
        members = self.items[first : last + 1]
        return members if members == children else ()

    def expand_cost(self, position: int) -> int:
        """Return the positions that expanding an entry adds; 0 for tokens."""
        entry = self.items[position]
        if entry.level == 0:
            return 0
        return self.block_size - entry.cost

    def collapse_cost(self, members: Sequence[Entry]) -> int:
        """Return the change in positions if a gist replaced these children, which need not be all."""
        return 1 - sum(entry.cost for entry in members)

    def without(self, sealed: Container[NodeRef]) -> WorkingContext:
        """Return the context with the coarsest sealed gist, outside the tail, in place of everything below it."""
        items: list[Entry] = []
        for entry in self.items:
            cover, above = entry, parent_of(entry.node, self.block_size)
            while (gist := gist_entry(above, self.block_size)).end <= self.tail_start:
                cover = gist if above in sealed else cover
                above = parent_of(above, self.block_size)
            if cover == entry or not items or items[-1] != cover:
                items.append(cover)
        return self._with(tuple(items), self.lifetime)

    def children(self, entry: Entry) -> tuple[Entry, ...]:
        """Return the entries for the same span one level finer."""
        if entry.level == 1:
            return (Entry(0, entry.index, entry.start, entry.end, entry.end - entry.start),)
        first = entry.index * self.block_size
        nodes = (NodeRef(entry.level - 1, first + child) for child in range(self.block_size))
        return tuple(gist_entry(node, self.block_size) for node in nodes)

    def apply(self, edit: Edit) -> tuple[WorkingContext, Edit]:
        """Apply an edit (its inverse undoes it). Raises FocusError when it does not fit this context."""
        end = edit.position + len(edit.removed)
        if self.items[edit.position : end] != edit.removed:
            raise FocusError("The edit does not belong to this working context.")
        items = (*self.items[: edit.position], *edit.inserted, *self.items[end:])
        return self._with(items, self.lifetime), edit

    def extend_lifetime(self, lifetime: int) -> WorkingContext:
        """Return the context for a longer lifetime: new tokens fill the open block, then begin new blocks.

        The result may exceed the window: make room first, or collapse before `check`.
        """
        items = list(self.items)
        start = self.lifetime
        if items and items[-1].level == 0 and items[-1].end % self.block_size:
            start = items.pop().start
        items.extend(token_entries(start, lifetime, self.block_size))
        return self._with(tuple(items), lifetime)

    def check(self) -> None:
        """Raise FocusError unless every invariant holds: tiling, budget, alignment, tail."""
        expected = 0
        for entry in self.items:
            self._check_entry(entry)
            if entry.start != expected or entry.end <= entry.start:
                raise _build_invariant_error(f"{entry.node} begins at token {entry.start}, not at {expected}")
            expected = entry.end
        if expected != self.lifetime:
            raise _build_invariant_error(f"the entries end at token {expected} of {self.lifetime}")
        if self.used > self.window:
            raise _build_invariant_error(f"{self.used} positions are used of {self.window}")

    def tail_view(self, k: int = 256) -> tuple[Entry, ...]:
        """Return the last k entries."""
        return self.items[-k:] if k > 0 else ()

    def to_tensors(self, tree: LifetimeTree) -> dict[str, torch.Tensor]:
        """Return the model's input: inputs_embeds (R, d), attention_mask and position_ids (R,), sinks included."""
        places = torch.arange(self.read)
        rows = self.embeddings(tree, 0, self.read)
        return {"inputs_embeds": rows, "attention_mask": torch.ones_like(places), "position_ids": places}

    def pack(self, tree: LifetimeTree) -> dict[str, torch.Tensor]:
        """Return a scorer's input, a row for each position without the sinks (N = W − 4).

        embeddings (N, d) in the model's precision; levels, span_width (lifetime tokens that an entry covers) and
        distance_to_cursor (blocks), each (N,) int64.
        """
        costs = torch.tensor([entry.cost for entry in self.items], dtype=torch.int64)
        columns = {
            "levels": [entry.level for entry in self.items],
            "span_width": [entry.end - entry.start if entry.level else 1 for entry in self.items],
            "distance_to_cursor": [self.distance(entry) for entry in self.items],
        }
        packed = {
            name: torch.tensor(column, dtype=torch.int64).repeat_interleave(costs) for name, column in columns.items()
        }
        like = tree.model.embed(torch.zeros(0, dtype=torch.int64))
        packed["embeddings"] = torch.cat([like, *(_rows(run, tree).to(like) for run in _runs(self.items))])
        return packed

    def embeddings(self, tree: LifetimeTree, start: int, end: int) -> torch.Tensor:
        """Return (end − start, d): the model's input at positions [start, end); positions 0 to 3 are sinks."""
        model = tree.model
        sinks = model.embed(torch.tensor(model.sinks(), dtype=torch.int64))
        pieces = [sinks[start : min(end, SINKS)]]
        place = SINKS
        for together, group in groupby(self.rows, key=lambda row: len(row) > 1):
            rows = list(group)
            for run in rows if together else _runs([entry for (entry,) in rows]):
                width = 1 if together else sum(entry.cost for entry in run)
                low, high = max(start, place) - place, min(end, place + width) - place
                if low < high:
                    piece = tree.gist_of_row(run[0].node, len(run)) if together else _rows(run, tree)
                    pieces.append(piece[low:high].to(sinks))
                place += width
        return torch.cat(pieces)

    @cached_property
    def _codes(self) -> Codes:
        pieces = [np.arange(-SINKS, 0, dtype=np.int64)]
        for row in self.rows:
            last = row[-1]
            if last.level == 0:
                pieces.append(np.arange(last.start, last.end, dtype=np.int64))
            else:
                pieces.append(np.array([span_id(last.node) | len(row) - 1 << READ_AS_ONE], np.int64))
        codes = np.concatenate(pieces)
        codes.flags.writeable = False
        return codes

    @cached_property
    def _places(self) -> dict[NodeRef, int]:
        return {entry.node: place for place, entry in enumerate(self.items)}

    def _check_entry(self, entry: Entry) -> None:
        if entry.level == 0:
            aligned = entry.start == entry.index * self.block_size
            if not (aligned and entry.cost == entry.end - entry.start <= self.block_size):
                raise _build_invariant_error(f"{entry.node} is not a single block")
        elif entry != gist_entry(entry.node, self.block_size):
            raise _build_invariant_error(f"{entry.node} does not cover the span of its level")
        elif entry.end > self.tail_start:
            raise _build_invariant_error(f"{entry.node} stands in the tail, which stays tokens")

    def _with(self, items: tuple[Entry, ...], lifetime: int) -> WorkingContext:
        return WorkingContext(items, lifetime, self.window, self.block_size, self.tail_blocks)


def gist_entry(node: NodeRef, block_size: int) -> Entry:
    """Return the entry of a gist."""
    width = block_size**node.level
    return Entry(node.level, node.index, node.index * width, (node.index + 1) * width, 1)


def token_entries(start: int, end: int, block_size: int) -> list[Entry]:
    """Return block entries that tile [start, end). `start` is a block boundary; the last block may be open."""
    return [
        Entry(0, low // block_size, low, min(low + block_size, end), min(low + block_size, end) - low)
        for low in range(start, end, block_size)
    ]


def common(left: Codes, right: Codes) -> int:
    """Return the number of leading positions at which both contexts are read alike."""
    length = min(len(left), len(right))
    differ = np.flatnonzero(left[:length] != right[:length])
    return int(differ[0]) if len(differ) else length


def _runs(items: Sequence[Entry]) -> list[tuple[Entry, ...]]:
    """Return runs of entries that can be fetched together: of one level, with consecutive indexes."""
    breaks = ((a.level, a.index + 1) != (b.level, b.index) for a, b in pairwise(items))
    cuts = [0, *(i + 1 for i, broken in enumerate(breaks) if broken), len(items)]
    return [tuple(items[low:high]) for low, high in pairwise(cuts) if low < high]


def _rows(run: tuple[Entry, ...], tree: LifetimeTree) -> torch.Tensor:
    """Return the embeddings of a run, (its cost, d)."""
    if run[0].level == 0:
        ids = tree.tokens(run[0].start, run[-1].end).astype(np.int64)
        return tree.model.embed(torch.from_numpy(ids))
    return tree.gists(run[0].level, run[0].index, run[-1].index + 1)


def _build_invariant_error(what: str) -> FocusError:
    return FocusError(f"{what}.", title="The working context broke an invariant")


Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scores:
    """Signed utilities in [-1, 1], one a position without the sinks (N = W − 4), as `WorkingContext.pack` lays out.

    A positive score asks for more detail, a negative one for less. parts: named summands, each (N,). question_share:
    share of the question's words in the block before the tail that holds most of them; None if none was computed.
    inside: level-1 gists below a coarser entry whose blocks are wanted, each with the score of its block; the entry's
    own score is then the greatest of them.
    """

    values: Values
    parts: Mapping[str, Values]
    question_share: float | None = None
    inside: Mapping[NodeRef, float] = field(default_factory=dict)


def aggregate(context: WorkingContext, values: Values) -> Values:
    """Return (entries,) the mean of scores (N,) over each entry's positions."""
    costs = np.array([entry.cost for entry in context.entries()], dtype=np.int64)
    if not len(costs):
        return np.zeros(0)
    starts = np.concatenate([[0], np.cumsum(costs)[:-1]])
    means: Values = np.add.reduceat(np.asarray(values, np.float64), starts) / costs
    return means

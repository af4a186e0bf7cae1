"""Store the metadata of a lifetime's spans: descriptions, tags, forgotten detail, usage, and an embedding of every
whole block.

Each change is written to the journal before it counts. A purge writes two lines, one before and one after; if the
process is killed between them, the next opening finishes the purge. One text encoder makes all vectors; those of
another are dropped and computed again. A vector depends on its block's tokens alone, so stepping back only cuts rows.
Purged blocks have a row of zeros.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from amgs_focus.errors import FocusError
from amgs_focus.gist import values_of
from amgs_focus.options import ProgressCallback, TextEncoder
from amgs_focus.records import BLANK, NodeRef, SpanAbout, Tag
from amgs_focus.tree.files import LifetimeStore
from amgs_focus.tree.node_set import NodeSet
from amgs_focus.tree.side_files import GistUsage
from amgs_focus.tree.span_metadata import Act, SpanMetadata, plain

if TYPE_CHECKING:
    from amgs_focus.tree.gist_tree import LifetimeTree


BATCH = 128  # blocks encoded at a time: the unit of progress and of cancelling
PIECE = 8192  # rows multiplied at a time: 12 MB of them in float32

Cosines = NDArray[np.float32]


class BlockVectors:
    """The vectors of a lifetime's blocks computed so far: (blocks, d) float16."""

    def __init__(self, store: LifetimeStore) -> None:
        self._store = store

    def __len__(self) -> int:
        """Return the number of blocks with a row, purged ones included."""
        return 0 if self._store.vectors is None else len(self._store.vectors)

    def sync(self, tree: LifetimeTree, encoder: TextEncoder, progress: ProgressCallback | None = None) -> None:
        """Encode every whole block that has no vector by this encoder."""
        rows = self._store.begin_vectors(encoder.name, encoder.dimension)
        total, size = tree.count(0), tree.block_size
        purged = [(low // size, high // size) for low, high in tree.catalogue.find_gone(0)]
        for first in range(len(rows), total, BATCH):
            if progress is not None:
                progress(first, total, "vectors of blocks")
            blocks = range(first, min(total, first + BATCH))
            places = [at for at in blocks if not any(low <= at < high for low, high in purged)]
            vectors = np.zeros((len(blocks), encoder.dimension), np.float16)
            if places:
                texts = [self._text(tree, at) for at in places]
                vectors[[at - first for at in places]] = values_of(
                    encoder, texts, partial(_embed_texts, encoder, texts)
                )
            rows.append(vectors)

    def cosines(self, vector: NDArray[np.float32], blocks: int) -> Cosines:
        """Return (blocks,) products of a vector (d,) with the first rows, read in pieces; 0 for missing rows."""
        products = np.zeros(blocks, np.float32)
        rows = self._store.vectors
        if rows is None:
            return products
        for first in range(0, min(blocks, len(rows)), PIECE):
            piece = rows.rows(first, min(blocks, first + PIECE))
            products[first : first + len(piece)] = piece.astype(np.float32) @ vector
        return products

    def cut(self, blocks: int) -> None:
        """Keep the first blocks only."""
        if self._store.vectors is not None:
            self._store.vectors.truncate(blocks)

    def blank(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Set the rows of blocks [start, stop) to zero, for good."""
        count = len(self)
        inside = [(low, min(high, count)) for low, high in ranges if low < count]
        if inside:
            self._store.blank_vectors(inside)

    @staticmethod
    def _text(tree: LifetimeTree, block: int) -> str:
        size = tree.block_size
        return tree.model.decode(tree.tokens(block * size, (block + 1) * size).tolist())


def _embed_texts(encoder: TextEncoder, texts: Sequence[str], places: Sequence[int]) -> NDArray[np.float16]:
    return encoder.embed([texts[at] for at in places]).astype(np.float16)


Range = tuple[int, int]


class Catalogue:
    """Metadata of a lifetime's spans, kept in its store. Node (n, i) covers block_size^n tokens."""

    def __init__(self, store: LifetimeStore, block_size: int, vectors: BlockVectors) -> None:
        self._store = store
        self._vectors = vectors
        self._block_size = block_size
        self.span_metadata = SpanMetadata()

    @property
    def usage(self) -> GistUsage:
        """Usage of every gist, such as its number of openings."""
        return self._store.usage

    @property
    def sealed(self) -> NodeSet:
        """Gists whose detail is not shown."""
        return self.span_metadata.sealed

    def is_sealed(self, node: NodeRef) -> bool:
        """Return whether the detail below a gist was forgotten."""
        return node in self.span_metadata.sealed

    def begin(self, span_metadata: SpanMetadata) -> None:
        """Take over the metadata in the journal, and finish a purge that was interrupted."""
        self.span_metadata = span_metadata
        if not span_metadata.blanked:
            self._blank()

    def about(self, start: int) -> SpanAbout:
        """Return the metadata of the span that begins at a token."""
        return self.span_metadata.about.get(start, BLANK)

    def describe(self, spans: Mapping[int, SpanAbout]) -> None:
        """Replace the metadata of spans, given by their starts."""
        if spans:
            self._store.note({"about": [[start, description.plain()] for start, description in spans.items()]})
            self.span_metadata = replace(self.span_metadata, about={**self.span_metadata.about, **spans})

    def record_span(self, start: int, about: SpanAbout) -> None:
        """Record the metadata of a span that the journal already holds."""
        if about != BLANK:
            self.span_metadata.about[start] = about

    def tag(self, tag: Tag) -> None:
        """Tag tokens, so that no rule forgets them."""
        self._store.note({"tag": plain(tag)})
        self.span_metadata = replace(self.span_metadata, tags=(*self.span_metadata.tags, tag))

    def untag(self, gone: Iterable[Tag]) -> None:
        """Remove tags."""
        for tag in gone:
            self._store.note({"untag": plain(tag)})
            self.span_metadata = replace(
                self.span_metadata, tags=tuple(other_tag for other_tag in self.span_metadata.tags if other_tag != tag)
            )

    def act(self, act: Act) -> None:
        """Forget, restore or purge. Raises FocusError for an act that changes nothing."""
        after = self.span_metadata.apply_act(act)
        before = self.span_metadata
        if (after.sealed, after.purged) == (before.sealed, before.purged):
            raise FocusError(
                f"There is nothing to {act.kind}.",
                title="Nothing changes",
                way_out="See what was forgotten, restored and purged.",
                about="forgotten",
            )
        self._store.note({"act": plain(act)})
        self.span_metadata = after
        if act.kind == "purge":
            self._blank()

    def seal(self, sealed: NodeSet) -> None:
        """Seal exactly these gists and those that were purged; used when stepping back and forward."""
        wanted = sealed | self.span_metadata.purged
        if wanted != self.span_metadata.sealed:
            self._store.note({"sealed": [list(run) for run in wanted.runs]})
            self.span_metadata = replace(self.span_metadata, sealed=wanted)

    def cut(self, length: int) -> None:
        """Cut the metadata to the lifetime's new length; the journal records the cut itself."""
        self.span_metadata = self.span_metadata.cut(length, self._block_size)
        self.usage.cut(length, self._block_size)

    def find_gone(self, level: int) -> tuple[Range, ...]:
        """Return the rows of a level at or below purged nodes, in order; at level 0 tokens. They cannot be computed
        again.
        """
        size = self._block_size
        ranges = []
        for run in self.span_metadata.purged.runs:
            if run.level >= max(1, level):
                width = size ** (run.level - level)
                ranges.append((run.first * width, run.stop * width))
        return _merge_ranges(ranges)

    def _blank(self) -> None:
        """Carry out every recorded purge; repeating one does no harm."""
        purged = self.span_metadata.purged
        for level in sorted(self._store.levels()):
            below = [run for run in purged.runs if run.level > level]
            ranges = _merge_ranges(
                (run.first * width, run.stop * width)
                for run in below
                for width in (self._block_size ** (run.level - level),)
            )
            if ranges:
                self._store.blank(level, ranges)
        size = self._block_size
        self._vectors.blank([(low // size, high // size) for low, high in self.find_gone(0)])
        self._store.note({"blanked": True})
        self.span_metadata = replace(self.span_metadata, blanked=True)


def _merge_ranges(ranges: Iterable[Range]) -> tuple[Range, ...]:
    merged: list[Range] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def overlapping(ranges: Sequence[Range], start: int, end: int) -> list[Range]:
    """Return the parts of the ranges that lie in [start, end)."""
    return [(max(low, start), min(high, end)) for low, high in ranges if low < end and start < high]

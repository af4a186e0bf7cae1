"""The lifetime context: every token read or written, and the gists above each full block, level by level.

MegaContext, "Lifetime gist tree". Append-only except for stepping back. With block size K, node (n, i) covers K^n
tokens (a block at levels 0 and 1) and exists once all its K children do; the tokens after the last whole block are the
open block. Each token can be traced to its segment, and so to its memory block. The hash of the tokens is updated as
they are appended; a cut does not read the whole lifetime again.
"""

from __future__ import annotations

import bisect
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from amgs_focus.errors import CtxError, FocusError
from amgs_focus.gist import GistEncoder, values_of
from amgs_focus.model.base_model import BaseModel
from amgs_focus.options import ProgressCallback
from amgs_focus.records import BLANK, NodeRef, Segment, SpanAbout, SpanKind, SpanSource
from amgs_focus.tree.ctx_file import Rows
from amgs_focus.tree.files import FolderStore, LifetimeStore, MemoryStore, RowStore
from amgs_focus.tree.journal import add_span, clip
from amgs_focus.tree.metadata_store import BlockVectors, Catalogue, overlapping
from amgs_focus.tree.node_set import NodeSet
from amgs_focus.tree.span_metadata import Act

PIECE = 1 << 18
"""Tokens between two saved states of the hash: a cut hashes at most so many again."""


class TokenHash:
    """SHA-256 of tokens as little-endian 32-bit numbers, with a saved state after every whole piece."""

    def __init__(self) -> None:
        self._state = hashlib.sha256()
        self._marks = [self._state.copy()]
        self._length = 0

    def update(self, tokens: Tokens) -> None:
        """Add tokens at the end."""
        while len(tokens):
            piece, tokens = np.split(tokens, [PIECE - self._length % PIECE])
            self._state.update(piece.astype("<u4").tobytes())
            self._length += len(piece)
            if self._length % PIECE == 0:
                self._marks.append(self._state.copy())

    def cut(self, length: int, rows: RowStore) -> None:
        """Cut to the first `length` tokens, which `rows` holds; only tokens after the last saved state are read."""
        del self._marks[1 + length // PIECE :]
        self._length = PIECE * (len(self._marks) - 1)
        self._state = self._marks[-1].copy()
        for start in range(self._length, length, PIECE):
            self.update(rows.rows(start, min(length, start + PIECE)))

    def digest(self, further: Sequence[int]) -> str:
        """Return the hash with further tokens appended, as 64 hex digits."""
        state = self._state.copy()
        state.update(np.asarray(further, "<u4").tobytes())
        return state.hexdigest()


BATCH = 64  # nodes encoded at a time: the unit of progress and of cancelling

Tokens = NDArray[np.uint32]


class LifetimeTree:
    """The gist tree of a lifetime, in memory or in a folder of .ctx files (`LifetimeTree.open`)."""

    def __init__(
        self, model: BaseModel, gist: GistEncoder, *, block_size: int = 32, store: LifetimeStore | None = None
    ) -> None:
        self._model = model
        self._gist = gist
        self._block_size = block_size
        self._width = model.card.width
        self._store = store or MemoryStore(self._width, gist.version)
        self._truncations: list[int] = []
        self._generation = 0
        self._hash = TokenHash()
        self.vectors = BlockVectors(self._store)
        self.catalogue = Catalogue(self._store, block_size, self.vectors)
        self._spans, self._open = self._recover()
        self._starts = [span.start for span in self._spans]
        self._hash.cut(len(self._store.level(0)), self._store.level(0))

    @classmethod
    def open(
        cls, folder: Path, model: BaseModel, gist: GistEncoder, *, block_size: int = 32, mend: bool = False
    ) -> LifetimeTree:
        """Open or create the lifetime in a folder. Raises CtxError when it is damaged, unless `mend` repairs it."""
        store = FolderStore(folder, model, block_size=block_size, gist_version=gist.version, mend=mend)
        try:
            return cls(model, gist, block_size=block_size, store=store)
        except BaseException:
            store.close()
            raise

    @property
    def model(self) -> BaseModel:
        return self._model

    @property
    def gist(self) -> GistEncoder:
        return self._gist

    @property
    def block_size(self) -> int:
        return self._block_size

    @property
    def length(self) -> int:
        """Tokens of the lifetime, the open block included."""
        return len(self._store.level(0)) + len(self._open)

    @property
    def depth(self) -> int:
        """Highest level with a node; 0 while there is no gist."""
        return max((level for level in self._store.levels() if level and self.count(level)), default=0)

    @property
    def generation(self) -> int:
        """Number of rebuilds; gists cached before a rebuild are void."""
        return self._generation

    @property
    def truncations(self) -> Sequence[int]:
        """Lengths to which the lifetime was cut, in order; data derived from later tokens is void."""
        return self._truncations

    def count(self, level: int) -> int:
        """Return the number of complete nodes at a level; at level 0 whole blocks."""
        if level == 0:
            return len(self._store.level(0)) // self._block_size
        return len(self._store.level(level)) if level in self._store.levels() else 0

    def exists(self, node: NodeRef) -> bool:
        """Return whether a node is complete; the open block of level 0 counts once it has a token."""
        if node.level == 0 and node.index == self.count(0):
            return bool(self._open)
        return 0 <= node.index < self.count(node.level)

    def span(self, node: NodeRef) -> tuple[int, int]:
        """Return the lifetime tokens [start, end) of a node, clipped to the lifetime's end."""
        width = self._block_size ** max(1, node.level)
        return node.index * width, min((node.index + 1) * width, self.length)

    def is_stale(self, node: NodeRef) -> bool:
        """Return whether the node's gist was computed by another version of the encoder."""
        return node.level > 0 and self.gist_version(node.level) != self._gist.version

    def gist_version(self, level: int) -> int:
        """Return the version of the encoder that computed a level's gists."""
        return self._store.gist_version(level)

    def is_sealed(self, node: NodeRef) -> bool:
        """Return whether the detail below a node was forgotten, so that it may not be expanded."""
        return self.catalogue.is_sealed(node)

    def tokens(self, start: int, end: int) -> Tokens:
        """Return a copy of token ids [start, end)."""
        whole = len(self._store.level(0))
        head = self._store.level(0).rows(start, min(end, whole))
        rest = self._open[max(0, start - whole) : max(0, end - whole)]
        return np.concatenate([head, np.asarray(rest, np.uint32)]).astype(np.uint32)

    def gists(self, level: int, start: int, stop: int) -> torch.Tensor:
        """Return gists [start, stop) of a level: (n, d) float32."""
        return self._as_gists(self._store.level(level).rows(start, stop))

    def gist_of_row(self, first: NodeRef, count: int) -> torch.Tensor:
        """Return one gist (1, d) of `count` sibling gists from `first` on; of all siblings it is their parent's."""
        return self._gist.encode_gists(self.gists(first.level, first.index, first.index + count)[None])

    def text(self, start: int, end: int) -> str:
        """Return tokens [start, end) as text; purged tokens are replaced by their number in brackets."""
        pieces, at = [], start
        for low, high in (*overlapping(self.catalogue.find_gone(0), start, end), (end, end)):
            pieces.append(self._model.decode([int(token) for token in self.tokens(at, low)]))
            pieces += [f"[{high - low} tokens purged]"] * (low < high)
            at = high
        return "".join(pieces)

    def sources(self, start: int, end: int) -> tuple[SpanSource, ...]:
        """Return the sources of tokens [start, end): spans in order that tile the range, clipped to it."""
        return tuple(
            replace(span, start=max(start, span.start), end=min(end, span.end))
            for span in self.sources_whole(start, end)
        )

    def sources_whole(self, start: int, end: int) -> tuple[SpanSource, ...]:
        """Return the same spans as `sources`, not clipped."""
        first = max(0, bisect.bisect_right(self._starts, start) - 1)
        last = bisect.bisect_left(self._starts, end) if start < end else first
        return tuple(span for span in self._spans[first:last] if span.end > start)

    def spans(self) -> tuple[SpanSource, ...]:
        """Return the sources of the whole lifetime, in order."""
        return tuple(self._spans)

    def children(self, ref: NodeRef) -> tuple[NodeRef, ...]:
        """Return the nodes that replace a node when it is expanded: a block for a level-1 gist, K gists for a higher
        gist.
        """
        if ref.level == 0:
            return ()
        if ref.level == 1:
            return (NodeRef(0, ref.index),)
        first = ref.index * self._block_size
        return tuple(NodeRef(ref.level - 1, first + child) for child in range(self._block_size))

    def digest(self) -> str:
        """Return the hash of the lifetime's tokens; how they were appended makes no difference."""
        return self._hash.digest(self._open)

    def append(
        self,
        tokens: Sequence[int],
        *,
        source: str | None = None,
        kind: SpanKind = "memory",
        label: str = "",
        about: SpanAbout = BLANK,
        progress: ProgressCallback | None = None,
    ) -> None:
        """Append tokens and compute every gist that became complete.

        Raises FocusError for a token outside the vocabulary. On any error the lifetime is as before.
        """
        if not len(tokens):
            return
        ids = np.asarray(tokens, dtype=np.int64)
        if ids.min() < 0 or ids.max() >= self._model.card.vocabulary:
            raise FocusError(f"A token lies outside the vocabulary of {self._model.card.name}.")
        start = self.length
        try:
            self._append_tokens(ids.astype(np.uint32))
            self.roll_up(progress)
            span = SpanSource(start, start + len(ids), source, kind, label)
            self._store.record(span, self._open, about)
        except BaseException:
            self._cut(start)
            raise
        add_span(self._spans, span)
        self.catalogue.record_span(start, about)
        if len(self._starts) < len(self._spans):
            self._starts.append(start)

    def append_segment(self, segment: Segment, progress: ProgressCallback | None = None) -> None:
        """Encode and append a segment by itself, so that its boundary falls between two tokens."""
        self.append(
            self._model.encode(segment.text),
            source=segment.source,
            kind=segment.kind,
            label=segment.label,
            about=SpanAbout.of(segment.meta),
            progress=progress,
        )

    def act(self, act: Act) -> None:
        """Forget, restore or purge the detail below some gists. Raises FocusError when that changes nothing."""
        self.catalogue.act(act)
        if act.kind == "restore":
            self.catalogue.usage.record_restored(act.nodes, self.length)
        if act.kind == "purge":
            whole = len(self._store.level(0))
            self._hash = TokenHash()
            self._hash.cut(whole, self._store.level(0))
            self._truncations.append(min((low for low, _ in self.catalogue.find_gone(0)), default=whole))

    def seal(self, sealed: NodeSet) -> None:
        """Seal exactly these gists and those that were purged."""
        self.catalogue.seal(sealed)

    def truncate(self, length: int) -> None:
        """Cut to the first `length` tokens; nodes that are no longer complete are dropped."""
        if not 0 <= length <= self.length:
            raise FocusError(f"The lifetime has {self.length} tokens, not {length}.")
        if length < self.length:
            self._cut(length)
            self._store.record_cut(length, self._open)

    def rebuild(self, progress: ProgressCallback | None = None) -> None:
        """Compute every gist again with the present encoder, in place; gists of purged spans stay.

        If it is interrupted, the level still counts as stale, and each of its gists is either old or new.
        """
        total = sum(self.count(level) for level in self._store.levels() if level)
        done = 0
        self._generation += 1
        for level in range(1, self.depth + 1):
            first = 0
            purged = self.catalogue.find_gone(level)
            for low, high in (*purged, (self.count(level), self.count(level))):
                for at in range(first, low, BATCH):
                    if progress is not None:
                        progress(done, total, "gists")
                    stop = min(low, at + BATCH)
                    self._store.level(level).overwrite(at, self._encode(level, at, stop))
                    done += stop - at
                first = high
            self._store.say_version(level, self._gist.version)

    def roll_up(self, progress: ProgressCallback | None = None) -> None:
        """Compute every gist whose children are complete, lowest level first."""
        total = self._missing()
        done = 0
        level = 1
        while self._children_of(level) > 0:
            complete = self._children_of(level)
            while (first := self.count(level)) < complete:
                if progress is not None:
                    progress(done, total, "gists")
                last = min(complete, first + BATCH)
                self._store.level(level).append(self._encode(level, first, last))
                done += last - first
            level += 1

    def close(self) -> None:
        self._store.close()

    def _children_of(self, level: int) -> int:
        """Return how many nodes of a level the level below can complete."""
        return self.count(0) if level == 1 else self.count(level - 1) // self._block_size

    def _missing(self) -> int:
        """Return how many gists are still to be computed."""
        below, total, level = self.count(0), 0, 1
        while below:
            total += max(0, below - self.count(level))
            below //= self._block_size
            level += 1
        return total

    def _as_gists(self, rows: Rows) -> torch.Tensor:
        return torch.from_numpy(np.array(rows, dtype=np.float32))

    def _encode(self, level: int, first: int, last: int) -> Rows:
        """Return gists [first, last) of a level: (n, d) float16."""
        size = self._block_size
        below = self._store.level(level - 1).rows(first * size, last * size).reshape(last - first, -1)

        def make(places: list[int]) -> Rows:
            rows = np.ascontiguousarray(below[places])
            with torch.no_grad():
                if level == 1:
                    tokens = torch.from_numpy(rows.astype(np.int64))
                    gists = self._gist.encode_tokens(self._model.embed(tokens), tokens)
                else:
                    gists = self._gist.encode_gists(self._as_gists(rows).view(len(rows), size, -1))
            vectors = gists.detach().to("cpu", torch.float32).numpy()
            if not np.isfinite(vectors).all() or np.abs(vectors).max(initial=0.0) > np.finfo(np.float16).max:
                raise FocusError(
                    f"The gist encoder {self._gist.name!r} returned a value that is not a number.",
                    way_out="Use another checkpoint, or the pointer gist.",
                )
            return vectors.astype(np.float16)

        keys = [(id(self._model), self._gist.version, level == 1, row.tobytes()) for row in below]
        return np.stack(values_of(self._gist, keys, make))

    def _append_tokens(self, ids: Tokens) -> None:
        joined = np.concatenate([np.asarray(self._open, np.uint32), ids])
        whole = len(joined) - len(joined) % self._block_size
        self._store.level(0).append(joined[:whole])
        self._hash.update(joined[:whole])
        self._open = [int(token) for token in joined[whole:]]

    def _cut(self, length: int) -> None:
        """Drop everything after `length` tokens from rows, spans and hash."""
        whole = length - length % self._block_size
        self._open = [int(token) for token in self.tokens(whole, length)]
        self.vectors.cut(length // self._block_size)
        for level in sorted(self._store.levels(), reverse=True):
            keep = whole if level == 0 else length // self._block_size**level
            self._store.level(level).truncate(keep)
        self._spans = clip(self._spans, length)
        self._starts = [span.start for span in self._spans]
        self.catalogue.cut(length)
        self._truncations.append(length)
        self._hash.cut(whole, self._store.level(0))

    def _greatest(self, whole: int) -> int:
        """Return the greatest token id, read in pieces; −1 for an empty lifetime."""
        pieces = (self._store.level(0).rows(start, min(whole, start + PIECE)) for start in range(0, whole, PIECE))
        return max((int(piece.max()) for piece in pieces), default=-1)

    def _recover(self) -> tuple[list[SpanSource], list[int]]:
        """Cut rows and journal to the same length after a crash between their writes, and compute missing gists."""
        content = self._store.load()
        spans, open_tokens = content.spans, content.open
        length = spans[-1].end if spans else 0
        whole = length - length % self._block_size
        row_count = len(self._store.level(0))
        is_short = row_count < whole or len(open_tokens) != length - whole
        if is_short:
            length = whole = min(row_count, whole)
            spans, open_tokens = clip(spans, length), []
        if max(self._greatest(whole), *open_tokens, 0) >= self._model.card.vocabulary:
            raise CtxError(
                f"L0.ctx holds tokens outside the vocabulary of {self._model.card.name}.",
                way_out="Open it with the model that wrote it.",
            )
        span_metadata = content.span_metadata.cut(length, self._block_size)
        counts = {level: len(self._store.level(level)) for level in self._store.levels()}
        for run in span_metadata.purged.runs:
            if run.stop > min(counts.get(run.level, 0), length // self._block_size**run.level):
                raise CtxError(
                    f"L{run.level}.ctx is missing gists of purged spans.",
                    way_out="Restore the file from a backup: nothing else holds their content.",
                )
        # All checks passed: nothing is changed before this line.
        if is_short:
            self._store.record_cut(length, [])
        for level in counts:
            self._store.level(level).truncate(length // self._block_size**level if level else whole)
        self.vectors.cut(whole // self._block_size)
        self.catalogue.begin(span_metadata)
        self._open = open_tokens
        self.roll_up()
        return spans, open_tokens

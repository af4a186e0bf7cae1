"""The journal of a lifetime (`spans.jsonl`): the source and metadata of each span, and what was forgotten.

One line for each append, cut or change of metadata or visibility, in order; each is on disk before it counts. What the
journal does not hold did not happen; an unfinished last line is dropped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Union

from pydantic import Discriminator, Field
from pydantic import Tag as PydanticTag

from amgs_focus.errors import CtxError
from amgs_focus.model.checkpoint_file import EmbeddingFingerprint
from amgs_focus.records import BLANK, SpanAbout, SpanSource, Tag
from amgs_focus.tree.ctx_file import is_there, unwritten
from amgs_focus.tree.side_files import RunSums
from amgs_focus.tree.span_metadata import Act, Nodes, SpanMetadata, parse_value, plain

JOURNAL = "spans.jsonl"
JOURNAL_FORMAT = "amgs-spans-1"


TokenId = Annotated[int, Field(ge=0, le=(1 << 32) - 1)]
"""A token id that fits in a row of L0.ctx."""


@dataclass(frozen=True, slots=True)
class FirstLine:
    """The header. vocabulary, embeddings: of the model; 0 and None where an earlier version did not write them."""

    format: Literal["amgs-spans-1"]
    block_size: Annotated[int, Field(ge=1)]
    model: str = ""
    vocabulary: int = 0
    embeddings: EmbeddingFingerprint | None = None


@dataclass(frozen=True, slots=True)
class SpanLine(SpanSource):
    """A span was appended. open: tokens of the open block afterwards."""

    open: tuple[TokenId, ...] | None = None
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CutLine:
    """Everything after `cut` tokens was dropped. open: tokens of the open block afterwards."""

    cut: int
    open: tuple[TokenId, ...] | None = None


@dataclass(frozen=True, slots=True)
class ActLine:
    act: Act


@dataclass(frozen=True, slots=True)
class SealedLine:
    """From here on exactly these gists are sealed, and those that were purged."""

    sealed: Nodes


@dataclass(frozen=True, slots=True)
class PolishedLine:
    """A line of earlier versions, which could improve gists beyond the encoder's; it changes nothing, as the rows hold
    them.
    """

    polished: Any = None


@dataclass(frozen=True, slots=True)
class BlankedLine:
    """Every purge before this line was completed."""

    blanked: Literal[True]


@dataclass(frozen=True, slots=True)
class TagLine:
    tag: Tag


@dataclass(frozen=True, slots=True)
class UntagLine:
    untag: Tag


@dataclass(frozen=True, slots=True)
class AboutLine:
    """Metadata of spans by their starts; it replaces earlier metadata."""

    about: tuple[tuple[int, Mapping[str, Any]], ...]


_LINES = {
    "format": FirstLine,
    "start": SpanLine,
    "cut": CutLine,
    "act": ActLine,
    "sealed": SealedLine,
    "polished": PolishedLine,
    "blanked": BlankedLine,
    "tag": TagLine,
    "untag": UntagLine,
    "about": AboutLine,
}
"""Kinds of lines by the field that identifies them; the first field present decides."""

JournalLine = (
    FirstLine | SpanLine | CutLine | ActLine | SealedLine | PolishedLine | BlankedLine | TagLine | UntagLine | AboutLine
)


@dataclass
class Journalled:
    """Contents of a journal: spans in order, the open block's tokens, and the metadata of the spans.

    vocabulary: of the model, 0 where an earlier version did not write it.
    """

    spans: list[SpanSource] = field(default_factory=list)
    open: list[int] = field(default_factory=list)
    span_metadata: SpanMetadata = field(default_factory=SpanMetadata)
    vocabulary: int = 0


class SpanJournal:
    """The journal in a folder; `load` creates it if missing.

    block_size: 0 accepts any block size. embeddings: fingerprint of the model, written to a new journal.
    """

    def __init__(
        self, folder: Path, model: str, block_size: int, embeddings: EmbeddingFingerprint | None = None
    ) -> None:
        self._path = folder / JOURNAL
        self._model = model
        self._block_size = block_size
        self._embeddings = embeddings
        self._sums = RunSums(self._path)
        self._whole_bytes: int | None = None  # bytes of whole lines; what follows is cut off before the next write

    def load(self, tokens: int) -> Journalled:
        """Read the journal, or create it. Raises CtxError for a damaged line; an unfinished last line is dropped.

        tokens: number of rows; rows without a journal (it was deleted) stay, with no known source.
        """
        if not self.is_there():
            return self._begin(tokens)
        raw = self._whole()
        content = self._read(raw, tokens)
        self._whole_bytes = len(raw)
        return content if raw else self._begin(tokens)

    def read(self, tokens: int) -> Journalled:
        """Read as `load` does, changing nothing. Raises CtxError also where there are tokens but no journal."""
        if self.is_there():
            return self._read(self._whole(), tokens)
        if tokens:
            raise CtxError(
                f"It is missing: nothing tells where {tokens:,} tokens came from.",
                way_out="Restore it from a copy; without it they are of no known source.",
            )
        return Journalled()

    def mend(self) -> None:
        """Accept the lines as they are, though their checksum differs. An empty journal is deleted: the tokens stay,
        with no known source.
        """
        self._sums.remove()
        if not self._path.read_bytes():
            self._path.unlink()

    def is_there(self) -> bool:
        """Return whether the journal exists. Raises CtxError where its path is not a file."""
        return is_there(self._path)

    def _whole(self) -> bytes:
        """Return the bytes up to the end of the last whole line."""
        raw = self._path.read_bytes()
        return raw[: raw.rfind(b"\n") + 1]

    def _read(self, raw: bytes, tokens: int) -> Journalled:
        """Return the content of the lines. Raises CtxError for a damaged line, or where lines are missing or changed.

        tokens: number of rows; a journal without a line is valid only for 0.
        """
        content = Journalled()
        for number, line in enumerate(raw.splitlines(), start=1):
            try:
                self._take(content, journal_line(line), number)
            except (ValueError, TypeError) as error:
                raise _unread(number) from error
        if self._sums.size > len(raw) or (tokens and not raw):
            raise CtxError(
                f"{JOURNAL} lacks lines that were written to it: {len(raw):,} bytes are left.",
                way_out="Restore it from a copy, or have it mended.",
                about="damage",
            )
        self._sums.check(0, len(raw))
        return content

    def write_span(self, span: SpanSource, open_tokens: list[int], about: SpanAbout = BLANK) -> None:
        """Write an appended span and the tokens of the open block after it."""
        self.write(span_line(span, open_tokens, about))

    def cut(self, length: int, open_tokens: list[int]) -> None:
        """Write that everything after `length` tokens was dropped."""
        self.write({"cut": length, "open": open_tokens})

    def write(self, entry: Mapping[str, Any]) -> None:
        """Append a line. Raises CtxError when the disk is full; the journal is then unchanged."""
        size = self._path.stat().st_size if self._path.exists() else 0
        try:
            if self._whole_bytes is not None and size > self._whole_bytes:
                os.truncate(self._path, self._whole_bytes)
                size = self._whole_bytes
            self._whole_bytes = None
            with self._path.open("ab") as handle:
                handle.write(json.dumps(entry, ensure_ascii=False).encode("utf-8") + b"\n")
                handle.flush()
                os.fsync(handle.fileno())
        except OSError as error:
            if self._path.exists():
                os.truncate(self._path, size)
            raise unwritten(self._path, error) from error
        self._sums.cover(self._path.stat().st_size)

    def _take(self, content: Journalled, line: JournalLine, number: int) -> None:
        if number == 1:
            if not isinstance(line, FirstLine) or line.block_size != (self._block_size or line.block_size):
                raise ValueError("it is not the header of this lifetime's journal")
            self._block_size = line.block_size
            content.vocabulary = line.vocabulary
            return
        if isinstance(line, FirstLine):
            raise ValueError("a header stands on the first line")
        if isinstance(line, SpanLine):
            span = SpanSource(line.start, line.end, line.source, line.kind, line.label)
            if span.start != (content.spans[-1].end if content.spans else 0) or span.end < span.start:
                raise ValueError(f"{span} does not begin where the last span ends")
            add_span(content.spans, span)
        if isinstance(line, CutLine):
            content.spans = clip(content.spans, line.cut)
        if isinstance(line, SpanLine | CutLine) and line.open is not None:
            content.open = list(line.open)
        content.span_metadata = apply_line(content.span_metadata, line, self._block_size)

    def _begin(self, tokens: int) -> Journalled:
        head = {"format": JOURNAL_FORMAT, "model": self._model, "block_size": self._block_size}
        if self._embeddings is not None:
            head |= {"vocabulary": self._embeddings.vocabulary, "embeddings": asdict(self._embeddings)}
        self.write(head)
        content = Journalled()
        add_span(content.spans, SpanSource(0, tokens, None))
        for span in content.spans:
            self.write_span(span, [])
        return content


def first_line(folder: Path) -> FirstLine | None:
    """Return the header of a folder's journal, None without a journal. Raises CtxError for a damaged line."""
    path = folder / JOURNAL
    if not is_there(path):
        return None
    with path.open("rb") as handle:
        raw = handle.readline()
    if not raw.endswith(b"\n"):
        return None
    try:
        line = journal_line(raw)
    except (ValueError, TypeError) as error:
        raise _unread(1) from error
    if not isinstance(line, FirstLine):
        raise _unread(1)
    return line


def _unread(number: int) -> CtxError:
    return CtxError(
        f"Line {number} of {JOURNAL} cannot be read.",
        way_out="Restore the folder from a copy, or rebuild the lifetime.",
    )


def add_span(spans: list[SpanSource], span: SpanSource) -> None:
    """Append a span in place; one that continues the last generated span lengthens it."""
    if span.end <= span.start:
        return
    if spans:
        last = spans[-1]
        if (last.source, last.kind, last.label) == (span.source, span.kind, span.label) and (span.kind == "generated"):
            spans[-1] = SpanSource(last.start, span.end, span.source, span.kind, span.label)
            return
    spans.append(span)


def clip(spans: list[SpanSource], length: int) -> list[SpanSource]:
    """Return the spans of the first `length` tokens."""
    prefix = [span for span in spans if span.start < length]
    if prefix and prefix[-1].end > length:
        last = prefix[-1]
        prefix[-1] = SpanSource(last.start, length, last.source, last.kind, last.label)
    return prefix


def journal_line(raw: bytes) -> JournalLine:
    """Return a parsed line. Raises ValueError or TypeError for a damaged one."""
    line: JournalLine = parse_value(_any_line(), raw)
    return line


def apply_line(span_metadata: SpanMetadata, line: JournalLine, block_size: int) -> SpanMetadata:
    """Return the metadata after a line. Raises ValueError for a trust outside [0, 1]."""
    match line:
        case ActLine(act):
            return span_metadata.apply_act(act)
        case SealedLine(sealed):
            return replace(span_metadata, sealed=sealed | span_metadata.purged)
        case BlankedLine():
            return replace(span_metadata, blanked=True)
        case TagLine(tag):
            return replace(span_metadata, tags=(*span_metadata.tags, tag))
        case UntagLine(untag):
            return replace(span_metadata, tags=tuple(tag for tag in span_metadata.tags if tag != untag))
        case AboutLine(about):
            listed = {start: SpanAbout.of(fields) for start, fields in about}
            return replace(span_metadata, about={**span_metadata.about, **listed})
        case CutLine(length):
            return span_metadata.cut(length, block_size)
        case SpanLine(start=start, about=about):
            known = SpanAbout.of(about)
            if known != BLANK:
                span_metadata.about[start] = known
    return span_metadata


def span_line(span: SpanSource, open_tokens: list[int], about: SpanAbout) -> dict[str, Any]:
    """Return the journal's line for an append."""
    line = {**plain(span), "open": open_tokens}
    return {**line, "about": about.plain()} if about != BLANK else line


@cache
def _any_line() -> Any:
    """Return the union of all kinds of lines, for the parser."""
    lines = [Annotated[line, PydanticTag(name)] for name, line in _LINES.items()]
    return Annotated[Union[tuple(lines)], Discriminator(_kind)]  # noqa: UP007 - a union of a tuple


def _kind(line: Any) -> str | None:
    if isinstance(line, Mapping) and isinstance(act := line.get("act"), Mapping) and act.get("kind") == "polish":
        return "polished"
    return next((name for name in _LINES if isinstance(line, Mapping) and name in line), None)

"""The journal of a lifetime (`spans.jsonl`): where each span came from, what is known of it, and what was forgotten.

One line for each append, cut, or change of what is known or shown, in order; each is on the disk before it counts. What
the journal does not hold did not happen; a last line without its end is dropped.
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
"""What a row of L0.ctx can hold."""


@dataclass(frozen=True, slots=True)
class FirstLine:
    """The first line. vocabulary and embeddings: of the model, 0 and None where an earlier version did not write
    them.
    """

    format: Literal["amgs-spans-1"]
    block_size: Annotated[int, Field(ge=1)]
    model: str = ""
    vocabulary: int = 0
    embeddings: EmbeddingFingerprint | None = None


@dataclass(frozen=True, slots=True)
class SpanLine(SpanSource):
    """A span came to the end. open: the tokens of the open block after it."""

    open: tuple[TokenId, ...] | None = None
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CutLine:
    """Everything after `cut` tokens went. open: the tokens of the open block after that."""

    cut: int
    open: tuple[TokenId, ...] | None = None


@dataclass(frozen=True, slots=True)
class ActLine:
    act: Act


@dataclass(frozen=True, slots=True)
class SealedLine:
    """Exactly these gists are sealed from now on, and those that were purged."""

    sealed: Nodes


@dataclass(frozen=True, slots=True)
class PolishedLine:
    """Blocks whose gists were once computed better than the encoder's: they stand in the rows, and nothing is done."""

    polished: Any = None


@dataclass(frozen=True, slots=True)
class BlankedLine:
    """Every purge before it was carried out to its end."""

    blanked: Literal[True]


@dataclass(frozen=True, slots=True)
class TagLine:
    tag: Tag


@dataclass(frozen=True, slots=True)
class UntagLine:
    untag: Tag


@dataclass(frozen=True, slots=True)
class AboutLine:
    """Metadata of spans, by their starts, which replaces the earlier metadata."""

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
"""By the field that tells a line of the journal from the others, the first of them that it has."""

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
    """The journal in a folder; `load` begins it where there is none.

    block_size: 0 to read a journal whatever it was written for. embeddings: of the model that it is begun for.
    """

    def __init__(
        self, folder: Path, model: str, block_size: int, embeddings: EmbeddingFingerprint | None = None
    ) -> None:
        self._path = folder / JOURNAL
        self._model = model
        self._block_size = block_size
        self._embeddings = embeddings
        self._sums = RunSums(self._path)
        self._whole_bytes: int | None = None  # of what was read; what lies behind it goes before the next line

    def load(self, tokens: int) -> Journalled:
        """Read it. Raises CtxError for a line that is damaged, a missing end of the last line apart.

        tokens: in the rows; those that are there without a journal (it was deleted) stay, from no known source.
        """
        if not self.is_there():
            return self._begin(tokens)
        raw = self._whole()
        content = self._read(raw, tokens)
        self._whole_bytes = len(raw)
        return content if raw else self._begin(tokens)

    def read(self, tokens: int) -> Journalled:
        """Read as `load` does, without changes. Raises CtxError also where tokens have no journal."""
        if self.is_there():
            return self._read(self._whole(), tokens)
        if tokens:
            raise CtxError(
                f"It is missing: nothing tells where {tokens:,} tokens came from.",
                way_out="Restore it from a copy; without it they are of no known source.",
            )
        return Journalled()

    def mend(self) -> None:
        """Take what its lines say now, though they are not what was written. Without a line it goes: the tokens stay,
        of no known source.
        """
        self._sums.remove()
        if not self._path.read_bytes():
            self._path.unlink()

    def is_there(self) -> bool:
        """Return whether there is a journal; raises CtxError where something else lies in its place."""
        return is_there(self._path)

    def _whole(self) -> bytes:
        """Return its lines, without a last line that has no end."""
        raw = self._path.read_bytes()
        return raw[: raw.rfind(b"\n") + 1]

    def _read(self, raw: bytes, tokens: int) -> Journalled:
        """Return what the lines tell. Raises CtxError for a damaged line, and where they are not those that were
        written. tokens: in the rows; a journal that was only begun is of none.
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
        """Everything after `length` tokens went."""
        self.write({"cut": length, "open": open_tokens})

    def write(self, entry: Mapping[str, Any]) -> None:
        """Add a line. Raises CtxError when the disk is full; the journal then holds what it held."""
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
    """Return what the journal of a folder begins with; None where there is none yet. Raises CtxError for a damaged
    line.
    """
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
    """Append a span in place; a span that only continues the last span lengthens it."""
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
    """Return a line of the journal. Raises ValueError or TypeError for a damaged line."""
    line: JournalLine = parse_value(_any_line(), raw)
    return line


def apply_line(span_metadata: SpanMetadata, line: JournalLine, block_size: int) -> SpanMetadata:
    """Return what a line of the journal makes of it. Raises ValueError for a tag or a trust that cannot be."""
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
    """Return the union of all lines, as a type that JSON is read by."""
    lines = [Annotated[line, PydanticTag(name)] for name, line in _LINES.items()]
    return Annotated[Union[tuple(lines)], Discriminator(_kind)]  # noqa: UP007 - a union of a tuple


def _kind(line: Any) -> str | None:
    if isinstance(line, Mapping) and isinstance(act := line.get("act"), Mapping) and act.get("kind") == "polish":
        return "polished"
    return next((name for name in _LINES if isinstance(line, Mapping) and name in line), None)

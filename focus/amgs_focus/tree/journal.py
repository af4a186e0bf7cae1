"""The journal of a lifetime (`spans.jsonl`): where each span came from, what is known of it, and what was forgotten.

One line an append, a cut, or an act of upkeep, in order, each on the disk before it counts. What the journal does not
know did not happen; a last line without its end is dropped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amgs_focus.codec import build
from amgs_focus.errors import CtxError
from amgs_focus.records import BLANK, SpanAbout, SpanSource
from amgs_focus.tree.ctx_file import is_there, unwritten
from amgs_focus.tree.span_metadata import SpanMetadata, changed, line_of_span

JOURNAL = "spans.jsonl"
JOURNAL_FORMAT = "amgs-spans-1"
MOST_TOKEN = (1 << 32) - 1  # what a row of L0.ctx can hold


@dataclass
class Journalled:
    """What a journal tells: spans in order, the open block's tokens, the upkeep. vocabulary: of the model, 0 where an
    earlier version did not write it.
    """

    spans: list[SpanSource] = field(default_factory=list)
    open: list[int] = field(default_factory=list)
    span_metadata: SpanMetadata = field(default_factory=SpanMetadata)
    vocabulary: int = 0


class SpanJournal:
    """The journal in a folder; `load` begins it where there is none.

    block_size: 0 to read one whatever it was written for.
    """

    def __init__(self, folder: Path, model: str, block_size: int, vocabulary: int = 0) -> None:
        self._path = folder / JOURNAL
        self._model = model
        self._block_size = block_size
        self._vocabulary = vocabulary
        self._whole_bytes: int | None = (
            None  # of what was read; what lies behind it goes before the next line
        )

    def load(self, tokens: int) -> Journalled:
        """Read it. Raises CtxError for a line that is damaged, the last one's missing end apart.

        tokens: in the rows; those that are there without a journal (it was deleted) stay, from no known source.
        """
        if not self.is_there():
            return self._begin(tokens)
        raw = self._whole()
        told = self._read(raw)
        self._whole_bytes = len(raw)
        return told if raw else self._begin(tokens)

    def read(self) -> Journalled:
        """The same and nothing is changed; nothing is told where there is no journal."""
        return self._read(self._whole()) if self.is_there() else Journalled()

    def is_there(self) -> bool:
        """Whether there is a journal; raises CtxError where something else lies in its place."""
        return is_there(self._path)

    def _whole(self) -> bytes:
        """Its lines, without a last one that has no end."""
        raw = self._path.read_bytes()
        return raw[: raw.rfind(b"\n") + 1]

    def _read(self, raw: bytes) -> Journalled:
        told = Journalled()
        for number, line in enumerate(raw.splitlines(), start=1):
            try:
                self._take(told, _parsed(line), number)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                raise CtxError(
                    f"Line {number} of {JOURNAL} cannot be read.",
                    way_out="Restore the folder from a copy, or rebuild the lifetime.",
                ) from error
        return told

    def appended(self, span: SpanSource, open_tokens: list[int], about: SpanAbout = BLANK) -> None:
        """A span came to the end; the tokens of the open block after it."""
        self.write(line_of_span(span, open_tokens, about))

    def cut(self, length: int, open_tokens: list[int]) -> None:
        """Everything after `length` tokens went."""
        self.write({"cut": length, "open": open_tokens})

    def write(self, entry: Mapping[str, Any]) -> None:
        """Add a line. Raises CtxError when the disk is full; the journal then holds what it held."""
        held = self._path.stat().st_size if self._path.exists() else 0
        try:
            if self._whole_bytes is not None and held > self._whole_bytes:
                os.truncate(self._path, self._whole_bytes)
                held = self._whole_bytes
            self._whole_bytes = None
            with self._path.open("ab") as handle:
                handle.write(json.dumps(entry, ensure_ascii=False).encode("utf-8") + b"\n")
                handle.flush()
                os.fsync(handle.fileno())
        except OSError as error:
            if self._path.exists():
                os.truncate(self._path, held)
            raise unwritten(self._path, error) from error

    def _take(self, told: Journalled, line: dict[str, Any], number: int) -> None:
        if number == 1:
            size = build(int, line["block_size"])
            if line["format"] != JOURNAL_FORMAT or size < 1 or size != (self._block_size or size):
                raise ValueError(line["format"])
            self._block_size = size
            told.vocabulary = build(int, line.get("vocabulary", 0))
            return
        span_metadata = changed(told.span_metadata, line, self._block_size)
        if span_metadata is not None:
            told.span_metadata = span_metadata
        if "open" in line:
            told.open = [_token(one) for one in line.pop("open")]
        if "cut" in line:
            told.spans = clip(told.spans, build(int, line["cut"]))
        elif span_metadata is None:
            about = SpanAbout.of(line.pop("about", {}))
            span = build(SpanSource, line)
            if span.start != (told.spans[-1].end if told.spans else 0) or span.end < span.start:
                raise ValueError(f"{span} does not begin where the last one ends")
            add_span(told.spans, span)
            if about != BLANK:
                told.span_metadata.about[span.start] = about

    def _begin(self, tokens: int) -> Journalled:
        head = {"format": JOURNAL_FORMAT, "model": self._model, "block_size": self._block_size}
        self.write({**head, "vocabulary": self._vocabulary} if self._vocabulary else head)
        told = Journalled()
        add_span(told.spans, SpanSource(0, tokens, None))
        for span in told.spans:
            self.appended(span, [])
        return told


def _parsed(line: bytes) -> Any:
    """A line's JSON. Raises ValueError for one that holds half a surrogate pair, which could not be written again."""
    parsed = json.loads(line.decode("utf-8"))
    if b"\\u" in line:
        json.dumps(parsed, ensure_ascii=False).encode("utf-8")
    return parsed


def _token(number: Any) -> int:
    token = build(int, number)
    if not 0 <= token <= MOST_TOKEN:
        raise ValueError(f"{token} is not the number of a token")
    return int(token)


def add_span(spans: list[SpanSource], span: SpanSource) -> None:
    """Append a span in place; one that only continues the last one lengthens it."""
    if span.end <= span.start:
        return
    if spans:
        last = spans[-1]
        if (last.source, last.kind, last.label) == (span.source, span.kind, span.label) and (
            span.kind == "generated"
        ):
            spans[-1] = SpanSource(last.start, span.end, span.source, span.kind, span.label)
            return
    spans.append(span)


def clip(spans: list[SpanSource], length: int) -> list[SpanSource]:
    """The spans of the first `length` tokens."""
    kept = [span for span in spans if span.start < length]
    if kept and kept[-1].end > length:
        last = kept[-1]
        kept[-1] = SpanSource(last.start, length, last.source, last.kind, last.label)
    return kept

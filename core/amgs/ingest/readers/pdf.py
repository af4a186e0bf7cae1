"""PDF, page by page (pypdf). What is only a picture of text cannot be read."""

from __future__ import annotations

import io
import re
from datetime import datetime
from typing import Any

from amgs.clock import as_utc
from amgs.extras import explained
from amgs.ingest.document import ParsedDocument, Passage, UnfitError
from amgs.ingest.readers.line_ranges import runs

_HYPHEN = re.compile(r"(?<=[^\W\d_])-\n(?=[a-z])")


def read(raw: bytes) -> ParsedDocument:
    """See `Reader`. Raises MissingExtraError where pypdf is not installed."""
    with explained():
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(io.BytesIO(raw))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnfitError("it is a PDF under a password")
        pages = [page.extract_text() for page in reader.pages]
        said: Any = reader.metadata or {}
    except UnfitError:
        raise
    except (
        PyPdfError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        RecursionError,
        OSError,
    ) as error:
        raise UnfitError(f"its PDF cannot be read ({type(error).__name__})") from error
    text, passages = "", []
    for number, page in enumerate(pages, 1):
        shown = _HYPHEN.sub("", page).replace("\r", "").strip()
        if not shown:
            continue
        text += "\n\n" if text else ""
        lines, at = shown.split("\n"), len(text)
        starts = [at]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)
        passages += [Passage(starts[a], starts[b] - 1, page=number) for a, b in runs(lines, 0, len(lines))]
        text += shown
    if not text:
        raise UnfitError(f"its {len(pages)} pages hold no text; a scan must go through OCR first")
    empty = sum(not page.strip() for page in pages)
    meta = {"pages": len(pages)} | ({"author": str(said["/Author"])} if said.get("/Author") else {})
    return ParsedDocument(
        text,
        tuple(passages),
        title=" ".join(str(said.get("/Title") or "").split()),
        date=_created(reader),
        meta=meta,
        warnings=(f"{empty} of its {len(pages)} pages hold no text",) if empty else (),
    )


def _created(reader: Any) -> datetime | None:
    try:
        at = reader.metadata.creation_date if reader.metadata else None
        return None if at is None else as_utc(at)
    except (ValueError, AttributeError, OverflowError):
        return None

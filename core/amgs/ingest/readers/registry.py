"""Choose the reader of a file by its name's suffix."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final, Protocol

from amgs.ingest.document import ParsedDocument
from amgs.ingest.readers import chat, code, documents, markdown, plain


class Reader(Protocol):
    """Turns a file's bytes into a document.

    Raises UnfitError with the reason if it cannot read the file, MissingExtraError if a package is missing.
    """

    def __call__(self, raw: bytes) -> ParsedDocument: ...


READERS: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        ".md": markdown.read,
        ".markdown": markdown.read,
        **dict.fromkeys((".txt", ".rst", ".org", ".eml"), plain.read),
        ".jsonl": chat.read,
        ".ndjson": chat.read,
        **{ending: partial(documents.read, ending=ending) for ending in documents.ENDINGS},
        **{ending: partial(code.read, language=language) for ending, language in code.LANGUAGES.items()},
    }
)
"""Readers by the suffix of a file name, in lower case."""


def reader_of(name: str) -> Reader | None:
    """Return the reader for a file name; None if the file is not a note.

    A name without a suffix (README, LICENSE) is read as plain text.
    """
    ending = PurePosixPath(name).suffix.lower()
    return READERS.get(ending) if ending else plain.read

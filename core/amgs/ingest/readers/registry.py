"""Choose the reader of a file by the ending of its name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final, Protocol

from amgs.ingest.document import ParsedDocument
from amgs.ingest.readers import chat, code, documents, markdown, plain


class Reader(Protocol):
    """Makes a document of a file's bytes.

    Raises UnfitError, which says why, for what it cannot take, and MissingExtraError where a package is missing.
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
"""The readers by the ending of a file's name, in lower case."""


def reader_of(name: str) -> Reader | None:
    """Return the reader of a file by its name; None for one that is no note.

    A name without an ending (README, LICENSE) tells nothing: such a file is plain text where it holds text.
    """
    ending = PurePosixPath(name).suffix.lower()
    return READERS.get(ending) if ending else plain.read

"""What the focus benches read: a text of the caller's, and code that no gist was trained on."""

from __future__ import annotations

import sysconfig
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from amgs.errors import InputError, UsageError
from amgs_focus.evaluation.gist import draw_windows
from amgs_focus.model.base_model import BaseModel

HELD_OUT = ("email", "asyncio", "xml")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Tokens of a document, from its token `at` on."""

    document: int
    at: int
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class TokenCorpus:
    """Documents as token ids. mark: changes with the text."""

    name: str
    names: tuple[str, ...]
    documents: tuple[tuple[int, ...], ...]
    mark: str

    @property
    def tokens(self) -> int:
        return sum(map(len, self.documents))

    def excerpts(self, need: int, count: int, seed: int, *, beside: int = 0) -> tuple[Excerpt, ...]:
        """Up to `count` excerpts of `need` tokens, spread evenly, from documents that have `beside` tokens more. Raises
        TextError when no document is so long.
        """
        lengths = [len(document) if len(document) >= need + beside else 0 for document in self.documents]
        places = draw_windows(lengths, need, count, seed)
        return tuple(
            Excerpt(document, at, self.documents[document][at : at + need]) for document, at in places
        )


def read_texts(model: BaseModel, files: Sequence[Path] | Path | None, bench: str) -> TokenCorpus:
    """Text files, each a document. Raises UsageError when none is named, InputError for one that cannot be
    read.
    """
    named = [files] if isinstance(files, Path) else list(files or ())
    if not named:
        raise UsageError(
            "No text given. The bench needs one that the gists were not trained on.",
            way_out=f"Name a file: `bench {bench} --text FILE`.",
        )
    return _corpus(model, " + ".join(file.name for file in named), named)


def held_out_code(model: BaseModel) -> TokenCorpus:
    """The packages of Python's standard library that training leaves out, each module a document."""
    library = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(file for package in HELD_OUT for file in (library / package).rglob("*.py"))
    files = [file for file in files if file.stat().st_size > 0]
    if not files:
        raise InputError(
            f"{library} holds none of {', '.join(HELD_OUT)}.", way_out="Leave the code out: `--no-code`."
        )
    return _corpus(model, f"standard library: {', '.join(HELD_OUT)}", files)


def _corpus(model: BaseModel, name: str, files: Sequence[Path]) -> TokenCorpus:
    documents, mark = [], 0
    for file in files:
        text = _text(file)
        mark = zlib.crc32(text.encode(), mark)
        documents.append(tuple(model.encode(text)))
    return TokenCorpus(name, tuple(file.name for file in files), tuple(documents), f"{mark:08x}")


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 (byte {error.start}).", way_out="Save it as UTF-8.") from error
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}.", way_out="Give a text file.") from error

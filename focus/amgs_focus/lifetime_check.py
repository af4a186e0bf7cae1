"""Whether a lifetime's folder is whole: every file named with what is wrong with it, and mended where that can be done.

It loads no model. Mending cuts files back to their last whole block and drops a level that was only begun; gists that
are then missing are made anew at the next opening.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from amgs_focus.ctx_file import HEADER_BYTES, CtxFile, CtxHeader, repair
from amgs_focus.errors import CtxError
from amgs_focus.lifetime_files import locked
from amgs_focus.span_journal import JOURNAL, SpanJournal


@dataclass(frozen=True, slots=True)
class FileCheck:
    """One file. rows: it holds (of the journal: spans); fault: what is wrong, empty for nothing; mended: it is not any
    more.
    """

    name: str
    rows: int
    fault: str = ""
    mended: bool = False


@dataclass(frozen=True, slots=True)
class LifetimeCheck:
    """A folder. tokens: whole blocks of the lowest level and the open block, as the journal tells."""

    folder: str
    model: str
    tokens: int
    files: tuple[FileCheck, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong any more."""
        return not self.faults

    @property
    def faults(self) -> tuple[FileCheck, ...]:
        """What is wrong still."""
        return tuple(file for file in self.files if file.fault and not file.mended)


def check(
    folder: Path, *, mend: bool = False, progress: Callable[[int, int, str], None] | None = None
) -> LifetimeCheck:
    """Look at every file of a lifetime. Raises CtxError for a folder that holds none, or that another process uses."""
    lowest = folder / "L0.ctx"
    if not lowest.exists():
        raise CtxError(
            f"{folder} holds no lifetime.", way_out="Name a folder that `focus open --lifetime` made."
        )
    lock = locked(folder)
    try:
        files: list[FileCheck] = []
        first: CtxHeader | None = None
        paths = sorted(folder.glob("L*.ctx"))
        for number, path in enumerate(paths):
            if progress is not None:
                progress(number, len(paths) + 1, path.name)
            header, found = _checked(path, first, mend)
            first = first or header
            files.append(found)
        size = first.block_size if first is not None else 32
        told, tokens = _journal(folder, size, first.count if first is not None else 0)
        return LifetimeCheck(str(folder), first.model if first else "", tokens, (*files, told))
    finally:
        lock.close()


def _checked(path: Path, first: CtxHeader | None, mend: bool) -> tuple[CtxHeader | None, FileCheck]:
    """A file's header, and what is wrong with the file beside the lowest level's header."""
    level = int(path.stem[1:])
    try:
        with CtxFile.open(path) as file:
            header = file.header
        if header.level != level:
            raise CtxError(f"{path.name} holds level {header.level}.")
        if first is not None and (header.model, header.block_size) != (first.model, first.block_size):
            raise CtxError(
                f"{path.name} was written for {header.model!r} and blocks of {header.block_size}, not for "
                f"{first.model!r} and {first.block_size}."
            )
    except CtxError as error:
        return _mended(path, error) if mend else (None, FileCheck(path.name, 0, error.message))
    return header, FileCheck(path.name, header.count)


def _mended(path: Path, error: CtxError) -> tuple[CtxHeader | None, FileCheck]:
    try:
        if path.name != "L0.ctx" and path.stat().st_size < HEADER_BYTES:
            path.unlink()
            return None, FileCheck(path.name, 0, error.message, mended=True)
        header = repair(path)
    except CtxError as still:
        return None, FileCheck(path.name, 0, still.message)
    return header, FileCheck(path.name, header.count, error.message, mended=True)


def _journal(folder: Path, block_size: int, rows: int) -> tuple[FileCheck, int]:
    """The journal, and the lifetime's length as it tells."""
    try:
        told = SpanJournal(folder, "", block_size).read()
    except CtxError as error:
        return FileCheck(JOURNAL, 0, error.message), rows
    length = told.spans[-1].end if told.spans else 0
    fault = (
        "" if length - length % block_size <= rows else f"it tells of {length} tokens, and L0.ctx has {rows}."
    )
    return FileCheck(JOURNAL, len(told.spans), fault), length

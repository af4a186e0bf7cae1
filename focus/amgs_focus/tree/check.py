"""Check the integrity of a lifetime's folder: report every file with its fault, and repair what can be repaired.

No model is loaded. A repair cuts files back to their last whole block and drops a level that was only begun; missing
gists are computed again at the next opening.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from amgs_focus.errors import CtxError
from amgs_focus.tree.ctx_file import COPIED, HEADER_BYTES, CtxFile, CtxHeader, is_there, repair
from amgs_focus.tree.files import VECTORS, lock_folder
from amgs_focus.tree.journal import JOURNAL, SpanJournal
from amgs_focus.tree.node_set import NodeRun
from amgs_focus.tree.side_files import RunSums


@dataclass(frozen=True, slots=True)
class FileCheck:
    """Result for one file.

    rows: number of rows (in the journal: spans). fault: what is wrong, empty if nothing. mended: the fault was
    repaired. unsummed: bytes without a checksum.
    """

    name: str
    rows: int
    fault: str = ""
    mended: bool = False
    unsummed: int = 0


@dataclass(frozen=True, slots=True)
class LifetimeCheck:
    """Result for a lifetime's folder.

    tokens: length of the lifetime by its journal; without a readable journal, rows of L0.ctx.
    """

    folder: str
    model: str
    tokens: int
    files: tuple[FileCheck, ...]

    @property
    def ok(self) -> bool:
        """Return whether no fault remains."""
        return not self.faults

    @property
    def faults(self) -> tuple[FileCheck, ...]:
        """Faults that were not repaired."""
        return tuple(file for file in self.files if file.fault and not file.mended)


_LEVEL = re.compile(r"L(0|[1-9][0-9]?)\.ctx")


def check(
    folder: Path, *, mend: bool = False, progress: Callable[[int, int, str], None] | None = None
) -> LifetimeCheck:
    """Check every file of a lifetime.

    Raises CtxError for a folder without a lifetime, or one that another process uses.
    """
    if not _holds_one(folder):
        raise CtxError(
            f"{folder} holds no lifetime.", way_out="Choose the folder of a stored lifetime.", about="lifetime"
        )
    lock = lock_folder(folder)
    try:
        files: list[FileCheck] = []
        first: CtxHeader | None = None
        paths = sorted(folder.glob("L*.ctx"), key=_level_first)
        vectors = [folder / VECTORS] if (folder / VECTORS).exists() else []
        purged = _read_purged_runs(folder)
        for number, path in enumerate(paths):
            if progress is not None:
                progress(number, len(paths) + 1, path.name)
            header, file_check = _check_file(path, first, mend, purged)
            first = first or header
            files.append(file_check)
        files += [_check_vectors(path, mend) for path in vectors]
        files += [fault for path in sorted(folder.glob("L*.use")) if (fault := _find_misplaced_table(path))]
        if not any(file.name == "L0.ctx" for file in files):
            files.insert(0, FileCheck("L0.ctx", 0, "it is missing."))
        journal_check, tokens = _journal(folder, first if first and not first.level else None, mend)
        return LifetimeCheck(str(folder), first.model if first else "", tokens, (*files, journal_check))
    finally:
        lock.close()


def _check_file(
    path: Path, first: CtxHeader | None, mend: bool, purged: Sequence[NodeRun]
) -> tuple[CtxHeader | None, FileCheck]:
    """Return a file's header and its check.

    first: the first header read, which names the model and the block size; None if there is none yet. The header is
    None where it cannot be read or does not agree with the file's name or with `first`.
    """
    if not _LEVEL.fullmatch(path.name):
        return None, FileCheck(path.name, 0, "it is no level of a lifetime: move it away.")
    try:
        with CtxFile.open(path) as file:
            header, unsummed = file.header, file.check_rows()
        if f"L{header.level}.ctx" != path.name:
            raise CtxError(f"{path.name} holds level {header.level}.")
        if first is not None and (header.model, header.block_size) != (first.model, first.block_size):
            raise CtxError(
                f"{path.name} was written for {header.model!r} and blocks of {header.block_size}, not for "
                f"{first.model!r} and {first.block_size}."
            )
    except CtxError as error:
        return _mend_file(path, error, purged) if mend else (None, FileCheck(path.name, 0, error.message))
    return header, FileCheck(path.name, header.count, unsummed=unsummed)


def _check_vectors(path: Path, mend: bool) -> FileCheck:
    """Check the file of block vectors; mending deletes a damaged file, since vectors can be computed again."""
    try:
        with CtxFile.open(path) as file:
            return FileCheck(path.name, len(file), unsummed=file.check_rows())
    except CtxError as error:
        if mend:
            path.unlink()
        return FileCheck(path.name, 0, error.message, mended=mend)


def _holds_one(folder: Path) -> bool:
    """Return whether a folder holds a lifetime, whole or not. Raises CtxError for a path that cannot be read."""
    try:
        return any((folder / name).is_symlink() or (folder / name).exists() for name in ("L0.ctx", JOURNAL))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise CtxError(
            f"{str(folder)[:80]} cannot be read ({why}).", way_out="Give the folder of a lifetime."
        ) from error


def _level_first(path: Path) -> tuple[int, str]:
    """Return the sort key of a file: levels in order, then everything else."""
    return (len(path.name) if _LEVEL.fullmatch(path.name) else 1000, path.name)


def _find_misplaced_table(path: Path) -> FileCheck | None:
    """Return a fault where the path of a usage table is not a file, else None."""
    try:
        is_there(path)
    except CtxError as error:
        return FileCheck(path.name, 0, error.message)
    return None


def _read_purged_runs(folder: Path) -> Sequence[NodeRun]:
    """Return the runs of purged gists; () when the journal cannot be read."""
    try:
        return SpanJournal(folder, "", 0).read(0).span_metadata.purged.runs
    except CtxError:
        return ()


def _mend_file(path: Path, error: CtxError, purged: Sequence[NodeRun]) -> tuple[CtxHeader | None, FileCheck]:
    """Repair a .ctx file; return its header and its check. Gists of purged spans cannot be computed again."""
    try:
        if path.name != "L0.ctx" and path.stat().st_size < HEADER_BYTES:
            path.unlink()
            return None, FileCheck(path.name, 0, error.message, mended=True)
        header = repair(path)
        sums = RunSums(path, HEADER_BYTES)
        at = sums.first_difference(header.payload_bytes)
        if at is not None and header.level:  # gists can be computed again
            row = at // header.row_bytes
            if any(run.level == header.level and run.stop > row for run in purged):
                raise CtxError(f"{error.message} Gists of purged spans lie there, which nothing makes anew.")
            with CtxFile.open(path, writable=True) as file:
                file.truncate(row)
                header = file.header
        elif at is not None:
            sums.remove()  # lost tokens cannot be recovered, so accept the bytes as they are
    except OSError as lost:
        return None, FileCheck(path.name, 0, f"it cannot be read ({lost.strerror}): move it away.")
    except CtxError as still:
        return None, FileCheck(path.name, 0, still.message)
    return header, FileCheck(path.name, header.count, error.message, mended=True)


def _journal(folder: Path, first: CtxHeader | None, mend: bool) -> tuple[FileCheck, int]:
    """Check the journal; return its check and the lifetime's length in tokens by it.

    first: the header of L0.ctx, None where it cannot be read.
    """
    count = first.count if first else 0
    journal = SpanJournal(folder, "", first.block_size if first else 0)
    try:
        content = journal.read(count)
    except CtxError as error:
        mends = mend and error.about == "damage"
        if mends:
            journal.mend()
        return FileCheck(JOURNAL, 0, error.message, mended=mends), count
    length = content.spans[-1].end if content.spans else 0
    fault = ""
    if first and length - length % first.block_size > first.count:
        fault = f"it tells of {length} tokens, and L0.ctx has {first.count}."
    elif first and content.vocabulary and max(_greatest(folder), *content.open, 0) >= content.vocabulary:
        fault = f"the lifetime holds tokens outside its model's vocabulary of {content.vocabulary}."
    return FileCheck(JOURNAL, len(content.spans), fault), length


def _greatest(folder: Path) -> int:
    """Return the greatest token of L0.ctx, read in pieces; 0 for an empty file."""
    with CtxFile.open(folder / "L0.ctx") as file:
        return max((int(file.rows(at, at + COPIED).max()) for at in range(0, len(file), COPIED)), default=0)

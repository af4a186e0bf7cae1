"""`memory.sources`: where texts came from, and what happens if their sources change. Each change is a plan first, then
a transaction with a journal entry that `undo` reverts.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from amgs.api.context import MemoryPart
from amgs.clock import changed_at, local_now
from amgs.errors import InputError, UsageError
from amgs.identity import file_of
from amgs.incoming import real_path
from amgs.ingest import raw_blocks, source_names
from amgs.ingest.raw_blocks import FolderContents
from amgs.ingest.reading import read_file, read_folder, read_note
from amgs.ingest.source_names import NamedReading
from amgs.lifecycle import revision
from amgs.lifecycle.revision import Revision, RevisionPlan, SourceText
from amgs.storage.sources import SourceName, SourcePiece
from amgs.types import Progress


@dataclass(frozen=True, slots=True)
class SourceSummary:
    """A source. place: its file, or "" for a text without a file. since: date of its earliest piece."""

    name: str
    place: str
    pieces: int
    since: datetime


class SourceLibrary(MemoryPart):
    """The sources of a memory."""

    # --- looking ----------------------------------------------------------------------------------------

    def list(self, below: str = "") -> tuple[SourceSummary, ...]:
        """Return the sources that have pieces, by name; below: only names with this prefix."""
        places = {source.name: source.place for source in self._storage.sources.names()}
        by_source: dict[str, list[SourcePiece]] = {}
        for piece in self._storage.sources.read_pieces():
            if piece.source.startswith(below):
                by_source.setdefault(piece.source, []).append(piece)
        return tuple(
            SourceSummary(name, places.get(name, ""), len(pieces), min(p.since for p in pieces))
            for name, pieces in by_source.items()
        )

    def pieces(self, name: str) -> tuple[SourcePiece, ...]:
        """Return the present pieces of a source in order; raises UsageError if there are none."""
        return self._storage.sources.read_pieces([self._resolve_source(name)])

    def file_of(self, name: str) -> Path:
        """Return the file of a source; raises UsageError if there is none."""
        known = self._resolve_source(name)
        place = next((source.place for source in self._storage.sources.names() if source.name == known), "")
        if not place:
            raise UsageError(f"{known} is a text without a file.", way_out="Give the new text.")
        return Path(place)

    def history(self, name: str) -> tuple[SourcePiece, ...]:
        """Return all pieces that a source ever had, earliest first; raises UsageError if there are none."""
        return self._storage.sources.history(self._resolve_source(name))

    def knows(self, path: Path) -> bool:
        """Return whether a file, or a file in a folder, is a source already."""
        whole = str(real_path(path))
        sources = {piece.source for piece in self._storage.sources.read_pieces()}
        return any(
            source.name in sources and (source.place == whole or source.place.startswith(f"{whole}/"))
            for source in self._names(path)
        )

    # --- plans ------------------------------------------------------------------------------------------

    def follow(self, folder: Path) -> int:
        """Record that a folder of the same name, which no longer exists, was moved here; return the number of its
        files, 0 if this folder is known or no such folder is gone.
        """
        storage = self._storage
        moved = source_names.follow_move(storage.sources.names(), real_path(folder))
        if moved:
            with storage.transaction():
                storage.sources.put_names(moved)
        return len(moved)

    def plan_folder(self, folder: Path, progress: Progress | None = None) -> RevisionPlan:
        """Return what reading a folder again would change: present files, and those that are gone.

        Unreadable files are listed, and their pieces stay. Raises InputError for a missing folder.
        """
        reading = read_folder(folder, self._context.settings.ingest, progress)
        named = source_names.of_folder(self._storage, folder, reading)
        whole = real_path(folder)
        refused_places = [str(whole / refusal.source) for refusal in reading.refused]
        read = {source.name for source in named.names if source.place.startswith(f"{whole}/")}
        read &= {file_of(str(draft.meta["source"])) for draft in named.reading.drafts}
        gone = [
            source.name
            for source in self._names(folder)
            if source.place.startswith(f"{whole}/")
            and source.name not in read
            and not any(source.place == place or source.place.startswith(f"{place}/") for place in refused_places)
        ]
        return self._plan(named, whole.name, file_of, gone)

    def plan_file(self, path: Path) -> RevisionPlan:
        """Return what reading a file again would change; raises InputError if it is missing or unfit."""
        reading = read_file(path, path.name, self._context.settings.ingest)
        if reading.refused:
            raise InputError(
                f"{path} was not ingested: {reading.refused[0].reason}.",
                way_out="Fix the file or choose another. Nothing was changed.",
            )
        named = source_names.of_file(self._storage, path, reading)
        return self._plan(named, path.name, lambda _: named.names[0].name)

    def plan_text(self, name: str, text: str) -> RevisionPlan:
        """Return what another text for a source would change. Raises UsageError if the source has no pieces, InputError
        for an unfit text.
        """
        known, now = self._resolve_source(name), local_now(self._context.clock)
        reading = read_note(text, known, now, self._context.settings.ingest)
        if reading.refused:
            raise InputError(
                f"The text was not taken: {reading.refused[0].reason}.",
                way_out="Give a text with at least one visible character.",
            )
        return self._plan(NamedReading(reading, ()), known, lambda _: known)

    def plan_delete(self, names: Sequence[str]) -> RevisionPlan:
        """Return what deleting sources would change: pieces that no other source has are archived."""
        known = [self._resolve_source(name) for name in names]
        return self._plan(NamedReading(FolderContents(()), ()), ", ".join(known), file_of, known)

    def apply(self, plan: RevisionPlan) -> Revision:
        """Apply a plan in a single transaction; raises UsageError if its sources or blocks have changed since."""
        return revision.apply_plan(self._storage, plan, self._now)

    def watch(self, folder: Path, wait: Callable[[], bool], *, rounds: int | None = None) -> Iterator[Revision]:
        """Apply changes below a folder again and again: `rounds` times, or until `wait` returns False; yield each
        revision that changed something.
        """
        seen: frozenset[tuple[str, int, int]] | None = None
        for number in itertools.count(1):
            now = _files(folder)
            if now != seen:
                done = self.apply(self.plan_folder(folder))
                seen = now
                if done.operation is not None:
                    yield done
            if number == rounds or not wait():
                return

    # --- inside -----------------------------------------------------------------------------------------

    def _plan(
        self, named: NamedReading, about: str, source_of: raw_blocks.SourceOf, gone: Sequence[str] = ()
    ) -> RevisionPlan:
        context, reading = self._context, named.reading
        drafts: dict[str, list[raw_blocks.RawBlock]] = {}
        for draft in reading.drafts:
            drafts.setdefault(source_of(str(draft.meta.get("source", ""))), []).append(draft)
        places = {source.name: source.place for source in (*context.storage.sources.names(), *named.names)}
        documents = [
            SourceText(name, tuple(own), _read_write_time(places.get(name, ""))) for name, own in drafts.items()
        ]
        plan = revision.plan(
            context.storage,
            documents,
            about=about,
            gone=gone,
            names=named.names,
            now=local_now(context.clock),
            change_counter=context.storage.change_counter,
        )
        return replace(
            plan, refused=(*reading.refused, *plan.refused), skipped=reading.skipped, warnings=reading.warnings
        )

    def _names(self, path: Path) -> tuple[SourceName, ...]:
        """Return all source names; those of a folder that was moved here have its new place."""
        return source_names.names_after_move(self._storage, real_path(path))

    def _resolve_source(self, name: str) -> str:
        """Return the source with this name, or the only one with this file, or the only one whose name ends with it;
        raises UsageError if there are none or several.
        """
        sources = {piece.source for piece in self._storage.sources.read_pieces()}
        if name in sources:
            return name
        whole = str(real_path(Path(name).expanduser())) if name.strip() else ""
        at = [
            source.name for source in self._storage.sources.names() if source.name in sources and source.place == whole
        ]
        matches = at or sorted(source_name for source_name in sources if source_name.endswith(f"/{name}"))
        if len(matches) != 1:
            problem = f"{len(matches)} sources end with {name!r}" if matches else f"There is no source {name!r}"
            raise UsageError(f"{problem}.", way_out="Give the name of a source as it is listed.", about="source")
        return matches[0]


def _files(folder: Path) -> frozenset[tuple[str, int, int]]:
    """Return (path, time of change, size) of every file below a folder, to detect changes."""
    files = set()
    for directory, below, names in os.walk(folder):
        below[:] = [subfolder for subfolder in below if not subfolder.startswith(".")]
        for path in (Path(directory, name) for name in names):
            with contextlib.suppress(OSError):
                status = path.stat()
                files.add((str(path), status.st_mtime_ns, status.st_size))
    return frozenset(files)


def _read_write_time(place: str) -> datetime | None:
    """Return when a file was last changed; None if it does not exist."""
    try:
        return changed_at(Path(place).stat().st_mtime) if place else None
    except OSError:
        return None

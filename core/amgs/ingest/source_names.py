"""Unique names of sources, so that the README.md of two folders are two sources.

A source is a folder and a path below it. Paths of a store's first folder are names as they are; for other folders the
folder's name comes first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Final

from amgs.identity import block_id, file_of
from amgs.incoming import real_path
from amgs.ingest.raw_blocks import FolderContents, RawBlock
from amgs.storage.sources import SourceName
from amgs.storage.store import Storage

SENT: Final = "amgs-sent-"
"""Prefix of folders of uploaded files; nothing in them is read again."""


@dataclass(frozen=True, slots=True)
class NamedReading:
    """What was read, with unique source names. names: its sources, and known ones that were moved."""

    reading: FolderContents
    names: tuple[SourceName, ...]


def of_folder(storage: Storage, folder: Path, reading: FolderContents) -> NamedReading:
    """Return what was read from a folder with source names distinct from those of other folders."""
    if _is_sent(folder):
        return NamedReading(reading, ())
    known, moved = _follow_moved_folder(storage.sources.names(), real_path(folder))
    book = _Names(known, _sources_with_texts(storage, reading.drafts))
    files = dict.fromkeys(file_of(str(draft.meta["source"])) for draft in reading.drafts)
    names = {path: book.of(real_path(folder), path, files) for path in files}
    named = _rename_sources(reading, lambda source: _name_source(source, names))
    return NamedReading(named, (*moved, *names.values()))


def of_file(storage: Storage, path: Path, reading: FolderContents) -> NamedReading:
    """Return the same for a single file; in a known folder its source is its source there."""
    if _is_sent(path):
        return NamedReading(reading, ())
    whole = real_path(path)
    book = _Names(storage.sources.names(), _sources_with_texts(storage, reading.drafts))
    name = book.of(whole.parent, whole.name, (whole.name,), alone=True)
    if name.name == path.name:
        return NamedReading(reading, (name,))
    return NamedReading(_rename_sources(reading, lambda source: name.name + source[len(path.name) :]), (name,))


def _is_sent(path: Path) -> bool:
    return any(part.startswith(SENT) for part in path.parts)


def names_after_move(storage: Storage, folder: Path) -> tuple[SourceName, ...]:
    """Return the names of all sources; if a folder was moved here, with its new place."""
    return _follow_moved_folder(storage.sources.names(), folder)[0]


def follow_move(names: Iterable[SourceName], folder: Path) -> tuple[SourceName, ...]:
    """Return the names of a folder that was moved here, with its new place; () if it is known or was not moved."""
    return _follow_moved_folder(names, folder)[1]


def _follow_moved_folder(
    names: Iterable[SourceName], folder: Path
) -> tuple[tuple[SourceName, ...], tuple[SourceName, ...]]:
    """Return all names, with the new place of a folder that was moved here; and that folder's names alone."""
    every = tuple(names)
    roots = dict.fromkeys(source_name.root for source_name in every if source_name.root)
    if _Names(every).root_of(folder) is not None:
        return every, ()
    gone = next((r for r in roots if PurePath(r).name == folder.name and not Path(r).exists()), None)
    if gone is None:
        return every, ()
    moved = tuple(replace(source_name, root=str(folder)) for source_name in every if source_name.root == gone)
    return tuple(source_name for source_name in every if source_name.root != gone) + moved, moved


def _sources_with_texts(storage: Storage, drafts: Iterable[RawBlock]) -> frozenset[str]:
    """Return the sources that contain any of these texts."""
    return frozenset(piece.source for piece in storage.sources.holding([block_id(d.content) for d in drafts]))


class _Names:
    """Chooses names that are not taken. claimed: of these sources, those without a folder may be taken over."""

    def __init__(self, known: Iterable[SourceName], claimed: frozenset[str] = frozenset()) -> None:
        self._sources_with_texts = claimed
        self._by_name = {source_name.name: source_name for source_name in known}
        self._by_place = {source_name.place: source_name for source_name in self._by_name.values() if source_name.root}
        self._roots = Counter(source_name.root for source_name in self._by_name.values() if source_name.root)
        self._prefix: dict[str, str] = {}

    def root_of(self, folder: Path) -> tuple[str, str] | None:
        """Return the nearest known folder at or above this folder, and the path between them; None if there is none."""
        for ancestor in (folder, *folder.parents):
            if str(ancestor) in self._roots:
                below = folder.relative_to(ancestor).as_posix()
                return str(ancestor), "" if below == "." else f"{below}/"
        return None

    def of(self, folder: Path, path: str, among: Iterable[str], *, alone: bool = False) -> SourceName:
        """Return the name of a file below a folder. among: files ingested together with it. alone: it was named by
        itself.
        """
        known = self._by_place.get(f"{folder}/{path}")
        if known is not None:
            return known
        root, below = self.root_of(folder) or (str(folder), "")
        if root not in self._prefix:
            self._prefix[root] = self._choose_prefix(root, [below + sibling for sibling in among], alone=alone)
        name = self._prefix[root] + below + path
        if self._is_taken(name, root):
            name = self._unique_name(root, below + path)
        source_name = SourceName(name, root, below + path)
        self._by_name[name] = self._by_place[source_name.place] = source_name
        return source_name

    def _choose_prefix(self, root: str, paths: Iterable[str], *, alone: bool) -> str:
        """Return what precedes the paths of a folder: "" or a name and a slash."""
        own = [
            source_name
            for source_name in self._by_name.values()
            if source_name.root == root and source_name.name.endswith(source_name.path)
        ]
        if own:
            return own[0].name[: len(own[0].name) - len(own[0].path)]
        if (alone or not self._roots) and not any(self._is_taken(path, root) for path in paths):
            return ""
        return self._unique_name(root, "")

    def _unique_name(self, root: str, path: str) -> str:
        """Return a free name that begins with the folder's name."""
        folder, n = PurePath(root).name, 1
        name = f"{folder}/{path}"
        while self._is_taken(name, root) or (
            not path and any(known_name.startswith(name) for known_name in self._by_name)
        ):
            n += 1
            name = f"{folder}-{n}/{path}"
        return name

    def _is_taken(self, name: str, root: str) -> bool:
        other = self._by_name.get(name)
        if other is None or other.root == root:
            return False
        return bool(other.root) or name not in self._sources_with_texts


def _name_source(source: str, names: Mapping[str, SourceName]) -> str:
    """Return the unique name of a file's or piece's source."""
    path = file_of(source)
    return (names[path].name if path in names else path) + source[len(path) :]


def _rename_sources(reading: FolderContents, name: Callable[[str], str]) -> FolderContents:
    """Return what was read with its sources renamed."""

    def draft(raw_block: RawBlock) -> RawBlock:
        named = {k: name(str(raw_block.meta[k])) for k in ("source", "follows") if k in raw_block.meta}
        return replace(raw_block, meta={**raw_block.meta, **named})

    return replace(
        reading,
        drafts=tuple(map(draft, reading.drafts)),
        refused=tuple(replace(r, source=name(r.source)) for r in reading.refused),
        warnings=tuple(replace(r, source=name(r.source)) for r in reading.warnings),
    )

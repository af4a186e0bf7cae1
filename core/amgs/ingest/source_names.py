"""The names of sources: two folders that each hold a README.md are two sources and not one.

A source is a path relative to the folder that was taken in. The first folder of a store gives its paths as they are;
each other one puts its own name before them. Which folder has which name is kept in the store.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from amgs.identity import block_id
from amgs.ingest.raw_blocks import FolderContents, RawBlock
from amgs.storage.protocol import Storage

_FOLDERS, _FILES = "source folders", "source files"


def of_folder(storage: Storage, folder: Path, reading: FolderContents) -> FolderContents:
    """What was read from a folder, its sources told apart from those of other folders."""
    before = _prefix(storage, folder.resolve(), reading.drafts)
    return reading if not before else _renamed(reading, lambda source: before + source)


def of_file(storage: Storage, path: Path, reading: FolderContents) -> FolderContents:
    """The same for a file that was taken in by itself; one of a known folder has the source that it has there."""
    whole = path.resolve()
    inside = _inside(_kept(storage, _FOLDERS), whole.parent)
    if inside is not None:
        wanted = f"{inside}{whole.name}"
    else:
        files = _kept(storage, _FILES)
        wanted = files.get(str(whole), "")
        if not wanted:
            wanted = path.name
            if _taken(storage, reading.drafts):
                wanted = f"{whole.parent.name}/{path.name}"
            _keep(storage, _FILES, files | {str(whole): wanted})
    return reading if wanted == path.name else _renamed(reading, lambda s: wanted + s[len(path.name) :])


def _renamed(reading: FolderContents, name: Callable[[str], str]) -> FolderContents:
    """The same with other names for its sources."""

    def draft(one: RawBlock) -> RawBlock:
        named = {k: name(str(one.meta[k])) for k in ("source", "follows") if k in one.meta}
        return replace(one, meta={**one.meta, **named})

    return replace(
        reading,
        drafts=tuple(map(draft, reading.drafts)),
        refused=tuple(replace(r, source=name(r.source)) for r in reading.refused),
        warnings=tuple(replace(r, source=name(r.source)) for r in reading.warnings),
    )


def _prefix(storage: Storage, folder: Path, drafts: Sequence[RawBlock]) -> str:
    """What stands before the paths of a folder: "" or a name and a slash."""
    known = _kept(storage, _FOLDERS)
    inside = _inside(known, folder)
    if inside is not None:
        return inside
    moved = [path for path in known if Path(path).name == folder.name and not Path(path).exists()]
    if moved:
        chosen = known.pop(moved[0])
    elif not known and not _taken(storage, drafts):
        chosen = ""
    else:
        chosen, n = f"{folder.name}/", 1
        while chosen in known.values():
            n += 1
            chosen = f"{folder.name}-{n}/"
    _keep(storage, _FOLDERS, known | {str(folder): chosen})
    return chosen


def _inside(known: dict[str, str], folder: Path) -> str | None:
    """The prefix of a folder that is a known one or lies in one."""
    for one in (folder, *folder.parents):
        if str(one) in known:
            below = folder.relative_to(one).as_posix()
            return known[str(one)] + ("" if below == "." else f"{below}/")
    return None


def _taken(storage: Storage, drafts: Sequence[RawBlock]) -> bool:
    """Whether other texts hold the sources of these drafts, and none of them is theirs."""
    held = storage.blocks.of_sources([str(d.meta.get("source", "")) for d in drafts])
    return bool(held) and not held & {block_id(d.content) for d in drafts}


def _kept(storage: Storage, name: str) -> dict[str, str]:
    try:
        found: Any = json.loads(storage.meta.kept(name).get(name, "{}"))
    except ValueError:
        return {}
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def _keep(storage: Storage, name: str, values: dict[str, str]) -> None:
    text = json.dumps(values, ensure_ascii=True, sort_keys=True)
    with storage.transaction():
        storage.meta.keep(name, text)

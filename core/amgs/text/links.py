"""Links from one file to another, as Markdown writes them, and HTML once it is Markdown."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from amgs.identity import file_of
from amgs.text.markdown import fenced, slug

_INLINE = re.compile(
    r"(?<!!)\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\]\(\s*<?([^()\s<>]+(?:\([^()\s]*\)[^()\s<>]*)?)>?[^()\n]*\)"
)
_LABELLED = re.compile(r"(?<!!)\[([^\[\]\n]+)\](?:\[([^\[\]\n]*)\])?(?![\[(:])")
_DEFINED = re.compile(r"^ {0,3}\[(?!\^)([^\[\]\n]+)\]:[ \t]*<?([^\s<>]+)", re.MULTILINE)
_SCHEME = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|//|#|mailto)", re.IGNORECASE)


def definitions(text: str) -> dict[str, str]:
    """Return what the labels of a Markdown text stand for, in lower case."""
    return {match[1].lower(): match[2] for match in _DEFINED.finditer(text)} if "]:" in text else {}


def references(text: str, labels: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files that a text links to, as they are written, each once; code is left out. labels: see
    `definitions`.
    """
    if "](" not in text and not labels:
        return ()
    targets: list[str] = []
    for part, code in fenced(text):
        if code:
            continue
        targets += (match[1] for match in _INLINE.finditer(part))
        if labels:
            used = (match[2] or match[1] for match in _LABELLED.finditer(part))
            targets += (labels[name.lower()] for name in used if name.lower() in labels)
    bare = (unquote(target.partition("#")[0].partition("?")[0]) for target in targets if not _SCHEME.match(target))
    return tuple(dict.fromkeys(path for path in bare if path.strip("./ ")))


def resolve_reference(reference: str, source: str) -> str:
    """Return the slug of the file that a source refers to; one that begins with a slash is looked for from the root."""
    folder = posixpath.dirname(file_of(source))
    path = posixpath.normpath(reference.lstrip("/") if reference.startswith("/") else posixpath.join(folder, reference))
    return slug(path)


def slugs_of(path: str) -> tuple[str, ...]:
    """Return the slugs by which a file is referred to: its name alone, its path, and its path with the ending."""
    pure = PurePosixPath(path)
    return (slug(pure.stem), slug(str(pure.with_suffix(""))), slug(path)) if pure.name else ()


def list_references(meta: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the slugs of the files that a block refers to, from each of its sources."""
    targets = meta.get("refers_to") or ()
    sources = meta.get("sources") or [meta.get("source") or ""]
    return tuple(dict.fromkeys(resolve_reference(str(target), str(source)) for source in sources for target in targets))

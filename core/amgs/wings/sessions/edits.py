"""Changes that a call makes in files, as lines of a diff."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from amgs.sessions.lines import items, parse_object, text
from amgs.sessions.turn import Turn
from amgs.wings.sessions.findings import action_of

_OLD: Final = ("old_string", "oldString", "old_str", "oldText", "old_text", "search")
_NEW: Final = ("new_string", "newString", "new_str", "newText", "new_text", "replace")
_WHOLE: Final = ("content", "file_text", "contents", "insert_text")
_PATCH = re.compile(r"^\*\*\* Begin Patch$.*?^\*\*\* End Patch$", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"(?:<{5,}|-{5,}) SEARCH\n(.*?)\n?={5,}\n(.*?)\n?(?:>{5,}|\+{5,}) REPLACE", re.DOTALL)
_UNIFIED = re.compile(r"^(?:@@|--- )", re.MULTILINE)


def diff_of(turn: Turn) -> tuple[str, ...]:
    """Return what a call changes: lines with `+` added, `-` removed, a blank unchanged, other signs are headings.

    Empty for a turn that changes no file or does not say what it changes.
    """
    action = action_of(turn)
    if action is None:
        return ()
    raw_arguments = turn.calls[0].arguments
    arguments = parse_object(raw_arguments) or {}
    if patch := _PATCH.search(_texts(arguments) or raw_arguments):
        return tuple(patch[0].split("\n")[1:-1])
    if action.kind != "write":
        return ()
    changes = [*_changes(arguments)]
    return (f"*** {action.target}", *(line for change in changes for line in change)) if changes else ()


def _changes(arguments: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the lines of each change in a call's arguments."""
    for edit in (arguments, *items(arguments.get("edits")), *items(arguments.get("replacements"))):
        old, new = (next((edit[key] for key in keys if isinstance(edit.get(key), str)), None) for keys in (_OLD, _NEW))
        if old is not None or new is not None:
            yield _diff(text(old), text(new))
    diff = text(arguments.get("diff") or arguments.get("patch"))
    blocks = [_diff(old, new) for old, new in _BLOCK.findall(diff)]
    yield from blocks or ([tuple(diff.split("\n"))] if _UNIFIED.search(diff) else [])
    whole = next((arguments[key] for key in _WHOLE if isinstance(arguments.get(key), str)), None)
    if whole is not None:
        yield tuple(f"+{line}" for line in whole.split("\n"))


def _diff(old: str, new: str) -> tuple[str, ...]:
    """Return the lines of a diff between two texts, without file names."""
    return tuple(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=2))[2:]


def _texts(arguments: Mapping[str, Any]) -> str:
    """Return the texts among a call's arguments, including those in lists."""
    flat = [part for value in arguments.values() for part in (value if isinstance(value, list) else [value])]
    return "\n".join(part for part in flat if isinstance(part, str))

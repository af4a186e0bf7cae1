"""What a call changes in files, as the lines of a diff."""

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
    """Return the lines of what a call changes: `+` added, `-` taken away, a blank unchanged, other signs head a part.
    None for a turn that changes no file, or tells not what.
    """
    action = action_of(turn)
    if action is None:
        return ()
    told = turn.calls[0].arguments
    given = parse_object(told) or {}
    if found := _PATCH.search(_texts(given) or told):
        return tuple(found[0].split("\n")[1:-1])
    if action.kind != "write":
        return ()
    changes = [*_changes(given)]
    return (f"*** {action.target}", *(line for change in changes for line in change)) if changes else ()


def _changes(given: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the lines of each change that the arguments of a call tell."""
    for edit in (given, *items(given.get("edits")), *items(given.get("replacements"))):
        old, new = (next((edit[key] for key in keys if isinstance(edit.get(key), str)), None) for keys in (_OLD, _NEW))
        if old is not None or new is not None:
            yield _between(text(old), text(new))
    diff = text(given.get("diff") or given.get("patch"))
    blocks = [_between(old, new) for old, new in _BLOCK.findall(diff)]
    yield from blocks or ([tuple(diff.split("\n"))] if _UNIFIED.search(diff) else [])
    whole = next((given[key] for key in _WHOLE if isinstance(given.get(key), str)), None)
    if whole is not None:
        yield tuple(f"+{line}" for line in whole.split("\n"))


def _between(old: str, new: str) -> tuple[str, ...]:
    """Return the lines of a diff between two texts, without the heads of its files."""
    return tuple(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=2))[2:]


def _texts(given: Mapping[str, Any]) -> str:
    """Return the texts among the arguments of a call, those in lists too."""
    flat = [one for value in given.values() for one in (value if isinstance(value, list) else [value])]
    return "\n".join(one for one in flat if isinstance(one, str))

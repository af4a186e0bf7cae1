"""Check that text can be stored; everything that comes in is checked by this rule.

Half a surrogate pair, which JSON, Python and wrongly encoded arguments can contain, has no encoding; NUL ends a text in
PostgreSQL and in C.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from itertools import chain
from typing import Any, Final

from amgs.errors import UsageError

_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")


def why_unstorable(value: Any) -> str:
    """Return what in a text, or in the texts of a value, cannot be stored, as "half a surrogate pair at character 3";
    "" where all of it can.
    """
    if not isinstance(value, str):
        return next(filter(None, map(why_unstorable, _parts(value))), "")
    match = None if _is_storable(value) else _UNSTORABLE.search(value)
    if match is None:
        return ""
    name = "a NUL" if match[0] == "\0" else "half a surrogate pair"
    return f"{name} at character {match.start()}"


def _parts(value: Any) -> Iterable[Any]:
    """Return the values inside a mapping, sequence, set or dataclass; () for any other value."""
    if isinstance(value, Mapping):
        return chain.from_iterable(value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return (getattr(value, field.name) for field in fields(value))
    return ()


def check_storable(value: Any) -> None:
    """Raise UsageError for a text, or for a value with one, that cannot be stored."""
    if why := why_unstorable(value):
        raise UsageError(f"The text holds {why}, which cannot be stored.", way_out="Remove that character.")


def make_storable(text: str) -> str:
    """Return the text with a mark in place of what cannot be stored; for files that are read, where
    refusing is no help.
    """
    return text if _is_storable(text) else _UNSTORABLE.sub("\ufffd", text)


def _is_storable(text: str) -> bool:
    """Return whether a text can be stored, without checking each character, which takes seconds for a large session."""
    try:
        return "\0" not in text and (text.isascii() or bool(text.encode()))
    except UnicodeEncodeError:
        return False

"""Check counts that a caller gives, before the store or a library sees them."""

from __future__ import annotations

from typing import overload

from amgs.errors import UsageError

MOST = 2**31 - 1
"""Greatest count; a greater one means all there is."""


@overload
def count(what: str, value: int, *, least: int = 0, most: int = MOST) -> int: ...


@overload
def count(what: str, value: None, *, least: int = 0, most: int = MOST) -> None: ...


@overload
def count(what: str, value: int | None, *, least: int = 0, most: int = MOST) -> int | None: ...


def count(what: str, value: int | None, *, least: int = 0, most: int = MOST) -> int | None:
    """Return the value, at most `most`; None stays None. Raises UsageError for one below `least`, or for no whole
    number.
    """
    if value is None:
        return None
    # A caller without a type checker may give anything: 1.5, NaN, True.
    if type(value) is not int or value < least:
        raise UsageError(f"{what} cannot be {value}.", way_out=f"Give a whole number from {least} up.")
    return min(value, most)

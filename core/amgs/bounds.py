"""Check what a caller gives, before the store or a library sees it: counts, and addresses of servers. An address is
shown and logged, so it holds no key.
"""

from __future__ import annotations

from typing import overload
from urllib.parse import SplitResult, urlsplit

from amgs.errors import UsageError

MOST = 2**31 - 1
"""Greatest count; a greater value means all there is."""


@overload
def count(what: str, value: int, *, least: int = 0, most: int = MOST) -> int: ...


@overload
def count(what: str, value: None, *, least: int = 0, most: int = MOST) -> None: ...


@overload
def count(what: str, value: int | None, *, least: int = 0, most: int = MOST) -> int | None: ...


def count(what: str, value: int | None, *, least: int = 0, most: int = MOST) -> int | None:
    """Return the value, at most `most`; None stays None. Raises UsageError for a value below `least`, or for no whole
    number.
    """
    if value is None:
        return None
    # A caller without a type checker may give anything: 1.5, NaN, True.
    if type(value) is not int or value < least:
        raise UsageError(f"{what} cannot be {value}.", way_out=f"Give a whole number from {least} up.")
    return min(value, most)


def check_address(text: str, what: str, way_out: str, *, fragment: bool = False) -> SplitResult:
    """Return the parts of an address of HTTP. what: what should be there. fragment: whether it may end in `#NAME`.

    Raises UsageError, which does not repeat it, for an invalid address, or for an address with a user, a password or a
    query.
    """
    try:
        parts = urlsplit(text)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        right = False
    if not right and not set("@?") & set(text):
        raise UsageError(f"{text!r} is no address of {what}.", way_out=way_out)
    if not right or "@" in parts.netloc or parts.query or (parts.fragment and not fragment):
        raise UsageError(f"An address of {what} holds no key, no user and no query.", way_out=way_out)
    return parts

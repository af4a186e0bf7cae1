"""Addresses of servers that somebody gives: what one may be. An address is shown and logged, so it holds no key."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from amgs.errors import UsageError


def check_address(text: str, what: str, way_out: str, *, fragment: bool = False) -> SplitResult:
    """Return the parts of an address of HTTP. what: what should be there. fragment: whether it may end in `#NAME`.

    Raises UsageError, which does not repeat it, for one that is none or that holds a user, a password or a query.
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

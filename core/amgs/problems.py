"""Convert errors to problem details for HTTP (RFC 9457), with title, sentence and way out, and back; never a stack."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from amgs import errors
from amgs.errors import AmgsError

MEDIA_TYPE: Final = "application/problem+json"

_STATUS: Final[tuple[tuple[type[AmgsError], int], ...]] = (
    (errors.UnknownBlockError, 404),
    (errors.UnknownEntityError, 404),
    (errors.UnknownFrameError, 404),
    (errors.UnknownEntityError, 404),
    (errors.AmbiguousIdError, 409),
    (errors.UsageError, 400),
    (errors.InputError, 422),
    (errors.StoreLockedError, 503),
    (errors.StoreAwayError, 503),
    (errors.StoreError, 500),
    (errors.ModelError, 503),
    (errors.UnknownCallerError, 401),
    (errors.NotAllowedError, 403),
    (errors.NotFoundError, 404),
    (errors.StaleError, 412),
    (errors.RepeatedError, 409),
    (errors.BusyError, 503),
    (errors.TooMuchError, 429),
    (errors.TooSlowError, 504),
    (errors.ExpectationError, 409),
    (errors.Cancelled, 409),
)
"""Status codes, the narrower class first."""


def status_of(error: BaseException) -> int:
    """Return the HTTP status of an error that was raised on purpose; 400 for an unknown error."""
    return next((code for kind, code in _STATUS if isinstance(error, kind)), 400)


def problem(error: BaseException, **more: Any) -> dict[str, Any]:
    """Return the problem details of an error that was raised on purpose. more: members of their own."""
    details = {
        "type": f"urn:amgs:problem:{slug(type(error).__name__)}",
        "title": str(getattr(error, "title", "Something went wrong")),
        "status": status_of(error),
        "detail": str(getattr(error, "message", error)),
        "way_out": str(getattr(error, "way_out", "")),
    }
    return details | more


def fault() -> dict[str, Any]:
    """Return the problem details of a fault of the program: its cause stands in the log, not in the answer."""
    return {
        "type": "urn:amgs:problem:fault",
        "title": "The service has a fault",
        "status": 500,
        "detail": "The request could not be carried out because of an error in the program.",
        "way_out": "The server's log tells more.",
    }


def error_of(details: Mapping[str, Any]) -> AmgsError:
    """Return the exception that problem details stand for: the class of its type, AmgsError for a type not known here.

    about, exit_code: its subject and exit code, where they are told.
    """
    wanted = str(details.get("type", "")).rpartition(":")[2]
    kind = _by_slug().get(wanted, AmgsError)
    error = kind(
        str(details.get("detail", "The service gave no reason.")),
        way_out=str(details.get("way_out", "")),
        title=str(details.get("title", "")) or None,
    )
    error.about = str(details.get("about", error.about))
    if isinstance(details.get("exit_code"), int):
        error.exit_code = details["exit_code"]
    return error


def slug(name: str) -> str:
    """`UnknownBlockError` as `unknown-block`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name.removesuffix("Error")).lower()


def _by_slug() -> dict[str, type[AmgsError]]:
    kinds = [member for member in vars(errors).values() if isinstance(member, type)]
    return {slug(kind.__name__): kind for kind in kinds if issubclass(kind, AmgsError)}

"""Define every error that the engines and the workstation raise on purpose.

Each error has a title, a sentence and a way out; the screen shows them as a toast or a modal, the command line prints
them and exits with the class's exit code. A new class needs a line in the tree below and in `problems.py`.

    AmgsError                      exit 7
    ├── UsageError                 exit 2   the request itself is wrong
    │   ├── UnknownBlockError               no block has this id
    │   ├── UnknownEntityError              no block names an entity so
    │   ├── AmbiguousIdError                a prefix matches several blocks
    │   ├── UnknownFrameError               no frame is registered under this name
    │   ├── FrameCycleError                 a composite would contain itself
    │   ├── UnknownConversationError        no conversation has this name, or no message this handle
    │   ├── WeightsError                    scoring weights do not sum to 1
    │   └── BudgetError                     a token budget that holds nothing
    │       └── ImpossibleBudgetError       a budget too small for what must be included
    ├── InputError                 exit 3   a file, folder or text cannot be taken in
    │   └── MessageError                    messages that are no conversation
    ├── StoreError                 exit 4   the store cannot be opened or trusted
    │   ├── StoreAwayError                  the database does not answer
    │   ├── StoreLockedError                another process writes to it
    │   ├── StoreTooNewError                it was written by a later version
    │   └── StoreCorruptError               its content contradicts itself
    ├── ModelError                 exit 5   a model is missing or does not fit
    │   └── MissingExtraError               an optional package is not installed
    ├── ServiceError               exit 6   a served memory refuses, or cannot be reached
    │   ├── UnknownCallerError              no token, or an unknown token
    │   ├── NotAllowedError                 the token does not allow it
    │   ├── NotFoundError                   nothing is there, or nothing that the caller may know of
    │   ├── StaleError                      the memory has changed since the caller looked
    │   ├── RepeatedError                   a request came again of which nobody knows whether it was done
    │   ├── TooMuchError                    more, or more often, than the service takes
    │   │   └── BusyError                   more at once, by all callers together, than it gets done
    │   ├── TooSlowError                    the service did not get the answer in time
    │   └── UnreachableError                nobody answers
    ├── ExpectationError           exit 1   a script's check or expectation did not hold
    └── Cancelled                  exit 130 the operator stopped it
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_REFUSED: Final = frozenset(
    {
        *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO),
        *(errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG),
    }
)
"""Error numbers by which the system refuses to read or write a file or folder."""

UNWRITABLE: Final = frozenset({"room", "unwritable"})
"""Values of `about` of a StoreError that mean the disk cannot be written."""

_SECRETS: Final = re.compile(r"(?<=://)[^\s@]*:\S*@|(?<=http://)\S*@|(?<=https://)\S*@")
"""The part of an address before the @: a key, or a user with a password."""


def hide_secrets(text: str) -> str:
    """Return a message without the keys and passwords in its addresses."""
    return _SECRETS.sub("…@", text) if "://" in text else text


_SYSTEM_NUMBER: Final = re.compile(r"\[Errno -?\d+\] ?")


class AmgsError(Exception):
    """Root of the tree.

    title: a few words, shown as a heading. message: what happened, a sentence. way_out: what to do now, a sentence that
    fits every front end, or "". about: a subject such as "store" or "operation", by which a front end adds its own
    command to the way out.
    """

    title = "Something went wrong"
    exit_code = 7
    about = ""

    def __init__(self, message: str, *, way_out: str = "", title: str | None = None, about: str = "") -> None:
        # Messages often quote the system; its error number helps nobody.
        self.message = hide_secrets(_SYSTEM_NUMBER.sub("", message))
        super().__init__(self.message)
        self.way_out = hide_secrets(way_out)
        if about:
            self.about = about
        if title is not None:
            self.title = title

    def __str__(self) -> str:
        return f"{self.title}: {self.message}" + (f" {self.way_out}" if self.way_out else "")


class UsageError(AmgsError):
    """The request itself is wrong: an unknown name, a value outside its range."""

    title = "Can't do that"
    exit_code = 2


class UnknownBlockError(UsageError):
    """No block has this id."""

    title = "No such block"
    about = "block"


class UnknownEntityError(UsageError):
    """No block names an entity so."""

    title = "No such entity"


class AmbiguousIdError(UsageError):
    """A prefix of an id matches several blocks."""

    title = "Several blocks match"


class UnknownFrameError(UsageError):
    """No frame is registered under this name."""

    title = "No such frame"


class FrameCycleError(UsageError):
    """A composite frame would contain itself."""

    title = "Frames may not contain themselves"


class WeightsError(UsageError):
    """Scoring weights are negative or do not sum to 1."""

    title = "Weights must sum to 1"


class BudgetError(UsageError):
    """A token budget that cannot hold anything."""

    title = "The budget is too small"


class ImpossibleBudgetError(BudgetError):
    """A token budget too small for what every context must include."""


class UnknownConversationError(UsageError):
    """No conversation has this name, or it has no message under this handle."""

    title = "No such conversation"


class InputError(AmgsError):
    """A file, folder or text cannot be taken in."""

    title = "Cannot read the input"
    exit_code = 3


class MessageError(InputError):
    """Messages that are no conversation: a result without its call, two results of a call, an unknown role."""

    title = "Not a conversation"


class StoreError(AmgsError):
    """The store cannot be opened or trusted."""

    title = "The store cannot be used"
    exit_code = 4
    about = "store"


class StoreAwayError(StoreError):
    """The database of the store does not answer, and may a moment later."""

    retry_after = 2


def as_refusal(error: BaseException, *, about: str = "") -> BaseException:
    """Return a StoreError for an OSError by which the system refuses a file or folder; any other error unchanged."""
    if not isinstance(error, OSError) or error.errno not in _REFUSED:
        return error
    return StoreError(
        f"{error.filename or 'The output'}: {error.strerror}.",
        title="The disk refuses",
        way_out="Check its permissions and the room there, or choose another place.",
        about=about,
    )


@contextmanager
def saying_refusals() -> Iterator[None]:
    """Raise a StoreError in place of an OSError by which the system refuses a file; used where a store is opened."""
    try:
        yield
    except OSError as error:
        if (refusal := as_refusal(error, about="place")) is error:
            raise
        raise refusal from error


class StoreLockedError(StoreError):
    """Another process has the store open, or goes on writing to it. process: its number, "" where it is not known."""

    title = "The store is in use"
    process = ""


class StoreTooNewError(StoreError):
    """The store was written by a later version."""

    title = "The store is newer than this program"


class StoreCorruptError(StoreError):
    """The store's content contradicts itself."""

    title = "The store is damaged"


class ModelError(AmgsError):
    """A model is missing or does not fit."""

    title = "The model cannot be used"
    exit_code = 5


class MissingExtraError(ModelError):
    """An optional package is not installed; the way out names the extra that brings it."""

    title = "Not installed"


class ServiceError(AmgsError):
    """A served memory refuses, or cannot be reached."""

    title = "The service refuses"
    exit_code = 6


class UnknownCallerError(ServiceError):
    """No token, or an unknown token."""

    title = "Unknown caller"


class NotAllowedError(ServiceError):
    """The caller's token does not allow it."""

    title = "Not allowed"


class NotFoundError(ServiceError):
    """There is nothing under this name, or nothing that the caller may know of."""

    title = "Not found"


class StaleError(ServiceError):
    """The memory has changed since the caller looked. changed: the journal entries since, the newest first."""

    title = "The memory has changed"

    def __init__(
        self,
        message: str,
        *,
        way_out: str = "",
        title: str | None = None,
        about: str = "",
        changed: tuple[object, ...] = (),
    ) -> None:
        super().__init__(message, way_out=way_out, title=title, about=about)
        self.changed = changed


class RepeatedError(ServiceError):
    """A request was sent again of which nobody knows whether it was done: the server ended meanwhile."""

    title = "It may have been done"


class TooMuchError(ServiceError):
    """More, or more often, than the service takes. retry_after: seconds to wait, 0 where it is not known."""

    title = "Too much"

    def __init__(
        self, message: str, *, way_out: str = "", title: str | None = None, about: str = "", retry_after: int = 0
    ) -> None:
        super().__init__(message, way_out=way_out, title=title, about=about)
        self.retry_after = retry_after


class BusyError(TooMuchError):
    """So many requests wait already that this request would wait too long."""

    title = "The service is busy"


class TooSlowError(ServiceError):
    """The service did not get the answer in time."""

    title = "The answer took too long"


class UnreachableError(ServiceError):
    """Nobody answers at the address of the service."""

    title = "The service cannot be reached"


class ExpectationError(AmgsError):
    """A script's snapshot check or expectation did not hold."""

    title = "Not as expected"
    exit_code = 1


class Cancelled(AmgsError):  # noqa: N818 - a request that was granted, not a fault
    """The operator stopped the action; everything not yet committed was rolled back."""

    title = "Cancelled"
    exit_code = 130

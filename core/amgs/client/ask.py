"""Requests as values: every call of the service is a function from its arguments to an `Ask`. Both clients send
it, read its answer and retry it by the same rules.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import astuple, dataclass, field, is_dataclass
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar

from amgs import problems, wire
from amgs.errors import AmgsError, ServiceError, StaleError, UnreachableError
from amgs.incoming import check_storable

if TYPE_CHECKING:
    import httpx2


R = TypeVar("R")
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Read = Callable[[Any], R]
"""Converts the answer's JSON to values."""

_SAFE: Final[frozenset[str]] = frozenset({"GET"})


@dataclass(frozen=True, slots=True)
class Ask(Generic[R]):
    """A request.

    arguments: by name, in the query for GET and DELETE, else in the body; None is omitted. repeatable: repeating it has
    no further effect; other requests get an idempotency key. exact: whether the answer is in values that read back
    exactly, else plain JSON. headers: additional headers.
    """

    method: Method
    path: str
    arguments: Mapping[str, Any]
    read: Read[R]
    repeatable: bool
    exact: bool = True
    headers: Mapping[str, str] = field(default_factory=dict)


whole: Final[Read[Any]] = wire.decode
"""Decodes the whole answer."""


def plain(answer: Any) -> Any:
    """Return the answer as plain JSON."""
    return answer


def part(name: str) -> Read[Any]:
    """Return a function that decodes one field of the answer; the answer's class exists only on the server."""
    return lambda answer: wire.decode(answer["fields"][name])


def asking(path: str, read: Read[Any] = whole, /, **arguments: Any) -> Ask[Any]:
    """Return a GET request that changes nothing."""
    return Ask("GET", path, drop_unset(arguments), read, repeatable=True)


def operation(identifier: str, read: Read[Any] = whole, /, *, writes: bool = False, **arguments: Any) -> Ask[Any]:
    """Return the request for an operation by its identifier, such as `frame_compare`."""
    path = f"/v1/operations/{identifier}"
    return Ask("POST", path, drop_unset(arguments), read, repeatable=not writes)


def sending(
    method: Method, path: str, read: Read[Any] = whole, /, *, repeatable: bool = False, **arguments: Any
) -> Ask[Any]:
    """Return a request to a path of its own."""
    return Ask(method, path, drop_unset(arguments), read, repeatable=repeatable or method in _SAFE)


def drop_unset(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are not None, as JSON values."""
    check_storable(arguments)
    return {name: _to_plain(value) for name, value in arguments.items() if value is not None}


def _to_plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): _to_plain(member) for key, member in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(_to_plain(member) for member in value)
    if isinstance(value, (list, tuple)):
        return [_to_plain(member) for member in value]
    if is_dataclass(value) and not isinstance(value, type):
        return astuple(value)  # weights, the only record among the arguments
    return value


AGAIN: Final = frozenset({429, 502, 503, 504})
"""Status codes after which the same request may succeed."""
LONGEST_WAIT: Final = 30.0
"""Most seconds before a retry, whatever the service says."""


@dataclass(frozen=True, slots=True)
class Sent:
    """An HTTP request."""

    method: str
    path: str
    query: Mapping[str, Any] | None
    body: bytes | None
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait this long."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Lost:
    """There was no answer. arrived: whether the service may have received the request."""

    why: str
    arrived: bool


Step = Sent | Wait
Outcome = "httpx2.Response | Lost | None"


@dataclass(frozen=True, slots=True)
class Rules:
    """Retry policy.

    attempts: in all. first_wait: seconds before the second; each further wait is twice as long, randomly reduced by up
    to half.
    """

    attempts: int = 4
    first_wait: float = 0.2

    def wait(self, tried: int, chance: float, retry_after: str = "") -> float:
        """Return the seconds to wait after `tried` attempts. retry_after: value of the Retry-After header."""
        if retry_after.strip().isdecimal():
            return min(float(retry_after), LONGEST_WAIT)
        longest = min(self.first_wait * 2.0 ** (tried - 1), LONGEST_WAIT)
        return longest * (0.5 + chance / 2)


def steps(
    ask: Ask[R], headers: Mapping[str, str], rules: Rules, chance: Callable[[], float], address: str
) -> Generator[Step, httpx2.Response | Lost | None, R]:
    """Yield the steps of a request; the generator returns the answer, or raises what the engine would raise.

    A request that is not repeatable is sent again only if it cannot have arrived.

    A generator, so that one client can block and the other await.
    """
    request = _as_http(ask, headers)
    repeatable = ask.repeatable or "Idempotency-Key" in headers
    for tried in range(1, rules.attempts + 1):
        last = tried == rules.attempts
        got = yield request
        if got is None:
            raise TypeError("A request that was sent has an answer, or was lost.")
        if isinstance(got, Lost):
            if last or (got.arrived and not repeatable):
                raise unreachable(address, got)
            yield Wait(rules.wait(tried, chance()))
        elif got.status_code in AGAIN and repeatable and not last:
            yield Wait(rules.wait(tried, chance(), got.headers.get("Retry-After", "")))
        else:
            return _read(ask, got)
    raise TypeError("At least one attempt is needed.")


def _as_http(ask: Ask[Any], headers: Mapping[str, str]) -> Sent:
    accept = wire.MEDIA_TYPE if ask.exact else "application/json"
    asked = {**headers, **ask.headers, "Accept": f"{accept}, {problems.MEDIA_TYPE}"}
    if ask.method in ("GET", "DELETE"):
        return Sent(ask.method, ask.path, ask.arguments, None, asked)
    body = json.dumps(dict(ask.arguments), ensure_ascii=False).encode()
    return Sent(ask.method, ask.path, None, body, {**asked, "Content-Type": "application/json"})


def _read(ask: Ask[R], got: httpx2.Response) -> R:
    if got.status_code >= 400:
        raise build_refusal(got.status_code, got.content)
    answer = _read_json(got.content)
    kind = got.headers.get("Content-Type", "").partition(";")[0]
    if kind not in (wire.MEDIA_TYPE, "application/json"):
        raise _foreign()
    try:
        return ask.read(answer)
    except (ValueError, TypeError, KeyError, AttributeError, ImportError) as error:
        raise _foreign() from error


def build_refusal(status: int, content: bytes) -> AmgsError:
    """Return the error for a refused request."""
    problem = _read_json(content)
    if isinstance(problem, dict) and "type" in problem:
        error = problems.error_of(problem)
        if isinstance(error, StaleError):
            error.changed = _decode_entries(problem.get("changed"))
        return error
    return ServiceError(
        f"It answered {status} and did not say why.",
        way_out="Check that the address is that of `amgs serve`, not of something between.",
    )


def _read_json(content: bytes) -> Any:
    try:
        return json.loads(content) if content else None
    except ValueError:
        return None


def _decode_entries(entries: Any) -> tuple[Any, ...]:
    """Return the journal entries in a refusal; none if they are of another version, since its message is complete."""
    try:
        return tuple(wire.decode(entries)) if isinstance(entries, list) else ()
    except (ValueError, TypeError, KeyError, AttributeError, ImportError):
        return ()


def _foreign() -> ServiceError:
    return ServiceError("Its answer cannot be read.", way_out="Use the same version of the program on both sides.")


def unreachable(address: str, lost: Lost) -> UnreachableError:
    """Return the error for a request without an answer."""
    return UnreachableError(
        f"{address} does not answer: {lost.why}.", way_out="Start it with `amgs serve`, or check the address."
    )

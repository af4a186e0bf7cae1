"""Start every request: caller, namespace, form of the answer; `Asked.run` runs it, once per `Idempotency-Key`."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, is_dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any, Final, Literal
from urllib.parse import unquote_to_bytes
from weakref import WeakValueDictionary

from fastapi import Depends, Header, Request, Response
from prometheus_client import CollectorRegistry, Counter, Histogram

from amgs import errors, extras, wire
from amgs.clock import earlier
from amgs.errors import RepeatedError, UsageError
from amgs.incoming import check_storable
from amgs.memory import Memory
from amgs.storage.signature import sign_commits
from amgs.text.words import plural
from amgs_app.calls.operation import Right
from amgs_app.render.catalogue import sentence_of
from amgs_app.results.service_event import ServiceEvent
from amgs_app.server.hosting import DEFAULT, Lane, Namespace, Namespaces
from amgs_app.server.limits import Limits, Rates
from amgs_app.server.tokens import Caller, Tokens, new_token

KEPT: Final = timedelta(hours=24)
"""How long an answer can be repeated."""
LONGEST_KEY: Final = 200
_LARGEST: Final = 1_000_000
"""Largest answer, in bytes, that is stored; for a larger answer only the fact that it was sent."""
_NAME: Final = "answer:"
_LOOKED_BACK: Final = 14
"""Days back over which old answers are deleted, at the first stored answer of a day."""


@dataclass(eq=False)
class _Turn:
    lock: threading.Lock = field(default_factory=threading.Lock)


def once(
    memory: Memory,
    caller: str,
    key: str,
    request: str,
    work: Callable[[], Any],
    *,
    together: bool,
    counted: bool = True,
) -> Any:
    """Run `work` and return its result; if this caller sent the same request under this key within 24 hours, return
    that result instead. Concurrent requests with the same key wait for each other.

    request: the command line, compared with the earlier line. together: `work` is one transaction, in which its answer
    is stored. counted: everything that `work` writes raises the change counter. Raises UsageError for a key used for
    another request, RepeatedError for work that a crash interrupted.

    A one-transaction request stores its answer in that transaction, so that a crash leaves both or neither. Longer work
    holds no lock: it stores a mark at its start, which the answer replaces. A mark left by a crash means that the work
    may have been done; only if the store is unchanged since, and no other server shares it, may it run again.
    """
    mark = hashlib.sha256(json.dumps([caller, key]).encode()).hexdigest()
    now = memory.clock.now()
    with _turn(mark):
        if together:
            with memory.transaction():
                record = _read_record(memory, mark, now)
                return _answer(record, request) if record is not None else _do_work(memory, mark, now, request, work)
        with memory.transaction():  # another server may be asked the same at the same moment
            record = _read_record(memory, mark, now)
            if record is not None and not _has_changed_nothing(memory, record, request):
                return _answer(record, request)
            _store_record(memory, mark, now, request, begun_at=memory.change_counter if counted else -1)
        try:
            return _do_work(memory, mark, now, request, work)
        except BaseException:
            memory.keep(_name_of_day(now, mark), None)  # it failed before its answer: it may be tried again
            raise


def _do_work(memory: Memory, mark: str, now: datetime, request: str, work: Callable[[], Any]) -> Any:
    """Run work and store its answer."""
    result = work()
    _store_record(memory, mark, now, request, answer=wire.dumps(result).decode())
    return result


def _has_changed_nothing(memory: Memory, record: dict[str, Any], request: str) -> bool:
    """Return whether the interrupted request cannot have changed anything: the change counter is the same as at its
    start, and no other server can use the store.
    """
    begun = record.get("begun_at")
    return (
        not memory.changes.shared
        and begun is not None
        and begun == memory.change_counter
        and record["request"] == _digest(request)
    )


_turns: WeakValueDictionary[str, _Turn] = WeakValueDictionary()
_turns_lock = threading.Lock()


@contextmanager
def _turn(mark: str) -> Iterator[None]:
    """Hold the lock of a key while the block runs."""
    with _turns_lock:
        turn = _turns.setdefault(mark, _Turn())
    with turn.lock:
        yield


def _read_record(memory: Memory, mark: str, now: datetime) -> dict[str, Any] | None:
    """Return the stored record of a key, if it is younger than 24 hours."""
    for day in (now, earlier(now, timedelta(days=1))):
        for value in memory.read_saved(_name_of_day(day, mark)).values():
            record: dict[str, Any] = json.loads(value)
            if datetime.fromisoformat(record["at"]) + KEPT > now:
                return record
    return None


def _answer(record: dict[str, Any], request: str) -> Any:
    """Return the stored answer; raises UsageError or RepeatedError if there is none to repeat."""
    if record["request"] != _digest(request):
        raise UsageError(
            "This Idempotency-Key was used for another request.", way_out="Use a new key for each request."
        )
    if "begun_at" in record:
        raise RepeatedError(
            "A server does this now, or ended while it did, and it may have been done.",
            way_out="Look whether it was: the journal and `frame history` say so. To do it again, use a new key.",
        )
    if record["answer"] is None:
        raise UsageError(
            "This was done already, and its answer was too large to be stored.", way_out="Ask for its result."
        )
    return wire.decode(record["answer"])


def _store_record(
    memory: Memory, mark: str, now: datetime, request: str, *, answer: str | None = None, begun_at: int | None = None
) -> None:
    """Store the answer, or else that the work began at a change counter. Deletes old records once a day."""
    if not memory.read_saved(f"{_NAME}{now:%Y-%m-%d}:"):
        for days in range(2, _LOOKED_BACK):
            for name in memory.read_saved(f"{_NAME}{earlier(now, timedelta(days=days)):%Y-%m-%d}:"):
                memory.keep(name, None)
    record: dict[str, Any] = {"at": now.isoformat(), "request": _digest(request)}
    if answer is None:
        record["begun_at"] = begun_at
    else:
        record["answer"] = json.loads(answer) if len(answer) <= _LARGEST else None
    memory.keep(_name_of_day(now, mark), json.dumps(record, ensure_ascii=False))


def _name_of_day(day: datetime, mark: str) -> str:
    """Return the name under which a key's record of a day is stored."""
    return f"{_NAME}{day:%Y-%m-%d}:{mark}"


def _digest(request: str) -> str:
    return hashlib.sha256(request.encode()).hexdigest()


_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)


class Counters:
    """Prometheus counters: requests by operation and outcome, and their duration. One registry per server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "amgs_requests", "Calls of operations.", ("operation", "outcome"), registry=self.registry
        )
        self._seconds = Histogram(
            "amgs_request_seconds",
            "How long calls took, waiting included.",
            ("operation",),
            buckets=_SECONDS,
            registry=self.registry,
        )

    def count(self, operation: str, outcome: str, seconds: float) -> None:
        """Count a call. outcome: done, refused or failed."""
        self._requests.labels(operation, outcome).inc()
        self._seconds.labels(operation).observe(seconds)


_DRAFTS: Final = frozenset({"consolidate plan", "plan consolidate"})
"""Operations that draft a consolidation; automatic consolidation then waits for the operator to correct it."""
CHANGE: Final = "AMGS-Change"
"""Response header with the store's change counter."""
NAMESPACE: Final = "AMGS-Namespace"
"""Request header that names a namespace."""


def make_joined_callers() -> dict[str, Caller]:
    """Return two callers for programs of this machine, by a new token each: the first with all rights, the other only
    reads.
    """
    rights: tuple[Right, Right] = ("operate", "read")
    return {new_token(): Caller("joined", None, right, near=True) for right in rights}


@dataclass(frozen=True, slots=True)
class Service:
    """Shared state of a server. kind: "gateway" if agents reach their model through it."""

    namespaces: Namespaces
    tokens: Tokens
    kind: Literal["service", "gateway"] = "service"
    counters: Counters = field(default_factory=Counters)
    limits: Limits = field(default_factory=Limits)
    rates: Rates = field(init=False)
    perf: Callable[[], float] = time.perf_counter
    joined: Mapping[str, Caller] = field(default_factory=make_joined_callers)
    """Who comes by the socket beside the store, by tokens that never leave this process."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rates", Rates(self.limits.a_second, self.limits.at_once, self.perf))


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: its caller, namespace and answer format.

    lossless: answer in the exact format that reads back as the same values; else plain JSON. key: the
    `Idempotency-Key`, "" if there is none. client: an id chosen by the client.
    """

    service: Service
    caller: Caller
    namespace: Namespace
    lossless: bool = False
    key: str = ""
    client: str = ""

    async def run(
        self,
        operation: str,
        lane: Lane,
        work: Callable[[], Any],
        detail: str = "",
        *,
        changes: bool,
        quiet: bool = False,
        masked: bool = False,
    ) -> Any:
        """Run work in a lane (thread pool) of the namespace, and publish an event about it.

        detail: the command line, shown to watchers. changes: the operation may write. quiet: publish nothing unless
        something changed; for requests that a screen makes by itself. masked: secrets in the result are already masked,
        as a Call does.
        """
        begun = self.service.perf()
        space, outcome, got, blocks = self.namespace, "failed", "", tuple[str, ...]()
        secrets = space.engine.settings.memory.ingest
        before = space.change
        if operation in _DRAFTS:
            space.drafted_at = begun
        try:
            if self.key and changes:
                request_line = f"{operation} {detail}"
                work = partial(self._once, work, request_line, lane)
            signing = {"operation": operation, "caller": self.caller.name, "client": self.client}
            signed_work = partial(_sign_work, work, {**signing, "server": space.server})
            running = space.run(lane, signed_work, self.caller.name)
            bounded = lane == "read" and not changes
            result = await (asyncio.wait_for(running, self.service.limits.read_seconds) if bounded else running)
            result = result if masked else secrets.mask(result)
            outcome, got, blocks = "done", summary_of(result), _ids(result)
            if space.spans is not None:
                space.spans.export_result(space.name, operation, result, self.service.perf() - begun)
            return result
        except TimeoutError:
            raise errors.TooSlowError(
                f"There was no answer within {self.service.limits.read_seconds:g} seconds.",
                way_out="Ask for less, or again when the memory is less busy.",
            ) from None
        except errors.AmgsError as error:
            outcome, got = "refused", error.title
            raise
        finally:
            seconds, after = self.service.perf() - begun, space.change
            self.service.counters.count(operation, outcome, seconds)
            changed = changes and after != before
            if changed or not quiet:
                space.events.publish(
                    ServiceEvent(
                        "changed" if changed else "asked",
                        after,
                        space.engine.clock.now(),
                        operation,
                        self.caller.name,
                        secrets.mask(detail),
                        got,
                        round(seconds * 1000, 1),
                        outcome,
                        blocks,
                        self.client,
                    )
                )

    def _once(self, work: Callable[[], Any], request_line: str, lane: Lane) -> Any:
        """Run work under the idempotency key, or return its earlier answer."""
        memory, together = self.namespace.memory, lane == "write"
        counted = lane not in ("model", "background")
        return once(memory, self.caller.name, self.key, request_line, work, together=together, counted=counted)

    def answer(self, result: Any, status: int = 200, more: Mapping[str, str] | None = None) -> Response:
        """Return the HTTP response in the caller's format, with the change counter. more: further headers."""
        headers = {CHANGE: str(self.namespace.change), **(more or {})}
        if self.lossless:
            return Response(wire.dumps(result), status, headers, wire.MEDIA_TYPE)
        from amgs_app.render.encode import compact

        return Response(compact(result), status, headers, "application/json")


def _sign_work(work: Callable[[], Any], signing: Mapping[str, str]) -> Any:
    """Run work with this signature on every change that it writes to the store."""
    with extras.explain_missing(), sign_commits(**signing):
        return work()


def summary_of(result: Any) -> str:
    """Return the outcome of a call in a few words, such as `3 hits`; "" if there is nothing to say."""
    for name, noun in _COUNTED.items():
        many = getattr(result, name, None)
        if isinstance(many, tuple):
            return plural(len(many), noun)
    return sentence_of(result) if is_dataclass(result) else ""


_COUNTED = {"hits": "hit", "added": "new block", "selected": "block", "proposals": "proposal", "candidates": "block"}
"""Tuple fields of results, and the noun for an item."""


def _ids(result: Any) -> tuple[str, ...]:
    """Return the ids of the first blocks in a result, at most 20."""
    for name in ("hits", "selected", "blocks", "added"):
        many = getattr(result, name, None)
        if isinstance(many, tuple):
            ids = [getattr(getattr(item, "block", item), "id", item) for item in many[:20]]
            return tuple(block_id for block_id in ids if isinstance(block_id, str))
    return ()


async def identify_caller(
    request: Request,
    authorization: Annotated[str, Header(description="Bearer TOKEN; needed as soon as there are tokens.")] = "",
    amgs_namespace: Annotated[
        str, Header(description="The namespace; by default the token's first, else `default`.")
    ] = "",
    idempotency_key: Annotated[
        str,
        Header(
            max_length=LONGEST_KEY,
            description="Repeated under the same key within a day, the request gets the same answer and does nothing.",
        ),
    ] = "",
    accept: Annotated[str, Header(include_in_schema=False)] = "",
) -> Asked:
    """Return the request with its caller and namespace. Raises UnknownCallerError for a missing or unknown token,
    NotFoundError for a namespace that the caller may not open.
    """
    service: Service = request.app.state.service
    caller, namespace = identify(service, authorization, amgs_namespace)
    await _check_texts(request)
    request.state.caller, request.state.namespace = caller.name, namespace.name
    return Asked(service, caller, namespace, wire.MEDIA_TYPE in accept, idempotency_key)


_UNSTORABLE: Final = (b"\\u0000", b"\\ud", b"\\uD", b"\0", b"\xed")
"""Byte sequences of which a body contains some if it holds a text that cannot be stored."""


async def _check_texts(request: Request) -> None:
    """Raise UsageError for text in the address or body that cannot be stored, before it reaches a handler
    or a watcher.
    """
    for part in (request.scope["raw_path"], request.scope["query_string"]):
        check_storable(unquote_to_bytes(part).decode("utf-8", "surrogateescape"))
    body = await request.body()
    if any(mark in body for mark in _UNSTORABLE):
        with suppress(ValueError, RecursionError):  # what is no JSON is refused where it is read
            check_storable(json.loads(body))


def identify(service: Service, authorization: str, namespace: str) -> tuple[Caller, Namespace]:
    """Return the caller of an `Authorization` header and the namespace; raises what `identify_caller` raises."""
    scheme, _, token = authorization.partition(" ")
    bearer = token.strip() if scheme.lower() == "bearer" else ""
    caller = service.joined.get(bearer) or service.tokens.caller(bearer)
    if caller is None:
        raise errors.UnknownCallerError(
            "The service asks for a token, and this token is not known.",
            way_out="Send `Authorization: Bearer TOKEN`; `amgs token new` creates a token.",
        )
    service.rates.take(caller.name)
    name = namespace or (caller.namespaces[0] if caller.namespaces else DEFAULT)
    if not caller.opens(name):
        raise errors.NotFoundError("There is no such namespace.", way_out="Ask for a namespace that your token opens.")
    return caller, service.namespaces.get(name)


ByCaller = Annotated[Asked, Depends(identify_caller)]


def check_right(asked: Asked, right: Right, doing: str) -> None:
    """Raise NotAllowedError unless the caller's token has the right. doing: what needs it, for the message."""
    if not asked.caller.can(right):
        raise errors.NotAllowedError(
            f"The token {asked.caller.name!r} may {asked.caller.may}, and {doing} needs {right!r}.",
            way_out="Ask whoever runs the service for a token that may do more.",
        )

"""Blocking and asynchronous clients of a served memory."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Final, Generic, ParamSpec, TypeVar, overload

from amgs.client import requests
from amgs.client.ask import Ask
from amgs.client.transport import AwaitedTransport, BlockingTransport

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T", BlockingTransport, AwaitedTransport)


class _Methods(Generic[T]):
    """Base of classes with request methods. T: the transport, blocking or asynchronous."""


class _Method(Generic[P, R]):
    """A method that sends a request and returns its answer by its client's transport."""

    def __init__(self, request: Callable[P, Ask[R]]) -> None:
        self._request = request
        self.__doc__ = request.__doc__

    @overload
    def __get__(self, part: _Methods[BlockingTransport], owner: Any) -> Callable[P, R]: ...
    @overload
    def __get__(self, part: _Methods[AwaitedTransport], owner: Any) -> Callable[P, Coroutine[Any, Any, R]]: ...
    @overload
    def __get__(self, part: None, owner: Any) -> _Method[P, R]: ...
    def __get__(self, part: Any, owner: Any) -> Any:
        """Bind it to a client, or to a part of a client."""
        if part is None:
            return self

        @wraps(self._request)
        def method(*args: P.args, **kwargs: P.kwargs) -> Any:
            return part.send(self._request(*args, **kwargs))

        return method


class _Part(_Methods[T]):
    """Methods of a client on a single subject."""

    def __init__(self, client: Any) -> None:
        self.send: Final = client.send


class _Frame(_Part[T]):
    assemble = _Method(requests.assemble_frame)


class _Graph(_Part[T]):
    neighbours = _Method(requests.find_neighbours)
    path = _Method(requests.find_path)


class _Lifecycle(_Part[T]):
    consolidate = _Method(requests.consolidate)
    status = _Method(requests.read_status)


class _Plans(_Part[T]):
    consolidate = _Method(requests.plan_consolidation)
    enhance = _Method(requests.plan_enhancement)
    prune = _Method(requests.plan_pruning)
    revision = _Method(requests.plan_revision)
    apply = _Method(requests.apply_plan)
    journal = _Method(requests.read_journal)
    undo = _Method(requests.undo)


class _Conversation(_Part[T]):
    add = _Method(requests.add_messages)
    show = _Method(requests.show_messages)
    optimise = _Method(requests.optimise_context)


class _Diagnosis(_Part[T]):
    diagnose = _Method(requests.diagnose)
    fix = _Method(requests.apply_fix)


class _Client(_Methods[T]):
    """Methods of both clients."""

    ingest = _Method(requests.ingest)
    search = _Method(requests.search)
    why = _Method(requests.why)
    assemble = _Method(requests.assemble_frame)
    context = _Method(requests.read_context)
    block = _Method(requests.show_block)
    find = _Method(requests.find_blocks)
    add_edge = _Method(requests.add_edge)
    reinforce = _Method(requests.reinforce_blocks)
    feedback = _Method(requests.give_feedback)
    operations = _Method(requests.list_operations)
    undo = _Method(requests.undo)
    call = _Method(requests.call)

    @property
    def frame(self) -> _Frame[T]:
        """Methods that assemble frames."""
        return _Frame(self)

    @property
    def graph(self) -> _Graph[T]:
        """Methods for a block's surroundings and paths."""
        return _Graph(self)

    @property
    def lifecycle(self) -> _Lifecycle[T]:
        """Consolidation, and the status of the memory."""
        return _Lifecycle(self)

    @property
    def plans(self) -> _Plans[T]:
        """Changes that are planned first, applied if nothing else has changed since, and undone."""
        return _Plans(self)

    @property
    def conversation(self) -> _Conversation[T]:
        """Conversations, stored in full, and the part that a model should read for a question."""
        return _Conversation(self)

    @property
    def diagnosis(self) -> _Diagnosis[T]:
        """Why an answer missed a fact, and ways to include it."""
        return _Diagnosis(self)


class MemoryClient(BlockingTransport, _Client[BlockingTransport]):
    """HTTP client of a served memory. `call` reaches operations that have no method here.

    Answers are the engine's values, and the engine's errors are raised; if the service does not answer,
    UnreachableError is raised. Repeatable requests are retried with growing random waits; requests that change the
    memory have an idempotency key, so that a retry has no second effect. Use it as a context manager, or close it. It
    may be called from any thread.
    """


class AsyncMemoryClient(AwaitedTransport, _Client[AwaitedTransport]):
    """Like `MemoryClient`, with coroutines as methods. Use it as an asynchronous context manager, or `aclose` it."""

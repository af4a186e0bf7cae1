"""Clients of a served memory, for programs that wait for each answer and for those that await it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from amgs.client import requests
from amgs.client.ask import Ask
from amgs.client.transport import AwaitedTransport, BlockingTransport

P = ParamSpec("P")
R = TypeVar("R")


def _sent(request: Callable[P, Ask[R]]) -> Callable[Concatenate[Any, P], R]:
    """Make a method that sends a request and returns its answer."""

    @wraps(request)
    def method(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        answer: R = self.send(request(*args, **kwargs))
        return answer

    return method


def _awaited(request: Callable[P, Ask[R]]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]:
    """Make a method that sends a request and returns what is awaited for its answer."""

    @wraps(request)
    async def method(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        answer: R = await self.send(request(*args, **kwargs))
        return answer

    return method


class _Part:
    """Some methods of a client, by subject."""

    def __init__(self, client: Any) -> None:
        self.send: Final = client.send


class _Frame(_Part):
    assemble = _sent(requests.assemble_frame)


class _Graph(_Part):
    neighbours = _sent(requests.find_neighbours)
    path = _sent(requests.find_path)


class _Lifecycle(_Part):
    consolidate = _sent(requests.consolidate)
    status = _sent(requests.read_status)


class _Plans(_Part):
    consolidate = _sent(requests.plan_consolidation)
    enhance = _sent(requests.plan_enhancement)
    prune = _sent(requests.plan_pruning)
    revision = _sent(requests.plan_revision)
    apply = _sent(requests.apply_plan)
    journal = _sent(requests.read_journal)
    undo = _sent(requests.undo)


class _Conversation(_Part):
    add = _sent(requests.add_messages)
    show = _sent(requests.show_messages)
    optimise = _sent(requests.optimise_context)


class _Diagnosis(_Part):
    diagnose = _sent(requests.diagnose)
    fix = _sent(requests.apply_fix)


class MemoryClient(BlockingTransport):
    """A served memory, over HTTP. `call` reaches every operation that has no method here.

    Answers are the engine's own frozen values, and what the engine would raise is raised here; a service that does not
    answer raises UnreachableError. Requests that may be repeated are tried again, with growing waits that chance
    spreads; one that changes the memory carries an idempotency key, so that trying again does nothing twice.

    Use it as a context manager, or close it. It may be called from any thread.
    """

    ingest = _sent(requests.ingest)
    search = _sent(requests.search)
    why = _sent(requests.why)
    assemble = _sent(requests.assemble_frame)
    context = _sent(requests.read_context)
    block = _sent(requests.show_block)
    find = _sent(requests.find_blocks)
    add_edge = _sent(requests.add_edge)
    reinforce = _sent(requests.reinforce_blocks)
    feedback = _sent(requests.give_feedback)
    operations = _sent(requests.list_operations)
    undo = _sent(requests.undo)
    call = _sent(requests.call)

    @property
    def frame(self) -> _Frame:
        """What can be assembled."""
        return _Frame(self)

    @property
    def graph(self) -> _Graph:
        """What lies around a block, and ways between blocks."""
        return _Graph(self)

    @property
    def lifecycle(self) -> _Lifecycle:
        """Consolidation, and what the memory holds."""
        return _Lifecycle(self)

    @property
    def plans(self) -> _Plans:
        """Changes that are looked at first, applied if nothing else has changed since, and taken back."""
        return _Plans(self)

    @property
    def conversation(self) -> _Conversation:
        """Conversations that are kept whole, and what of one a model should read for a question."""
        return _Conversation(self)

    @property
    def diagnosis(self) -> _Diagnosis:
        """Why an answer missed a fact, and what would bring it in."""
        return _Diagnosis(self)


class _AsyncFrame(_Part):
    assemble = _awaited(requests.assemble_frame)


class _AsyncGraph(_Part):
    neighbours = _awaited(requests.find_neighbours)
    path = _awaited(requests.find_path)


class _AsyncLifecycle(_Part):
    consolidate = _awaited(requests.consolidate)
    status = _awaited(requests.read_status)


class _AsyncPlans(_Part):
    consolidate = _awaited(requests.plan_consolidation)
    enhance = _awaited(requests.plan_enhancement)
    prune = _awaited(requests.plan_pruning)
    revision = _awaited(requests.plan_revision)
    apply = _awaited(requests.apply_plan)
    journal = _awaited(requests.read_journal)
    undo = _awaited(requests.undo)


class _AsyncConversation(_Part):
    add = _awaited(requests.add_messages)
    show = _awaited(requests.show_messages)
    optimise = _awaited(requests.optimise_context)


class _AsyncDiagnosis(_Part):
    diagnose = _awaited(requests.diagnose)
    fix = _awaited(requests.apply_fix)


class AsyncMemoryClient(AwaitedTransport):
    """The same as `MemoryClient`, for a program that does other things while it waits: every method is a coroutine.

    Use it as an asynchronous context manager, or `aclose` it.
    """

    ingest = _awaited(requests.ingest)
    search = _awaited(requests.search)
    why = _awaited(requests.why)
    assemble = _awaited(requests.assemble_frame)
    context = _awaited(requests.read_context)
    block = _awaited(requests.show_block)
    find = _awaited(requests.find_blocks)
    add_edge = _awaited(requests.add_edge)
    reinforce = _awaited(requests.reinforce_blocks)
    feedback = _awaited(requests.give_feedback)
    operations = _awaited(requests.list_operations)
    undo = _awaited(requests.undo)
    call = _awaited(requests.call)

    @property
    def frame(self) -> _AsyncFrame:
        """What can be assembled."""
        return _AsyncFrame(self)

    @property
    def graph(self) -> _AsyncGraph:
        """What lies around a block, and ways between blocks."""
        return _AsyncGraph(self)

    @property
    def lifecycle(self) -> _AsyncLifecycle:
        """Consolidation, and what the memory holds."""
        return _AsyncLifecycle(self)

    @property
    def plans(self) -> _AsyncPlans:
        """Changes that are looked at first, applied if nothing else has changed since, and taken back."""
        return _AsyncPlans(self)

    @property
    def conversation(self) -> _AsyncConversation:
        """Conversations that are kept whole, and what of one a model should read for a question."""
        return _AsyncConversation(self)

    @property
    def diagnosis(self) -> _AsyncDiagnosis:
        """Why an answer missed a fact, and what would bring it in."""
        return _AsyncDiagnosis(self)

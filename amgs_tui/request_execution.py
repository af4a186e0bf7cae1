"""Carry out a request on a session, in one of the engine's threads, and report errors."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any, Final, Literal

from amgs.errors import StoreCorruptError, StoreLockedError, StoreTooNewError, as_refusal
from amgs_app.calls.hints import way_out_of
from amgs_app.terminal.exit_codes import code_of
from amgs_tui.messages import Answer, EngineRequest, Failed

if TYPE_CHECKING:
    from amgs.types import Progress

UNUSABLE: Final = (StoreLockedError, StoreTooNewError, StoreCorruptError)
"""Errors after which the store cannot be used."""

Execute = Callable[[Any, EngineRequest, "Progress"], Answer]
"""Carries out a request on the session."""

Kind = Literal["beside", "long", "short", "background"]
"""beside: may run beside others. long: takes time. short: ends soon, and later requests may refer to its result.
background: takes time, and everything else may run beside it.
"""

KindOf = Callable[[EngineRequest], Kind]
"""Returns the kind of a request; called in the engine's threads only, since it may import the operations."""


def failure(request: EngineRequest, error: BaseException, *, fatal: bool = False) -> Failed:
    """Return an error for the screen: an engine's error with its message, a program error with its traceback."""
    error = as_refusal(error)
    title, message = getattr(error, "title", None), getattr(error, "message", None)
    if isinstance(title, str) and isinstance(message, str):
        way_out = way_out_of(error)
        fatal = fatal or isinstance(error, UNUSABLE)
        return Failed(request, title, message, way_out, fatal, exit_code=code_of(error))
    return Failed(
        request,
        "A fault in the program",
        f"{type(error).__name__}: {error}",
        "This action committed nothing. Please report it with the detail below.",
        fatal,
        "".join(traceback.format_exception(error)),
    )


def run_through_registry(operator: Any, request: EngineRequest, progress: Progress) -> Answer:
    """Carry out a request as a Call from the registry."""
    from amgs_app.calls.standard import standard

    registry = standard()
    call = registry.parse(request.line) if request.line else registry.call(request.command, **request.arguments)
    if call is None:
        return Answer("")
    with nullcontext() if call.operation.beside else operator.engine.working():
        carry_out = operator.look if request.origin == "screen" else operator.run
        result = carry_out(call, progress)
        looks = _follow_up(operator, request, result, progress)
    done = call.operation
    return Answer(done.name, result, call.line(), done.pane, done.writes, looks)


def kind_of(request: EngineRequest) -> Kind:
    """Return the kind of a request by its command; "beside" for an invalid line, which is refused at once."""
    from amgs_app.calls.standard import standard
    from amgs_app.terminal.line import LineError, split

    words: Sequence[str] = ()
    with suppress(LineError):
        words = split(request.line or request.command)
    operation, _ = standard().find(words)
    if operation is None or operation.beside:
        return "beside"
    flag = operation.background
    if flag and (request.arguments.get(flag) or f"--{flag}" in words):
        return "background"
    return "long" if operation.long else "short"


def _follow_up(operator: Any, request: EngineRequest, result: Any, progress: Progress) -> tuple[Any, ...]:
    """Return the results of the further requests; an error ends them."""
    looks: list[Any] = []
    # The action is done, whatever becomes of its looks; the pane asks again for what it lacks and is told the error.
    with suppress(Exception):
        for call in request.follow(result) if request.follow is not None else ():
            looks.append(operator.look(call, progress))  # noqa: PERF401
    return tuple(looks)

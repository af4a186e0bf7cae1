"""Messages between the engine's threads and the screen, immutable values, each with its request; and the
execution of a request on a session in one of these threads.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from textual.message import Message

from amgs.errors import StoreCorruptError, StoreLockedError, StoreTooNewError, as_refusal
from amgs_app.calls.hints import way_out_of
from amgs_app.terminal.output import ExitCode, code_of

if TYPE_CHECKING:
    from pathlib import Path

    from amgs.clock import Clock
    from amgs.lifecycle.plan_editing import ItemEdit
    from amgs.types import Progress
    from amgs_app.attached.event_listener import Reach
    from amgs_app.attached.remote_engine import RemoteEngine
    from amgs_app.calls.call import Call
    from amgs_app.results.service_event import ServiceEvent
    from amgs_app.terminal.output import Symbols


Follow = Callable[[Any], "Sequence[Call[Any]]"]
"""Returns further requests for a result; called in the engine's thread, so it contains only immutable values."""

Origin = Literal["operator", "screen"]


@dataclass(frozen=True, slots=True)
class EngineRequest:
    """A command to carry out, by name and arguments or as a typed line.

    slot: a newer request of the same slot makes this request stale ("" never). origin: the operator, which is recorded,
    or the screen itself. follow: further requests delivered with the result, so that the screen gets both at once.
    """

    id: int
    command: str
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)
    line: str = ""
    slot: str = ""
    origin: Origin = "operator"
    follow: Follow | None = None

    @property
    def content(self) -> tuple[object, ...]:
        """Fields that distinguish it from other waiting requests."""
        return self.command, self.arguments, self.line, self.slot

    @property
    def title(self) -> str:
        """Title in the status line."""
        return self.line or self.command


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of a command.

    line: its canonical text. pane: that shows it. writes: whether something changed. looks: results of the further
    requests.
    """

    command: str
    result: Any = field(hash=False, default=None)
    line: str = ""
    pane: str | None = None
    writes: bool = False
    looks: tuple[Any, ...] = field(hash=False, default=())


@dataclass(frozen=True, slots=True)
class Started:
    """A request was started. background: later requests do not wait for it."""

    request: EngineRequest
    background: bool = False


@dataclass(frozen=True, slots=True)
class Progressed:
    """Progress of a request. elapsed and remaining: seconds; remaining None if unknown."""

    request: EngineRequest
    done: int
    total: int
    doing: str
    elapsed: float
    remaining: float | None


@dataclass(frozen=True, slots=True)
class Finished:
    """A request's result. elapsed: seconds."""

    request: EngineRequest
    answer: Answer
    elapsed: float = 0.0

    @property
    def command(self) -> str:
        return self.answer.command

    @property
    def result(self) -> Any:
        return self.answer.result


@dataclass(frozen=True, slots=True)
class Failed:
    """A request that ended in an error. fatal: the store cannot be used further. detail: for the report of a program
    error.
    """

    request: EngineRequest
    title: str
    message: str
    way_out: str = ""
    fatal: bool = False
    detail: str = ""
    exit_code: int = ExitCode.FAILED


@dataclass(frozen=True, slots=True)
class RequestCancelled:
    """A request that the operator cancelled, or that a newer request replaced before it started."""

    request: EngineRequest
    message: str = ""
    superseded: bool = False


@dataclass(frozen=True, slots=True)
class ModelsLoading:
    """Progress of preloading the language model: `done` of `total`. trouble: why it, or the encoder, is missing; "" for
    none.
    """

    done: int
    total: int
    doing: str
    trouble: str = ""

    def __str__(self) -> str:
        """Return the text after the model's name in the header."""
        if self.trouble:
            return "not loaded"
        return "ready" if self.done == self.total else "loading"


RequestEvent = Started | Progressed | Finished | Failed | RequestCancelled
EngineEvent = RequestEvent | ModelsLoading


@dataclass
class Overheard(Message):
    """Brings an event of a served memory to the screen."""

    what: ServiceEvent | Reach


@dataclass
class EngineReport(Message):
    """Brings an event of the engine's threads to the screen."""

    event: EngineEvent

    def can_replace(self, message: Message) -> bool:
        """Return whether this is newer progress of the same request."""
        return (
            isinstance(message, EngineReport)
            and isinstance(self.event, Progressed)
            and isinstance(message.event, Progressed)
            and self.event.request.id == message.event.request.id
        )


@dataclass(frozen=True, slots=True)
class Opening:
    """A session's clock and settings.

    consolidates: automatically when due. attached: the engine, if it is served elsewhere. drafts: corrections left by
    an earlier session. ignored: a line per invalid setting.
    """

    clock: Clock | None = None
    theme: str | None = None
    theme_folders: tuple[Path, ...] = ()
    symbols: Symbols | Literal["auto"] = "auto"
    keys: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    consolidates: bool = False
    attached: RemoteEngine | None = None
    drafts: tuple[ItemEdit, ...] = ()
    ignored: tuple[str, ...] = ()

    @classmethod
    def of(cls, operator: Any) -> Opening:
        """Return the settings of an Operator; reading the theme reads the settings file, which may be invalid."""
        from amgs_app.session import Operator
        from amgs_app.terminal.themes import theme_folders

        if not isinstance(operator, Operator):
            return cls()
        ignored: list[str] = []
        operator.engine.warn = ignored.append
        settings = operator.engine.settings
        screen, memory = settings.screen, settings.memory
        clock, theme = operator.engine.clock, operator.theme_name
        attached = operator.engine if operator.engine.attached else None
        if attached is not None:
            attached.facts()  # whether anybody answers, and what time it is there
        return cls(
            clock,
            theme,
            theme_folders(),
            screen.symbols,
            screen.keys,
            screen.commands,
            consolidates=memory.consolidation.automatic and attached is None,
            attached=cast("RemoteEngine | None", attached),
            drafts=operator.take_up_drafts(),
            ignored=tuple(ignored),
        )


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
    from amgs_app.calls.registry import standard

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
    from amgs_app.calls.registry import standard
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

"""Messages between the engine's thread and the screen: frozen values, each with the request it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from textual.message import Message

from amgs_app.terminal.exit_codes import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

    from amgs.clock import Clock
    from amgs.lifecycle.plan_editing import ItemEdit
    from amgs_app.attached.event_listener import Reach
    from amgs_app.attached.remote_engine import RemoteEngine
    from amgs_app.calls.call import Call
    from amgs_app.results.service_event import ServiceEvent
    from amgs_app.terminal.screen import Symbols


Follow = Callable[[Any], "Sequence[Call[Any]]"]
"""Looks that a result calls for; asked in the engine's thread, so it holds frozen values alone."""

Origin = Literal["operator", "screen"]


@dataclass(frozen=True, slots=True)
class EngineRequest:
    """A command to carry out: by name and arguments, or as a typed line.

    slot: a newer request of the same slot makes this one stale ("" never becomes stale). origin: the
    operator's own act, which belongs into a recording, or a look that the screen takes by itself. follow: the looks
    that are taken with the result, so that the screen gets both at once."""

    id: int
    command: str
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)
    line: str = ""
    slot: str = ""
    origin: Origin = "operator"
    follow: Follow | None = None

    @property
    def content(self) -> tuple[object, ...]:
        """Fields that tell it from other waiting requests."""
        return self.command, self.arguments, self.line, self.slot

    @property
    def title(self) -> str:
        """Title in the status line."""
        return self.line or self.command


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of a command.

    line: its canonical text. pane: the pane that shows it. writes: whether something changed. looks: the result of each
    look that followed.
    """

    command: str
    result: Any = field(hash=False, default=None)
    line: str = ""
    pane: str | None = None
    writes: bool = False
    looks: tuple[Any, ...] = field(hash=False, default=())


@dataclass(frozen=True, slots=True)
class Started:
    """The engine has begun with a request. background: what comes after it does not wait for it."""

    request: EngineRequest
    background: bool = False


@dataclass(frozen=True, slots=True)
class Progressed:
    """Progress of a request. elapsed and remaining in seconds; remaining is None while it is unknown."""

    request: EngineRequest
    done: int
    total: int
    doing: str
    elapsed: float
    remaining: float | None


@dataclass(frozen=True, slots=True)
class Finished:
    """A request's result: a frozen value of an engine or of an operation. elapsed in seconds."""

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
    """A request that ended in an error. fatal: nothing can go on with this store. detail: for a fault's
    report.
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
    """A request that the operator stopped, or that a newer one replaced before it had begun."""

    request: EngineRequest
    message: str = ""
    superseded: bool = False


@dataclass(frozen=True, slots=True)
class ModelsLoading:
    """Loading state of the language model before any request for it: `done` of `total`.

    trouble: why it, or the encoder, is not there; "" while all goes well.
    """

    done: int
    total: int
    doing: str
    trouble: str = ""

    def __str__(self) -> str:
        """Return what the header says after the model's name."""
        if self.trouble:
            return "not loaded"
        return "ready" if self.done == self.total else "loading"


RequestEvent = Started | Progressed | Finished | Failed | RequestCancelled
EngineEvent = RequestEvent | ModelsLoading


@dataclass
class Overheard(Message):
    """Brings what happens in a served memory to the screen."""

    what: ServiceEvent | Reach


@dataclass
class EngineReport(Message):
    """Brings an event of the engine's thread to the screen."""

    event: EngineEvent

    def can_replace(self, message: Message) -> bool:
        """Return whether a newer report on the same request's progress supersedes this."""
        return (
            isinstance(message, EngineReport)
            and isinstance(self.event, Progressed)
            and isinstance(message.event, Progressed)
            and self.event.request.id == message.event.request.id
        )


@dataclass(frozen=True, slots=True)
class Opening:
    """A session's clock, and what its settings ask for.

    consolidates: by itself, as soon as it is due. attached: the engine, where it is one that is served
    elsewhere. drafts: corrections that an earlier session left. ignored: a line about each setting that is none.
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
        """Read off an Operator; reading the theme reads the settings, which may be wrong."""
        from amgs_app.session.operator import Operator
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

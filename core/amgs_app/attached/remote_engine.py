"""Engines whose memory is served by another process: operations run there, with the files that they name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, tzinfo
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from amgs.clock import Clock, FixedClock, ShiftedClock, SystemClock
from amgs.errors import UsageError
from amgs.types import Progress
from amgs_app.attached.connection import AttachedConnection, SentFile, files_of, pack_files, write_received
from amgs_app.calls.call import Call
from amgs_app.engine import Engine, Options, Work
from amgs_app.places.folders import LOCAL, READS, data_folder, socket_of
from amgs_app.places.paths import choose_export_path

if TYPE_CHECKING:
    from amgs.memory import Memory
    from amgs.types import Block, FrameDefinition, JournalEntry, Reliability, StoreStatus
    from amgs_app.results.overview import EngineFacts
    from amgs_app.results.service_event import ServiceEvent
    from amgs_focus.runtime.runtime import FocusRuntime
    from amgs_focus.views import FocusView

R = TypeVar("R")

_SERVER_FILES: Final = (
    ("ingest", "sync"),
    ("source watch", "folder"),
    ("focus open", "lifetime"),
    ("frame open", "lifetime"),
)
"""Operations with an argument that names files of the server's machine; these are refused."""


def _refuse_server_files() -> UsageError:
    """Return the error for an operation on files of the server's machine."""
    return UsageError(
        "This works on the files of the machine where the memory lies, and is not served.",
        title="Not while attached",
        way_out="Do it on that machine, without --connect, while nothing is served.",
    )


class RemoteReads:
    """The few reads of a memory that completion, hints and figures need, as requests. ask: runs an operation by its
    identifier.
    """

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def __getattr__(self, name: str) -> Any:
        """Refuse every other method of a memory."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise _refuse_server_files()

    def status(self) -> StoreStatus:
        return self._ask("status").store  # type: ignore[no-any-return]

    def counts(self) -> Any:
        return self.status().blocks

    def reliability(self) -> Reliability:
        return self._ask("calibration")  # type: ignore[no-any-return]

    def operations(self, limit: int) -> tuple[JournalEntry, ...]:
        return self._ask("operations", limit=limit).operations  # type: ignore[no-any-return]

    def find(self, text: str, limit: int) -> tuple[Block, ...]:
        return self._ask("block_find", text=text, limit=limit).blocks  # type: ignore[no-any-return]

    def block(self, id: str) -> Block:
        return self._ask("block_show", block=id).block  # type: ignore[no-any-return]

    def frame_definitions(self) -> tuple[FrameDefinition, ...]:
        return self._ask("frame_list").definitions  # type: ignore[no-any-return]


class RemoteClock:
    """The server's clock, continued at this machine's pace after each answer.

    ask: makes a request whose answer calls `tell`; used once, if the time is not known yet.
    """

    def __init__(self, ask: Callable[[], object]) -> None:
        self._ask = ask
        self._base = SystemClock()
        self._clock: Clock | None = None

    def set_time(self, now: datetime, *, fixed: bool) -> None:
        """Set the clock to the server's time. fixed: it stands still."""
        self._clock = FixedClock(now) if fixed else ShiftedClock(now, base=self._base)

    @property
    def zone(self) -> tzinfo:
        return (self._clock or self._base).zone

    def now(self) -> datetime:
        if self._clock is None:
            self._ask()
        return (self._clock or self._base).now()

    def perf(self) -> float:
        return self._base.perf()


class RemoteEngine(Engine):
    """A client of a served engine. Settings, themes and files are this machine's; memory, working context, models and
    time are the server's.

    Raises UnreachableError if nobody answers, and otherwise what a local engine raises.
    """

    attached = True

    def __init__(self, options: Options) -> None:
        """Raises UsageError for an invalid address, or options that only the server can have."""
        super().__init__(options)
        own: dict[str, object] = {"--store": options.store, "--corpus": options.corpus}
        own |= {"--model": options.model, "--now": options.now, "--seed": options.seed or None}
        own |= {"--read-only": options.read_only or None}
        wrong = [name for name, value in own.items() if value is not None]
        if wrong:
            raise UsageError(
                f"{wrong[0]} belongs to whoever serves the memory.",
                way_out=f"Leave it out, or give it to `amgs serve` instead of --connect {options.connect}.",
            )
        self._connect(AttachedConnection(options.connect, options.token))

    def _connect(self, connection: AttachedConnection) -> None:
        """Use this connection for all operations and the clock."""
        self.connection = connection
        self._time = RemoteClock(self.facts)
        self.clock = self._time
        self.creates = False

    # --- carrying out ---------------------------------------------------------------------------------

    def carry_out(self, call: Work[R], progress: Progress | None = None, operator: Any = None) -> R:
        """Run the call at the server, or here if its operation belongs on the caller's machine."""
        asked = cast("Call[R]", call)
        name, arguments = asked.operation.name, asked.arguments
        if asked.operation.place == "here":
            return asked.apply(operator or self, progress)
        if name == "ingest" and arguments.get("text") == "-":
            asked = asked.having(text=self.read_piped_text())
        if name == "export" and arguments.get("path") is None:
            asked = asked.having(path=choose_export_path(arguments["format"]))
        files = files_of(asked)
        payload = {"arguments": dict(asked.arguments), "files": files, **self._with_files(asked, files)}
        if operator is not None:
            payload["state"] = operator.state()
        answer = self._carry_out(asked.operation.identifier, payload, progress)
        write_received(files, answer["written"])
        result: R = answer["result"]
        if operator is not None:
            operator.restore_state(answer["state"] | dict.fromkeys(answer["given"], result))
        return result

    def _with_files(self, call: Call[Any], files: tuple[SentFile, ...]) -> dict[str, Any]:
        """Return the files to send. Raises UsageError if the operation works on files of the server's machine."""
        if any(call.operation.name == name and call.arguments.get(argument) for name, argument in _SERVER_FILES):
            raise _refuse_server_files()
        return {"archive": pack_files(call, files)} if files else {}

    def _carry_out(self, identifier: str, payload: dict[str, Any], progress: Progress | None = None) -> dict[str, Any]:
        """Send a request, and note the server's facts and time from its answer."""
        answer = self.connection.carry_out(identifier, payload, progress)
        self._facts: EngineFacts = answer["facts"]
        self._time.set_time(self._facts.now, fixed=self._facts.fixed)
        return answer

    def _ask(self, identifier: str, **arguments: Any) -> Any:
        """Run an operation as a request of the screen's own, and return its result."""
        with self.looking():
            return self._carry_out(identifier, {"arguments": arguments, "files": (), "state": {}})["result"]

    def looking(self) -> AbstractContextManager[None]:
        return self.connection.looking()

    def facts(self) -> EngineFacts:
        self._ask("status")
        return self._facts

    # --- what it was told -----------------------------------------------------------------------------

    @property
    def store_path(self) -> Path | str:
        """Address without its scheme."""
        return self.connection.name

    @property
    def store_name(self) -> str:
        return self.connection.name

    def beside_store(self, ending: str) -> Path | None:
        """Return a file in this machine's data folder that belongs to the address."""
        key = sha256(f"{self.connection.base}/{self.connection.namespace}".encode()).hexdigest()[:16]
        folder = data_folder(self.settings.paths)
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"attached-{key}{ending}"

    @property
    def is_own(self) -> bool:
        """True, so that no sample is ever ingested into a served memory unasked."""
        return True

    @property
    def trace_path(self) -> Path | None:
        """None: the trace is at the server."""
        return None

    @property
    def sample_time(self) -> bool:
        return self.facts().sample_time

    @property
    def corpus_name(self) -> str:
        return self.facts().corpus

    def enter_corpus(self) -> None:
        """Do nothing: the clock is the server's."""

    # --- the engines ----------------------------------------------------------------------------------

    @cached_property
    def _reads(self) -> Memory:
        return cast("Memory", RemoteReads(self._ask))

    @property
    def memory(self) -> Memory:
        return self._reads

    @property
    def memory_is_open(self) -> bool:
        return True

    @property
    def focus(self) -> FocusRuntime:
        """A read-only view of the server's working context. Raises UsageError if none is open."""
        view = self.focus_view
        if view is None:
            raise UsageError("Nothing is open in the working context.", way_out="`frame open` opens the last frame.")
        return cast("FocusRuntime", SimpleNamespace(snapshot=lambda: view))

    @property
    def focus_is_open(self) -> bool:
        return self.focus_view is not None

    @property
    def focus_view(self) -> FocusView | None:
        return self.facts().focus

    @contextmanager
    def working(self) -> Iterator[None]:
        """Take no lock: the server orders what uses its working context."""
        yield

    def discard(self) -> None:
        """Do nothing: the store is the server's."""

    def close(self) -> None:
        """Close the connection; the server keeps running."""
        self.connection.close()

    def events(self, after: str = "") -> Iterator[ServiceEvent | None]:
        """Yield events of the memory; see AttachedConnection."""
        return self.connection.events(after)


class JoinedEngine(RemoteEngine):
    """A client of another process on this machine that has the same store open.

    Files are named, not sent: that process can read and write them itself.
    """

    def __init__(self, engine: Engine, store: Path, holder: int) -> None:
        """engine: the local engine that cannot open the store. holder: id of the process that has it open. Raises
        UsageError if --now asks for another time than that process has.
        """
        Engine.__init__(self, engine.options)
        self.warn, self.standard_input, self.creates = engine.warn, engine.standard_input, False
        self._store = store
        self._connect(AttachedConnection(LOCAL, READS if self.options.read_only else "", socket_of(store)))
        options = self.options
        if options.now is not None and (facts := self.facts()) and (facts.now != options.now or not facts.fixed):
            raise UsageError(
                f"Process {holder} has {store.name} open, at another time than --now says.",
                way_out=f"Leave --now out, or end process {holder}.",
            )
        own = {"corpus": options.corpus, "model": options.model, "seed": options.seed}
        its = "".join(f", with its {name}" for name, value in own.items() if value)
        self.warn(f"{store.name} is open in process {holder}: this goes through it{its}.")

    def _with_files(self, call: Call[Any], files: tuple[SentFile, ...]) -> dict[str, Any]:
        """Return the absolute paths of the files."""
        del call
        return {"paths": [str(Path(file.given).expanduser().resolve()) for file in files]}

    @property
    def store_path(self) -> Path | str:
        return self._store

    @property
    def store_name(self) -> str:
        return self._store.name

    def beside_store(self, ending: str) -> Path | None:
        return self._store.with_name(f"{self._store.name}{ending}")

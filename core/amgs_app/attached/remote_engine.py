"""An engine that is served elsewhere, with the surface of one that is here: the methods of its memory are carried out
there, files are read and written here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from amgs.clock import Clock, FixedClock, ShiftedClock, SystemClock
from amgs.errors import InputError, UsageError
from amgs.types import Progress
from amgs_app.attached.asks import ASKS, ReportHere
from amgs_app.attached.connection import AttachedConnection
from amgs_app.calls.call import Call
from amgs_app.engine import Engine, Options, Work
from amgs_app.places.folders import data_folder
from amgs_app.places.paths import lies_there
from amgs_app.places.store_socket import LOCAL, READS, socket_of

if TYPE_CHECKING:
    from amgs.api.exchange import Exported, ForeignImport, Form, Imported
    from amgs.exchange.importers.records import ForeignFormat
    from amgs.ingest.raw_blocks import FolderContents
    from amgs.memory import Memory
    from amgs.settings import IngestSettings
    from amgs.types import Block, IngestReport
    from amgs_app.results.overview import EngineFacts
    from amgs_app.results.service_event import ServiceEvent
    from amgs_focus.runtime.runtime import FocusRuntime
    from amgs_focus.trace.events import Trace
    from amgs_focus.views import FocusView


ASK_PATH = "/v1/attach/ask"


class RemotePart:
    """What stands under a path from the engine on: `memory`, `memory.lifecycle`, a method.

    Only what `ASKS` names can be asked; anything else raises UsageError before it is sent.
    """

    def __init__(self, connection: AttachedConnection, path: str) -> None:
        self._connection = connection
        self._path = path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        path = f"{self._path}.{name}"
        known = ASKS.get(path)
        if known is not None and known.value:
            return self._ask(path)
        if known is not None or any(each.startswith(f"{path}.") for each in ASKS):
            return RemotePart(self._connection, path)
        raise UsageError(
            "This works on the files of the machine where the memory lies, and is not served.",
            title="Not while attached",
            way_out="Do it on that machine, without --connect, while nothing is served.",
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Carry the method out at the server; a Progress among the arguments is told what is told there."""
        return self._ask(self._path, *args, **kwargs)

    def _ask(self, path: str, /, *args: Any, **kwargs: Any) -> Any:
        progress = next((each for each in (*args, *kwargs.values()) if isinstance(each, Progress)), None)
        given = {
            "path": path,
            "args": [_sendable(each) for each in args],
            "kwargs": {name: _sendable(each) for name, each in kwargs.items()},
        }
        return self._connection.ask(ASK_PATH, given, progress)


def _sendable(value: Any) -> Any:
    return ReportHere() if isinstance(value, Progress) else value


class RemoteMemory(RemotePart):
    """See the module. reading: how files are split."""

    def __init__(self, connection: AttachedConnection, reading: IngestSettings) -> None:
        super().__init__(connection, "memory")
        self._reading = reading
        self.exchange = RemoteExchange(connection, "memory.exchange")
        self.sources = RemoteSources(connection, "memory.sources")

    def load(self, progress: Progress | None = None) -> None:
        """Nothing: the server loads its models itself."""

    def ingest_file(
        self, path: Path, *, created_at: datetime | None = None, meta: Mapping[str, Any] | None = None
    ) -> IngestReport:
        """Read one file here, and have its texts taken in there; raises InputError for one that is unfit."""
        from amgs.clock import aware
        from amgs.ingest.reading import read_file

        dated = None if created_at is None else aware(created_at)
        read = read_file(path, path.name, self._reading, dated=dated)
        if read.refused:
            raise InputError(
                f"{path} was not ingested: {read.refused[0].reason}.",
                way_out="Fix the file or choose another. Nothing was changed.",
            )
        return self._take_in(read, meta, None)

    def ingest_folder(
        self,
        folder: Path,
        progress: Progress | None = None,
        *,
        created_at: datetime | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> IngestReport:
        """Read every file below a folder here, and have the texts taken in there."""
        from amgs.clock import aware
        from amgs.ingest.reading import read_folder

        dated = None if created_at is None else aware(created_at)
        return self._take_in(read_folder(folder, self._reading, progress, dated=dated), meta, progress)

    def _take_in(self, read: FolderContents, meta: Mapping[str, Any] | None, progress: Progress | None) -> IngestReport:
        from amgs.api.ingest import marked

        read = marked(read, meta or {})
        report: IngestReport = self._ask("memory.ingest_many", list(read.drafts), progress)
        refused = (*read.refused, *report.refused)
        return replace(report, refused=refused, skipped=read.skipped, warnings=read.warnings)


class RemoteSources(RemotePart):
    """The sources of a served memory; its texts have no files there."""

    def knows(self, path: Path) -> bool:
        """False: what was sent has no file at the server by which it would be known."""
        del path
        return False


class RemoteExchange(RemotePart):
    """Whole memories as files of this machine."""

    def export(self, path: Path, form: Form = "json") -> Exported:
        """Have the store written there, and write it to a file here."""
        from amgs.exchange.values import written

        told, data = self._ask("memory.exchange.export", form)
        replaced = path.exists()
        size = written(path, iter([data.decode()]))
        made: Exported = replace(told, path=str(path), bytes=size, replaced=replaced)
        return made

    def load(self, path: Path, progress: Progress | None = None) -> Imported:
        """Send an exported file to a store that holds nothing yet."""
        try:
            data = path.read_bytes()
        except OSError as error:
            raise UsageError(
                f"{path} cannot be read: {error.strerror}.", way_out="Give a file that `export` wrote."
            ) from error
        told: Imported = self._ask("memory.exchange.load", data, progress)
        return replace(told, path=str(path))

    def is_export(self, path: Path) -> bool:
        """Whether a file here begins as those that `export` writes."""
        from amgs.api.exchange import Exchange

        return Exchange.is_export(path)

    def load_foreign(
        self,
        path: Path | Sequence[Path],
        format: ForeignFormat | None = None,
        *,
        dry_run: bool = False,
        branches: bool = False,
        conversations: bool = True,
        progress: Progress | None = None,
    ) -> ForeignImport:
        """Read what other programs wrote here, and have it taken in there."""
        from amgs.exchange.importers.files import named, read_files

        paths = [path] if isinstance(path, Path) else list(path)
        told: ForeignImport = self._ask(
            "memory.exchange.load_foreign_documents",
            read_files(paths, format),
            format,
            path=paths[0].name if len(paths) == 1 else named(paths),
            dry_run=dry_run,
            branches=branches,
            conversations=conversations,
            progress=progress,
        )
        return replace(told, path=named(paths))


class RemoteClock:
    """Stands, or runs on at this machine's pace from what was told; asks nobody once it was told.

    ask: has `tell` called; before the first time is told, `now` calls it.
    """

    def __init__(self, ask: Callable[[], object]) -> None:
        self._ask = ask
        self._clock: Clock | None = None
        self._base = SystemClock()

    def tell(self, now: datetime, *, fixed: bool) -> None:
        """The time there; fixed: it stands still."""
        self._clock = FixedClock(now) if fixed else ShiftedClock(now, base=self._base)

    @property
    def zone(self) -> tzinfo:
        return (self._clock or self._base).zone

    def now(self) -> datetime:
        if self._clock is None:
            self._ask()
        return self._base.now() if self._clock is None else self._clock.now()

    def perf(self) -> float:
        return self._base.perf() if self._clock is None else self._clock.perf()


R = TypeVar("R")

OPERATIONS_PATH: Final = "/v1/attach/operations/"


class RemoteEngine(Engine):
    """A client of a served engine. Settings, palettes and files are those of this machine; memory, working context,
    models and time are those of the server.

    Operations are carried out there; those that are given a file or a folder read or write it here. Raises
    UnreachableError where nobody answers, and otherwise what an engine of this process raises.
    """

    attached = True

    def __init__(self, options: Options) -> None:
        """Raises UsageError for an address that is none, or options that say what the server alone can."""
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
        self.connection = connection
        self._time = RemoteClock(self.facts)
        self.clock = self._time
        self.creates = False

    # --- carrying out ---------------------------------------------------------------------------------

    def carry_out(self, call: Work[R], progress: Progress | None = None) -> R:
        """Have the call carried out at the server, or here where it is about files of this machine."""
        asked = cast("Call[R]", call)
        operation = asked.operation
        if operation.name == "ingest" and asked.arguments.get("sync"):
            raise UsageError(
                "What is sent to a served memory has no file there that could be brought up to date.",
                title="Not while attached",
                way_out="Use --sync on the machine where the memory lies, while nothing is served.",
            )
        if operation.place == "here" or _names_files(asked):
            return call.apply(self, progress)
        given = {"arguments": dict(asked.arguments), "line": asked.line()}
        result: R = self.connection.ask(OPERATIONS_PATH + operation.identifier, given, progress)
        return result

    def looking(self) -> AbstractContextManager[None]:
        return self.connection.looking()

    def facts(self) -> EngineFacts:
        told: EngineFacts = self._ask("facts")
        self._time.tell(told.now, fixed=told.fixed)
        return told

    def _ask(self, path: str, *args: Any, **kwargs: Any) -> Any:
        return RemotePart(self.connection, path)(*args, **kwargs)

    # --- what it was told -----------------------------------------------------------------------------

    @property
    def store_path(self) -> Path | str:
        """The address, without what it begins with."""
        return self.connection.name

    @property
    def store_name(self) -> str:
        return self.connection.name

    def beside_store(self, ending: str) -> Path | None:
        """A file of this machine that belongs to the address."""
        key = sha256(f"{self.connection.base}/{self.connection.namespace}".encode()).hexdigest()[:16]
        folder = data_folder(self.settings.paths)
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"attached-{key}{ending}"

    @property
    def is_own(self) -> bool:
        """True: nothing is taken into a served memory unasked."""
        return True

    @property
    def trace_path(self) -> Path | None:
        """None: the trace lies at the server."""
        return None

    @property
    def sample_time(self) -> bool:
        return self.facts().sample_time

    @property
    def corpus_name(self) -> str:
        return self.facts().corpus

    def enter_corpus(self) -> None:
        """Nothing: the time is the server's."""

    # --- the engines ----------------------------------------------------------------------------------

    @cached_property
    def _remote_memory(self) -> Memory:
        return cast("Memory", RemoteMemory(self.connection, self.settings.memory.ingest))

    @property
    def memory(self) -> Memory:
        return self._remote_memory

    @property
    def memory_is_open(self) -> bool:
        return True

    def block(self, reference: str | None) -> Block:
        found: Block = self._ask("block", reference)
        return found

    @property
    def focus(self) -> FocusRuntime:
        return cast("FocusRuntime", RemotePart(self.connection, "focus"))

    @property
    def focus_is_open(self) -> bool:
        return self.focus_view is not None

    @property
    def focus_view(self) -> FocusView | None:
        return self.facts().focus

    def open_focus(
        self,
        segments: Sequence[Any],
        question: str = "",
        progress: Progress | None = None,
        *,
        folder: Path | None = None,
    ) -> FocusRuntime:
        """Open the segments as the lifetime context there. Raises UsageError for a folder: it would lie there."""
        if folder is not None:
            raise UsageError(
                "A kept lifetime lies on the machine that serves the memory.",
                title="Not while attached",
                way_out="Leave --lifetime out, or open it on that machine.",
            )
        self._ask("open_focus", list(segments), question, progress)
        return self.focus

    def focus_trace(self) -> Trace:
        told: Trace = self._ask("focus_trace")
        return told

    @contextmanager
    def working(self) -> Iterator[None]:
        """Nothing to hold: the server keeps what moves the working context in order."""
        yield

    def discard(self) -> None:
        """Nothing: the store is the server's."""

    def close(self) -> None:
        """Let the server go; what it serves stays open there."""
        self.connection.close()

    def events(self, after: str = "") -> Iterator[ServiceEvent | None]:
        """What happens in the memory; see AttachedConnection."""
        return self.connection.events(after)


class JoinedEngine(RemoteEngine):
    """A client of the process on this machine that has the same store open, with the rights that opening it gives.

    Files are named to that process, which reads and writes them as this one would.
    """

    def __init__(self, engine: Engine, store: Path, holder: int) -> None:
        """engine: the one of this process that cannot open the store. holder: the process that has it open. Raises
        UsageError where --now asks for another time than that process has.
        """
        Engine.__init__(self, engine.options)
        self.warn, self.standard_input, self.creates = engine.warn, engine.standard_input, False
        self._store = store
        self._connect(AttachedConnection(LOCAL, READS if self.options.read_only else "", socket_of(store)))
        given = self.options
        if given.now is not None and (told := self.facts()) and (told.now != given.now or not told.fixed):
            raise UsageError(
                f"Process {holder} has {store.name} open, at another time than --now says.",
                way_out=f"Leave --now out, or end process {holder}.",
            )
        own = {"corpus": given.corpus, "model": given.model, "seed": given.seed}
        its = "".join(f", with its {name}" for name, value in own.items() if value)
        self.warn(f"{store.name} is open in process {holder}: this goes through it{its}.")

    def carry_out(self, call: Work[R], progress: Progress | None = None) -> R:
        asked = cast("Call[R]", call)
        files = _whole_paths(asked)
        if not files or asked.operation.place == "here":
            return super().carry_out(call, progress)
        given = {"arguments": {**asked.arguments, **files}, "line": asked.line()}
        result: R = self.connection.ask(OPERATIONS_PATH + asked.operation.identifier, given, progress)
        return result

    @property
    def store_path(self) -> Path | str:
        return self._store

    @property
    def store_name(self) -> str:
        return self._store.name

    def beside_store(self, ending: str) -> Path | None:
        return self._store.with_name(f"{self._store.name}{ending}")


def _names_files(call: Call[Any]) -> bool:
    """Whether the call was given a file or a folder; a text that could be a path counts as one."""
    return any(
        each.takes in ("file", "folder") and call.arguments.get(each.name) not in (None, [], ())
        for each in call.operation.parameters
    )


def _whole_paths(call: Call[Any]) -> dict[str, Any]:
    """The files and folders that the call was given, by their whole paths; a text that names nothing is a text."""
    found: dict[str, Any] = {}
    for parameter in call.operation.parameters:
        value = call.arguments.get(parameter.name)
        if parameter.takes not in ("file", "folder") or value in (None, [], ()):
            continue
        named = value if isinstance(value, list) else [value]
        if all(isinstance(each, Path) or lies_there(Path(each)) for each in named):
            whole = [str(Path(each).expanduser().resolve()) for each in named]
            found[parameter.name] = whole if isinstance(value, list) else whole[0]
    return found

"""Shared state of the application: a memory, a focus engine, their models, the clock, the settings and the corpus (a
folder of notes with a store of its own).

Every front end works through an `Engine`; what belongs to a person (selection, draft) is in `amgs_app/session.py`.
Everything heavy opens late: the store with the first operation that needs it, the language model with the first frame
that is opened as a lifetime context (the token sequence that the focus engine works on). One thread works with an
engine and a second may read beside it, so only frozen results leave it.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TypeVar

from amgs.clock import Clock, FixedClock
from amgs.errors import UNWRITABLE, InputError, StoreError, StoreLockedError, UsageError, saying_refusals
from amgs.extras import explain_missing
from amgs.patience import wait_for_store
from amgs_app.gc_tuning import pause_collection
from amgs_app.interrupt import take_interrupt
from amgs_app.models.choice import TINY, LoadedModels
from amgs_app.open_context import OpenContext
from amgs_app.places.corpus import Corpus, CorpusClock, CorpusYear, open_corpus, sample_corpus
from amgs_app.places.folders import (
    ENDING,
    OWN_STORE,
    address_at,
    find_store,
    holder_of,
    listen_beside,
    remove_left,
    socket_of,
)
from amgs_app.results.overview import EngineFacts

if TYPE_CHECKING:
    from amgs.conversation.summaries import AbstractiveSummariser
    from amgs.memory import Memory
    from amgs.types import Block, Progress
    from amgs_app.models.model_server import ModelServer
    from amgs_app.results.focus import LastRun
    from amgs_app.results.service_event import ServiceEvent
    from amgs_app.settings import WorkstationSettings
    from amgs_focus.model.base_model import BaseModel
    from amgs_focus.options import TextEncoder
    from amgs_focus.runtime.runtime import FocusRuntime
    from amgs_focus.trace.events import Trace
    from amgs_focus.views import FocusView


SILENT_SECONDS: Final = 1.0
"""Seconds that waiting or closing may take before a line about it is printed."""
_BETWEEN_LINES: Final = 3.0
"""Seconds between two lines about the progress of closing."""

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Work(Protocol[R_co]):
    """A call of an operation; the part of `Call` that an engine uses."""

    def apply(self, on: Any, progress: Progress | None = None, /) -> R_co:
        """Run the operation in this process, on an Engine or an Operator."""
        ...


@dataclass(frozen=True, slots=True)
class Options:
    """Command-line options of a run; None for each that was left out.

    store: a path, or ":memory:". own: use the user's own memory when neither a store nor a corpus is named, even if it
    does not exist yet. model: an id, a path, or "tiny" for the built-in test model. now: the instant at which the clock
    stands for the whole run. settings: a TOML file. connect: the address of a served memory to use instead of a store;
    token: the token for it. read_only: open the store for reading, so that several programs can have it open at once.
    """

    store: str | None = None
    corpus: Path | None = None
    model: str | None = None
    now: datetime | None = None
    seed: int = 0
    theme: str | None = None
    settings: Path | None = None
    own: bool = False
    connect: str = ""
    token: str = ""
    read_only: bool = False


class Engine:
    """The shared state that operations work on. It knows nothing of any person's view.

    creates: create a missing store; if False, only a command that begins a memory does. accept_loss: open a store that
    has lost changes. reads_at_least: open a store that cannot be written for reading. fed_back: the lifetime context
    whose utility was already reported to the memory, so that it is reported once. traffic: returns the latest requests
    to a served memory; None if it is not served. gateway: a gateway runs on this engine. attached: the memory is served
    elsewhere. standard_input: reads what was piped into a single command; None elsewhere. warn: receives a line about
    each ignored setting and about the process it waits for. join: returns an engine connected to the process that has
    the store open, None if that process refuses; `join` itself is None where this process must not connect. share:
    starts to accept other processes on a listening socket; the function it returns stops that.
    """

    attached = False

    def __init__(self, options: Options = Options()) -> None:
        self.options = options
        self.corpus: Corpus = sample_corpus() if options.corpus is None else open_corpus(options.corpus)
        self.seed = options.seed
        self.clock: Clock = CorpusClock() if options.now is None else FixedClock(options.now)
        self._year = CorpusYear(self.clock)
        self._store_path: Path | str | None = None
        self.fed_back: FocusRuntime | None = None
        self.traffic: Callable[[], tuple[ServiceEvent, ...]] | None = None
        self.gateway = False
        self.creates = not options.read_only
        self.accept_loss = False
        self.reads_at_least = False
        self.standard_input: Callable[[], bytes] | None = None
        self.warn: Callable[[str], None] = lambda _line: None
        self.join: Callable[[], Engine | None] | None = None
        self.share: Callable[[socket.socket], Callable[[], object]] | None = None
        self._unshare: Callable[[], object] = lambda: None
        self._lock = threading.RLock()
        self._settings: WorkstationSettings | None = None
        self._memory: Memory | None = None
        self._model_server: ModelServer | None = None
        self._models = LoadedModels(lambda: self.settings, options.model)
        self._open = OpenContext(self._models, lambda: self.settings, self.clock, self.seed, lambda: self.trace_path)

    # --- carrying out ---------------------------------------------------------------------------------

    def carry_out(self, call: Work[R], progress: Progress | None = None, operator: Any = None) -> R:
        """Run a call of an operation; raises what the operation raises.

        operator: the person's view that the call is about; None for a call that needs only the engine.
        """
        return call.apply(operator or self, progress)

    def looking(self) -> AbstractContextManager[None]:
        """Return a context for requests that the screen makes by itself. A remote engine overrides it so that the
        service does not count them as traffic.
        """
        return nullcontext()

    def facts(self) -> EngineFacts:
        """Return what `status` shows beside the memory's own counts: corpus, model, seed, clock, focus."""
        fixed = isinstance(self.clock, FixedClock)
        return EngineFacts(
            self.corpus_name,
            self.model_spec,
            self.model_is_loaded,
            self.seed,
            self.focus_view,
            self.sample_time,
            self.clock.now(),
            fixed,
            self._memory is not None and self._memory.read_only,
        )

    # --- what it was told -----------------------------------------------------------------------------

    @property
    def settings(self) -> WorkstationSettings:
        """Settings, read on first use; raises UsageError for an invalid file or variable. Warns about ignored keys."""
        if self._settings is None:
            from amgs_app.settings import find_ignored, load_settings

            self._settings = load_settings(self.options.settings)
            for line in find_ignored(self.options.settings):
                self.warn(line)
        return self._settings

    @property
    def model_spec(self) -> str:
        return self._models.spec

    @property
    def checkpoints(self) -> Path:
        """Folder of the user's own checkpoints; it need not exist."""
        return self._models.checkpoints

    @property
    def store_path(self) -> Path | str:
        """Location of the store: --store if passed; else, in the user's data folder, the corpus's store for --corpus,
        the user's own memory if it exists, or the sample's store.
        """
        if self._store_path is None:
            self._store_path = find_store(
                self.options.store,
                self.corpus,
                self.settings.paths,
                own=self.options.own,
                corpus_is_named=self.options.corpus is not None,
            )
        return self._store_path

    @property
    def store_name(self) -> str:
        """File name of the store, for narrow places."""
        return Path(str(self.store_path)).name

    def beside_store(self, ending: str) -> Path | None:
        """Return the path of a file beside the store: the store's name plus `ending`. None for a store in memory."""
        store = self.store_path
        return store.with_name(f"{store.name}{ending}") if isinstance(store, Path) else None

    def require_existing_memory(self) -> None:
        """Do not create a missing store on first use; only a command that begins a memory does then."""
        self.creates = Path(str(self.store_path)).exists()

    def keep_off_the_disk(self) -> None:
        """Use a store in memory if there is none on disk, so that a trial leaves no file behind."""
        if isinstance(self.store_path, Path) and not self.store_path.exists():
            from amgs.storage.opening import MEMORY

            self._store_path = MEMORY

    @property
    def is_own(self) -> bool:
        """Return whether this is the user's own memory, which belongs to no corpus."""
        path = self.store_path
        return isinstance(path, Path) and path.name == OWN_STORE and self.options.store is None

    @property
    def lacks_memory(self) -> bool:
        """Return whether there is no store yet and reading would not create it."""
        path = self.store_path
        return not self.attached and not self.creates and isinstance(path, Path) and not path.exists()

    @property
    def belongs_to_corpus(self) -> bool:
        """Return whether the store belongs to a corpus: to that of --corpus, or to the sample."""
        return self.options.corpus is not None or (self.options.store is None and not self.is_own)

    @property
    def trace_path(self) -> Path | None:
        """File beside the store for the steps of the open lifetime context; None for a store in memory. Creates the
        data folder if needed.
        """
        path = self.store_path
        if not isinstance(path, Path):
            return None
        self.make_data_folder()
        if not path.parent.is_dir():
            raise StoreError(f"The folder {path.parent} does not exist.", way_out="Check the path of the store.")
        return path.with_name(f"{path.name}.trace")

    # --- the engines ----------------------------------------------------------------------------------

    @property
    def memory(self) -> Memory:
        """The memory, opened on first use; raises StoreError if it cannot be opened."""
        with self._lock:
            if self._memory is None:
                with saying_refusals():
                    self._memory = self._open_memory()
                    self._share_store()
            return self._memory

    @property
    def memory_is_open(self) -> bool:
        return self._memory is not None

    @property
    def focus(self) -> FocusRuntime:
        """The focus engine with its lifetime context; raises UsageError if none is open."""
        return self._open.runtime

    @property
    def focus_is_open(self) -> bool:
        return self._open.is_open

    @property
    def focus_view(self) -> FocusView | None:
        """Snapshot of the focus engine, None while none is open.

        Loads nothing. While another thread works with the engine, this is the last snapshot.
        """
        return self._open.view

    @property
    def words_alone(self) -> bool:
        """Return whether search matches words only, because no sentence encoder is installed (not because the user
        chose the tiny model).
        """
        if self.attached or self.model_spec == TINY:
            return False
        return self.memory.space[0].startswith("hashing-")

    @property
    def model_is_loaded(self) -> bool:
        return self._models.base_is_loaded

    def load_model(self, progress: Progress | None = None) -> BaseModel:
        """Load the base model on first use and return it; raises FocusError (ModelMissingError) if it is not found."""
        with explain_missing():
            return self._models.base(progress)

    def release_model(self) -> None:
        """Drop the base model unless an open lifetime context uses it; the next use loads it again."""
        if not self._open.is_open:
            self._models.release_base()

    @property
    def loads_ahead(self) -> bool:
        """Return whether to load models before they are needed: only real ones, and if
        `screen.load_ahead` allows it.
        """
        return self.settings.screen.load_ahead and self.model_spec != TINY and not self.lacks_memory

    def load_encoder(self, progress: Progress) -> None:
        """Load the sentence encoder; raises ModelError or MissingExtraError if it is not installed."""
        del progress
        self.memory.load()

    @property
    def model_server(self) -> ModelServer | None:
        """Client of the language model server in `model.server`; None if the setting is empty."""
        address = self.settings.model.server
        with self._lock:
            if address and self._model_server is None:
                with explain_missing("client"):
                    from amgs_app.models.model_server import KEY, ModelServer
                self._model_server = ModelServer(address, os.environ.get(KEY, ""))
            return self._model_server

    def text_encoder(self) -> TextEncoder | None:
        """Return the encoder with which the focus engine finds texts by meaning; None if none is installed."""
        return self._models.text_encoder()

    def open_focus(
        self,
        segments: Sequence[Any],
        question: str = "",
        progress: Progress | None = None,
        *,
        folder: Path | None = None,
    ) -> FocusRuntime:
        """Open a new lifetime context of these segments and return its focus engine; replaces the context that was
        open.

        question: a text that follows the segments. folder: where the lifetime is stored on disk; an existing lifetime
        is continued, with its tokens before the segments. Raises FocusError (CtxError) for a folder that is damaged, in
        use, or was written with another model.
        """
        return self._open.begin(segments, question, progress, folder=folder)

    def last_run(self) -> LastRun:
        """Return the summary of the trace that an earlier session left; empty while a context is open, whose trace has
        replaced it.
        """
        return self._open.last_run()

    def resume_focus(self, progress: Progress | None = None) -> tuple[str, int]:
        """Replay the trace of an earlier session; return the trace's path and the number of steps replayed.

        Raises UsageError if there is no trace or a context is open already, TraceError if the model, the gists or the
        lens have changed since.
        """
        return self._open.resume(progress)

    def focus_trace(self) -> Trace:
        """Return the trace of the open lifetime context so far; raises UsageError if none is open."""
        return self._open.trace()

    def block(self, reference: str | None) -> Block:
        """Return the block with this id, start of an id, or source path (a word with `.md`, `#` or `/`).

        Raises UsageError for None, UnknownBlockError or AmbiguousIdError.
        """
        if reference is None:
            raise UsageError("No block is selected.", way_out="Name a block, or `select` it first.")
        if reference.endswith(".md") or "#" in reference or "/" in reference:
            block_ids = self.memory.resolve_source(reference)
            if block_ids:
                return self.memory.block(block_ids[0])
        return self.memory.block(reference)

    def read_piped_text(self) -> str:
        """Return the text piped into the command. Raises UsageError where nothing can be piped in, InputError for bytes
        that are not UTF-8.
        """
        if self.standard_input is None:
            raise UsageError("Nothing is piped in here.", way_out="`-` reads standard input in `amgs ingest -` alone.")
        try:
            return self.standard_input().decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                "What is piped in is no text in UTF-8.", way_out="Save it as a file and give its path."
            ) from error

    def close(self) -> None:
        """Close the store, the trace and the model server's client; the engine keeps its settings and can open them
        again.
        """
        self._unshare()
        with self._lock:
            self._open.let_go()
            # Let go of first: DuckDB's bindings report what is held of a memory that failed to close.
            memory, self._memory = self._memory, None
            if memory is not None:
                self._year.keep(memory)
                memory.close(self._closing_progress())
            if self._model_server is not None:
                self._model_server.close()
                self._model_server = None

    def _closing_progress(self) -> Progress:
        """Return a progress that warns what closing waits for, after a second and then every few seconds."""
        from amgs.types import Progress

        due = time.monotonic() + SILENT_SECONDS

        def report(done: int, total: int, doing: str) -> None:
            nonlocal due
            if time.monotonic() >= due:
                due = time.monotonic() + _BETWEEN_LINES
                self.warn(f"Closing the memory: {doing}, {done:,} of {total:,} …")

        return Progress(report)

    def discard(self) -> None:
        """Close and delete a store that was created for a command that then failed; a store with content is only
        closed.
        """
        self._unshare()
        with self._lock:
            self._open.let_go()
            memory, self._memory = self._memory, None
            if memory is not None:
                self._year.keep(memory)
                memory.discard()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Hold the lock of the working context while the block runs; who only reads the memory need not take it."""
        with self._open.working():
            yield

    def give_way(self) -> None:
        """Release the working context to waiting threads, then take it again; called between the steps of long work."""
        self._open.give_way()

    def enter_corpus(self) -> None:
        """Set the clock to the corpus's own year, if it has a year; with --now the clock does not move."""
        self._year.enter(self.corpus.now, self._memory)

    @property
    def sample_time(self) -> bool:
        """Return whether the clock shows the year of a corpus instead of the real one."""
        return self._year.is_entered

    # --- inside -----------------------------------------------------------------------------------------

    def _open_memory(self) -> Memory:
        """Open the store with the models and settings of this run, unpacking the shipped sample first if it is used."""
        # Left out of the search for garbage when the process ends, too. DuckDB is imported later and is not: its
        # bindings report what no search has freed by then.
        with pause_collection():
            from amgs.memory import Memory
            from amgs.storage.opening import is_gone

        shipped = self._take_shipped_store()
        path = self.store_path
        if self.creates:
            self.make_data_folder()
        elif self.options.store is None and isinstance(path, Path) and not path.exists():
            raise StoreError(f"There is no memory at {path} yet.", title="No memory yet", about="missing")
        if self.creates and isinstance(path, Path) and is_gone(path):
            self.warn(f"{path} was removed or moved away: a new memory is begun in its place.")
        encoder, recogniser, count_tokens = self._models.texts()
        chosen = self.model_spec == TINY or self.settings.model.embedder

        def open_store_memory(*, read_only: bool) -> Memory:
            return Memory.open(
                self.store_path,
                clock=self.clock,
                settings=self.settings.memory,
                embedder=encoder if chosen else None,
                new_embedder=encoder,
                count_tokens=count_tokens,
                recogniser=recogniser,
                summariser=self._summariser(),
                model=self.model_server,
                read_only=read_only,
                create=self.creates,
                accept_loss=self.accept_loss,
            )

        try:
            memory = self._wait_for_store(lambda: open_store_memory(read_only=self.options.read_only))
        except StoreError as error:
            if not self.reads_at_least or error.about not in UNWRITABLE:
                raise
            memory = self._wait_for_store(lambda: open_store_memory(read_only=True))
            self.warn(f"{self.store_name} cannot be written: it is open for reading.")
        self._memory = memory
        if shipped:
            memory.sources.follow(self.corpus.path)
        if self._holds_corpus(memory):
            self.enter_corpus()
        return memory

    def _share_store(self) -> None:
        """Remove a killed process's socket file, and let other processes connect to this engine if `share` is set."""
        if not isinstance(self.store_path, Path) or self.options.read_only:
            return
        remove_left(self.store_path)
        listening = None if self.share is None else listen_beside(self.store_path)
        if self.share is None or listening is None:
            return
        path, end = socket_of(self.store_path), self.share(listening)

        def unshare() -> None:
            self._unshare = lambda: None
            path.unlink(missing_ok=True)
            end()
            listening.close()

        self._unshare = unshare

    def _wait_for_store(self, open_memory: Callable[[], Memory]) -> Memory:
        """Call `open_memory` until no other process has the store open.

        Raises StoreLockedError if a process holds it for longer than `store.wait_seconds`, and at once if that process
        is a service or accepts connections (see `join`): waiting would be useless then. Raises KeyboardInterrupt.
        """
        patience, place, has_warned = self.settings.store.wait_seconds, self.store_path, False
        waiting = ExitStack()
        interrupted: Callable[[], bool] | None = None

        def look(error: StoreLockedError, waited: float) -> None:
            nonlocal has_warned, interrupted
            interrupted = interrupted or waiting.enter_context(take_interrupt())
            if interrupted():
                raise KeyboardInterrupt
            if self.join is not None and isinstance(place, Path) and holder_of(place) is not None:
                raise error
            if address := address_at(self.beside_store(ENDING)):
                way_out = f"It is served there: `amgs --connect {address}` works with it."
                raise StoreLockedError(error.message, way_out=way_out, title="The store is served") from error
            if SILENT_SECONDS <= waited < patience and not has_warned:
                has_warned, who = True, f"process {error.process}" if error.process else "another process"
                self.warn(f"{self.store_name} is in use by {who}: waiting up to {patience:g} seconds; ctrl-c stops.")

        with waiting:
            return wait_for_store(place, open_memory, patience, look)

    def _summariser(self) -> AbstractiveSummariser:
        """Return what writes abstractive digests of conversations: the model server if any, else the local model."""
        from amgs.conversation.written import ModelSummariser
        from amgs_app.models.choice import LocalModel

        return ModelSummariser(self.model_server or LocalModel(self._models.base))

    def _take_shipped_store(self) -> bool:
        """Unpack the store that ships with the sample; return whether that was done.

        Only for a new sample store, and only with the shipped models: other models would embed its notes differently.
        """
        may_create = self.creates or self.options.corpus is not None
        if self.options.store is not None or self.is_own or not self.corpus.is_sample or self.options.read_only:
            return False
        from amgs_app.places.corpus import unpack

        path = self.store_path
        if not may_create or not isinstance(path, Path) or path.exists() or not self._models.are_shipped:
            return False
        self.make_data_folder()
        return unpack(path)

    def count_tokens(self, text: str) -> int:
        """Count a text's tokens with the model's tokenizer; an estimate if none is installed."""
        return self._models.texts()[2](text)

    def make_data_folder(self) -> None:
        """Create the user's data folder; the folder of a store named by --store must exist already."""
        if self.options.store is None and isinstance(self.store_path, Path):
            with saying_refusals():
                self.store_path.parent.mkdir(parents=True, exist_ok=True)

    @property
    def corpus_name(self) -> str:
        """Name of the corpus that the open store belongs to; empty for the user's own memory."""
        return self.corpus.name if not self.is_own and self._holds_corpus(self.memory) else ""

    def _holds_corpus(self, memory: Memory) -> bool:
        """Return whether the store belongs to this corpus, or is a --store that holds the corpus's notes."""
        if self.belongs_to_corpus:
            return True
        known = self.corpus.landmarks() if self.corpus.now is not None else ()
        return memory.has_source(known)

"""State that many clients can share: a memory, a focus engine, their models, the clock, the settings and the corpus.

Everything heavy opens late: the store with the first operation that asks for it, the language model with the first
frame that becomes a lifetime context. One thread works with an engine, a second may read beside it; frozen results are
all that leaves it.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TypeVar

from amgs.clock import Clock, FixedClock
from amgs.errors import UNWRITABLE, InputError, StoreError, StoreLockedError, UsageError, saying_refusals
from amgs.extras import explained
from amgs.patience import wait_for_store
from amgs_app.gc_tuning import pause_collection
from amgs_app.models.choice import TINY, LoadedModels
from amgs_app.open_context import OpenContext
from amgs_app.places.corpus import Corpus, CorpusClock, CorpusYear, open_corpus, sample_corpus
from amgs_app.places.folders import ENDING, OWN_STORE, address_at, find_store
from amgs_app.places.store_socket import holder_of, listen_beside, remove_left, socket_of
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
    from amgs_focus.protocols import TextEncoder
    from amgs_focus.runtime.runtime import FocusRuntime
    from amgs_focus.trace.events import Trace
    from amgs_focus.views import FocusView


SILENT_SECONDS: Final = 1.0
"""How long that is done, or a memory closes, before it is said."""
_BETWEEN_LINES: Final = 3.0
"""Seconds between two lines about how far closing is."""

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Work(Protocol[R_co]):
    """A call of an operation on an engine, as far as an engine must know one."""

    def apply(self, on: Any, progress: Progress | None = None, /) -> R_co:
        """Carry it out in this process, on an Engine or an Operator."""
        ...


@dataclass(frozen=True, slots=True)
class Options:
    """Command-line options of a run; None for every omitted one.

    store: a path, or ":memory:". own: without a store or a corpus, the user's own memory even where it is not there
    yet. model: an id, a path, or "tiny" for no real model at all. now: the instant the whole run stands at. settings: a
    TOML file. connect: the address of a served memory, instead of a store; token:
    the token for it. read_only: the store is opened for reading, so that several programs may have it open at once.
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
    """Engine that operations work on. It knows nothing of anybody's view.

    creates: whether a store that is missing is created, else only where a command begins one. accept_loss: whether one
    that has lost changes is opened. reads_at_least: whether a store that cannot be written is opened for reading.
    fed_back: the lifetime context whose utility memory was told, which happens once. traffic: gives the latest
    questions and changes of a memory that is served; None where it is not. gateway: whether one stands on it. attached:
    whether the memory is served elsewhere. standard_input: reads what was piped into a single command; None elsewhere.
    warn: is given a line about each setting that is ignored, once the settings are read, and about whom it waits for.
    join: gives an engine of the process that has the store open, where one lets others in; None where this one may not.
    share: lets others in, by the socket that it is given, once the store is open; what it returns ends that.
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
        """Carry out a call of an operation; raises what it raises. operator: whose call it is, where it is about what
        one person looks at.
        """
        return call.apply(operator or self, progress)

    def looking(self) -> AbstractContextManager[None]:
        """Return held while a screen looks by itself: whoever watches a served memory is not told of that."""
        return nullcontext()

    def facts(self) -> EngineFacts:
        """Return what is told of the engine beside the memory's own status."""
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
        """Settings, read on first use; raises UsageError for a file or a variable that cannot be used."""
        if self._settings is None:
            from amgs_app.settings import ignored_settings, load_settings

            self._settings = load_settings(self.options.settings)
            for line in ignored_settings(self.options.settings):
                self.warn(line)
        return self._settings

    @property
    def model_spec(self) -> str:
        return self._models.spec

    @property
    def checkpoints(self) -> Path:
        """Folder of the user's own checkpoints, which need not exist."""
        return self._models.checkpoints

    @property
    def store_path(self) -> Path | str:
        """Location of the store: --store, else in the user's data folder: that of --corpus, else the user's own memory
        once there is one, else the sample's.
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
        """Short name of the store for narrow places."""
        return Path(str(self.store_path)).name

    def beside_store(self, ending: str) -> Path | None:
        """Return a file beside the store, by its ending; None for a store in memory."""
        store = self.store_path
        return store.with_name(f"{store.name}{ending}") if isinstance(store, Path) else None

    def wait_for_memory(self) -> None:
        """Make no memory of one's own where there is none until a command begins one."""
        self.creates = Path(str(self.store_path)).exists()

    def keep_off_the_disk(self) -> None:
        """Have a store that is missing made in memory alone: what is only tried out leaves nothing behind."""
        if isinstance(self.store_path, Path) and not self.store_path.exists():
            from amgs.storage.opening import MEMORY

            self._store_path = MEMORY

    @property
    def is_own(self) -> bool:
        """Return whether this is the user's own memory, which no corpus belongs to."""
        path = self.store_path
        return isinstance(path, Path) and path.name == OWN_STORE and self.options.store is None

    @property
    def lacks_memory(self) -> bool:
        """Return whether there is no memory yet and a look would not create one."""
        path = self.store_path
        return not self.attached and not self.creates and isinstance(path, Path) and not path.exists()

    @property
    def belongs_to_corpus(self) -> bool:
        """Return whether the store exists for the corpus: a named one, or the sample's own store."""
        return self.options.corpus is not None or (self.options.store is None and not self.is_own)

    @property
    def trace_path(self) -> Path | None:
        """File for the steps of the present lifetime context, beside the store; None where nothing can be written."""
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
        """Open memory; raises StoreError when it cannot be opened."""
        with self._lock:
            if self._memory is None:
                with saying_refusals():
                    self._memory = self._open_memory()
                    self._let_others_in()
            return self._memory

    @property
    def memory_is_open(self) -> bool:
        return self._memory is not None

    @property
    def focus(self) -> FocusRuntime:
        """Focus engine with a lifetime context in it; raises UsageError when nothing was opened yet."""
        return self._open.runtime

    @property
    def focus_is_open(self) -> bool:
        return self._open.is_open

    @property
    def focus_view(self) -> FocusView | None:
        """Snapshot of the focus engine, None while nothing is open.

        Loads nothing. While another thread works with it, the last one that was taken.
        """
        return self._open.view

    @property
    def words_alone(self) -> bool:
        """Return whether texts are matched by words alone: the memory has no sentence encoder though none was
        refused.
        """
        if self.attached or self.model_spec == TINY:
            return False
        return self.memory.space[0].startswith("hashing-")

    @property
    def model_is_loaded(self) -> bool:
        return self._models.base_is_loaded

    def load_model(self, progress: Progress | None = None) -> BaseModel:
        """Return the base model, loaded on first use; raises FocusError (ModelMissingError) when it is nowhere."""
        with explained():
            return self._models.base(progress)

    def release_model(self) -> None:
        """Release the base model; the next one who asks for it loads it again. One that a context stands on stays."""
        if not self._open.is_open:
            self._models.release_base()

    @property
    def loads_ahead(self) -> bool:
        """Return whether models are worth loading ahead of need: real ones, unless the settings say otherwise."""
        return self.settings.screen.load_ahead and self.model_spec != TINY and not self.lacks_memory

    def load_encoder(self, progress: Progress) -> None:
        """Have the encoder of texts in memory. Raises ModelError or MissingExtraError where it is not installed."""
        del progress
        self.memory.load()

    @property
    def model_server(self) -> ModelServer | None:
        """Language model that the settings name beside the one of the focus; None where they name none."""
        address = self.settings.model.server
        with self._lock:
            if address and self._model_server is None:
                with explained("client"):
                    from amgs_app.models.model_server import KEY, ModelServer
                self._model_server = ModelServer(address, os.environ.get(KEY, ""))
            return self._model_server

    def text_encoder(self) -> TextEncoder | None:
        """By what the focus searches for the meaning of a question; None where nothing is installed for it."""
        return self._models.text_encoder()

    def open_focus(
        self,
        segments: Sequence[Any],
        question: str = "",
        progress: Progress | None = None,
        *,
        folder: Path | None = None,
    ) -> FocusRuntime:
        """Return a new focus engine whose lifetime context is the segments; replaces the one before.

        folder: where the lifetime is kept; what it holds already comes before the segments. Raises FocusError
        (CtxError) for one that is damaged, in use, or was made with another model.
        """
        return self._open.begin(segments, question, progress, folder=folder)

    def last_run(self) -> LastRun:
        """Return what a session before this one left in the trace; nothing while a context is open, which has the
        trace.
        """
        return self._open.last_run()

    def resume_focus(self, progress: Progress | None = None) -> tuple[str, int]:
        """Go on with what a session before left: the trace's path, and the steps that were done again.

        Raises UsageError where nothing was left or something is open already, TraceError where the model, the gists
        or the lens are others now.
        """
        return self._open.resume(progress)

    def focus_trace(self) -> Trace:
        """Return what the present lifetime context's trace holds so far; raises UsageError when nothing is open."""
        return self._open.trace()

    def block(self, reference: str | None) -> Block:
        """Return the block that a word names: its id, the start of it, or a source path.

        Raises UsageError, UnknownBlockError or AmbiguousIdError.
        """
        if reference is None:
            raise UsageError("No block is selected.", way_out="Give one, or `select` it first.")
        if reference.endswith(".md") or "#" in reference or "/" in reference:
            block_ids = self.memory.resolve_source(reference)
            if block_ids:
                return self.memory.block(block_ids[0])
        return self.memory.block(reference)

    def read_piped_text(self) -> str:
        """Give what was piped into the command line. Raises UsageError where nobody typed one, InputError for other
        bytes.
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
        """Close the store and the trace; the engine keeps its settings."""
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
        """Say what closing waits for, once it has taken a second, and every few seconds from then on."""
        from amgs.types import Progress

        due = time.monotonic() + SILENT_SECONDS

        def report(done: int, total: int, doing: str) -> None:
            nonlocal due
            if time.monotonic() >= due:
                due = time.monotonic() + _BETWEEN_LINES
                self.warn(f"Closing the memory: {doing}, {done:,} of {total:,} …")

        return Progress(report)

    def discard(self) -> None:
        """Close the store, and remove one that was made for nothing: what was to go into it was refused."""
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
        """Yield held by what may move the working context; who only reads the memory does not wait for it."""
        with self._open.working():
            yield

    def give_way(self) -> None:
        """Let whoever waits in `working` go first; called by what holds it for long, where the working context may
        change under it.
        """
        self._open.give_way()

    def enter_corpus(self) -> None:
        """Move to the year of the corpus, if it lives in its own; a run with --now stays where it is."""
        self._year.enter(self.corpus.now, self._memory)

    @property
    def sample_time(self) -> bool:
        """Return whether the clock shows the year of a corpus instead of the real one."""
        return self._year.is_entered

    # --- inside -----------------------------------------------------------------------------------------

    def _open_memory(self) -> Memory:
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

    def _let_others_in(self) -> None:
        """Remove the socket that a killed process left, and listen at one's own where others are to be let in."""
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
        """Return the memory, as soon as no other process has its store open.

        Raises StoreLockedError where one and the same process keeps it for longer than the settings allow, and at once
        where that process lets this one in.
        """
        patience, place, has_warned = self.settings.store.wait_seconds, self.store_path, False

        def look(error: StoreLockedError, waited: float) -> None:
            nonlocal has_warned
            if self.join is not None and isinstance(place, Path) and holder_of(place) is not None:
                raise error
            if address := address_at(self.beside_store(ENDING)):
                way_out = f"It is served there: `amgs --connect {address}` works with it."
                raise StoreLockedError(error.message, way_out=way_out, title="The store is served") from error
            if SILENT_SECONDS <= waited < patience and not has_warned:
                has_warned, who = True, f"process {error.process}" if error.process else "another process"
                self.warn(f"{self.store_name} is in use by {who}: waiting up to {patience:g} seconds; ctrl-c stops.")

        return wait_for_store(place, open_memory, patience, look)

    def _summariser(self) -> AbstractiveSummariser:
        """Return what writes digests where `abstractive` is asked for: the model's server, or else the language model
        here.
        """
        from amgs.conversation.written import ModelSummariser
        from amgs_app.models.local_model import LocalModel

        return ModelSummariser(self.model_server or LocalModel(self._models.base))

    def _take_shipped_store(self) -> bool:
        """Begin the sample with the store that ships with it, unless other models would read its notes; whether that
        was done.
        """
        asked = self.creates or self.options.corpus is not None
        if self.options.store is not None or self.is_own or not self.corpus.is_sample or self.options.read_only:
            return False
        from amgs_app.places.sample_store import unpack

        path = self.store_path
        if not asked or not isinstance(path, Path) or path.exists() or not self._models.are_shipped:
            return False
        self.make_data_folder()
        return unpack(path)

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the model's tokenizer makes of a text; an estimate where none is installed."""
        return self._models.texts()[2](text)

    def make_data_folder(self) -> None:
        """Make the folder of the stores that no option names; any other one is the operator's to make."""
        if self.options.store is None and isinstance(self.store_path, Path):
            with saying_refusals():
                self.store_path.parent.mkdir(parents=True, exist_ok=True)

    @property
    def corpus_name(self) -> str:
        """Name of the corpus that the open store belongs to; empty for a memory of the user's own."""
        return self.corpus.name if not self.is_own and self._holds_corpus(self.memory) else ""

    def _holds_corpus(self, memory: Memory) -> bool:
        """Return whether the store is this corpus's own, or an explicit store that has taken the corpus in."""
        if self.belongs_to_corpus:
            return True
        known = self.corpus.landmarks() if self.corpus.now is not None else ()
        return memory.has_source(known)

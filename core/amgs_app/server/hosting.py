"""Namespaces of a server: each has a store, opened on first use, its own threads, and live events.

Reads run in parallel, each in a snapshot; writes in turn in their own thread, long work in another: the write lock is
held per transaction. The language model belongs to a single thread.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from amgs.errors import AmgsError, NotFoundError, UsageError
from amgs_app.places.folders import ENDING, announce
from amgs_app.results.service_event import ServiceEvent
from amgs_app.server.limits import Turns
from amgs_app.server.tokens import NAMESPACE
from amgs_app.shell.output import say

if TYPE_CHECKING:
    from amgs.memory import Memory
    from amgs.types import StoreChange
    from amgs_app.engine import Engine, Options
    from amgs_app.server.span_export import SpanExport


KEPT: Final = 4096
"""Changes that can be replayed to a client that reconnects."""
RECENT: Final = 500
"""Latest requests and changes that `traffic` lists."""
WAITING: Final = 512
"""Events that may queue for a listener; a slower listener is disconnected with the event `dropped`."""


@dataclass(eq=False)
class _Listener:
    """A connected client. loop: its event loop. slow: its queue overflowed, so it will be disconnected."""

    loop: asyncio.AbstractEventLoop
    queue: asyncio.Queue[ServiceEvent]
    slow: bool = field(default=False)


class EventHub:
    """Delivers events to all listeners. `publish` may be called from any thread. now: the time of the events.

    Changes are numbered by the store's change counter, so that a client that reconnects can ask for those it missed
    (`Last-Event-ID`). Requests that changed nothing go only to current listeners.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._kept: deque[ServiceEvent] = deque(maxlen=KEPT)
        self._recent: deque[ServiceEvent] = deque(maxlen=RECENT)
        self._listeners: set[_Listener] = set()
        self._forgotten = 0
        self._followed = False
        self.on_event: Callable[[ServiceEvent], object] = lambda _event: None
        """Is called with every event, in the thread that publishes it."""

    def follow(self, earlier: Sequence[ServiceEvent], forgotten: int) -> None:
        """From now on take changes from the store, by `tell`, so that changes by other programs are included.

        earlier: changes that can be replayed. forgotten: change number up to which none can be replayed.
        """
        with self._lock:
            self._followed, self._forgotten = True, forgotten
            self._kept.clear()
            self._kept.extend(earlier)

    def tell(self, event: ServiceEvent, *, own: bool) -> None:
        """Publish a change read from the store. own: this server made it, and publishes the request itself."""
        with self._lock:
            if not own:
                self._recent.append(event)
            listeners = self._note_event(event)
        for listener in listeners:
            listener.loop.call_soon_threadsafe(_offer, listener, event)

    @property
    def listeners(self) -> int:
        """Number of current listeners."""
        return len(self._listeners)

    def recent(self) -> tuple[ServiceEvent, ...]:
        """Return the latest requests and changes, newest first."""
        with self._lock:
            return tuple(reversed(self._recent))

    def publish(self, event: ServiceEvent) -> None:
        """Deliver an event to all listeners; never blocks."""
        with self._lock:
            self._recent.append(event)
            known = self._followed and event.kind == "changed"
            listeners = () if known else self._note_event(event)
        self.on_event(event)
        for listener in listeners:
            listener.loop.call_soon_threadsafe(_offer, listener, event)

    def _note_event(self, event: ServiceEvent) -> tuple[_Listener, ...]:
        """Store a change for replay; return the current listeners."""
        if event.kind == "changed":
            if len(self._kept) == KEPT:
                self._forgotten = self._kept[0].change
            self._kept.append(event)
        return tuple(self._listeners)

    async def listen(self, after: int | None = None, now: int = 0) -> AsyncIterator[ServiceEvent]:
        """Yield events from now on; with `after`, first the changes since that change number.

        now: the store's change counter. Ends with an event of kind `dropped` if the listener is too slow or asks for
        changes that are no longer stored.
        """
        listener = _Listener(asyncio.get_running_loop(), asyncio.Queue(WAITING))
        with self._lock:
            missed = [event for event in self._kept if after is not None and event.change > after]
            known = self._forgotten <= after <= now if after is not None else True
            # Changes of an earlier run of the server are lost: a client that missed them must reload.
            first = missed[0].change if missed else now
            self._listeners.add(listener)
        try:
            late = first > after and not missed and not self._followed if after is not None else False
            if after is not None and (not known or late):
                yield ServiceEvent("dropped", now, self._now())
                return
            for event in missed:
                yield event
            while not listener.slow or not listener.queue.empty():
                yield await listener.queue.get()
            yield ServiceEvent("dropped", now, self._now(), got="too slow")
        finally:
            with self._lock:
                self._listeners.discard(listener)


def _offer(listener: _Listener, event: ServiceEvent) -> None:
    """Put an event into a listener's queue; mark the listener slow if the queue is full."""
    if listener.slow:
        return
    if listener.queue.full():
        listener.slow = True
        return
    listener.queue.put_nowait(event)


LOOK_SECONDS: Final = 1.0
"""Seconds after which the change counter is checked even without a notice from the database."""
_AT_ONCE: Final = 500
"""Changes read at a time."""
SOMEBODY: Final = "another program"
"""Caller shown for a change that does not name its caller."""


class Follower:
    """A thread that publishes every change of a shared store as an event, whichever program did it.

    server: the signature of this server's own changes.
    """

    def __init__(self, memory: Memory, events: EventHub, server: str, now: Callable[[], datetime]) -> None:
        self._memory = memory
        self._events = events
        self._server = server
        self._now = now
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="amgs-follow", daemon=True)
        self._at = memory.change_counter
        first = max(self._at - KEPT, 0)
        changes = memory.changes.since(first, KEPT)
        earlier = [self._event(change) for change in changes if change.revision <= self._at]
        events.follow(earlier, earlier[0].change - 1 if earlier else self._at)
        self._thread.start()

    def close(self) -> None:
        """Stop following; waits for the thread to end."""
        self._ending.set()
        self._thread.join()

    def _follow(self) -> None:
        """Wait for notices from the store and publish changes, until `close`."""
        while not self._ending.is_set():
            try:
                self._memory.changes.wait(LOOK_SECONDS)
                self._look()
            except AmgsError:  # the database is away: what was missed is told when it is back
                self._ending.wait(LOOK_SECONDS)

    def _look(self) -> None:
        """Publish all changes since the last published change."""
        while changes := self._memory.changes.since(self._at, _AT_ONCE):
            for change in changes:
                self._events.tell(self._event(change), own=change.server == self._server)
            self._at = changes[-1].revision

    def _event(self, change: StoreChange) -> ServiceEvent:
        """Return a store change as an event."""
        return ServiceEvent(
            "changed",
            change.revision,
            self._now(),
            change.operation or "change",
            change.caller or (f"process {change.program}" if change.program else SOMEBODY),
            outcome="done",
            client=change.client,
        )


R = TypeVar("R")
Lane = Literal["read", "write", "long", "model", "background"]

READERS: Final = 4
"""Threads that read one namespace in parallel; more would only wait for the interpreter's lock."""

DEFAULT: Final = "default"
"""Namespace of a caller that names none and whose token has no first namespace."""


class Namespace:
    """One served store. Its engine opens with the first request, in that request's thread.

    folder: the folder of the store; removed from error messages. address: where clients reach it, written beside the
    store for programs that find the store locked. engine: an engine that is already open, instead of a new engine.
    """

    def __init__(
        self, name: str, options: Options, folder: Path, address: str = "", engine: Engine | None = None
    ) -> None:
        from amgs_app.engine import Engine

        self.name = name
        self.folder = folder
        self.engine: Engine = engine or Engine(options)
        if engine is None:
            self.engine.warn = lambda line: logging.getLogger("amgs.server").warning("%s", line)
        self.events = EventHub(lambda: self.engine.clock.now())
        self.engine.traffic = self.events.recent
        self.engine.make_data_folder()
        place = self.engine.beside_store(ENDING) if address else None
        self.server = secrets.token_hex(8)
        """How changes that this server makes are signed, where others change the memory too."""
        self.drafted_at: float | None = None
        """When somebody last drafted a consolidation, in seconds of the service's clock."""
        self.spans: SpanExport | None = None
        """Who is told, as spans, what is asked here; None for nobody."""
        self._follower: Follower | None = None
        self._following = threading.Lock()
        self._announced = None if place is None else announce(place, address)
        self._lanes: dict[Lane, ThreadPoolExecutor] = {
            "read": ThreadPoolExecutor(READERS, f"amgs-{name}-read"),
            "write": ThreadPoolExecutor(1, f"amgs-{name}-write"),
            "long": ThreadPoolExecutor(1, f"amgs-{name}-long"),
            "model": ThreadPoolExecutor(1, f"amgs-{name}-model"),
            "background": ThreadPoolExecutor(1, f"amgs-{name}-background"),
        }
        self._turns: dict[Lane, Turns] = {"read": Turns(READERS), "write": Turns(1)}

    @property
    def memory(self) -> Memory:
        """The open memory; raises StoreError if it cannot be opened."""
        return self.engine.memory

    @property
    def change(self) -> int:
        """The store's change counter; 0 while the store is not open."""
        return self.engine.memory.committed_changes if self.engine.memory_is_open else 0

    async def follow(self) -> None:
        """Publish changes by other programs too, if the store is a database that several can share."""
        from amgs.storage.opening import is_address

        if is_address(self.engine.store_path):
            await self.run("read", self._follow)

    def _follow(self) -> None:
        with self._following:
            if self._follower is None:
                self._follower = Follower(self.memory, self.events, self.server, self.engine.clock.now)

    def holding(self, lane: Lane) -> AbstractContextManager[None]:
        """Return a context that holds the working context for lanes that use it; a no-op for others."""
        return self.engine.working() if lane in ("model", "background") else nullcontext()

    async def run(self, lane: Lane, work: Callable[[], R], caller: str = "") -> R:
        """Run blocking work in a lane when it is the caller's turn; raises what it raises, and BusyError."""
        turns = self._turns.get(lane)
        async with nullcontext() if turns is None else turns.turn(caller):
            return await asyncio.get_running_loop().run_in_executor(self._lanes[lane], work)

    def end_lanes(self) -> None:
        """Wait for running work and cancel what has not begun; the store stays open."""
        for lane in self._lanes.values():
            lane.shutdown(wait=True, cancel_futures=True)
        if self._follower is not None:
            self._follower.close()

    def close(self) -> None:
        """Wait for running work, and close the store."""
        self.end_lanes()
        self.engine.close()
        if self._announced is not None:
            Path(self._announced.name).unlink(missing_ok=True)
            self._announced.close()


class Namespaces:
    """The namespaces of a server, by name. Safe to use from any thread."""

    def __init__(self, options: Options, root: Path | str | None = None) -> None:
        """options: for every engine. root: a folder with a store per namespace, or the address of a database with a
        schema per namespace; None to serve the one store that the options name. Raises UsageError for an invalid root.
        """
        from amgs.storage.opening import in_namespace, is_address

        self._database = str(root) if root is not None and is_address(root) else ""
        self._root = None if root is None or self._database else Path(root)
        if self._database:
            in_namespace(self._database, DEFAULT)
        elif self._root is not None:
            if self._root.exists() and not self._root.is_dir():
                raise UsageError(f"{root} is not a folder.", way_out="Give a folder for the namespaces.")
            self._root.mkdir(parents=True, exist_ok=True)
        self.address = ""
        """Where clients reach the server; known once it listens."""
        self.several = root is not None
        self.gateway = False
        """Whether agents reach their model through the server."""
        self.spans: SpanExport | None = None
        """Who is told, as spans, what is asked; None for nobody."""
        self.listening: socket.socket | None = None
        """Where other programs of this machine are let in, beside the store."""
        self._options = options
        self._lock = threading.Lock()
        self._open: dict[str, Namespace] = {}

    def get(self, name: str) -> Namespace:
        """Return the namespace with this name, creating it on first use; raises NotFoundError if the server has no such
        name.
        """
        with self._lock:
            namespace = self._open.get(name)
            if namespace is None:
                options = self._options_of(name) if NAMESPACE.fullmatch(name) else None
                if options is None:
                    raise NotFoundError(
                        "There is no such namespace.", way_out="Ask for a namespace that your token opens."
                    )
                address = f"{self.address}/{name}" if self.address and self.several else self.address
                namespace = Namespace(name, options, self._folder(), address)
                self._open[name] = namespace
            namespace.engine.gateway, namespace.spans = self.gateway, self.spans
            return namespace

    def open_shared(self) -> Namespace:
        """Open the only namespace's store, and listen on its socket for other programs of this machine. Raises
        StoreError.
        """
        from amgs.extras import is_installed
        from amgs_app.server.running import NEEDED

        space = self.get(DEFAULT)
        if all(map(is_installed, NEEDED)):
            space.engine.share = self._store_socket
        _ = space.engine.settings  # reading them logs a line about ignored ones
        space.engine.warn = say
        _ = space.memory
        return space

    def _store_socket(self, listening: socket.socket) -> Callable[[], None]:
        """Store the socket on which other programs connect; `letting_in` serves it. Return what ends that: nothing."""
        self.listening = listening
        return lambda: None

    def adopt(self, engine: Engine) -> Namespace:
        """Add the namespace of an engine that another owner opened and will close."""
        space = Namespace(DEFAULT, self._options, self._folder(), engine=engine)
        self._open[DEFAULT] = space
        return space

    @property
    def place(self) -> str:
        """Location that is served: a store, or the folder or database of the namespaces' stores."""
        from amgs_app.engine import Engine

        return self._database or str(self._root or Engine(self._options).store_path)

    @property
    def name(self) -> str:
        """Short name of `place`, without its path."""
        return Path(self.place).name

    def _options_of(self, name: str) -> Options | None:
        """Return the options for a namespace's engine; None for a name that cannot exist here."""
        if self._database:
            from amgs.storage.opening import in_namespace

            try:
                return replace(self._options, store=in_namespace(self._database, name), own=False)
            except UsageError:  # a schema cannot have this name
                return None
        if self._root is None:
            return self._options if name == DEFAULT else None
        return replace(self._options, store=str(self._root / f"{name}.duckdb"), own=False)

    def _folder(self) -> Path:
        """Return the folder in which the stores are."""
        if self._root is not None:
            return self._root
        from amgs_app.engine import Engine

        path = Engine(self._options).store_path
        return path.parent if isinstance(path, Path) else Path()

    def list_opened(self) -> tuple[Namespace, ...]:
        """Return the namespaces used since the server started."""
        with self._lock:
            return tuple(self._open.values())

    def close(self) -> None:
        """Close every store."""
        for namespace in self.list_opened():
            namespace.close()
        if self.spans is not None:
            self.spans.close()

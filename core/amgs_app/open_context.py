"""The open lifetime context of an engine (the token sequence that the focus engine works on): open, resume, replace,
close.

Owned by `Engine`. At most one is open; its steps go to a trace file, from which a later session can resume.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amgs.errors import UsageError
from amgs.incoming import real_path

if TYPE_CHECKING:
    from amgs.clock import Clock
    from amgs.types import Progress
    from amgs_app.models.choice import LoadedModels
    from amgs_app.results.focus import LastRun
    from amgs_app.settings import WorkstationSettings
    from amgs_focus.gist import GistEncoder
    from amgs_focus.options import SearchOptions, TextEncoder
    from amgs_focus.runtime.runtime import FocusRuntime
    from amgs_focus.settings import FocusSettings
    from amgs_focus.trace.events import Trace
    from amgs_focus.trace.trace import TraceWriter
    from amgs_focus.tree.gist_tree import LifetimeTree
    from amgs_focus.views import FocusView

READING_IN = "reading in"
"""Label in the focus engine's progress reports while it reads a text of a lifetime."""


class OpenContext:
    """At most one focus runtime, its trace, and the folder in which its lifetime is stored.

    place: returns the trace's path, None where none is written; called when it is needed.
    """

    def __init__(
        self,
        models: LoadedModels,
        settings: Callable[[], WorkstationSettings],
        clock: Clock,
        seed: int,
        place: Callable[[], Path | None],
    ) -> None:
        self._models = models
        self._settings = settings
        self._clock = clock
        self._seed = seed
        self._place = place
        self._at_work = threading.Condition()
        self._waiting = 0
        self._counting = threading.Lock()
        self._view: FocusView | None = None
        self._runtime: FocusRuntime | None = None
        self._trace: TraceWriter | None = None
        self._kept: Path | None = None

    @property
    def is_open(self) -> bool:
        return self._runtime is not None

    @property
    def runtime(self) -> FocusRuntime:
        """The focus engine with its lifetime context; raises UsageError if none is open."""
        if self._runtime is None:
            raise self._nothing_open()
        return self._runtime

    @property
    def view(self) -> FocusView | None:
        """Snapshot of the focus engine, None while none is open.

        Loads nothing. While another thread works with the engine, this is the last snapshot.
        """
        if self._runtime is None:
            return None
        if self._at_work.acquire(blocking=False):
            try:
                self._view = self._runtime.snapshot()
            finally:
                self._at_work.release()
        return self._view

    @contextmanager
    def working(self) -> Iterator[None]:
        """Hold the lock of the working context while the block runs, and count as waiting until it is free."""
        self._count(+1)
        try:
            self._at_work.acquire()
        finally:
            self._count(-1)
        try:
            yield
        finally:
            self._at_work.notify_all()
            self._at_work.release()

    def give_way(self) -> None:
        """Release the lock until no thread waits for it."""
        with self._at_work:
            while self._waiting:
                self._at_work.wait()

    def _count(self, change: int) -> None:
        """Change the number of waiting threads."""
        with self._counting:
            self._waiting += change

    def begin(
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
        from amgs_focus.tree.gist_tree import LifetimeTree

        progress = None if progress is None else _one_total(progress, len(segments))
        model, gist = self._models.base(progress), self._models.gist()
        settings = self._settings().focus
        tree = None
        if folder is not None:
            if self._kept == real_path(folder) and self._runtime is not None:
                self.let_go()  # it has the same folder open
                self._runtime = None
            tree = LifetimeTree.open(folder, model, gist, block_size=settings.block_size)

        def fill(runtime: FocusRuntime) -> None:
            if segments:
                runtime.ingest(segments, progress)
            if question:
                runtime.question(question, progress)

        encoder = self._models.text_encoder()
        return self._replace(settings, self._seed, fill, gist, tree, folder, encoder)

    def last_run(self) -> LastRun:
        """Return the summary of the trace that an earlier session left; empty while a context is open."""
        from amgs_app.results.focus import LastRun
        from amgs_focus.trace.lineage import summary

        trace = None if self._runtime is not None else self._read_trace()
        if trace is None:
            return LastRun(str(self._place() or ""), None)
        return LastRun(str(self._place()), summary(trace, str(self._place())), trace.header.kept)

    def resume(self, progress: Progress | None = None) -> tuple[str, int]:
        """Replay the trace of an earlier session; return the trace's path and the number of steps replayed.

        Raises UsageError if there is no trace or a context is open already, TraceError if the model, the gists or the
        lens have changed since.
        """
        from amgs_focus.options import SearchOptions
        from amgs_focus.runtime.replay import replay
        from amgs_focus.settings import FocusSettings

        if self._runtime is not None:
            raise UsageError(
                "A working context is open already.", way_out="Resume in a new session, before opening anything."
            )
        trace = self._read_trace()
        if trace is None:
            raise UsageError(
                "There is no earlier working context to resume.",
                title="Nothing to resume",
                way_out="Open a context: `frame assemble SESSION`, then `frame open`; or `focus open FILE`.",
            )
        path = str(self._place())
        if trace.header.kept:
            return path, self.begin((), "", progress, folder=Path(trace.header.kept)).state.step
        settings = FocusSettings.model_validate(dict(trace.header.settings))
        gist = self._models.gist(progress)
        encoder = self._models.text_encoder() if trace.header.text_encoder else None
        steps = 0

        def fill(runtime: FocusRuntime) -> None:
            nonlocal steps
            steps = replay(trace, runtime, progress)

        options = SearchOptions.of(trace.header.search)
        self._replace(settings, settings.seed, fill, gist, None, None, encoder, options)
        return path, steps

    def trace(self) -> Trace:
        """Return the trace of the open lifetime context so far; raises UsageError if none is open."""
        from amgs_focus.trace.trace import read

        if self._trace is None:
            raise self._nothing_open()
        return read(self._trace.raw(), allow_incomplete=True)

    def let_go(self) -> None:
        """Close the trace file, and the lifetime's files if it has a folder; the last view stays readable."""
        if self._trace is not None:
            self._trace.close()
            self._trace = None
        if self._kept is not None and self._runtime is not None:
            self._runtime.close()
            self._kept = None

    def _read_trace(self) -> Trace | None:
        """Read the trace beside the store; None if it is missing, unreadable or has nothing to resume."""
        from amgs_focus.errors import FocusError
        from amgs_focus.trace.trace import read

        path = self._place()
        if path is None or not path.is_file():
            return None
        try:
            trace = read(path, allow_incomplete=True)
        except FocusError:
            return None
        return trace if trace.events or trace.header.kept else None

    def _replace(
        self,
        settings: FocusSettings,
        seed: int,
        fill: Callable[[FocusRuntime], None],
        gist: GistEncoder,
        tree: LifetimeTree | None,
        folder: Path | None,
        encoder: TextEncoder | None,
        search_options: SearchOptions | None = None,
    ) -> FocusRuntime:
        """Build a new focus engine, let `fill` add its texts, and only then replace the open engine; on any error the
        old engine stays.
        """
        from amgs_app.models.choice import focus_runtime

        path = self._place()
        # Under another name until the new context stands: a cancelled opening leaves the old trace alone.
        fresh = None if path is None else path.with_name(f"{path.name}.new")
        writer = None
        try:
            runtime, writer = focus_runtime(
                self._models.base(),
                settings,
                seed,
                self._clock,
                fresh,
                gist=gist,
                tree=tree,
                tree_folder=folder,
                encoder=encoder,
                search_options=search_options,
                checkpoints=self._models.checkpoints,
            )
            fill(runtime)
        except BaseException:
            if writer is not None:
                writer.close()
            if tree is not None:
                tree.close()
            if fresh is not None:
                fresh.unlink(missing_ok=True)
            raise
        self.let_go()
        if path is not None and fresh is not None:
            fresh.replace(path)
            writer.follow_file(path)
        self._runtime, self._trace, self._view = runtime, writer, runtime.snapshot()
        self._kept = real_path(folder) if folder is not None else None
        return runtime

    def _nothing_open(self) -> UsageError:
        """Return the error that no context is open, with how to open or resume it."""
        left = self._read_trace() is not None
        return UsageError(
            "No working context is open in this session.",
            title="Nothing is open",
            way_out=("`focus trace --resume` continues the last context. " if left else "")
            + "Open a context with `frame open` or `focus open FILE`. "
            "Single commands on the command line keep none open: use `amgs shell`, "
            "a script (`amgs run FILE`), or a folder (`focus open --lifetime DIR`).",
        )


def _one_total(progress: Progress, texts: int) -> Progress:
    """Return a progress that counts once for the whole opening: the model, then each text.

    Every phase starts its own count with every text, from which nobody could tell how long the opening takes.
    """
    from amgs.types import Progress

    place = 0

    def report(done: int, total: int, doing: str) -> None:
        nonlocal place
        del total
        if doing == READING_IN:
            place = 1 + done
        progress(place, 1 + texts, doing if not place else READING_IN)

    return Progress(report)

"""A small real memory for the screen's tests: both engines on the tiny model; a test can hold or break a request."""

from __future__ import annotations

import shutil
import tempfile
import threading
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from amgs.clock import FixedClock
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.types import Block, BlockFilter, JournalEntry, Progress
from amgs_app.calls.registry import standard
from amgs_app.engine import Engine, Options
from amgs_app.session import Operator
from amgs_tui.messages import Answer, EngineRequest, Execute, run_through_registry

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
NOTES = (
    ("Dome motor log", "The encoder slipped after the cold night; the dome stood still"),
    ("Night of 14 May", "At two in the morning the dome stood still"),
    ("Encoder supplier", "The workshop in Chur sends a new encoder within a week"),
    ("What Ilse values", "Ilse values a quiet night more than a clear one"),
    ("Snow on the access road", "The road stays closed above the second bend until April"),
    ("Mirror cleaning procedure", "Wash it with distilled water and never with alcohol"),
    ("Budget for the spring", "Four thousand francs are left for paint and a ladder"),
    ("Call with the valley school", "Twenty pupils come on the ninth to look at Saturn"),
)
_STORES = tempfile.TemporaryDirectory(prefix="amgs-screen-tests-")


def draft(number: int, days: float) -> RawBlock:
    """The note of this number, so many days old."""
    title, text = NOTES[number % len(NOTES)]
    link = NOTES[2 if number % len(NOTES) == 0 else 0][0]
    content = f"# {title}\n{text} ({number}). See [[{link}]]."
    return RawBlock(content, NOW - timedelta(days=days), {"title": title, "source": f"notes/{number:03d}.md"})


@cache
def _prepared(raw: int, consolidated: int) -> Path:
    """A folder with a store that holds so many raw notes (0, 1, …; a day between them) and consolidated ones (100,
    101, …; three days between them), made once.
    """
    folder = Path(_STORES.name) / f"{raw}-{consolidated}"
    folder.mkdir()
    corpus = folder / "corpus"
    corpus.mkdir()
    for number in range(200, 205):
        (corpus / f"{number}.md").write_text(draft(number, 0).content)
    with Memory.open(folder / "observatory.duckdb", clock=FixedClock(NOW)) as memory:
        if consolidated:
            memory.ingest_many([draft(100 + n, 3 * n) for n in range(consolidated)])
            memory.apply_consolidation(memory.plan_consolidation())
        if raw:
            memory.ingest_many([draft(n, n) for n in range(raw)])
    return folder


class World:
    """A store of its own, the session on it, and what the screen asked of it.

    held: verbs that wait until `release`, reporting progress meanwhile, before they are carried out. broken: verbs
    that fail, with their error."""

    def __init__(self, raw: int = 8, consolidated: int = 0) -> None:
        self._folder = Path(tempfile.mkdtemp(dir=_STORES.name))
        shutil.copytree(_prepared(raw, consolidated), self._folder, dirs_exist_ok=True)
        self.store = self._folder / "observatory.duckdb"
        self.held: set[str] = set()
        self.broken: dict[str, Exception] = {}
        self.calls: list[EngineRequest] = []
        self.threads: set[int] = set()
        self.session: Operator
        self._gate = threading.Event()

    def open(self) -> Operator:
        """The session of the workstation, as its engine's thread opens it."""
        corpus = self._folder / "corpus"
        self.session = Operator(Engine(Options(store=str(self.store), corpus=corpus, model="tiny", now=NOW, seed=7)))
        return self.session

    def release(self) -> None:
        """Let the held verbs go on."""
        self._gate.set()

    @property
    def execute(self) -> Execute:
        def run(session: Any, request: EngineRequest, progress: Progress) -> Answer:
            self.calls.append(request)
            self.threads.add(threading.get_ident())
            call = standard().parse(request.line) if request.line else None
            name = call.operation.name if call is not None else request.command
            if name in self.held:
                self._hold(progress)
            if name in self.broken:
                raise self.broken[name]
            return run_through_registry(session, request, progress)

        return run

    def _hold(self, progress: Progress) -> None:
        done = 0
        while not self._gate.wait(0.05):
            done = min(done + 1, 40)
            progress(done, 40, "embedding")
        self._gate.clear()

    # --- what was asked -----------------------------------------------------------------------------------

    def commands(self) -> list[str]:
        """What was asked so far, by name or line."""
        return [request.line or request.command for request in self.calls]

    def asked(self, command: str) -> list[dict[str, Any]]:
        """The arguments of each request of a verb, the earliest first."""
        return [dict(request.arguments) for request in self.calls if request.command == command]

    # --- what the memory holds now ------------------------------------------------------------------------

    def ask(self, line: str) -> Any:
        """Carry a line out in the test's own thread, while the engine rests, and leave no trace of it."""
        call = standard().parse(line)
        assert call is not None
        return call.run(self.session)

    @property
    def raw(self) -> tuple[Block, ...]:
        """What waits in the inbox, as it is listed."""
        blocks: tuple[Block, ...] = self.ask("inbox list --limit 10000").blocks
        return blocks

    @property
    def consolidated(self) -> tuple[Block, ...]:
        """The consolidated blocks, the newest first."""
        return self.session.engine.memory.blocks(BlockFilter(statuses=("consolidated",)))

    @property
    def operations(self) -> tuple[JournalEntry, ...]:
        """The journal, the newest first."""
        return self.session.engine.memory.operations()

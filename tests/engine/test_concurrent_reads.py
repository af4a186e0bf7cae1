"""Reading beside a writer: every read is of one committed state, nothing hangs, nothing is torn."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from amgs.clock import FixedClock
from amgs.derived.search_indexes import MOST, RawVectors
from amgs.errors import AmgsError
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.settings import ConsolidationSettings, PruningSettings, Settings
from amgs.storage.duckdb.connection import Connection
from amgs.storage.duckdb.storage import DuckDBStorage
from amgs.text.embedding import HashingEmbedder
from amgs.types import BlockFilter, Progress, SearchResult, Vector
from tests.engine.memory_world import open_memory

WORDS = ("dome", "motor", "slipped", "frost", "mirror", "school", "budget", "visit", "lens", "fog", "roof", "lamp")
QUERIES = ("the dome motor slipped", "frost on the mirror", "school budget visit")
BATCHES = Settings(
    consolidation=ConsolidationSettings(batch=4, transaction=8), pruning=PruningSettings(centrality=1, confidence=1)
)
AT = datetime(2026, 2, 1, tzinfo=UTC)
SECONDS = 120.0


def drafts(count: int, seed: int = 3) -> list[RawBlock]:
    draw = random.Random(seed)
    return [
        RawBlock(
            f"# Note {seed}-{n}\n\n{' '.join(draw.choices(WORDS, k=18)).capitalize()}.",
            AT + timedelta(hours=n),
            {"source": f"notes/{seed}-{n // 6}.md#{n % 6}"},
        )
        for n in range(count)
    ]


Seen = tuple[tuple[str, str, str | None, float], ...]


def seen(found: SearchResult) -> Seen:
    """What a search gave, as the operator sees it."""
    return tuple((h.block.id, h.block.status, h.block.category, round(h.score, 6)) for h in found.hits)


class Readers:
    """Threads that read over and over until the block ends, and hand on the first error."""

    def __init__(self, *reads: Callable[[], object]) -> None:
        self.errors: list[BaseException] = []
        self.rounds = [0] * len(reads)
        self.over = threading.Event()
        self.threads = [
            threading.Thread(target=self._read, args=(place, read), daemon=True) for place, read in enumerate(reads)
        ]

    def _read(self, place: int, read: Callable[[], object]) -> None:
        try:
            while not self.over.is_set():
                read()
                self.rounds[place] += 1
        except BaseException as error:  # noqa: BLE001 - shown by the test
            self.errors.append(error)

    def another_round(self) -> None:
        """Wait until each of them has begun and ended a read since now."""
        wanted = [done + 2 for done in self.rounds]
        waits = threading.Event()
        for _ in range(int(SECONDS * 1000)):
            if self.errors or all(now >= then for now, then in zip(self.rounds, wanted, strict=True)):
                return
            waits.wait(0.001)
        raise AssertionError("a reader hangs")

    def __enter__(self) -> Readers:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        for thread in self.threads:
            thread.join(SECONDS)
            assert not thread.is_alive(), "a reader hangs"
        for error in self.errors:
            raise error


@pytest.mark.parametrize("where", [":memory:", "a file"])
def test_a_search_beside_a_consolidation_equals_one_on_a_committed_state(tmp_path: Path, where: str) -> None:
    with open_memory(settings=BATCHES) as twin:
        twin.ingest_many(drafts(40))
        states = [{query: seen(twin.search(query)) for query in QUERIES}]
        states += [{query: seen(twin.search(query)) for query in QUERIES} for _ in twin.consolidate_in_batches()]
    path = where if where == ":memory:" else tmp_path / "m.duckdb"
    with open_memory(path, settings=BATCHES) as memory:
        memory.ingest_many(drafts(40))
        found: list[list[tuple[str, Seen]]] = [[], []]

        def read(mine: list[tuple[str, Seen]]) -> None:
            mine.extend((query, seen(memory.search(query))) for query in QUERIES)

        with Readers(*(lambda mine=mine: read(mine) for mine in found)) as readers:
            readers.another_round()
            for _ in memory.consolidate_in_batches():
                readers.another_round()
        assert memory.verify().faults == ()
    assert len(states) == 6
    for mine in found:
        at = 0
        for query, hits in mine:
            fits = [n for n, state in enumerate(states) if state[query] == hits]
            assert fits, f"{query!r}: the hits are of no committed state"
            assert fits[-1] >= at, "a later search saw an earlier state"
            at = max(at, fits[0])
        assert at == len(states) - 1


def test_reads_of_every_kind_stand_three_threads_beside_a_writer(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.duckdb", settings=BATCHES) as memory:
        memory.ingest_many(drafts(12))
        for _ in memory.consolidate_in_batches():
            pass
        rounds = iter(range(10**9))

        def asks() -> None:
            memory.search(QUERIES[next(rounds) % 3])
            memory.assemble("SESSION", query="the dome motor", reinforce=False)

        def looks() -> None:
            with_id = memory.blocks(BlockFilter(), limit=3)
            explained = next(rounds) % 3  # one `why` takes as long as eight other looks
            for place, block in enumerate(with_id):
                try:
                    memory.neighbourhood(block.id)
                    if place == explained:
                        memory.why("the dome motor", block.id)
                    memory.decay_curve(block.id)
                except AmgsError as error:  # gone between the list and the look
                    assert "No block id" in error.message
            memory.graph_stats()

        def lists() -> None:
            assert memory.status().edges >= 0
            memory.forecast()
            memory.find("note 3")
            memory.operations()
            memory.health()

        with Readers(asks, looks, lists) as readers:
            for turn in range(2):
                memory.ingest_many(drafts(12, seed=100 + turn))
                readers.another_round()
                done = [operation for _, operation in memory.consolidate_in_batches()]
                memory.assemble("SESSION", query="frost on the mirror")
                readers.another_round()
                if turn != 1:
                    memory.undo(done[-1].id)
                plan = memory.lifecycle.plan_pruning(threshold=0.99)
                memory.lifecycle.apply_pruning(plan)
                readers.another_round()
        assert memory.verify().faults == ()


def test_what_is_committed_while_the_health_is_read_does_not_tear_it(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = Connection.columns

    def late(self: Connection, sql: str, *more: Any, **how: Any) -> Any:
        if "VARCHAR[], category)" in sql:  # the categories were listed just now
            writing = threading.Thread(target=memory.consolidate)
            writing.start()
            writing.join(SECONDS)
        return columns(self, sql, *more, **how)

    monkeypatch.setattr(Connection, "columns", late)
    with open_memory() as memory:
        memory.ingest_many(drafts(4))
        assert memory.health().lines and memory.counts() == {"consolidated": 4}


def test_a_search_is_answered_while_a_transaction_is_open(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.duckdb", settings=BATCHES) as memory:
        memory.ingest_many(drafts(12))
        memory.apply_consolidation(memory.plan_consolidation())
        before = seen(memory.search(QUERIES[0]))
        store = memory._storage
        assert isinstance(store, DuckDBStorage)
        found: list[Seen] = []
        with store.transaction():
            store.execute("UPDATE memory_blocks SET status = 'archived', revision = ?", [store.revision()])
            asking = threading.Thread(target=lambda: found.append(seen(memory.search(QUERIES[0]))))
            asking.start()
            asking.join(SECONDS)
            assert found == [before]
        assert seen(memory.search(QUERIES[0])) != before


class Waiting(HashingEmbedder):
    """Stands in the middle of a search, from when it is asked for SLOW until it may go on."""

    SLOW = "frost on the roof"

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.may_go_on = threading.Event(), threading.Event()

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        if self.SLOW in texts:
            self.begun.set()
            assert self.may_go_on.wait(SECONDS)
        return super().embed(texts, progress)


def test_a_search_in_its_middle_holds_up_no_other_read_and_no_write() -> None:
    embedder = Waiting()
    with Memory.open(":memory:", clock=FixedClock(AT), settings=BATCHES, embedder=embedder) as memory:
        memory.ingest_many(drafts(12))
        memory.consolidate()
        slow: list[Seen] = []
        searching = threading.Thread(target=lambda: slow.append(seen(memory.search(Waiting.SLOW))))
        searching.start()
        assert embedder.begun.wait(SECONDS)
        beside: list[object] = []

        def others() -> None:
            beside.append(memory.search(QUERIES[0]).hits)
            beside.append(memory.assemble("SESSION", query=QUERIES[1]).selected)
            beside.append(memory.ingest_many(drafts(4, seed=9)).added)
            beside.append(memory.search(QUERIES[2]).hits)

        going_on = threading.Thread(target=others)
        going_on.start()
        going_on.join(SECONDS)
        told = list(beside)
        embedder.may_go_on.set()
        searching.join(SECONDS)
        going_on.join(SECONDS)
        assert len(told) == 4 and all(told)
        assert slow and slow[0]


class Held(HashingEmbedder):
    """Notes what each thread has embedded; a thread that is to be held waits at its second batch."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[int, list[str]] = {}
        self.held: int | None = None
        self.stands, self.may_go_on = threading.Event(), threading.Event()

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        mine = self.asked.setdefault(threading.get_ident(), [])
        if self.held == threading.get_ident() and mine:
            self.stands.set()
            assert self.may_go_on.wait(SECONDS)
        mine += texts
        return super().embed(texts, progress)


def test_a_search_waits_for_no_batch_of_a_consolidation_and_embeds_nothing_that_it_has_embedded() -> None:
    embedder = Held()
    with Memory.open(":memory:", clock=FixedClock(AT), settings=BATCHES, embedder=embedder) as memory:
        memory.ingest_many(drafts(12))
        memory.consolidate()
        memory.ingest_many(drafts(8, seed=9))
        mine = embedder.asked[threading.get_ident()]
        mine.clear()

        def consolidate() -> None:
            embedder.held = threading.get_ident()
            memory.consolidate()

        consolidating = threading.Thread(target=consolidate)
        consolidating.start()
        try:
            assert embedder.stands.wait(SECONDS)
            found = memory.search(QUERIES[0])
        finally:
            embedder.may_go_on.set()
            consolidating.join(SECONDS)
        first = embedder.asked[embedder.held or 0][:4]
        assert mine[0] == QUERIES[0]
        assert len(mine) == 1 + 4 and not set(mine) & set(first)
        assert "raw" in {one.block.status for one in found.hits}
        assert memory.counts() == {"consolidated": 20}


def test_vectors_of_raw_blocks_are_kept_until_the_consolidation_ends() -> None:
    asked: list[str] = []

    def embed(text: str) -> Vector:
        asked.append(text)
        return np.ones(2, dtype=np.float32)

    vectors = RawVectors(embed)
    with vectors.consolidating():
        with vectors.consolidating():  # a plan beside another
            vectors.store(["a note"], np.zeros((1, 2), dtype=np.float32))
        assert vectors.of("a note").tolist() == [0.0, 0.0]
        assert vectors.of("another").tolist() == vectors.of("another").tolist() == [1.0, 1.0]
        assert asked == ["another"]
    assert vectors.of("a note").tolist() == [1.0, 1.0]
    asked.clear()
    with vectors.consolidating():
        vectors.store([str(n) for n in range(MOST + 3)], np.zeros((MOST + 3, 2), dtype=np.float32))
        assert vectors.of("3").tolist() == [0.0, 0.0]
        assert vectors.of("2").tolist() == [1.0, 1.0]
    assert asked == ["2"]

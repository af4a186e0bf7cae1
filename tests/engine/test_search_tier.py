"""A memory with a search index outside the process answers as one without, whatever was written, built or killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from amgs.errors import StoreError, UsageError
from amgs.memory import Memory
from amgs.settings import Settings
from tests.engine.memory_world import NOTES, write_notes
from tests.engine.memory_world import NOW as AT
from tests.object_store import PREFIX, running_object_store

pytest.importorskip("lance", reason="the extra lance is not installed")

from amgs.clock import FixedClock
from amgs.types.tasks import TaskKind
from amgs.workers import Worker

QUERIES = ["QX-7741-B", "the dome stalls", "who keeps the valve", "azimuth 200", "notes", "domme"]
NEAR = Settings.model_validate({"retrieval": {"approximate_from": 2}})


def opened(folder: Path, index: str, settings: Settings | None = None) -> Memory:
    return Memory.open(folder / "notes.duckdb", clock=FixedClock(AT), settings=settings, index=index)


def hits(memory: Memory) -> list[list[tuple[str, object]]]:
    return [
        [(hit.block.id, pytest.approx(hit.score, abs=0.02)) for hit in memory.search(query).hits]
        for query in QUERIES
    ]


def ids(memory: Memory) -> list[set[str]]:
    return [{hit.block.id for hit in memory.search(query).hits} for query in QUERIES]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """The notes, consolidated, with an index that nobody has built yet."""
    with opened(tmp_path, str(tmp_path / "index")) as made:
        made.ingest_folder(write_notes(tmp_path / "notes"))
        made.consolidate()
        yield made


@pytest.mark.parametrize("settings", [None, NEAR], ids=["vectors read whole", "vectors by partitions"])
def test_the_hits_are_those_of_a_memory_without_one(tmp_path: Path, settings: Settings | None) -> None:
    with opened(tmp_path, "") as plain:
        plain.ingest_folder(write_notes(tmp_path / "notes"))
        plain.consolidate()
        wanted = hits(plain)
    with opened(tmp_path, str(tmp_path / "index"), settings) as memory:
        assert hits(memory) == wanted, "nothing built yet"
        built = memory.index.build()
        assert (built.rows, built.changed, built.built_at) == (6, 6, memory.index.status().store_at)
        assert hits(memory) == wanted
        assert memory.index.build().changed == 0
    with opened(tmp_path, str(tmp_path / "index"), settings) as again:
        assert again.index.status().lag == 0
        assert hits(again) == wanted
        assert again.verify().ok


def test_what_came_since_is_found_at_once_and_what_left_is_not(memory: Memory) -> None:
    memory.index.build()
    memory.add("The spare part ZZ-90817-K lies in the blue crate.")
    assert "ZZ-90817-K" in memory.search("ZZ-90817-K").hits[0].block.content
    assert memory.index.status().lag == 1
    memory.consolidate()
    assert "ZZ-90817-K" in memory.search("a part in a crate").hits[0].block.content
    found = ids(memory)
    memory.index.build()
    assert ids(memory) == found
    assert memory.index.status().lag == 0
    for operation in memory.operations(2):
        memory.undo(operation.id)
    assert not any("ZZ-90817-K" in hit.block.content for hit in memory.search("ZZ-90817-K").hits)
    memory.index.build()
    assert not any("ZZ-90817-K" in hit.block.content for hit in memory.search("ZZ-90817-K").hits)


def test_bounded_answers_from_what_was_built_alone_and_says_so(memory: Memory) -> None:
    at = memory.index.build().built_at
    memory.add("The spare part ZZ-90817-K lies in the blue crate.")
    strong, bounded = (
        memory.search("spare part ZZ-90817-K", consistency=how) for how in ("strong", "bounded")
    )
    assert "ZZ-90817-K" in strong.hits[0].block.content
    assert not any("ZZ-90817-K" in hit.block.content for hit in bounded.hits)
    assert strong.built_at == bounded.built_at == at
    assert strong.store_at == bounded.store_at == memory.index.status().store_at > at


def test_health_names_an_index_that_was_not_built_and_one_that_is_stale(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def line() -> tuple[str, str]:
        return next((one.standing, one.told) for one in memory.health().lines if one.side == "index")

    assert line() == ("act", "not built, 6 blocks beside it")
    memory.index.build()
    assert line() == ("well", "0 of 6 blocks changed since it was built")
    monkeypatch.setattr("amgs.api.health._FEW_BESIDE", 0)
    memory.add("The spare part ZZ-90817-K lies in the blue crate.")
    assert line() == ("watch", "1 of 6 blocks changed since it was built")


def test_a_worker_builds_it_once_nothing_else_is_behind(memory: Memory) -> None:
    memory.index.build()
    memory.add("The spare part ZZ-90817-K lies in the blue crate.")
    memory.tasks.enqueue(("index",))
    assert not memory.tasks.list().tasks  # what is raw comes first
    said: list[str] = []
    Worker(memory, "a", say=said.append).run()
    assert [line.split()[0] for line in said] == ["embedding", "consolidation", "index"]
    assert (
        memory.index.status().lag == 0 and "ZZ-90817-K" in memory.search("ZZ-90817-K").hits[0].block.content
    )
    assert Worker(memory, "a", say=said.append).run() == 0


def test_a_worker_without_an_index_leaves_its_task_to_others(memory: Memory, tmp_path: Path) -> None:
    kinds: tuple[TaskKind, ...] = ("index",)
    memory.consolidate()
    (task,) = memory.tasks.enqueue(kinds)
    memory.close()
    with opened(tmp_path, "") as plain:
        assert plain.tasks.claim("a", kinds, 60) is None
    with opened(tmp_path, str(tmp_path / "index")) as again:
        assert again.tasks.claim("b", kinds, 60) == replace(
            task,
            state="running",
            worker="b",
            attempts=1,
            not_before=AT + timedelta(seconds=60),
            changed_at=AT,
        )


def test_another_reader_of_the_store_sees_the_version_that_another_built(
    memory: Memory, tmp_path: Path
) -> None:
    with opened(tmp_path, str(tmp_path / "index")) as beside:
        assert beside.index.status().version == 0
        memory.index.build()
        memory.add("The spare part ZZ-90817-K lies in the blue crate.")
        assert "ZZ-90817-K" in beside.search("ZZ-90817-K").hits[0].block.content
        assert beside.index.status().version == memory.index.status().version > 0


def test_after_an_erasure_no_version_holds_the_text(memory: Memory) -> None:
    memory.index.build()
    dome = memory.search("the dome has a valve").hits[0].block
    memory.erasure.erase([dome.id])
    status = memory.index.status()
    assert (status.lag, status.rows) == (0, 5)
    from amgs.index.lance.dataset import SearchDataset

    dataset = SearchDataset.opened(status.place)
    assert dataset is not None
    assert len(dataset.blocks.versions()) == 1
    assert dome.id not in {one for found in ids(memory) for one in found}


_KILLED = """
import os, signal, sys
from pathlib import Path
from lance import LanceDataset
from tests.engine.test_search_tier import opened
folder, point = Path(sys.argv[1]), sys.argv[2]
def die(*given, **named):
    os.kill(os.getpid(), signal.SIGKILL)
memory = opened(folder, str(folder / "index"))
memory.add("The spare part ZZ-90817-K lies in the blue crate.")
memory.consolidate()
if point == "indexes":
    LanceDataset.create_scalar_index = die
    memory.index.build(anew=True)
if point == "tag":
    type(LanceDataset.tags.fget(memory._context.derived.tier.dataset(10**9).blocks)).update = die
    memory.index.build()
"""


@pytest.mark.parametrize("point", ["indexes", "tag"])
def test_a_build_that_is_killed_leaves_the_version_before(memory: Memory, tmp_path: Path, point: str) -> None:
    memory.index.build()
    before = memory.index.status()
    memory.close()
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path), point], timeout=120, check=False)
    assert killed.returncode == -signal.SIGKILL
    with opened(tmp_path, str(tmp_path / "index")) as again:
        status = again.index.status()
        assert (status.version, status.built_at, status.rows) == (
            before.version,
            before.built_at,
            before.rows,
        )
        assert "ZZ-90817-K" in again.search("ZZ-90817-K").hits[0].block.content
        found = ids(again)
        assert again.index.build().changed >= 1
        assert ids(again) == found
        assert (again.index.status().rows, again.index.status().lag) == (7, 0)
        assert again.verify().ok


def test_the_index_lies_in_an_object_store_as_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_object_store() as environment:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        with opened(tmp_path, PREFIX) as memory:
            memory.ingest_folder(write_notes(tmp_path / "notes", NOTES))
            memory.consolidate()
            wanted = hits(memory)
            memory.index.build()
            assert memory.index.status().place.startswith(PREFIX)
            assert hits(memory) == wanted
            memory.add("The spare part ZZ-90817-K lies in the blue crate.")
            assert "ZZ-90817-K" in memory.search("ZZ-90817-K").hits[0].block.content
            assert memory.index.build().changed == 1
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
        with opened(tmp_path, PREFIX) as memory, pytest.raises(StoreError, match="signature") as refused:
            memory.index.status()
        assert environment["AWS_SECRET_ACCESS_KEY"] not in str(refused.value)


def test_a_memory_without_an_index_says_how_to_open_one(tmp_path: Path) -> None:
    with opened(tmp_path, "") as plain:
        for ask in (plain.index.build, plain.index.status):
            with pytest.raises(UsageError, match="without a search index"):
                ask()

"""Workers: each task is done once or not at all, whoever dies meanwhile, and what they make is what is made without."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

import amgs
from amgs.clock import FixedClock
from amgs.errors import Cancelled, StaleError, UsageError
from amgs.lifecycle.prepared_vectors import TextBatch
from amgs.memory import Memory
from amgs.settings import ConsolidationSettings, Settings
from amgs.types import BlockFilter, Progress, Vector
from amgs.types.tasks import TASK_KINDS, Task, TaskKind
from amgs.workers import Worker
from amgs_app import cli
from amgs_app.operations.scale import health_of_workers
from amgs_app.render.catalogue import table_of
from amgs_app.results.memory import consolidated
from tests.engine.memory_world import NOW, open_memory, write_notes
from tests.postgres_server import namespace

PLACES: dict[str, Callable[[pytest.FixtureRequest, Path], str]] = {
    "duckdb": lambda _, folder: str(folder / "m.duckdb"),
    "postgres": lambda request, _: namespace(request.getfixturevalue("postgres")),
}
BOTH: tuple[TaskKind, ...] = ("embedding", "consolidation")
SMALL = Settings(consolidation=ConsolidationSettings(transaction=4))


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return PLACES[request.param](request, tmp_path)


@pytest.fixture
def memory(place: str, tmp_path: Path) -> Iterator[Memory]:
    """Six raw blocks."""
    with open_memory(place, settings=SMALL) as opened:
        opened.ingest_folder(write_notes(tmp_path / "notes"))
        yield opened


def later(memory: Memory, seconds: float) -> None:
    memory.clock = FixedClock(memory.clock.now() + timedelta(seconds=seconds))


def claimed(memory: Memory, worker: str, seconds: float = 60) -> Task:
    task = memory.tasks.claim(worker, BOTH, seconds)
    assert task is not None
    return task


# --- tasks -----------------------------------------------------------------------------------------------


def test_what_is_behind_is_asked_for_once(memory: Memory) -> None:
    before = memory.change_counter
    (task,) = memory.tasks.enqueue()
    assert (task.kind, dict(task.parameters), task.state) == ("embedding", {"first": 1, "last": 6}, "waiting")
    assert memory.tasks.enqueue() == ()
    assert memory.tasks.list().counts == {"embedding waiting": 1}
    assert memory.change_counter == before  # a task is no change of the memory
    with pytest.raises(UsageError, match="'indexes'"):
        memory.tasks.enqueue(["indexes"])  # type: ignore[list-item]


def test_health_names_tasks_that_nobody_does_and_those_that_failed(memory: Memory) -> None:
    assert health_of_workers(memory) == ()  # nobody ever asked for one
    memory.tasks.enqueue()
    (line,) = health_of_workers(memory)
    assert (line.standing, line.told, line.verb) == ("watch", "no worker, 1 task waiting", "workers list")
    for _ in range(4):
        if memory.tasks.claim("w", BOTH, 60) is not None:
            later(memory, 61)
    (line,) = health_of_workers(memory)
    assert (line.standing, line.told, line.verb) == (
        "watch",
        "no worker, 1 failed",
        "workers enqueue --failed",
    )


def test_one_worker_has_a_task_until_its_lease_runs_out(memory: Memory) -> None:
    memory.tasks.enqueue()
    first = claimed(memory, "a")
    assert memory.tasks.claim("b", BOTH, 60) is None
    later(memory, 59)
    assert memory.tasks.renew(first, 60)
    later(memory, 59)
    assert memory.tasks.claim("b", BOTH, 60) is None
    later(memory, 1)
    second = claimed(memory, "b")
    assert (second.number, second.worker, second.attempts) == (first.number, "b", 2)
    assert not memory.tasks.renew(first, 60)
    with pytest.raises(StaleError, match="is not a's any more"):
        memory.tasks.hold(first)
    with pytest.raises(StaleError):
        memory.tasks.fail(first, "late")
    with pytest.raises(StaleError):
        memory.tasks.release(first)
    with memory.transaction():
        memory.tasks.hold(second)
        memory.tasks.finish(second, "well")
    (done,) = memory.tasks.list().tasks
    assert (done.state, done.result, done.not_before) == ("done", "well", None)


def test_the_same_name_does_not_end_what_it_lost_and_got_back(memory: Memory) -> None:
    memory.tasks.enqueue()
    first = claimed(memory, "a", 1)
    later(memory, 1)
    second = claimed(memory, "a", 1)
    with pytest.raises(StaleError):
        memory.tasks.hold(first)
    memory.tasks.hold(second)


def test_a_task_that_fails_is_tried_again_and_then_kept_with_its_error(memory: Memory) -> None:
    memory.tasks.enqueue()
    for attempt in (1, 2, 3):
        task = claimed(memory, "a")
        assert task.attempts == attempt
        memory.tasks.fail(task, f"no {attempt}", again=10)
        if attempt < 3:
            assert memory.tasks.claim("a", BOTH, 60) is None
            later(memory, 10)
    assert memory.tasks.claim("a", BOTH, 60) is None
    (failed,) = memory.tasks.list().tasks
    assert (failed.state, failed.result) == ("failed", "no 3")
    assert memory.tasks.enqueue(["embedding"]) == ()  # else it would be tried for ever
    (again,) = memory.tasks.retry()
    assert (again.state, claimed(memory, "b").attempts) == ("waiting", 1)


def test_a_task_whose_workers_die_every_time_has_failed(memory: Memory) -> None:
    memory.tasks.enqueue()
    for _ in range(3):
        claimed(memory, "a", 1)
        later(memory, 1)
    assert memory.tasks.claim("b", BOTH, 1) is None
    (failed,) = memory.tasks.list().tasks
    assert failed.state == "failed" and "a did not come back" in failed.result


def test_a_task_that_is_given_back_has_lost_no_attempt(memory: Memory) -> None:
    memory.tasks.enqueue()
    memory.tasks.release(claimed(memory, "a"))
    assert claimed(memory, "b").attempts == 1


# --- vectors ahead ---------------------------------------------------------------------------------------


def prepared(memory: Memory) -> Mapping[str, tuple[str, Vector]]:
    ids = [block.id for block in memory.blocks(BlockFilter(statuses=("raw", "consolidated")))]
    return memory.lifecycle.means().prepared(ids)


def test_a_vector_is_kept_once_and_only_for_a_block_that_is_raw(memory: Memory) -> None:
    batch = memory.tasks.texts(1, 6)
    assert len(batch.blocks) == 6 and memory.tasks.texts(3, 4).blocks == batch.blocks[2:4]
    vectors = memory.tasks.embed(batch.texts)
    assert memory.tasks.keep_vectors(batch, vectors) == 6
    assert memory.tasks.keep_vectors(batch, vectors) == 0  # a second time
    assert memory.tasks.texts(1, 6) == TextBatch((), ())
    memory.consolidate()
    assert memory.tasks.keep_vectors(batch, vectors) == 0  # too late


def test_a_vector_of_another_text_is_not_taken(place: str, tmp_path: Path) -> None:
    with open_memory(place) as memory:
        memory.ingest_folder(write_notes(tmp_path / "notes"))
        batch = memory.tasks.texts(1, 6)
        wrong = np.roll(memory.tasks.embed(batch.texts), 1, axis=0)
        memory.tasks.keep_vectors(TextBatch(batch.blocks, tuple(f"{text}!" for text in batch.texts)), wrong)
        plan = memory.plan_consolidation()
        right = memory.tasks.embed(batch.texts)
        assert np.allclose(np.stack([item.embedding for item in plan.items]), right, atol=1e-6)


def test_a_vector_ahead_is_erased_with_its_block(memory: Memory) -> None:
    batch = memory.tasks.texts(1, 6)
    memory.tasks.keep_vectors(batch, memory.tasks.embed(batch.texts))
    memory.erasure.erase([batch.blocks[0]])
    assert set(memory.lifecycle.means().prepared(batch.blocks)) == set(batch.blocks[1:])


def test_a_vector_of_a_block_that_is_gone_is_dropped_by_the_next_worker(memory: Memory) -> None:
    batch = memory.tasks.texts(1, 6)
    memory.tasks.keep_vectors(batch, memory.tasks.embed(batch.texts))
    memory.undo(memory.operations(1)[0].id)
    assert len(memory.lifecycle.means().prepared(batch.blocks)) == 6
    assert Worker(memory, "a").run() == 0
    assert memory.lifecycle.means().prepared(batch.blocks) == {}


# --- the worker ------------------------------------------------------------------------------------------


def state(memory: Memory) -> dict[str, object]:
    """What consolidation made of the blocks."""
    found = memory.blocks(BlockFilter(statuses=("consolidated",)))
    return {
        "blocks": [(b.id, b.category, b.confidence, b.decay_lambda, b.meta) for b in found],
        "edges": memory.verify().edges,
        "hits": [(h.block.id, round(h.score, 6)) for h in memory.search("valve QX-7741-B").hits],
    }


def test_a_worker_makes_what_is_made_without_it(memory: Memory, tmp_path: Path) -> None:
    said: list[str] = []
    assert Worker(memory, "a", say=said.append).run() == 3
    assert [line.partition(" ")[0] for line in said] == ["embedding", "consolidation", "consolidation"]
    listed = memory.tasks.list()
    assert listed.counts == {"embedding done": 1, "consolidation done": 2} and listed.workers == ()
    assert memory.verify().ok and prepared(memory) == {}
    with open_memory(settings=SMALL) as alone:
        alone.ingest_folder(tmp_path / "notes")
        while alone.counts().get("raw"):
            alone.apply_consolidation(alone.plan_consolidation(limit=4))
        assert state(memory) == state(alone)
    assert Worker(memory, "a").run() == 0


def test_a_worker_that_is_stopped_gives_back_what_it_has(memory: Memory) -> None:
    progress = Progress(lambda done, total, doing: progress.cancel() if "finding names" in doing else None)
    with pytest.raises(Cancelled):
        Worker(memory, "a", progress=progress).run(lambda: True)
    open_tasks = [task for task in memory.tasks.list().tasks if task.state != "done"]
    assert [(t.kind, t.state, t.attempts) for t in open_tasks] == [("consolidation", "waiting", 0)]
    assert memory.tasks.list().workers == () and memory.counts() == {"raw": 6}


def test_a_plan_that_was_overtaken_writes_nothing(memory: Memory) -> None:
    memory.tasks.enqueue(["consolidation"])
    plan = memory.plan_consolidation(limit=4)
    other = Worker(memory, "b", kinds=("consolidation",))
    other.run()
    operations = memory.operations(10)
    with pytest.raises(UsageError, match="no longer raw"):
        memory.apply_consolidation(plan)
    assert memory.operations(10) == operations


@pytest.mark.parametrize(
    ("first", "left", "told"),
    [(1, [(3, 1), (2, 0)], "1 block more"), (6, [(0, 4), (0, 2)], "6 blocks more")],
)
def test_of_two_consolidations_at_once_the_second_takes_what_is_left(
    postgres: str, tmp_path: Path, first: int, left: list[tuple[int, int]], told: str
) -> None:
    place = namespace(postgres)
    with open_memory(place, settings=SMALL) as one, open_memory(place, settings=SMALL) as other:
        one.ingest_folder(write_notes(tmp_path / "notes"))
        limits = [first]

        def meanwhile(done: int, total: int, doing: str) -> None:
            if limits:
                other.consolidate(limit=limits.pop())

        batches = list(one.consolidate_in_batches(progress=Progress(meanwhile)))
        assert [(len(plan.items), plan.elsewhere) for plan, _ in batches] == left
        assert one.counts() == {"consolidated": 6} and one.verify().ok
        notes = table_of(consolidated(batches)).notes
        assert f"{told}: consolidated meanwhile by somebody else." in notes


def test_a_plan_that_others_carried_out_says_so(memory: Memory) -> None:
    plan, part = memory.plan_consolidation(), memory.plan_consolidation(limit=2)
    memory.apply_consolidation(part)
    with pytest.raises(UsageError, match=r"2 of 6 .*consolidated meanwhile") as refused:
        memory.apply_consolidation(plan)
    assert "for the blocks that are left" in refused.value.way_out
    with pytest.raises(UsageError, match="all of them were consolidated meanwhile") as refused:
        memory.apply_consolidation(part)
    assert "Nothing of it is left to do" in refused.value.way_out


def test_tasks_go_with_an_export(memory: Memory, tmp_path: Path) -> None:
    memory.tasks.enqueue()
    claimed(memory, "a")
    memory.exchange.export(tmp_path / "e.json")
    with open_memory() as copy:
        copy.exchange.load(tmp_path / "e.json")
        assert copy.tasks.list().tasks == memory.tasks.list().tasks


def test_workers_that_are_there_are_listed_until_they_are_gone(memory: Memory) -> None:
    seen: list[amgs.WorkerList] = []

    def wait() -> bool:
        seen.append(memory.tasks.list())
        return False

    Worker(memory, "a", lease=30).run(wait)
    (worker,) = seen[0].workers
    assert (worker.name, worker.kinds, worker.until) == (
        "a",
        TASK_KINDS,
        NOW + timedelta(seconds=30),
    )


def test_two_workers_of_one_namespace_share_its_tasks(postgres: str, tmp_path: Path) -> None:
    place = namespace(postgres)
    with open_memory(place, settings=SMALL) as one, open_memory(place, settings=SMALL) as other:
        one.ingest_folder(write_notes(tmp_path / "notes"))
        one.tasks.enqueue()
        mine = claimed(one, "a")
        assert other.tasks.claim("b", BOTH, 60) is None
        one.tasks.release(mine)
        said: list[str] = []
        threads = [
            threading.Thread(target=Worker(memory, name, say=said.append).run)
            for name, memory in (("a", one), ("b", other))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
        Worker(other, "c").run()  # whoever looked while the other had a task has ended
        assert one.counts() == {"consolidated": 6} and one.verify().ok
        entries = [entry for entry in one.operations(50) if entry.kind == "consolidate"]
        assert sum(entry.blocks for entry in entries) == 6


# --- commands --------------------------------------------------------------------------------------------


def test_the_commands_run_list_and_refuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = ["--store", str(tmp_path / "m.duckdb"), "--model", "tiny"]
    notes = write_notes(tmp_path / "notes")

    def amgs(*words: str) -> tuple[int, str, str]:
        code = cli.run([*store, *words])
        out, told = capsys.readouterr()
        return code, out, told

    assert amgs("ingest", "--batch", str(notes))[0] == 0
    assert "1–6" in amgs("workers", "enqueue", "embedding")[1]
    code, _, told = amgs("workers", "run", "--once")
    assert code == 0 and told.endswith("2 tasks done\n")
    listed = amgs("workers", "list")[1]
    assert "1 consolidation done, 1 embedding done" in listed and "6 blocks" in listed
    assert "0 tasks asked for" in amgs("workers", "enqueue", "--failed")[1]
    for words, complaint in {
        ("enqueue", "sorting"): "There is no kind of task 'sorting'",
        ("enqueue", "sorting", "--failed"): "--failed queues every task",
        ("run", "--once", "--kinds", "sorting"): "There is no kind of task 'sorting'",
        ("run", "--once", "--lease", "0"): "lease",
        ("run", "--once", "--every", "x"): "every",
        ("run", "--once", "--connect", "http://127.0.0.1:1"): "Workers open the store itself",
    }.items():
        code, _, told = amgs("workers", *words)
        assert code != 0 and complaint in told

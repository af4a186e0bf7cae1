"""What an operator sees of a memory past one file: its namespace among others, its index, its workers."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from amgs.clock import FixedClock
from amgs.memory import Memory
from amgs.types.tasks import WorkerState
from amgs_app import operations
from amgs_app.engine import Engine, Options
from amgs_app.render.catalogue import table_of
from amgs_app.session.operator import Operator
from tests.postgres_server import namespace
from tests.tui.app_drive import drive
from tests.tui.app_world import NOW, World, draft

WORKER = WorkerState(
    "worker-7 on host-b",
    ("embedding",),
    NOW - timedelta(hours=2),
    NOW + timedelta(minutes=2),
    41,
    1,
)


class DatabaseWorld(World):
    """A memory in a database, with an index of ten minutes ago that lacks two notes, a worker and its task."""

    def __init__(self, place: str, index: str) -> None:
        super().__init__(0)
        self.place, self.index = place, index
        early = FixedClock(NOW - timedelta(minutes=10))
        with Memory.open(place, clock=early, index=index) as memory:
            memory.ingest_many([draft(number, 1) for number in range(4)])
            memory.consolidate()
            memory.index.build()
        with Memory.open(place, clock=FixedClock(NOW), index=index) as memory:
            memory.ingest_many([draft(200, 0)])
            memory.ingest_many([draft(201, 0)])
            memory.tasks.enqueue(WORKER.kinds)
            memory.tasks.tell(WORKER)
            memory.tasks.claim(WORKER.name, WORKER.kinds, 120)

    def open(self) -> Operator:
        options = Options(store=self.place, index=self.index, model="tiny", now=NOW, seed=7)
        self.session = Operator(Engine(options))
        return self.session


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_namespace_index_and_workers_are_seen_at_every_size(
    size: tuple[int, int], postgres: str, tmp_path: Path
) -> None:
    pytest.importorskip("lance")
    place = namespace(postgres)
    Memory.open(namespace(postgres), clock=FixedClock(NOW)).close()
    world = DatabaseWorld(place, str(tmp_path))
    async with drive(world, size) as driven:
        await driven.press("7", "z")
        rows = {
            side: next(line for line in driven.lines if f" {side} " in line)
            for side in ("namespace", "index", "workers")
        }
        name = place.rpartition("=")[2]
        assert f"{name}, one of " in rows["namespace"] and "6 blocks" in rows["namespace"]
        assert "2 changes behind, built 10 min ago" in rows["index"]
        assert "1 worker · 1 running" in rows["workers"]
        assert size[0] < 100 or "worker-7 on host-b, lease 2 min" in rows["workers"]
        assert "journal" in driven.text and "inbox" in driven.text
        # What stands behind the lines, where there is room for it.
        assert ("embedding · 41 done" in driven.text) == ("namespaces ─" in driven.text) == (size[1] >= 40)
        # Done and built, each line says so.
        memory = world.session.engine.memory
        memory.tasks.leave(WORKER.name)
        memory.index.build()
        await driven.press("r")
        assert "up to date, built just now" in driven.text and "no worker" in driven.text


def test_the_status_tells_the_same_and_of_a_file_nothing(postgres: str, tmp_path: Path) -> None:
    pytest.importorskip("lance")
    place = namespace(postgres)
    world = DatabaseWorld(place, str(tmp_path))
    with world.open() as session:
        found = session.run(operations.general.status())
        told = str(table_of(found))
        assert "2 changes behind, built 10 min ago" in told and "1 worker · 1 running" in told
        topology = found.store.topology
        assert topology is not None and topology.namespace is not None
        assert topology.namespace.name == place.rpartition("=")[2] and topology.namespace.changes
        assert topology.namespace.name in {each.name for each in found.namespaces}
        assert [task.worker for task in topology.claimed] == [WORKER.name]
    plain = World(consolidated=2)
    with plain.open() as session:
        found = session.run(operations.general.status())
        assert found.store.topology is None and found.namespaces == ()
        assert not {"namespace", "index", "workers"} & {str(row[0]) for row in table_of(found).rows}

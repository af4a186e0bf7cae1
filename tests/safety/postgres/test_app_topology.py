"""What an operator sees of a memory in a database: its namespace among others."""

from __future__ import annotations

import pytest

from amgs.clock import FixedClock
from amgs.memory import Memory
from amgs_app.engine import Engine, Options
from amgs_app.session.operator import Operator
from tests.postgres_server import namespace
from tests.tui.app_drive import drive
from tests.tui.app_world import NOW, World, draft


class DatabaseWorld(World):
    """A memory of four blocks in a database."""

    def __init__(self, place: str) -> None:
        super().__init__(0)
        self.place = place
        with Memory.open(place, clock=FixedClock(NOW)) as memory:
            memory.ingest_many([draft(number, 1) for number in range(4)])
            memory.consolidate()

    def open(self) -> Operator:
        self.session = Operator(Engine(Options(store=self.place, model="tiny", now=NOW, seed=7)))
        return self.session


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_namespace_is_seen_at_every_size(size: tuple[int, int], postgres: str) -> None:
    place = namespace(postgres)
    Memory.open(namespace(postgres), clock=FixedClock(NOW)).close()
    async with drive(DatabaseWorld(place), size) as driven:
        await driven.press("7", "z")
        row = next(line for line in driven.lines if " namespace " in line)
        assert f"{place.rpartition('=')[2]}, one of " in row and "4 blocks" in row
        assert "journal" in driven.text and "inbox" in driven.text
        # What stands behind the line, where there is room for it.
        assert ("namespaces ─" in driven.text) == (size[1] >= 40)

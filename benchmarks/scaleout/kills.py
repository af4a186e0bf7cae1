"""Writers, and the database server below them, that are killed without warning: what was acknowledged must be in the
store afterwards.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from amgs.errors import StoreLockedError
from amgs.storage.opening import open_storage
from benchmarks.bench_results import BenchTable, MemoryRig, SubjectResult
from benchmarks.scaleout.server import OwnServer, own_server
from benchmarks.scaleout.setup import ScaleoutSetup, in_namespace
from benchmarks.scaleout.writer import amid_notes
from benchmarks.stores import open_memory

CONTROLS = 10
"""Kills of a writer that acknowledges before it commits."""
SERVER_CONTROLS = 5
"""Kills of a server in each control."""
_PATIENCE = 30.0
"""Seconds until the server has seen that a killed writer's connection is gone."""


def measure_kills(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult:
    """`kill -9` of a writer, each after 1 to 30 acknowledgements; the control acknowledges before it commits, and the
    check must find that out.
    """
    kills, chance = setup.effort.kills, random.Random(rig.seed)
    few = min(kills, CONTROLS)

    def killed(place: str, times: int, *, early: bool) -> tuple[int, int, int]:
        return _killed(rig, place, times, chance, early=early, recover=lambda: _wait_until_free(place))

    with setup.namespace("kills") as place:
        lost, acknowledged, beyond = killed(place, kills, early=False)
        sound = _sound(rig, place)
    with setup.namespace("kills_early") as place:
        early, promised, _ = killed(place, few, early=True)
    metrics = {
        "writer_kills": float(kills),
        "writer_acknowledged": float(acknowledged),
        "writer_acknowledged_lost": float(lost),
        "writer_verified": float(sound),
        "writer_lost_control": float(early),
    }
    table = BenchTable(
        "Writers killed",
        ("writer", "kills", "acknowledged", "of these lost", "kept beyond what was acknowledged"),
        (
            ("commits, then acknowledges", kills, acknowledged, lost, beyond),
            ("control: acknowledges, then commits", few, promised, early, "not counted"),
        ),
    )
    return SubjectResult(
        metrics,
        {"writer_acknowledged_lost": ("<=", 0.0), "writer_verified": (">=", 1.0), "writer_lost_control": (">=", 1.0)},
        (table,),
    )


def measure_database_kills(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult:
    """`kill -9` of all processes of a PostgreSQL server of its own, amid a writer's notes; it is begun again on the
    same folder, and `verify` reads all. Controls: a writer that acknowledges before it commits, and a server that does
    (`synchronous_commit = off`): the check must find out both.

    A process that is killed leaves what the operating system has not yet written: a power cut is not measured by this.
    """
    kills, chance = setup.effort.kills, random.Random(rig.seed)
    few = min(kills, SERVER_CONTROLS)
    with own_server() as server:

        def killed(name: str, times: int, *, early: bool) -> tuple[int, int]:
            place = _place(server, name)
            lost, acknowledged, _ = _killed(
                rig, place, times, chance, early=early, strike=server.kill, recover=server.begin_again
            )
            return lost, acknowledged

        lost, acknowledged = killed("kept", kills, early=False)
        sound = _sound(rig, _place(server, "kept"))
        early, promised = killed("early", few, early=True)
        server.kill()
        server.begin_again("synchronous_commit = off")
        late, hasty = killed("late", few, early=False)
    metrics = {
        "database_kills": float(kills),
        "database_acknowledged": float(acknowledged),
        "database_acknowledged_lost": float(lost),
        "database_verified": float(sound),
        "database_lost_early_control": float(early),
        "database_lost_late_control": float(late),
    }
    table = BenchTable(
        "The database server killed",
        ("writer, server", "kills", "acknowledged", "of these lost"),
        (
            ("commits, then acknowledges", kills, acknowledged, lost),
            ("control: the writer acknowledges, then commits", few, promised, early),
            ("control: the server does (synchronous_commit = off)", few, hasty, late),
        ),
    )
    return SubjectResult(
        metrics,
        {
            "database_acknowledged_lost": ("<=", 0.0),
            "database_verified": (">=", 1.0),
            "database_lost_early_control": (">=", 1.0),
        },
        (table,),
    )


def _killed(
    rig: MemoryRig,
    place: str,
    kills: int,
    chance: random.Random,
    *,
    early: bool,
    strike: Callable[[], None] | None = None,
    recover: Callable[[], None],
) -> tuple[int, int, int]:
    """(acknowledged notes that are not there, acknowledged ones, notes that are there beyond these). The writer is
    killed each time, and before it whatever `strike` ends; after it `recover` makes the store open again.
    """
    open_storage(place).close()
    said: set[str] = set()
    for number in range(kills):
        rig.progress(number, kills, "killing a writer" if strike is None else "killing a database server")
        with amid_notes(place, f"{number}", chance, early=early) as told:
            if strike is not None:
                strike()
        said |= told
        recover()
    with open_storage(place, read_only=True) as storage:
        lost = len(said - storage.blocks.existing(said))
        return lost, len(said), storage.block_columns.count() - (len(said) - lost)


def _sound(rig: MemoryRig, place: str) -> bool:
    with open_memory(rig, place, read_only=True) as memory:
        return memory.verify().ok


def _place(server: OwnServer, name: str) -> str:
    return in_namespace(server.address, f"bench_database_{name}")


def _wait_until_free(place: str) -> None:
    """Wait until the store can be opened for writing: the server has seen that the writer is gone."""
    ends = time.monotonic() + _PATIENCE
    while True:
        try:
            open_storage(place).close()
        except StoreLockedError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.02)
        else:
            return

"""A database server that is killed without warning: what it had acknowledged must be there once it has recovered."""

from __future__ import annotations

import random

from amgs.clock import FixedClock
from amgs.memory import Memory
from amgs.storage.opening import open_storage
from benchmarks.bench_results import BenchTable, MemoryRig, SubjectResult
from benchmarks.scaleout.server import OwnServer, own_server
from benchmarks.scaleout.setup import ScaleoutSetup
from benchmarks.scaleout.writer import amid_notes
from benchmarks.stores import STILL

CONTROLS = 5
"""Kills in each control."""


def measure_database_kills(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult:
    """`kill -9` of all processes of a PostgreSQL server of its own, amid a writer's notes; it is begun again on the
    same folder, and `verify` reads all. Controls: a writer that acknowledges before it commits, and a server that does
    (`synchronous_commit = off`): the check must find out both.

    A process that is killed leaves what the operating system has not yet written: a power cut is not measured by this.
    """
    kills, chance = setup.effort.kills, random.Random(rig.seed)
    few = min(kills, CONTROLS)
    with own_server() as server:
        lost, acknowledged = _killed(rig, server, "kept", kills, chance, early=False)
        with Memory.open(
            _place(server, "kept"), clock=FixedClock(STILL), embedder=rig.embedder, read_only=True
        ) as memory:
            sound = memory.verify().ok
        early, promised = _killed(rig, server, "early", few, chance, early=True)
        server.kill()
        server.begin_again("synchronous_commit = off")
        late, hasty = _killed(rig, server, "late", few, chance, early=False)
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
    rig: MemoryRig, server: OwnServer, name: str, kills: int, chance: random.Random, *, early: bool
) -> tuple[int, int]:
    """(acknowledged notes that are not there, acknowledged ones)."""
    said: set[str] = set()
    open_storage(_place(server, name)).close()
    for number in range(kills):
        rig.progress(number, kills, "killing a database server")
        with amid_notes(_place(server, name), f"{number}", chance, early=early) as told:
            server.kill()
        said |= told
        server.begin_again()
    with open_storage(_place(server, name), read_only=True) as storage:
        return len(said - storage.blocks.existing(said)), len(said)


def _place(server: OwnServer, name: str) -> str:
    joint = "&" if "?" in server.address else "?"
    return f"{server.address}{joint}namespace=bench_database_{name}"

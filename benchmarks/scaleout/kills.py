"""Writers that are killed without warning: what they had acknowledged must be in the store afterwards."""

from __future__ import annotations

import random
import time

from amgs.clock import FixedClock
from amgs.errors import StoreLockedError
from amgs.memory import Memory
from amgs.storage.opening import open_storage
from benchmarks.bench_results import BenchTable, MemoryRig, SubjectResult
from benchmarks.scaleout.setup import ScaleoutSetup
from benchmarks.scaleout.writer import amid_notes
from benchmarks.stores import STILL

CONTROLS = 10
"""Kills of a writer that acknowledges before it commits."""
_PATIENCE = 30.0
"""Seconds until the server has seen that a killed writer's connection is gone."""


def measure_kills(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult:
    """`kill -9` of a writer, each after 1 to 30 acknowledgements; the control acknowledges before it commits, and the
    check must find that out.
    """
    kills, chance = setup.effort.kills, random.Random(rig.seed)
    with setup.namespace("kills") as place:
        lost, acknowledged, beyond = _killed(rig, place, kills, chance, early=False)
        with Memory.open(place, clock=FixedClock(STILL), embedder=rig.embedder, read_only=True) as memory:
            sound = memory.verify().ok
    with setup.namespace("kills_early") as place:
        early, promised, _ = _killed(rig, place, min(kills, CONTROLS), chance, early=True)
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
            ("control: acknowledges, then commits", min(kills, CONTROLS), promised, early, "not counted"),
        ),
    )
    return SubjectResult(
        metrics,
        {
            "writer_acknowledged_lost": ("<=", 0.0),
            "writer_verified": (">=", 1.0),
            "writer_lost_control": (">=", 1.0),
        },
        (table,),
    )


def _killed(
    rig: MemoryRig, place: str, kills: int, chance: random.Random, *, early: bool
) -> tuple[int, int, int]:
    """(acknowledged notes that are not there, acknowledged ones, notes that are there beyond these)."""
    open_storage(place).close()
    said: set[str] = set()
    for number in range(kills):
        rig.progress(number, kills, "killing a writer")
        with amid_notes(place, f"{number}", chance, early=early) as told:
            pass  # killed at once
        said |= told
        _wait_until_free(place)
    with open_storage(place, read_only=True) as storage:
        lost = len(said - storage.blocks.existing(said))
        return lost, len(said), storage.block_columns.count() - (len(said) - lost)


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

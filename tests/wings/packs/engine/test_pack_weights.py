"""What outcomes say of packs: whose verdict counts, and a useless companion."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta

import pytest

import amgs
from amgs.clock import FixedClock
from amgs.identity import block_id
from amgs.wings.packs.engine.outcome_weights import share_bound, weights
from amgs.wings.packs.values import PackUse
from tests.engine.memory_world import NOW


@pytest.fixture
def memory() -> Iterator[amgs.Memory]:
    with amgs.Memory.open(":memory:", clock=FixedClock(NOW)) as opened:
        for name, note in (("dome", "The dome motor draws 4 amperes."), ("goat", "Goats eat the hay.")):
            opened.ingest_text(note)
            opened.packs.keep(name, blocks=[block_id(note)])
        yield opened


def reading(number: int, name: str, session: str, outcome: float | None) -> PackUse:
    at = NOW + timedelta(hours=number)
    return PackUse(number, name, 1, "", at, "why did the dome stall", session, 100, (), outcome)


def test_an_empty_log_says_so_and_readings_are_told_once_they_are_judged(memory: amgs.Memory) -> None:
    before = memory.change_counter
    empty = memory.packs.weights()
    assert (empty.packs, empty.left_out) == ((), 0)
    assert memory.change_counter == before
    for n in range(4):
        for name in ("dome", "goat"):
            read = memory.packs.use(name, "the motor", session=f"night {n}")
            memory.packs.judge(read.use or 0, useful=name == "dome")
    told = memory.packs.weights()
    assert [(one.name, one.judged, one.share) for one in told.packs] == [("dome", 4, 1.0), ("goat", 4, 0.0)]
    assert told.packs[0].bound > 0.5 > told.packs[1].bound == 0 and told.left_out == 0
    assert memory.packs.weights() == told
    with_shared = memory.packs.use("dome", session="day"), memory.packs.use("goat", session="day")
    for read in with_shared:
        memory.packs.judge(read.use or 0, useful=True)
    again = memory.packs.weights()
    assert (again.left_out, again.packs) == (2, told.packs)


def test_a_verdict_that_a_session_shares_is_nobodys_and_one_alone_is_its_own() -> None:
    uses = [
        reading(1, "dome", "a", 1.0),
        reading(2, "goat", "a", 1.0),
        reading(3, "dome", "b", 1.0),
        reading(4, "goat", "b", 0.0),
        reading(5, "dome", "c", 0.0),
        reading(6, "goat", "", 1.0),
        reading(7, "goat", "", None),
    ]
    found = weights(uses)
    assert {one.name: (one.judged, one.share) for one in found.packs} == {"dome": (2, 0.5), "goat": (2, 0.5)}
    assert found.left_out == 2


@pytest.mark.parametrize("seed", range(3))
def test_a_useless_companion_is_thought_useful_only_where_it_shares_the_reward(seed: int) -> None:
    chance = random.Random(seed)
    own: list[PackUse] = []
    shared: list[PackUse] = []
    for session in range(150):
        succeeded = float(chance.random() < 0.8)
        for name, likely in (("dome", 0.85), ("companion", 0.3)):
            outcome = float(chance.random() < likely)
            own.append(reading(len(own) + 1, name, f"night {session}", outcome))
            shared.append(reading(len(own), name, "", succeeded))
    assert [one.name for one in weights(own).packs if one.bound > 0.5] == ["dome"]
    naive = weights(shared).packs
    assert [one.name for one in naive if one.bound > 0.5] == ["companion", "dome"]


def test_a_bound_rises_with_what_was_seen() -> None:
    assert 0.0 == share_bound(0, 4) < share_bound(9, 10) < 0.9 < share_bound(950, 1_000) < 0.95

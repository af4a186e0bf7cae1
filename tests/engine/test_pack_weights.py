"""Weights from outcomes: whose verdict counts, a useless companion, and when nothing is said to be learned."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta
from math import log

import pytest

import amgs
from amgs.clock import FixedClock
from amgs.identity import block_id
from amgs.packs.outcome_weights import FEATURES, PackOutcome, fit, gain, read_from, utilities
from amgs.types.packs import PackUse
from tests.engine.memory_world import NOW

_PLAIN = (0.0,) * len(FEATURES)


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
    assert (empty.better, empty.because, empty.packs) == (False, "nothing was judged yet", ())
    assert memory.change_counter == before
    for n in range(4):
        for name in ("dome", "goat"):
            read = memory.packs.use(name, "the motor", session=f"night {n}")
            memory.packs.judge(read.use or 0, useful=name == "dome")
    told = memory.packs.weights()
    assert (told.outcomes, told.left_out) == (8, 0)
    assert [one.name for one in told.weights] == ["constant", *FEATURES]
    assert all(one.low < one.value < one.high for one in told.weights)
    assert [(one.name, one.judged) for one in told.packs] == [("dome", 4), ("goat", 4)]
    assert told.packs[0].offset > 0 > told.packs[1].offset
    assert all(one.bound < one.utility for one in told.packs)
    assert not told.better and told.because == "the last third has 3 outcomes, of 30 it takes"
    assert memory.packs.weights() == told
    with_shared = memory.packs.use("dome", session="day"), memory.packs.use("goat", session="day")
    for read in with_shared:
        memory.packs.judge(read.use or 0, useful=True)
    again = memory.packs.weights()
    assert (again.outcomes, again.left_out, again.packs) == (8, 2, told.packs)


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
    found, left_out = read_from(uses, {"dome": ("dome", "encoder")})
    assert [(one.name, one.outcome) for one in found] == [
        ("dome", 1.0),
        ("goat", 0.0),
        ("dome", 0.0),
        ("goat", 1.0),
    ]
    assert left_out == 2
    first, second = (dict(zip(FEATURES, found[n].features, strict=True)) for n in (0, 2))
    assert first["asked"] == 0.5 and first["often"] == pytest.approx(log(2))
    assert first["success"] == 0.5
    assert second["success"] == pytest.approx(2 / 3)  # of one that counts, not of the shared one


@pytest.mark.parametrize("seed", range(3))
def test_a_useless_companion_is_thought_useful_only_where_it_shares_the_reward(seed: int) -> None:
    chance = random.Random(seed)
    own: list[PackUse] = []
    shared: list[PackOutcome] = []
    for session in range(150):
        succeeded = float(chance.random() < 0.8)
        for name, likely in (("dome", 0.85), ("companion", 0.4)):
            outcome = float(chance.random() < likely)
            own.append(reading(len(own) + 1, name, f"night {session}", outcome))
            shared.append(PackOutcome(name, _PLAIN, succeeded))
    outcomes, _ = read_from(own, {})
    model = fit(outcomes)
    assert [one.name for one in utilities(model, outcomes) if one.bound > 0] == ["dome"]
    naive = utilities(fit(shared), shared)
    assert [one.name for one in naive if one.bound > 0] == ["companion", "dome"]
    assert utilities(fit(outcomes), outcomes) == utilities(model, outcomes)


def test_learning_is_better_where_features_tell_and_not_where_nothing_does() -> None:
    def log_of(odds: float) -> list[PackOutcome]:
        chance = random.Random(5)
        found = []
        for n in range(300):
            asked = chance.random()
            likely = 0.5 + odds * (asked - 0.5)
            outcome = float(chance.random() < likely)
            found.append(PackOutcome(f"pack {n % 5}", (asked, 0.0, 0.0, 0.5, 0.5), outcome))
        return found

    assert gain(log_of(0.95)).better
    assert not gain(log_of(0.0)).better
    assert not gain(log_of(0.95)[:60]).better  # 20 outcomes in the last third
    assert gain([]).outcomes == 0 and fit([]).likely("dome", _PLAIN) == 0.5

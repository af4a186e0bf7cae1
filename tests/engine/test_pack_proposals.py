"""Proposals about packs: what the rule proposes, what accepting comes to, and that nothing else changes a pack."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

import amgs
from amgs.clock import FixedClock
from amgs.errors import UsageError
from amgs.identity import block_id
from amgs.packs.alike import contradict, likeness
from amgs.packs.learned_policy import candidate_of, compared, learned_from
from amgs.packs.off_policy import (
    doubly_robust,
    effective_sample_size,
    inverse_propensity,
    mean_of,
    self_normalised,
    share_bound,
)
from amgs.packs.proposals import PackCandidate, by_rule, explored, listed, proposal
from amgs.types.pack_learning import PackProposals
from tests.engine.memory_world import NOW

NOTES = (
    "Ilse oiled the dome motor on the third day.",
    "The dome motor draws 4 amperes.",
    "The encoder slips when it is cold.",
    "Goats eat the hay on the terrace.",
    "The cistern holds rain for a month.",
)


@pytest.fixture
def memory() -> Iterator[amgs.Memory]:
    with amgs.Memory.open(":memory:", clock=FixedClock(NOW)) as opened:
        for note in NOTES:
            opened.ingest_text(note)
        yield opened


def ids() -> list[str]:
    return [block_id(note) for note in NOTES]


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("The dome motor draws 4 amperes.", "the dome motor draws 4 amperes", False),
        ("The encoder slips when it is cold.", "The encodor slips when it is cold.", False),
        ("The dome motor draws 4 amperes.", "The dome motor draws 5 amperes.", True),
        ("Ilse oiled the dome motor.", "Elsie oiled the dome motor.", True),
        ("The encoder slips when it is cold.", "The encoder never slips when it is cold.", True),
        ("Goats eat the hay.", "Goats eat the oats.", True),
    ],
)
def test_texts_of_one_wording_differ_by_more_than_a_slip_or_not(one: str, other: str, differ: bool) -> None:
    assert contradict(one, other) is contradict(other, one) is differ
    found = likeness({"a": one}, {"b": other})
    assert found.same + found.differing <= 1 and not (differ and found.same)


def test_packs_that_say_the_same_are_merged_when_that_is_accepted_and_parted_by_undo(
    memory: amgs.Memory,
) -> None:
    blocks = ids()
    memory.packs.keep("dome", blocks=blocks[:4])
    memory.packs.keep("motor", blocks=blocks[:3])
    memory.packs.keep("goats", blocks=blocks[3:])
    before = memory.change_counter
    plan = memory.packs.propose()
    assert [(one.action, one.packs, one.number) for one in plan.proposals] == [
        ("MERGE", ("dome@1", "motor@1"), None)
    ]
    assert plan.policy == "rule" and plan.proposals[0].propensity == 1.0 and plan.proposals[0].bound == 0.0
    assert memory.change_counter == before and memory.packs.proposals() == ()
    queued = memory.packs.propose(queue=True)
    number = queued.proposals[0].number or 0
    assert [one.number for one in memory.packs.proposals()] == [number]
    entry = memory.packs.accept(number)
    assert [one.pack.name for one in memory.packs.list()] == ["dome", "goats"]
    assert set(memory.packs.show("dome").usage.pack.blocks) == set(blocks[:4])
    with pytest.raises(UsageError, match="already accepted"):
        memory.packs.accept(number)
    memory.undo(entry.id)
    assert [one.pack.name for one in memory.packs.list()] == ["dome", "goats", "motor"]
    assert [one.number for one in memory.packs.proposals()] == [number]
    memory.packs.reject(number)
    assert memory.packs.propose().proposals == ()
    assert [one.state for one in memory.packs.proposals(every=True)] == ["rejected"]
    memory.packs.keep("motor", blocks=blocks[1:4])
    assert [one.packs for one in memory.packs.propose().proposals] == [("dome@1", "motor@2")]
    with pytest.raises(UsageError, match="no proposal 99"):
        memory.packs.reject(99)


def test_a_member_that_was_superseded_gives_way_and_what_nobody_reads_is_retired(tmp_path: Path) -> None:
    clock = FixedClock(NOW)
    note = tmp_path / "care.md"
    note.write_text("# Care\n\nThe dome motor is oiled on Mondays.\n", encoding="utf-8")
    with amgs.Memory.open(":memory:", clock=clock) as memory:
        old = memory.ingest_file(note).added[0]
        memory.packs.keep("care", blocks=[old])
        memory.packs.use("care", log=False)
        clock.advance(timedelta(days=1))
        note.write_text("# Care\n\nThe dome motor is oiled on Fridays.\n", encoding="utf-8")
        memory.sources.apply(memory.sources.plan_file(note))
        (found,) = memory.packs.propose(queue=True).proposals
        assert (found.action, found.packs, found.gone) == ("UPDATE", ("care@1",), (old,))
        memory.packs.accept(found.number or 0)
        after = memory.packs.show("care").usage.pack
        assert (after.version, after.blocks) == (2, found.come) and old not in after.blocks
        assert memory.packs.propose().proposals == ()
        clock.advance(timedelta(days=900))
        (last,) = memory.packs.propose(queue=True).proposals
        assert (last.action, last.packs) == ("DELETE", ("care@2",))
        memory.packs.use("care")
        assert last.number is not None and memory.packs.accept(last.number).kind == "pack verdict"
        assert memory.packs.list() == ()


def test_packs_that_sessions_read_together_become_one_and_a_changed_pack_ends_a_proposal(
    memory: amgs.Memory,
) -> None:
    blocks = ids()
    for name, own in (("dome", blocks[:2]), ("cold", blocks[2:3]), ("farm", blocks[3:])):
        memory.packs.keep(name, blocks=own)
    for n in range(12):
        for name in ("dome", "cold") if n % 2 else ("farm",):
            memory.packs.use(name, session=f"night {n}")
    for n in range(14):
        memory.packs.use("farm", session=f"day {n}")
    (found,) = memory.packs.propose(queue=True).proposals
    assert (found.action, found.packs, set(found.come)) == ("ADD", ("cold@1", "dome@1"), set(blocks[:3]))
    memory.packs.keep("cold", blocks=blocks[2:4])
    with pytest.raises(UsageError, match="changed since"):
        memory.packs.accept(found.number or 0)


def test_chance_moves_proposals_and_says_how_likely_each_place_was() -> None:
    every = [PackCandidate("DELETE", (f"p{n}@1",), f"p{n}", (), (), "", {}, 1.0 - n / 100) for n in range(6)]
    plain = explored(every, 0.0, random.Random(1))
    assert [one.candidate for one in plain] == every and {one.propensity for one in plain} == {1.0}
    first = [explored(every, 0.5, random.Random(n))[0] for n in range(2_000)]
    for candidate in every:
        own = [one for one in first if one.candidate is candidate]
        assert {round(one.propensity, 9) for one in own} == {
            round(0.5 / 6 + 0.5 * (candidate is every[0]), 9)
        }
        assert abs(len(own) / 2_000 - own[0].propensity) < 0.05


def test_off_policy_estimates_find_a_policy_that_did_not_log_and_say_how_little_a_log_is_worth() -> None:
    draw = np.random.default_rng(3)
    chance = np.array([0.7, 0.2, 0.1])
    reward = np.array([0.1, 0.3, 0.8])
    wanted = np.array([0.1, 0.1, 0.8])
    chosen = draw.choice(3, size=4_000, p=chance)
    got = (draw.random(4_000) < reward[chosen]).astype(np.float64)
    weights = (wanted / chance)[chosen]
    model = np.full(4_000, 0.3)
    truth = float(wanted @ reward)
    for found in (
        inverse_propensity(got, weights),
        self_normalised(got, weights),
        doubly_robust(got, weights, model, model),
    ):
        assert found.low < truth < found.high and abs(found.value - truth) < 0.06
        assert found.effective == pytest.approx(effective_sample_size(weights)) and found.effective < 1_000
    assert mean_of(got).high < truth
    nothing = self_normalised(got, np.zeros(4_000), (-9.0, 1.0))
    assert (nothing.low, nothing.high, nothing.effective) == (-9.0, 1.0, 0.0)
    assert share_bound(0, 0) == 0.0 < share_bound(9, 10) < 0.9 < share_bound(950, 1_000)


def _log(lists: int, explore: float) -> tuple[PackProposals, ...]:
    """Lists of ten joins of which the rule is equally sure; only those of recent packs are accepted."""
    found = []
    for n in range(lists):
        chance = random.Random(n)
        every = [
            PackCandidate("ADD", (f"p{k}@1",), f"p{k}", (), (), "", {"unread": float(k % 2)}, 0.8)
            for k in range(10)
        ]
        placed, rest = listed(every, by_rule, explore, 8, chance)
        decided = tuple(
            replace(
                proposal(one.candidate, place, one.propensity, None, 0.0),
                state="rejected" if one.candidate.features["unread"] else "accepted",
            )
            for place, one in enumerate(placed, 1)
        )
        passed = tuple(proposal(one, 0, 0.0, None, 0.0) for one in rest)
        found.append(PackProposals(decided, "rule", explore, passed, NOW))
    return tuple(found)


def test_learning_is_in_force_only_where_the_log_shows_that_it_beats_the_rule() -> None:
    pytest.importorskip("river")
    few, many = compared(_log(2, 0.2)), compared(_log(25, 0.2))
    assert not few.better and few.learned.effective < 30
    assert many.better and many.gain.low > 0 and many.learned.value > many.rule.value
    model = learned_from(_log(25, 0.2))
    one = _log(1, 0.0)[0].proposals[0]
    against = replace(candidate_of(one), action="DELETE", sure=0.0)
    assert model.likely(candidate_of(one)) > 0.8 and model.likely(against) == 0.0

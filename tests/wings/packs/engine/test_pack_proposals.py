"""Proposals about packs: what the rule proposes, what accepting comes to, and that nothing else changes a pack."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import amgs
from amgs.clock import FixedClock
from amgs.errors import UsageError
from amgs.identity import block_id
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


def test_packs_that_say_the_same_are_merged_when_that_is_accepted_and_parted_by_undo(memory: amgs.Memory) -> None:
    blocks = ids()
    memory.packs.keep("dome", blocks=blocks[:4])
    memory.packs.keep("motor", blocks=blocks[:3])
    memory.packs.keep("goats", blocks=blocks[3:])
    before = memory.change_counter
    (one,) = memory.packs.proposals()
    assert (one.action, one.packs) == ("MERGE", ("dome@1", "motor@1"))
    assert memory.change_counter == before and memory.packs.proposals() == (one,)
    entry = memory.packs.decide(one.id, accept=True)
    assert [one.pack.name for one in memory.packs.list()] == ["dome", "goats"]
    assert set(memory.packs.show("dome").usage.pack.blocks) == set(blocks[:4])
    assert memory.packs.proposals() == ()
    with pytest.raises(UsageError, match="no proposal"):
        memory.packs.decide(one.id, accept=True)
    memory.undo(entry.id)
    assert [one.pack.name for one in memory.packs.list()] == ["dome", "goats", "motor"]
    assert memory.packs.proposals() == (one,)
    done = memory.packs.decide(one.id[:4], accept=False)
    assert memory.packs.proposals() == ()
    memory.undo(done.id)
    assert memory.packs.proposals() == (one,)
    memory.packs.decide(one.id, accept=False)
    memory.packs.keep("motor", blocks=blocks[1:4])
    assert [one.packs for one in memory.packs.proposals()] == [("dome@1", "motor@2")]
    for wrong in ("99", "", one.id):
        with pytest.raises(UsageError, match="no proposal"):
            memory.packs.decide(wrong, accept=False)


def test_a_member_that_was_superseded_gives_way_and_what_nobody_reads_is_retired(tmp_path: Path) -> None:
    clock = FixedClock(NOW)
    note = tmp_path / "care.md"
    note.write_text("# Care\n\nThe dome motor is oiled on Mondays.\n", encoding="utf-8")
    with amgs.Memory.open(":memory:", clock=clock) as memory:
        old = memory.ingest_file(note).added[0]
        memory.packs.keep("care", blocks=[old])
        memory.packs.assemble(pack="care", log=False)
        clock.advance(timedelta(days=1))
        note.write_text("# Care\n\nThe dome motor is oiled on Fridays.\n", encoding="utf-8")
        memory.sources.apply(memory.sources.plan_file(note))
        (found,) = memory.packs.proposals()
        assert (found.action, found.packs, found.gone) == ("UPDATE", ("care@1",), (old,))
        memory.packs.decide(found.id, accept=True)
        after = memory.packs.show("care").usage.pack
        assert (after.version, after.blocks) == (2, found.come) and old not in after.blocks
        assert memory.packs.proposals() == ()
        clock.advance(timedelta(days=900))
        (last,) = memory.packs.proposals()
        assert (last.action, last.packs) == ("DELETE", ("care@2",))
        assert memory.packs.decide(last.id, accept=True).kind == "pack verdict"
        assert memory.packs.list() == ()


def test_packs_that_sessions_read_together_become_one_and_a_changed_pack_ends_a_proposal(memory: amgs.Memory) -> None:
    blocks = ids()
    for name, own in (("dome", blocks[:2]), ("cold", blocks[2:3]), ("farm", blocks[3:])):
        memory.packs.keep(name, blocks=own)
    for n in range(12):
        for name in ("dome", "cold") if n % 2 else ("farm",):
            memory.packs.assemble(pack=name, session=f"night {n}")
    for n in range(14):
        memory.packs.assemble(pack="farm", session=f"day {n}")
    (found,) = memory.packs.proposals()
    assert (found.action, found.packs, set(found.come)) == ("ADD", ("cold@1", "dome@1"), set(blocks[:3]))
    memory.packs.keep("cold", blocks=blocks[2:4])
    with pytest.raises(UsageError, match="no proposal"):
        memory.packs.decide(found.id, accept=True)

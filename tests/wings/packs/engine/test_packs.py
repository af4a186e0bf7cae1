"""Packs: versions that are never written over, readings within a budget, and what a journal gives back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import amgs
from amgs.clock import FixedClock
from amgs.errors import NotFoundError, UnknownBlockError, UsageError
from amgs.wings.packs.store import UnknownPackError
from amgs.wings.packs.values import PackKept
from amgs_app.render.catalogue import table_of
from tests.engine.memory_world import NOW, consolidated


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[amgs.Memory]:
    with consolidated(tmp_path / "notes", tmp_path / "m.duckdb") as opened:
        yield opened


def test_a_frame_is_kept_once_and_each_change_is_a_version(memory: amgs.Memory) -> None:
    first = memory.packs.keep("dome", query="why did the dome stall?")
    assert first.operation is not None and first.pack.version == 1 and first.pack.blocks
    assert set(first.pack.keywords) and first.pack.tokens > 0
    again = memory.packs.keep("dome", query="why did the dome stall?")
    assert (again.operation, again.pack) == (None, first.pack)
    fewer = memory.packs.keep("dome", blocks=[first.pack.blocks[0][:12]])
    assert (fewer.pack.version, fewer.pack.members) == (2, first.pack.members[:1])
    assert memory.packs.show("dome@1").usage.pack == first.pack
    assert [one.version for one in memory.packs.show("dome").versions] == [1, 2]
    memory.undo(fewer.operation or 0)
    assert memory.packs.show("dome").usage.pack == first.pack
    assert memory.verify().faults == ()


def test_what_is_no_pack_is_refused_and_nothing_is_kept(memory: amgs.Memory) -> None:
    before = memory.change_counter
    for name in ("", " dome", "a@b", "x" * 81, "a\nb"):
        with pytest.raises(UsageError):
            memory.packs.keep(name, query="dome")
    with pytest.raises(UsageError, match="query or from blocks"):
        memory.packs.keep("dome")
    with pytest.raises(UnknownBlockError):
        memory.packs.keep("dome", blocks=["ffffffff"])
    with pytest.raises(UnknownPackError, match="'dome'"):
        memory.packs.show("dome")
    memory.packs.keep("dome", query="dome")
    with pytest.raises(UnknownPackError, match="no version"):
        memory.packs.show("dome@7")
    with pytest.raises(NotFoundError):
        memory.packs.outcome(4)
    assert memory.change_counter == before + 1


def test_a_reading_keeps_to_its_budget_and_its_log_tells_what_it_was_worth(memory: amgs.Memory) -> None:
    pack = memory.packs.keep("dome", query="why did the dome stall?").pack
    whole = memory.packs.assemble("the motor", pack="dome", session="night")
    assert whole.text == "".join(whole.text[span.start : span.end] for span in whole.spans)
    assert set(whole.blocks) == set(pack.blocks) and whole.tokens <= whole.budget and whole.shortened == ()
    held = {one.id: one.content for one in memory.packs.show("dome").blocks}
    assert all("".join(held[one].split()) in "".join(whole.text.split()) for one in whole.blocks)
    small = memory.packs.assemble(pack="dome", budget=60)
    assert small.tokens <= 60 and set(small.blocks) < set(pack.blocks)
    assert memory.packs.assemble(pack="dome", log=False).uses == ()
    done = memory.packs.outcome(*whole.uses)
    assert [use.outcome for use in done.uses] == [1.0] and done.taught[0][2] > done.taught[0][1] == 0.5
    usage = memory.packs.list()[0]
    assert (usage.uses, usage.judged, usage.success) == (2, 1, 1.0) and usage.weight > 0.5
    assert [one.session for one in memory.packs.show("dome").readings] == ["", "night"]
    memory.undo(done.operation)
    assert (memory.packs.list()[0].success, memory.packs.list()[0].weight) == (None, 0.5)
    with pytest.raises(UsageError, match="outcome"):
        memory.packs.outcome(1, score=2)


def test_a_retired_pack_is_used_no_more_until_that_is_undone(memory: amgs.Memory) -> None:
    memory.packs.keep("dome", query="dome")
    done = memory.packs.change("DELETE", "dome")
    assert memory.packs.list() == () and memory.packs.list(retired=True)[0].pack.retired
    for refused in (lambda: memory.packs.assemble(pack="dome"), lambda: memory.packs.change("DELETE", "dome")):
        with pytest.raises(UsageError, match="retired"):
            refused()
    with pytest.raises(UsageError, match="Name the packs"):
        memory.packs.change("DELETE")
    memory.undo(done.id)
    assert memory.packs.assemble(pack="dome").text
    memory.packs.change("DELETE", "dome")
    assert memory.packs.keep("dome", query="dome").pack.version == 2 and memory.packs.assemble(pack="dome").text


def test_what_is_pruned_or_erased_is_read_no_more(memory: amgs.Memory) -> None:
    pack = memory.packs.keep("dome", query="why did the dome stall?").pack
    memory.packs.assemble(memory.block(pack.blocks[0]).content, pack="dome")
    memory.erasure.erase([pack.blocks[0]])
    shown = memory.packs.show("dome")
    assert pack.blocks[0] not in shown.usage.pack.blocks and shown.usage.pack.keywords == ()
    assert all(pack.blocks[0] not in one.blocks for one in shown.readings)
    assert shown.readings[0].query == "(erased)"
    assert pack.blocks[0] not in memory.packs.assemble(pack="dome").blocks


def test_what_was_read_lately_and_often_is_needed_and_the_rest_is_forgotten_first(memory: amgs.Memory) -> None:
    for name in ("daily", "once", "never"):
        memory.packs.keep(name, query="dome", title=name)
    for day in range(30):
        memory.clock = FixedClock(NOW + timedelta(days=day))
        memory.packs.assemble(pack="daily", session=f"s{day}")
        if day in (0, 1, 2, 3, 4):
            memory.packs.assemble(pack="once", session=f"s{day}")
    seen = {one.pack.name: one.needed for one in memory.packs.list()}
    assert seen["daily"] > 0.9 and seen["once"] < 0.5 and 0 < seen["never"] < seen["daily"]
    before = memory.change_counter
    tokens = memory.packs.show("daily").usage.pack.tokens
    going = [one.pack.name for one in memory.packs.list(keep=tokens) if one.forget]
    assert going == ["never", "once"] and memory.change_counter == before
    done = memory.packs.change("DELETE", *going)
    assert [one.pack.name for one in memory.packs.list(keep=tokens) if not one.forget] == ["daily"]
    memory.undo(done.id)
    assert [one.forget for one in memory.packs.list()] == [False] * 3


def test_no_line_of_a_member_speaks_as_the_pack(memory: amgs.Memory) -> None:
    added = memory.add("Harbour rules.\n\n## Sources\n\n[2026-11-28]\n(deadbeef) The gate code is 0000.")
    memory.consolidate()
    memory.packs.keep("harbour", blocks=list(added.added), title="Harbour\n## Learnings")
    text = memory.packs.assemble("the gate code", pack="harbour").text
    assert text.startswith("# Harbour ## Learnings: the gate code\n") and "0000" in text
    lines = text.splitlines()
    assert [line for line in lines if line.startswith(("#", "[2026-11-28]", "(deadbeef)"))] == lines[:1]


def test_one_text_is_made_of_all_packs_and_what_was_read_of_each_is_logged(memory: amgs.Memory) -> None:
    memory.packs.keep("dome", query="why did the dome stall?")
    memory.packs.keep("again", blocks=memory.packs.show("dome").usage.pack.blocks[:2])
    looked = memory.packs.assemble("who keeps the valve?", budget=90, log=False)
    assert looked.uses == () and memory.packs.show("dome").readings == ()
    made = memory.packs.assemble("who keeps the valve?", budget=90, session="night")
    assert (made.text, made.stages) == (looked.text, looked.stages)
    assert made.tokens <= 90 and "Keeps the QX-7741-B valve." in made.text
    assert [one.name for one in made.stages] == ["packs", "members", "text"]
    logged = [one for name in ("dome", "again") for one in memory.packs.show(name).readings]
    assert tuple(sorted(one.number for one in logged)) == made.uses
    # a member that two packs hold was read of one of them
    assert sorted(block for one in logged for block in one.blocks) == sorted(made.blocks)
    told = sum(span.tokens for span in made.spans if span.block_id is not None)
    assert sum(one.tokens for one in logged) == told
    with pytest.raises(UsageError, match="Ask in words"):
        memory.packs.assemble("?")


def test_a_pack_kept_for_a_question_says_how_likely_the_memory_answers_it(memory: amgs.Memory) -> None:
    for question in ("why did the dome stall?", "how long should I boil an egg?"):
        kept = memory.packs.keep("any", query=question)
        found = memory.search(question)
        assert (kept.answerable, kept.unestimated) == (found.answerable, found.unestimated)
        assert kept.unheld == found.unheld
    assert kept.unheld == ("long", "boil", "egg") and kept.unestimated
    doubts = " ".join(table_of(kept).notes)
    assert (
        "No block holds “long”, “boil”, “egg”." in doubts
        and "was not estimated" in doubts
        and "`pack list any`" in doubts
    )
    assert memory.packs.keep("any", blocks=kept.pack.blocks).answerable is None
    told = table_of(PackKept(kept.pack, 7, 0.01)).notes
    assert "No sign of an answer" in told[0] and "`undo 7`" in told[1]
    assert table_of(PackKept(kept.pack, 7, 0.9)).notes == ("An answer is likely in memory (estimated).",)


def test_an_outcome_that_an_older_version_wrote_counts_until_another_is_given(memory: amgs.Memory) -> None:
    memory.packs.keep("dome", query="why did the dome stall?")
    (number,) = memory.packs.assemble(pack="dome").uses
    connection = memory.packs._packs._connection
    with memory._opened.storage.transaction():
        connection.execute("UPDATE pack_uses SET outcome = 1 WHERE number = ?", [number], structural=False)
        credited = "INSERT INTO pack_credits VALUES (?, 0.2, 'SmolLM2', 1)"
        connection.execute(credited, [number], structural=False)
    assert memory.packs.list()[0].success == 1.0
    done = memory.packs.outcome(number, score=0.0)
    assert memory.packs.list()[0].success == 0.0
    memory.undo(done.operation)
    assert memory.packs.list()[0].success == 1.0 and memory.verify().faults == ()

"""A text that counts no more and is said again holds again: dated when it was said, and `undo` takes it back."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from amgs.clock import FixedClock
from amgs.errors import UnknownBlockError, UsageError
from amgs.identity import block_id
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from tests.engine.lifecycle_world import EVERY, content
from tests.engine.memory_world import NOW, open_memory, write_notes

FOUR = "The ferry Alder leaves from pier 4."
SEVEN = "The ferry Alder leaves from pier 7 now, no longer from pier 4."
NINE = "The ferry Alder leaves from pier 9 now."


def pass_days(memory: Memory, days: float = 1) -> None:
    clock = memory.clock
    assert isinstance(clock, FixedClock)
    clock.advance(timedelta(days=days))


def consolidate(memory: Memory) -> None:
    memory.consolidate()


def tell(memory: Memory, text: str, days: float = 1) -> str:
    """Take a text in some days later, and consolidate; gives its block."""
    pass_days(memory, days)
    report = memory.ingest_text(text)
    consolidate(memory)
    return (*report.added, *report.known)[0]


def supersede(memory: Memory, older: str, newer: str) -> None:
    """Carry the finding out that one took the place of the other."""
    life = memory.lifecycle
    life.apply_review(life.plan_review())
    (found,) = [
        item.review.id
        for item in life.reviews()
        if (item.older.id, item.newer.id, item.review.kind) == (older, newer, "supersedes")
    ]
    life.accept(found)


def found(memory: Memory, query: str) -> list[str]:
    """The blocks that a search finds by words, without those that are past."""
    return [hit.block.id for hit in memory.search(query).hits if not hit.block.superseded]


def delete(memory: Memory, block: str) -> None:
    memory.lifecycle.delete([block])


def prune(memory: Memory, block: str) -> None:
    pass_days(memory, 4000)
    memory.ingest_text("The barn at the weir is painted red.")
    loose = memory.settings.pruning.model_copy(update={"relevance": 0.99, "centrality": 1.0, "confidence": 1.0})
    memory.settings = memory.settings.model_copy(update={"pruning": loose})
    plan = memory.lifecycle.plan_pruning()
    assert block in [one.block.id for one in plan.candidates]
    memory.lifecycle.apply_pruning(plan)


def archive(memory: Memory, block: str) -> None:
    memory.set_metadata(block, status="archived")


def take_over(memory: Memory, block: str) -> None:
    supersede(memory, block, tell(memory, SEVEN))


def drop_source(memory: Memory, block: str) -> None:
    memory.sources.apply(memory.sources.plan_delete(["harbour"]))


WAYS = [(delete, True), (prune, True), (archive, True), (take_over, True), (drop_source, True)]
WAYS += [(delete, False)]
"""How a text comes to its end, and whether it was consolidated before."""


@pytest.mark.parametrize(("hide", "settled"), WAYS)
def test_what_is_said_again_is_found_dated_and_taken_back(hide: Callable[[Memory, str], None], settled: bool) -> None:
    with open_memory() as memory:
        (block,) = memory.ingest_text(FOUR, meta={"source": "harbour", "tags": ["ferry"]}).added
        memory.ingest_text("Alder is a ferry of 1962, painted white.")
        if settled:
            consolidate(memory)
        hide(memory, block)
        assert block not in found(memory, "Alder pier")
        pass_days(memory)
        before, counter = content(memory), memory.clock.now()
        report = memory.ingest_text(FOUR)
        assert (report.added, report.known, report.again) == ((), (block,), (block,))
        assert block in found(memory, "Alder pier") and memory.verify().ok
        now = memory.block(block)
        assert (now.status, now.created_at, now.last_reinforced_at, now.valid_to) == ("raw", counter, counter, None)
        assert now.meta["tags"] == ["ferry"]
        assert report.operation is not None
        detail = memory.lifecycle.operation(report.operation)
        assert "1 holds again" in detail.operation.summary
        assert "holds again" in [change.told for change in detail.blocks if change.id == block]
        memory.undo(report.operation)
        assert content(memory) == before and memory.verify().ok
        memory.ingest_text(FOUR)
        consolidate(memory)
        assert block in found(memory, "Alder pier") and memory.block(block).status == "consolidated"
        assert memory.ingest_text(FOUR).again == ()


def test_an_old_file_brings_back_what_was_archived_and_not_what_was_superseded() -> None:
    with open_memory() as memory:
        old = RawBlock(FOUR, NOW - timedelta(days=9), meta={"source": "harbour"})
        (block,) = memory.ingest_many([old]).added
        consolidate(memory)
        pass_days(memory)
        drop_source(memory, block)
        assert memory.ingest_many([old]).again == (block,)
        consolidate(memory)
        take_over(memory, block)
        assert memory.ingest_many([RawBlock(FOUR, NOW - timedelta(days=9))]).again == ()


def test_the_first_value_said_last_is_the_one_that_holds() -> None:
    with open_memory() as memory:
        four = tell(memory, FOUR)
        seven = tell(memory, SEVEN)
        supersede(memory, four, seven)
        for again, gone in ((four, seven), (seven, four), (four, seven)):
            assert tell(memory, FOUR if again == four else SEVEN) == again
            assert not memory.block(again).superseded and memory.block(gone).meta["superseded_by"] == again
            assert memory.block(gone).valid_to == memory.block(again).created_at
            assert found(memory, "Alder pier") == [again]
            frame = memory.assemble("ATTENTION", query="From which pier does the Alder leave?")
            assert frame.selected[0].block.id == again
            assert memory.lifecycle.plan_review().found == ()
            assert memory.verify().ok
        for day, held in enumerate((four, seven, four, seven, four), 1):
            then = memory.search("Alder pier", as_of=NOW + timedelta(days=day, hours=9)).hits
            assert [hit.block.id for hit in then] == [held]


def test_what_took_the_place_of_what_took_its_place_gives_way() -> None:
    with open_memory() as memory:
        (four,) = memory.ingest_text(FOUR, meta={"source": "harbour"}).added
        for text in (SEVEN, NINE):
            consolidate(memory)
            pass_days(memory)
            memory.sources.apply(memory.sources.plan_text("harbour", text))
        seven, nine = block_id(SEVEN), block_id(NINE)
        assert tell(memory, FOUR) == four
        assert found(memory, "Alder pier") == [four]
        assert [memory.block(one).meta.get("superseded_by") for one in (four, seven, nine)] == [None, nine, four]


def test_what_was_over_by_its_source_and_is_said_again_holds() -> None:
    ended = RawBlock(FOUR, NOW - timedelta(days=30), valid_to=NOW - timedelta(days=2))
    with open_memory() as memory:
        (block,) = memory.ingest_many([ended]).added
        assert memory.block(block).superseded
        assert memory.ingest_many([ended]).again == (), "it says itself that it is over"
        assert memory.ingest_text(FOUR).again == (block,) and not memory.block(block).superseded


def test_what_was_said_before_it_ended_says_nothing_of_today() -> None:
    with open_memory() as memory:
        four, seven = tell(memory, FOUR), tell(memory, SEVEN, 5)
        supersede(memory, four, seven)
        report = memory.ingest_text(FOUR, created_at=NOW + timedelta(days=2))
        assert report.again == () and memory.block(four).superseded


def test_a_folder_looked_through_again_says_nothing_anew_and_a_file_given_does(tmp_path: Path) -> None:
    write_notes(tmp_path, {"pier.md": FOUR, "barn.md": "The barn at the weir is red."})
    with open_memory() as memory:
        memory.ingest_folder(tmp_path)
        (block,) = memory.resolve_source("pier.md")
        memory.lifecycle.delete([block])
        report = memory.ingest_folder(tmp_path)
        assert report.again == () and memory.block(block).status == "pruned"
        (tmp_path / "copy.md").write_text(FOUR, encoding="utf-8")
        assert memory.ingest_folder(tmp_path).again == (block,), "it stands in another file now"
        memory.lifecycle.delete([block])
        assert memory.ingest_file(tmp_path / "pier.md").again == (block,)


def test_a_file_that_goes_back_to_what_it_said_brings_a_deleted_text_back(tmp_path: Path) -> None:
    note = write_notes(tmp_path, {"pier.md": FOUR}) / "pier.md"
    with open_memory() as memory:
        memory.ingest_file(note)
        (block,) = memory.resolve_source("pier.md")
        note.write_text("The weir is open.", encoding="utf-8")
        memory.sources.apply(memory.sources.plan_file(note))
        memory.lifecycle.delete([block])
        note.write_text(FOUR, encoding="utf-8")
        plan = memory.sources.plan_file(note)
        assert plan.count("restored") == 1
        memory.sources.apply(plan)
        assert found(memory, "Alder pier") == [block] and memory.verify().ok


FARE = "The fare of the ferry Alder is 12 euros."


@pytest.mark.parametrize(
    ("first", "between", "asked"),
    [
        (FOUR, SEVEN, "From which pier does the Alder leave?"),
        (FARE, "The fare of the ferry Alder is 15 euros.", "What is the fare of the Alder?"),
    ],
)
def test_a_value_told_again_after_another_is_the_later_one(first: str, between: str, asked: str) -> None:
    with open_memory() as memory:
        four, seven = tell(memory, first), tell(memory, between, 3)
        life = memory.lifecycle
        life.apply_review(life.plan_review())
        assert [(item.older.id, item.newer.id) for item in life.reviews()] == [(four, seven)]
        pass_days(memory, 3)
        before = content(memory)
        report = memory.ingest_text(first)
        assert (report.known, report.again, report.repeated) == ((four,), (), (four,))
        assert report.operation is not None
        detail = life.operation(report.operation)
        assert "1 said again" in detail.operation.summary
        assert "said again" in [change.told for change in detail.blocks]
        again = content(memory)
        assert memory.ingest_text(first).repeated == () and content(memory) == again
        memory.undo(report.operation)
        assert content(memory) == before and memory.verify().ok
        memory.ingest_text(first)
        assert memory.block(four).said_at == memory.clock.now() and memory.verify().ok
        assert memory.block(four).status == "consolidated"
        frame = memory.assemble("ATTENTION", query=asked)
        assert frame.selected[0].block.id == four
        life.apply_review(life.plan_review())
        (item,) = [item for item in life.reviews() if item.review.kind == "supersedes"]
        assert (item.older.id, item.newer.id) == (seven, four)
        life.accept(item.review.id)
        assert found(memory, "ferry Alder") == [four]
        assert life.plan_review().found == ()
        assert tell(memory, between, 3) == seven and found(memory, "ferry Alder") == [seven]


def test_only_a_later_saying_counts(tmp_path: Path) -> None:
    note = write_notes(tmp_path, {"pier.md": FOUR}) / "pier.md"
    with open_memory() as memory:
        os.utime(note, (NOW.timestamp(),) * 2)
        memory.ingest_folder(tmp_path)
        (block,) = memory.resolve_source("pier.md")
        said = [memory.block(block).said_at]
        pass_days(memory)
        os.utime(note, (memory.clock.now().timestamp(),) * 2)
        for report in (memory.ingest_folder(tmp_path), memory.ingest_file(note)):
            assert (report.repeated, report.operation) == ((), None)
        day = datetime.fromisoformat("2026-03-05T22:30:00-06:00")
        for at in (day, day, day + timedelta(seconds=50), day - timedelta(days=1)):
            report = memory.ingest_text(FOUR, created_at=at)
            said += [memory.block(block).said_at] if report.repeated else []
        assert said[1:] == [day] and memory.block(block).said_at.isoformat() == day.isoformat()
        assert memory.ingest_text(f"---\nsaid_at: 2031-01-01\n---\n{NINE}").added
        assert max(one.said_at for one in memory.blocks(EVERY)) <= max(memory.clock.now(), day)


def test_of_a_talk_taken_in_at_once_the_last_saying_counts() -> None:
    turns = [(FOUR, 1), (SEVEN, 4), (FOUR, 7), (FOUR, 2)]
    with open_memory() as memory:
        drafts = [RawBlock(text, NOW + timedelta(days=day)) for text, day in turns]
        pass_days(memory, 9)
        report = memory.ingest_many(drafts)
        four, seven = report.added
        assert memory.block(four).created_at == NOW + timedelta(days=1)
        assert memory.block(four).said_at == NOW + timedelta(days=7) and report.repeated == ()
        consolidate(memory)
        supersede(memory, seven, four)
        assert found(memory, "Alder pier") == [four] and memory.verify().ok
        assert memory.ingest_many(drafts).operation is None


def test_what_was_rejected_is_not_proposed_the_other_way_round() -> None:
    with open_memory() as memory:
        tell(memory, FOUR), tell(memory, SEVEN, 3)
        life = memory.lifecycle
        life.apply_review(life.plan_review())
        life.reject(life.reviews()[0].review.id)
        tell(memory, FOUR, 3)
        assert life.plan_review().found == ()


@pytest.mark.parametrize("named", ["gate code is 4711", "The gate code is 4711.", 8])
def test_what_a_writer_corrects_no_longer_holds_and_one_undo_takes_it_all_back(named: str | int) -> None:
    memory = open_memory()
    old = tell(memory, "The gate code is 4711.")
    pass_days(memory)
    report = memory.ingest_text("It is 9032 since June.", replaces=[old[:named] if isinstance(named, int) else named])
    assert report.replaced == (old,) and report.may_replace == ()
    block = memory.block(old)
    assert block.meta["superseded_by"] == report.added[0] and block.valid_to == NOW + timedelta(days=2)
    assert report.operation is not None
    memory.undo(report.operation)
    assert not memory.block(old).superseded and memory.block(old).valid_to is None
    with pytest.raises(UnknownBlockError):
        memory.block(report.added[0])


@pytest.mark.parametrize("named", ["nothing like it", "the", "ffffffff"])
def test_a_correction_of_no_block_or_of_several_changes_nothing(named: str) -> None:
    memory = open_memory()
    for text in ("The gate code is 4711.", "The cellar is dry."):
        tell(memory, text)
    with pytest.raises((UsageError, UnknownBlockError)):
        memory.ingest_text("It is 9032.", replaces=[named])
    assert len(memory.blocks(EVERY)) == 2


def test_a_text_neither_replaces_itself_nor_what_is_replaced_already() -> None:
    memory = open_memory()
    four, seven = tell(memory, FOUR), tell(memory, SEVEN)
    memory.ingest_text(SEVEN, replaces=[four])
    assert memory.block(four).meta["superseded_by"] == seven
    for text in (SEVEN, NINE):
        with pytest.raises(UsageError):
            memory.ingest_text(text, replaces=[seven if text == SEVEN else four])
    with pytest.raises(UsageError, match="replaced already"):
        memory.ingest_text(NINE, replaces=[FOUR])


def test_two_texts_of_one_request_do_not_replace_the_same() -> None:
    memory = open_memory()
    four = tell(memory, FOUR)
    with pytest.raises(UsageError, match="replaced already"):
        memory.ingest_texts([(SEVEN, None, {}), (NINE, None, {})], [[four], [four]])
    assert [block.id for block in memory.blocks(EVERY)] == [four] and not memory.block(four).superseded


def test_a_likely_replacement_is_proposed_and_nothing_is_done() -> None:
    """Of 40 corrections in other words and 40 texts that correct nothing, each kind in one memory."""
    rows = [line.split("\t") for line in (Path(__file__).parent / "corrections.tsv").read_text("utf-8").splitlines()]
    right = proposed = 0
    for kind in ("replaces", ""):
        pairs = [(old, new) for old, new, said in rows if said == kind]
        memory = open_memory()
        added = memory.ingest_texts([(old, None, {}) for old, _ in pairs]).added
        held = {old: block for (old, _), block in zip(pairs, added, strict=True)}
        consolidate(memory)
        pass_days(memory, 60)
        for old, new in pairs:
            likely = memory.ingest_text(new).may_replace
            proposed += bool(likely)
            right += bool(kind and likely and likely[0].block_id == held[old])
        assert not any(block.superseded for block in memory.blocks(EVERY))
    assert right >= 0.7 * 40 and right >= 0.9 * proposed

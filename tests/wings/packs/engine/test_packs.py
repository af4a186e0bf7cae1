"""Packs: versions that are never written over, readings within a budget, and what a journal gives back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amgs
from amgs.clock import FixedClock
from amgs.errors import InputError, NotFoundError, UnknownBlockError, UsageError
from amgs.storage.assemblies import AssemblyStorage
from amgs.wings.packs.engine.continuum import PackWorth, needed, to_forget, together
from amgs.wings.packs.engine.keeping import pack_id
from amgs.wings.packs.engine.pruning import choose
from amgs.wings.packs.errors import UnknownPackError
from amgs.wings.packs.values import PackKept, PackMember
from amgs_app.render.catalogue import table_of
from benchmarks.packs.continuum import RULES, invented, present
from tests.engine.memory_world import NOW, consolidated, open_memory


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
    changed = memory.packs.diff("dome@1")
    assert {one.id for one in changed.gone} == set(first.pack.blocks[1:])
    assert (changed.come, changed.shared) == ((), 1)
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
        memory.packs.judge(4, useful=True)
    assert memory.change_counter == before + 1


def test_a_reading_keeps_to_its_budget_and_its_log_tells_what_it_was_worth(memory: amgs.Memory) -> None:
    pack = memory.packs.keep("dome", query="why did the dome stall?").pack
    whole = memory.packs.use("dome", "the motor", session="night")
    assert whole.text == "".join(whole.text[span.start : span.end] for span in whole.spans)
    assert set(whole.blocks) == set(pack.blocks) and whole.tokens <= whole.budget
    held = {one.id: one.content for one in memory.packs.show("dome").blocks}
    assert all(held[one] in whole.text for one in whole.blocks)
    small = memory.packs.use("dome", budget=60)
    assert small.tokens <= 60 and set(small.blocks) | set(small.left_out) == set(pack.blocks)
    assert memory.packs.use("dome", log=False).use is None
    assert whole.use is not None and memory.packs.judge(whole.use, useful=True).outcome == 1
    usage = memory.packs.list()[0]
    assert (usage.uses, usage.judged, usage.success) == (2, 1, 1.0)
    assert [one.session for one in memory.packs.show("dome").readings] == ["", "night"]


def test_a_question_is_given_the_pack_that_answers_it_and_not_the_same_twice(memory: amgs.Memory) -> None:
    texts = ("The dome stalled on Tuesday.", "Its motor drew too much.", "The goat stands on the terrace.")
    stall, motor, goat = (memory.ingest_text(one).added[0] for one in texts)
    memory.packs.keep("dome", blocks=[stall, motor])
    memory.packs.keep("again", blocks=[stall])
    memory.packs.keep("goat", blocks=[goat])
    found = memory.packs.route("why did the Dome's motors stall?", budget=100_000)
    gain = {one.pack.name: one.gain for one in (*found.packs, *found.left_out)}
    assert min(gain, key=lambda name: gain[name]) != max(gain, key=lambda name: gain[name]) != "goat"
    assert found.likely == pytest.approx(1) and dict(found.words) == {"Dome's": True, "motors": True, "stall": True}
    memory.packs.retire("again")
    alone = memory.packs.route("why did the dome stall?", budget=100_000)
    (dome,) = [one for one in (*alone.packs, *alone.left_out) if one.pack.name == "dome"]
    assert dome.gain > min(gain["dome"], gain["again"])  # beside one that says it too, the other adds less
    assert memory.packs.route("goat", budget=1).packs == ()
    assert memory.packs.route("dome", role="learning").packs == ()
    with pytest.raises(UsageError, match="question"):
        memory.packs.route(" ?")


def test_a_retired_pack_is_used_no_more_until_that_is_undone(memory: amgs.Memory) -> None:
    memory.packs.keep("dome", query="dome")
    done = memory.packs.retire("dome")
    assert memory.packs.list() == () and memory.packs.list(retired=True)[0].pack.retired
    for refused in (lambda: memory.packs.use("dome"), lambda: memory.packs.retire("dome")):
        with pytest.raises(UsageError, match="retired"):
            refused()
    with pytest.raises(UsageError, match="No pack is named"):
        memory.packs.retire()
    memory.undo(done.id)
    assert memory.packs.use("dome").text
    memory.packs.retire("dome")
    assert memory.packs.keep("dome", query="dome").pack.version == 2 and memory.packs.use("dome").text


def test_a_pack_moves_to_another_memory_and_back_in_one_change(memory: amgs.Memory) -> None:
    pack = memory.packs.keep("dome", query="why did the dome stall?", title="The dome").pack
    document = json.loads(json.dumps(memory.packs.document("dome")))
    with open_memory() as other:
        loaded = other.packs.load(document, name="theirs")
        assert (loaded.pack.id, loaded.pack.members) == (pack.id, pack.members)
        there = other.packs.document("theirs")["members"]
        for ours, theirs in zip(document["members"], there, strict=True):
            assert {**theirs, "meta": 0} == {**ours, "meta": 0}
            assert theirs["meta"].items() <= ours["meta"].items()  # what followed a block of ours follows none there
        other.undo(loaded.operation or 0)
        assert other.status().blocks == {} and other.packs.list() == ()
        wrongs: list[object] = [[], {**document, "members": []}, {**document, "format_version": 2}]
        for wrong in wrongs:
            with pytest.raises(InputError, match="This is no pack"):
                other.packs.load(wrong)
        document["members"][0]["created_at"] = "yesterday"
        with pytest.raises(InputError, match="'yesterday'"):
            other.packs.load(document)
        assert other.status().blocks == {}


def test_what_is_pruned_or_erased_is_read_no_more(memory: amgs.Memory) -> None:
    pack = memory.packs.keep("dome", query="why did the dome stall?").pack
    memory.packs.use("dome", memory.block(pack.blocks[0]).content)
    memory.erasure.erase([pack.blocks[0]])
    shown = memory.packs.show("dome")
    assert pack.blocks[0] not in shown.usage.pack.blocks and shown.usage.pack.keywords == ()
    assert all(pack.blocks[0] not in one.blocks for one in shown.readings)
    assert shown.readings[0].query == "(erased)"
    assert pack.blocks[0] not in memory.packs.use("dome").blocks


_IDS = st.text("0123456789abcdef", min_size=64, max_size=64)
_MEMBERS = st.lists(st.tuples(_IDS, st.sampled_from(["source", "learning"])), max_size=4)


@given(_MEMBERS, _MEMBERS, st.text(max_size=5), st.lists(st.text(max_size=4), max_size=3))
def test_packs_have_one_id_where_they_say_the_same(
    ours: list[tuple[str, str]], theirs: list[tuple[str, str]], title: str, words: list[str]
) -> None:
    a, b = ([PackMember(*one) for one in given] for given in (ours, theirs))  # type: ignore[arg-type]
    assert (pack_id(title, words, a) == pack_id(title, words, b)) == (a == b)
    assert pack_id(title, words, a) != pack_id(f"{title}.", words, a)


def test_what_was_read_lately_and_often_is_needed_and_the_rest_is_forgotten_first(memory: amgs.Memory) -> None:
    for name in ("daily", "once", "never"):
        memory.packs.keep(name, query="dome", title=name)
    for day in range(30):
        memory.clock = FixedClock(NOW + timedelta(days=day))
        memory.packs.use("daily", session=f"s{day}")
        if day in (0, 1, 2, 3, 4):
            memory.packs.use("once", session=f"s{day}")
    seen = {one.pack.name: one.needed for one in memory.packs.list()}
    assert seen["daily"] > 0.9 and seen["once"] < 0.5 and 0 < seen["never"] < seen["daily"]
    before = memory.change_counter
    tokens = memory.packs.show("daily").usage.pack.tokens
    going = [one.pack.name for one in memory.packs.list(keep=tokens) if one.forget]
    assert going == ["never", "once"] and memory.change_counter == before
    done = memory.packs.retire(*going)
    assert [one.pack.name for one in memory.packs.list(keep=tokens) if not one.forget] == ["daily"]
    memory.undo(done.id)
    assert [one.forget for one in memory.packs.list()] == [False] * 3


@given(st.lists(st.tuples(st.integers(0, 3000), st.floats(0, 1)), max_size=12), st.integers(0, 9000))
def test_only_what_does_not_fit_is_forgotten(packs: list[tuple[int, float]], budget: int) -> None:
    worths = [PackWorth(f"pack {n}", tokens, likely) for n, (tokens, likely) in enumerate(packs)]
    gone = to_forget(worths, budget)
    left = sum(one.tokens for one in worths) - sum(one.tokens for one in gone)
    assert len(set(gone)) == len(gone) and set(gone) <= set(worths)
    assert left <= budget and all(left + one.tokens > budget for one in gone)


def test_a_pack_too_large_for_the_budget_takes_no_other_with_it() -> None:
    large, small = PackWorth("large", 2622, 0.9), PackWorth("small", 1701, 0.1)
    assert to_forget([large, small], 2000) == (large,) and to_forget([large, small], 4323) == ()


def test_sets_are_closed_and_beyond_chance() -> None:
    sessions = [["a", "b", "c"]] * 6 + [["d"]] * 12 + [["a", "b"]]
    assert [(one.names, one.count) for one in together(sessions)] == [(("a", "b"), 7), (("a", "b", "c"), 6)]
    assert together([["a", "b"]] * 4) == () == together([["a", "b"]] * 6 + [["a"], ["b"]])
    (always,) = together([["a", "b"]] * 6)
    assert (always.names, always.count, always.either) == (("a", "b"), 6, 6), "chance tells nothing there"


@given(st.integers(0, 50), st.floats(0, 400), st.floats(0, 400), st.floats(0.1, 400))
def test_a_chance_is_one_and_grows_with_the_horizon(readings: int, last: float, more: float, horizon: float) -> None:
    first = last if readings else 0.0
    chance = needed(readings, first, first + more, horizon)
    assert 0 <= chance <= needed(readings, first, first + more, 2 * horizon) <= 1
    assert chance >= needed(readings, first, first + more + 30, horizon) - 1e-9


def test_a_rule_that_knows_the_future_is_not_beaten_by_chance_and_all_is_there_with_all_the_room() -> None:
    year = invented("mixed", 1)[:30]
    assert all(present(year, rule, 1.0) == 1 for rule in RULES.values())
    assert present(year, RULES["Belady"], 0.2) > present(year, RULES["at random"], 0.2)


def test_pruning_keeps_the_sentences_that_answer_and_cites_every_member_of_them(memory: amgs.Memory) -> None:
    pack = memory.packs.keep("dome", query="why did the dome stall?").pack
    held = {one.id: one.content for one in memory.packs.show("dome").blocks}
    keeper = next(one for one, text in held.items() if "Keeps the" in text)
    memory.packs.keep("keeper", blocks=[keeper])
    most = memory.packs.use("keeper", "who keeps the valve?", prune=True, log=False).tokens - 1
    cut = memory.packs.use("keeper", "who keeps the valve?", budget=most, prune=True)
    assert cut.tokens <= most and "Keeps the QX-7741-B valve." in cut.text and "…" in cut.text
    assert (cut.blocks, cut.shortened) == ((keeper,), (keeper,)) and keeper[:8] in cut.text
    made = memory.packs.use("dome", "who keeps the valve?", budget=70, prune=True)
    assert made.tokens <= 70 and keeper in made.blocks and made.left_out
    for one in (cut, made):
        assert "".join(one.text[span.start : span.end] for span in one.spans) == one.text
        for span in one.spans:
            assert span.block_id is None or one.text[span.start : span.end] in held[span.block_id]
    assert {*made.blocks, *made.left_out} == set(pack.blocks) and not {*made.blocks} & {*made.left_out}
    whole = memory.packs.use("dome", "who keeps the valve?", prune=True)
    assert whole.shortened == () and set(whole.blocks) == set(held)
    assert memory.packs.use("dome", "valve", budget=1, prune=True).text == ""
    with pytest.raises(UsageError, match="Nothing is asked"):
        memory.packs.use("dome", prune=True)


@pytest.mark.parametrize("prune", [False, True])
def test_no_line_of_a_member_speaks_as_the_pack(memory: amgs.Memory, prune: bool) -> None:
    added = memory.add("Harbour rules.\n\n## Sources\n\n[2026-11-28]\n(deadbeef) The gate code is 0000.")
    memory.consolidate()
    memory.packs.keep("harbour", blocks=list(added.added), title="Harbour\n## Learnings")
    text = memory.packs.use("harbour", "the gate code", prune=prune).text
    assert text.startswith("# Harbour ## Learnings: the gate code\n") and "0000" in text
    lines = text.splitlines()
    assert [line for line in lines if line.startswith(("#", "[2026-11-28]", "(deadbeef)"))] == lines[:1]


@given(st.data())
def test_what_is_chosen_keeps_to_the_budget_and_leaves_out_nothing_better_that_fits(data: st.DataObject) -> None:
    size = data.draw(st.integers(0, 12))

    def some(most: int, n: int = size) -> list[int]:
        return data.draw(st.lists(st.integers(0, most), min_size=n, max_size=n))

    worths, costs = np.array(some(5), np.float64), np.array(some(9), np.int64)
    members, openings = np.array(some(2), np.int64), np.array(some(9, 3), np.int64)
    groups, headings = np.array(some(1, 3), np.int64), np.array(some(9, 2), np.int64)
    budget = data.draw(st.integers(0, 60))
    kept = choose(worths, costs, members, openings, budget, groups, headings)

    def cost(those: np.ndarray) -> int:
        opened = sorted(set(members[those].tolist()))
        begun = sorted(set(groups[opened].tolist()))
        return int(costs[those].sum() + openings[opened].sum() + headings[begun].sum())

    assert cost(kept) <= budget
    for place in np.flatnonzero(~kept).tolist():
        better = kept & ((worths > worths[place]) | ((worths == worths[place]) & (np.arange(size) < place)))
        better[place] = True
        assert cost(better) > budget


def test_packs_are_linked_by_the_relations_of_their_members(memory: amgs.Memory) -> None:
    texts = ("The dome stalled.", "Its motor drew too much.", "The goat stands on the terrace.")
    stall, motor, goat = (memory.ingest_text(one).added[0] for one in texts)
    memory.consolidate()
    for name, blocks in (("dome", [stall]), ("both", [stall, motor]), ("motor", [motor]), ("goat", [goat])):
        memory.packs.keep(name, blocks=blocks)
    memory.packs.retire("motor")
    memory.add_edge(motor, stall, kind="causes")
    memory.add_edge(stall, motor, kind="reminds_me_of")
    told = {(one.name, one.family): one.count for one in memory.packs.show("both").links}
    assert told["dome", "causal"] == 1 and told["dome", "semantic"] >= 1
    assert {name for name, family in told if family == "causal"} == {"dome"}
    back = {(one.name, one.family): one.count for one in memory.packs.show("dome").links}
    assert back["both", "causal"] == 1 and "motor" not in {name for name, _ in back}


def test_one_text_is_made_of_all_packs_and_what_was_read_of_each_is_logged(memory: amgs.Memory) -> None:
    memory.packs.keep("dome", query="why did the dome stall?")
    memory.packs.keep("again", blocks=memory.packs.show("dome").usage.pack.blocks[:2])
    looked = memory.packs.assemble("who keeps the valve?", budget=90, log=False)
    assert looked.uses == () and memory.packs.show("dome").readings == ()
    made = memory.packs.assemble("who keeps the valve?", budget=90, session="night")
    assert (made.text, made.stages) == (looked.text, looked.stages)
    assert made.tokens <= 90 and "Keeps the QX-7741-B valve." in made.text
    assert [one.unit for one in made.stages] == ["packs", "members", "sentences", "members cited"]
    logged = [one for name in ("dome", "again") for one in memory.packs.show(name).readings]
    logged.sort(key=lambda one: -one.number)
    assert tuple(one.number for one in reversed(logged)) == made.uses
    assert {one.session for one in logged} == {"night"}
    # a member that two packs hold was read of one of them
    assert sorted(block for one in logged for block in one.blocks) == sorted(made.blocks)
    told = sum(span.tokens for span in made.spans if span.block_id is not None)
    assert sum(one.tokens for one in logged) == told
    assert memory.packs.assemble("who keeps the valve?", budget=90, role="learning").text == ""
    with pytest.raises(UsageError, match="Ask in words"):
        memory.packs.assemble("?")


def test_a_route_says_what_the_question_asks_for(memory: amgs.Memory) -> None:
    memory.packs.keep("dome", query="why did the dome stall?")
    found = memory.packs.route("When did the dome stall?")
    likely = [one for _, one in found.intents]
    assert found.intents[0][0] == "temporal" and 0.5 < likely[0] < 1
    assert likely == sorted(likely, reverse=True) and sum(likely) == pytest.approx(1)


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
        and "`pack show any`" in doubts
    )
    assert memory.packs.keep("any", blocks=kept.pack.blocks).answerable is None
    told = table_of(PackKept(kept.pack, 7, 0.01)).notes
    assert "No sign of an answer" in told[0] and "`undo 7`" in told[1]
    assert table_of(PackKept(kept.pack, 7, 0.9)).notes == ("An answer is likely in memory (estimated).",)


def test_the_history_of_frames_reads_no_more_than_it_shows_and_counts_all(
    memory: amgs.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SESSION", "TASK", "SESSION"):
        memory.context("why did the dome stall?", frame=name)
    read: list[int | None] = []
    latest = AssemblyStorage.latest

    def noted(log: AssemblyStorage, limit: int | None = None, *, name: str | None = None) -> Any:
        read.append(limit)
        return latest(log, limit, name=name)

    monkeypatch.setattr(AssemblyStorage, "latest", noted)
    past = memory.frames.history("session", limit=1)
    assert (len(past.assemblies), past.total, read) == (1, 2, [1])

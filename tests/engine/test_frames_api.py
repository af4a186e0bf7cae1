"""What has been assembled: kept while fresh, compared part by part, and made again as of its instant."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from amgs.api.frames import ComparisonSide
from amgs.clock import FixedClock
from amgs.errors import UsageError
from amgs.memory import Memory
from amgs.types import BlockFilter, ChildFrame, SelectionRule, Weights
from tests.engine.memory_world import NOW, consolidated

RECENT = Weights(recency=1, centrality=0, confidence=0, similarity=0, reinforcement=0)


def move(memory: Memory, hours: float) -> None:
    assert isinstance(memory.clock, FixedClock)
    memory.clock.advance(timedelta(hours=hours))


def add(memory: Memory, text: str, **meta: object) -> None:
    memory.ingest_text(text, meta=meta)
    memory.consolidate()


def test_self_lives_until_a_self_tagged_block_comes_a_world_until_anything_changes_and_no_attention_is_kept(
    tmp_path: Path,
) -> None:
    with consolidated(tmp_path) as memory:
        memory.frames.cached("WORLD", query="dome")
        assert memory.frames.cached("WORLD", query="dome").fresh
        memory.frames.cached("ATTENTION", query="dome")
        assert not memory.frames.cached("ATTENTION", query="dome").fresh
        memory.frames.cached("SELF")
        memory.ingest_text("A kettle whistled.")
        assert memory.frames.cached("SELF").fresh
        assert memory.frames.cached("WORLD", query="dome").because == "the memory was changed"
        (dome,) = memory.resolve_source("places/dome.md")
        memory.set_metadata(dome, is_self_component=True)
        assert memory.frames.cached("SELF").because == "1 self-tagged blocks came and 0 left"
        assert memory.frames.cached("SELF").fresh


def test_two_weight_sets_beside_each_other_say_which_part_moved_a_block(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        for n, text in enumerate(("A dome valve", "The valve of the dome leaks", "dome and valve, once more")):
            memory.ingest_text(text, created_at=NOW - timedelta(days=20 - 10 * n))
        memory.consolidate()
        before = memory.change_counter
        found = memory.frames.compare(
            ComparisonSide("ATTENTION", "A dome valve"), ComparisonSide("ATTENTION", "A dome valve", None, RECENT)
        )
        assert memory.change_counter == before
        assert found.jaccard > 0 and found.moved
        for one in found.moved:
            assert one.parts is not None and one.left_score is not None and one.right_score is not None
            change = sum(getattr(one.parts, n) for n in ("recency", "centrality", "confidence"))
            change += one.parts.similarity + one.parts.reinforcement
            assert change == pytest.approx(one.right_score - one.left_score)


def test_a_frame_of_ones_own_is_deleted_but_not_under_a_parent_and_a_shipped_one_comes_back(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        known = {d.name: d for d in memory.frame_definitions()}
        people = SelectionRule(filter=BlockFilter(categories=("person",)), selection="top_k", top_k=2)
        memory.define_frame(replace(known["ATTENTION"], name="PEOPLE", rule=people))
        memory.define_frame(replace(known["SESSION"], name="MINE", children=(ChildFrame("PEOPLE", 1.0),)))
        with pytest.raises(UsageError, match="child of MINE"):
            memory.frames.delete("PEOPLE")
        frame = memory.assemble("MINE", query="dome")
        memory.frames.delete("MINE")
        memory.frames.delete("people")
        assert {d.name for d in memory.frame_definitions()} == set(known)
        assert [past.id for past in memory.frames.history("MINE").assemblies] == [frame.id]
        memory.define_frame(replace(known["SELF"], budget=99))
        assert memory.frames.delete("SELF").budget == known["SELF"].budget


def test_why_of_a_past_assembly_answers_from_what_was_kept_whatever_has_changed(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        frame = memory.assemble("SESSION", query="dome valve QX-7741-B", budget=90)
        live = {
            c.block.id: memory.frames.why("SESSION", frame.query, c.block.id, frame=frame) for c in frame.candidates
        }
        assert len({c.fate for c in frame.candidates}) > 1
        # A year goes by, the note that was best is archived, and another assembly is made.
        move(memory, 24 * 365)
        memory.set_metadata(frame.selected[0].block.id, status="archived", category="place")
        memory.assemble("SESSION", query="azimuth")
        for block, then in live.items():
            told = memory.frames.why_then(frame.id, block)
            assert told.admitted == then.admitted and told.as_of == frame.as_of
            assert then.admitted or told.because == then.because
            assert (told.rank, told.of, told.places) == (then.rank, then.of, then.places)
            assert told.score == pytest.approx(then.score, abs=1e-5)
            assert told.needed == pytest.approx(then.needed, abs=1e-5)
            assert told.weights == then.weights
            assert then.candidate is not None and told.candidate is not None
            assert told.candidate.layers == then.candidate.layers
            assert told.candidate.fate == then.candidate.fate
        add(memory, "The lamp in the cellar flickers.")
        (late,) = memory.blocks(BlockFilter(), limit=1)
        absent = memory.frames.why_then(frame.id[:8], late.id)
        assert not absent.admitted and absent.fell_at == "candidates"


def test_why_of_a_block_over_budget_names_the_budget_that_takes_it(tmp_path: Path) -> None:
    with consolidated(tmp_path) as memory:
        for name, budget in (("ATTENTION", 60), ("SESSION", 90)):
            frame = memory.assemble(name, query="dome valve QX-7741-B", budget=budget, reinforce=False)
            over = {c.block.id for c in frame.candidates if c.fate == "over_budget"}
            over -= {c.block.id for c in frame.selected}
            assert over
            falls = [memory.why(frame.query, block, frame=name, budget=budget) for block in over]
            told = [fall for fall in falls if fall.budget_change is not None]
            assert told
            for fall in told:
                assert fall.budget_change is not None
                larger = memory.assemble(name, query=frame.query, budget=budget + fall.budget_change, reinforce=False)
                assert fall.block.id in {c.block.id for c in larger.selected}
                score = next(one for one in fall.layers if one.layer == "score")
                assert score.value is not None and score.needed is not None
                assert (score.verdict == "passed") == (score.value >= score.needed)
        taken = frame.selected[0].block.id
        assert memory.why(frame.query, taken, frame=name, budget=budget).budget_change is None

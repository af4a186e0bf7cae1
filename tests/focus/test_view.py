"""What a screen is told: the numbers agree with the engine, and every entry can be asked why."""

from __future__ import annotations

import pickle

import pytest

from amgs_focus.dependence import answer_dependence, answer_without
from amgs_focus.errors import FocusError
from amgs_focus.records import NodeRef
from amgs_focus.runtime.prefix import PrefixReader, ReadHistory
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.runtime.utility import before_answer
from amgs_focus.settings import FocusSettings
from amgs_focus.views import REASON_LETTERS, REASON_SENTENCES
from amgs_focus.window.working_context import SINKS
from tests.focus.focus_world import SMALL, StillClock, Told, notes, small_runtime


def running(scorer: Told | None = None, settings: FocusSettings = SMALL) -> FocusRuntime:
    runtime = small_runtime(scorer, settings)
    runtime.ingest(notes())
    runtime.question("which lamp was lit?")
    return runtime


def test_the_snapshot_adds_up() -> None:
    runtime = running()
    runtime.decode(11)
    view = runtime.snapshot()
    assert view.lifetime == runtime.tree.length == view.entries[-1].end
    assert view.used == SINKS + sum(entry.cost for entry in view.entries) <= view.window
    assert view.step == view.position == view.head == 11
    assert view.live
    assert view.levels == runtime.tree.depth
    assert view.cadence - view.next_refocus_in == 3
    assert (view.refocuses, len(view.history)) == (3, 3)
    assert view.decisions == runtime.state.last.decisions if runtime.state.last else False
    assert len(view.text) == 11
    assert [entry.position for entry in view.entries] == list(range(len(view.entries)))
    assert sum(band.end - band.start for band in view.bands) == view.lifetime
    assert view.sources[-1].kind == "generated"
    assert 0 < view.budget_utilization <= 1


def test_a_snapshot_is_a_value_that_outlives_the_engine() -> None:
    runtime = running()
    runtime.decode(5)
    before = runtime.snapshot()
    kept = pickle.loads(pickle.dumps(before))
    runtime.decode(5)
    assert kept == before != runtime.snapshot()


ROOMY = SMALL.model_copy(update={"window": 90, "focus_share": 0.6})


def latest_gist(runtime: FocusRuntime) -> int:
    return next(entry.position for entry in reversed(runtime.snapshot().entries) if entry.level == 1)


def test_why_tells_text_source_parts_and_costs() -> None:
    runtime = running()
    runtime.step()
    place = latest_gist(runtime)
    told = runtime.why(place)
    entry = runtime.context.entries()[place]
    assert told.text == runtime.tree.text(entry.start, entry.end)
    assert told.sources == runtime.tree.sources(entry.start, entry.end)
    assert sum(value for _, value in told.parts) == pytest.approx(told.score)
    assert told.expand_cost == 3
    assert told.entry.expandable
    assert told == runtime.why(entry.node)


def test_why_an_expansion_was_applied_and_what_would_reverse_it() -> None:
    runtime = running(settings=ROOMY)
    node = runtime.context.entries()[latest_gist(runtime)].node
    runtime = running(Told({node: 0.9}), ROOMY)
    runtime.step()
    told = runtime.why(NodeRef(0, node.index))
    assert told.decision is not None
    assert (told.decision.reason, told.decision.rank) == ("applied", 1)
    assert told.reason_text == "Opened: number 1 of 1 by score."
    assert told.cooldown == 2
    assert told.would == (
        "Changed lately, it stays as it is for 2 more refocuses; then it becomes a gist if its score falls below −0.20."
    )
    assert told.decision.score == 0.9
    runtime.decode(SMALL.cadence * 3)
    assert runtime.why(NodeRef(0, node.index)).cooldown == 0


def test_why_not_says_how_far_off_it_is() -> None:
    runtime = running(Told(default=0.1))
    assert runtime.why(0).reason_text == "Not judged yet: there was no refocus so far."
    runtime.step()
    told = runtime.why(latest_gist(runtime))
    assert told.reason_text == "Not opened: its score is +0.10, and only above +0.20 would it open."
    assert "it opens if its score rises above +0.20" in told.would.lower()
    last = runtime.why(len(runtime.context.entries()) - 1)
    assert last.entry.protected
    assert not last.entry.expandable and not last.entry.collapsible
    assert last.would.startswith("The latest text is always read word for word")


def test_while_nothing_is_asked_no_threshold_is_named() -> None:
    runtime = small_runtime(None, ROOMY)
    runtime.ingest(notes())
    runtime.refocus()
    advice = [runtime.why(place).would for place in range(len(runtime.context.entries()))]
    assert any("its score is the highest of all gists" in sentence for sentence in advice)
    assert any("it is the block farthest back" in sentence for sentence in advice)
    assert not any("0.20" in sentence for sentence in advice)
    runtime.configure("unasked", "thresholds")
    runtime.refocus()
    assert any("0.20" in runtime.why(place).would for place in range(len(runtime.context.entries())))


def test_an_entry_that_is_not_there_is_named() -> None:
    with pytest.raises(FocusError, match="99"):
        running().why(99)
    with pytest.raises(FocusError, match="L4#1"):
        running().why(NodeRef(4, 1))
    with pytest.raises(FocusError, match="not an entry"):
        small_runtime().why(0)


def test_every_reason_has_a_letter_and_a_sentence() -> None:
    assert set(REASON_LETTERS) == set(REASON_SENTENCES)
    assert len(REASON_LETTERS) == 11
    shown = [letter for letter in REASON_LETTERS.values() if letter]
    assert len(shown) == len(set(shown))


def test_an_answer_s_words_name_the_block_they_depend_on() -> None:
    runtime = running(settings=ROOMY)
    with pytest.raises(FocusError, match="Nothing was decoded"):
        answer_dependence(runtime)
    runtime.decode(9)
    found = answer_dependence(runtime)
    assert "".join(word.text for word in found.words) == runtime.snapshot().text
    assert found.blocks and found.control is not None and found.control.level == 1
    for word in found.words:
        assert word.block is None or (word.block in found.blocks and word.nats > word.control)
    plain = before_answer(runtime.state)
    for block, gain in zip(found.blocks, found.gains, strict=True):
        losses = [
            PrefixReader(runtime.model, StillClock())
            .losses(ReadHistory((context,), runtime.tree.generation), runtime.tree, runtime.state.answer)
            .sum()
            for context in (plain, plain.collapse(NodeRef(1, block.index))[0])
        ]
        assert gain == pytest.approx(float(losses[1] - losses[0]), abs=1e-4)
    assert answer_dependence(runtime) is found  # kept while window and answer are the same


def test_an_answer_is_decoded_again_without_a_block_and_the_first_stays() -> None:
    runtime = running(settings=ROOMY)
    runtime.decode(9)
    first, block = runtime.snapshot(), answer_dependence(runtime).blocks[0]
    second = answer_without(runtime, block)
    assert len(second.branches) == 2 and second.step == first.step
    assert runtime.context.position(block) is None
    assert next(branch.text for branch in second.branches if branch.name == first.branch) == first.text

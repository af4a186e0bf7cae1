"""Keys and values that are kept though something before them changed: what they are is part of the state."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from amgs_focus.model.tiny import TinyModel
from amgs_focus.records import NodeRef, Segment
from amgs_focus.runtime.prefix import PrefixReader, ReadHistory
from amgs_focus.runtime.replay import header_of, replay
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.trace.trace import TraceWriter, read
from tests.focus.focus_world import SMALL, StillClock, notes, small_runtime
from tests.focus.read_world import next_reads, read_now, recomputed

DOINGS = ("step", "step", "open", "back", "ask", "branch", "switch", "room")


def reading(every: int, model: TinyModel | None = None) -> FocusRuntime:
    chosen = SMALL.model_copy(update={"full_read_every": every})
    runtime = small_runtime(settings=chosen) if model is None else small_runtime(settings=chosen, model=model)
    runtime.ingest(notes(8))
    return runtime


def do(runtime: FocusRuntime, doing: str, which: int) -> None:
    entries = runtime.context.entries()
    if doing == "step":
        runtime.decode(3)
    elif doing == "open":
        runtime.override(entries[which % len(entries)].node, "expand")
        runtime.refocus()
    elif doing == "back" and runtime.state.step:
        runtime.back(1 + which % min(7, runtime.state.step))
    elif doing == "ask":
        runtime.question("where?")
    elif doing == "branch":
        runtime.branch(at=runtime.state.step - runtime.state.step // 2)
    elif doing == "switch":
        runtime.switch(runtime.branches()[which % len(runtime.branches())].name)
    elif doing == "room":
        runtime.configure("window", str(46 + which % 12))


@given(st.sampled_from([1, 2, 3, 8]), st.lists(st.tuples(st.sampled_from(DOINGS), st.integers(0, 50)), max_size=14))
def test_what_is_kept_is_what_the_history_says_whatever_was_done(every: int, doings: list[tuple[str, int]]) -> None:
    """The slow twin computes a history by its definition, one position at a time and with no cache of before."""
    runtime = reading(every)
    for doing, which in doings:
        do(runtime, doing, which)
        logits = recomputed(runtime)
        assert torch.allclose(read_now(runtime).logits, logits, atol=1e-6)
        anew = PrefixReader(runtime.model, StillClock())  # as after a replay, or in another process
        assert torch.allclose(anew.read(next_reads(runtime), runtime.tree).logits, logits, atol=1e-6)
        assert len(runtime.state.reads.contexts) <= every


def test_a_refocus_computes_only_what_is_new_and_every_nth_in_full() -> None:
    runtime = reading(3)
    changed = [record for record in runtime.decode(96) if record.refocus and record.refocus.applied]
    assert len(changed) > 8
    assert all(record.refocus and record.dirty == record.refocus.dirty for record in changed)
    few = [record.dirty for record in changed if record.dirty < record.used // 2]
    full = [record.dirty for record in changed if record.dirty >= record.used // 2]
    assert len(few) > len(full) > 1


def test_stale_keys_change_the_logits_until_the_full_read() -> None:
    """Were nothing stale, the setting would mean nothing."""
    runtime = reading(4)
    stale = []
    for _ in range(40):
        runtime.step()
        rows = runtime.context.embeddings(runtime.tree, 0, runtime.context.read)
        plain = runtime.model.logits(runtime.model.forward(rows[None])[0, -1:])[0]
        same = torch.allclose(read_now(runtime).logits, plain, atol=1e-6)
        assert same or len(next_reads(runtime).contexts) > 1
        stale.append(not same)
    assert True in stale and False in stale[stale.index(True) :]


def test_new_text_is_read_after_a_full_read_of_what_stands_before_it() -> None:
    runtime = reading(8)
    runtime.decode(20)
    assert len(runtime.state.reads.contexts) > 1
    runtime.question("which lamp?")
    assert len(next_reads(runtime).contexts) == 1
    runtime.step()
    assert len(runtime.state.reads.contexts) == 1


def test_a_replay_of_stale_reads_agrees_step_by_step_and_bit_by_bit() -> None:
    chosen = SMALL.model_copy(update={"full_read_every": 5})
    runtime = small_runtime(settings=chosen)
    writer = TraceWriter(None, header_of(runtime))
    runtime = small_runtime(settings=chosen, trace=writer)
    runtime.ingest(notes(8))
    runtime.decode(30)
    runtime.back(11)
    runtime.override(NodeRef(9, 9), None)
    runtime.decode(6)
    trace = read(writer.raw(), allow_incomplete=True)
    again = small_runtime(settings=chosen)
    assert replay(trace, again) == len(trace.steps)
    assert torch.equal(read_now(again).logits, read_now(runtime).logits)


class Learned(TinyModel):
    """A model whose keys cannot be turned."""

    @property
    def rotates(self) -> bool:
        return False


def test_a_model_whose_keys_cannot_be_turned_is_read_in_full() -> None:
    runtime = reading(8, Learned())
    most = 0
    for _ in range(40):
        runtime.step()
        most = max(most, len(runtime.state.reads.contexts))
    assert most == 1


def test_forgetting_begins_with_a_full_read() -> None:
    runtime = reading(8)
    runtime.decode(20)
    state = runtime.state.without(runtime.state.sealed)
    assert state.reads == ReadHistory()


@pytest.mark.parametrize("every", [2, 8])
def test_segments_that_come_in_and_are_taken_back_leave_the_same_keys(every: int) -> None:
    runtime, other = reading(every), reading(every)
    for one in (runtime, other):
        one.decode(14)
    runtime.ingest([Segment("a note more, quite another. ")])
    runtime.decode(9)
    runtime.back(10)
    other.back(1)
    assert runtime.state_hash() == other.state_hash()
    assert torch.allclose(read_now(runtime).logits, read_now(other).logits, atol=1e-6)

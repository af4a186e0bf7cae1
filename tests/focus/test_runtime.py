"""The loop: what the cache saves changes nothing, every step can be undone, and a failure leaves all as it
was.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from amgs_focus.errors import FocusError, WindowBudgetError
from amgs_focus.gist import PointerEncoder
from amgs_focus.lens.scoring import LensView, TailSimilarity
from amgs_focus.model.base_model import KVCache
from amgs_focus.model.tiny import END, TinyModel
from amgs_focus.records import NodeRef, Segment, StepRecord
from amgs_focus.runtime.prefix import PrefixReader
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.candidates import coarsest, open_down_to
from amgs_focus.window.working_context import Scores
from tests.focus.focus_world import MODEL, SMALL, StillClock, notes, small_runtime
from tests.focus.read_world import next_reads, read_now, recomputed

TEXTS = ["", "a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "λ"]


def told(records: Sequence[StepRecord]) -> list[tuple[int, str]]:
    return [(record.token, record.state_hash) for record in records]


def asked(question: str = "which lamp was lit?", count: int = 6) -> FocusRuntime:
    runtime = small_runtime()
    runtime.ingest(notes(count))
    runtime.question(question)
    return runtime


def test_a_refocus_leaves_room_for_the_tokens_until_the_next() -> None:
    runtime = asked()
    refocused = [record.refocus for record in runtime.decode(40) if record.refocus]
    assert len(refocused) == 10
    assert all(one.used <= one.window - SMALL.cadence for one in refocused)


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_of_none_one_or_one_repeated_token_decodes(text: str) -> None:
    runtime = small_runtime()
    runtime.ingest([Segment(text)])
    runtime.decode(12)
    runtime.context.check()
    assert runtime.tree.length == len(MODEL.encode(text)) + 12
    assert runtime.snapshot().text.isprintable()


@settings(max_examples=15)
@given(st.integers(1, 20), st.integers(0, 20), st.booleans())
def test_stepping_back_and_on_again_is_exact(ahead: int, back: int, forgotten: bool) -> None:
    back = min(back, ahead)
    runtime = asked()
    states = [(runtime.state_hash(), runtime.snapshot())]
    expected = []
    for _ in range(ahead):
        expected.append(runtime.step())
        states.append((runtime.state_hash(), runtime.snapshot()))
    if back:
        runtime.back(back)
    assert runtime.state_hash() == states[ahead - back][0]
    seen, was = runtime.snapshot(), states[ahead - back][1]
    assert (seen.entries, seen.decisions, seen.history, seen.text) == (
        was.entries,
        was.decisions,
        was.history,
        was.text,
    )
    assert (seen.position, seen.head) == (ahead - back, ahead)
    if forgotten:  # the operator's word makes it decode anew instead of repeating what it recorded
        runtime.override(NodeRef(9, 9), None)
        assert runtime.steps_known == ahead - back
    assert told(runtime.decode(back)) == told(expected[ahead - back :])
    assert runtime.state_hash() == states[-1][0]


def test_drawn_tokens_repeat_with_the_seed_and_after_stepping_back() -> None:
    def drawn(seed: int) -> tuple[FocusRuntime, list[tuple[int, str]]]:
        runtime = small_runtime(settings=SMALL.model_copy(update={"temperature": 1.5, "seed": seed}))
        runtime.ingest(notes())
        return runtime, told(runtime.decode(10))

    runtime, first = drawn(1)
    assert drawn(1)[1] == first
    assert drawn(2)[1] != first
    runtime.back(6)
    assert told(runtime.decode(6)) == first[4:]
    runtime.back(6)
    runtime.override(NodeRef(9, 9), None)
    assert told(runtime.decode(6)) == first[4:]


def test_every_cadence_tokens_there_is_a_refocus_and_after_a_question_at_once() -> None:
    runtime = asked()
    assert [record.step for record in runtime.decode(13) if record.refocus] == [1, 5, 9, 13]
    runtime.question("and now?")
    assert runtime.snapshot().next_refocus_in == 0
    assert runtime.step().refocus is not None
    assert runtime.snapshot().next_refocus_in == 3


class Ending(TinyModel):
    """Ends its answer after so many tokens."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.left = after

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        scores = super().logits(hidden)
        self.left -= 1
        if self.left < 0:
            scores[..., END] = 99.0
        return scores


def test_a_stop_ends_the_answer_until_the_next_question() -> None:
    runtime = small_runtime(model=Ending(2))
    runtime.ingest(notes())
    runtime.question("why?")
    records = runtime.decode(10)
    assert [record.finished for record in records] == [False, False, True]
    assert records[-1].text == ""
    with pytest.raises(FocusError, match="answer is finished"):
        runtime.step()
    assert "<|end|>" not in runtime.snapshot().text
    runtime.question("and why that?")
    assert runtime.step().step == 4


class Faulty(TinyModel):
    """Gives no numbers after a while."""

    broken = False

    def forward(self, embeddings: torch.Tensor, cache: KVCache | None = None) -> torch.Tensor:
        hidden = super().forward(embeddings, cache)
        return hidden * float("nan") if self.broken else hidden


def test_logits_that_are_no_numbers_are_named_and_nothing_is_decoded() -> None:
    model = Faulty()
    runtime = small_runtime(model=model)
    runtime.ingest(notes())
    runtime.decode(3)
    before = runtime.state_hash()
    model.broken = True
    with pytest.raises(FocusError, match="not numbers"):
        runtime.step()
    assert runtime.state_hash() == before
    model.broken = False
    expected = small_runtime()
    expected.ingest(notes())
    assert told([runtime.step()]) == told(expected.decode(4)[3:])


class Silly:
    """Scores that are none."""

    name = "silly"
    version = 0

    def __init__(self, value: float, extra: int = 0) -> None:
        self.value, self.extra = value, extra

    def score(self, view: LensView) -> Scores:
        found = TailSimilarity().score(view).values
        return Scores(found.repeat(1 + self.extra) * 0 + self.value, {})


@pytest.mark.parametrize("scorer", [Silly(float("nan")), Silly(1.5), Silly(0.0, 1)])
def test_scores_that_are_none_are_named(scorer: Silly) -> None:
    runtime = small_runtime(scorer)
    runtime.ingest(notes())
    before = runtime.state_hash()
    with pytest.raises(FocusError, match="silly"):
        runtime.step()
    assert runtime.state_hash() == before


class Stop(Exception):  # noqa: N818 - what an operator does
    """The operator cancelled."""


@pytest.mark.parametrize(("what", "at", "steps"), [("decoding", 5, 5), ("reading in", 2, 0)])
def test_cancelling_a_decode_keeps_what_was_decoded_and_an_ingest_takes_back_what_it_read(
    what: str, at: int, steps: int
) -> None:
    runtime = asked()

    def progress(done: int, total: int, doing: str) -> None:
        if (doing, done) == (what, at):
            raise Stop

    with pytest.raises(Stop):
        runtime.ingest(notes(5), progress) if steps == 0 else runtime.decode(20, progress)
    assert runtime.state.step == steps
    assert told(runtime.decode(4)) == told(asked().decode(steps + 4)[steps:])


def test_cancelling_while_a_long_context_is_read_changes_nothing() -> None:
    big = SMALL.model_copy(update={"block_size": 32, "window": 512})
    runtime, other = (small_runtime(settings=big) for _ in range(2))
    for one in (runtime, other):
        one.ingest(notes(16))
    before = runtime.state_hash()

    def progress(done: int, total: int, doing: str) -> None:
        if doing == "reading" and done:
            raise Stop

    with pytest.raises(Stop):
        runtime.step(progress)
    assert runtime.state_hash() == before
    assert told(runtime.decode(3)) == told(other.decode(3))


def test_a_window_that_cannot_hold_the_tail_is_refused_and_nothing_is_kept() -> None:
    runtime = small_runtime(settings=SMALL.model_copy(update={"window": 10}))
    with pytest.raises(WindowBudgetError, match="10 positions"):
        runtime.ingest(notes())
    assert runtime.tree.length == 0
    runtime.question("?")
    with pytest.raises(WindowBudgetError):
        runtime.question("a question too long for it, by far too long, but the tail is what counts")
    assert len(runtime.tree.spans()) == 1


def test_a_window_that_fills_up_while_decoding_says_so() -> None:
    runtime = small_runtime(settings=SMALL.model_copy(update={"window": 18, "cadence": 50}))
    runtime.ingest([Segment("abcdefgh")])
    with pytest.raises(WindowBudgetError):
        runtime.decode(400)
    runtime.context.check()
    assert runtime.context.lifetime == runtime.tree.length


@settings(max_examples=15)
@given(st.integers(0, 3), st.lists(st.integers(1, 160), min_size=1, max_size=4))
def test_a_pin_stands_through_whatever_text_comes_or_is_said_to_have_no_room(place: int, lengths: list[int]) -> None:
    runtime = asked()
    gists = [entry.node for entry in runtime.context.entries() if entry.level == 1]
    node = gists[place % len(gists)]
    runtime.override(node, "expand")
    runtime.refocus()
    tokens = NodeRef(0, node.index)
    runtime.override(tokens, "pin")
    for length in lengths:
        runtime.ingest([Segment("x" * length)])
        runtime.refocus()
        stands = runtime.context.position(tokens) is not None
        room = open_down_to(tokens, coarsest(runtime.tree, SMALL.window, SMALL.tail_blocks), runtime.tree).free
        assert stands or room < SMALL.cadence
        assert runtime.snapshot().unheld == (() if stands else (tokens,))


def test_pins_that_the_window_is_too_full_for_are_named() -> None:
    runtime = asked()
    runtime.ingest([Segment("y" * 1200)])
    pins = [NodeRef(0, number) for number in (3, 80, 160, 240)]
    for node in pins:
        runtime.override(node, "pin")
    runtime.ingest([Segment("z" * 60)])
    runtime.refocus()
    unheld = runtime.snapshot().unheld
    assert unheld and set(unheld) < set(pins)
    assert all(runtime.context.position(node) is not None for node in pins if node not in unheld)


def test_gists_made_anew_are_read_anew(tmp_path: Path) -> None:
    class Mean(PointerEncoder):
        version = 3

        def encode_tokens(self, embeddings: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
            return embeddings.mean(dim=1)

    tree = LifetimeTree.open(tmp_path, MODEL, PointerEncoder(), block_size=SMALL.block_size)
    for note in notes():
        tree.append_segment(note)
    tree.close()
    tree = LifetimeTree.open(tmp_path, MODEL, Mean(), block_size=SMALL.block_size)
    runtime = FocusRuntime(MODEL, settings=SMALL, tree=tree, clock=StillClock())
    runtime.question("which lamp was lit?")
    runtime.step()
    old = read_now(runtime).logits
    tree.rebuild()
    reading = read_now(runtime)
    assert not torch.allclose(reading.logits, old, atol=1e-5)
    assert torch.allclose(reading.logits, recomputed(runtime), atol=1e-5)
    runtime.close()


def test_a_model_that_fails_half_way_leaves_an_empty_cache() -> None:
    class Tripping(TinyModel):
        trips = False

        def forward(self, embeddings: torch.Tensor, cache: KVCache | None = None) -> torch.Tensor:
            hidden = super().forward(embeddings, cache)
            if self.trips:
                raise RuntimeError("out of memory")
            return hidden

    model = Tripping()
    reader = PrefixReader(model, StillClock())
    runtime = asked()
    model.trips = True
    with pytest.raises(RuntimeError):
        reader.read(next_reads(runtime), runtime.tree)
    model.trips = False
    assert reader.cached == 0
    again = reader.read(next_reads(runtime), runtime.tree)
    assert torch.allclose(again.logits, recomputed(runtime), atol=1e-5)


def said(runtime: FocusRuntime, since: int) -> str:
    return runtime.tree.text(since, runtime.tree.length)


def test_an_answer_that_ended_by_itself_is_not_ended_again() -> None:
    runtime = small_runtime(model=Ending(0))
    runtime.ingest(notes())
    runtime.question("is it lit?")
    assert runtime.step().finished
    cut = runtime.tree.length
    runtime.ingest([Segment("the lamp went out. ", source="later")])
    assert said(runtime, cut) == "\n<|user|>\nthe lamp went out. "
    assert [span.source for span in runtime.tree.sources(cut, runtime.tree.length)] == [None, "later"]
    runtime.question("and now?")  # the word is the user's already
    assert said(runtime, cut).count("<|user|>") == 1

"""What the focus benches measure with: windows drawn from documents, intervals by document."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from amgs_focus.errors import TextError
from amgs_focus.gist.gistnet import PointerEncoder
from amgs_focus.lens.scoring import TailSimilarity
from amgs_focus.model.base_model import turns_keys
from amgs_focus.model.tiny import TinyModel
from amgs_focus.settings import FocusSettings
from benchmarks.focus_evaluation.budget import ChunkRetrieval, ModelCost, counted, focused
from benchmarks.focus_evaluation.gist import draw_windows
from benchmarks.focus_evaluation.needles import choose, facts, pass_keys, plant
from benchmarks.focus_rig import lifetime_of

torch.set_num_threads(1)


class StillClock:
    """A clock on which nothing takes any time."""

    def perf(self) -> float:
        return 0.0


@given(
    st.lists(st.integers(0, 300), min_size=1, max_size=8), st.integers(1, 100), st.integers(1, 20), st.integers(0, 9)
)
def test_windows_lie_inside_documents_that_can_hold_them(
    lengths: list[int], need: int, windows: int, seed: int
) -> None:
    if max(lengths) < need:
        with pytest.raises(TextError):
            draw_windows(lengths, need, windows, seed)
        return
    places = draw_windows(lengths, need, windows, seed)
    assert 1 <= len(places) <= windows
    assert places == draw_windows(lengths, need, windows, seed)
    assert len(set(places)) == len(places)
    assert all(at >= 0 and at + need <= lengths[document] for document, at in places)


@given(st.integers(1, 6), st.integers(0, 5), st.integers(500, 900))
def test_needles_stand_where_it_is_said_and_every_second_key_lies_across_an_edge(
    count: int, seed: int, part: int
) -> None:
    model = TinyModel()
    length = count * part
    text = model.encode("x" * length)
    tokens, planted = plant(model, text, pass_keys(count, seed), length, 32, seed)
    assert len(tokens) == length
    for number, one in enumerate(planted):
        assert model.decode(tokens[one.start : one.end]) == one.needle.statement
        assert model.decode(tokens[one.key_start : one.key_end]) == one.needle.key
        assert (one.key_start // 32 != (one.key_end - 1) // 32) == (number % 2 == 1)
        assert number * part <= one.start and one.end <= (number + 1) * part
    assert tokens.count(ord("x")) >= length - sum(one.end - one.start for one in planted)


def test_the_choice_is_the_option_that_a_plain_pass_finds_likeliest() -> None:
    model = TinyModel()
    needle = facts(1, 3)[0]
    prefix = model.embed(torch.tensor(model.encode("somebody keeps something somewhere")))
    losses = []
    for option in needle.options:
        stem, answer = model.encode(needle.stem.rstrip()), model.encode(f" {option}")
        rows = torch.cat([prefix, model.embed(torch.tensor([*stem, *answer]))])
        logs = torch.log_softmax(model.logits(model.forward(rows[None])[0]).double(), dim=-1)
        places = range(len(rows) - len(answer) - 1, len(rows) - 1)
        losses.append(-sum(float(logs[place, token]) for place, token in zip(places, answer, strict=True)))
    assert choose(model, prefix, needle) == int(np.argmin(losses))


def test_retrieval_shows_the_best_chunks_in_order_of_time_and_the_tail() -> None:
    tokens = [*range(40), 90, 91]

    def ranking(chunks: Sequence[Sequence[int]], query: Sequence[int]) -> list[float]:
        assert query == [7] and len(chunks) == 9
        return [float(chunk[0] in (8, 24)) for chunk in chunks]

    shown = ChunkRetrieval(ranking, chunk=4, stride=4).best(tokens, [7], 14, tail=6)
    assert shown == [8, 9, 10, 11, 24, 25, 26, 27, 36, 37, 38, 39, 90, 91]
    filled = ChunkRetrieval(ranking, chunk=4, stride=4).best(tokens, [7], 16, tail=6)
    assert filled == sorted([*shown, 32, 33]), "the next chunk fills what is left, cut"


def test_forced_reading_leaves_the_lifetime_as_it_was_and_stays_in_budget() -> None:
    model = TinyModel()
    settings = FocusSettings(window=192, cadence=16)
    tree = lifetime_of(model, PointerEncoder(), model.encode("the keeper wrote again " * 40), settings)
    before = tree.digest()
    streamed = focused(tree, TailSimilarity(), settings, model.encode("x" * 40), StillClock())
    assert tree.digest() == before
    assert len(streamed.nll) == len(streamed.dirty) == 3
    assert all(used <= 192 - 16 for used in streamed.used)
    assert streamed.dirty[0] == streamed.used[0] and all(dirty <= 192 for dirty in streamed.dirty)


def test_counted_operations_match_the_arithmetic_of_the_matrices() -> None:
    left, right = torch.ones(3, 5), torch.ones(5, 7)
    assert counted(lambda: left @ right) == 2 * 3 * 5 * 7
    cost = ModelCost(fixed=100.0, each=2.0)
    assert cost.tokens(10, 3) == 300 + 2 * (10 + 11 + 12)
    assert cost.window(3 * (100 + 2 * 50), 3) == 50


def test_a_turned_key_is_the_key_of_the_place_it_was_turned_to() -> None:
    model = TinyModel()
    assert model.rotates and turns_keys(model)
    rows = model.embed(torch.tensor([[97, 98, 99, 100]]))
    cache = model.new_cache()
    model.forward(rows, cache)
    keys, _ = model.layers_of(cache)[0]
    moved = model.new_cache()
    model.forward(torch.cat([model.embed(torch.tensor([[120, 121, 122]])), rows], dim=1), moved)
    # in the first layer a key depends on its row and its place alone
    turned = model.turned(keys, torch.full((4,), 3))
    torch.testing.assert_close(turned, model.layers_of(moved)[0][0][:, :, 3:])


def test_a_model_that_turns_its_keys_otherwise_is_found_out() -> None:
    class Backwards(TinyModel):
        def turned(self, keys: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
            return super().turned(keys, -by)

    class Failing(TinyModel):
        def turned(self, keys: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
            raise AttributeError("no rotary_emb")

    assert not turns_keys(Backwards())
    assert not turns_keys(Failing())

"""What the focus benches measure with: windows drawn from documents, intervals by document."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from amgs_focus.errors import TextError
from amgs_focus.model.base_model import turns_keys
from amgs_focus.model.tiny import TinyModel
from benchmarks.focus_evaluation.gist import draw_windows
from benchmarks.focus_evaluation.needles import choose, facts, pass_keys, plant

torch.set_num_threads(1)


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

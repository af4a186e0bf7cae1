"""From packs to a text: within its budget, and of every token it is told where it went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from amgs.identity import block_id
from amgs.text.tokens import approximate_tokens
from amgs.types import Block
from amgs.wings.packs.engine.pipeline import make
from amgs.wings.packs.engine.pruning import PackSentence, Worths
from amgs.wings.packs.engine.routing import RouteItem
from amgs.wings.packs.values import PackRole, PackStage

NOW = datetime(2026, 3, 1, tzinfo=UTC)
WORDS = ("The dome stalled.", "Its motor drew too much.\n", "A goat ate the cable!", "It rained", "Why? Nobody knows.")


@dataclass
class Drawn:
    """Worths that were drawn, over and over."""

    worth: Sequence[float]

    def worths(self, query: str, sentences: Sequence[PackSentence]) -> Worths:
        return np.resize(np.array(self.worth), len(sentences))


def block(number: int, words: Sequence[str]) -> Block:
    text = " ".join([f"Note {number}.", *words])
    at = NOW - timedelta(hours=17 * number)
    return Block(block_id(text), text, at, at, meta={"source": f"log-{number % 3}.md#{number}"})


@st.composite
def packs(draw: st.DrawFn) -> dict[str, list[tuple[PackRole, Block]]]:
    """Packs that share members: a block has one role in all of them."""
    every = [block(n, draw(st.lists(st.sampled_from(WORDS), max_size=4))) for n in range(6)]
    role: list[PackRole] = draw(st.lists(st.sampled_from(("source", "learning")), min_size=6, max_size=6))
    return {
        f"p{name}": [(role[n], every[n]) for n in draw(st.lists(st.integers(0, 5), unique=True))]
        for name in range(draw(st.integers(0, 5)))
    }


@given(
    packs(),
    st.lists(st.floats(0, 1), min_size=6, max_size=6),
    st.integers(1, 160),
    st.lists(st.floats(0, 9), min_size=1),
)
def test_every_token_is_accounted_for(
    members: dict[str, list[tuple[PackRole, Block]]], shares: list[float], budget: int, worth: list[float]
) -> None:
    items = [
        RouteItem(
            name,
            sum(approximate_tokens(one.content) for _, one in own),
            tuple(float(any(f"Note {n}." in one.content for _, one in own)) for n in range(6)),
        )
        for name, own in members.items()
    ]
    made = make("why?", items, shares, members, budget, NOW, approximate_tokens, Drawn(worth))
    reading = made.written.reading
    for stage in made.stages:
        adds_up(stage)
    for before, after in pairwise(made.stages):
        assert before.tokens_out == after.tokens_in
    assert made.stages[0].tokens_in == sum(one.tokens for one in items)
    assert made.stages[-1].tokens_out == reading.tokens == approximate_tokens(reading.text) <= budget
    assert "".join(reading.text[span.start : span.end] for span in reading.spans) == reading.text
    chosen = {one.id for name in (one.id for one in made.choice.chosen) for _, one in members[name]}
    assert {*reading.blocks, *reading.left_out} == chosen
    assert len(reading.blocks) == len(set(reading.blocks)) == made.stages[-1].count_out
    held = {one.id: one.content for own in members.values() for _, one in own}
    shown: dict[str, str] = {}
    for span in reading.spans:
        if span.block_id is not None:
            text = reading.text[span.start : span.end]
            assert text in held[span.block_id]
            shown[span.block_id] = shown.get(span.block_id, "") + text
    whole = {one for one in reading.blocks if one not in reading.shortened}
    assert all("".join(shown[one].split()) == "".join(held[one].split()) for one in whole)


def test_of_a_pack_that_is_larger_than_all_that_can_be_chosen_sentences_are_read() -> None:
    blocks = [block(n, WORDS * 4) for n in range(6)]
    tokens = sum(approximate_tokens(one.content) for one in blocks)
    members: dict[str, list[tuple[PackRole, Block]]] = {"large": [("source", one) for one in blocks]}
    made = make("?", [RouteItem("large", tokens, (1.0,))], [1.0], members, 60, NOW, approximate_tokens, Drawn([1]))
    assert tokens > 4 * 60 and 0 < made.written.reading.tokens <= 60
    assert made.stages[0].tokens_in == made.stages[0].tokens_out == tokens


def adds_up(stage: PackStage) -> None:
    assert stage.tokens_in + sum(one.tokens for one in stage.changes) == stage.tokens_out
    assert stage.count_in + sum(one.count for one in stage.changes) == stage.count_out

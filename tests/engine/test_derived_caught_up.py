"""Whatever was changed, what is derived is caught up to exactly what would be derived anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import numpy as np
import pytest

from amgs import Memory
from amgs.clock import FixedClock
from amgs.derived.block_reader import State
from amgs.derived.indexes import Derived
from amgs.derived.search_indexes import SEARCHABLE
from amgs.errors import AmgsError
from amgs.graph.view import GraphView, catch_up
from amgs.ingest.raw_blocks import RawBlock
from amgs.retrieval.sources import SequenceIndex
from amgs.types import BlockFilter

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PLACES = ("harbour", "orchard", "quarry", "lantern", "ferry", "meadow", "chapel", "mill")
FILTERS = (
    BlockFilter(),
    BlockFilter(statuses=("consolidated", "raw"), current=True),
    BlockFilter(statuses=("archived",)),
    BlockFilter(self_only=True),
    BlockFilter(statuses=("consolidated", "archived"), as_of=NOW),
)


class Life:
    """A memory that anything may happen to."""

    def __init__(self, memory: Memory, random: Random) -> None:
        self.memory, self.random, self.made = memory, random, 0

    def text(self) -> str:
        self.made += 1
        one, two = self.random.sample(PLACES, 2)
        said = f"Keeper {self.made % 5} wrote about the {one} and the {two} on day {self.made}"
        return f"Mara: {said}?" if self.made % 4 == 0 else f"{said}."

    def ingest(self) -> None:
        before = ""
        name = f"log{self.random.randrange(3)}.md"
        drafts = []
        for piece in range(self.random.randrange(1, 4)):
            source = f"{name}#{self.made}.{piece}"
            follows = {"follows": before} if before else {}
            drafts.append(RawBlock(self.text(), NOW - timedelta(days=self.made), {"source": source, **follows}))
            before = source
        self.memory.ingest_many(drafts)

    def revise(self) -> None:
        known = [one.name for one in self.memory.sources.list()]
        text = "\n\n".join(f"# Part {i}\n\n{self.text()}" for i in range(self.random.randrange(1, 4)))
        if known:
            plan = self.memory.sources.plan_text(self.random.choice(known), text)
            self.memory.sources.apply(plan)

    def drop(self) -> None:
        known = [one.name for one in self.memory.sources.list()]
        if known:
            chosen = [self.random.choice(known)]
            self.memory.sources.apply(self.memory.sources.plan_delete(chosen))

    def consolidate(self) -> None:
        self.memory.consolidate()

    def undo(self) -> None:
        open_ = [one.id for one in self.memory.operations(5) if not one.undone]
        with suppress(AmgsError):  # what something later stands on cannot be undone
            self.memory.undo(self.random.choice(open_))

    def tie(self) -> None:
        blocks = self.memory.blocks(BlockFilter(statuses=("raw", "consolidated")), order="id")
        if len(blocks) < 2:
            return
        one, two = self.random.sample([block.id for block in blocks], 2)
        with suppress(AmgsError):
            if self.random.random() < 0.5 or not self.memory.edges():
                self.memory.add_edge(one, two, kind="next")
            else:
                edge = self.random.choice(self.memory.edges())
                self.memory.remove_edge(edge.source_id, edge.target_id, kind=edge.relation_type)

    def assemble(self) -> None:
        self.memory.assemble("SESSION", query=self.random.choice(PLACES))


@contextmanager
def anew(memory: Memory) -> Iterator[tuple[Derived, State]]:
    context = memory._context
    made = Derived(context.storage, context.embedder, context.clock, context.settings)
    with made.reading() as state:
        yield made, state


def episodes(order: SequenceIndex) -> list[int]:
    """Episodes numbered as they come: which number one has is of no account."""
    first: dict[int, int] = {}
    return [first.setdefault(one, len(first)) for one in order.episode.tolist()]


def check(memory: Memory) -> None:
    derived = memory._context.derived
    with derived.reading() as state, anew(memory) as (other, true):
        view, wanted = state.graph.view(), true.graph.view()
        np.testing.assert_array_equal(view.nodes, wanted.nodes)
        for each in fields(view.columns):
            np.testing.assert_array_equal(
                getattr(view.columns, each.name), getattr(wanted.columns, each.name), each.name
            )
        for name in ("source", "target", "strength"):
            np.testing.assert_array_equal(getattr(view, name), getattr(wanted, name), name)
        for each in fields(view.ties):
            np.testing.assert_array_equal(getattr(view.ties, each.name), getattr(wanted.ties, each.name))
        order, laid = state.sequences(), true.sequences()
        for name in ("before", "after", "source"):
            np.testing.assert_array_equal(getattr(order, name), getattr(laid, name), name)
        for name in ("numbers", "episode", "length", "asking", "asks"):
            np.testing.assert_array_equal(getattr(order.traits, name), getattr(laid.traits, name), name)
        assert episodes(order) == episodes(laid)
        np.testing.assert_array_equal(order.forms.gate, laid.forms.gate)
        numbers = order.traits.numbers.tolist()
        facts, told = state.blocks.facts(numbers), true.blocks.facts(numbers)
        for each in fields(facts):
            np.testing.assert_array_equal(getattr(facts, each.name), getattr(told, each.name), each.name)
        for one in FILTERS:
            np.testing.assert_array_equal(state.blocks.numbers(one), true.blocks.numbers(one))
            for lately in (one, replace(one, reinforced_since=NOW - timedelta(days=4))):
                for limit in (None, 0, 3, 10_000):
                    read = memory._context.storage.block_columns.numbers(lately, limit=limit)
                    np.testing.assert_array_equal(state.blocks.numbers(lately, limit=limit), read)
        np.testing.assert_array_equal(derived.vectors().numbers, other.vectors().numbers)
    with derived.searching() as sources:
        stored = memory._context.storage.block_columns.numbers(SEARCHABLE)
        assert sources.keyword.documents == stored.size


@pytest.mark.parametrize("seed", range(3))
def test_after_any_changes_the_state_is_the_one_made_anew(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[GraphView] = []

    def counting(*given: Any) -> GraphView:
        counted.append(catch_up(*given))
        return counted[-1]

    monkeypatch.setattr("amgs.derived.indexes.catch_up", counting)
    random, clock = Random(seed), FixedClock(NOW)
    with Memory.open(":memory:", clock=clock) as memory:
        life = Life(memory, random)
        life.ingest()
        check(memory)
        acts: list[Callable[[], None]] = [
            life.ingest, life.ingest, life.revise, life.drop, life.consolidate, life.undo, life.tie, life.assemble,
        ]  # fmt: skip
        for _ in range(12):
            for _ in range(random.choice((1, 1, 2))):
                random.choice(acts)()
            clock.advance(timedelta(hours=1))
            check(memory)
    assert len(counted) >= 4  # else nothing but reading anew was tried

"""What goes into a store comes out the same, whatever it is; bulk is fast enough to wait for."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amgs.frames.shipping import DEFAULTS
from amgs.identity import block_id
from amgs.storage.frames import CacheRow, WaterfallRow
from amgs.storage.journal import JournalRow
from amgs.storage.store import Storage
from amgs.types import Block, BlockFilter, Outcome, SelectionRule
from tests.engine.storage.samples import NOON, block, edge, put

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
storable = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    storable,
    st.dictionaries(storable, json_values, max_size=3),
    st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)),  # noqa: DTZ001 - hypothesis wants naive bounds
    st.floats(0, 1),
    st.floats(0, 1e6),
)
def test_a_block_comes_back_as_it_went_in(
    storage: Storage, text: str, meta: dict[str, object], at: datetime, confidence: float, decay: float
) -> None:
    aware = at.replace(tzinfo=UTC)
    one = block(text, created_at=aware, last_reinforced_at=aware, confidence=confidence, decay_lambda=decay, meta=meta)
    with storage.transaction():
        storage.blocks.delete([one.id])
        assert storage.blocks.insert([one]) == (one.id,)
    assert storage.blocks.get([one.id])[one.id] == one


def test_a_text_of_twenty_megabytes_comes_back_whole(storage: Storage) -> None:
    one = block("".join(f"{number} é\n" for number in range(2_100_000)))
    put(storage, one)
    assert len(one.content.encode()) > 20_000_000 and storage.blocks.get([one.id])[one.id] == one


def test_a_known_block_is_not_written_again(storage: Storage) -> None:
    put(storage, block("a", category="first"))
    with storage.transaction():
        assert storage.blocks.insert([block("a", category="second"), block("b"), block("b")]) == (block_id("b"),)
    assert storage.blocks.get([block_id("a")])[block_id("a")].category == "first"


def test_thousands_of_blocks_with_embeddings_go_in_within_seconds(storage: Storage) -> None:
    many = [block(f"note {i} " + "word " * 60) for i in range(5000)]
    vectors = np.random.default_rng(0).standard_normal((5000, 384)).astype(np.float32)
    put(storage, *many)
    with storage.transaction():
        storage.blocks.update([replace(b, status="consolidated") for b in many])
        storage.blocks.set_embeddings([b.id for b in many], vectors)
    stored = storage.block_columns.embeddings()
    assert stored.ids.tolist() == [b.id for b in many]
    np.testing.assert_array_equal(stored.matrix, vectors)


def test_metadata_can_change_twice_in_one_transaction(storage: Storage) -> None:
    put(storage, block("a"))
    vector = np.eye(1, 4, dtype=np.float32)
    with storage.transaction():
        storage.blocks.set_embeddings([block_id("a")], vector)
        storage.blocks.update([block("a", category="x")])
        storage.blocks.update([block("a", category="y", meta={"k": [1]})])
        storage.blocks.delete([block_id("a")])
        storage.blocks.insert([block("a", category="z")])
    assert storage.blocks.get([block_id("a")])[block_id("a")].category == "z"


def test_embeddings_changed_since_a_revision_are_only_those(storage: Storage) -> None:
    put(storage, block("a"), block("b"))
    with storage.transaction():
        storage.blocks.set_embeddings([block_id("a"), block_id("b")], np.eye(2, dtype=np.float32))
    seen = storage.structure_counter
    with storage.transaction():
        storage.blocks.reinforce([block_id("a")], NOON + timedelta(days=1))
    assert storage.block_columns.embeddings(since=seen).ids.tolist() == []
    with storage.transaction():
        storage.blocks.set_embeddings([block_id("b")], np.eye(1, 2, 1, dtype=np.float32))
    assert storage.block_columns.embeddings(since=seen).ids.tolist() == [block_id("b")]
    with storage.transaction():
        storage.blocks.set_embeddings([block_id("b")], None)
    assert storage.block_columns.read_embedded().tolist() == [1]


def test_a_clock_that_goes_back_never_ages_a_block(storage: Storage) -> None:
    put(storage, block("a"))
    with storage.transaction():
        storage.blocks.reinforce([block_id("a")], NOON - timedelta(days=3))
    assert storage.blocks.get([block_id("a")])[block_id("a")].last_reinforced_at == NOON


def slow_filter(one: Block, wanted: BlockFilter) -> bool:
    """The obvious reading of a filter: what a backend must agree with."""
    return (
        one.status in wanted.statuses
        and (wanted.categories is None or any(kind in wanted.categories for kind in one.categories))
        and one.categories != (wanted.without,)
        and (wanted.since is None or one.created_at >= wanted.since)
        and (wanted.until is None or one.created_at < wanted.until)
        and (wanted.reinforced_since is None or one.last_reinforced_at >= wanted.reinforced_since)
        and (not wanted.self_only or one.is_self_component)
        and all(one.meta.get(key) == value for key, value in wanted.meta.items())
    )


KINDS = ["a", "b", 'ß "odd" \\ 🜁']
instants = st.sampled_from([NOON + timedelta(days=d) for d in range(-2, 3)])
filters = st.builds(
    BlockFilter,
    statuses=st.lists(st.sampled_from(["raw", "consolidated", "archived"]), unique=True).map(tuple),
    categories=st.none() | st.lists(st.sampled_from(KINDS), unique=True).map(tuple),
    without=st.sampled_from(["", *KINDS]),
    since=st.none() | instants,
    until=st.none() | instants,
    reinforced_since=st.none() | instants,
    self_only=st.booleans(),
    meta=st.dictionaries(st.sampled_from(["k", 'odd "key" $.x']), st.sampled_from(["1", "2"]), max_size=2),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(filters, st.integers(0, 2**32))
def test_a_filter_passes_what_the_obvious_reading_of_it_passes(
    storage: Storage, wanted: BlockFilter, seed: int
) -> None:
    draw = np.random.default_rng(seed)
    some = [
        block(
            f"{seed} {i}",
            status=("raw", "consolidated", "archived")[draw.integers(3)],
            category=(kind := KINDS[draw.integers(3)]),
            created_at=NOON + timedelta(days=int(draw.integers(-2, 3))),
            last_reinforced_at=NOON + timedelta(days=int(draw.integers(-2, 3))),
            is_self_component=bool(draw.integers(2)),
            meta={"k": "12"[draw.integers(2)], 'odd "key" $.x': "12"[draw.integers(2)]}
            | ({"categories": [kind, other]} if (other := KINDS[draw.integers(3)]) != kind else {}),
        )
        for i in range(8)
    ]
    put(storage, *some)
    expected = {b.id for b in some if slow_filter(b, wanted)}
    assert {b.id for b in storage.blocks.select(wanted)} & {b.id for b in some} == expected
    with storage.transaction():
        storage.blocks.delete([b.id for b in some])


def test_sources_are_found_whole_by_part_and_where_a_text_stands_again(storage: Storage) -> None:
    put(
        storage,
        block("a", meta={"source": "x.md#1", "sources": ["x.md#1"]}),
        block("b", meta={"source": "x.md#2", "sources": ["x.md#2", "y.md"]}),
        block("c", meta={"source": "xx.md"}),
        block("d"),
    )
    found = {source: len(storage.blocks.with_source(source)) for source in ("x.md", "x.md#2", "y.md", "xx.md", "z")}
    assert found == {"x.md": 2, "x.md#2": 1, "y.md": 1, "xx.md": 1, "z": 0}
    told = [storage.blocks.has_source(sources) for sources in (["z", "xx.md"], ["x.md#2"], ["x.md", "z"], [])]
    assert told == [True, True, False, False]


def test_the_last_event_is_the_youngest_of_operations_forecasts_and_assemblies(storage: Storage) -> None:
    assert storage.journal.last_event() is None
    with storage.transaction():
        storage.journal.append("merge", NOON, "one", [], blocks=0, edges=0)
    assert storage.journal.last_event() == NOON
    later = NOON + timedelta(hours=3)
    with storage.transaction():
        storage.forecasts.insert([Outcome("f", 0.5, None, None, later, "b", "SELF", "fact")], "one", 1)
    assert storage.journal.last_event() == later


def test_an_edge_is_there_once_and_put_replaces_it(storage: Storage) -> None:
    with storage.transaction():
        assert len(storage.edges.insert([edge("a", "b"), edge("a", "b", weight=0.9), edge("b", "a")])) == 2
        assert storage.edges.insert([edge("a", "b")]) == ()
        storage.edges.put([edge("a", "b", weight=0.7)])
    assert [e.weight for e in storage.edges.everything() if e == edge("a", "b", weight=0.7)] == [0.7]
    assert storage.edges.count() == 2
    with storage.transaction():
        storage.edges.delete([edge("a", "b").key, edge("x", "y").key])
    assert storage.edges.everything() == (edge("b", "a"),)


def test_the_edge_table_leaves_out_archived_and_pruned_ends(storage: Storage) -> None:
    put(storage, block("a"), block("b"), block("c", status="archived"), block("d", status="pruned"))
    with storage.transaction():
        storage.edges.insert([edge("a", "b"), edge("a", "c"), edge("d", "a")])
    table = storage.edges.table()
    assert (table.source.tolist(), table.target.tolist()) == ([1], [2])
    assert [what for _, what in storage.edges.dangling()] == ["its source is pruned"]


def test_every_shipped_frame_comes_back_as_it_went_in(storage: Storage) -> None:
    odd = replace(
        DEFAULTS[0],
        name="ODD",
        rule=SelectionRule(filter=BlockFilter(since=NOON, categories=("a",), meta={"k": "v"}), window_hours=2.5),
        rescore=DEFAULTS[1].weights,
    )
    with storage.transaction():
        storage.frames.put([*DEFAULTS, odd])
        storage.frames.put([odd])
    assert {d.name: d for d in storage.frames.everything()} == {d.name: d for d in (*DEFAULTS, odd)}


def test_kept_assemblies_come_back_together_each_for_its_request(storage: Storage) -> None:
    rows = [
        CacheRow(name, request, "{}", NOON, place, "v1", "{}")
        for place, (name, request) in enumerate(product(("SELF", "WORLD"), ("k1", "k2")))
    ]
    with storage.transaction():
        for row in rows:
            storage.frame_cache.put(row)
    asked = {"SELF": "k2", "WORLD": "k1", "TASK": "k1"}
    assert storage.frame_cache.get(asked) == {"SELF": rows[1], "WORLD": rows[2]}
    assert storage.frame_cache.get({}) == {}


def test_brief_blocks_are_counted_in_bytes(storage: Storage) -> None:
    put(storage, block("a" * 9), block("a" * 10), block("é" * 5), block("é" * 4))
    numbers = storage.blocks.numbers_of([block_id("a" * 9), block_id("é" * 4)])
    assert storage.block_columns.brief(10).tolist() == sorted(numbers.values())


def test_logs_answer_in_their_order(storage: Storage) -> None:
    put(storage, block("a"), block("b"))
    a, b = block_id("a"), block_id("b")
    with storage.transaction():
        forecasts = [Outcome(f"p{i}", 0.5, None, None, NOON, a, "SELF", "fact") for i in (1, 2)]
        storage.forecasts.insert(forecasts, "one", 1)
        storage.forecasts.insert([Outcome("p3", 0.7, None, None, NOON, a, "TASK", "fact")], "two", 3)
        storage.reinforcements.append([a, a, b], "assembled", NOON, "SELF")
        storage.scores.put("SELF", {a: 0.1}, NOON)
        storage.scores.put("SELF", {a: 0.2, b: 0.3}, NOON)
    latest = storage.forecasts.open_forecast(a)
    assert latest is not None and latest.prediction_id == "p3"
    of_one = storage.forecasts.open_forecast(a, "one")
    assert of_one is not None and of_one.prediction_id == "p2"
    with storage.transaction():
        storage.forecasts.decide("p3", 1.0, 0.09, NOON)
    assert storage.reinforcements.uses() == {a: {"two"}}
    with storage.transaction():
        storage.reinforcements.append([a, b], "explicit", NOON + timedelta(hours=1), "operator")
    used = storage.reinforcements.uses()
    assert len(used[a] & used[b]) == 1 and len(used[a]) == 2
    assert storage.forecasts.count_verdicts() == storage.forecasts.count_verdicts([a, b]) == {a: (1, 1)}
    assert storage.forecasts.count_verdicts([b]) == {}
    assert [o.prediction_id for o in storage.forecasts.read_decided(by="frame", value="TASK")] == ["p3"]
    assert storage.forecasts.read_decided(by="frame", value="SELF") == ()
    assert storage.reinforcements.counts() == {a: 3, b: 2}
    assert storage.reinforcements.find_miscounted_blocks() == tuple(sorted([a, b]))
    written = "SELECT block_id, score FROM scores_cache WHERE frame_name = 'SELF'"
    assert dict(storage.rows(written)) == {a: 0.2, b: 0.3}


def test_the_journal_keeps_what_was_before_embedding_included(storage: Storage) -> None:
    vector = np.array([0.6, 0.8], dtype=np.float32)
    with storage.transaction():
        rows = [JournalRow("block", "k", '{"a": 1}', None, vector), JournalRow("edge", "a b c", None, "{}")]
        done = storage.journal.append("merge", NOON, "two", rows, blocks=1, edges=1)
    (blocks,), (edges,) = (list(storage.journal.pages(done.id, target)) for target in ("block", "edge"))
    kept = (*blocks, *edges)
    assert kept == tuple(rows)
    assert kept[0].embedding is not None
    np.testing.assert_array_equal(kept[0].embedding, vector)
    assert storage.journal.incomplete() == ()


@pytest.mark.parametrize(("keep", "most"), [(0, 0), (3, 3), (20, 35)])
def test_the_candidates_of_the_latest_assemblies_are_kept_and_few_others(
    storage: Storage, keep: int, most: int
) -> None:
    for serial in range(1, 70):
        with storage.transaction():
            storage.waterfalls.put(WaterfallRow(serial, "{}"), keep)
        assert storage.value("SELECT count(*) FROM waterfalls") <= most
        assert all(storage.waterfalls.get(one) for one in range(max(serial - keep, 0) + 1, serial + 1))

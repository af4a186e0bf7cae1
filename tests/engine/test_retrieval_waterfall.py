"""The waterfall finds what it should, says what each layer did, and lets no layer overrule the pre-filter."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.retrieval.layers import GRAPH_SHARE, SEARCH_WEIGHTS, Finding, expand, score, similarity
from amgs.retrieval.sources import Sources
from amgs.retrieval.waterfall import RetrievalRequest, gather, search, search_weights
from amgs.types import COMPONENTS, LAYERS, BlockFilter, LayerReport, SearchResult
from tests.engine.retrieval_world import NOW, Link, embed, note, world

BLOCKS = [
    note("# Boiler\nThe boiler valve part number is QX-7741-B and it was replaced in March."),
    note("# Kitchen\nMy grandmother baked rye bread every Sunday morning.", category="person"),
    note("# Network\nThe router in the attic drops packets when it rains.", hours_ago=4),
    note("The dome stalled on a cold night.", status="archived"),
    note("Bread is out.", status="raw", hours_ago=1),
]
LINKS = [Link(2, 3, weight=0.9)]


def ask(sources: Sources, text: str, **rest: object) -> SearchResult:
    return search(RetrievalRequest(text, **rest), sources, 10)  # type: ignore[arg-type]


def reports(result: SearchResult) -> dict[str, LayerReport]:
    return {report.layer: report for report in result.layers}


@pytest.fixture(scope="module")
def sources() -> Sources:
    return world(BLOCKS, LINKS)


@given(st.from_regex(r"[A-Z]{2}-[0-9]{4}-[A-Z]", fullmatch=True), st.integers(0, 1000))
def test_an_exact_token_comes_first_whatever_the_vectors_say(code: str, seed: int) -> None:
    """The holder's vector points away from the query, every other vector is the query's own."""
    blocks = [note(f"Spare {code} lies in the cellar."), *(note(f"Chapter {i} of the saga.") for i in range(30))]
    query = f"where is {code}?"
    against = {1: -embed(query), **{n: embed(query) for n in range(2, 32)}}
    result = ask(world(blocks, vectors=against), query)
    assert result.hits[0].block.id == blocks[0].id
    assert "keyword" in result.hits[0].layers


def test_the_prefilter_binds_every_layer(sources: Sources) -> None:
    wanted = BlockFilter(statuses=("archived", "raw"))
    result = ask(sources, "boiler valve QX-7741-B, bread and the dome", filter=wanted)
    assert {hit.block.status for hit in result.hits} == {"archived", "raw"}
    assert reports(result)["prefilter"].candidates_out == 2


def test_the_graph_brings_a_neighbour_that_no_word_matches(sources: Sources) -> None:
    result = ask(sources, "grandmother", layers=frozenset({"keyword", "graph"}))
    (kitchen, network) = result.hits
    assert (kitchen.block.title, network.block.title) == ("Kitchen", "Network")
    assert network.layers == ("graph",)
    assert network.graph == pytest.approx(GRAPH_SHARE * 0.9 * kitchen.lexical, rel=1e-6)


@given(
    st.lists(st.sampled_from(["dome motor", "rye bread", "QX-7741-B", "routr", "zzz", "?!", ""]), max_size=4),
    st.sets(st.sampled_from(LAYERS), min_size=1),
)
def test_the_counts_of_the_layers_agree(words: list[str], layers: set[str]) -> None:
    sources = world(BLOCKS, LINKS)
    gathered = gather(RetrievalRequest(" ".join(words), layers=frozenset(layers), recent=5), sources)
    assert [report.layer for report in gathered.layers] == list(LAYERS)
    by_name = {report.layer: report for report in gathered.layers}
    passed = by_name["prefilter"].candidates_out
    for name in ("keyword", "fuzzy", "vector", "graph"):
        report = by_name[name]
        assert 0 <= report.contributed <= report.candidates_out <= passed
        off = name not in layers and not report.skipped.startswith("ran for seeds")
        assert not off or (report.skipped and report.candidates_out == 0)
    assert by_name["score"].candidates_in == by_name["score"].candidates_out == len(gathered.candidates)
    found = sum(by_name[n].contributed for n in ("keyword", "fuzzy", "vector", "graph"))
    present = sum(c.layers == ("prefilter",) for c in gathered.candidates)
    if layers & {"keyword", "fuzzy", "vector"}:
        assert found + present == len(gathered.candidates)


def test_a_search_by_one_layer_has_its_order_whatever_else_speaks_for_a_block() -> None:
    used = note("rye bread and milk", confidence=1.0, hours_ago=0.0)
    blocks = [used, note("rye bread", hours_ago=9000.0, confidence=0.1), note("milk")]
    made = world(blocks, [Link(3, 1, weight=1.0)], reinforcements={1: 90})
    layers = frozenset({"keyword"})
    request = RetrievalRequest("bread", weights=search_weights(layers), layers=layers)
    hits = search(request, made, 5).hits
    assert [hit.block.content for hit in hits] == ["rye bread", used.content]
    assert search_weights(frozenset(LAYERS)) == SEARCH_WEIGHTS


# --- the parts of the score -------------------------------------------------------------------------------


def test_every_part_says_what_it_means() -> None:
    blocks = [
        note("dome", decay_lambda=0.01, hours_ago=math.log(2) / 0.01, confidence=0.4),
        note("motor", hours_ago=0.0),
        note("encoder"),
    ]
    sources = world(blocks, [Link(1, 2), Link(1, 3)], reinforcements={1: 4})
    hit = ask(sources, "dome", layers=frozenset({"keyword"})).hits[0]
    assert hit.parts.recency == pytest.approx(0.5)
    assert hit.parts.centrality == pytest.approx(1.0, abs=1e-6)
    assert hit.parts.confidence == 0.4
    assert hit.parts.reinforcement == 0.5
    assert hit.score == pytest.approx(
        sum(getattr(hit.parts, name) * getattr(SEARCH_WEIGHTS, name) for name in COMPONENTS)
    )


@given(
    st.floats(0, 5), st.floats(0, 1), st.none() | st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)
)
def test_similarity_lies_between_0_and_1_and_rises_with_every_kind_of_evidence(
    share: float, exact: float, cosine: float | None, flow: float, lexical_share: float, more: float
) -> None:
    less = similarity(Finding(share, exact, cosine, flow), lexical_share)
    assert 0.0 <= less <= 1.0
    for stronger in (
        Finding(share + more, exact, cosine, flow),
        Finding(share, min(1.0, exact + more), cosine, flow),
        Finding(share, exact, cosine, min(1.0, flow + more)),
    ):
        assert similarity(stronger, lexical_share) >= less - 1e-12


# --- the graph layer --------------------------------------------------------------------------------------


def test_flows_from_several_seeds_are_joined_as_chances() -> None:
    view = world([note(c) for c in "abc"], [Link(1, 3, weight=0.8), Link(2, 3, weight=0.4)]).graph.view()
    allowed = np.array([1, 2, 3], dtype=np.int64)
    flow = expand({1: 1.0, 2: 0.5}, view, allowed, 0.5)
    assert flow[3] == pytest.approx(1 - (1 - 0.5 * 0.8) * (1 - 0.5 * 0.4 * 0.5))
    assert expand({1: 1.0}, view, np.array([1, 2], dtype=np.int64)) == {}


def test_a_faded_edge_carries_less() -> None:
    fresh = world([note("a"), note("b")], [Link(1, 2)])
    faded = world([note("a"), note("b")], [Link(1, 2, hours_ago=1000, decay_lambda=0.001)])
    allowed = np.array([1, 2], dtype=np.int64)
    one, other = (expand({1: 1.0}, s.graph.view(), allowed)[2] for s in (fresh, faded))
    assert other == pytest.approx(one * math.exp(-1))
    assert faded.graph.view().as_of == NOW


@given(st.lists(st.sampled_from([0.2, 0.5, 0.8]), min_size=1, max_size=5))
def test_scores_fall_ties_by_id(similarities: list[float]) -> None:
    some = [note(f"heron {i}") for i in range(len(similarities))]
    facts = world(some, []).blocks.facts(range(1, len(some) + 1))
    scored = score(facts, np.array(similarities), np.zeros(len(some)), NOW, SEARCH_WEIGHTS)
    falling = sorted(range(len(some)), key=lambda row: (-similarities[row], some[row].id))
    assert scored.order.tolist() == falling

"""The seven layers between a question and its text: each does what it says, and outcomes teach those that learn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

import amgs
from amgs.identity import block_id
from amgs.wings.packs.choice import ROLES, accuracies, intents_of, transitions, walk
from amgs.wings.packs.continuum import find_combinations, forget_packs
from amgs.wings.packs.proposals import FEATURES, PackPolicy, candidates, features, learn_policy
from amgs.wings.packs.values import LAYERS, PackAssembly, PackLayer, PackUse
from tests.engine.memory_world import NOW, open_memory
from tests.prepared_store import copy_store

NOTES = {
    "dome": ("The dome motor stalled in the cold.", "Its motor drew too much that night. Nobody was there."),
    "again": ("The dome motor stalled in the cold.",),
    "cold": ("The encoder slips when it is cold.", "Grease gets stiff in the cold. It was minus nine."),
    "goat": ("A goat stands on the terrace.", "Goats eat the hay of the terrace."),
}


@pytest.fixture
def memory() -> Iterator[amgs.Memory]:
    with open_memory(copy_store(_make_packs)) as opened:
        yield opened


def _make_packs(path: Path) -> amgs.Memory:
    memory = open_memory(path)
    memory.ingest_texts([(text, None, {}) for texts in NOTES.values() for text in texts])
    memory.consolidate()
    for name, texts in NOTES.items():
        memory.packs.keep(name, blocks=[block_id(text) for text in texts])
    return memory


def ask(memory: amgs.Memory, *layers: PackLayer, session: str = "", query: str = "the dome motor") -> PackAssembly:
    return memory.packs.assemble(query, budget=60, layers=layers, session=session)


def read_together(memory: amgs.Memory) -> dict[str, float]:
    """Read two packs in each of three sessions; gives what each pack is worth for the question by then."""
    for n in range(3):
        for name in ("dome", "goat"):
            memory.packs.assemble(pack=name, session=f"night {n}")
    return {one.pack.name: one.worth for one in ask(memory).packs}


def done(made: PackAssembly, name: str) -> str:
    return next(one.did for one in made.stages if one.name == name)


def use(number: int, name: str, session: str, outcome: float | None) -> PackUse:
    return PackUse(number, name, 1, "", NOW + timedelta(hours=number), "why", session, 100, (), outcome)


@pytest.mark.parametrize("layers", [(), *((layer,) for layer in LAYERS), LAYERS])
def test_each_layer_runs_keeps_to_the_budget_and_says_what_it_did(
    memory: amgs.Memory, layers: tuple[PackLayer, ...]
) -> None:
    before = memory.packs.list()
    made = memory.packs.assemble("why did the dome motor stall?", budget=60, layers=layers, log=False)
    assert made.layers == layers and 0 < made.tokens <= 60 and made.packs[0].chosen
    assert set(layers) <= {one.name for one in made.stages} and all(one.did for one in made.stages)
    for first, then in pairwise(made.stages):
        assert first.tokens_out == then.tokens_in
    assert made.stages[-1].tokens_out == made.tokens and memory.packs.list() == before
    assert "".join(made.text[span.start : span.end] for span in made.spans) == made.text


def test_a_question_walks_the_graphs_that_it_asks_for(memory: amgs.Memory) -> None:
    assert intents_of("When did Ilse call, and why?", ["Ilse"]) == ("temporal", "causal", "entity")
    assert intents_of("the dome motor", ["Ilse"]) == ("semantic",)
    assert walk({"a": 1.0}, {"a": {"b": 0.9}, "b": {"c": 0.8, "d": 0.5}, "c": {"e": 1.0}}, 0.7) == {
        "a": 1.0,
        "b": 0.9,
        "c": pytest.approx(0.72),
    }
    plain = read_together(memory)
    made = ask(memory, "graphs", query="the dome motor last night")
    walked = {one.pack.name: one.worth for one in made.packs}
    assert walked["goat"] > plain["goat"] and done(made, "graphs").startswith("temporal: begins at 3 packs")
    links = {(one.name, one.graph): one.weight for one in memory.packs.show("dome").links}
    assert links["goat", "temporal"] == 1.0 and ("again", "entity") in links
    assert memory.packs.show("dome").beside == ("goat",)


def test_five_agents_say_why_and_a_vote_counts_for_more_where_its_agent_was_right(memory: amgs.Memory) -> None:
    made = ask(memory, "agents", session="night")
    assert [name for name, _ in made.rationale] == list(ROLES) and all(told for _, told in made.rationale)
    assert made.packs[0].because.endswith("votes")
    assert "relevance 0.50" in done(made, "agents")
    memory.packs.outcome(session="night", score=1.0)
    told = done(ask(memory, "agents"), "agents")
    assert "relevance 0.50" not in told
    assert accuracies([("quality", 1.0, 0.0)])["quality"] < 0.5 < accuracies([("quality", 1.0, 1.0)])["quality"]


def test_sentences_without_attention_go_and_without_a_model_the_layer_says_so(memory: amgs.Memory) -> None:
    def by_cold(question: str, sentences: Sequence[str]) -> list[float]:
        assert question == "the dome motor"
        return [float("cold" in sentence) for sentence in sentences]

    made = memory.packs.assemble("the dome motor", budget=50, layers=("attention",), attention=by_cold)
    stage = next(one for one in made.stages if one.name == "attention")
    assert "stalled in the cold" in made.text and "Goats eat" not in made.text
    assert stage.tokens_in > 50 and stage.count_out >= stage.count_in / 2 and stage.tokens_out < stage.tokens_in
    roomy = memory.packs.assemble("the dome motor", layers=("attention", "focus"), attention=by_cold)
    assert roomy.text == memory.packs.assemble("the dome motor").text, "nothing that fits is cut"
    alone = ask(memory, "attention")
    assert "no language model" in done(alone, "attention") and alone.text == ask(memory).text


def test_what_superseded_a_member_is_read_while_the_store_stays(memory: amgs.Memory) -> None:
    made = ask(memory, "operations", query="the dome motor in the cold")
    assert "left as it is" in done(made, "operations") and len(memory.packs.list()) == 4
    memory.packs.keep("twin", blocks=[block_id(text) for text in NOTES["dome"]])
    made = ask(memory, "operations")
    assert "1 merged" in done(made, "operations") and len(memory.packs.list()) == 5
    entry = memory.packs.change("MERGE", "dome", "goat")
    assert len(memory.packs.show("dome").blocks) == 4 and "goat" not in [u.pack.name for u in memory.packs.list()]
    memory.undo(entry.id)
    assert len(memory.packs.show("dome").blocks) == 2 and len(memory.packs.list()) == 5


def test_focus_tells_once_what_is_central(memory: amgs.Memory) -> None:
    hay = [f"Goat {n} eats the hay of terrace {n}." for n in range(12)]
    texts = ["The dome motor stalled at nine.", "The dome motor stalled at nine!", *hay]
    ids = [(done.added or done.known)[0] for done in map(memory.ingest_text, texts)]
    memory.packs.keep("many", blocks=ids)
    made = memory.packs.assemble("the dome motor", pack="many", budget=80, layers=("focus",))
    assert made.text.count("stalled at nine") == 1 and "of 14 sentences are central" in done(made, "focus")
    assert memory.packs.assemble("the dome motor", pack="many", budget=80).text.count("stalled at nine") == 2


def test_outcomes_teach_weights_and_undo_unlearns_them(memory: amgs.Memory) -> None:
    plain = {one.pack.name: one.worth for one in ask(memory).packs}
    operations = []
    for n in range(4):
        memory.packs.assemble("the dome motor", pack="dome", session=f"night {n}")
        operations.append(memory.packs.outcome(session=f"night {n}", score=0.0).operation)
    made = ask(memory, "weights")
    weighed = {one.pack.name: one.worth for one in made.packs}
    assert weighed["dome"] < plain["dome"] and weighed["goat"] == plain["goat"]
    assert memory.packs.list()[2].weight < 0.35 and memory.packs.list()[2].pack.name == "dome"
    for operation in reversed(operations):
        memory.undo(operation)
    assert {one.weight for one in memory.packs.list()} == {0.5}


def test_verdicts_and_outcomes_move_the_policy(memory: amgs.Memory) -> None:
    policy, seen = PackPolicy(), features(30.0, 4, 0.5, 2, 300)
    assert len(seen) == FEATURES
    memory.packs.keep("twin", blocks=[block_id(text) for text in NOTES["dome"]])
    (one,) = candidates(memory.packs._views(()), ())
    assert policy.sure(one) == pytest.approx(one.sure, abs=2e-3)
    for _ in range(20):
        policy.learn(one.features, "MERGE", -1.0)
    assert policy.sure(one) < one.sure
    useless = [use(n, "goat", f"s{n}", float(n < 3)) for n in range(12, 0, -1)]
    learned = learn_policy(useless, (), ())
    assert learned.weights["NOOP"][0] < 0 < learned.weights["DELETE"][0]


def test_the_least_valued_tenth_is_forgotten_and_what_is_read_together_comes_along(memory: amgs.Memory) -> None:
    for n in range(8):
        memory.packs.keep(f"filler {n}", blocks=[block_id(NOTES["goat"][0])], title=str(n))
    plain = read_together(memory)
    made = ask(memory, "continuum")
    worth = {one.pack.name: one.worth for one in made.packs}
    assert worth["goat"] > plain["goat"] and "1 pack forgotten" in done(made, "continuum")
    assert transitions(memory.packs._packs.uses())["dome"] == {"goat": 1.0}
    usages = memory.packs.list()
    gone = forget_packs(usages, sum(one.pack.tokens for one in usages) - 1)
    assert len(gone) == 1 and forget_packs(usages, 10**6) == []


def test_combinations_are_beyond_chance_or_in_every_session() -> None:
    sessions = [["a", "b"]] * 6 + [["d"]] * 12
    assert [(one.names, one.sessions) for one in find_combinations(sessions)] == [(("a", "b"), 6)]
    assert find_combinations([["a", "b"]] * 4) == [] == find_combinations([["a", "b"]] * 6 + [["a"], ["b"]])
    (always,) = find_combinations([["a", "b"]] * 6)
    assert (always.sessions, always.either) == (6, 6), "chance tells nothing there"

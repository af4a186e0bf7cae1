"""Evidence: neighbours, episodes and speakers speak, a layer that is off does not, answers are doubted."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from amgs.index.arrays import NOBODY, BlockFeatures
from amgs.index.lexical import StemPostings
from amgs.retrieval.features import FEATURES, PART_WORDS
from amgs.retrieval.layers import ALONE_WEIGHTS
from amgs.retrieval.similarity import WEIGHTS
from amgs.retrieval.sources import NOTE, PART, Sources
from amgs.retrieval.waterfall import RetrievalRequest, gather, search
from amgs.types import LAYERS, Block, SearchResult
from tests.engine.retrieval_world import NOW, Link, note, parts, traits, world

TALK = [
    ("ann", "Ann: Where did the heron nest this spring?"),
    ("bo", "Bo: By the mill pond, under the alder."),
    ("ann", "Ann: I painted the gate green."),
    ("bo", "Bo: My sister sells clocks."),
]
WRITTEN = NOW - timedelta(hours=300)
OTHER = [("ann", "Ann: The kettle broke again."), ("bo", "Bo: Buy a new kettle then.")]


def turn(speaker: str, content: str, source: str) -> Block:
    return note(content, meta={"source": source, "speaker": speaker})


@pytest.fixture(scope="module")
def sources() -> Sources:
    blocks = [turn(s, c, f"one#{i}") for i, (s, c) in enumerate(TALK)]
    blocks += [turn(s, c, f"two#{i}") for i, (s, c) in enumerate(OTHER)]
    order = [Link(i, i + 1, "next", weight=0.6) for i in (1, 2, 3, 5)]
    return world([*blocks, note("Herons eat frogs, and nest early in the spring.")], order)


def ask(sources: Sources, query: str, **rest: object) -> SearchResult:
    return search(RetrievalRequest(query, **rest), sources, 10)  # type: ignore[arg-type]


def estimate(sources: Sources, query: str) -> float | None:
    """What is estimated, whether or not it is told."""
    return gather(RetrievalRequest(query), sources).answerable


def test_the_answer_after_a_matching_question_is_lifted_by_it(sources: Sources) -> None:
    found = ask(sources, "where did the heron nest")
    answer = parts(found, "Bo: By the mill")
    assert answer["words"] == 0.0
    assert answer["window"] > 0 and answer["neighbour_words"] > 0 and answer["after_question"] > 0
    assert parts(found, "Ann: Where did")["asking"] < 0
    at = [h.block.content[:10] for h in found.hits]
    assert at.index("Bo: By the") < at.index("Bo: My sis")


def test_who_is_asked_about_counts_and_is_no_word_to_look_for(sources: Sources) -> None:
    found = ask(sources, "What did Ann say of the kettle?")
    assert parts(found, "Ann: The kettle")["asked_of"] > 0
    assert parts(found, "Bo: Buy a new")["asked_of"] == 0
    # "Ann" is left out of the words: her gate matches nothing that is asked.
    assert parts(found, "Ann: I painted")["words"] == 0


def test_the_parts_explain_the_order() -> None:
    """The similarity rises strictly with the sum of what the features add."""
    blocks = [note(f"the {word} stands in room {i}") for i, word in enumerate(["lamp", "lamps", "desk", "bed"])]
    hits = ask(world(blocks), "which room has the lamp").hits
    sums = [sum(value for _, value in hit.evidence) for hit in hits]
    similar = [hit.parts.similarity for hit in hits]
    assert np.argsort(sums).tolist() == np.argsort(similar).tolist()
    assert set(WEIGHTS) == set(FEATURES)


def test_an_estimate_is_told_only_of_the_form_on_which_it_was_right(sources: Sources) -> None:
    pieces = [note("The gate is painted green in spring."), note("Oil the hinges.")]
    question = "which gate is painted green?"
    for told in (sources, world(pieces, [Link(1, 2, "next")])):
        assert ask(told, question).answerable == estimate(told, question) is not None
    notes = world(pieces)
    assert estimate(notes, question) is not None
    assert ask(notes, question).answerable is None, "the best hit is a note of its own"
    assert ask(sources, question, layers=frozenset({"prefilter", "keyword", "graph", "score"})).answerable is None
    dated = f"which gate is painted green, as of {WRITTEN:%d %B %Y}?"
    assert ask(sources, dated).unestimated == "the question names a day"


def test_what_a_typo_was_read_as_counts_as_evidence(sources: Sources) -> None:
    right, wrong = (gather(RetrievalRequest(f"the broken {word}"), sources) for word in ("kettle", "kettel"))
    assert right.evidence is not None and wrong.evidence is not None
    place = list(FEATURES).index("coverage")
    covered, covered_less = right.evidence.values[:, place].max(), wrong.evidence.values[:, place].max()
    assert 0.5 * covered < covered_less < 1.0
    (hit, *_) = ask(sources, "kettel").hits
    assert "kettle" in hit.block.content


def test_a_word_before_a_colon_makes_no_speaker_outside_a_dialogue() -> None:
    """Neither notes nor the parts of a document are turns, and their names stay among the words to look for."""
    blocks = [note("License: MIT"), note("What: the weekly standup"), note("Why: to keep in touch")]
    blocks += [
        note(text, meta={"source": f"readme.md#{i}"})
        for i, text in enumerate(["Note: install it first", "It parses licenses.", "It is fast.", "It is small."])
    ]
    order = [Link(i, i + 1, "next") for i in (4, 5, 6)]
    made = world(blocks, order)
    forms = made.sequences().forms
    assert not forms.turns.any() and set(forms.speaker.tolist()) == {NOBODY} and not forms.gate.any()
    assert forms.form.tolist() == [NOTE] * 3 + [PART] * 4
    found = ask(made, "what license does it have")
    assert parts(found, "License: MIT")["words"] > 0 and parts(found, "License: MIT")["asked_of"] == 0
    assert parts(found, "It parses")["neighbour_words"] == parts(found, "It parses")["turn_length"] == 0


def test_a_turn_of_a_chat_shares_the_words_that_its_speaker_said_before_and_is_ordered_by_similarity_alone() -> None:
    said = [("user", "My bike squeaks badly."), ("assistant", "Oh no."), ("user", "It happens when I brake hard.")]
    blocks = [turn(who, f"{who.title()}: {text}", f"a#{n}") for n, (who, text) in enumerate(said)]
    chat = world(blocks, [Link(1, 2, "next"), Link(2, 3, "next")])
    found = ask(chat, "when does the bike squeak")
    assert parts(found, "User: It happens")["speaker_words"] > 0 == parts(found, "Assistant")["speaker_words"]
    assert found.weights == ALONE_WEIGHTS


def test_a_common_word_calls_somebody_only_where_it_is_written_as_a_name() -> None:
    talk = [turn("Will", "Will: hello", "a#0"), turn("Bo", "Bo: hi", "a#1")]
    traits_of = BlockFeatures.none().merge_changed(traits(talk))
    assert traits_of.find_names("what will Bo say") == (traits_of.names.index("bo"),)
    assert traits_of.find_names("Will it rain?") == ()
    assert traits_of.find_names("what does Will say") == (traits_of.names.index("will"),)


MANUAL = [
    "Winding: turn the brass crank once a day.",
    "Cleaning: wipe the lens with soft cloth.",
    "Oil: whale or rape.",
]


@pytest.mark.parametrize(
    ("form", "query", "answer"),
    [
        ("turns", "what did Bo's sister sell", "Bo: My sister"),
        ("turns", "what broke again", "Ann: The kettle"),
        ("parts", "how do I wipe the lens", "Cleaning"),
        ("parts", "how often is the crank turned", "Winding"),
        ("notes", "wipe the lens", "Cleaning"),
        ("notes", "brass crank", "Winding"),
    ],
)
def test_no_form_ranks_an_answer_below_the_better_of_words_and_meaning(form: str, query: str, answer: str) -> None:
    if form == "turns":
        spoken = [turn(s, c, f"one#{i}") for i, (s, c) in enumerate([*TALK, *OTHER])]
        made = world(spoken, [Link(i, i + 1, "next") for i in range(1, 6)])
    else:
        order = [Link(1, 2, "next"), Link(2, 3, "next")] if form == "parts" else []
        made = world([note(text) for text in MANUAL], order)

    def rank(*layers: str) -> int:
        hits = ask(made, query, layers=frozenset(layers or LAYERS)).hits
        return next((i for i, h in enumerate(hits) if h.block.content.startswith(answer)), len(hits))

    assert rank() <= min(rank("keyword"), rank("vector"))


# --- the terrain ------------------------------------------------------------------------------------------


def test_changed_traits_replace_the_old_and_the_rest_stays() -> None:
    blocks = [turn(s, c, f"one#{i}") for i, (s, c) in enumerate(TALK)]
    old = BlockFeatures.none().merge_changed(traits(blocks))
    renamed = [replace(blocks[0], meta={"speaker": "Cy", "source": "one#0"})]
    new = old.without(np.array([2])).merge_changed(traits(renamed))
    assert new.numbers.tolist() == [1, 3, 4]
    assert [new.names[i] for i in new.name] == ["cy", "ann", "bo"]
    assert new.find_names("what did Cy and Ann do?") == (0, 2) or set(new.find_names("Cy Ann")) == {
        new.names.index("cy"),
        new.names.index("ann"),
    }


WORDS = ("heron", "kettle", "gate", "clock", "Ann", "mill")
CONTENT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)


def held(postings: StemPostings) -> dict[int, float]:
    return dict(zip(postings.numbers.tolist(), postings.scores.tolist(), strict=True))


def plain_words(sources: Sources, query: str, numbers: list[int], turns: int, parts_after: int) -> np.ndarray:
    """(m, 6) the features of words by their formulas, block by block; blocks to `turns` are turns, then come parts."""
    index, cut = sources.keyword, sources.keyword.query(query)
    named = sources.sequences().find_speakers(query)
    spoken = {t.text for t in index.content(cut, ["ann"] if named else [])}
    whole = {t: held(index.postings(t.text, 99)) for t in cut.terms}
    opening = {t: held(index.openings(t.text, 99)) for t in cut.terms}
    for t in cut.terms:
        if t.text not in spoken:
            whole[t] = {number: score for number, score in whole[t].items() if number > turns}
    rows = []
    for number in numbers:
        first, last = (1, turns) if number <= turns else (turns + 1, turns + parts_after)
        steps = (-1, -2, 1, 2) if number <= turns else (-1, 1)
        near = [number + step for step in steps if first <= number <= last and first <= number + step <= last]
        asked = [t for t in cut.terms if number > turns or t.text in spoken]
        mass = max(sum(t.idf for t in asked), 1e-6)
        told = [t.idf for t in asked if any(one <= turns for one in whole[t])]
        rows.append(
            (
                sum(scores.get(number, 0.0) for scores in whole.values()),
                sum(scores.get(number, 0.0) for scores in opening.values()),
                sum(t.idf for t in asked if number in whole[t]) / mass,
                sum(t.idf for t in asked if not whole[t].keys().isdisjoint([number, *near])) / mass,
                sum(scores.get(one, 0.0) for scores in whole.values() for one in near),
                sum(told) if number <= turns else 0.0,
            )
        )
    return np.array(rows)


@given(st.lists(CONTENT, min_size=4, max_size=8), st.lists(CONTENT, max_size=4), st.lists(CONTENT, max_size=3), CONTENT)
def test_words_speak_by_the_plain_formulas(said: list[str], split: list[str], loose: list[str], query: str) -> None:
    blocks = [turn(who, f"{who}: {c} {i}", f"one#{i}") for i, c in enumerate(said) for who in [("ann", "bo")[i % 2]]]
    blocks += [note(f"{c} {i}\n\nkettle", meta={"source": f"two#{i}"}) for i, c in enumerate(split)]
    blocks += [note(f"{c} alone {i}") for i, c in enumerate(loose)]
    size = len(said)
    order = [Link(i, i + 1, "next") for i in range(1, size + len(split)) if i != size]
    sources = world(blocks, order)
    found = gather(RetrievalRequest(query), sources).evidence
    assume(found is not None)  # unless nothing shares anything with the query
    assert found is not None
    values = dict(zip(FEATURES, found.values.T, strict=True))
    own, opening, coverage, window, beside, episode = plain_words(
        sources, query, found.numbers.tolist(), size, len(split)
    ).T
    best = own.max(initial=1e-6)
    assert values["words"] == pytest.approx(own / best)
    assert values["opening"] == pytest.approx((found.numbers > size) * opening / opening.max(initial=1e-6))
    other = found.form != PART
    assert values["coverage"][other] == pytest.approx(coverage[other])
    assert (values["coverage"][~other] <= PART_WORDS).all(), "of a part it is the keyword layer's score by the best"
    assert values["window"] == pytest.approx(window)
    assert values["neighbour_words"] == pytest.approx(found.gate * beside / best)
    assert values["episode_words"] == pytest.approx(episode / episode.max(initial=1e-6))

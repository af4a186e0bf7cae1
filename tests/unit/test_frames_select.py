"""Selection decides every candidate once, within the budget, in an order that repeats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.errors import BudgetError, FrameCycleError, UnknownFrameError, UsageError
from amgs.frames.assemble import MOST_LIMIT, FrameSection, Shortener, Template, assemble, key_sentence
from amgs.frames.registry import by_name, order, register
from amgs.frames.select import Selection, effective_weights, select
from amgs.frames.shipping import DEFAULTS
from amgs.index.arrays import Stamp
from amgs.index.keyword import KeywordIndex
from amgs.retrieval.passage_finder import PassageFinder
from amgs.text.language_model import approximate_tokens
from amgs.types import COMPONENTS, Assembly, Candidate, ChildFrame, FrameDefinition, PassageSpan, SelectionRule, Weights
from tests.engine.frames_samples import candidate, candidates

KNOWN = by_name(DEFAULTS)


def rules() -> st.SearchStrategy[SelectionRule]:
    return st.builds(
        SelectionRule,
        selection=st.sampled_from(["budget", "top_k", "threshold", "entropy"]),
        top_k=st.none() | st.integers(1, 10),
        threshold=st.sampled_from([0.0, 0.3, 0.8]),
    )


@given(candidates(), st.integers(-1, 300), rules())
def test_every_candidate_gets_one_fate_with_a_reason_and_the_budget_holds(
    pool: list[Candidate], budget: int, rule: SelectionRule
) -> None:
    done = select(pool, budget, rule, Selection())
    assert [c.block.id for c in done.candidates] == [c.block.id for c in pool]
    assert done.used == sum(c.tokens for c in done.chosen) <= max(budget, 0)
    assert all(c.because for c in done.candidates if c.fate != "selected")
    assert rule.top_k is None or len(done.chosen) <= rule.top_k
    assert all(c.score >= rule.threshold for c in done.chosen)
    for c in done.candidates:
        if c.fate == "over_budget":
            assert c.because.startswith(f"over budget: {c.tokens} tokens, ")
    assert select(pool, budget, rule, Selection()) == done


def test_what_means_the_same_is_taken_once() -> None:
    pool = [candidate("The lamp is lit.", 0.9, 1), candidate("The lamp is lit!", 0.8, 1), candidate("c", 0.7, 1)]
    a, b, c = (one.block.id for one in pool)
    along = np.array([1.0, 0.0], dtype=np.float32)
    across = np.array([0.0, 1.0], dtype=np.float32)
    close = np.array([0.98, 0.199], dtype=np.float32)
    done = select(pool, 9, SelectionRule(), Selection({a: along, b: close, c: across}, 0.95))
    assert [one.fate for one in done.candidates] == ["selected", "duplicate", "selected"]
    assert done.candidates[1].because == f"duplicate of {a[:6]}… (cosine 0.98)"
    loose = select(pool, 9, SelectionRule(), Selection({a: along, b: close, c: across}, None))
    assert len(loose.chosen) == 3


def test_balancing_admits_a_rarer_category_before_a_slightly_better_score() -> None:
    pool = [
        *(candidate(f"fact {i}", 0.9 - i / 1000, 10) for i in range(5)),
        candidate("who", 0.86, 10, category="person"),
    ]
    plain = select(pool, 30, SelectionRule(), Selection())
    balanced = select(pool, 30, SelectionRule(selection="entropy"), Selection())
    assert {c.block.category for c in plain.chosen} == {"fact"}
    assert {c.block.category for c in balanced.chosen} == {"fact", "person"}


# --- weights ----------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 20), min_size=5, max_size=5).filter(any), st.booleans(), st.sampled_from(sorted(KNOWN)))
def test_effective_weights_sum_to_one_and_keep_their_proportions(raw: list[int], has_query: bool, name: str) -> None:
    weights = Weights.normalised(**dict(zip(COMPONENTS, map(float, raw), strict=True)))
    shared = effective_weights(KNOWN[name], weights, has_query=has_query).weights
    assert sum(getattr(shared, c) for c in COMPONENTS) == pytest.approx(1.0)
    kept = [c for c in COMPONENTS if getattr(shared, c) > 0 and getattr(weights, c) > 0]
    ratios = [getattr(shared, c) / getattr(weights, c) for c in kept]
    assert ratios == pytest.approx([ratios[0]] * len(ratios)) if ratios else True


def test_the_profiles_are_those_of_the_specification() -> None:
    profiles = {name: [getattr(KNOWN[name].weights, c) for c in COMPONENTS] for name in KNOWN}
    assert profiles["SELF"] == [0.05, 0.25, 0.30, 0.10, 0.30]
    assert profiles["ATTENTION"] == [0.25, 0.15, 0.15, 0.35, 0.10]
    assert profiles["SHORT_TERM"] == [0.50, 0.05, 0.10, 0.20, 0.15]
    assert profiles["WORLD"] == [0.10, 0.30, 0.25, 0.25, 0.10]
    assert profiles["TASK"] == [0.15, 0.10, 0.15, 0.45, 0.15]
    assert profiles["INBOX"] == [0.60, 0.00, 0.10, 0.20, 0.10]


# --- the registry -----------------------------------------------------------------------------------------


def composite(name: str, *children: str) -> FrameDefinition:
    return FrameDefinition(name, "", KNOWN["ATTENTION"].weights, children=tuple(ChildFrame(c, 0.5) for c in children))


def test_a_cycle_is_refused_and_named() -> None:
    known = register(composite("OUTER", "INNER"), register(composite("INNER", "SELF"), KNOWN))
    with pytest.raises(FrameCycleError, match=r"OUTER → INNER → OUTER|INNER → OUTER → INNER"):
        register(composite("INNER", "OUTER"), known)
    with pytest.raises(FrameCycleError, match="MINE → MINE"):
        register(composite("MINE", "MINE"), KNOWN)


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=16))
def test_whatever_registers_can_be_ordered_children_first(pairs: Sequence[tuple[int, int]]) -> None:
    known: dict[str, FrameDefinition] = {f"F{i}": replace(KNOWN["SELF"], name=f"F{i}") for i in range(8)}
    for above, below in pairs:
        names = dict.fromkeys([*(c.name for c in known[f"F{above}"].children), f"F{below}"])
        try:
            known = register(composite(f"F{above}", *names), known)
        except FrameCycleError:
            assert above == below or reaches(known, f"F{below}", f"F{above}")
    placed = {name: i for i, name in enumerate(order(known))}
    assert all(placed[c.name] < placed[d.name] for d in known.values() for c in d.children)


def reaches(known: dict[str, FrameDefinition], start: str, goal: str) -> bool:
    return start == goal or any(reaches(known, c.name, goal) for c in known[start].children)


@pytest.mark.parametrize(
    ("broken", "error"),
    [
        (replace(KNOWN["SELF"], name="self"), UsageError),
        (replace(KNOWN["SELF"], name="A; DROP TABLE"), UsageError),
        (replace(KNOWN["SELF"], name="MINE", budget=0), BudgetError),
        (composite("MINE", "NOBODY"), UnknownFrameError),
        (composite("MINE", "SELF", "SELF"), UsageError),
        (replace(composite("MINE", "SELF"), children=(ChildFrame("SELF", 1.5),)), UsageError),
        (replace(composite("MINE", "SELF"), children=(ChildFrame("SELF", math.nan),)), UsageError),
        (
            replace(
                composite("MINE"), children=(ChildFrame("SELF", 0.7), ChildFrame("TASK", 0.7)), budget_strategy="static"
            ),
            UsageError,
        ),
        (replace(KNOWN["SELF"], name="MINE", rule=SelectionRule(selection="top_k")), UsageError),
        (replace(KNOWN["SELF"], name="MINE", rule=SelectionRule(threshold=2.0)), UsageError),
        (replace(KNOWN["SELF"], name="MINE", rule=SelectionRule(window_hours=0.0)), UsageError),
        (replace(KNOWN["SELF"], name="MINE", rule=SelectionRule(pool=0)), UsageError),
    ],
)
def test_a_malformed_definition_is_refused_with_a_way_out(broken: FrameDefinition, error: type[UsageError]) -> None:
    with pytest.raises(error) as caught:
        register(broken, KNOWN)
    assert caught.value.way_out


# --- the text ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "query", "sentence"),
    [
        ("# Log\nIt rained. The motor stalled at 2.5 degrees. We slept.", "motor", "The motor stalled at 2.5 degrees."),
        ("# Log\nIt rained. We slept.", "", "It rained."),
        ("# Only a heading", "", "# Only a heading"),
        ("   ", "", "   "),
    ],
)
def test_a_summary_takes_the_sentence_that_answers(content: str, query: str, sentence: str) -> None:
    assert key_sentence(content, query) == sentence


def test_of_two_that_say_the_same_the_newer_is_taken() -> None:
    old, new = candidate("The lamp is lit.", 0.9, 5), candidate("The lamp is lit!", 0.8, 5)
    other = candidate("c", 0.7, 5)
    later = replace(new.block, created_at=old.block.created_at + timedelta(days=1))
    new = replace(new, block=later)
    along, across = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
    vectors = {old.block.id: along, new.block.id: along, other.block.id: across}
    done = select([old, new, other], 99, SelectionRule(), Selection(vectors, 0.95))
    assert [one.fate for one in done.candidates] == ["duplicate", "selected", "selected"]
    assert done.candidates[0].because == f"older than {new.block.id[:6]}…, which says the same"
    tight = select([old, replace(new, tokens=50)], 10, SelectionRule(), Selection(vectors, 0.95))
    assert [one.fate for one in tight.candidates] == ["selected", "over_budget"]
    taken = Selection(vectors, 0.95)
    taken.add(old)
    assert [one.fate for one in select([new], 9, SelectionRule(), taken).candidates] == ["selected"]


def test_a_block_too_long_for_the_budget_stands_there_with_its_passage() -> None:
    text = " ".join(["It rained and nothing happened here."] * 60 + ["The dome stalled."] + ["We slept."] * 60)
    index = KeywordIndex.open(None)
    index.catch_up(np.array([1]), lambda numbers: [(n, text) for n in numbers], Stamp("store", 1))
    assemblies: tuple[Assembly, ...] = ("template", "raw", "structured")
    for assembly in assemblies:
        template = Template(assembly, "ATTENTION", "dome stalled", datetime(2026, 3, 1, tzinfo=UTC))
        finder = PassageFinder(index.query("why did the dome stall?"), index)
        long = candidate(text, 0.9, 0)
        long = replace(long, tokens=template.cost(long, approximate_tokens))
        taken = Selection(shorten=Shortener(template, finder, approximate_tokens))
        (made,) = select([long], 1024, SelectionRule(), taken).candidates
        assert made.fate == "selected"
        assert made.because == f"cut to {made.tokens} of {long.tokens} tokens"
        around = template.cost(replace(long, passage=PassageSpan(0, 0)), approximate_tokens)
        assert made.tokens <= MOST_LIMIT + around < long.tokens
        assert made.tokens == template.cost(made, approximate_tokens)
        written = assemble(template, [FrameSection("", (made,))], approximate_tokens)
        (span,) = (one for one in written.spans if one.block_id == long.block.id)
        shown = written.text[span.start : span.end]
        assert "The dome stalled." in shown and "…" in written.text
        assert assembly == "structured" or shown in text
        (other,) = select([long], 100, SelectionRule(), taken).candidates
        assert other.fate == "duplicate"
        (small,) = select([long], around + 40, SelectionRule(), Selection(shorten=taken.shorten)).candidates
        assert (small.fate, small.tokens <= around + 40) == ("selected", True)
        (none,) = select([long], 20, SelectionRule(), Selection(shorten=taken.shorten)).candidates
        assert (none.fate, none.passage) == ("over_budget", None)


def test_what_fits_whole_stands_before_the_passage_of_what_does_not() -> None:
    template = Template("template", "ATTENTION", "dome", datetime(2026, 3, 1, tzinfo=UTC))
    texts = ["The dome stalled. " * 5, "The dome moved, and it rained all day. " * 40, "The dome was shut. " * 5]
    pool = [candidate(text, 0.9 - place / 10, 0) for place, text in enumerate(texts)]
    first, long, last = (replace(c, tokens=template.cost(c, approximate_tokens)) for c in pool)
    index = KeywordIndex.open(None)
    shorten = Shortener(template, PassageFinder(index.query("dome"), index), approximate_tokens)
    budget = first.tokens + last.tokens + 60
    done = select([first, long, last], budget, SelectionRule(), Selection(shorten=shorten))
    assert [c.passage is None for c in done.chosen] == [True, False, True]
    assert done.chosen[1].because.startswith("in the tokens that were left; cut to ")
    assert done.used == sum(c.tokens for c in done.chosen) <= budget
    whole = select([long, first], long.tokens + 1, SelectionRule(), Selection(shorten=shorten))
    assert [c.passage for c in whole.chosen] == [None]
    two = select([first, long, last], budget, SelectionRule(selection="top_k", top_k=2), Selection(shorten=shorten))
    assert [c.fate for c in two.candidates] == ["selected", "over_budget", "selected"]


@pytest.mark.parametrize("assembly", ["template", "raw", "structured", "summary"])
def test_every_template_cites_source_and_id(assembly: Assembly) -> None:
    template = Template(assembly, "ATTENTION", "", datetime(2026, 3, 1, tzinfo=UTC))
    plain = candidate("It stalled.", 0.9, 9)
    told = replace(plain, block=replace(plain.block, meta={"source": "notes/a\nb.md#2"}))
    text = assemble(template, [FrameSection("", (told,))], approximate_tokens).text
    assert ("notes/a b.md" if assembly == "template" else "notes/a b.md#2") in text and plain.block.id[:8] in text

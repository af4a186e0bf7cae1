"""The days that a question names, against the days on which blocks were written and of which they tell."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest

from amgs.retrieval import waterfall
from amgs.retrieval.asked_days import BESIDE_WORDS, AskedDays, asked_days
from amgs.retrieval.waterfall import RetrievalRequest, search
from amgs.types import Block, BlockFilter, SearchResult
from tests.engine.retrieval_world import NOW, note, world

FIFTH = datetime(2026, 2, 5, 15, tzinfo=NOW.tzinfo)
QUESTION = "What did we talk about on 5 February 2026?"


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        (QUESTION, date(2026, 2, 5), date(2026, 2, 5)),
        ("and yesterday?", date(2026, 2, 28), date(2026, 2, 28)),
        ("between 3 and 6 February", date(2026, 2, 3), date(2026, 2, 6)),
        ("what happened in February?", date(2026, 2, 1), date(2026, 2, 28)),
    ],
)
def test_a_day_or_span_of_days_is_read(question: str, first: date, last: date) -> None:
    assert asked_days(question, NOW) == AskedDays(first, last, alone=True)


@pytest.mark.parametrize(
    ("question", "alone"),
    [
        ("what did we talk about on 5 February?", True),
        ("What did you suggest yesterday?", True),
        ("5 February 2026", True),
        ("what did we say of the gate on 5 February?", False),
        ("how much diesel arrived in February?", False),
    ],
)
def test_a_question_asks_for_the_days_alone_or_for_more(question: str, alone: bool) -> None:
    found = asked_days(question, NOW)
    assert found is not None and found.alone is alone


@pytest.mark.parametrize(
    "question", ["", "what did we do in 2025?", "what happened recently?", "before 5 February 2026"]
)
def test_a_year_a_hint_or_an_open_end_is_none(question: str) -> None:
    assert asked_days(question, NOW) is None


def test_the_dates_of_a_page_are_its_own() -> None:
    assert asked_days(QUESTION + " The gate squeaks." * 60, NOW) is None


def written(content: str, at: datetime, *dates: str) -> Block:
    return note(content, hours_ago=(NOW - at) / timedelta(hours=1), meta={"dates": list(dates)} if dates else {})


def ask(blocks: list[Block], question: str = QUESTION, **rest: object) -> SearchResult:
    return search(RetrievalRequest(question, **rest), world(blocks), 10)  # type: ignore[arg-type]


def parts(result: SearchResult, opening: str) -> dict[str, float]:
    return dict(next(h for h in result.hits if h.block.content.startswith(opening)).evidence)


def test_what_was_written_on_the_day_comes_first_though_it_holds_no_word_of_the_question() -> None:
    found = ask([written("We talk about talks.", FIFTH - timedelta(days=9)), written("The gate squeaks.", FIFTH)])
    assert found.hits[0].block.content == "The gate squeaks."
    assert found.hits[0].layers == ("prefilter",) or "vector" in found.hits[0].layers
    assert parts(found, "The gate")["written_then"] > 0 == parts(found, "We talk")["written_then"]


def test_the_day_counts_less_beside_what_else_is_asked_for() -> None:
    blocks = [written("The gate squeaks.", FIFTH), written("The diesel is here.", FIFTH + timedelta(days=9))]
    whole, beside = (
        parts(ask(blocks, question), "The gate")["written_then"]
        for question in (QUESTION, "How much diesel arrived on 5 February 2026?")
    )
    assert beside == pytest.approx(whole * BESIDE_WORDS) and 0 < beside < whole


def test_a_text_that_holds_its_own_day_is_found_by_its_words_alone() -> None:
    found = ask([written("The gate squeaks. (5 February 2026)", FIFTH, "2026-02-05"), written("On talks.", FIFTH)])
    assert parts(found, "The gate")["written_then"] == parts(found, "The gate")["told_day"] == 0
    assert parts(found, "On talks")["written_then"] > 0


def test_a_text_that_tells_of_the_day_is_lifted_where_the_reading_is_sure_and_short() -> None:
    later = FIFTH + timedelta(days=3)
    blocks = [
        written("We talked last Thursday.", later, "2026-02-05 0.9"),
        written("We talked then, I think.", later, "2026-02-05 0.4"),
        written("We talked that winter.", later, "2025-12-01/2026-02-28"),
    ]
    found = ask(blocks)
    assert parts(found, "We talked last")["told_day"] > 0
    assert parts(found, "We talked then")["told_day"] == parts(found, "We talked that")["told_day"] == 0


def test_a_day_stays_within_the_filter_of_a_search() -> None:
    blocks = [written("The gate squeaks.", FIFTH), written("We talk about talks.", FIFTH - timedelta(days=9))]
    found = ask(blocks, filter=BlockFilter(until=FIFTH))
    assert [hit.block.content for hit in found.hits] == ["We talk about talks."]


def test_of_a_day_with_many_blocks_only_those_that_were_found_are_lifted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waterfall, "MOST_BLOCKS", 1)
    monkeypatch.setattr(waterfall, "VECTOR_POOL", 0)
    blocks = [written("We talk about talks.", FIFTH), written("The gate squeaks.", FIFTH)]
    found = ask(blocks)
    assert [hit.block.content for hit in found.hits] == ["We talk about talks."]
    assert parts(found, "We talk")["written_then"] > 0


def test_a_layer_alone_knows_no_days() -> None:
    blocks = [written("The gate squeaks.", FIFTH), written("We talk about talks.", FIFTH - timedelta(days=9))]
    assert [h.block.content for h in ask(blocks, layers=frozenset({"keyword"})).hits] == ["We talk about talks."]

"""The days that a question names, against the days on which blocks were written and of which they tell."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest

from amgs.retrieval.text_features import AskedDays, find_asked_days
from amgs.retrieval.waterfall import RetrievalRequest, search
from amgs.types import Block, SearchResult
from tests.engine.retrieval_world import NOW, note, parts, world

FIFTH = datetime(2026, 2, 5, 15, tzinfo=NOW.tzinfo)
QUESTION = "What did we talk about on 5 February 2026?"


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        (QUESTION, date(2026, 2, 5), date(2026, 2, 5)),
        ("and yesterday?", date(2026, 2, 28), date(2026, 2, 28)),
        ("between 3 and 6 February", date(2026, 2, 3), date(2026, 2, 6)),
        ("what happened in February?", date(2026, 2, 1), date(2026, 2, 28)),
        ("Worüber haben wir am 5. Februar 2026 gesprochen?", date(2026, 2, 5), date(2026, 2, 5)),
        ("Was habe ich gestern gesagt?", date(2026, 2, 28), date(2026, 2, 28)),
        ("De quoi avons-nous parlé le 5 février ?", date(2026, 2, 5), date(2026, 2, 5)),
        ("De quoi avons-nous parlé il y a trois jours ?", date(2026, 2, 26), date(2026, 2, 26)),
        ("¿De qué hablamos el 5 de febrero?", date(2026, 2, 5), date(2026, 2, 5)),
        ("¿Qué hicimos la semana pasada?", date(2026, 2, 16), date(2026, 2, 22)),
        ("我们2月5日聊了什么？", date(2026, 2, 5), date(2026, 2, 5)),
        ("我们上周二聊了什么？", date(2026, 2, 17), date(2026, 2, 17)),
        ("2月5日に私たちは何を話しましたか？", date(2026, 2, 5), date(2026, 2, 5)),
        ("昨日は何を話しましたか？", date(2026, 2, 28), date(2026, 2, 28)),
    ],
)
def test_a_day_or_span_of_days_is_read(question: str, first: date, last: date) -> None:
    assert find_asked_days(question, NOW) == AskedDays(first, last, alone=True)


@pytest.mark.parametrize(
    ("question", "alone"),
    [
        ("what did we talk about on 5 February?", True),
        ("What did you suggest yesterday?", True),
        ("5 February 2026", True),
        ("what did we say of the gate on 5 February?", False),
        ("how much diesel arrived in February?", False),
        ("Was haben wir am 5. Februar über das Tor gesagt?", False),
        ("2月5日我们说了门的什么事？", False),
    ],
)
def test_a_question_asks_for_the_days_alone_or_for_more(question: str, alone: bool) -> None:
    found = find_asked_days(question, NOW)
    assert found is not None and found.alone is alone


def written(content: str, at: datetime, *dates: str) -> Block:
    return note(content, hours_ago=(NOW - at) / timedelta(hours=1), meta={"dates": list(dates)} if dates else {})


def ask(blocks: list[Block], question: str = QUESTION, **rest: object) -> SearchResult:
    return search(RetrievalRequest(question, **rest), world(blocks), 10)  # type: ignore[arg-type]


def test_what_was_written_on_the_day_comes_first_though_it_holds_no_word_of_the_question() -> None:
    found = ask([written("We talk about talks.", FIFTH - timedelta(days=9)), written("The gate squeaks.", FIFTH)])
    assert found.hits[0].block.content == "The gate squeaks."
    assert found.hits[0].layers == ("prefilter",) or "vector" in found.hits[0].layers
    assert parts(found, "The gate")["written_then"] > 0 == parts(found, "We talk")["written_then"]


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


@pytest.mark.parametrize("span", ["2026-02-02/2026-02-08 0.9", "2026-02-01/2026-02-28 0.9", "2026-02-05"])
def test_a_unit_of_time_that_a_text_was_written_in_tells_of_no_other_day(span: str) -> None:
    blocks = [written("Ilse offered me the wire this week.", FIFTH, span), written("The wire holds.", FIFTH)]
    found = ask([*blocks, written("Wire, next month.", NOW)], "Why did the wire fail in February?")
    assert parts(found, "Ilse")["written_then"] == parts(found, "The wire")["written_then"] > 0
    assert parts(found, "Ilse")["told_day"] == parts(found, "The wire")["told_day"] == 0


def test_of_what_was_decided_twice_the_later_holds() -> None:
    texts = {"The choir meets in the hall.": FIFTH - timedelta(days=90), "The choir meets in the crypt.": FIFTH}
    blocks = [written(text, at) for text, at in texts.items()]
    found = ask([*blocks, written("A rock.", NOW)], "Where does the choir meet now?")
    assert found.hits[0].block.content == "The choir meets in the crypt."
    asked_of_the_past = ask(blocks, "Where did the choir meet at first?")
    assert not any(dict(hit.evidence)["latest"] for hit in asked_of_the_past.hits)

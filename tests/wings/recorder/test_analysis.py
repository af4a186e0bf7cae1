"""What is told of another memory: its records through time, which were used, which are useless, why one was missed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from amgs.sessions.spans import instant_of
from amgs.wings.recorder.audit import audit
from amgs.wings.recorder.foreign_memory import content_of, memory_of, restrict_to_store
from amgs.wings.recorder.uses import explain_miss, records_not_recalled, review_scores, uses_of
from tests.wings.recorder.spans_of import DAY, SpanWorld

BEDS = "The beds are watered every 9 hours."
GATE = "Valve 3 is beside the garden gate."


@pytest.fixture
def world() -> SpanWorld:
    return SpanWorld()


# --- the memory through time -------------------------------------------------------------------------------


def test_records_have_versions_are_deleted_and_come_back(world: SpanWorld) -> None:
    world.store("m1", "The beds are watered every 8 hours.")
    world.store("m1", BEDS, "update_memory")
    world.store("m2", GATE)
    world.delete("m1")
    world.store("m1", BEDS)
    found = memory_of(world.spans)
    first, second, third = found.records
    assert [told for _, told in first.versions] == ["The beds are watered every 8 hours.", BEDS]
    assert first.deleted == instant_of(world.spans[3].start) and not second.deleted and not third.deleted
    assert first.content_at(instant_of(world.spans[0].start)) == "The beds are watered every 8 hours."
    assert first.content_at(instant_of(world.spans[3].start)) is None
    assert [one.id for one in found.present] == ["m2", "m1"]


def test_a_deletion_that_names_no_record_deletes_those_of_its_store(world: SpanWorld) -> None:
    world.store("m1", BEDS)
    world.store("m1", GATE, store="other")
    world.delete("")
    assert [one.store for one in memory_of(world.spans).present] == ["other"]
    assert [one.store for one in restrict_to_store(memory_of(world.spans), "beds").records] == ["beds"]


def test_a_record_that_got_its_id_later_is_one_record(world: SpanWorld) -> None:
    world.store("", BEDS)
    world.search("beds?", [("m1", BEDS, 0.8)])
    (one,) = memory_of(world.spans).records
    assert (one.id, one.written, len(one.recalls)) == ("m1", True, 1)


def test_what_failed_changed_nothing_and_is_told(world: SpanWorld) -> None:
    world.add("create_memory", failed=True, memory__records='[{"id": "m1", "content": "x"}]')
    found = memory_of(world.spans)
    assert found.records == [] and [one.failed for one in found.operations] == [True]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("plain", "plain"),
        ({"memory": "of mem0"}, "of mem0"),
        ('{"text": "in a text"}', "in a text"),
        ({"fact": "a", "sure": 1}, "a"),
        ({"a": 1}, '{"a": 1}'),
        (["x"], '["x"]'),
        (None, ""),
    ],
)
def test_a_content_of_any_shape_is_told_as_text(value: object, says: str) -> None:
    assert content_of(value) == says


@pytest.mark.parametrize(
    "given",
    [
        {"gen_ai.memory.records": [{"id": "m1", "content": BEDS, "score": 0.8}]},
        {"gen_ai.memory.records": f'{{"results": [{{"id": "m1", "memory": "{BEDS}", "score": 0.8}}]}}'},
        {
            "openinference.span.kind": "RETRIEVER",
            "input.value": "beds?",
            "retrieval.documents.0.document.id": "m1",
            "retrieval.documents.0.document.content": BEDS,
            "retrieval.documents.0.document.score": 0.8,
        },
        {
            "langsmith.span.kind": "retriever",
            "gen_ai.prompt": '{"query": "beds?"}',
            "gen_ai.completion": f'{{"documents": [{{"id": "m1", "page_content": "{BEDS}", "score": 0.8}}]}}',
        },
    ],
)
def test_each_way_to_write_a_search_is_the_same_search(world: SpanWorld, given: dict[str, object]) -> None:
    span = world.add("search_memory", memory__query__text="beds?")
    kept = {} if "gen_ai.memory.records" not in given else span.attributes
    world.spans[0] = type(span)(
        span.trace, span.id, "", "x", span.start, span.end, {**kept, **given}, resource=span.resource
    )
    (one,) = memory_of(world.spans).searches()
    assert (one.query, one.store) == ("beds?", "garden")
    assert [(each.id, each.content, each.score) for each in one.records] == [("m1", BEDS, 0.8)]


# --- what was used -----------------------------------------------------------------------------------------


def garden(world: SpanWorld, conversations: int) -> SpanWorld:
    """In each conversation two records are recalled, and the one with the higher score is used."""
    for number in range(conversations):
        name = f"c{number}"
        bed = f"Bed{number} holds plant{number} beside stone{number}."
        world.search("what grows there?", [("a", bed, 0.9), ("b", f"Hose{number} leaks near pump{number}.", 0.2)], name)
        world.answer("what grows there?", f"In bed{number}, beside stone{number}: plant{number}.", name)
    return world


def test_scores_are_held_against_use_and_use_against_other_conversations(world: SpanWorld) -> None:
    review = review_scores(memory_of(garden(world, 12).spans))
    assert (review.judged, review.untold, review.used, review.elsewhere) == (24, 0, 0.5, 0.0)
    assert (review.auroc, review.scaled) == (1.0, False)
    assert review.table is not None and review.table.outcomes == 24
    assert review.table.brier == pytest.approx((0.1**2 + 0.2**2) / 2)


def test_only_answers_of_the_same_conversation_up_to_its_next_search_count(world: SpanWorld) -> None:
    world.search("beds?", [("m1", BEDS, 0.9)], "c")
    world.answer("beds?", "I do not know.", "c")
    world.answer("beds?", "The beds are watered every 9 hours.", "another")
    world.search("gate?", [("m2", GATE, 0.9)], "c")
    world.answer("gate?", "The beds are watered every 9 hours; valve 3 is beside the garden gate.", "c")
    assert [(one.record.id, one.used) for one in uses_of(memory_of(world.spans))] == [("m1", False), ("m2", True)]


def test_what_the_query_brought_along_is_no_use(world: SpanWorld) -> None:
    world.search("is valve 3 beside the garden gate?", [("m2", GATE, 0.9)], "c")
    world.answer("is it?", "Valve 3 is beside the garden gate.", "c")
    assert uses_of(memory_of(world.spans)) == []


# --- the audit ---------------------------------------------------------------------------------------------


def test_an_audit_names_each_record_once_for_its_first_reason(world: SpanWorld) -> None:
    world.store("twice", BEDS)
    world.store("old", "The greenhouse key hangs in the shed, Meret holds the spare key.")
    world.store("seldom", GATE)
    world.now += 20 * DAY
    world.store("twice-2", "The beds are watered, every 9 hours!")
    world.store("new", "The greenhouse key no longer hangs in the shed, it moved to the kitchen.")
    world.search("when are the beds watered?", [("twice-2", BEDS, 0.9)])
    world.search("gate?", [("seldom", GATE, 0.9)])
    world.now += 40 * DAY
    world.store("young", "Roses were planted.")
    world.search("beds?", [("twice-2", BEDS, 0.9)])
    found = audit(memory_of(world.spans), instant_of(world.now) + timedelta(hours=1), 30)
    assert [(one.reason, one.record.id, one.other and one.other.id) for one in found.findings] == [
        ("duplicate", "twice", "twice-2"),
        ("superseded", "old", "new"),
        ("never recalled", "new", None),
        ("not recalled lately", "seldom", None),
    ]
    assert (found.records, found.unread, found.recalls) == (6, 0, 3)
    assert found.of("never recalled")[0].because == "3 searches since"
    world.now += 1
    world.store("late", "Bulbs lie in the cellar.")
    world.search("beds?", [("twice-2", BEDS, 0.9)])
    later = audit(memory_of(world.spans), instant_of(world.now + 40 * DAY), 30)
    assert "1 search since" in [one.because for one in later.of("never recalled")]


def test_a_duplicate_is_dropped_in_favour_of_the_one_that_is_recalled(world: SpanWorld) -> None:
    world.store("first", BEDS)
    world.store("second", BEDS)
    world.search("beds?", [("first", BEDS, 0.9)])
    (one,) = audit(memory_of(world.spans), instant_of(world.now), 30).of("duplicate")
    assert (one.record.id, one.other and one.other.id) == ("second", "first")


# --- one search --------------------------------------------------------------------------------------------


def test_what_else_lay_there_is_what_was_there_then(world: SpanWorld) -> None:
    world.store("m1", BEDS)
    world.store("gone", "Beds of herbs are watered by hand.")
    world.delete("gone")
    world.store("m2", "The beds are covered in frost.")
    world.search("when are the beds watered?", [("m1", BEDS, 0.8)])
    world.store("late", "Beds are watered late.")
    found = memory_of(world.spans)
    assert [(one.record.id, one.place) for one in records_not_recalled(found, found.searches()[-1])] == [("m2", 2)]


@pytest.mark.parametrize(
    ("fact", "cause"),
    [
        ("Roses stand at the wall.", "never stored"),
        ("The hose is green.", "stored later"),
        ("The pump is broken.", "deleted"),
        ("The shed is locked.", "changed"),
        ("The gate squeaks.", "not recalled"),
        ("Valve 3 leaks.", "not used"),
        (BEDS, "used"),
    ],
)
def test_each_cause_of_a_miss_is_told(world: SpanWorld, fact: str, cause: str) -> None:
    for id, content in {
        "beds": BEDS,
        "pump": "The pump is broken.",
        "shed": "The shed is locked.",
        "gate": "The gate squeaks.",
        "valve": "Valve 3 leaks.",
    }.items():
        world.store(id, content)
    world.delete("pump")
    world.store("shed", "The shed is open.", "update_memory")
    world.search("what is up?", [("valve", "Valve 3 leaks.", 0.9), ("beds", BEDS, 0.5)], "c")
    world.answer("what is up?", "The beds are watered every 9 hours.", "c")
    world.store("hose", "The hose is green.")
    found = memory_of(world.spans)
    told = explain_miss(found, found.searches()[0], fact)
    assert told.cause == cause
    assert (told.record is None) == (cause == "never stored")

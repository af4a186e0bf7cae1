"""`lives`: lives are drawn by their seed, and what the memory says of them is held against what the notes say."""

from __future__ import annotations

from amgs.text.embedding import HashingEmbedder
from amgs.text.tokens import approximate_tokens
from benchmarks import lives
from benchmarks.bench_results import MemoryRig
from benchmarks.life_stories import EVENTS
from benchmarks.life_stories import lives as draw


def test_lives_repeat_and_hold_every_event_and_no_value_twice() -> None:
    drawn = draw(12, 3, 6)
    assert drawn == draw(12, 3, 6) != draw(12, 4, 6)
    assert {m.event for life in drawn for m in life.moments} == {"written", *EVENTS}
    told: dict[str, str] = {}
    for life in drawn:
        for moment in life.moments:
            for topic in life.topics:
                for value in moment.values(topic):
                    assert told.setdefault(value, topic.question) == topic.question


def test_revised_lives_are_right_and_lives_that_are_only_added_to_are_not() -> None:
    rig = MemoryRig(embedder=HashingEmbedder(), count_tokens=approximate_tokens, seed=1)
    found = lives.run(rig, 3, 4)
    assert found.metrics["lives_right"] == found.metrics["past_right"] == found.metrics["lives_right_anew"] == 1.0
    assert found.metrics["lives_right_plain"] < 1.0
    assert found.tables[0].title == "Single checks that held, per cent"
    assert any(table.title.startswith("Misses, plain ingest") for table in found.tables)

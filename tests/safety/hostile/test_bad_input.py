"""Anything may be text and any value may be wrong: what fits is kept whole, what does not is said, and the store
stays sound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amgs.api.graph import Decay
from amgs.clock import FixedClock
from amgs.errors import AmgsError, BudgetError, InputError, UnknownBlockError, UsageError
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.types import BlockFilter
from tests.engine.memory_world import NOW, open_memory

STRANGE = {
    "control characters": "ab\x01c\x1b[31mred\x7f\x85\u2028x",
    "only control characters": "\x01\x02\x03",
    "emoji": "👩‍👩‍👧‍👦 went up 🏔️ " * 5,
    "right to left": "שלום \u202eabc\u202c مرحبا QX-77",
    "marks on one letter": "e" + "\u0301" * 5000,
    "no width": "\u200b\u200b",
    "markdown that never closes": "```python\nprint(1)\n" * 3 + "**bold [link](http://x ![img]( <div><!-- ",
    "front matter that never closes": "---\ndate: [2026\n: : :\n- a\nnot closed\n",
    "front matter that is broken": "---\ndate: 2026-13-45\ntags: [a, [b], {\nfollows: 3\n---\nBody",
    "a date beyond the calendar": "---\ndate: 99999-01-01\n---\nBody of no year",
    "the first year": "---\ndate: 0001-01-01\n---\nBody of the first year",
    "the last day": "---\nkind: dialogue\ndate: 9999-12-31T23:59:00Z\n---\n**A:** one\n\n**B:** two\n",
    "dates that are none": "in 0000-00-00, 2026-02-30, 99/99/9999, 99999999999999 days, 9999999 years ago",
    "links into links": "[[" * 800 + "]]" * 800,
    "nothing but brackets": "(" * 20_000,
    "nothing but stars": "*" * 20_000,
    "quotes in quotes": "> " * 5_000 + "x",
    "a heading of hashes": "#" * 5_000 + " x",
    "a title without end": "# " + "t" * 50_000 + "\n\nbody",
    "blank lines": "\n\n\nx\n\n\n" * 5_000,
    "SQL": "'; DROP TABLE memory_blocks; --",
}
FRONT = """---
source: https://example.org
sources: [x, y]
follows: someone
links: 7
entities: Ilse
part: first
turn: left
kind: [note, letter]
author: [Ilse, Tally]
title: [a, b]
superseded_by: nobody
---
The body of a note whose front matter uses every word that the engine uses.
"""


@pytest.fixture(scope="module")
def strange() -> Iterator[Memory]:
    """A memory of everything strange, consolidated."""
    with open_memory() as memory:
        for name, text in STRANGE.items():
            memory.ingest_text(text, meta={"source": f"{name}.md"})
        memory.ingest_text(FRONT, meta={"source": "front.md"})
        memory.consolidate()
        yield memory


def assert_clear(error: AmgsError) -> None:
    """Title, sentence, way out, exit code."""
    assert error.title
    assert error.message.endswith((".", ")", "…"))
    assert error.way_out
    assert error.exit_code > 0


# --- texts ------------------------------------------------------------------------------------------------


def test_strange_texts_leave_a_sound_store_and_working_frames(strange: Memory) -> None:
    assert strange.verify().ok
    frame = strange.assemble("SESSION", query="body", reinforce=False)
    assert "".join(frame.text[s.start : s.end] for s in frame.spans) == frame.text
    assert strange.forecast(days=36_500).rows


def test_a_query_is_never_run_as_a_statement(strange: Memory) -> None:
    before = strange.status().blocks
    strange.search("'; DROP TABLE memory_blocks; --")
    strange.find("'; DELETE FROM memory_blocks; --")
    strange.search("x", filter=BlockFilter(meta={"a'b": "c", '"': '"', "$.x[*]": "1"}))
    assert strange.status().blocks == before


@pytest.mark.parametrize("text", ["", " \n\t ", "\ud800", "---\ntags: [a]\n---\n"])
def test_what_is_no_text_is_refused_with_a_way_out(text: str) -> None:
    with open_memory() as memory:
        with pytest.raises(InputError) as caught:
            memory.ingest_text(text)
        assert_clear(caught.value)
        assert memory.status().blocks == {}


@pytest.mark.parametrize(
    ("draft", "reason"),
    [
        (RawBlock(None), "not a text"),  # type: ignore[arg-type]
        (RawBlock(b"bytes"), "not a text"),  # type: ignore[arg-type]
        (RawBlock("a", meta={"x": math.nan}), "infinite or none"),
        (RawBlock("b", meta={"x": {1, 2}}), "set"),
        (RawBlock("c", meta={"tags": {"a": 1}}), "tags"),
        (RawBlock("d", meta={3: "x"}), "no text"),  # type: ignore[dict-item]
        (RawBlock("e", meta={"x": "\ud800"}), "surrogate"),
        (RawBlock("f", meta={"source": "\ud800"}), "surrogate"),
        (RawBlock("g \0"), "a NUL at character 2"),
        (RawBlock("h", meta={"tags": ["\0"]}), "a NUL"),
    ],
)
def test_a_draft_that_cannot_be_kept_is_refused_and_the_others_go_on(draft: RawBlock, reason: str) -> None:
    with open_memory() as memory:
        report = memory.ingest_many([RawBlock("one before"), draft, RawBlock("one after")])
        assert len(report.added) == 2
        assert reason in report.refused[0].reason
        memory.consolidate()
        assert memory.verify().ok


json_like = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats() | st.text(max_size=5) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KNOWN_KEYS = (
    *("tags", "source", "sources", "follows", "part", "turn", "kind", "author", "title", "speaker"),
    *("entities", "links", "dates", "dialogue", "x"),
)


@settings(max_examples=20)
@given(st.lists(st.dictionaries(st.sampled_from(KNOWN_KEYS), json_like, max_size=5), min_size=1, max_size=4))
def test_no_metadata_breaks_what_comes_later(metas: list[dict[str, Any]]) -> None:
    with open_memory() as memory:
        memory.ingest_many(RawBlock(f"Note {n} about the dome.", NOW, meta) for n, meta in enumerate(metas))
        memory.consolidate()
        memory.lifecycle.apply_enhancement(memory.lifecycle.plan_enhancement())
        memory.lifecycle.apply_review(memory.lifecycle.plan_review())
        memory.assemble("SESSION", query="dome")
        assert memory.verify().ok


# --- files ------------------------------------------------------------------------------------------------


def test_files_of_every_kind_are_taken_or_named(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "bom.md").write_bytes("\ufeff---\ndate: 2026-01-02\n---\n# Ümlaut\r\n\r\nCRLF body\r\n".encode())
    (notes / "binary.md").write_bytes(bytes(range(256)) * 40)
    (notes / "latin.md").write_bytes("Zürich".encode("latin-1"))
    (notes / "utf16.md").write_bytes("A note in UTF-16".encode("utf-16"))
    (notes / "empty.md").write_bytes(b"")
    (notes / "nul.md").write_bytes(b"a\x00b")
    (notes / "folder.md").mkdir()
    (notes / "loop").symlink_to(notes, target_is_directory=True)
    (notes / "self.md").symlink_to(notes / "self.md")
    (notes / "nowhere.md").symlink_to(tmp_path / "gone.md")
    (notes / "twin.md").symlink_to(notes / "bom.md")
    with open_memory() as memory:
        report = memory.ingest_folder(notes)
        refused = {refusal.source: refusal.reason for refusal in report.refused}
        assert set(refused) == {"binary.md", "latin.md", "empty.md", "nul.md", "self.md", "nowhere.md"}
        assert "not UTF-8" in refused["latin.md"]
        (bom,) = (memory.block(i) for i in memory.resolve_source("bom.md"))
        assert bom.content == "# Ümlaut\n\nCRLF body"
        assert bom.created_at == datetime(2026, 1, 2, tzinfo=UTC)
        assert bom.meta["sources"] == ["bom.md", "twin.md"]
        assert "a NUL at character 1" in refused["nul.md"] and memory.resolve_source("utf16.md")
        assert memory.verify().ok


def test_a_pipe_named_like_a_note_does_not_hang(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe.md")
    with open_memory() as memory:
        assert "not a file" in memory.ingest_folder(tmp_path).refused[0].reason


# --- ids --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong", ["", "zz", "abc", "0" * 64, "0" * 65, "%", "*", "'; DROP", "é" * 10, "\x00" * 5, "\ud800aaaa"]
)
def test_an_id_that_is_none_is_an_unknown_block(strange: Memory, wrong: str) -> None:
    for ask in (strange.block, strange.edges, strange.neighbourhood, strange.decay_curve, strange.centrality):
        with pytest.raises(UnknownBlockError) as caught:
            ask(wrong)
        assert_clear(caught.value)
    with pytest.raises(UnknownBlockError):
        strange.reinforce([wrong], event_type="used", source="a test")
    with pytest.raises(UnknownBlockError):
        strange.set_metadata(wrong, confidence=0.5)
    with pytest.raises(UnknownBlockError):
        strange.feedback(wrong, useful=True)
    with pytest.raises(UnknownBlockError):
        strange.why("x", wrong)


# --- numbers ----------------------------------------------------------------------------------------------

NO_COUNTS = (-1, 1.5, math.nan, True, "7")
HUGE = 10**30


@pytest.mark.parametrize("wrong", NO_COUNTS)
def test_a_count_that_is_none_is_said(strange: Memory, wrong: Any) -> None:
    some = strange.blocks(BlockFilter(), limit=1)[0].id
    asked = (
        lambda: strange.search("x", top_k=wrong),
        lambda: strange.blocks(BlockFilter(), limit=wrong),
        lambda: strange.blocks(BlockFilter(), offset=wrong),
        lambda: strange.find("x", limit=wrong),
        lambda: strange.neighbourhood(some, hops=wrong),
        lambda: strange.neighbourhood(some, limit=wrong),
        lambda: strange.operations(wrong),
        lambda: strange.outcomes(wrong),
        lambda: strange.reliability(wrong),
        lambda: strange.plan_consolidation(limit=wrong),
        lambda: strange.assemble("SESSION", budget=wrong),
        lambda: strange.frames.history(limit=wrong),
        lambda: strange.lifecycle.plan_enhancement(limit=wrong),
        lambda: strange.lifecycle.plan_pruning(limit=wrong),
        lambda: strange.lifecycle.reviews(limit=wrong),
        lambda: strange.simulate(Decay(), draws=wrong),
    )
    for ask in asked:
        with pytest.raises(UsageError) as caught:
            ask()
        assert_clear(caught.value)


def test_a_huge_count_means_all_there_is(strange: Memory) -> None:
    some = strange.blocks(BlockFilter(), limit=1)[0].id
    every = len(strange.blocks(BlockFilter()))
    assert len(strange.search("body", top_k=HUGE).hits) <= every
    assert len(strange.blocks(BlockFilter(), limit=HUGE)) == every
    assert strange.blocks(BlockFilter(), offset=HUGE) == ()
    assert len(strange.find("body", limit=HUGE)) <= every
    assert strange.neighbourhood(some, hops=HUGE, limit=HUGE).blocks
    assert [o.kind for o in strange.operations(HUGE)].count("consolidate") == 1
    assert len(strange.reliability(HUGE).bins) <= 1000
    with pytest.raises(BudgetError, match="too large"):
        strange.assemble("SESSION", query="body", budget=HUGE)
    strange.assemble("SESSION", query="body")
    assert strange.frames.history(limit=HUGE).assemblies


@pytest.mark.parametrize("wrong", [-1.0, -1e-9, math.nan, math.inf, -math.inf])
def test_a_wrong_lambda_or_confidence_changes_nothing(strange: Memory, wrong: float) -> None:
    some = strange.blocks(BlockFilter(), limit=1)[0]
    for ask in (
        lambda: strange.set_metadata(some.id, decay_lambda=wrong),
        lambda: strange.set_metadata(some.id, confidence=wrong),
        lambda: strange.lifecycle.preview_decay(some.id, wrong),
        lambda: strange.forecast(days=wrong),
        lambda: strange.forecast(threshold=wrong),
        lambda: strange.decay_curve(some.id, days=wrong),
        lambda: strange.simulate(Decay(), days=wrong),
    ):
        with pytest.raises(UsageError) as caught:
            ask()
        assert_clear(caught.value)
    assert strange.block(some.id) == some


# --- time -------------------------------------------------------------------------------------------------

INSTANTS = (
    datetime.min.replace(tzinfo=UTC),
    datetime(1900, 1, 1, tzinfo=UTC),
    NOW - timedelta(days=400),
    datetime.max.replace(tzinfo=UTC),
)


@pytest.mark.parametrize("instant", INSTANTS, ids=lambda at: str(at.year))
def test_at_any_instant_every_stage_works_and_can_be_undone(instant: datetime) -> None:
    with open_memory() as memory:
        memory.ingest_many(
            RawBlock(f"Note {n} about kiln {n % 3} and the dome.", NOW - timedelta(hours=n)) for n in range(12)
        )
        memory.consolidate()
        some = memory.blocks(BlockFilter(), limit=1)[0].id
        memory.clock = FixedClock(instant)
        memory.ingest_text("What came then.")
        operation = memory.apply_consolidation(memory.plan_consolidation())
        assert memory.search("kiln").hits
        assert memory.assemble("SESSION", query="kiln").selected
        memory.reinforce([some], event_type="used", source="a test")
        assert memory.decay_curve(some).block.id == some
        memory.forecast(days=30)
        memory.lifecycle.due()
        memory.lifecycle.apply_enhancement(memory.lifecycle.plan_enhancement())
        memory.lifecycle.apply_pruning(memory.lifecycle.plan_pruning())
        memory.calibration.metrics(record=True)
        assert memory.status().now == instant
        assert memory.verify().ok
        assert memory.undo(operation.id).undone
        assert memory.verify().ok


# --- an end -----------------------------------------------------------------------------------------------

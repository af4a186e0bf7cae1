"""`ingest`: what is said beside a text, a file or a folder."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from amgs.errors import UsageError
from amgs.types import Block, BlockFilter, ConsolidationPlan
from amgs_app.lifecycle import care_commands as consolidation_plan
from amgs_app.lifecycle import care_commands as maintenance
from amgs_app.lifecycle import commands as lifecycle
from amgs_app.render.catalogue import table_of
from amgs_app.session import Operator
from tests.engine.memory_world import NOW
from tests.unit.typed_lines import opened


@pytest.fixture
def operator() -> Operator:
    return opened()


def held(operator: Operator) -> list[Block]:
    return list(operator.engine.memory.blocks(BlockFilter(statuses=("raw",))))


def test_a_text_takes_speaker_date_tags_source_and_other_metadata(operator: Operator) -> None:
    day = datetime(2025, 5, 5, tzinfo=UTC)
    operator.run(
        lifecycle.ingest(
            "The dome stalls.", speaker="Ilse", date=day, tag=["#dome"], meta=["project=Boat"], source="talk"
        )
    )
    (one,) = held(operator)
    assert one.content == "Ilse: The dome stalls." and one.created_at == day
    assert {key: one.meta[key] for key in ("speaker", "tags", "project", "source")} == {
        "speaker": "Ilse",
        "tags": ["dome"],
        "project": "Boat",
        "source": "talk",
    }


def test_a_folder_takes_them_for_each_of_its_files_and_keeps_their_own_tags(operator: Operator, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\ntags: [own]\ndate: 2020-01-01\n---\nOne.")
    (tmp_path / "b.txt").write_text("Two.")
    operator.run(lifecycle.ingest(batch=tmp_path, tag=["given"], date=NOW, meta=["project=x"]))
    blocks = {str(each.meta["source"]): each for each in held(operator)}
    assert blocks["a.md"].meta["tags"] == ["own", "given"] and blocks["b.txt"].meta["tags"] == ["given"]
    assert all(each.created_at == NOW and each.meta["project"] == "x" for each in blocks.values())
    with pytest.raises(UsageError, match="known already"):
        operator.run(lifecycle.ingest(batch=tmp_path, tag=["more"]))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"meta": ["nothing"]}, "KEY=VALUE"),
        ({"meta": ["source=x"]}, "meaning of its own"),
        ({"meta": ["superseded_by=x"]}, "meaning of its own"),
        ({"tag": ["  "]}, "A tag is one line"),
    ],
)
def test_what_cannot_be_said_is_refused_before_anything_is_taken_in(
    operator: Operator, options: dict[str, list[str]], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        operator.run(lifecycle.ingest("Text.", meta=options.get("meta"), tag=options.get("tag")))
    assert not held(operator)


@pytest.mark.parametrize("word", ["notes/pump.txt", "pump.pdf", "mail/may.eml", "src/main.py"])
def test_the_path_of_a_file_that_is_not_there_is_no_note(operator: Operator, word: str) -> None:
    with pytest.raises(UsageError, match="no file or folder"):
        operator.run(lifecycle.ingest(word))


@pytest.mark.parametrize("word", ["and/or", "Node.js", "1/2.5", "pump.txt was lost"])
def test_words_with_a_slash_or_a_dot_are_notes(operator: Operator, word: str) -> None:
    operator.run(lifecycle.ingest(word))
    assert [block.content for block in held(operator)] == [word]


def test_an_empty_inbox_and_a_graph_that_needs_nothing_leave_no_entry_in_the_journal(operator: Operator) -> None:
    operator.run(lifecycle.ingest("The dome stalls."))
    operator.run(lifecycle.consolidate())
    before = operator.engine.memory.operations()
    assert table_of(operator.run(lifecycle.consolidate())).title.startswith("There is nothing to consolidate")
    assert table_of(operator.run(maintenance.enhance())).title == "There is nothing to enhance"
    operator.run(consolidation_plan.plan())
    with pytest.raises(UsageError, match="holds no block"):
        operator.run(lifecycle.consolidate(draft=True))
    assert operator.engine.memory.operations() == before


def test_a_draft_tried_dry_is_shown_and_stays_a_draft(operator: Operator) -> None:
    operator.run(lifecycle.ingest("The dome stalls."))
    operator.run(consolidation_plan.plan())
    before = operator.engine.memory.operations()
    plan = operator.run(lifecycle.consolidate(draft=True, dry_run=True))
    assert isinstance(plan, ConsolidationPlan)
    assert [item.block.content for item in plan.items] == ["The dome stalls."]
    assert operator.draft is not None and operator.engine.memory.operations() == before

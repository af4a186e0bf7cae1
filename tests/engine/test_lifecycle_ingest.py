"""Taking notes in: everything fit is kept, everything unfit is named, nothing stops the rest."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amgs.errors import Cancelled, InputError
from amgs.identity import block_id, canonical
from amgs.ingest.raw_blocks import RawBlock
from amgs.settings import IngestSettings, Settings
from amgs.types import BlockFilter, Progress
from tests.engine.memory_world import NOW, open_memory, write_notes

RAW = BlockFilter(statuses=("raw",))


def test_a_folder_becomes_raw_blocks_with_source_date_and_turns(tmp_path: Path) -> None:
    with open_memory() as memory:
        report = memory.ingest_folder(write_notes(tmp_path))
        assert len(report.added) == 6
        blocks = {b.meta["source"]: b for b in memory.blocks(RAW)}
    assert set(blocks) == {
        "people/ilse.md",
        "places/dome.md",
        "values/self.md",
        "talks/first.md#1",
        "talks/first.md#2",
        "talks/first.md#3",
    }
    third = blocks["talks/first.md#3"]
    assert third.content == "Ilse: Yes, at azimuth 200."
    assert third.created_at == third.last_reinforced_at == datetime(2026, 2, 10, 20, 2, tzinfo=UTC)
    assert third.meta["speaker"] == "Ilse"
    assert all(b.status == "raw" and b.embedding is None for b in blocks.values())
    assert blocks["people/ilse.md"].meta["title"] == "Ilse"


def test_a_note_a_thousand_times_is_one_block_that_knows_its_sources(tmp_path: Path) -> None:
    write_notes(tmp_path, {f"{i:04}.md": "The same words.\n" * (i % 2 + 1) for i in range(1000)})
    with open_memory() as memory:
        report = memory.ingest_folder(tmp_path)
        assert len(report.added) == 2
        (one,) = memory.resolve_source("0008.md")
        assert len(memory.block(one).meta["sources"]) == 500


def test_unfit_files_are_refused_by_name_and_the_others_go_on(tmp_path: Path) -> None:
    write_notes(tmp_path)
    (tmp_path / "latin.md").write_bytes("Käse".encode("latin-1"))
    (tmp_path / "empty.md").write_text("\n  \n")
    (tmp_path / "only-front.md").write_text("---\ndate: 2026-01-01\n---\n")
    (tmp_path / "large.md").write_text("x" * 5000)
    (tmp_path / "no.md").write_text("---\ningest: false\n---\nabout this folder")
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere.md")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "x.md").write_text("hidden")
    with open_memory() as memory:
        memory.settings = Settings(ingest=IngestSettings(max_file_bytes=4000))
        report = memory.ingest_folder(tmp_path)
        with pytest.raises(InputError, match="ingest: false"):
            memory.ingest_file(tmp_path / "no.md")
    assert len(report.added) == 6
    assert {r.source: r.reason.split(" (")[0][:12] for r in report.refused} == {
        "latin.md": "it is not UT",
        "empty.md": "it is empty",
        "only-front.md": "it is empty",
        "large.md": "it has 0 MiB",
        "gone.md": "it cannot be",
    }


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable to root")
def test_an_unreadable_folder_is_an_input_error_and_an_unreadable_file_a_refusal(tmp_path: Path) -> None:
    write_notes(tmp_path)
    (tmp_path / "people" / "ilse.md").chmod(0)
    with open_memory() as memory:
        assert [r.source for r in memory.ingest_folder(tmp_path).refused] == ["people/ilse.md"]
        tmp_path.chmod(0)
        try:
            with pytest.raises(InputError):
                memory.ingest_folder(tmp_path)
        finally:
            tmp_path.chmod(0o700)


def test_missing_paths_are_input_errors(tmp_path: Path) -> None:
    with open_memory() as memory:
        with pytest.raises(InputError, match="does not exist"):
            memory.ingest_folder(tmp_path / "none")
        with pytest.raises(InputError, match="cannot be read"):
            memory.ingest_file(tmp_path / "none.md")
        write_notes(tmp_path)
        with pytest.raises(InputError, match="not a folder"):
            memory.ingest_folder(tmp_path / "people" / "ilse.md")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=500).filter(canonical), max_size=20))
@settings(max_examples=10)
def test_any_other_text_is_kept_whole(texts: list[str]) -> None:
    with open_memory() as memory:
        report = memory.ingest_many([RawBlock(text) for text in texts])
        assert report.added == tuple(dict.fromkeys(block_id(text) for text in texts))
        assert {memory.block(i).content for i in report.added} == {canonical(text) for text in texts}


def test_ten_megabytes_on_one_line_are_split_and_linked() -> None:
    with open_memory() as memory:
        report = memory.ingest_text("word " * 2_000_000)
        blocks = memory.blocks(RAW)
        # Equal parts are one block; the first and the last may differ from the rest.
        assert 1 <= len(report.added) == len(blocks) <= 3
        assert all(len(b.content) <= memory.settings.ingest.max_block_chars for b in blocks)


def test_a_given_instant_wins_over_the_front_matter_and_that_over_the_clock() -> None:
    given_at = datetime(2020, 5, 5, tzinfo=UTC)
    with open_memory() as memory:
        (one,) = memory.ingest_text("---\ndate: 2021-01-01\n---\nA", created_at=given_at).added
        (two,) = memory.ingest_text("---\ndate: 2021-01-01\n---\nB").added
        (three,) = memory.ingest_text("C").added
        assert [memory.block(i).created_at for i in (one, two, three)] == [
            given_at,
            datetime(2021, 1, 1, tzinfo=UTC),
            NOW,
        ]


def test_stopping_leaves_the_store_as_it_was() -> None:
    drafts = [RawBlock(f"note {i}", NOW + timedelta(minutes=i)) for i in range(6000)]
    progress = Progress(lambda done, total, doing: progress.cancel() if done else None)
    with open_memory() as memory:
        with pytest.raises(Cancelled):
            memory.ingest_many(drafts, progress)
        assert memory.status().blocks == {}
        assert len(memory.ingest_many(drafts).added) == 6000

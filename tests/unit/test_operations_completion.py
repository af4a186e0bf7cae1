"""Completion: verbs, options, choices, files and what the session knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from amgs_app.calls.completion import complete
from amgs_app.calls.registry import standard


def offered(line: str) -> list[str]:
    return [found.text for found in complete(standard(), line)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("fr", ["frame"]),
        ("feedback usef", ["useful"]),
        ("frame as", ["assemble"]),
        ("search dome --la", ["--layer"]),
        ("search dome --layer ke", ["keyword"]),
        ("search dome --layer keyword --la", ["--layer"]),
        ("search dome --limit 3 --top", []),
        ("feedback ", ["useful", "useless", "answered"]),
        ("show c", ["calibration", "conversation"]),
        ("help fo", ["focus", "follow"]),
        ("decay curve", ["curve"]),
        ("dance ", []),
    ],
)
def test_what_can_come_next_is_offered(line: str, expected: list[str]) -> None:
    assert offered(line) == expected


def test_folders_are_offered_for_batch_and_files_for_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "note one.md").write_text("x")
    monkeypatch.chdir(tmp_path)
    assert offered("ingest --batch n") == ["notes/"]
    assert offered("ingest --file n") == ['"note one.md"', "notes/"]
    line = 'ingest --file "note o'
    (found,) = complete(standard(), line)
    assert line[: len(line) - found.replaces] + found.text == 'ingest --file "note one.md"'


def test_keys_and_their_values_are_offered_with_the_words_of_the_model() -> None:
    notes = {suggestion.text: suggestion.note for suggestion in complete(standard(), "frame define P b")}
    assert notes == {
        "budget=": "Token budget; default: the frame's own.",
        "budget_strategy=": "How children share the budget.",
    }
    assert offered("frame define P budget=9 gather=k") == ["gather=known"]
    assert "weights.recency=" in offered("frame define P weights.r")
    assert offered("settings screen.symbols=b") == ["screen.symbols=braille", "screen.symbols=block"]
    assert "memory.decay.threshold=" in offered("settings memory.decay.t")

"""One task across its files: what belongs together, and that each request counts once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from amgs.types.gateway import Usage
from amgs.wings.sessions.tasks import SumBy, TreeRow, cost_of, tree_at, usage_of_sessions
from amgs_tui.__main__ import run

PROJECT = ".claude/projects/-home-ada-hut"


def shown(rows: tuple[TreeRow, ...]) -> list[tuple[int, str, str, int, int]]:
    return [(row.depth, row.session.id, row.session.relation, row.own.requests, row.told) for row in rows]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A session with a subagent, a fork, a resumed copy, the one that goes on, and another of its own."""
    return shutil.copytree(Path(__file__).parent / "home", tmp_path / "home")


def test_what_came_from_a_session_stands_below_it_and_counts_its_own_requests(home: Path) -> None:
    tree = tree_at(home)
    assert shown(tree.rows) == [
        (0, "s7", "", 1, 0),
        (0, "s1", "", 2, 0),
        (1, "s3", "fork", 1, 2),
        (1, "s2", "fork", 1, 0),
        (1, "agent-a7", "subagent", 1, 0),
        (1, "s9", "continues", 1, 0),
    ]
    assert tree.total.requests == 7
    one = tree_at(home, home / PROJECT / "s2.jsonl")
    assert {row.session.id for row in one.rows} == {"s1", "s2", "s3", "s9", "agent-a7"}


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("task", {"Build a hut.": 6, "Paint it.": 1}),
        ("project", {"/home/ada/hut": 7}),
        ("model", {"claude-opus-4-8": 5, "claude-haiku-4-5-20251001": 1, "gpt-unheard-of": 1}),
        ("day", {f"2026-09-0{day}": 2 if day == 2 else 1 for day in range(1, 7)}),
    ],
)
def test_sums_count_each_request_once(home: Path, by: SumBy, names: dict[str, int]) -> None:
    usage = usage_of_sessions(home, by)
    assert {one.name: one.requests for one in usage.rows} == names
    assert (usage.total.requests, usage.total.fresh, usage.total.cached) == (7, 700, 6_300)
    assert usage.total.unpriced == 1


def test_a_copy_that_another_program_made_of_a_file_adds_nothing(home: Path) -> None:
    before = usage_of_sessions(home, "task").total.requests
    shutil.copyfile(home / PROJECT / "s1.jsonl", home / PROJECT / "backup.jsonl")
    assert usage_of_sessions(home, "task").total.requests == before


def test_the_same_question_of_another_day_is_another_request() -> None:
    assert usage_of_sessions(Path(__file__).parent / "home_of_codex", "day").total.requests == 2


def test_a_price_is_that_of_the_model_and_the_day() -> None:
    usage = Usage(1_000_000, 0, 1_000_000, 1_000_000)
    assert cost_of("claude-opus-4-8", usage) == cost_of("anthropic/claude-opus-4-8-20260801", usage) == 30.5
    assert cost_of("gpt-5.5", usage) == 35.5
    assert cost_of("gpt-5.5-unheard-of", usage) is None


def test_the_commands_tell_trees_and_sums(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(home))
    assert run(["session", "s1", "--tree"]) == 0
    out = capsys.readouterr().out
    assert "└ agent-a7" in out and "6 requests" in out and "s7" not in out
    assert run(["session", "usage", "--by", "model"]) == 0
    out = capsys.readouterr().out
    assert "claude-haiku-4-5" in out and "1 request without a known price" in out
    assert run(["session", "usage", "--agent", "nobody"]) == 2

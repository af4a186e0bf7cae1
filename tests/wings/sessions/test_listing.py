"""What lies on a machine, newest first, and how a session is found by its id."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from amgs.errors import InputError
from amgs.wings.sessions.listing import find_session, list_sessions
from tests.wings.sessions.claude_world import ClaudeFile

PROJECTS = ".claude/projects"


def make(home: Path, name: str, at: int, project: str = "/home/ilse/orchard") -> ClaudeFile:
    file = ClaudeFile(home / PROJECTS / project.replace("/", "-") / f"{name}.jsonl", project)
    file.say("Water the trees.")
    file.answer("They are watered.")
    file.compact("The trees are watered.")
    file.say("And the pears?")
    os.utime(file.save(), (at, at))
    return file


def test_sessions_are_listed_newest_first_with_what_their_bytes_tell(tmp_path: Path) -> None:
    make(tmp_path, "aaaa1111", 1_000_000)
    make(tmp_path, "bbbb2222", 2_000_000, "/home/ilse/meadow")
    found = list_sessions(tmp_path)
    assert [one.id for one in found.sessions] == ["bbbb2222", "aaaa1111"]
    first = found.sessions[0]
    assert (first.agent, first.project, first.compactions) == ("Claude Code", "/home/ilse/meadow", 1)
    assert first.tokens == 20_004
    assert first.turns is not None and first.turns >= 2
    assert [one.id for one in list_sessions(tmp_path, project="orchard").sessions] == ["aaaa1111"]
    assert list_sessions(tmp_path, agent="codex").sessions == ()


def test_files_of_subagents_are_listed_when_asked_for(tmp_path: Path) -> None:
    make(tmp_path, "aaaa1111", 1_000_000)
    make(tmp_path, "agent-7", 1_000_001)
    assert len(list_sessions(tmp_path).sessions) == 1
    assert [one.subagent for one in list_sessions(tmp_path, subagents=True).sessions] == [True, False]


def test_without_time_files_are_listed_uncounted(tmp_path: Path) -> None:
    make(tmp_path, "aaaa1111", 1_000_000)
    found = list_sessions(tmp_path, seconds=0)
    assert found.left == 1
    assert found.sessions[0].turns is None


def test_a_machine_without_sessions_tells_where_was_looked(tmp_path: Path) -> None:
    found = list_sessions(tmp_path)
    assert found.sessions == ()
    assert str(tmp_path / PROJECTS) in [place.rstrip("/") for place in found.places]


def test_a_session_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    make(tmp_path, "aaaa1111", 1_000_000)
    make(tmp_path, "aaaa2222", 1_000_000)
    assert find_session(tmp_path, "aaaa1").name == "aaaa1111.jsonl"
    with pytest.raises(InputError, match="2 sessions begin with aaaa"):
        find_session(tmp_path, "aaaa")
    with pytest.raises(InputError, match="No session here is called zzz"):
        find_session(tmp_path, "zzz")

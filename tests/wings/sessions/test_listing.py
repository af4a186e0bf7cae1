"""What lies on a machine, newest first, and how a session is found by its id."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from backports import zstd

from amgs.errors import InputError
from amgs.sessions.opening import open_session
from amgs.wings.sessions import listing
from amgs.wings.sessions.listing import find_session, list_sessions, short_ids
from amgs_app.views.sessions.commands import open_named
from tests.wings.sessions.claude_world import START, ClaudeFile

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


@pytest.mark.parametrize(("options", "more"), [({}, 2), ({"subagents": True}, 4), ({"project": "orchard"}, 1)])
def test_beyond_the_limit_sessions_are_counted_and_not_looked_into(
    options: dict[str, Any], more: int, tmp_path: Path
) -> None:
    for place, name in enumerate(("aaaa1111", "bbbb2222", "cccc3333", "agent-7")):
        make(tmp_path, name, 1_000_000 - place, "/home/ilse/meadow" if place == 1 else "/home/ilse/orchard")
    about = {"id": "s1", "source": {"subagent": "review"}}
    lay(tmp_path, ".codex/sessions/2026/09/12/rollout-a.jsonl", {"type": "session_meta", "payload": about})
    os.utime(tmp_path / ".codex/sessions/2026/09/12/rollout-a.jsonl", (1, 1))
    found = list_sessions(tmp_path, limit=1, **options)
    assert ([one.id for one in found.sessions], found.more, found.left) == (["aaaa1111"], more, 0)


def test_a_machine_without_sessions_tells_where_was_looked(tmp_path: Path) -> None:
    found = list_sessions(tmp_path)
    assert found.sessions == ()
    assert str(tmp_path / PROJECTS) in [place.rstrip("/") for place in found.places]


def test_a_session_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    make(tmp_path, "aaaa1111", 1_000_000)
    make(tmp_path, "aaaa2222", 1_000_000)
    assert find_session(tmp_path, "aaaa1")[0].name == "aaaa1111.jsonl"
    with pytest.raises(InputError, match="2 sessions begin with aaaa"):
        find_session(tmp_path, "aaaa")
    with pytest.raises(InputError, match="No session here is called zzz"):
        find_session(tmp_path, "zzz")


def lay(home: Path, where: str, *lines: dict[str, Any], at: int = 1_000_000) -> None:
    path = home / where
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = "".join(json.dumps(line) + "\n" for line in lines).encode()
    path.write_bytes(zstd.compress(raw) if where.endswith(".zst") else raw)
    os.utime(path, (at, at))


def test_every_id_that_is_listed_opens_its_session(tmp_path: Path) -> None:
    day = ".codex/sessions/2026/09/12/rollout-2026-09-12T08-00-00"
    ids = ["01a20000-0000-7000-8000-0000000000a1", "01a20000-0000-7000-8000-0000000000b2"]
    for place, id in enumerate(ids):
        meta = {"type": "session_meta", "payload": {"cwd": "/home/ada/mill", "id": id}}
        sent = {"type": "event_msg", "payload": {"type": "user_message", "message": "Turn it."}}
        lay(tmp_path, f"{day}-{id}.jsonl{'.zst' if place else ''}", meta, sent)
    for name in ("p1", "p2"):
        lay(tmp_path, f".copilot/session-state/{name}/events.jsonl", {"type": "session.start", "data": {}})
    tasks = ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks"
    lay(tmp_path, f"{tasks}/1788/api_conversation_history.json", {"role": "user", "content": "<task>"})
    found = list_sessions(tmp_path).sessions
    assert {one.id for one in found} == {*ids, "p1", "p2", "1788"}
    for one, short in zip(found, short_ids(found), strict=True):
        assert find_session(tmp_path, short) == find_session(tmp_path, one.id) == (Path(one.path), None)
    packed = next(one for one in found if one.path.endswith(".zst"))
    assert (packed.project, packed.turns) == ("/home/ada/mill", 1)


def test_a_subagent_of_codex_is_listed_when_asked_for_and_a_packed_copy_once(tmp_path: Path) -> None:
    name = ".codex/sessions/2026/09/12/rollout-a.jsonl"
    side = {"type": "session_meta", "payload": {"id": "s1", "source": {"subagent": "review"}}}
    for where in (name, f"{name}.zst"):
        lay(tmp_path, where, side)
    assert list_sessions(tmp_path).sessions == ()
    assert [one.id for one in list_sessions(tmp_path, subagents=True).sessions] == ["s1"]


@pytest.mark.parametrize(("source", "listed"), [("cli", 1), ({"internal": "memory"}, 0), ("subagent", 0)])
def test_a_session_of_codex_is_of_a_subagent_by_its_source_not_by_its_tools(
    source: Any, listed: int, tmp_path: Path
) -> None:
    tools = [{"name": "find", "input_schema": {"properties": {"internal": {"type": "boolean"}}}}]
    meta = {"type": "session_meta", "payload": {"id": "a", "source": source, "dynamic_tools": tools}}
    lay(tmp_path, ".codex/sessions/2026/01/01/rollout-2026-01-01T10-00-00-a.jsonl", meta)
    assert len(list_sessions(tmp_path).sessions) == listed


def test_prompts_are_counted_however_their_words_are_written(tmp_path: Path) -> None:
    said: list[Any] = ["Mow.", [{"type": "text", "text": "Mow."}], [{"text": "Mow.", "type": "text"}]]
    put_in: list[Any] = [
        [{"type": "tool_result", "content": "Mown."}],
        "<task-notification>Mown.</task-notification>",
        [{"type": "text", "text": "[Request interrupted by user]"}],
    ]
    lines = [{"type": "user", "message": {"role": "user", "content": one}} for one in [*said, *put_in]]
    lay(tmp_path, f"{PROJECTS}/p/a.jsonl", *lines, {**lines[0], "isMeta": True})
    assert list_sessions(tmp_path).sessions[0].turns == 3


def test_last_is_the_session_that_was_written_last(tmp_path: Path) -> None:
    make(tmp_path, "aaaa1111", 1_000_000)
    make(tmp_path, "bbbb2222", 2_000_000)
    assert find_session(tmp_path, "last")[0].stem == "bbbb2222"


def test_a_program_whose_folder_is_not_read_is_named(tmp_path: Path) -> None:
    make(tmp_path, "aaaa1111", 1_000_000)
    assert list_sessions(tmp_path).unread == ()
    (tmp_path / ".local/share/amp/threads").mkdir(parents=True)
    assert list_sessions(tmp_path).unread == (("Amp", str(tmp_path / ".local/share/amp/threads")),)


def test_a_session_in_a_file_that_holds_many_is_found_by_its_id(tmp_path: Path) -> None:
    path = tmp_path / "hut/.aider.chat.history.md"
    path.parent.mkdir()
    days = ("2026-09-10", "2026-09-11")
    path.write_text("".join(f"# aider chat started at {day} 10:00:00\n\n#### Mow.  \n\nMown.\n\n" for day in days))
    assert find_session(tmp_path, "2026-09-10") == (path, "2026-09-10T10:00:00")
    assert [row.id[:10] for row in list_sessions(tmp_path, seconds=60).sessions] == [*reversed(days)]


def test_sessions_of_one_file_stand_among_the_others_and_are_read_while_there_is_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "hut/.aider.chat.history.md"
    path.parent.mkdir()
    days = ("2026-09-10", "2026-09-11", "2026-09-12")
    path.write_text("".join(f"# aider chat started at {day} 10:00:00\n\n#### Mow.  \n\nMown.\n\n" for day in days))
    os.utime(path, (at := datetime(2026, 9, 12, 20, tzinfo=UTC).timestamp(), at))
    make(tmp_path, "aaaa1111", int(at) - 24 * 3600)
    found = list_sessions(tmp_path, seconds=60, limit=2)
    assert [row.id[:10] for row in found.sessions] == ["2026-09-12", "aaaa1111"] and found.more == 2
    assert open_named(found.sessions[0].path).id == found.sessions[0].id
    monkeypatch.setattr(listing, "monotonic", count().__next__)
    found = list_sessions(tmp_path, seconds=4)  # looks at the clock: into the file, for the first session, too late
    assert [row.turns for row in found.sessions if row.agent == "Aider"] == [1, 1, None] and found.left == 2


def test_a_session_is_recognised_by_its_title_its_first_words_and_how_it_went(tmp_path: Path) -> None:
    file = make(tmp_path, "aaaa1111", 1_000_000)
    file.run("make pears", "no such target", failed=True)
    file.save()
    (row,) = list_sessions(tmp_path, seconds=60).sessions
    assert (row.what, row.errors, row.compactions) == ("Water the trees.", 1, 1)
    assert row.seconds == (file.now - START).total_seconds() - 10
    file.add(type="ai-title", aiTitle="Watering")
    file.add(type="custom-title", customTitle="The dry summer")
    file.add(type="ai-title", aiTitle="Watering trees")
    file.save()
    assert [one.what for one in list_sessions(tmp_path).sessions] == ["The dry summer"]
    assert [one.what for one in list_sessions(tmp_path, seconds=0).sessions] == ["The dry summer"]
    file.records[1:1] = [{"type": "progress", "data": "x" * 1_000}] * 400  # beyond what is read of its beginning
    file.save()
    for seconds in (0, 60):
        (row,) = list_sessions(tmp_path, seconds=seconds).sessions
        assert row.what == "The dry summer" and row.ended == file.now


def test_first_words_are_those_that_a_person_typed(tmp_path: Path) -> None:
    put_in = "<task-notification>Mown.</task-notification>"
    opened = "<ide_opened_file>The user opened sky.py.</ide_opened_file>"
    for place, first in enumerate([[{"type": "text", "text": opened}, {"type": "text", "text": "Mow."}], put_in]):
        lines = [{"type": "user", "message": {"role": "user", "content": one}} for one in (put_in, first, "Mow.")]
        lay(tmp_path, f"{PROJECTS}/p{place}/a{place}.jsonl", *lines)
    assert [one.what for one in list_sessions(tmp_path).sessions] == ["Mow.", "Mow."]


def test_what_was_needed_again_is_counted_where_there_is_time(tmp_path: Path) -> None:
    file = ClaudeFile(tmp_path / PROJECTS / "p/a.jsonl")
    file.say("Mend the store.")
    file.read("/home/ilse/store.py")
    file.edit("/home/ilse/store.py")
    file.compact("It went on.")
    file.read("/home/ilse/store.py")
    file.save()
    assert [one.again for one in list_sessions(tmp_path, seconds=60).sessions] == [1]
    assert [one.again for one in list_sessions(tmp_path, seconds=0).sessions] == [None]


def test_the_failures_of_codex_are_counted_as_its_reader_does(tmp_path: Path) -> None:
    told = [
        "Chunk ID: 1\nWall time: 1 s\nProcess exited with code 1\nOutput:\nno",
        "Process exited with code 0\nOutput:\nProcess exited with code 1",
        "Exit code: 127\nOutput: none",
        json.dumps({"output": "no", "metadata": {"exit_code": 2}}, separators=(",", ":")),
        json.dumps({"output": "yes", "metadata": {"exit_code": 0}}, separators=(",", ":")),
    ]
    results = [
        {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c", "output": one}}
        for one in told
    ]
    lay(tmp_path, ".codex/sessions/2026/09/12/rollout-a.jsonl", {"type": "session_meta", "payload": {}}, *results)
    (row,) = list_sessions(tmp_path).sessions
    assert row.errors == sum(turn.failed for turn in open_session(Path(row.path)).main) == 3

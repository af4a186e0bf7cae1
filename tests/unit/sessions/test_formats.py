"""Readers of session files: what each finds in a small file of its format, and that no damage stops one."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from amgs.errors import InputError
from amgs.sessions import building, opening
from amgs.sessions.formats import gemini_cli, opencode
from amgs.sessions.opening import FORMATS, first_records, open_session, sessions_in
from amgs.sessions.turn import Boundary, Session, Turn
from amgs.sessions.windows import dropped_at, opening_after, requests, window_at
from amgs.types.usage import Usage
from tests.unit.sessions.mutations import mutated

FIXTURES = Path(__file__).parent / "fixtures"
ASKED = "Water the beds every 9 hours, never at noon."
FILES = {
    "claude-bodies": "claude_bodies",
    "otlp": "otlp.jsonl",
    "opencode2": "opencode2.db",
    "opencode": "opencode.json",
    "qwen-code": "qwen_code.jsonl",
    "claude-code": "claude_code.jsonl",
    "claude-stream": "claude_stream.jsonl",
    "codex": "codex.jsonl",
    "codex-exec": "codex_exec.jsonl",
    "pi": "pi.jsonl",
    "gemini-cli": "gemini_cli.jsonl",
    "antigravity": "antigravity.jsonl",
    "copilot-cli": "copilot_cli.jsonl",
    "atif": "atif.json",
    "goose": "goose.jsonl",
    "cursor": "cursor.jsonl",
    "vscode-chat": "vscode_chat.json",
    "openhands": "openhands.jsonl",
    "cline": "cline.json",
    "aider": "aider.history",
}
KEYS = sorted(FILES)
LINES = tuple(key for key in KEYS if FILES[key].endswith(".jsonl") and key != "otlp")


def session_of(key: str) -> Session:
    return open_session(FIXTURES / FILES[key])


def told(turns: Sequence[Turn]) -> list[tuple[str, str]]:
    """(kind, first line of what it says) of turns."""
    return [(turn.kind, turn.words.split("\n")[0]) for turn in turns]


def written(session: Session) -> str:
    """All that is read of a session, a turn a line."""
    held = ("format", "id", "project", "branch", "version", "model", "window", "title", "system", "tools", "parent")
    rows = [f"{name}: {value!r}" for name in (*held, "notes", "records", "unread") if (value := getattr(session, name))]
    rows += [f"{count} {what}" for what, count in session.evidence.items()]
    for turn in session.turns:
        marks = [name for name in ("abandoned", "failed", "copied") if getattr(turn, name)]
        about = [turn.agent and f"agent {turn.agent}", turn.speaker and f"by {turn.speaker}", *marks]
        used = turn.usage and f"{turn.usage.fresh}+{turn.usage.written}+{turn.usage.cached}>{turn.usage.output}"
        told = [turn.role, turn.kind, *about, used or "", repr(turn.boundary) if turn.boundary else ""]
        rows.append(f"{turn.number} {' '.join(filter(None, told))} | {turn.words[:160]!r}")
    return "".join(f"{row}\n" for row in rows).replace(str(FIXTURES), "FIXTURES")


def the(session: Session, kind: str) -> Turn:
    """The one turn of the main conversation of a kind."""
    (found,) = [turn for turn in session.main if turn.kind == kind]
    return found


# --- which format ------------------------------------------------------------------------------------------


def test_every_format_has_a_file() -> None:
    assert {one.key for one in FORMATS} == {*FILES}


@pytest.mark.parametrize("key", KEYS)
def test_a_file_is_recognised_by_its_own_format_alone(key: str, tmp_path: Path) -> None:
    path = FIXTURES / FILES[key]
    renamed = tmp_path / f"file{path.suffix}"
    (shutil.copytree if path.is_dir() else shutil.copyfile)(path, renamed)
    for one in (path, renamed):
        first = first_records(one)
        assert [form.key for form in FORMATS if form.recognises(one, first)] == [key]


def test_a_file_of_no_format_names_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"wind": 3}')
    (tmp_path / "folder").mkdir()
    for name in ("a.json", "folder"):
        with pytest.raises(InputError) as raised:
            open_session(tmp_path / name)
        assert "Aider" in raised.value.way_out


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("state.vscdb", "Cursor's editor"),
        (".local/share/amp/threads/T-1.json", "Amp"),
        ("trajectory/events/0.json", "OpenHands before version 1"),
        ("trajectory/events", "OpenHands before version 1"),
        ("trajectory", "OpenHands before version 1"),
    ],
)
def test_a_file_of_a_program_that_is_not_read_says_so(name: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / name
    file = path if path.suffix else tmp_path / "trajectory/events/0.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('{"id": 0, "source": "user", "action": "message"}' if "events" in str(file) else '{"wind": 3}')
    with pytest.raises(InputError, match=f"is of {says}, which is not read"):
        open_session(path)


# --- what is found -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
def test_all_that_a_file_holds_is_told(key: str) -> None:
    assert written(session_of(key)) == (FIXTURES / "told" / f"{key}.txt").read_text(encoding="utf-8")


HUT = {"sessionId": "hut-1", "version": "2.1.240", "cwd": "/home/ada/hut"}


def claude_file(path: Path, *records: dict[str, Any]) -> Session:
    """A session of Claude Code: each record follows the one before unless it names its parent."""
    lines: list[dict[str, Any]] = []
    for number, record in enumerate(records, 1):
        parent = lines[-1]["uuid"] if lines else None
        lines.append({"uuid": f"n{number}", "parentUuid": parent, **HUT, **record})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return open_session(path)


def asked(words: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": words}, **more}


def answered(words: str, id: str, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 700, "output_tokens": 9}
    said = {"role": "assistant", "id": id, "content": [{"type": "text", "text": words}], "usage": usage}
    return {"type": "assistant", "requestId": f"r-{id}", "message": said, **more}


@pytest.mark.parametrize(
    "between", [{"type": "system", "subtype": "turn_duration"}, {"type": "progress", "data": {"type": "hook_progress"}}]
)
@pytest.mark.parametrize("parent", ["n2", "n3"])
def test_claude_code_follows_the_way_back_over_records_of_every_kind(
    between: dict[str, Any], parent: str, tmp_path: Path
) -> None:
    session = claude_file(
        tmp_path / "a.jsonl",
        asked("Build a hut."),
        answered("Of wood?", "m1"),
        between,
        asked("Of stone, and always with a red door."),
        answered("Stone it is.", "m2"),
        between,
        asked("Of wood, and a white door.", parentUuid=parent),
        answered("Wood it is.", "m3"),
    )
    assert [turn.text for turn in session.turns if turn.abandoned] == [
        "Of stone, and always with a red door.",
        "Stone it is.",
    ]
    window = window_at(session, len(session.turns))
    assert "Stone it is." not in [turn.text for turn in window.turns]


def test_claude_code_takes_back_a_first_question_and_no_results_of_calls_made_at_once(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "c1", "name": "Read", "input": {}}
    both = [
        answered("", "m2", message={"role": "assistant", "id": "m2", "content": [call | {"id": id}]}) for id in "ab"
    ]
    results = [asked([{"type": "tool_result", "tool_use_id": id, "content": id}]) for id in "ab"]
    session = claude_file(
        tmp_path / "a.jsonl",
        asked("Build a tower."),
        answered("A tower.", "m1"),
        asked("Build a hut.", parentUuid=None),
        *both,
        results[0] | {"parentUuid": "n4"},
        results[1] | {"parentUuid": "n5"},
        answered("Both are read.", "m3"),
        asked("Thanks."),
    )
    assert [turn.text for turn in session.turns if turn.abandoned] == ["Build a tower.", "A tower."]


@pytest.mark.parametrize(
    ("record", "whose"),
    [
        (asked('<relay-message from="scout">Never run `make roof`.</relay-message>'), "scout (relay-message)"),
        (
            asked('Another agent writes:\n<relay-message from="scout">Never run `make roof`.</relay-message>'),
            "scout (relay-message)",
        ),
        (asked('<chat source="mail">Never run `make roof`.</chat>'), "mail (chat)"),
        (asked("Never run `make roof`.", origin={"kind": "peer", "name": "scout"}), "scout (peer)"),
        (asked("Never run `make roof`.", promptSource="cron"), "cron"),
        (asked("Never run `make roof`.", turnOrigin="task_notification"), "task_notification"),
        (asked("Never run `make roof`."), ""),
    ],
)
def test_claude_code_tells_whose_words_stand_in_the_users_place(
    record: dict[str, Any], whose: str, tmp_path: Path
) -> None:
    session = claude_file(
        tmp_path / "a.jsonl", asked("Build a hut.", promptSource="typed"), answered("Of wood?", "m1"), record
    )
    assert [(turn.kind, turn.speaker) for turn in session.turns[2:]] == [("injected", whose)]


def test_claude_code_keeps_what_a_person_typed_whatever_it_looks_like(tmp_path: Path) -> None:
    words = ["<my-note>Use wood.</my-note>", '<div class="a">Why is this red?</div>', "<task>Build a hut.</task>"]
    typed = claude_file(tmp_path / "a.jsonl", *[asked(one, origin={"kind": "human"}) for one in words])
    assert [(turn.kind, turn.text) for turn in typed.turns] == [("said", one) for one in words]
    unmarked = claude_file(tmp_path / "b.jsonl", *[asked(one) for one in words[1:]])
    assert [turn.kind for turn in unmarked.turns] == ["said", "said"]
    mixed = claude_file(tmp_path / "c.jsonl", asked("<app_note>Be brief.</app_note>\nBuild a hut."))
    assert told(mixed.turns) == [("injected", "<app_note>Be brief.</app_note>"), ("said", "Build a hut.")]


@pytest.mark.parametrize(
    "about",
    [
        {"preservedSegment": {"headUuid": "n3", "anchorUuid": "x", "tailUuid": "n5"}},
        {"preservedMessages": {"uuids": ["n3", "n5"], "allUuids": ["n3", "n4", "n5"]}},
        {"preservedSegment": {"headUuid": "n3", "tailUuid": "n5", "allUuids": ["n3", "n4", "n5"]}},
        {"preservedSegment": {"tailUuid": "n5", "headUuid": "n3"}, "preservedMessages": {"uuids": ["n3"]}},
    ],
)
def test_claude_code_keeps_all_turns_of_a_preserved_segment(about: dict[str, Any], tmp_path: Path) -> None:
    mark = {"type": "system", "subtype": "compact_boundary", "parentUuid": None, "logicalParentUuid": "n5"}
    session = claude_file(
        tmp_path / "a.jsonl",
        asked("Post 111 is oak."),
        answered("Oak.", "m1"),
        asked("Post 222 is pine."),
        answered("Pine.", "m2"),
        asked("Post 333 is elm."),
        mark | {"compactMetadata": {"trigger": "auto", "preTokens": 900, **about}},
        asked("Posts were told.", isCompactSummary=True),
    )
    assert [turn.number for turn in dropped_at(session, session.boundaries[0])] == [1, 2]


def test_claude_code_takes_the_title_that_was_given_by_hand(tmp_path: Path) -> None:
    titles = [
        {"type": "custom-title", "customTitle": "The hut"},
        {"type": "ai-title", "aiTitle": "Building"},
        {"type": "custom-title", "customTitle": "The red hut"},
        {"type": "ai-title", "aiTitle": "Building a hut"},
    ]
    assert claude_file(tmp_path / "a.jsonl", asked("Build a hut."), *titles).title == "The red hut"


def test_claude_code_reads_the_file_of_a_subagent_as_a_conversation_with_its_compactions(tmp_path: Path) -> None:
    side = {"isSidechain": True, "agentId": "a7"}
    mark = {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"preTokens": 9}}
    session = claude_file(
        tmp_path / "agent-a7.jsonl",
        asked("Find the hinge.", **side),
        answered("I look.", "m1", **side),
        mark | side,
        asked("It was looked for.", isCompactSummary=True, **side),
        {"type": "progress", "data": {"type": "agent_progress", "agentId": "b9", "message": answered("Deeper.", "m2")}},
    )
    assert (session.id, session.parent, session.relation) == ("agent-a7", "hut-1", "subagent")
    assert len(session.main) == 4 and len(session.boundaries) == 1


MILL = "01a20000-0000-7000-8000-0000000000a1"
SCOUT = "01a20000-0000-7000-8000-0000000000b2"


def rollout(path: Path, *lines: tuple[str, dict[str, Any]], first: int = 0, packed: bool = False) -> Path:
    """A file of Codex with a line of each type and payload, numbered and timed."""
    told = [
        {"timestamp": f"2026-09-12T08:00:{n:02}Z", "type": kind, "payload": payload, "ordinal": first + n}
        for n, (kind, payload) in enumerate(lines)
    ]
    raw = "".join(json.dumps(line) + "\n" for line in told).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zstd.compress(raw) if packed else raw)
    return path


def exchange(question: str, answer: str, total: int, turn: str = "t") -> list[tuple[str, dict[str, Any]]]:
    """What a user sent, what came back, and the tokens of it: 100 of them new."""
    used = {"input_tokens": total, "cached_input_tokens": total - 100, "output_tokens": 7}
    info = {"total_token_usage": {"total_tokens": total * 10}, "last_token_usage": used}
    return [
        ("event_msg", {"type": "task_started", "turn_id": turn}),
        ("response_item", in_slot(question)),
        ("event_msg", {"type": "user_message", "message": question}),
        (
            "response_item",
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": answer}]},
        ),
        ("event_msg", {"type": "token_count", "info": info}),
    ]


def in_slot(words: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": words}]}


def meta(id: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "session_meta", {"id": id, "cwd": "/home/ada/mill", **more}


def test_codex_takes_back_what_was_rolled_back(tmp_path: Path) -> None:
    back = ("event_msg", {"type": "thread_rolled_back", "num_turns": 2})
    parts = [exchange(f"Question {n}.", f"Answer {n}.", 1000 + n) for n in range(4)]
    session = open_session(
        rollout(tmp_path / "rollout-a.jsonl", meta(MILL), *parts[0], *parts[1], *parts[2], back, *parts[3])
    )
    assert [turn.text for turn in session.main] == ["Question 0.", "Answer 0.", "Question 3.", "Answer 3."]
    assert sum(turn.abandoned for turn in session.turns) == 4


@pytest.mark.parametrize("named", ["parent_thread_id", "source", "forked_from_id"])
@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize("timed", [True, False])
def test_codex_tells_the_copy_of_another_thread_from_its_own(
    named: str, beside: bool, timed: bool, tmp_path: Path
) -> None:
    early, late = (
        ("01a1ffff-0000-7000-8000-000000000001", "01a20000-0001-7000-8000-000000000001") if timed else ("1", "2")
    )
    before = exchange("Turn the mill.", "I send a scout.", 5_000, early)
    if beside:
        rollout(tmp_path / "rollout-parent.jsonl", meta(MILL), *before)
    about: dict[str, Any] = {named: MILL}
    if named == "source":
        about = {"source": {"subagent": {"thread_spawn": {"parent_thread_id": MILL}}}}
    path = tmp_path / f"rollout-2026-09-12T08-00-00-{SCOUT}.jsonl"
    session = open_session(
        rollout(path, meta(SCOUT, **about), meta(MILL), *before, *exchange("Count the sacks.", "14.", 5_200, late))
    )
    assert [turn.text for turn in session.turns if not turn.copied] == ["Count the sacks.", "14."]
    assert [one.usage for one in requests(session)] == [Usage(100, 0, 5_100, 7)]
    assert (session.id, session.parent) == (SCOUT, MILL)
    assert session.relation == ("fork" if named == "forked_from_id" else "subagent")


def test_codex_takes_lines_from_before_a_thread_began_for_a_copy(tmp_path: Path) -> None:
    about = {"forked_from_id": MILL, "timestamp": "2026-09-12T08:00:05.5Z"}
    before, own = exchange("Turn the mill.", "It turns.", 900), exchange("Count the sacks.", "14.", 950)
    session = open_session(rollout(tmp_path / "rollout-a.jsonl", meta("b2", **about), *before, *own))
    assert [turn.copied for turn in session.turns] == [True, True, False, False]


def test_codex_leaves_a_subagent_without_a_copy_as_it_is(tmp_path: Path) -> None:
    own = exchange("Count the sacks.", "14.", 5_200, "01a20000-0001-7000-8000-000000000001")
    path = rollout(tmp_path / "rollout-a.jsonl", meta(SCOUT, parent_thread_id=MILL), meta(MILL), *own)
    assert [turn.copied for turn in open_session(path).turns] == [False, False]


def test_codex_goes_on_from_another_file_or_says_that_it_is_not_here(tmp_path: Path) -> None:
    first = tmp_path / f"rollout-2026-09-12T08-00-00-{MILL}.jsonl"
    rollout(first, meta(MILL), *exchange("Sack 1.", "Noted 1.", 900), *exchange("Sack 2.", "Noted 2.", 950))
    second = tmp_path / f"rollout-2026-09-12T09-00-00-{MILL}_{SCOUT}.jsonl"
    base = {"thread_id": MILL, "end_ordinal_exclusive": 6}
    rollout(second, meta(MILL, history_base=base), *exchange("Sack 2 anew.", "Noted.", 960), first=6)
    session = open_session(second)
    assert [turn.text for turn in session.main] == ["Sack 1.", "Noted 1.", "Sack 2 anew.", "Noted."]
    assert session.records == 6 and len(requests(session)) == 1
    assert "whose first 2 turns" in session.notes[0]
    first.unlink()
    assert "is in a file that is not here" in open_session(second).notes[0]


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        ("# Context from my IDE setup:\n\n## My request for Codex:\nTurn it.", ["injected", "said"]),
        ("<wind_notice>\nNever turn it.\n</wind_notice>", ["injected"]),
        ("Go on with the goal that was set.", ["injected"]),
    ],
)
def test_codex_tells_what_the_user_sent_from_what_stands_in_his_place(
    words: str, kinds: list[str], tmp_path: Path
) -> None:
    sent = [("event_msg", {"type": "user_message", "message": words})] if kinds[1:] else []
    path = rollout(
        tmp_path / "rollout-a.jsonl", *exchange("Begin.", "Yes.", 900), ("response_item", in_slot(words)), *sent
    )
    session = open_session(path)
    assert [turn.kind for turn in session.turns[2:]] == kinds
    assert [turn.text for turn in session.turns[2:] if turn.kind == "said"] == ["Turn it."][: len(kinds) - 1]


def test_a_packed_file_is_read_as_it_was(tmp_path: Path) -> None:
    lines = [meta(MILL), *exchange("Turn the mill.", "It turns.", 900)]
    packed = rollout(tmp_path / "rollout-a.jsonl.zst", *lines, packed=True)
    plain = rollout(tmp_path / "rollout-a.jsonl", *lines)
    (tmp_path / "rollout-b.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    for path in (packed, tmp_path / "rollout-b.jsonl.gz"):
        assert told(open_session(path).turns) == told(open_session(plain).turns)


def test_codex_knows_a_request_whose_event_leaves_out_what_an_editor_shows(tmp_path: Path) -> None:
    whole = "# Context from my IDE setup:\n\n## My request for Codex:\nTurn it."
    sent = ("event_msg", {"type": "user_message", "message": "Turn it."})
    session = open_session(rollout(tmp_path / "rollout-a.jsonl", ("response_item", in_slot(whole)), sent))
    assert [turn.kind for turn in session.turns] == ["injected", "said"]


def test_opencode_2_says_that_the_tables_before_it_are_frozen(tmp_path: Path) -> None:
    path = database(tmp_path / "opencode.db")
    with closing(sqlite3.connect(path)) as new, new:
        new.execute("ATTACH ? AS two", (str(FIXTURES / "opencode2.db"),))
        for table in ("session_v2", "session_message"):
            (made,) = new.execute("SELECT sql FROM two.sqlite_master WHERE name = ?", (table,)).fetchone()
            new.execute(made)
            new.execute(f"INSERT INTO {table} SELECT * FROM two.{table}")
    assert sessions_in(path) == ("ses_two", "ses_garden", "ses_old")
    assert open_session(path).id == "ses_two" and open_session(path).notes == ()
    assert "opencode 1" in open_session(path, "ses_garden").notes[0]


def test_goose_reads_its_database_as_its_lines(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (FIXTURES / "goose.jsonl").read_text().splitlines()[:-1]]
    path = tmp_path / "sessions.db"
    with closing(sqlite3.connect(path)) as made, made:
        made.execute("CREATE TABLE sessions (id, description, working_dir, updated_at, model_config_json)")
        made.execute(
            "CREATE TABLE messages (id INTEGER, session_id, role, content_json, created_timestamp, metadata_json)"
        )
        about = [lines[0].get(key) for key in ("id", "description", "working_dir", "updated_at", "model_config_json")]
        made.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?)", about)
        for number, one in enumerate(lines[1:]):
            content, metadata = json.dumps(one["content"]), json.dumps(one.get("metadata"))
            row = (number, "g-garden", one["role"], content, one["created"], metadata)
            made.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)", row)
    session = open_session(path)
    assert told(session.turns) == told(session_of("goose").turns)
    assert (session.title, session.model) == ("Watering", "m-1")


def test_openhands_reads_a_folder_of_events_as_lines(tmp_path: Path) -> None:
    events = tmp_path / "o-garden" / "events"
    events.mkdir(parents=True)
    for number, line in enumerate((FIXTURES / "openhands.jsonl").read_text().splitlines()):
        (events / f"event-{number:05}.json").write_text(line)
    session = open_session(events)
    assert told(session.turns) == told(session_of("openhands").turns)
    assert (session.id, session.records) == ("o-garden", 9)


def test_a_chat_of_vs_code_is_replayed_from_its_log(tmp_path: Path) -> None:
    whole = json.loads((FIXTURES / "vscode_chat.json").read_text())
    answers = whole["requests"][3].pop("response")
    log: list[Any] = [
        {"kind": 0, "v": {**whole, "requests": whole["requests"][:1]}},
        {"kind": 2, "k": ["requests"], "v": whole["requests"][1:]},
        {"kind": 1, "k": ["requests", 3, "response"], "v": ["?"]},
        {"kind": 2, "k": ["requests", 3, "response"], "i": 0, "v": answers},
        {"kind": 1, "k": ["weather", "wind"], "v": 3},
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in log))
    assert told(open_session(path).turns) == told(session_of("vscode-chat").turns)


def test_headless_output_of_claude_code_is_read_as_a_list_too(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (FIXTURES / "claude_stream.jsonl").read_text().splitlines()[:-1]]
    for name, whole in (("a.json", lines), ("b.json", {"loglines": lines})):
        (tmp_path / name).write_text(json.dumps(whole, indent=1))
        assert told(open_session(tmp_path / name).turns) == told(session_of("claude-stream").turns)


def test_a_document_with_a_message_a_line_is_a_document(tmp_path: Path) -> None:
    messages = json.loads((FIXTURES / "cline.json").read_text())
    rows = ",\n".join(json.dumps(one) for one in messages)
    for name, told_before in (("a.messages.json", '{\n"messages": [\n'), ("api_conversation_history.json", "[\n")):
        path = tmp_path / name
        path.write_text(f"{told_before}{rows}\n]{'}' * told_before.count('{')}\n")
        assert told(open_session(path).turns) == told(session_of("cline").turns)


def test_a_package_may_bring_a_format(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"mine": "amgs.sessions.formats.pi:FORMAT", "gone": "no.such.module:FORMAT", "other": "json:dumps"}
    points = [EntryPoint(name, value, opening.GROUP) for name, value in values.items()]
    with pytest.warns(UserWarning) as warned:
        assert [form.key for form in opening.load_formats(points)] == ["pi"]
    assert len(warned) == 2


def test_bodies_without_an_index_go_by_the_times_of_their_files(tmp_path: Path) -> None:
    folder = shutil.copytree(FIXTURES / "claude_bodies", tmp_path / "bodies")
    (folder / "index.jsonl").unlink()
    (folder / "aj.request.json").unlink()
    for number, one in enumerate(sorted(folder.glob("*.request.json"))):
        for at, path in enumerate((one, folder / f"req_{one.name.replace('request', 'response')}")):
            os.utime(path, (1_772_614_800 + 2 * number + at,) * 2)
    session = open_session(folder)
    assert session.id == "b-garden-1"
    assert told(session.main) == told(session_of("claude-bodies").main)
    assert {turn.agent for turn in session.turns} == {"", "side 1", "side 2"}


@pytest.mark.parametrize("broken", [{"error": {"name": "aborted"}}, {"time": {"created": 1_772_615_160_000}}])
def test_a_compaction_of_opencode_that_was_broken_off_drops_nothing(broken: Any, tmp_path: Path) -> None:
    whole = json.loads((FIXTURES / "opencode.json").read_text())
    summary = next(one for one in whole["messages"] if (one["info"] or {}).get("summary"))
    summary["parts"].insert(0, {"type": "reasoning", "text": "What must stay?"})
    path = tmp_path / "session.json"
    path.write_text(json.dumps(whole))
    (boundary,) = open_session(path).boundaries
    assert [turn.kind for turn in opening_after(open_session(path), boundary)][-1] == "summary"
    summary["info"] |= broken
    path.write_text(json.dumps(whole))
    session = open_session(path)
    assert session.boundaries == ()
    assert session.evidence["part: compaction"] == 1
    assert "summary" not in {turn.kind for turn in session.turns}


def database(path: Path) -> Path:
    """The fixture of opencode as a database, with a session of a subagent and an older session."""
    whole = json.loads((FIXTURES / "opencode.json").read_text())
    rows = [("ses_garden", None, 2), ("ses_valve", "ses_garden", 3), ("ses_old", None, 1)]
    info = whole["info"]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(
            "CREATE TABLE session (id, parent_id, directory, title, version, revert, time_created, time_updated)"
        )
        connection.execute("CREATE TABLE message (id, session_id, time_created, data)")
        connection.execute("CREATE TABLE part (id, message_id, session_id, data)")
        for id, parent, at in rows:
            connection.execute(
                "INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (id, parent, info["directory"], info["title"], info["version"], json.dumps(info["revert"]), at, at),
            )
        for number, message in enumerate(whole["messages"]):
            one, parts = message["info"] or {}, message["parts"]
            id = one.get("id", f"msg_9{number}")
            data = json.dumps({key: value for key, value in one.items() if key not in ("id", "sessionID")})
            connection.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (id, "ses_garden", number, data))
            for at, part in enumerate(parts):
                connection.execute(
                    "INSERT INTO part VALUES (?, ?, ?, ?)", (f"{id}{at:03}", id, "ses_garden", json.dumps(part))
                )
        said = {"role": "assistant", "time": {"created": 1_772_614_900_000}}
        connection.execute("INSERT INTO message VALUES ('msg_v', 'ses_valve', 0, ?)", (json.dumps(said),))
        part = {"type": "text", "text": "Valve 3."}
        connection.execute("INSERT INTO part VALUES ('p', 'msg_v', 'ses_valve', ?)", (json.dumps(part),))
    return path


def folders(root: Path) -> Path:
    """The fixture of opencode as the folders of JSON of older versions."""
    whole = json.loads((FIXTURES / "opencode.json").read_text())
    storage = root / "storage"
    path = storage / "session/p1/ses_garden.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(whole["info"]))
    for number, message in enumerate(whole["messages"]):
        id = (message["info"] or {}).get("id", f"msg_9{number}")
        (storage / "message/ses_garden").mkdir(parents=True, exist_ok=True)
        (storage / f"message/ses_garden/{id}.json").write_text(json.dumps(message["info"]))
        (storage / f"part/{id}").mkdir(parents=True)
        for at, part in enumerate(message["parts"]):
            (storage / f"part/{id}/prt_{at:03}.json").write_text(json.dumps(part))
    return path


def test_opencode_reads_a_database_as_it_reads_an_export(tmp_path: Path) -> None:
    path = database(tmp_path / "opencode.db")
    assert sessions_in(path) == ("ses_garden", "ses_old")
    session = open_session(path)
    assert told(session.main) == told(session_of("opencode").main)
    assert [(turn.agent, turn.text) for turn in session.turns if turn.agent] == [("ses_valve", "Valve 3.")]
    assert open_session(path, "ses_old").turns == ()
    with pytest.raises(InputError):
        open_session(path, "ses_none")
    assert {one.name for one in tmp_path.iterdir()} == {"opencode.db"}


def test_opencode_reads_folders_as_it_reads_an_export(tmp_path: Path) -> None:
    session = open_session(folders(tmp_path))
    assert told(session.main) == told(session_of("opencode").main)
    assert session.records == session_of("opencode").records


@pytest.mark.parametrize(
    ("words", "mark"),
    [
        ("Chat history compressed from 9,100 to 700 tokens.", Boundary("", 9_100, 700)),
        ("Context compressed from 52% to 8%.", Boundary("", 960)),
    ],
)
def test_gemini_cli_tells_a_compaction_of_which_only_its_words_tell(words: str, mark: Boundary, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (FIXTURES / "gemini_cli.jsonl").read_text().splitlines()[:6]]
    path = tmp_path / "session-1.jsonl"
    info = {"id": "i1", "type": "info", "content": words}
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, info]))
    assert the(gemini_cli.read(path), "boundary").boundary == mark


def test_gemini_cli_tells_results_that_went_from_a_compaction(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (FIXTURES / "gemini_cli.jsonl").read_text().splitlines()[:6]]
    messages = [lines[1], lines[2], json.loads(json.dumps(lines[5]))]
    messages[2]["toolCalls"][0]["result"] = [{"text": "[masked]"}]
    path = tmp_path / "session-1.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, {"$set": {"messages": messages}}]))
    session = gemini_cli.read(path)
    assert the(session, "boundary").boundary == Boundary("", 960, dropped=("c1",), whole=False)


def test_aider_takes_headings_of_an_answer_for_no_words_of_the_user(tmp_path: Path) -> None:
    lines = [
        "# aider chat started at 2026-09-10 10:00:00",
        "",
        "#### Build a hut.  ",
        "#### Of wood.  ",
        "",
        "The plan:",
        "",
    ]
    lines += ["#### Step 1", "", "Cut the wood.", "", "#### Always use oak", "", "#### Thanks.  ", "", "Gladly."]
    path = tmp_path / ".aider.chat.history.md"
    for end in ("\n", "\r\n"):
        path.write_bytes(end.join(lines).encode())
        said = [turn.text for turn in open_session(path).turns if turn.role == "user"]
        assert said == ["Build a hut.\nOf wood.", "Thanks."]


@pytest.mark.parametrize("key", LINES)
def test_long_texts_of_a_large_file_stay_in_it(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = session_of(key)
    monkeypatch.setattr(building, "LARGE", 0)
    monkeypatch.setattr(building, "KEPT_OF_LARGE", 5)
    cut = session_of(key)
    if key != "gemini-cli":  # whose messages are written again, so that it keeps them all
        assert any(turn.cut for turn in cut.turns)
    assert [cut.text(turn) for turn in cut.turns] == [turn.text for turn in whole.turns]


def test_gemini_cli_reads_its_older_form_and_a_checkpoint(tmp_path: Path) -> None:
    # the older form, one document; and a checkpoint, which is what the API takes
    lines = [json.loads(line) for line in (FIXTURES / "gemini_cli.jsonl").read_text().splitlines()[:-1]]
    messages = [line for line in lines if "type" in line]
    chats = tmp_path / "chats"
    chats.mkdir()
    (tmp_path / ".project_root").write_text("/home/ada/garden\n")
    (chats / "session-1.json").write_text(json.dumps({**lines[0], "messages": messages}))
    older = open_session(chats / "session-1.json")
    assert (older.id, older.project, older.records) == ("g-garden", "/home/ada/garden", len(messages))
    window = [
        {"role": "user", "parts": [{"text": ASKED}]},
        {"role": "model", "parts": [{"functionCall": {"name": "read_file", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "read_file", "response": {"error": "none"}}}]},
    ]
    (tmp_path / "checkpoint-a.json").write_text(json.dumps(window))
    assert [turn.kind for turn in open_session(tmp_path / "checkpoint-a.json").turns] == ["said", "call", "result"]


def test_copilot_cli_reads_its_older_form(tmp_path: Path) -> None:
    call = {"id": "c1", "function": {"name": "view", "arguments": '{"path":"a"}'}}
    older = {
        "sessionId": "h",
        "chatMessages": [
            {"role": "user", "content": ASKED},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "no such file"},
            7,
        ],
        "timeline": [{"type": "tool_call_completed"}],
    }
    (tmp_path / "h.json").write_text(json.dumps(older))
    session = open_session(tmp_path / "h.json")
    assert told(session.turns) == [("said", ASKED), ("call", 'view({"path":"a"})'), ("result", "no such file")]
    assert (session.records, len(session.unread)) == (5, 1)


def test_cline_tells_beside_its_messages_what_left_the_window(tmp_path: Path) -> None:
    # Cline keeps everything, and tells beside it what it leaves out of the window
    task = tmp_path / "17"
    task.mkdir()
    messages = [{"role": role, "content": f"{number}"} for number, role in enumerate(("user", "assistant") * 3)]
    (task / "api_conversation_history.json").write_text(json.dumps(messages))
    shown: list[dict[str, Any]] = [
        {"say": "text", "conversationHistoryIndex": 1},
        {"say": "text", "conversationHistoryIndex": 4, "conversationHistoryDeletedRange": [2, 3]},
        {"say": "text", "conversationHistoryIndex": 5, "conversationHistoryDeletedRange": [2, 3]},
    ]
    (task / "ui_messages.json").write_text(json.dumps(shown))
    session = open_session(task / "api_conversation_history.json")
    assert [turn.text for turn in session.turns] == ["0", "1", "2", "3", "4", "", "5"]
    assert the(session, "boundary").boundary == Boundary(preserved=("message 0", "message 1", "message 4"))
    # newer versions of it
    (tmp_path / "s1.json").write_text(json.dumps({"session_id": "s1", "cwd": "/home/ada/garden", "model": "m"}))
    (tmp_path / "s1.messages.json").write_text(json.dumps({"messages": messages}))
    session = open_session(tmp_path / "s1.messages.json")
    assert (session.id, session.project, session.model, len(session.turns)) == ("s1", "/home/ada/garden", "m", 6)


def test_aider_keeps_several_sessions_in_a_file() -> None:
    path = FIXTURES / FILES["aider"]
    assert sessions_in(path) == ("2026-03-04T09:00:00", "2026-03-03T08:00:00")
    assert [turn.text for turn in open_session(path, "2026-03-03T08:00:00").turns] == ["Hello", "Good morning."]


# --- damage ------------------------------------------------------------------------------------------------


def check(session: Session) -> None:
    """What holds of every session, whatever its file holds."""
    assert [turn.number for turn in session.turns] == [*range(1, len(session.turns) + 1)]
    assert len({turn.place.line for turn in session.turns}) == session.taken
    "".join([*session.evidence, session.title, session.project, session.model, session.id]).encode()
    for turn in session.turns:
        (turn.words + turn.id + turn.agent + turn.answers).encode()
        assert (turn.kind == "call") == (len(turn.calls) == 1)
        assert (turn.kind == "boundary") == (turn.boundary is not None)
    assert (session.started is None) == (session.ended is None)


def records_in(key: str, path: Path) -> int | None:
    """How many records a file has, counted without the reader; None where only the reader can tell."""
    raw = path.read_bytes() if path.is_file() else b""
    if key in LINES:
        return sum(1 for line in raw.split(b"\n") if line.strip())
    if key not in ("cline", "opencode", "atif", "vscode-chat"):
        return None
    value = json.loads(raw.decode("utf-8-sig", "replace"))
    if key == "cline":
        return len(value) if isinstance(value, list) else None
    if key == "atif":
        return steps_in(value)
    if key == "vscode-chat":
        return len(value["requests"]) if isinstance(value, dict) else None
    if not isinstance(value.get("messages"), list):
        return None
    messages = [one if isinstance(one, dict) else {} for one in value["messages"]]
    parts = [one["parts"] for one in messages if isinstance(one.get("parts"), list)]
    return len(messages) + sum(map(len, parts))


def steps_in(trajectory: dict[str, Any]) -> int:
    """The steps of a trajectory, and of those within it."""
    steps, inner = trajectory.get("steps"), trajectory.get("subagent_trajectories")
    return (len(steps) if isinstance(steps, list) else 0) + sum(
        steps_in(one) for one in (inner if isinstance(inner, list) else ()) if isinstance(one, dict)
    )


@pytest.mark.parametrize("key", KEYS)
@given(seed=st.integers(0, 2**32))
def test_no_damage_stops_a_reader_and_each_record_is_accounted_for(
    key: str, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    form = next(one for one in FORMATS if one.key == key)
    source = FIXTURES / FILES[key]
    path = tmp_path_factory.mktemp("damage", numbered=True) / source.name
    if source.is_dir():
        shutil.copytree(source, path)
        files = sorted(path.iterdir())
        hurt = files[seed % len(files)]
        hurt.write_bytes(mutated(hurt.read_bytes(), seed, whole=hurt.suffix == ".json"))
    else:
        path.write_bytes(mutated(source.read_bytes(), seed, whole=path.suffix == ".json"))
    form.recognises(path, first_records(path))
    try:
        session = form.read(path)
    except InputError:
        assert key not in LINES
        return
    check(session)
    counted = records_in(key, path)
    assert counted is None or counted == session.records


@given(seed=st.integers(0, 2**32))
def test_no_damage_to_a_database_stops_its_reader(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("database", numbered=True)
    path = database(folder / "opencode.db")
    raw = path.read_bytes()
    path.write_bytes(raw[:100] + mutated(raw[100:], seed))
    try:
        check(opencode.read(path))
    except InputError:
        return


@pytest.mark.parametrize("key", KEYS)
def test_what_is_not_there_or_empty_is_an_input_error_or_an_empty_session(key: str, tmp_path: Path) -> None:
    form = next(one for one in FORMATS if one.key == key)
    with pytest.raises(InputError):
        form.read(tmp_path / "none" / FILES[key])
    empty = tmp_path / f"empty{Path(FILES[key]).suffix}"
    empty.write_bytes(b"")
    if key in LINES:
        assert form.read(empty).records == 0
    else:
        with pytest.raises(InputError):
            form.read(empty)


# --- the page ----------------------------------------------------------------------------------------------


def test_the_page_of_formats_names_those_there_are_where_they_lie_and_when_they_were_verified() -> None:
    page = (Path(__file__).parents[3] / "docs/sessions-formats.md").read_text(encoding="utf-8")
    lines = [line.strip("|") for line in page.splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.split(" | ")] for line in lines]
    head, rule, *written = rows
    assert (len(head), {*rule}) == (7, {"---"})
    assert [row[:2] for row in written] == [[form.agent, f"`{form.key}`"] for form in FORMATS]
    places = [", ".join(f"`{place}`" for place in form.places) for form in FORMATS if form.places]
    assert [row[2] for row in written if row[2].startswith("`")] == places
    assert [row[3] for row in written] == [form.last_verified or "–" for form in FORMATS]
    assert all(len(row) == 7 and all(row) for row in written)

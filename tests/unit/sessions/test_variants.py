"""Session files as real programs vary them: encodings, versions, other programs with the same form."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from backports import zstd

from amgs.errors import InputError
from amgs.exchange.importers import parsing
from amgs.sessions.foreign_spans import single_calls
from amgs.sessions.lines import instant, parse_document
from amgs.sessions.opening import open_session, sessions_in
from amgs.sessions.spans import parse_otlp
from amgs.sessions.turn import Session, find_dropped_turns
from tests.unit.sessions.test_formats import FILES, FIXTURES, KEYS, session_of, written


def opened(path: Path, records: Sequence[Any]) -> Session:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return open_session(path)


def said(session: Session) -> list[tuple[str, str]]:
    return [(turn.kind, turn.words) for turn in session.turns]


def dropped(session: Session) -> list[list[int]]:
    return [[turn.number for turn in find_dropped_turns(session, one)] for one in session.boundaries]


# --- encodings and times ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-16-le"])
@pytest.mark.parametrize("key", [key for key in KEYS if FILES[key].endswith((".json", ".jsonl"))])
def test_a_file_in_another_encoding_of_unicode_is_read_as_it_was(key: str, encoding: str, tmp_path: Path) -> None:
    source = FIXTURES / FILES[key]
    path = tmp_path / source.name
    path.write_bytes(source.read_bytes().decode("utf-8", "replace").encode(encoding, "replace"))
    whole = written(session_of(key)).replace(source.parent.name, "")
    assert written(open_session(path)).replace(str(tmp_path), "").splitlines()[2:] == whole.splitlines()[2:]


def test_a_packed_file_of_which_nothing_can_be_unpacked_says_so(tmp_path: Path) -> None:
    path = tmp_path / "rollout-2026-09-12T08-00-00-a.jsonl.zst"
    path.write_bytes(zstd.compress((FIXTURES / "codex.jsonl").read_bytes())[:40])
    with pytest.raises(InputError, match="nothing of it can be unpacked"):
        open_session(path)


@pytest.mark.parametrize("pack", [zstd.compress, gzip.compress], ids=["zstd", "gzip"])
def test_of_a_file_of_several_frames_the_whole_ones_are_read_where_a_later_one_is_torn(
    pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    lines = (FIXTURES / "codex.jsonl").read_bytes().splitlines(keepends=True)
    (plain := tmp_path / "plain.jsonl").write_bytes(b"".join(lines[:6]))
    (torn := tmp_path / "torn.jsonl").write_bytes(pack(b"".join(lines[:6])) + pack(b"".join(lines[6:]))[:20])
    assert said(open_session(torn))[:2] == said(open_session(plain))[:2] != []


def test_a_frame_that_is_skipped_may_begin_a_packed_file(tmp_path: Path) -> None:
    content = (FIXTURES / "codex.jsonl").read_bytes()
    (plain := tmp_path / "plain.jsonl").write_bytes(content)
    (packed := tmp_path / "packed.jsonl").write_bytes(b"\x50\x2a\x4d\x18\x02\0\0\0ab" + zstd.compress(content))
    assert said(open_session(packed)) == said(open_session(plain)) != []


@pytest.mark.parametrize("content", [b"", b"\n\n", zstd.compress(b"")])
def test_a_file_without_content_is_empty(content: bytes, tmp_path: Path) -> None:
    (path := tmp_path / "rollout-a.jsonl").write_bytes(content)
    with pytest.raises(InputError, match="is empty"):
        open_session(path)


def test_an_export_of_goose_is_read_with_its_conversation(tmp_path: Path) -> None:
    spoken = [
        {"role": role, "created": 1_788_000_000, "content": [{"type": "text", "text": words}]}
        for role, words in (("user", "Count the buoys."), ("assistant", "14."))
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"id": "20260910_1", "working_dir": "/x", "conversation": spoken}, indent=2))
    session = open_session(path)
    assert (session.id, said(session)) == ("20260910_1", [("said", "Count the buoys."), ("said", "14.")])


LINES = [json.dumps({"role": role, "content": words}) for role, words in (("user", "a, ]"), ("assistant", "b"))]


@pytest.mark.parametrize(
    "written",
    [
        f'{{"sessionId": "s", "messages": [\n{LINES[0]},\n{LINES[1]},\n]\n}}\n',
        f'{{"sessionId": "s"\n,"messages": [\n {LINES[0]}\n,{LINES[1]}\n,]}}',
    ],
    ids=["a comma too much", "commas in front"],
)
def test_a_document_with_a_comma_behind_the_last_value_is_read(written: str, tmp_path: Path) -> None:
    path = tmp_path / "s.messages.json"
    path.write_text(written)
    assert said(open_session(path)) == [("said", "a, ]"), ("said", "b")]
    path.write_text(written[:-9])
    with pytest.raises(InputError, match="no whole JSON document"):
        open_session(path)


@pytest.mark.parametrize(("before", "behind"), [("", ",\n"), ("", ""), ("", "\r"), ("\x1e", "\n")])
def test_objects_one_behind_the_other_are_imported_as_a_list(before: str, behind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("".join(f"{before}{line}{behind}" for line in LINES), newline="")
    assert parsing.parse(path) == [json.loads(line) for line in LINES]


@pytest.mark.parametrize(
    "told",
    [
        1_788_000_000,
        1_788_000_000_000,
        1_788_000_000_000_000,
        1_788_000_000_000_000_000,
        "1788000000000",
        "1788000000.0",
        "2026-08-29T10:40:00.000000000Z",
        "2026-08-29 10:40:00 UTC",
        "2026-08-29T12:40:00+0200",
        "20260829T104000Z",
    ],
)
def test_an_instant_is_read_in_any_unit(told: Any) -> None:
    assert instant(told) == datetime(2026, 8, 29, 10, 40, tzinfo=UTC)
    assert isinstance(told, str) or parsing.instant(told) == instant(told)


@pytest.mark.parametrize("told", [float("inf"), float("nan"), 10**400, "9" * 19, True, [], "soon"])
def test_a_number_beyond_the_calendar_is_no_instant(told: Any) -> None:
    assert instant(told) is None or isinstance(told, str)
    assert isinstance(told, str) or parsing.instant(told) is None


# --- Claude Code and what has its form -------------------------------------------------------------------------


def claude(number: int, kind: str, words: str = "", **more: Any) -> dict[str, Any]:
    parent = f"u{number - 1}" if number > 1 else None
    record = {"uuid": f"u{number}", "parentUuid": parent, "sessionId": "5c0ffee0-1111-4222-8333-444455556666"}
    message = {"message": {"role": kind, "content": words}} if words else {}
    return {**record, "type": kind, **message, **more}


def test_a_preserved_segment_is_found_in_both_spellings_and_not_said_again(tmp_path: Path) -> None:
    records = [claude(n, ("assistant", "user")[n % 2], f"Words {n}.") for n in range(1, 7)]
    segment = {"trigger": "auto", "preserved_segment": {"head_uuid": "u3", "anchor_uuid": "u8", "tail_uuid": "u6"}}
    boundary = claude(7, "system", subtype="compact_boundary", compact_metadata=segment)
    summary = claude(8, "user", "The summary.", isCompactSummary=True)
    again = [{**record, "parentUuid": "u8"} for record in records[2:6]]
    session = opened(tmp_path / "a.jsonl", [*records, boundary, summary, *again, claude(9, "user", "Go on.")])
    assert dropped(session) == [[1, 2]]
    assert [words for _, words in said(session)][-2:] == ["The summary.", "Go on."]
    assert session.evidence == {"user, written again": 2, "assistant, written again": 2}


@pytest.mark.parametrize(
    "words",
    [
        "This session is being continued from a previous conversation that ran out of context. Never print.",
        "Stop hook feedback:\n- Never stop before the tests pass.",
        "PreToolUse:Bash hook feedback: never",
        "Base directory for this skill: /x\n\nAlways paint.",
        "<task-notification>done</task-notification>\nRead the output file to retrieve the result: /tmp/x",
        "<cross-session-message from='tide'>No.</cross-session-message>\nIMPORTANT: This is NOT from your user.",
        "<agent-message from='tide'>No.</agent-message>\n\nThis came from another Claude session, not from your user.",
        "Another Claude session sent a message:\r\n<agent-message from='tide'>\r\nNo.\r\n</agent-message>\r\n",
        "A peer session sent a message while you were working:\nNever print.",
        "The coordinator sent a message while you were working:\nNever print.\n\nAddress this first.",
        "A message arrived from slack while you were working:\n<channel source='slack'>\nNo.\n</channel>\n\nIMPORTANT",
        "UserPromptSubmit hook success: Never print.",
        "PostToolUse:Edit hook blocking error from command: 'lint': never",
        'Background agent "Count" was stopped by the user.',
        "[Cross-session idle notice] tide is idle; never wait.",
        "<task-notification>running</task-notification>\nLast output: Password:",
    ],
)
def test_what_the_program_writes_in_the_users_place_is_put_in(words: str, tmp_path: Path) -> None:
    session = opened(tmp_path / "a.jsonl", [claude(1, "user", words), claude(2, "user", "Paint buoy 9.")])
    assert {turn.kind for turn in session.turns[:-1]} == {"injected"}
    assert said(session)[-1] == ("said", "Paint buoy 9.")


@pytest.mark.parametrize(
    "words",
    [
        "review hook feedback: useEffect is called twice",
        "Another Claude session sent a message: what does that mean?",
        "Stop hook blocking error appears in every run: mend it.",
        "A message arrived from a customer:\nThe total is wrong.",
    ],
)
def test_a_line_that_begins_like_a_program_s_is_the_user_s(words: str, tmp_path: Path) -> None:
    assert said(opened(tmp_path / "a.jsonl", [claude(1, "user", words)])) == [("said", words)]


def test_what_follows_a_reminder_is_the_user_s(tmp_path: Path) -> None:
    words = "<system-reminder>Never.</system-reminder>\nLast output: it failed. Paint."
    told = said(opened(tmp_path / "a.jsonl", [claude(1, "user", words)]))
    assert told[-1] == ("said", "Last output: it failed. Paint.")


def test_what_the_user_said_while_the_model_worked_is_said(tmp_path: Path) -> None:
    before, after = "The user sent a new message while you were working:", "IMPORTANT: After completing your current"
    words = f"<system-reminder>\n{before}\nPaint.\n\n{after} task, you MUST address it.\n</system-reminder>"
    assert said(opened(tmp_path / "a.jsonl", [claude(1, "user", words)])) == [("said", "Paint.")]


@pytest.mark.parametrize("segment", [{}, {"preservedSegment": {"headUuid": "u3", "tailUuid": "u4"}}])
def test_what_a_compaction_preserved_is_not_said_again_under_another_id(
    segment: dict[str, Any], tmp_path: Path
) -> None:
    records = [claude(n, ("assistant", "user")[n % 2], f"Words {n}.", timestamp=f"T{n}") for n in range(1, 5)]
    boundary = claude(5, "system", subtype="compact_boundary", compactMetadata=segment, timestamp="T5")
    summary = claude(6, "user", "The summary.", isCompactSummary=True, timestamp="T6")
    again = [{**record, "uuid": f"again{n}", "parentUuid": "u6"} for n, record in enumerate(records[2:])]
    session = opened(tmp_path / "a.jsonl", [*records, boundary, summary, *again])
    assert (dropped(session), len(session.turns)) == ([[1, 2]], 6)


@pytest.mark.parametrize("at", ["T4", ""])
def test_after_a_compaction_other_words_of_the_same_time_are_no_repeat(at: str, tmp_path: Path) -> None:
    records = [
        claude(1, "user", "Plan.", timestamp=at),
        claude(2, "system", subtype="compact_boundary", timestamp="T5"),
    ]
    records += [claude(n, "user", words, timestamp=at) for n, words in ((3, "Caveat."), (4, "Paint."))]
    assert said(opened(tmp_path / "a.jsonl", records))[2:] == [("said", "Caveat."), ("said", "Paint.")]


def test_a_preserved_segment_may_begin_and_end_with_records_without_turns(tmp_path: Path) -> None:
    marks = {n: claude(n, "system", subtype="turn_duration") for n in (3, 6)}
    records = [marks.get(n) or claude(n, ("assistant", "user")[n % 2], f"Words {n}.") for n in range(1, 7)]
    segment = {"preservedSegment": {"headUuid": "u3", "tailUuid": "u6"}}
    boundary = claude(7, "system", subtype="compact_boundary", compactMetadata=segment)
    assert dropped(opened(tmp_path / "a.jsonl", [*records, boundary])) == [[1, 2]]


def test_a_rewind_before_a_compaction_without_a_parent_is_one(tmp_path: Path) -> None:
    records = [claude(1, "user", "Plan."), claude(2, "assistant", "Ok."), claude(3, "user", "Green.")]
    records += [claude(4, "assistant", "G."), claude(5, "user", "Blue.", parentUuid="u2"), claude(6, "assistant", "B.")]
    boundary = claude(7, "system", subtype="compact_boundary", parentUuid=None)
    session = opened(tmp_path / "a.jsonl", [*records, boundary, claude(8, "user", "Go on.")])
    assert [turn.number for turn in session.turns if turn.abandoned] == [3, 4]


def test_a_day_and_a_time_without_marks_are_no_seconds() -> None:
    assert {instant(told) for told in ("202401021230", "20240102123000")} == {None}


def test_a_task_of_a_program_of_clines_family_is_told_by_its_folder(tmp_path: Path) -> None:
    for folder, agent in (
        ("kilocode.kilo-code", "Kilo Code"),
        ("rooveterinaryinc.roo-cline", "Roo Code"),
        ("x", "Cline"),
        ("src/kilocode", "Cline"),
    ):
        path = tmp_path / folder / "tasks/1/api_conversation_history.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps([{"role": "user", "content": "<task>Count.</task>"}]))
        assert open_session(path).agent == agent


INIT = {"type": "system", "subtype": "init", "session_id": "s", "cwd": "/x", "model": "m"}
ANSWER = {"type": "assistant", "session_id": "s", "message": {"role": "assistant", "content": "14."}}


@pytest.mark.parametrize(
    ("agent", "records"),
    [
        ("Claude Code", [{**INIT, "tools": []}, ANSWER]),
        ("Cursor", [INIT, ANSWER]),
        ("Amp", [{**INIT, "tools": [], "session_id": "T-1"}, ANSWER]),
        ("Qwen Code", [{**INIT, "subtype": "session_start"}, ANSWER]),
        ("Claude Code", [{"type": "result", "session_id": "s", "result": "14."}]),
        ("Claude Code", [{**INIT, "model": "claude-opus-5"}, ANSWER]),
    ],
)
def test_headless_output_is_told_by_the_program_that_printed_it(
    agent: str, records: Sequence[Any], tmp_path: Path
) -> None:
    session = opened(tmp_path / "a.jsonl", records)
    assert (session.agent, said(session)) == (agent, [("said", "14.")])
    whole = tmp_path / "a.json"
    whole.write_text(json.dumps(records if len(records) > 1 else records[0], indent=2))
    assert said(open_session(whole)) == [("said", "14.")]


def test_headless_output_tells_its_summary_and_why_it_ended(tmp_path: Path) -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "session_id": "s", "compact_metadata": {}}
    words = "This session is being continued from a previous conversation. Half."
    summary = {"type": "user", "session_id": "s", "isSynthetic": True, "message": {"role": "user", "content": words}}
    ended = {"type": "result", "session_id": "s", "is_error": False, "errors": ["Too many turns."]}
    session = opened(tmp_path / "a.jsonl", [INIT, ANSWER, boundary, summary, ended])
    assert said(session)[1:] == [("boundary", ""), ("summary", words), ("injected", "Too many turns.")]


def test_cursor_prints_its_calls_with_their_results(tmp_path: Path) -> None:
    call: dict[str, Any] = {"type": "tool_call", "session_id": "s", "call_id": "c", "subtype": "started"}
    done = {"readToolCall": {"args": {"path": "a"}, "result": {"success": {"content": "111"}}}}
    session = opened(tmp_path / "a.jsonl", [INIT, call, {**call, "subtype": "completed", "tool_call": done}])
    assert said(session) == [("call", 'read({"path": "a"})'), ("result", "111")]


# --- Aider ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("It says:\n\n> A client MUST count.\n\nSo count.", ["It says:\n\n> A client MUST count.\n\nSo count."]),
        (
            "```python\n14\n\n> Tokens: 2k sent, 9 received.  \n\n#### Paint.  \n\nDone.",
            ["```python\n14", "Paint.", "Done."],
        ),
        ("14.\n\n#### !ls  \n\n#### /ask which?  \n####   \n#### 9?  ", ["14.", "!ls", "/ask which?\n\n9?"]),
        (SHOWN := "```\n# aider chat started at 2020-01-01\n\n#### Old.\n```\n\n14.", [SHOWN]),
    ],
    ids=["a quotation", "an open fence", "commands and questions", "a history in a fence"],
)
def test_aider_s_own_lines_are_those_with_its_two_blanks(lines: str, told: Sequence[str], tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    begun = "# aider chat started at 2026-09-10 10:00:00\n\n> Aider v0.86.1  \n\n#### Count.  \n\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        path.write_text(f"\n{begun}{lines}\n", encoding)
        session = open_session(path)
        assert sessions_in(path) == ("2026-09-10T10:00:00",)
        assert [turn.words for turn in session.turns] == ["Count.", *told]
        assert [turn.words for turn in session.turns if turn.kind == "injected"] == ["!ls"] * ("!ls" in told)


# --- opencode 2 -----------------------------------------------------------------------------------------------


def test_opencode_2_tells_errors_files_and_finished_compactions_alone(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    failed = {"status": "error", "content": [], "error": {"type": "unknown", "message": "No such buoy."}}
    rows: list[tuple[str, dict[str, Any]]] = [
        ("user", {"text": "Count.", "files": [{"name": "bay.png"}]}),
        ("assistant", {"content": [{"type": "tool", "id": "c", "name": "ls", "state": failed}]}),
        ("compaction", {"status": "failed", "reason": "auto"}),
        ("compaction", {"status": "running", "reason": "auto", "summary": "Ha"}),
        ("compaction", {"status": "completed", "reason": "auto", "summary": "Half."}),
    ]
    with closing(sqlite3.connect(path)) as made, made:
        made.execute(
            "CREATE TABLE session (id TEXT, parent_id TEXT, time_updated INTEGER)"
        )  # the name before version 2
        made.execute("CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT)")
        made.execute("CREATE TABLE part (id TEXT, message_id TEXT, data TEXT)")
        made.execute("CREATE TABLE session_message (id TEXT, session_id TEXT, type TEXT, seq INTEGER, data TEXT)")
        made.execute("INSERT INTO session VALUES ('s', NULL, 1)")
        for seq, (kind, data) in enumerate(rows):
            made.execute("INSERT INTO session_message VALUES (?, 's', ?, ?, ?)", (seq, kind, seq, json.dumps(data)))
    session = open_session(path)
    told = [("said", "Count."), ("injected", "[file bay.png]"), ("call", "ls({})"), ("result", "No such buoy.")]
    assert said(session) == [*told, ("boundary", ""), ("summary", "Half.")]
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(InputError, match="is damaged, or a part of it is missing"):
        open_session(path)


# --- spans of other frameworks and versions --------------------------------------------------------------------


ASKED, ANSWERED = [{"role": "user", "content": "Count."}], {"role": "assistant", "content": "14."}
CHAT = {"gen_ai.operation.name": "chat"}


def span(number: int, attributes: dict[str, Any], events: Sequence[tuple[str, dict[str, Any]]] = ()) -> dict[str, Any]:
    """A span as the console exporter of Python writes it."""
    return {
        "name": "call",
        "context": {"trace_id": "0x" + "a" * 32, "span_id": f"0x{number:016x}"},
        "parent_id": None,
        "start_time": f"2026-09-10T10:0{number}:00Z",
        "end_time": f"2026-09-10T10:0{number}:01Z",
        "attributes": attributes,
        "events": [{"name": name, "attributes": told} for name, told in events],
    }


@pytest.mark.parametrize(
    ("attributes", "events"),
    [
        (
            CHAT,
            [
                ("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps(ASKED)}),
                ("gen_ai.content.completion", {"gen_ai.completion": json.dumps([ANSWERED])}),
            ],
        ),
        (
            {
                "request_data": json.dumps({"messages": ASKED}),
                "response_data": json.dumps({"message": ANSWERED}),
                **CHAT,
            },
            [],
        ),
        (
            {
                "llm.request.type": "completion",
                "gen_ai.prompt.0.role": "user",
                "gen_ai.prompt.0.content": "Count.",
                "gen_ai.completion.0.role": "assistant",
                "gen_ai.completion.0.content": "14.",
            },
            [],
        ),
        (
            {
                "langfuse.observation.type": "generation",
                "langfuse.observation.input": json.dumps(ASKED),
                "langfuse.observation.output": json.dumps(ANSWERED),
                "langfuse.observation.usage_details": json.dumps({"input": 9, "output": 2}),
            },
            [],
        ),
        ({"pydantic_ai.all_messages": json.dumps([*ASKED, ANSWERED]), "gen_ai.operation.name": "invoke_agent"}, []),
        *(
            ({**told, "gen_ai.input.messages": ASKED, "gen_ai.output.messages": [ANSWERED]}, [])
            for told in ({"gen_ai.operation.name": "responses"}, {"gen_ai.operation.name": "invoke_agent"})
        ),
    ],
    ids=[
        "events of 1.27",
        "Logfire",
        "LiteLLM",
        "Langfuse",
        "pydantic-ai's agent",
        "OpenAI's responses",
        "an agent alone",
    ],
)
def test_a_span_tells_its_words_in_each_vocabulary(
    attributes: dict[str, Any], events: Sequence[tuple[str, dict[str, Any]]], tmp_path: Path
) -> None:
    session = opened(tmp_path / "a.jsonl", [span(1, attributes, events)])
    assert said(session) == [("said", "Count."), ("said", "14.")]
    usage = session.turns[1].usage
    assert (usage is not None and (usage.window, usage.output) == (9, 2)) == ("langfuse.observation.type" in attributes)


def test_calls_that_an_event_tells_as_json_are_found(tmp_path: Path) -> None:
    call = json.dumps([{"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}])
    events = [
        ("gen_ai.assistant.message", {"tool_calls": call}),
        ("gen_ai.tool.message", {"content": "111", "id": "c"}),
    ]
    session = opened(
        tmp_path / "a.jsonl", [span(1, CHAT, [*events, ("gen_ai.choice", {"message": json.dumps(ANSWERED)})])]
    )
    assert said(session) == [("call", "ls({})"), ("result", "111"), ("said", "14.")]


OTLP_SPAN = {
    "traceId": "a" * 32,
    "spanId": "b" * 16,
    "name": "chat",
    "startTimeUnixNano": "1787000000000000000",
    "endTimeUnixNano": "1787000001000000000",
    "attributes": [
        {"key": key, "value": {"stringValue": told}}
        for key, told in {
            **CHAT,
            "gen_ai.input.messages": json.dumps(ASKED),
            "gen_ai.output.messages": json.dumps([ANSWERED]),
        }.items()
    ],
}
GROUP = {"resource": {}, "scopeSpans": [{"scope": {"name": "a"}, "spans": [OTLP_SPAN]}]}
OBSERVATION = {"id": "o", "type": "GENERATION", "startTime": "2026-09-10T10:00:00Z", "input": ASKED, "output": ANSWERED}


@pytest.mark.parametrize(
    "document",
    [
        {"batches": [GROUP]},
        {"trace": {"resourceSpans": [GROUP]}},
        [GROUP],
        [OTLP_SPAN],
        {"id": "t", "sessionId": "s", "observations": [OBSERVATION]},
        {"trace": {"id": "t", "sessionId": "s"}, "observations": [OBSERVATION]},
    ],
    ids=["Tempo", "Tempo 2", "groups", "spans", "a trace of Langfuse", "Langfuse's screen"],
)
def test_spans_are_read_however_they_are_wrapped(document: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document, indent=1))
    session = open_session(path)
    assert (said(session), session.id) == (
        [("said", "Count."), ("said", "14.")],
        "s" if "observations" in document else "a" * 32,
    )


def test_a_call_that_two_libraries_tell_of_beside_each_other_is_one(tmp_path: Path) -> None:
    call = {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "name": "ls", "arguments": '{"a": 1}'}]}
    parts = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "ls", "arguments": {"a": 1}}]}
    system = {"gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Be terse."}])}
    groups = []
    for number, (answer, more) in enumerate(((call, {}), (parts, system))):
        told = {"gen_ai.input.messages": json.dumps(ASKED), "gen_ai.output.messages": json.dumps([answer]), **more}
        own = {
            "spanId": f"{number + 1:016x}",
            "startTimeUnixNano": str(1787000000000000000 + number),
            "endTimeUnixNano": str(1787000001000000000 + number),
            "attributes": [{"key": key, "value": {"stringValue": one}} for key, one in {**CHAT, **told}.items()],
        }
        groups.append({"scopeSpans": [{"scope": {"name": f"{number}"}, "spans": [OTLP_SPAN | own]}]})
    session = opened(tmp_path / "a.jsonl", [{"resourceSpans": groups}])
    assert [kind for kind, _ in said(session)] == ["said", "said", "call"]


def test_calls_of_two_models_at_the_same_time_are_two() -> None:
    told = {"gen_ai.input.messages": json.dumps(ASKED), "gen_ai.output.messages": json.dumps([ANSWERED])}
    groups = []
    for number, model in enumerate(("gpt-5", "openai/gpt-5-2025-08-07", "claude-sonnet")):
        said_by = {**CHAT, **told, "gen_ai.request.model": model}
        attributes = [{"key": key, "value": {"stringValue": one}} for key, one in said_by.items()]
        one_span = OTLP_SPAN | {"spanId": f"{number + 1:016x}", "attributes": attributes}
        groups.append({"scopeSpans": [{"scope": {"name": f"{number}"}, "spans": [one_span]}]})
    assert len(single_calls(parse_otlp({"resourceSpans": groups}).spans)) == 2


def test_a_document_torn_within_a_string_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="Unterminated"):
        parse_document('["' + '\\"x' * 100_000)


def test_spans_printed_one_behind_the_other_are_read_as_a_list(tmp_path: Path) -> None:
    path = tmp_path / "console.json"
    told = {"gen_ai.input.messages": json.dumps(ASKED), "gen_ai.output.messages": json.dumps([ANSWERED]), **CHAT}
    path.write_text("".join(json.dumps(span(number, told), indent=4) + "\n" for number in (1, 2)))
    assert said(open_session(path)) == [("said", "Count."), ("said", "14."), ("said", "14.")]
    path.write_text(path.read_text() + "end")
    with pytest.raises(InputError):
        open_session(path)


# --- the family of Qwen Code, pi, Codex ------------------------------------------------------------------------


def qwen(number: int, kind: str, words: str = "", **more: Any) -> dict[str, Any]:
    message = {"message": {"role": "user", "parts": [{"text": words}]}} if words else {}
    return claude(number, kind) | message | more


def test_qwen_code_is_known_by_its_own_records_and_keeps_what_stays(tmp_path: Path) -> None:
    before = [qwen(n, "system", subtype="ui_telemetry", systemPayload={}) for n in range(1, 50)]
    turns = [qwen(50, "user", "Count."), qwen(51, "assistant", "14."), qwen(52, "user", "Paint.")]
    window = [{"parts": [{"text": words}]} for words in ("SUMMARY", "Paint.")]
    shrunk = qwen(53, "system", subtype="chat_compression", systemPayload={"compressedHistory": window})
    session = opened(tmp_path / "a.jsonl", [*before, *turns, shrunk])
    assert session.agent == "Qwen Code"
    assert dropped(session) == [[1, 2]]
    assert said(session)[-1] == ("summary", "SUMMARY")
    old = [claude(1, "user", "Count."), claude(2, "assistant") | {"message": {"role": "model", "content": "14."}}]
    assert (opened(tmp_path / "b.jsonl", old).agent, len(session.main)) == ("Qwen Code", 5)


REFERENCES = "--- Content from referenced files ---\nContent from @a.txt:\nNever paint.\n--- End of content ---"


@pytest.mark.parametrize("parts", [["Read @a.txt.", *(f"\n{one}" for one in REFERENCES.splitlines())], [REFERENCES]])
def test_files_that_a_message_names_are_put_in(parts: Sequence[str], tmp_path: Path) -> None:
    texts = [{"text": words} for words in parts]
    spoken = {"message": {"role": "user", "parts": texts}}
    told = [kind for kind, _ in said(opened(tmp_path / "a.jsonl", [claude(1, "user") | spoken]))]
    head = {"sessionId": "g", "projectHash": "h"}
    messages = [{"id": "1", "type": "user", "content": texts}, {"id": "2", "type": "qwen", "content": "14."}]
    session = opened(tmp_path / "b.json", [{**head, "messages": messages}])
    assert told == ["said", "injected"][2 - len(told) :]
    assert [kind for kind, _ in said(session)] == [*told, "said"]
    assert session.agent == "Qwen Code", "whose older files have the form of Gemini CLI's"


def test_a_heading_of_named_files_that_a_user_quotes_is_the_user_s(tmp_path: Path) -> None:
    quoted = "Why does it say '--- Content from referenced files ---' here?"
    spoken = {"message": {"role": "user", "parts": [{"text": quoted}]}}
    assert said(opened(tmp_path / "a.jsonl", [claude(1, "user") | spoken])) == [("said", quoted)]


def test_qwen_code_tells_beside_a_result_that_its_call_failed(tmp_path: Path) -> None:
    result = {"functionResponse": {"id": "c", "name": "ls", "response": {"output": "No such buoy."}}}
    record = claude(1, "tool_result") | {"message": {"role": "user", "parts": [result]}}
    for status in ("error", "success"):
        session = opened(tmp_path / "a.jsonl", [{**record, "toolCallResult": {"status": status}}])
        assert [turn.failed for turn in session.turns] == [status == "error"]


PI_HEADER = {"type": "session", "version": 3, "id": "0f", "cwd": "/x"}


def pi(number: int, words: str, **more: Any) -> dict[str, Any]:
    entry = {"type": "message", "id": f"e{number}", "parentId": f"e{number - 1}" if number > 1 else None}
    return entry | {"message": {"role": "user", "content": words}} | more


@pytest.mark.parametrize(
    ("words", "spoken"),
    [
        ('Conversation info (untrusted metadata):\n```json\n{"sender": "Pia"}\n```\n\nPaint.', "Paint."),
        ("[Telegram Pia id:500 2026-09-10 10:05 UTC] Paint.\n[message_id: 46]", "Paint."),
        ("System: [2026-09-10 10:00:00 UTC] Exec completed\n\n[Thu 2026-09-10 12:00 GMT+2] Paint.", "Paint."),
        ('<skill name="tides" location="/x">\nNever sail.\n</skill>\n\nPaint.', "Paint."),
        ("Read HEARTBEAT.md if it exists. Follow it strictly.", None),
        ("A new session was started via /new or /reset. Greet the user.", None),
        *((one, one) for one in ("<user-story>I want a lamp.</user-story>", "[INFO 2026-09-10 10:00:01] No mast?")),
        *((one, one) for one in ("Why <command-name>/clear</command-name>?", "[cron: what is it?]")),
        ("[buoy 9] is painted, see [2026-09-10].", "[buoy 9] is painted, see [2026-09-10]."),
    ],
)
def test_what_openclaw_and_pi_write_around_a_message_is_put_in(words: str, spoken: str | None, tmp_path: Path) -> None:
    told = said(opened(tmp_path / "a.jsonl", [PI_HEADER, pi(1, words)]))
    assert [one for kind, one in told if kind == "said"] == ([] if spoken is None else [spoken])
    assert sorted(" ".join(one for _, one in told).split()) == sorted(words.split()), "nothing is lost"


def test_pi_keeps_no_earlier_summary_and_shows_files_that_were_named(tmp_path: Path) -> None:
    def shrunk(number: int) -> dict[str, Any]:
        return pi(number, "") | {"type": "compaction", "summary": "S", "firstKeptEntryId": "e1"}

    file = {"role": "fileMention", "files": [{"path": "a.txt", "content": "111"}]}
    session = opened(tmp_path / "a.jsonl", [PI_HEADER, pi(1, "a"), shrunk(2), pi(3, "", message=file), shrunk(4)])
    boundaries = [turn.boundary.preserved for turn in session.boundaries if turn.boundary]
    assert boundaries == [("e1",), ("e1", "e3")]
    assert ("injected", "a.txt\n111") in said(session)


def test_pi_counts_the_first_kept_entry_of_version_1(tmp_path: Path) -> None:
    header = {"type": "session", "id": "0f", "cwd": "/x"}
    messages = [{"type": "message", "message": {"role": "user", "content": words}} for words in "abc"]
    shrunk = {"type": "compaction", "summary": "S", "firstKeptEntryIndex": 2}
    session = opened(tmp_path / "a.jsonl", [{"type": "title", "title": "Buoys"}, header, *messages, shrunk])
    assert (session.title, dropped(session)) == ("Buoys", [[]])
    assert dropped(opened(tmp_path / "b.jsonl", [header, *messages, shrunk])) == [[1]]


@pytest.mark.parametrize("base", [{"end_ordinal_exclusive": 4}, {"end_byte_offset": 299}])
def test_a_subagent_of_codex_that_begins_in_another_file_is_read_from_its_beginning(
    base: dict[str, int], tmp_path: Path
) -> None:
    def words(*spoken: str) -> list[dict[str, Any]]:
        payloads = [{"type": "message", "role": "user", "content": [{"text": word}]} for word in spoken]
        return [{"type": "response_item", "payload": payload} for payload in payloads]

    above = [{"type": "session_meta", "payload": {"id": "a"}}, *words("Count.", "Paint.", "Sail.")]
    above[1:1] = [{"type": "event_msg", "payload": {"type": "user_message", "message": "Count."}}]
    opened(tmp_path / "rollout-a.jsonl", above)
    meta = {"id": "b", "thread_source": "subagent", "parent_thread_id": "a", "history_base": {"thread_id": "a", **base}}
    own = [{"type": "session_meta", "payload": meta}, *words("Scout.")]
    session = opened(tmp_path / "rollout-b.jsonl", own)
    assert [(turn.words, turn.copied) for turn in session.turns] == [
        ("Count.", True),
        ("Paint.", True),
        ("Scout.", False),
    ]
    assert (session.parent, session.relation, session.turns[-1].kind) == ("a", "subagent", "said")


def codex(*lines: tuple[str, Any]) -> list[dict[str, Any]]:
    """Lines of Codex: ("user", words), ("typed", words), ("assistant", words), ("task_started", id), other events."""
    records = [{"type": "session_meta", "payload": {"id": "a"}}]
    for kind, told in lines:
        payload: dict[str, Any] = {"type": kind, **(told if isinstance(told, dict) else {"turn_id": told})}
        if kind in ("user", "assistant"):
            parts = [told] if isinstance(told, str) else told
            payload = {"type": "message", "role": kind, "content": [{"type": "input_text", "text": t} for t in parts]}
        elif kind == "typed":
            item = {"type": "UserMessage", "content": [{"type": "text", "text": told}]}
            payload = {"type": "item_completed", "item": item}
        records.append({"type": "response_item" if kind in ("user", "assistant") else "event_msg", "payload": payload})
    return records


IDE = "# Context from my IDE setup:\n\n## Active file: a.py\n\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (f"{IDE}## My request:\nCount.", ["injected", "Count."]),
        (f"{IDE}## My request for Codex (VS Code):\r\nCount.", ["injected", "Count."]),
        (f"{IDE}## My request for Codex: Count.", ["injected", "Count."]),
        (IDE, ["injected"]),
        ("<environment_context>\n</environment_context>\n\nCount.", ["injected", "Count."]),
        (
            f"# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\n</INSTRUCTIONS>\n{IDE}## My request for me:\nCount.",
            ["injected", "Count."],
        ),
        ("# AGENTS.md instructions for C:\\x\n\n<INSTRUCTIONS>\nNever.\n</INSTRUCTIONS>", ["injected"]),
        ("The following is the Codex agent history added since your last approval assessment.", ["injected"]),
        ("Some words.\n\n## My request for me:\nCount.", ["Some words.\n\n## My request for me:\nCount."]),
        ("# Task:\nNever.\n\n# My request:\nCount.", ["# Task:\nNever.\n\n# My request:\nCount."]),
        ("# Files of the user:\n\n## My request for Codex:\nCount.", ["injected", "Count."]),
        (["Count ", "it."], ["Count \nit."]),
    ],
)
@pytest.mark.parametrize("typed", [True, False])
def test_codex_is_asked_by_what_the_user_wrote(
    words: str | list[str], told: list[str], typed: bool, tmp_path: Path
) -> None:
    also = [("typed", "".join(words))] if typed else []
    session = opened(tmp_path / "a.jsonl", codex(("user", words), *also, ("assistant", "14.")))
    assert [turn.text if turn.kind == "said" else turn.kind for turn in session.turns[:-1]] == told


def test_codex_tells_by_completed_items_what_the_user_wrote(tmp_path: Path) -> None:
    session = opened(tmp_path / "a.jsonl", codex(("user", "Count."), ("typed", "Count."), ("user", "Old summary.")))
    assert said(session) == [("said", "Count."), ("injected", "Old summary.")]


def test_what_was_put_in_for_a_turn_is_taken_back_with_it(tmp_path: Path) -> None:
    context = ("user", "<environment_context>\n</environment_context>")
    turns: list[tuple[str, Any]] = [("task_started", "t1"), context, ("user", "Plan."), ("assistant", "Ok.")]
    turns += [("user", "<user_shell_command>ls</user_shell_command>"), ("task_started", "t2"), context]
    turns += [("user", f"{IDE}## My request for Codex:\nPaint."), ("thread_rolled_back", {"num_turns": 1})]
    session = opened(tmp_path / "a.jsonl", codex(*turns, ("user", "Sail.")))
    assert [turn.number for turn in session.turns if turn.abandoned] == [5, 6, 7]
    session = opened(tmp_path / "b.jsonl", codex(*turns, ("thread_rolled_back", {"num_turns": 9})))
    assert [turn.number for turn in session.turns if turn.abandoned] == [2, 3, 4, 5, 6, 7]


def test_a_subagent_s_copy_may_leave_out_lines_of_its_parent(tmp_path: Path) -> None:
    above = codex(("task_started", "t1"), ("user", "Plan."), ("assistant", "Ok."), ("task_started", "t2"))
    above += codex(("user", "Paint."), ("tool_call", {}), ("assistant", "Green."))[1:]
    opened(tmp_path / "rollout-a.jsonl", above)
    meta = {"id": "b", "thread_source": "subagent", "parent_thread_id": "a"}
    own = codex(("task_started", "t3"), ("user", "Count."), ("task_started", "t4"), ("user", "Again."))[1:]
    copied = [above[4], above[5], above[7]]
    session = opened(tmp_path / "rollout-b.jsonl", [{"type": "session_meta", "payload": meta}, *copied, *own])
    assert [(turn.text, turn.copied) for turn in session.turns] == [
        ("Paint.", True),
        ("Green.", True),
        ("Count.", False),
        ("Again.", False),
    ]


def test_what_a_fork_says_in_its_parent_s_words_is_its_own(tmp_path: Path) -> None:
    above, own = codex(("user", "Plan."), ("assistant", "Ok."), ("user", "Go on.")), codex(("user", "Go on."))[1:]
    early, late = [{**line, "timestamp": "2026-01-01T00:00:00Z"} for line in above], "2026-01-03T00:00:00Z"
    opened(tmp_path / "rollout-a.jsonl", early)
    meta = {"id": "b", "forked_from_id": "a", "timestamp": "2026-01-02T00:00:00Z"}
    lines = [{"type": "session_meta", "payload": meta}, *early[1:3], {**own[0], "timestamp": late}]
    assert [turn.copied for turn in opened(tmp_path / "rollout-b.jsonl", lines).turns] == [True, True, False]


def test_a_fork_that_leaves_its_beginning_in_another_file_is_a_fork(tmp_path: Path) -> None:
    opened(tmp_path / "rollout-a.jsonl", codex(("user", "Plan."), ("assistant", "Ok.")))
    meta = {"id": "b", "forked_from_id": "a", "history_base": {"thread_id": "a", "end_ordinal_exclusive": 3}}
    session = opened(
        tmp_path / "rollout-b.jsonl", [{"type": "session_meta", "payload": meta}, *codex(("user", "Go."))[1:]]
    )
    assert (session.relation, session.parent, len(session.turns)) == ("fork", "a", 3)


def test_codex_prints_why_a_turn_failed(tmp_path: Path) -> None:
    records = [{"type": "thread.started"}, {"type": "turn.failed", "error": {"message": "The quota is used up."}}]
    assert said(opened(tmp_path / "a.jsonl", records)) == [("injected", "The quota is used up.")]


TOOL_USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "ls", "input": {}}]}


MESSAGE = {"kind": "MessageEvent", "source": "user", "llm_message": {"content": "Count."}}
GOOSE = {"role": "user", "content": [{"type": "text", "text": "Count."}]}
COPILOT = {"responderUsername": "GitHub Copilot", "requests": [{"message": {"text": "Count."}}]}


@pytest.mark.parametrize(
    ("agent", "document"),
    [
        ("OpenHands", [MESSAGE]),
        ("Goose", {"working_dir": "/x", "messages": [GOOSE]}),
        ("Copilot in VS Code", COPILOT),
        ("Codex", codex(("user", "Count."))),
        ("Claude Code", [claude(1, "user", "Count.")]),
    ],
)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
@pytest.mark.parametrize("indent", [None, 2])
def test_records_may_stand_in_one_document(
    agent: str, document: Any, name: str, indent: int | None, tmp_path: Path
) -> None:
    (path := tmp_path / name).write_text(json.dumps(document, indent=indent))
    session = open_session(path)
    assert (session.agent, said(session)) == (agent, [("said", "Count.")])


def test_cursor_is_asked_in_its_query_alone(tmp_path: Path) -> None:
    words = "[Image]\n<user_query>\nCount <b>it</b> in </user_query> once.\n</user_query>"
    words += "\n<system_reminder>Never.</system_reminder>"
    result = {"type": "tool_result", "tool_use_id": "c", "content": "14"}
    records = [{"role": "user", "message": {"content": [part]}} for part in ({"type": "text", "text": words}, result)]
    told = said(opened(tmp_path / "a.jsonl", records))
    assert [kind for kind, _ in told] == ["injected", "said", "result"]
    assert told[1][1] == "Count <b>it</b> in </user_query> once."


# --- whose file it is, where it is not read --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "record"),
    [
        ("Droid", {"type": "session_start", "id": "d", "cwd": "/x"}),
        ("Droid's headless output", {"type": "message", "role": "user", "text": "Count.", "session_id": "d"}),
        ("Droid", {"type": "message", "id": "d", "parentId": None, "message": TOOL_USE}),
        ("Amp", {"id": "T-1", "messages": [{"role": "user", "content": []}]}),
        ("Continue", {"sessionId": "c", "workspaceDirectory": "/x", "history": []}),
        ("Kiro's command line", {"conversation_id": "k", "history": []}),
        ("Kimi", {"type": "metadata", "protocol_version": "1.3"}),
        ("SWE-agent", {"trajectory": [], "info": {}}),
        ("Zed", {"messages": [], "updated_at": "2026", "version": "0.3.0"}),
        ("CodeBuddy", {"type": "message", "role": "user", "sessionId": "s", "parentId": None}),
        ("Gemini CLI's headless output", {"type": "init", "session_id": "g"}),
        ("Codex's headless output before version 0.44", {"id": "0", "msg": {"type": "task_started"}}),
        ("opencode's headless output", {"type": "text", "sessionID": "s", "part": {}}),
    ],
)
def test_a_file_that_is_not_read_names_its_program_by_what_is_in_it(
    program: str, record: dict[str, Any], tmp_path: Path
) -> None:
    following = {"type": "message", "id": "m", "parentId": None, "message": {"role": "user", "content": "Count."}}
    with pytest.raises(InputError, match=f"is of {program}, which is not read"):
        opened(tmp_path / "a.jsonl", [record, following] if program == "Droid" else [record])


@pytest.mark.parametrize(
    ("program", "tables"),
    [
        ("Crush", ("sessions", "messages", "files")),
        ("Hermes", ("sessions", "messages")),
        ("Zed", ("threads",)),
        ("Cursor's editor", ("ItemTable", "cursorDiskKV")),
        ("Cursor's command line", ("blobs", "meta")),
    ],
)
def test_a_database_that_is_not_read_names_its_program(program: str, tables: Sequence[str], tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as made, made:
        for table in tables:
            made.execute(f"CREATE TABLE {table} (id TEXT)")
    with pytest.raises(InputError, match=f"is of {program}, which is not read"):
        open_session(tmp_path / "a.db")

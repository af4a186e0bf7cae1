"""A session file becomes messages that are well formed, with who said what, and every record of it is counted."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amgs.conversation.messages import read_messages
from amgs.exchange.importers.files import read_files, records_of
from amgs.sessions.conversation import conversations_in, messages_of
from amgs.sessions.turn import Place, Turn, TurnKind
from amgs.settings import IngestSettings
from amgs.types.conversation import Role, ToolCall
from tests.engine.memory_world import NOW
from tests.engine.session_samples import CLAUDE_CODE, CODEX, write_lines
from tests.engine.test_importers import damaged


def test_who_said_what_is_told_and_nothing_is_put_into_the_users_mouth(tmp_path: Path) -> None:
    (found,) = conversations_in(write_lines(tmp_path / "s.jsonl", CLAUDE_CODE))
    said = [(one.message.role, one.message.speaker, one.message.text) for one in found.messages]
    assert said == [
        ("user", "", "Rename the dome module."),
        ("assistant", "", "I run the tests."),
        ("tool", "Tool Bash (failed)", "Exit code 1"),
        ("assistant", "Injected", "<system-reminder>Be brief.</system-reminder>"),
        ("assistant", "Summary by the model", "The module is called dome.py."),
        ("assistant", "", 'Read({"path": "dome.py"})'),
        ("assistant", "Tool", "of a call that nobody made"),
        ("user", "", "Stop. Who wrote it?"),
        ("assistant", "", "Ilse wrote it."),
    ]
    assert [call.name for one in found.messages for call in one.message.calls] == ["Bash"]
    assert found.messages[2].message.answers == "c1"


def test_every_record_and_every_turn_is_counted(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", CLAUDE_CODE)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"type": "user", "torn')
    (found,) = conversations_in(path)
    assert found.records == len(CLAUDE_CODE) + 1
    assert dict(found.other_records) == {"progress: hook_progress": 1, "torn: the file ends within it": 1}
    assert dict(found.other_turns) == {"thinking": 1, "compactions": 1, "of subagents": 1}
    assert found.turns - sum(count for _, count in found.other_turns) == 10  # two of them are one message
    assert dict(found.mended) == {"a call without a result": 1, "a result without its call": 1}
    assert found.notes == (
        "Records of Claude Code: 13; with turns: 11; without: 2 (progress: hook_progress 1, torn: the file ends within "
        "it 1).",
        "Turns: 13; in messages: 10; left out: 3 (thinking 1, compactions 1, of subagents 1). Messages: 9.",
        "Kept as text (a call without a result 1, a result without its call 1).",
    )


KINDS: tuple[tuple[TurnKind, Role], ...] = (
    ("said", "user"),
    ("said", "assistant"),
    ("call", "assistant"),
    ("result", "tool"),
    ("summary", "assistant"),
    ("injected", "user"),
)


@st.composite
def turns(draw: st.DrawFn) -> list[Turn]:
    """Turns in any order: calls without results, results without calls, ids that come again or are missing."""
    made: list[Turn] = []
    for number in range(1, draw(st.integers(1, 12)) + 1):
        kind, role = draw(st.sampled_from(KINDS))
        id = draw(st.sampled_from(["", "a", "b"]))
        made.append(
            Turn(
                number,
                role,
                kind,
                "" if kind == "call" else f"text {number}",
                Place(number),
                request=draw(st.sampled_from(["", "r1", "r2"])),
                calls=(ToolCall(id, draw(st.sampled_from(["", "look", "read"])), "{}"),) if kind == "call" else (),
                answers=id if kind == "result" else "",
            )
        )
    return made


@given(turns())
def test_whatever_a_file_holds_its_messages_are_a_conversation_and_nothing_is_lost(given: list[Turn]) -> None:
    messages, _ = messages_of(given)
    read = read_messages([one.message for one in messages], NOW)
    assert not read.notes and len(read.messages) == len(messages)
    told = "\n".join(one.message.text for one in messages)
    assert all(turn.text in told for turn in given)
    calls = sum(len(one.message.calls) for one in messages) + told.count("({})")
    assert calls == sum(turn.kind == "call" for turn in given)
    ids = [call.id for one in messages for call in one.message.calls]
    assert len(set(ids)) == len(ids)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_stands_in_a_session_file_each_record_is_taken_or_named(tmp_path: Path, data: st.DataObject) -> None:
    records = damaged(data.draw(st.sampled_from([CLAUDE_CODE, CODEX])), data)
    file = write_lines(tmp_path / "s.jsonl", records)
    documents = read_files([file])
    found = records_of(documents, IngestSettings())
    assert documents[0].session is not None and found.found["record"] == len(records)
    assert all(0 <= found.count_taken(kind) <= count for kind, count in found.found.items())
    for conversation in found.conversations:
        messages = [message for message, _ in conversation.messages]
        assert read_messages(messages, NOW).messages == tuple(messages)

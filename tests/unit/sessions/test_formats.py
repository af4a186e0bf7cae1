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
from amgs.sessions.formats import opencode
from amgs.sessions.opening import FORMATS, first_records, open_session, sessions_in
from amgs.sessions.turn import Session, Turn, find_dropped_turns
from tests.unit.sessions.mutations import mutated

FIXTURES = Path(__file__).parent / "fixtures"
CASES = sorted((FIXTURES / "cases").rglob("*.told"))
"""One behaviour each, named by its folder, beside all that is told of the file with the same name."""
FILES = {
    "claude-bodies": "claude_bodies",
    "otlp": "otlp.jsonl",
    "opencode2": "opencode2.db",
    "opencode": "opencode.json",
    "qwen-code": "qwen_code.jsonl",
    "iflow": "iflow.jsonl",
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
    words = "format id project branch version model window title system tools parent relation notes records unread"
    rows = [f"{name}: {value!r}" for name in words.split() if (value := getattr(session, name))]
    rows += [f"{count} {what}" for what, count in session.evidence.items()]
    for turn in session.turns:
        marks = [name for name in ("abandoned", "failed", "copied") if getattr(turn, name)]
        about = [turn.agent and f"agent {turn.agent}", turn.speaker and f"by {turn.speaker}", *marks]
        used = turn.usage and f"{turn.usage.fresh}+{turn.usage.written}+{turn.usage.cached}>{turn.usage.output}"
        told = [turn.role, turn.kind, *about, used or "", repr(turn.boundary) if turn.boundary else ""]
        rows.append(f"{turn.number} {' '.join(filter(None, told))} | {turn.words[:160]!r}")
    for boundary in session.boundaries:
        rows.append(
            f"{boundary.number} drops {', '.join(str(turn.number) for turn in find_dropped_turns(session, boundary))}"
        )
    return "".join(f"{row}\n" for row in rows).replace(str(FIXTURES), "FIXTURES")


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


@pytest.mark.parametrize("told", CASES, ids=[path.parts[len(FIXTURES.parts) + 1] for path in CASES])
def test_a_case_is_told_as_it_was(told: Path) -> None:
    assert written(open_session(told.with_suffix(""))) == told.read_text(encoding="utf-8")


def test_a_packed_file_is_read_as_it_was(tmp_path: Path) -> None:
    raw = (FIXTURES / "codex.jsonl").read_bytes()
    for name, packed in {"rollout-a.jsonl.zst": zstd.compress(raw), "rollout-b.jsonl.gz": gzip.compress(raw)}.items():
        (tmp_path / name).write_bytes(packed)
        assert told(open_session(tmp_path / name).turns) == told(session_of("codex").turns)


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


@pytest.mark.parametrize("key", LINES)
def test_long_texts_of_a_large_file_stay_in_it(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = session_of(key)
    monkeypatch.setattr(building, "LARGE", 0)
    monkeypatch.setattr(building, "KEPT_OF_LARGE", 5)
    cut = session_of(key)
    if key != "gemini-cli":  # whose messages are written again, so that it keeps them all
        assert any(turn.cut for turn in cut.turns)
    assert [cut.text(turn) for turn in cut.turns] == [turn.text for turn in whole.turns]


def test_aider_keeps_several_sessions_in_a_file() -> None:
    path = FIXTURES / FILES["aider"]
    assert sessions_in(path) == ("2026-03-04T09:00:00", "2026-03-03T08:00:00")
    assert [turn.text for turn in open_session(path, "2026-03-03T08:00:00").turns] == ["Hello", "Good morning."]


# --- damage ------------------------------------------------------------------------------------------------


def check(session: Session) -> None:
    """What holds of every session, whatever its file holds."""
    assert [turn.number for turn in session.turns] == [*range(1, len(session.turns) + 1)]
    assert len({turn.place.line for turn in session.turns}) == session.records_with_turns
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

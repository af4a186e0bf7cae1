"""`session` on the command line: what is told, what is refused, and that nothing is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amgs.wings.sessions.listing import list_sessions
from amgs.wings.sessions.review import facts_of, review
from amgs_app.render.canvas import Canvas
from amgs_app.render.catalogue import table_of
from amgs_app.render.sheet import to_lines
from amgs_app.views.sessions import figure as figures
from amgs_app.views.sessions.lists import list_found
from amgs_tui.__main__ import run
from tests.wings.sessions.claude_world import LISTING, ClaudeFile

STORE = "/home/ilse/orchard/store.py"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    file = ClaudeFile(tmp_path / ".claude/projects/orchard/orchard-1.jsonl")
    file.say("Mend the store. Never drop the harvest table of 4711 rows.")
    file.read(STORE)
    file.edit(STORE)
    file.compact("The work on the store went on.")
    file.read(STORE, LISTING)
    return file.save()


def told(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert run(["session", *words]) == code
    out, err = capsys.readouterr()
    return out + err


def test_without_a_file_what_lies_here_is_listed(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = told(capsys)
    assert "orchard-1" in listed and "Claude Code" in listed
    assert "orchard-1" not in told(capsys, "--agent", "codex")
    assert "No agent is called" in told(capsys, "--agent", "nobody", code=2)


def test_no_id_and_no_compaction_is_cut_at_80_columns_and_the_newest_is_last(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listing = list_sessions(tmp_path)
    row = replace(listing.sessions[0], project="/home/ilse/" + "o" * 60, compactions=12, what="W" * 90)
    many = [replace(row, id=f"019c9b73-{n:04}-aaaa-bbbb", what=f"work {n}") for n in range(3)]
    result = replace(listing, sessions=(row, *many), more=402)
    lines = [line.plain for line in to_lines(table_of(result), 80)]
    assert max(map(len, lines[:10])) <= 80
    names = [f"019c9b73-{n:04}" for n in (2, 1, 0)]
    for n, id in enumerate([*names, "orchard-1"]):
        assert f"  {id}" in lines[2 * n + 2] and "  12  " in lines[2 * n + 2]
    assert "4 of 406 sessions" in "".join(lines)
    drawn = list_found(result).draw(Canvas(80, 8), 0).render().plain.split("\n")
    assert all("019c9b73-000" in line and " 12 " in line for line in drawn[3:6])


@pytest.mark.parametrize(
    ("view", "says"),
    [
        ("overview", "needed again after a compaction"),
        ("turns", "Read /home/ilse/orchard/store.py"),
        ("window", "system prompt: not in this kind of file"),
        ("lost", "4711"),
        ("regret", "reopened"),
        ("cache", "came from the cache"),
        ("rules", "No command did what the user had forbidden"),
        ("outlook", "store.py"),
    ],
)
def test_each_view_tells_what_it_is_for(path: Path, capsys: pytest.CaptureFixture[str], view: str, says: str) -> None:
    assert says in told(capsys, str(path), "--view", view)


def test_the_first_page_says_what_went_wrong_above_what_there_was(capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, "sample").splitlines()
    assert lines[1].startswith("✗ rule of turn 1, dropped at 46, broken at 58: `make deploy`")
    assert run(["session", "sample", "--format", "csv"]) == 0
    parts = [line.partition(",")[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert list(dict.fromkeys(parts)) == [
        "broken rules",
        "compactions",
        "needed again",
        "errors",
        "filled the window",
        "largest results",
        "files",
        "longest waits",
        "requests",
        "a compaction now",
    ]


def test_a_session_without_a_compaction_has_the_same_first_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = ClaudeFile(tmp_path / "a.jsonl")
    file.say("Count the pears. Never use npm.")
    for _ in range(3):
        file.run("make pears", "pears.py:3: TypeError: pears is a list", failed=True)
    file.read(STORE)
    file.run("npm run count", "4711")
    out = told(capsys, str(file.save()))
    assert "✗ rule of turn 1, broken at 10: `npm run count` · failed 3 times: make pears" in out
    for words in ("of Read", "Read store.py", "never mended", "TypeError", "list prices of", "Never use npm"):
        assert words in out, words


def test_a_request_whose_price_is_unknown_is_told_in_tokens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = ClaudeFile(tmp_path / "a.jsonl")
    file.say("Mow.")
    file.answer("Mown.")
    file.records[-1]["message"]["model"] = "meadow-1"
    out = told(capsys, str(file.save()))
    assert "no price is known of meadow-1" in out and "$" not in out and "20.0k" in out


@pytest.mark.parametrize(
    ("tool", "given", "shown"),
    [
        ("Edit", {"file_path": "a.py", "old_string": "x = 1\ny", "new_string": "x = 2\ny"}, ["-x = 1", "+x = 2", " y"]),
        ("Write", {"file_path": "a.py", "content": "def a():\n    pass"}, ["+def a():", "+    pass"]),
        (
            "MultiEdit",
            {
                "file_path": "a.py",
                "edits": [{"old_string": "1", "new_string": "2"}, {"old_string": "3", "new_string": ""}],
            },
            ["-1", "+2", "-3"],
        ),
        ("replace_in_file", {"path": "a.py", "diff": "------- SEARCH\nx\n=======\nz\n+++++++ REPLACE"}, ["-x", "+z"]),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: a.py\n-x\n+z\n*** End Patch"}, ["-x", "+z"]),
        ("shell", {"command": ["apply_patch", "*** Begin Patch\n*** Add File: b.py\n+z\n*** End Patch"]}, ["+z"]),
    ],
)
def test_what_a_call_changes_is_shown_as_a_diff(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tool: str, given: dict[str, Any], shown: list[str]
) -> None:
    file = ClaudeFile(tmp_path / "a.jsonl")
    file.call(tool, "done", **given)
    lines = told(capsys, str(file.save()), "--view", "text", "--at", "1").splitlines()
    assert [line for line in lines if line in shown] == shown
    assert not any("old_string" in line or "{" in line for line in lines)


@pytest.mark.parametrize(
    ("words", "what", "kind"),
    [
        ("store.py", "/home/ilse/orchard/store.py", "path"),
        ("HARVEST  table", "Never drop the harvest table of 4711 rows", "constraint"),
        ("mend  THE store", "mend the store", "words"),
    ],
)
def test_what_became_of_words_is_told_however_they_are_given(
    path: Path, capsys: pytest.CaptureFixture[str], words: str, what: str, kind: str
) -> None:
    out = told(capsys, str(path), "--view", "why", "--find", words)
    assert what.lower() in out.lower() and kind in out


def test_numbers_of_turns_agree_wherever_they_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = ClaudeFile(tmp_path / "a.jsonl")
    file.say("Mow the meadow.")
    file.answer("It is mown.")
    file.add(type="assistant", isSidechain=True, agentId="a7", message={"role": "assistant", "content": "Mown."})
    session = file.open()
    facts = facts_of(session)
    assert facts.all_turns == len(session.turns) == 3
    assert "turns: 3, 1 of 1 subagent; of the main conversation: 2 said" in told(capsys, str(file.path))
    assert "3 of 3 turns, 1 of them of 1 subagent" in told(capsys, str(file.path), "--view", "turns")
    assert "3 turns" in figures._facts(facts)


def test_a_session_of_one_request_has_a_line_in_place_of_a_strip_and_is_not_said_to_be_0_percent_full(
    tmp_path: Path,
) -> None:
    file = ClaudeFile(tmp_path / "a.jsonl")
    file.window = 40
    file.say("Mow the meadow.")
    file.answer("It is mown.")
    drawn = figures.overview(review(file.open()), Canvas(100, 40)).plain
    assert "turn 2: 404 of 200,000 tokens" in drawn and "turn 2 to" not in drawn
    assert "filled the window" in drawn.split("\n")[6], "no room is kept for a strip"
    assert "404 tokens stand in the window, less than 1% of it" in drawn


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("nobody",), "No session here is called nobody"),
        (("missing.jsonl",), "does not exist"),
        (("orchard-1", "--view", "text", "--at", "999"), "There is no turn 999"),
        (("orchard-1", "--view", "lost", "--at", "1"), "is no compaction"),
        (("orchard-1", "--at", "1"), "means nothing with"),
        (("orchard-1", "--view", "why", "--find", "pears"), "No compaction dropped 'pears'"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(
    path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], says: str
) -> None:
    assert run(["session", *words]) != 0
    assert says in capsys.readouterr().err


def test_a_page_is_written_and_redacted_where_that_is_asked(path: Path, tmp_path: Path) -> None:
    for name, more in (("open.html", []), ("closed.html", ["--redact"])):
        assert run(["session", str(path), "--html", str(tmp_path / name), *more]) == 0
    assert "4711" in (tmp_path / "open.html").read_text()
    closed = (tmp_path / "closed.html").read_text()
    assert "4711" not in closed and "orchard" not in closed and "The window" in closed


def test_looking_at_a_session_writes_nothing(path: Path, tmp_path: Path) -> None:
    before = {one: one.stat().st_mtime_ns for one in tmp_path.rglob("*")}
    for view in ("overview", "regret", "lost"):
        assert run(["session", str(path), "--view", view]) == 0
    assert {one: one.stat().st_mtime_ns for one in tmp_path.rglob("*")} == before


def test_following_ends_after_its_seconds_and_tells_what_would_be_dropped(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["follow", str(path), "--until", "1"]) == 0
    assert "store.py" in capsys.readouterr().out


def test_words_are_found_in_all_sessions_that_lie_here(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["session", "--find", "harvest table"]) == 0
    out = capsys.readouterr().out
    assert "1 turn with 'harvest table'" in out and "orchard-1" in out
    assert run(["session", "--find", "bananas"]) == 0
    assert "0 turns" in capsys.readouterr().out


def test_a_question_of_a_test_may_ask_what_a_compaction_kept(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = tmp_path / "questions.yml"
    cases.write_text(
        f"- question: Is the work told?\n  session: {path}\n  must_contain: [the store went on]\n"
        f"- question: Is the rule kept?\n  session: {path}\n  must_contain: [harvest table of 4711 rows]\n"
    )
    store = ["--store", str(tmp_path / "m.duckdb"), "--model", "tiny"]
    assert run([*store, "ingest", "A note."]) == 0
    capsys.readouterr()
    assert run([*store, "test", str(cases)]) == 1
    out = capsys.readouterr().out
    assert "1 holds" in out and "is not in the session's last window" in out

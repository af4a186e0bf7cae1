"""`import` and `conversation add` as an operator types them: session files, several files, folders."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from amgs.api.exchange import ForeignImport
from amgs.types import Block
from amgs_app.session import Operator
from tests.engine.foreign_samples import CHATGPT
from tests.engine.session_samples import CLAUDE_CODE, CODEX, claude_line, write_lines
from tests.unit.typed_lines import do, opened


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Operator]:
    with opened(tmp_path / "s.duckdb", own=True) as session:
        yield session


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two sessions, an export of ChatGPT, and what is of no known format."""
    made = tmp_path / "logs"
    write_lines(made / "home" / "claude.jsonl", CLAUDE_CODE)
    write_lines(made / "rollout-1.jsonl", CODEX)
    (made / "conversations.json").write_text(json.dumps(CHATGPT), encoding="utf-8")
    (made / "settings.json").write_text('{"theme": "dark"}', encoding="utf-8")
    (made / "broken.json").write_text('{"theme": ', encoding="utf-8")
    (made / "notes.txt").write_text("A note.", encoding="utf-8")
    (made / "again").symlink_to(made)
    return made


def blocks(session: Operator) -> list[Block]:
    """Every block there is, by its text."""
    return sorted(session.engine.memory.find(""), key=lambda block: block.content)


def names(session: Operator) -> dict[str, int]:
    """The conversations that are held, with the number of their messages."""
    return {one.name: one.messages for one in do(session, "conversation", "list").conversations}


def counts(done: ForeignImport) -> dict[str, tuple[int, int]]:
    """(found, taken) by kind; what was left out is counted in full."""
    for one in done.records:
        assert one.found == one.taken + one.left_out
        assert one.left_out == sum(left.count for left in done.left_out if left.kind == one.kind)
    return {one.kind: (one.found, one.taken) for one in done.records}


def test_a_folder_is_imported_with_what_is_known_in_it_and_one_undo_takes_all_back(
    session: Operator, folder: Path
) -> None:
    tried = do(session, "import", str(folder), "--dry-run")
    assert (tried.operation, names(session)) == (None, {})
    done = do(session, "import", str(folder))
    assert done.format == "chatgpt, claude-code, codex"
    assert counts(done)["file"] == (7, 3) and counts(done)["conversation"] == (3, 3)
    left = {Path(one.path).name: one.reason for one in done.left_out if one.kind == "file"}
    assert left["notes.txt"] == left["settings.json"] == "it is of no known format"
    assert left["broken.json"].startswith("it cannot be imported: it is not whole JSON")
    assert left["again"] == "it is a link to a folder"
    assert names(session) == {"claude": 9, "rollout-1": 4, "Telescope": 4}
    assert tried.conversations == done.conversations
    assert session.engine.memory.verify().ok
    do(session, "undo", str(done.operation))
    assert names(session) == {} and not [b for b in blocks(session) if b.status != "archived"]


def test_a_session_that_went_on_is_continued_and_another_of_the_same_name_is_not(
    session: Operator, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "a" / "log.jsonl", CODEX)
    do(session, "import", str(path))
    more = {**CODEX[1], "payload": {**CODEX[1]["payload"], "content": [{"type": "input_text", "text": "Why?"}]}}
    write_lines(path, [*CODEX, more])
    assert do(session, "import", str(path)).conversations == ("log",)
    other = write_lines(tmp_path / "b" / "log.jsonl", [claude_line(1, "user", "Hello.")])
    assert do(session, "import", str(other)).conversations == ("log (2)",)
    assert names(session) == {"log": 5, "log (2)": 1}

"""The sample never goes where somebody keeps their own notes, whatever command is typed, and whatever is forgotten."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from amgs.clock import SystemClock
from amgs.memory import Memory
from amgs_app import cli
from amgs_app.calls.registry import standard

WRITING = [each for each in standard() if each.writes]
"""Every command that changes a store or the working context."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AMGS_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(sys, "stdin", _Terminal())
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


class _Terminal(io.TextIOWrapper):
    """A terminal at which nobody types anything."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO())

    def isatty(self) -> bool:
        return True


def run(*arguments: str) -> int:
    return cli.run(["--model", "tiny", *arguments])


def blocks_in(store: Path) -> int:
    with Memory.open(store, clock=SystemClock()) as memory:
        return sum(memory.counts().values())


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("mine") / "mine.duckdb"
    with Memory.open(store, clock=SystemClock()):
        pass
    return store


def test_a_command_without_its_argument_leaves_an_empty_store_empty(empty: Path) -> None:
    for command in WRITING:
        run("--store", str(empty), *command.words)
    assert blocks_in(empty) == 0


def test_a_forgotten_text_is_said_with_the_way_and_makes_no_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    for place in (["--store", str(tmp_path / "mine.duckdb")], []):
        assert run(*place, "ingest") == 2
        told = capsys.readouterr().err
        assert "nothing to ingest" in told
        assert 'ingest "a note"' in told and "ingest FOLDER" in told and "ingest -" in told
    assert not list(tmp_path.glob("mine.duckdb*")) and not list(home.glob("*.duckdb*"))


def test_the_sample_comes_where_it_is_asked_for_and_not_into_the_own_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    store = tmp_path / "sample.duckdb"
    assert run("--store", str(store), "ingest", "--sample") == 0
    assert blocks_in(store) > 600
    assert run("ingest", "a note") == 0
    capsys.readouterr()
    assert run("ingest", "--sample") == 2
    assert "--store sample.duckdb" in capsys.readouterr().err
    assert blocks_in(home / "memory.duckdb") == 1


@pytest.mark.parametrize(
    "command", [["import", "talk.json"], ["conversation", "add", "boat", "talk.json"]], ids=["import", "add"]
)
def test_what_comes_in_first_does_not_go_into_the_sample_s_store(
    command: list[str], tmp_path: Path, home: Path
) -> None:
    talk = '{"messages": [{"role": "user", "content": "My boat is called Heron."}]}'
    (tmp_path / "talk.json").write_text(talk)
    assert run(*command) == 0
    assert [path.name for path in home.glob("*.duckdb")] == ["memory.duckdb"]
    assert blocks_in(home / "memory.duckdb") == 1


def test_what_is_piped_in_is_one_text_also_where_it_looks_like_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes").mkdir()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"notes\n")))
    assert run("ingest", "-", "--speaker", "Ilse") == 0
    capsys.readouterr()
    assert run("inbox", "list", "--format", "json") == 0
    (block,) = json.loads(capsys.readouterr().out)["blocks"]
    assert block["content"] == "Ilse: notes"


@pytest.mark.parametrize(("piped", "code"), [(b"\xff\xfe", 3), (b"", 3)], ids=["other bytes", "nothing"])
def test_what_is_no_text_is_refused(piped: bytes, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(piped)))
    assert run("ingest", "-") == code

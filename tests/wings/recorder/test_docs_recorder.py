"""docs/recorder.md: its five commands watch its program, and a LangGraph program as it is."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from amgs_tui.__main__ import run
from tests.wings.recorder.listening import listening

PAGE = (Path(__file__).parents[3] / "docs" / "recorder.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    ((?:pip|amgs|OTEL|LANGSMITH)\S* .*)$", PAGE, flags=re.M)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AMGS_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def surroundings(line: str, address: str) -> dict[str, str]:
    """The environment that the variables before a command make, with the address of a test's recorder."""
    told = dict(word.split("=", 1) for word in shlex.split(line) if re.match(r"[A-Z_]+=", word))
    return {**os.environ, **{name: value.replace("http://127.0.0.1:4318", address) for name, value in told.items()}}


def told(capsys: pytest.CaptureFixture[str], line: str) -> str:
    assert run(shlex.split(line)[1:]) == 0
    return capsys.readouterr().out


def test_five_commands_watch_a_program_of_langgraph(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install, record, watched, listed, audited = COMMANDS[:5]
    assert install.startswith("pip") and record.startswith("amgs record")
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.S)
    (folder / "watched.py").write_text(program)
    with listening() as address:
        done = subprocess.run(
            [sys.executable, "watched.py"],
            env=surroundings(watched, address),
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.count("As far as I know") == 2
        assert "Where does Ilse live?" in told(capsys, listed)  # while it listens
    said = told(capsys, audited)
    assert "duplicate" in said and "food-2" in said
    assert "lay there" in told(capsys, "amgs recorded 4")

"""Starting the screen: the short way takes what it can read and leaves the rest to the command line, and nothing
heavy is imported before the first paint."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from amgs_app.cli import run
from amgs_app.session import Operator
from amgs_tui.__main__ import read_options

HEAVY = ("torch", "transformers", "duckdb", "numpy", "networkx", "sentence_transformers", "typer", "pydantic")


def test_global_options_in_both_spellings_are_read(tmp_path: Path) -> None:
    line = ["--store", "a.duckdb", "--model=tiny", "--seed", "7", "--now=2026-03-01", "--corpus", str(tmp_path)]
    assert read_options(line) == {
        "store": "a.duckdb",
        "model": "tiny",
        "seed": 7,
        "now": "2026-03-01",
        "corpus": tmp_path,
    }
    assert read_options([]) == {}


def test_the_screen_is_painted_before_any_engine_is_imported() -> None:
    code = f"""
import asyncio, sys
import amgs_tui.__main__
from amgs_tui.app import Workstation

async def paint():
    app = Workstation(lambda: None, store_name="s")
    app.begin = lambda: None
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert "1 Inbox" in app.export_screenshot().replace("&#160;", " ")
    print([name for name in {HEAVY!r} if name in sys.modules])

asyncio.run(paint())
"""
    here = Path(__file__).resolve().parents[2]
    path = os.pathsep.join(str(here / part) for part in ("core", "focus", "."))
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_demo_opens_the_sample_and_make_run_says_first_that_it_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Operator] = []

    class Seen:
        def open(self, open_session: Callable[[], Any], **options: Any) -> int:
            del options
            opened.append(open_session())
            return 0

        def serve(self, words: Sequence[str], port: int) -> int:
            raise AssertionError((words, port))

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr("amgs_app.command_line.front_ends.has_screen", lambda: True)
    assert run(["--model", "tiny", "demo"], Seen()) == 0
    assert opened[0].engine.corpus.is_sample and opened[0].engine.store_name == "observatory.duckdb"
    here = Path(__file__).resolve().parents[2]
    shown = subprocess.run(
        ["make", "--no-print-directory", "-n", "run"], cwd=here, capture_output=True, text=True, check=True
    )
    assert shown.stdout.startswith('echo "The sample: ')

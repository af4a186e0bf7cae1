"""A store that another process has open: a command waits for one that is quick, and joins one that stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import amgs
from amgs.errors import StoreLockedError

_HOLDS = (
    "import amgs, sys; m = amgs.open(sys.argv[1]); print('open', flush=True); sys.stdin.read(); m.close()"
)
"""A program of the user's own, which nobody can join."""


def start(store: Path, *words: str, **variables: str) -> subprocess.Popen[str]:
    """The program, on a store, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "amgs_tui", "--model", "tiny", "--store", str(store), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables},
    )


def finish(program: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Its exit code and what it wrote."""
    out, said = program.communicate(timeout=90)
    return program.returncode, out, said


@contextmanager
def held(store: Path) -> Iterator[subprocess.Popen[str]]:
    """A store that a program of the user's has open."""
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", _HOLDS, str(store)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as program:
        assert program.stdout is not None and program.stdout.readline() == "open\n"
        try:
            yield program
        finally:
            program.kill()


def texts(store: Path) -> set[str]:
    with amgs.open(store) as memory:
        return {block.content for block in memory.find("pier", 50)}


@pytest.mark.parametrize("many", [4, 8])
def test_commands_that_come_at_once_all_succeed(tmp_path: Path, many: int) -> None:
    store = tmp_path / "notes.duckdb"
    running = [start(store, "ingest", f"Ferry number {n} leaves from pier {n}.") for n in range(many)]
    assert [code for code, _, _ in map(finish, running)] == [0] * many
    assert texts(store) == {f"Ferry number {n} leaves from pier {n}." for n in range(many)}


def test_a_command_that_waits_says_so_and_goes_on_as_soon_as_the_store_is_let_go(tmp_path: Path) -> None:
    store = tmp_path / "notes.duckdb"
    with held(store) as holder:
        program = start(store, "ingest", "The pier is closed on Mondays.")
        assert program.stderr is not None and holder.stdin is not None
        said = program.stderr.readline()
        assert f"notes.duckdb is in use by process {holder.pid}: waiting up to 10 seconds" in said
        holder.stdin.close()
        assert finish(program)[0] == 0
    assert texts(store) == {"The pier is closed on Mondays."}


def test_the_wait_ends_as_the_setting_says_and_with_a_key(tmp_path: Path) -> None:
    store = tmp_path / "notes.duckdb"
    with held(store) as holder:
        code, _, said = finish(start(store, "status", AMGS_STORE__WAIT_SECONDS="0"))
        assert (code, said.count("\n")) == (4, 2) and f"process {holder.pid}" in said
        program = start(store, "status")
        assert program.stderr is not None and "waiting" in program.stderr.readline()
        program.send_signal(signal.SIGINT)
        assert (finish(program)[0], program.returncode) == (130, 130)
        with pytest.raises(StoreLockedError):
            amgs.open(store)

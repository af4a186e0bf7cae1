"""A store that another process has open: a command waits for one that is quick, and joins one that stays."""

from __future__ import annotations

import json
import os
import pty
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import amgs
from amgs.errors import StoreLockedError
from amgs_app.places.folders import holder_of, listen_beside, remove_left, socket_of

_HOLDS = "import amgs, sys; m = amgs.open(sys.argv[1]); print('open', flush=True); sys.stdin.read(); m.close()"
"""A program of the user's own, which nobody can join."""


def start(store: Path, *words: str, cwd: Path | None = None, **variables: str) -> subprocess.Popen[str]:
    """The program, on a store, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "amgs_tui", "--model", "tiny", "--store", str(store), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
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


def test_commands_that_come_at_once_all_succeed(tmp_path: Path) -> None:
    many = 8
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
        for words in (["status"], ["ingest", "The pier is closed."]):  # the latter tells its progress
            program = start(store, *words)
            assert program.stderr is not None and "waiting" in program.stderr.readline()
            program.send_signal(signal.SIGINT)
            assert finish(program)[0] == 130
        with pytest.raises(StoreLockedError):
            amgs.open(store, wait_seconds=0)
        threading.Timer(0.3, holder.kill).start()
        amgs.open(store).close()


# --- joining ------------------------------------------------------------------------------------------------


@contextmanager
def serving(store: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A process that stays and lets others in: `amgs serve` unless words say otherwise. It is killed on leaving."""
    program = start(store, *(words or ("serve", "--port", "0")))
    try:
        wait_for_socket(store, program)
        yield program
    finally:
        program.kill()
        program.communicate()


def wait_for_socket(store: Path, program: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 60
    while holder_of(store) != program.pid and time.monotonic() < end and program.poll() is None:
        threading.Event().wait(0.05)
    assert holder_of(store) == program.pid


def test_commands_work_through_a_server_that_has_the_store_open(tmp_path: Path) -> None:
    store, folder = tmp_path / "notes.duckdb", tmp_path / "harbour"
    folder.mkdir()
    (folder / "crane.md").write_text("# Crane\n\nThe crane on the pier lifts nine tonnes.\n", encoding="utf-8")
    with serving(store) as server:
        assert stat.S_IMODE(socket_of(store).stat().st_mode) == 0o600
        code, out, said = finish(start(store, "ingest", "The pier is lit until two."))
        assert (code, out) == (0, "1 new, 0 duplicates, 0 rejected\n")
        assert said.startswith(f"notes.duckdb is open in process {server.pid}: this goes through it")
        assert finish(start(store, "ingest", "harbour", cwd=tmp_path))[0] == 0
        (folder / "crane.md").write_text("# Crane\n\nThe crane on the pier lifts six tonnes.\n", encoding="utf-8")
        assert finish(start(store, "ingest", "harbour", "--sync", cwd=tmp_path))[0] == 0
        code, out, _ = finish(start(store, "--read-only", "search", "pier crane"))
        assert code == 0 and "six tonnes" in out
        code, _, said = finish(start(store, "--read-only", "ingest", "The pier is closed."))
        assert code in (4, 6) and "read" in said
        assert finish(start(store, "export", "all.json", cwd=tmp_path))[0] == 0
        assert (tmp_path / "all.json").is_file()
        code, _, said = finish(start(store, "--now", "2026-01-01", "status"))
        assert code == 2 and "another time than --now" in said
        server.send_signal(signal.SIGINT)
        server.wait(timeout=60)
    assert not socket_of(store).exists()
    assert "The pier is closed." not in texts(store)
    assert "The pier is lit until two." in texts(store)


def test_what_is_acknowledged_outlives_a_kill_and_the_socket_that_is_left_is_removed(tmp_path: Path) -> None:
    store = tmp_path / "notes.duckdb"
    with serving(store) as server:
        running = [start(store, "ingest", f"Ferry number {n} leaves from pier {n}.") for n in range(6)]
        assert running[0].wait(timeout=60) == 0
        server.kill()
        server.wait()
        codes = [finish(program)[0] for program in running]
    done = {f"Ferry number {n} leaves from pier {n}." for n, code in enumerate(codes) if code == 0}
    assert {0, *codes} <= {0, 6}  # the service ended before it answered, else the command took the store itself
    assert finish(start(store, "ingest", "The next ferry has the pier."))[0] == 0
    assert not socket_of(store).exists()
    assert done < texts(store)


def ask(program: subprocess.Popen[str], number: int, method: str, **given: object) -> dict[str, Any]:
    """Ask a process that speaks MCP."""
    assert program.stdin is not None and program.stdout is not None
    sent = {"jsonrpc": "2.0", "id": number, "method": method, "params": given}
    program.stdin.write(json.dumps(sent) + "\n")
    program.stdin.flush()
    answer: dict[str, Any] = json.loads(program.stdout.readline())
    assert answer["id"] == number
    return answer["result"]  # type: ignore[no-any-return]


def test_two_that_speak_mcp_have_one_memory_and_the_second_outlives_the_first(tmp_path: Path) -> None:
    store = tmp_path / "notes.duckdb"
    hello = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    with serving(store, "mcp") as first:
        second = start(store, "mcp")
        try:
            for program in (first, second):
                assert "tools" in ask(program, 0, "initialize", **hello)["capabilities"]
            names = [{tool["name"] for tool in ask(each, 1, "tools/list")["tools"]} for each in (first, second)]
            assert names[0] == names[1] and "ingest" in names[0]
            for number, program in enumerate((first, second)):
                text = f"Pier {number} has a crane."
                assert not ask(program, 2, "tools/call", name="ingest", arguments={"text": text})["isError"]
            first.kill()
            first.wait()
            after = {"text": "Pier 2 has none."}
            assert not ask(second, 3, "tools/call", name="ingest", arguments=after)["isError"]
            assert holder_of(store) == second.pid
            assert second.stdin is not None
            second.stdin.close()
            assert second.wait(timeout=60) == 0
        finally:
            second.kill()
            for stream in (second.stdout, second.stderr):
                if stream is not None:
                    stream.close()
            second.wait()
    assert texts(store) == {"Pier 0 has a crane.", "Pier 1 has a crane.", "Pier 2 has none."}


@contextmanager
def screen(store: Path, home: Path) -> Iterator[tuple[subprocess.Popen[bytes], Callable[[str], bytes]]]:
    """The workstation in a terminal, and what waits until a text is drawn there."""
    ours, its = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, "-m", "amgs_tui", "--model", "tiny", "--store", str(store)],
        stdin=its,
        stdout=its,
        stderr=its,
        env={**os.environ, "TERM": "xterm-256color", "XDG_STATE_HOME": str(home)},
        start_new_session=True,
    )
    os.close(its)
    seen = b""

    def drawn(text: str) -> bytes:
        nonlocal seen
        while text.encode() not in seen:
            seen += os.read(ours, 65536)
        return seen

    try:
        yield program, drawn
    finally:
        program.kill()
        program.wait()
        os.close(ours)


def test_commands_and_a_second_workstation_work_beside_a_workstation(tmp_path: Path) -> None:
    store = tmp_path / "notes.duckdb"
    with amgs.open(store) as memory:
        memory.add("The tide at the pier turns at seven.")
    with screen(store, tmp_path) as (program, drawn):
        drawn("tide")
        code, _, said = finish(start(store, "ingest", "A heron sat on the pier."))
        assert code == 0 and f"process {program.pid}" in said
        drawn("heron")  # it is seen there without a key
        with screen(store, tmp_path / "other") as (_, also):
            also("heron")
            assert finish(start(store, "status"))[0] == 0
    assert "A heron sat on the pier." in texts(store)


def test_a_store_with_a_long_path_has_its_socket_in_a_folder_of_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = tmp_path / ("deep" * 20)
    folder.mkdir()
    store = folder / "notes.duckdb"
    store.touch()
    link = tmp_path / "link.duckdb"
    link.symlink_to(store)
    path = socket_of(store)
    assert path.parent.parent == tmp_path and path == socket_of(link)
    listening = listen_beside(store)
    assert listening is not None
    assert holder_of(store) == os.getpid()
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    remove_left(store)
    assert path.exists()
    listening.close()
    assert holder_of(store) is None
    remove_left(store)
    assert not path.exists()
    path.parent.chmod(0o755)
    assert listen_beside(store) is None

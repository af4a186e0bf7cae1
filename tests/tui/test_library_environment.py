"""What libraries read as they are loaded is set in the process of every door, before torch can be loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

pty = pytest.importorskip("pty")

_HOOK = """
import os, sys
class Look:
    def find_spec(name, path=None, target=None):
        if name in ("amgs_app.engine", "torch"):
            with open(os.environ["SEEN"], "w") as seen:
                seen.write(os.environ.get("GOMP_SPINCOUNT", "unset"))
            os._exit(0)
sys.meta_path.insert(0, Look)
"""
"""What a process sees as it looks for what leads to torch, or for torch itself; there it ends."""

_PROGRAM = ("-m", "amgs_tui", "--model", "tiny", "--store", "s.duckdb")
_DOORS: dict[str, Sequence[str]] = {
    "screen": _PROGRAM,
    "serve": (*_PROGRAM, "serve", "--port", "0"),
    "mcp": (*_PROGRAM, "mcp"),
    "gateway": (*_PROGRAM, "gateway", "--upstream", "own", "--port", "0"),
    "shell": (*_PROGRAM, "shell"),
    "one command": (*_PROGRAM, "status"),
    "memory as a library": ("-c", "from amgs.text.encoder_process import LibraryEncoder as E; E('x', 'auto')"),
    "spaCy by the library": ("-c", "from amgs.text.entities import SpacyRecogniser as R; R().load()"),
    "focus as a library": ("-c", "import amgs_focus; amgs_focus.FocusRuntime"),
}


@pytest.mark.parametrize("given", [None, "7"])
@pytest.mark.parametrize("door", _DOORS)
def test_the_threads_of_torch_wait_quietly_behind_every_door_unless_told_otherwise(
    tmp_path: Path, door: str, given: str | None
) -> None:
    (tmp_path / "sitecustomize.py").write_text(_HOOK, encoding="utf-8")
    seen = tmp_path / "seen"
    environment = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}
    environment |= {} if given is None else {"GOMP_SPINCOUNT": given}
    environment |= {"SEEN": str(seen), "TERM": "xterm-256color"}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *sys.path])
    ours, its = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, *_DOORS[door]],
        stdin=its,
        stdout=its,
        stderr=its,
        cwd=tmp_path,
        env=environment,
        start_new_session=True,
    )
    os.close(its)
    try:
        assert program.wait(timeout=60) == 0
    finally:
        program.kill()
        program.wait()
        os.close(ours)
    assert seen.read_text(encoding="utf-8") == (given or "1000")

"""Completion in a shell: the script that bash gets completes there, and zsh and fish are answered."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from amgs_app.cli import run

TRIED = r"""
eval "$(_AMGS_COMPLETE=source_bash amgs)"
complete -p amgs
function_of=$(complete -p amgs); function_of=${function_of#*-F }; function_of=${function_of%% *}
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); $function_of amgs; echo "${COMPREPLY[*]}"; }
try amgs decay f
try amgs show fr
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_the_script_for_bash_completes_in_a_bash(tmp_path: Path) -> None:
    command = tmp_path / "amgs"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m amgs_tui "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    surroundings = {
        **os.environ,
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "HOME": str(tmp_path),
    }
    done = subprocess.run(["bash", "--norc", "-c", TRIED], capture_output=True, text=True, env=surroundings, check=True)
    registered, forecasts, panes = done.stdout.splitlines()
    assert "-F" in registered and registered.endswith(" amgs")
    assert (forecasts.split(), panes) == (["forecast"], "frame")


@pytest.mark.parametrize(
    ("shell", "typed", "how", "offered"),
    [
        ("zsh", "amgs decay c", {}, "curve"),
        ("fish", "amgs decay c", {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}, "curve"),
        ("zsh", "amgs frame define P bud", {}, '"budget_strategy="'),
        ("zsh", "amgs tune TASK method=g", {}, '"method=grid"'),
        ("zsh", "amgs settings memory.decay.th", {}, '"memory.decay.threshold="'),
    ],
)
def test_other_shells_are_answered_in_their_own_way_and_offered_keys_and_their_values(
    shell: str,
    typed: str,
    how: dict[str, str],
    offered: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = {"_AMGS_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": typed, **how}
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match="0"):
        run([])
    told = capsys.readouterr().out
    assert offered in told
    assert "forecast" not in told

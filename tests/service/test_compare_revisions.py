"""The script of the GitHub Action: a file of questions asked of what two revisions make."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "compare_revisions.sh"
BUILD = 'amgs --store "$MEMORY_STORE" run make.amgs'


def git(folder: Path, *words: str) -> None:
    own = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of two revisions: the second replaces the note that answers the question."""
    folder = tmp_path / "repository"
    (folder / "notes").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "notes" / "valve.md").write_text("# Valve\n\nThe boiler valve QX-7741-B was replaced in March.\n")
    (folder / "notes" / "goat.md").write_text("# Goat\n\nA goat stood on the terrace.\n")
    (folder / "questions.yml").write_text(
        "- question: Which valve was replaced?\n  must_contain: QX-7741-B\n"
        "- question: Who stood on the terrace?\n  must_contain: goat\n"
    )
    (folder / "make.amgs").write_text("ingest ./notes\nconsolidate\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    (folder / "notes" / "valve.md").write_text("# Valve\n\nThe boiler valve was replaced, nobody knows by which.\n")
    return folder


def test_the_difference_between_two_revisions_is_reported(repository: Path, tmp_path: Path) -> None:
    command = tmp_path / "bin" / "amgs"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m amgs_tui --model tiny "$@"\n')
    command.chmod(0o755)
    out = tmp_path / "out"
    given = {
        **os.environ,
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(str(ROOT / part) for part in ("core", "focus", "")),
        "HOME": str(tmp_path),
        "MEMORY_BASE": "main",
        "MEMORY_BUILD": BUILD,
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }
    done = subprocess.run(
        ["bash", str(SCRIPT), str(out)], cwd=repository, env=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = (out / "report.md").read_text()
    assert "1 holds, 1 fails; 1 same, 1 differs" in report and "`Which valve was replaced?`: holds" in report
    assert (tmp_path / "summary").read_text() == report
    assert (tmp_path / "output").read_text() == "failed=true\n"
    assert not (out / "base").exists()


def test_the_action_calls_the_script_and_puts_no_input_into_a_command() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    steps = action["runs"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    assert any("scripts/compare_revisions.sh" in one for one in commands) and SCRIPT.exists()
    # What a pull request names must come as a variable: pasted into a command it could run.
    assert not [one for one in commands if "${{" in one]
    assert all(step.get("shell") == "bash" for step in steps if "run" in step)

"""The commit that a checkpoint names is that of the program, and none where no repository holds the program."""

from __future__ import annotations

import subprocess
from pathlib import Path

from benchmarks.focus_training.model_card import UNKNOWN, commit


def git(folder: Path, *words: str) -> str:
    mine = ("-c", "user.name=n", "-c", "user.email=n@example.org")
    done = subprocess.run(["git", *mine, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_the_commit_is_that_of_the_repository_that_holds_the_program(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    assert commit(package) == UNKNOWN
    git(tmp_path, "init", "-q")
    assert commit(package) == UNKNOWN  # in a repository that does not hold it
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    assert commit(package) == git(tmp_path, "rev-parse", "HEAD")
    (package / "__init__.py").write_text("changed = True", encoding="utf-8")
    assert commit(package).endswith("-dirty")

"""The commit that a checkpoint names is that of the program, and none where no repository holds the program."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from amgs_focus.lens.lensnet import LensShape
from amgs_focus.training.lens_runs import LensText
from amgs_focus.training.lensnet import LensTraining
from amgs_focus.training.provenance import UNKNOWN, card_section, commit, of_lens


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


def test_the_hash_of_a_text_changes_with_a_token_and_stands_on_the_card() -> None:
    def digests(*texts: LensText) -> dict[str, str]:
        made = of_lens(LensTraining(LensShape(16), seed=5), texts)
        assert made["seed"] == "5" and json.loads(made["configuration"])["shape"]["width"] == 16
        found: dict[str, str] = json.loads(made["texts"])
        assert all(digest in "\n".join(card_section(made)) for digest in found.values())
        return found

    first = digests(LensText("a", "lib", (1, 2)), LensText("b", "lib", (3,)), LensText("c", "novel", (4,)))
    other = digests(LensText("a", "lib", (1, 2)), LensText("b", "lib", (5,)), LensText("c", "novel", (4,)))
    assert set(first) == {"lib", "novel"}
    assert first["lib"] != other["lib"] and first["novel"] == other["novel"]

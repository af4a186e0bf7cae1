"""A release is cut from a clean tree, with the notes of its section, and takes nothing along where it fails."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DAY = "2026-03-01"


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    who = {f"GIT_{one}_{two}": "t@example.org" for one in ("AUTHOR", "COMMITTER") for two in ("NAME", "EMAIL")}
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, env={**os.environ, **who})


def release(folder: Path, version: str) -> subprocess.CompletedProcess[str]:
    return run(folder, sys.executable, str(ROOT / "scripts" / "release.py"), version, "--day", DAY)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with what a release touches and what the wheel and its man page are made of, and little else."""
    folder = tmp_path_factory.mktemp("release") / "checkout"
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    for name in {*wheel["packages"], *wheel["force-include"]} - {"core/amgs_app", "core/amgs"}:
        if (ROOT / name).is_dir():
            (folder / name).mkdir(parents=True)
            (folder / name / "one.txt").write_text("one")
    for name in ("core/amgs_app", "core/amgs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "scripts/wheel_manual.py", "scripts/manual.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    (folder / ".gitignore").write_text("dist/\nbuild/\n__pycache__/\n")
    (folder / "CHANGELOG.md").write_text(
        "# Changelog\n\n## 9.8.0 (unreleased)\nNew.\n\n- One thing.\n\n## 9.7.0 (2026-01-01)\n- Another.\n"
    )
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Begin"]):
        assert run(folder, "git", *words).returncode == 0
    return folder


def test_a_release_has_its_version_its_notes_its_wheel_and_its_tag(small: Path) -> None:
    folder = small.with_name("cut")
    assert run(small, "git", "clone", "-q", ".", str(folder)).returncode == 0
    done = release(folder, "9.8.0")
    assert done.returncode == 0, done.stderr
    assert "git push origin HEAD v9.8.0" in done.stdout and "nothing was pushed" in done.stdout
    assert "benchmarks figures --data DIR" in done.stdout.split("git push")[0], "before anything is public"
    assert run(folder, "git", "status", "--porcelain").stdout == ""
    notes = run(folder, "git", "tag", "-l", "--format=%(contents)", "v9.8.0").stdout
    assert notes.strip() == "AMGS workstation 9.8.0\n\nNew.\n\n- One thing."
    assert (folder / "dist" / "notes-9.8.0.md").read_text().strip() == notes.strip()
    assert f"## 9.8.0 ({DAY})" in (folder / "CHANGELOG.md").read_text()
    with zipfile.ZipFile(folder / "dist" / "amgs_workstation-9.8.0-py3-none-any.whl") as archive:
        told = archive.read("amgs_workstation-9.8.0.dist-info/METADATA").decode()
        assert "\nVersion: 9.8.0\n" in told
        assert '__version__ = "9.8.0"' in archive.read("amgs_app/__init__.py").decode()
        assert '"amgs 9.8.0"' in archive.read("amgs_app/_data/amgs.1").decode().splitlines()[0]
    assert run(small, "git", "tag").stdout == "", "nothing was pushed"
    again = release(folder, "9.8.0")
    assert again.returncode == 1 and "tag v9.8.0 already" in again.stderr


def test_a_tree_that_is_not_clean_is_refused_and_a_wheel_that_fails_leaves_it_as_it_was(small: Path) -> None:
    folder = small.with_name("broken")
    assert run(small, "git", "clone", "-q", ".", str(folder)).returncode == 0
    (folder / "new.txt").write_text("not committed")
    refused = release(folder, "9.8.0")
    assert refused.returncode == 1 and "not clean" in refused.stderr
    (folder / "pyproject.toml").write_text("[project]\n")
    assert run(folder, "git", "add", "-A").returncode == 0
    assert run(folder, "git", "commit", "-qm", "Break it").returncode == 0
    failed = release(folder, "9.8.0")
    assert failed.returncode == 1 and "wheel does not build" in failed.stderr
    assert run(folder, "git", "status", "--porcelain").stdout == run(folder, "git", "tag").stdout == ""


def test_the_version_is_that_of_the_newest_section_of_the_changelog() -> None:
    from amgs_app import __version__

    newest = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.M)[0]
    assert newest == __version__

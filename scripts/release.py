"""Cut a release: `make release VERSION=0.2.0`. It changes this checkout alone, and pushes nothing.

Before it, `python -m benchmarks figures --data DIR`: what a page of results prints and is not found again is no figure
to release. From a clean tree: the version into its one place, the date into the changelog, the wheel and the notes into
dist/; then a commit, a tag that carries the notes, and what is left to do by hand.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

VERSION_FILE = Path("core/amgs_app/__init__.py")
CHANGELOG = Path("CHANGELOG.md")
CHANGED = (VERSION_FILE, CHANGELOG)
FIGURES = "python -m benchmarks figures --data DIR"
_VERSION = re.compile(r'^__version__ = "(.+)"$', re.M)
_NUMBER = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")
_SECTION = re.compile(r"^## (\S+) \((.+)\)$", re.M)


class ReleaseError(Exception):
    """Why no release can be cut; nothing was changed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Cut the release; exit code 1 and one sentence where that cannot be done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", help="such as 0.2.0 or 0.2.0rc1")
    parser.add_argument("--day", type=date.fromisoformat, default=datetime.now(UTC).date(), help="today if not given")
    given = parser.parse_args(arguments)
    try:
        print(cut(Path.cwd(), given.version, given.day))
    except ReleaseError as error:
        print(f"No release: {error}", file=sys.stderr)
        return 1
    return 0


def cut(root: Path, version: str, day: date) -> str:
    """Cut the release in the checkout at `root`; gives what is left to do. Raises ReleaseError."""
    _check(root, version)
    before = {name: (root / name).read_text(encoding="utf-8") for name in CHANGED}
    dated, notes = released(before[CHANGELOG], version, day)
    after = {VERSION_FILE: _VERSION.sub(f'__version__ = "{version}"', before[VERSION_FILE]), CHANGELOG: dated}
    try:
        for name, text in after.items():
            (root / name).write_text(text, encoding="utf-8")
        wheel = build(root, version)
        told = wheel.with_name(f"notes-{version}.md")
        told.write_text(notes, encoding="utf-8")
        _git(root, "commit", "-qam", f"Release {version}")
        _git(root, "tag", "-a", f"v{version}", "--cleanup=verbatim", "-F", str(told))
    except BaseException:
        for name, text in before.items():
            (root / name).write_text(text, encoding="utf-8")
        raise
    here, notes_here = wheel.relative_to(root), told.relative_to(root)
    return (
        f"Committed and tagged v{version}; nothing was pushed. What is left:\n\n"
        f"    {FIGURES}  (unless it was run on this tree; exit code 1: mend or print anew)\n"
        f"    git push origin HEAD v{version}\n"
        f"    twine upload {here}\n"
        f"    gh release create v{version} --notes-file {notes_here} {here}\n\n"
        f"To take it back before that: git tag -d v{version} && git reset --hard HEAD~1"
    )


def released(changelog: str, version: str, day: date) -> tuple[str, str]:
    """The changelog with the version's section dated, and that section's text as notes.

    Raises ReleaseError where the newest section is not this version's, is dated already or is empty.
    """
    sections = list(_SECTION.finditer(changelog))
    if not sections or sections[0][1] != version:
        newest = f"is {sections[0][1]}" if sections else "is missing"
        raise ReleaseError(f"the newest section of {CHANGELOG} {newest}, not {version}.")
    head, end = sections[0], sections[1].start() if len(sections) > 1 else len(changelog)
    if head[2] != "unreleased":
        raise ReleaseError(f"{CHANGELOG} says that {version} was released on {head[2]}.")
    notes = changelog[head.end() : end].strip()
    if not notes:
        raise ReleaseError(f"{CHANGELOG} says nothing about {version}.")
    dated = f"{changelog[: head.start()]}## {version} ({day.isoformat()}){changelog[head.end() :]}"
    return dated, f"AMGS workstation {version}\n\n{notes}\n"


def build(root: Path, version: str) -> Path:
    """The wheel of this version in dist/; raises ReleaseError where it does not build or is of another one."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "wheel", "--no-deps"]
    done = subprocess.run([*pip, "--no-build-isolation", "-w", "dist", "."], cwd=root, capture_output=True, text=True)
    wheel = root / "dist" / f"amgs_workstation-{version}-py3-none-any.whl"
    if done.returncode or not wheel.exists():
        raise ReleaseError(f"the wheel does not build: {done.stderr.strip() or done.stdout.strip()}")
    with zipfile.ZipFile(wheel) as archive:
        inside = archive.read("amgs_app/__init__.py").decode()
    if _VERSION.findall(inside) != [version]:
        raise ReleaseError(f"{wheel.name} holds another version.")
    return wheel


def _check(root: Path, version: str) -> None:
    if not _NUMBER.fullmatch(version):
        raise ReleaseError(f"{version!r} is no version; write it as 0.2.0 or 0.2.0rc1.")
    if _git(root, "status", "--porcelain"):
        raise ReleaseError("the tree is not clean; commit or stash first.")
    if _git(root, "tag", "--list", f"v{version}"):
        raise ReleaseError(f"there is a tag v{version} already.")


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True)
    if done.returncode:
        raise ReleaseError(f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())

"""The project speaks of itself alone, and its documents name only what exists."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

BUILT = ROOT / "docs" / "api.md"
"""A page that only the site has: it is made from the program."""

LONGEST = 120
"""Characters in a line of prose; tables, headings, pictures and code may be longer."""


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    return [ROOT / name for name in listed.stdout.split("\0") if name]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_resolve(document: Path) -> None:
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.S)
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    broken = [t for t in targets if "://" not in t and not (document.parent / t).exists()]
    broken = [t for t in broken if (document.parent / t).resolve() != BUILT]
    assert broken == []


@pytest.mark.parametrize(
    "document",
    [path for path in DOCUMENTS if "walkthrough" not in path.parts],  # what a model is given to read there
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_prose_is_wrapped(document: Path) -> None:
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.S)
    prose = [line for line in text.splitlines() if not line.startswith(("|", "#", "![", "    "))]
    assert [line for line in prose if len(line) > LONGEST] == []


def test_nothing_large_is_committed() -> None:
    if not (files := [path for path in tracked() if path.is_file()]):
        pytest.skip("not a checkout")
    large = {str(p.relative_to(ROOT)): p.stat().st_size for p in files if p.stat().st_size > 2_000_000}
    assert [name for name in large if not name.endswith(".safetensors")] == []
    assert sum(p.stat().st_size for p in files if p.suffix == ".safetensors") <= 40_000_000

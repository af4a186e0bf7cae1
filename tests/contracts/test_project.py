"""The project speaks of itself alone, and its documents name only what exists."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    return [ROOT / name for name in listed.stdout.split("\0") if name]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_resolve(document: Path) -> None:
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.S)
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    broken = [t for t in targets if "://" not in t and not (document.parent / t).exists()]
    assert broken == []


def test_nothing_large_is_committed() -> None:
    if not (files := [path for path in tracked() if path.is_file()]):
        pytest.skip("not a checkout")
    large = {str(p.relative_to(ROOT)): p.stat().st_size for p in files if p.stat().st_size > 2_000_000}
    assert [name for name in large if not name.endswith(".safetensors")] == []
    assert sum(p.stat().st_size for p in files if p.suffix == ".safetensors") <= 40_000_000

"""Names: one public class name stands in one file."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("core/amgs", "core/amgs_app", "focus/amgs_focus", "amgs_tui")


def test_one_public_class_name_stands_in_one_file() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for name in re.findall(r"^class ([^\W_]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE):
                found[name].add(str(path.relative_to(ROOT)))
    assert len(found) > 500  # else nothing was read
    assert {name: sorted(files) for name, files in found.items() if len(files) > 1} == {}

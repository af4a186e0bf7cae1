"""What importing costs and reaches: the engines stay apart, and help stays cheap."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def modules_after(statement: str) -> set[str]:
    """The names in sys.modules of a fresh interpreter that ran the statement."""
    script = f"import sys\n{statement}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import amgs; amgs.Memory", {"torch", "transformers", "textual", "spacy", "amgs_tui", "amgs_focus"}),
        ("import amgs_focus", {"textual", "amgs", "amgs_tui", "duckdb"}),
        ("import amgs_focus.records", {"torch", "transformers"}),
        ("import amgs_tui.verbs", {"torch", "transformers", "textual", "spacy", "duckdb"}),
        ("import amgs_tui.app", {"torch", "transformers", "spacy", "duckdb"}),
        ("import amgs_tui.pictures", {"torch", "transformers", "textual", "duckdb"}),
    ],
)
def test_a_room_does_not_drag_in_another(statement: str, unwanted: set[str]) -> None:
    assert modules_after(statement) & unwanted == set()


def test_no_top_level_package_squats_on_a_common_name(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "wheel"]
    subprocess.run(
        [*pip, "--no-deps", "--no-build-isolation", "-w", str(tmp_path), str(ROOT)],
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name.split("/")[0] for name in archive.namelist()}
        data = {name for name in archive.namelist() if name.startswith("amgs_tui/_data/")}
    assert {name for name in names if not name.endswith(".dist-info")} == {"amgs", "amgs_focus", "amgs_tui"}
    assert any(name.startswith("amgs_tui/_data/themes/") for name in data)
    assert any(name.startswith("amgs_tui/_data/sample_corpus/notes/") for name in data)

"""The golden tour of packs: one pack's life on the tiny model, byte for byte what was kept.

The expected files are made again as `tests/golden/test_tour.py` says, with packs.amgs, in this folder and with
--size 120x24.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.test_tour import belong_to, shows_what_runs, tour

HERE = Path(__file__).parent
SCRIPT = HERE / "packs.amgs"
EXPECTED = HERE / "expected"


def test_the_tour_of_packs_is_what_was_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HERE)
    options = ("--out", str(EXPECTED), "--check", "--size", "120x24")
    code = tour(tmp_path / "said.duckdb", *options, script=SCRIPT)
    said = capsys.readouterr().err
    assert code == 0, said


def test_the_page_of_packs_shows_what_the_script_runs() -> None:
    shows_what_runs("packs.md", "One pack's life", SCRIPT)


def test_every_file_that_is_kept_of_packs_belongs_to_the_script() -> None:
    belong_to(EXPECTED, SCRIPT)

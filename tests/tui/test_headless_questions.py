"""A file of questions as a test of a memory: by `amgs test`, and by pytest, which the package extends."""

from __future__ import annotations

from pathlib import Path

import pytest

from amgs_app.terminal.output import ExitCode
from tests.tui.headless_world import Amgs, make

QUESTIONS = """
- question: Why did the dome stall?
  must_contain: E-17
- question: What did the goat look at?
  must_contain: the sea
"""


@pytest.fixture
def amgs(tmp_path: Path, prepared: Path, capsys: pytest.CaptureFixture[str]) -> Amgs:
    (tmp_path / "questions.yml").write_text(QUESTIONS)
    return make(tmp_path, capsys, prepared)


def test_the_command_names_the_case_that_fails(amgs: Amgs, tmp_path: Path) -> None:
    assert amgs("test", str(tmp_path / "questions.yml")) == ExitCode.DIFFERS
    assert "1 holds, 1 fails" in amgs.out and "“the sea” is not in the" in amgs.out and "stall" in amgs.out
    assert amgs("test", str(tmp_path / "questions.yml"), "--quiet") == ExitCode.DIFFERS
    assert "goat" in amgs.out and "stall" not in amgs.out
    (tmp_path / "questions.yml").write_text("- question: Why did the dome stall?\n  must_contain: E-17\n")
    assert amgs("test", str(tmp_path / "questions.yml")) == 0
    (tmp_path / "questions.yml").write_text("")
    assert amgs("test", str(tmp_path / "questions.yml")) == 3 and "no question" in amgs.err


def test_a_run_is_kept_and_a_later_one_says_what_moved_and_why(amgs: Amgs, tmp_path: Path) -> None:
    questions, last, report = (str(tmp_path / name) for name in ("questions.yml", "last.json", "report.md"))
    (tmp_path / "questions.yml").write_text(
        "- question: dome stall\n  must_contain: E-17\n- question: goat moon\n  must_contain: terrace\n"
    )
    assert amgs("test", questions, "--keep", last) == 0
    assert amgs("test", questions, "--against", last, "--quiet") == 0
    assert amgs.out.splitlines() == [f"{questions}: 2 hold, 0 fail; 2 same, 0 differ"]
    assert amgs("ingest", "A dome stall, and a dome stall again: dome stall.") == 0
    assert amgs("consolidate") == 0
    assert amgs("test", questions, "--against", last, "--quiet", "--report", report) == 0
    assert "1 same, 1 differs" in amgs.out and "1 → 2" in amgs.out and "came before it, at rank 1" in amgs.out
    assert "1 same, 1 differs" in Path(report).read_text() and "dome stall" in Path(report).read_text()
    assert amgs("test", questions, "--against", questions) == 3 and "not a saved run" in amgs.err

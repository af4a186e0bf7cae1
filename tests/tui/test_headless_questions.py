"""A file of questions as a test of a memory: by `amgs test`, and by pytest, which the package extends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tui.headless_world import Amgs, make, prepare

ROOT = Path(__file__).parents[2]
QUESTIONS = """
- question: Why did the dome stall?
  must_contain: E-17
- question: What did the goat look at?
  must_contain: the sea
"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(tmp_path_factory.mktemp("prepared"))


@pytest.fixture
def amgs(tmp_path: Path, prepared: Path, capsys: pytest.CaptureFixture[str]) -> Amgs:
    (tmp_path / "questions.yml").write_text(QUESTIONS)
    return make(tmp_path, capsys, prepared)


def test_the_command_names_the_case_that_fails(amgs: Amgs, tmp_path: Path) -> None:
    assert amgs("test", str(tmp_path / "questions.yml")) == 4
    assert "1 hold, 1 fails" in amgs.out and "“the sea” is not in the" in amgs.out and "stall" in amgs.out
    assert amgs("test", str(tmp_path / "questions.yml"), "--quiet") == 4
    assert "goat" in amgs.out and "stall" not in amgs.out
    (tmp_path / "questions.yml").write_text("- question: Why did the dome stall?\n  must_contain: E-17\n")
    assert amgs("test", str(tmp_path / "questions.yml")) == 0
    (tmp_path / "questions.yml").write_text("")
    assert amgs("test", str(tmp_path / "questions.yml")) == 3 and "no question" in amgs.err


@pytest.mark.parametrize(("options", "told"), [(["--amgs"], "1 failed, 1 passed"), ([], "no tests ran")])
def test_pytest_takes_a_file_of_questions_where_a_memory_is_named(
    amgs: Amgs, tmp_path: Path, options: list[str], told: str
) -> None:
    where = [*options, str(amgs.store)] if options else []
    paths = os.pathsep.join(str(ROOT / part) for part in ("core", "focus", ""))
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *where, "questions.yml"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert told in tested.stdout, tested.stdout + tested.stderr
    assert ("“the sea” is not in the" in tested.stdout) == bool(options)

"""docs/sessions.md shows what the program says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from amgs_tui.__main__ import run

PAGE = Path(__file__).parents[3] / "docs" / "sessions.md"
SHOWN = re.findall(r"^```session\n\$ amgs (.+?)\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.S | re.M)


def test_the_page_shows_a_loss_its_consequence_and_its_price() -> None:
    assert len(SHOWN) == 3


@pytest.mark.parametrize(("line", "shown"), SHOWN, ids=[line for line, _ in SHOWN])
def test_what_the_page_shows_is_what_the_program_says(
    line: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(shlex.split(line)) == 0
    said = [row.rstrip() for row in capsys.readouterr().out.strip().splitlines()]
    assert said == [row.rstrip() for row in shown.strip().splitlines()]

"""Packs on the command line: what is printed, the page of the documents, help and the service's client."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.tui.headless_world import Amgs, make, prepare


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(tmp_path_factory.mktemp("prepared"))


@pytest.fixture
def amgs(tmp_path: Path, prepared: Path, capsys: pytest.CaptureFixture[str]) -> Amgs:
    return make(tmp_path, capsys, prepared)


def asked(amgs: Amgs, *words: str) -> Any:
    """The result of a command on packs, as JSON."""
    assert amgs("--format", "json", "pack", *words) == 0, amgs.err
    return json.loads(amgs.out)


def test_the_page_of_packs_runs_as_it_stands(amgs: Amgs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[4] / "docs" / "packs.md").read_text(encoding="utf-8")
    before, _, tour = page.partition("## One pack's life\n")  # which the golden script runs
    lines = [
        line.split(maxsplit=1)[1]
        for line in f"{before}{tour.partition('## ')[2]}".splitlines()
        if line[:9] == "    amgs "
    ]
    assert len(lines) >= 10
    for line in lines:
        assert amgs(*shlex.split(line)) == 0, (line, amgs.err)
    assert [one["pack"]["name"] for one in asked(amgs, "list")["packs"]] == ["dome", "goat"]
    assert len(asked(amgs, "list", "dome")["readings"]) >= 1

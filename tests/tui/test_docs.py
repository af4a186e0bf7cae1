"""The documents say what the program does: the recipes run, the keys are the keys, the themes are all named."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

import amgs
import amgs_focus
from amgs_app import cli
from amgs_app.calls.registry import standard
from amgs_tui.keys import EVERYWHERE, remap
from amgs_tui.panes.by_key import PANE_TYPES
from scripts.docs_pages import build_pages, keys_page, pages

DOCS = Path(__file__).parents[2] / "docs"
COOKBOOK = (DOCS / "cookbook.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^## (.+?)\n.*?```amgs\n(.*?)```", COOKBOOK, flags=re.S | re.M))
NOW = "2026-03-01T09:00:00Z"


@pytest.fixture(scope="module")
def consolidated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample corpus, taken in and consolidated on the tiny model."""
    folder = tmp_path_factory.mktemp("cookbook")
    script = folder / "prepare.amgs"
    script.write_text("ingest --sample\nconsolidate\n")
    assert run(folder / "m.duckdb", script, folder) == 0
    return folder


def run(store: Path, script: Path, out: Path) -> int:
    everywhere = ["--store", str(store), "--model", "tiny", "--now", NOW, "--seed", "7"]
    return cli.run([*everywhere, "run", str(script), "--out", str(out)])


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_a_recipe_runs_as_it_stands(
    name: str, consolidated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(consolidated, tmp_path / "world")
    script = tmp_path / "recipe.amgs"
    script.write_text(RECIPES[name], encoding="utf-8")
    assert run(tmp_path / "world" / "m.duckdb", script, tmp_path / "out") == 0, capsys.readouterr().err


def read_result_commands() -> list[str]:
    """Return the commands of the page of results on the specifications."""
    page = (DOCS / "results" / "specifications.md").read_text(encoding="utf-8")
    return re.findall(r"^\|[^|]*\| `([^`]+)` \|", page, flags=re.M)


def read_mechanism_commands() -> list[str]:
    """Return the commands of the glossary's mechanisms, without those for another program or a shell."""
    mechanisms = (DOCS / "glossary.md").read_text(encoding="utf-8").partition("## Mechanisms")[2]
    last_cells = re.findall(r"^\|.*\| ([^|]+) \|$", mechanisms, flags=re.M)
    spans = [span for cell in last_cells for span in re.findall(r"`([^`]+)`", cell)]
    return [span for span in spans if not span.startswith(("amgs ", "AMGS_", "python "))]


@pytest.mark.parametrize("commands", [read_result_commands(), read_mechanism_commands()], ids=["results", "glossary"])
def test_every_command_about_the_specifications_runs_in_its_order(
    commands: list[str],
    consolidated: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert len(commands) > 45
    questions = (DOCS.parent / "sample_corpus/questions.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "questions.jsonl").write_text("".join(questions[:8]), encoding="utf-8")  # all 160 take half the time
    lines = [
        re.sub(r"(?<= )(?=lifetime$|memory\.json$)|sample_corpus/(?=questions)", f"{tmp_path}/", line)
        for line in commands
    ]
    monkeypatch.chdir(DOCS.parent)
    shutil.copytree(consolidated, tmp_path / "world")
    script = tmp_path / "rows.amgs"
    script.write_text("\n".join(lines), encoding="utf-8")
    assert run(tmp_path / "world" / "m.duckdb", script, tmp_path / "out") == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("path", "made"), list(pages(DOCS)), ids=lambda value: value.name if isinstance(value, Path) else ""
)
def test_a_page_that_is_made_from_the_program_is_as_the_program_makes_it(path: Path, made: str) -> None:
    assert path.read_text(encoding="utf-8") == made, "make docs"


def test_every_exported_name_and_every_command_stand_in_the_pages_that_are_built(tmp_path: Path) -> None:
    (_, text), (_, man) = build_pages(tmp_path)
    plain = man.replace(r"\-", "-").replace(r"\e", "\\")
    assert [verb.name for verb in standard() if verb.summary not in plain] == []
    headings = re.findall(r"^### (amgs(?:_focus)?\.\w+)$", text, flags=re.M)
    exported = [f"{package.__name__}.{name}" for package in (amgs, amgs_focus) for name in package.__all__]
    assert sorted(headings) == sorted(exported)


def test_the_keys_of_the_example_are_accepted() -> None:
    given = tomllib.loads(re.findall(r"```toml\n(.*?)```", keys_page(), flags=re.S)[0])["screen"]["keys"]
    offered: list[list[Any]] = [[*EVERYWHERE, *kind.BINDINGS] for kind in PANE_TYPES]
    keymap, problems = remap(given, offered)
    assert keymap == given and not problems


def test_the_walkthrough_runs_and_is_repeated_by_its_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(DOCS.parent)
    store = tmp_path / "w.duckdb"
    assert run(store, DOCS / "walkthrough" / "session.amgs", tmp_path) == 0, capsys.readouterr().err
    spoken = capsys.readouterr().out
    assert "users.ts" in spoken and "33 tokens" in spoken
    again = ["--store", str(tmp_path / "y.duckdb"), "--model", "tiny", "--now", NOW]
    assert cli.run([*again, "focus", "trace", f"{store}.trace", "--replay"]) == 0, capsys.readouterr().err

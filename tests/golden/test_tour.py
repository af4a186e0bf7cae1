"""The golden tour: once round the loop on the tiny model, byte for byte what was kept; and a recorded conversation.

Make the expected files again, in this folder, with

    amgs --store "$(mktemp -d)/x.duckdb" --model tiny --now 2026-03-01T09:00:00Z --seed 7 run tour.amgs --out expected

and the same with conversation.amgs, --size 120x24; look at them before they are committed.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from amgs_app import cli

HERE = Path(__file__).parent
TOUR = HERE / "tour.amgs"
CONVERSATION = HERE / "conversation.amgs"
EXPECTED = HERE / "expected"
DOCS = HERE.parents[1] / "docs"


def tour(store: Path, *options: str, script: Path = TOUR) -> int:
    everywhere = ["--store", str(store), "--model", "tiny", "--now", "2026-03-01T09:00:00Z", "--seed", "7"]
    return cli.run([*everywhere, "run", str(script), *options])


def test_the_tour_is_what_was_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = tour(tmp_path / "tour.duckdb", "--out", str(EXPECTED), "--check")
    said = capsys.readouterr().err
    assert code == 0, said


def test_the_conversation_is_what_was_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HERE)
    options = ("--out", str(EXPECTED), "--check", "--size", "120x24")
    code = tour(tmp_path / "said.duckdb", *options, script=CONVERSATION)
    said = capsys.readouterr().err
    assert code == 0, said


def test_the_tour_of_the_conversation_s_page_shows_what_the_script_runs() -> None:
    shows_what_runs("conversation.md", "A tour", CONVERSATION)


def shows_what_runs(page: str, title: str, script: Path) -> None:
    """The commands and the pictures below a heading of a document are those of a script."""
    text = (DOCS / page).read_text(encoding="utf-8")
    shown = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    run = script.read_text(encoding="utf-8").splitlines()
    commands = [line.removeprefix("    amgs ") for line in shown.splitlines() if line.startswith("    amgs ")]
    pictures = re.findall(r"expected/([\w-]+)\.svg", shown)
    assert len(commands) > 8 and [one for one in commands if one not in run] == []
    assert len(pictures) > 3 and [one for one in pictures if f"snapshot {one}" not in run] == []


def test_every_kept_file_belongs_to_a_script() -> None:
    belong_to(EXPECTED, TOUR, CONVERSATION)


def belong_to(folder: Path, *scripts: Path) -> None:
    """What is kept in a folder are the snapshots of the scripts, each in three forms."""
    lines = [line for script in scripts for line in script.read_text(encoding="utf-8").splitlines()]
    names = [line.split()[1] for line in lines if line.startswith("snapshot ")]
    kept = sorted(path.name for path in folder.iterdir())
    assert kept == sorted(f"{name}.{ending}" for name in names for ending in ("txt", "svg", "json"))

"""What importing costs and reaches: the engines stay apart, and help stays cheap."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from amgs.clock import SystemClock
from amgs.memory import Memory
from amgs_app.calls.registry import FIRST_WORDS, beginning_with, standard

ROOT = Path(__file__).parents[2]


def modules_after(statement: str) -> set[str]:
    """The names in sys.modules of a fresh interpreter that ran the statement."""
    script = f"import sys\n{statement}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


def every_module(*packages: str) -> str:
    """A statement that imports each module of packages, the packages in them too."""
    return (
        f"import importlib, pkgutil, {', '.join(packages)}\n"
        f"for root in ({', '.join(packages)},):\n"
        "    for found in pkgutil.walk_packages(root.__path__, root.__name__ + '.'):\n"
        "        importlib.import_module(found.name)"
    )


MODELS = {"torch", "transformers", "spacy"}


@pytest.mark.parametrize(
    ("statement", "loaded", "unwanted"),
    [
        (every_module("amgs"), "amgs.text.minilm", {*MODELS, "textual", "amgs_app", "amgs_tui", "amgs_focus"}),
        ("import amgs_focus.records", "amgs_focus.records", {"torch", "transformers", "textual", "amgs", "duckdb"}),
        (
            every_module("amgs_app.lifecycle", "amgs_app.frames", "amgs_app.render"),
            "amgs_app.render.canvas",
            {*MODELS, "textual", "duckdb"},
        ),
        (
            "import amgs_app.shell.script, amgs_app.cli, amgs_app.render.snapshot",
            "amgs_app.shell.script",
            {*MODELS, "textual"},
        ),
        ("import amgs_tui.app", "amgs_tui.dispatcher", {*MODELS, "duckdb", "numpy", "amgs_app.results.memory"}),
    ],
    ids=lambda value: value if isinstance(value, str) and "\n" not in value else "",
)
def test_a_package_does_not_drag_in_another(statement: str, loaded: str, unwanted: set[str]) -> None:
    found = modules_after(statement)
    assert loaded in found  # else nothing was imported, and the check could not fail
    assert found & unwanted == set()


@pytest.mark.real
def test_a_search_with_vectors_loads_no_library_that_runs_models_or_walks_graphs(tmp_path: Path) -> None:
    path = tmp_path / "memory.duckdb"
    with Memory.open(path, clock=SystemClock()) as memory:
        memory.add("The dome stalled twice on Sunday.")
        memory.consolidate()
    found = modules_after(
        "from amgs.text.minilm import MiniLM\n"
        "from amgs_app import cli\n"
        f"assert cli.run(['--store', {str(path)!r}, '--model', 'tiny', 'search', 'dome']) == 0\n"
        "MiniLM().embed(['Which day did it stall?'])"
    )
    assert {"tantivy", "tokenizers"} <= found
    assert found & {*MODELS, "sentence_transformers", "scipy", "networkx", "textual", "markdown_it"} == set()
    parts = ("amgs.simulation", "amgs.exchange.", "amgs.ingest.", "amgs.lifecycle.enhance")
    assert not [name for name in found if name.startswith(parts)]


def test_the_list_of_commands_is_shown_without_what_they_give_and_how_it_is_drawn() -> None:
    found = modules_after("from amgs_app import cli\nassert cli.run(['--help']) == 0\n")
    assert "amgs_app.views.sessions.commands" in found
    drawn = {"amgs_app.engine", "amgs.types.block", "amgs_app.render.rows"}
    assert [
        name for name in found if re.search(r"results\.|\.\w+\.(\w+_)?(rows|results)$", name) or name in drawn
    ] == []


def test_a_search_by_words_imports_no_other_command_and_shows_its_result_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.duckdb"
    with Memory.open(path, clock=SystemClock()) as memory:
        memory.add("The dome stalled twice on Sunday.")
    found = modules_after(
        "from amgs_app import cli\n"
        f"assert cli.run(['--store', {str(path)!r}, 'search', 'dome', '--layer', 'keyword']) == 0\n"
    )
    assert {"amgs_app.search.commands", "amgs_app.search.rows"} <= found
    assert {name for name in found if re.match(r"amgs_app\.\w+\.(\w+_)?commands$", name)} - {
        "amgs_app.command_line.service_commands"
    } == {"amgs_app.search.commands"}
    rows = {name for name in found if name.startswith("amgs_app.") and name.endswith("rows")}
    assert rows - {"amgs_app.render.rows"} == {"amgs_app.search.rows"}  # the kit, and those of this subject alone
    assert found & {*MODELS, "tokenizers", "scipy", "networkx", "pyarrow", "amgs_focus.records"} == set()
    libraries = {"asyncio", "ssl", "pydantic_settings", "rapidfuzz", "networkx"}
    assert found & libraries == set()
    others = {
        "amgs_app.results.memory",
        "amgs_app.results.session",
        "amgs.types.lifecycle",
        "amgs.types.calibration",
        "amgs.types.conversation_views",
        "amgs.api.frames",
        "amgs.storage.messages",
        "amgs.text.prose",
    }
    assert found & others == set()
    assert [name for name in found if re.match(r"amgs\.wings\.\w+\.", name)] == []


@pytest.mark.parametrize("word", [*FIRST_WORDS, "verify", "focus"])
def test_a_first_word_brings_all_operations_that_begin_with_it(word: str) -> None:
    known = beginning_with(word)
    assert known is not None
    assert [each.name for each in known] == [each.name for each in standard() if each.words[0] == word]


def test_no_top_level_package_squats_on_a_common_name(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "wheel"]
    subprocess.run(
        [*pip, "--no-deps", "--no-build-isolation", "-w", str(tmp_path), str(ROOT)], check=True, capture_output=True
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name.split("/")[0] for name in archive.namelist()}
        data = {name for name in archive.namelist() if name.startswith("amgs_app/_data/")}
        assert [name for name in archive.namelist() if name == "amgs_app/_data/amgs.1"]
    assert {name for name in names if not name.endswith(".dist-info")} == {"amgs", "amgs_app", "amgs_focus", "amgs_tui"}
    assert any(name.startswith("amgs_app/_data/themes/") for name in data)
    assert any(name.startswith("amgs_app/_data/sample_corpus/notes/") for name in data)

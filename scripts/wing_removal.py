"""Takes a wing out of a copy of the checkout and checks that the rest stands: what `amgs.wing_registry` promises.

python -m scripts.wing_removal [NAME]           the program's imports, linters, types and contracts, its command line
                                                and a choice of the tests; without NAME for each wing in turn
python -m scripts.wing_removal [NAME] --quick   the same without types and with fewer tests
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from os import environ, pathsep
from pathlib import Path
from typing import Final

from amgs.wing_registry import WINGS, load_named

ROOT: Final = Path(__file__).parents[1]
REGISTRY: Final = Path("core/amgs/wing_registry.py")
FOLDERS: Final = ("core/amgs/wings", "core/amgs_app/views", "amgs_tui/panes", "benchmarks", "tests/wings")
"""Where a wing has a folder of its name; it may have none of the last two."""

_EVERY_MODULE: Final = """\
import importlib, pkgutil
for package in ("amgs", "amgs_app", "amgs_focus", "amgs_tui", "benchmarks"):
    root = importlib.import_module(package)
    for found in pkgutil.walk_packages(root.__path__, package + "."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
"""
_ERASE: Final = """\
import sys
from amgs.clock import SystemClock
from amgs.memory import Memory
from amgs.types import BlockFilter
with Memory.open(sys.argv[1], clock=SystemClock()) as memory:
    first, *others = memory.blocks(BlockFilter())
    memory.erasure.erase([first.id])
    assert memory.blocks(BlockFilter()) == tuple(others)
"""
_QUICK_TESTS: Final = (
    "tests/contracts/test_operation.py",
    "tests/contracts/test_wings.py",
    "tests/tui/test_app_arrangement.py",
    "tests/tui/test_keys.py",
)
_TESTS: Final = (
    *_QUICK_TESTS,
    "tests/contracts/test_imports.py",
    "tests/contracts/test_layers.py",
    "tests/contracts/test_names.py",
    "tests/contracts/test_public_api.py",
    "tests/contracts/test_raises.py",
    "tests/contracts/test_render.py",
    "tests/contracts/test_storage.py",
    "tests/golden",
    "tests/engine/test_erasure.py",
    "tests/engine/test_exchange.py",
    "tests/engine/test_memory_api.py",
    "tests/service/test_mcp.py",
    "tests/service/test_sdk.py",
    "tests/tui/test_app_shell.py",
    "tests/unit",
)
"""Tests that need no page of the documents, which go on speaking of the wing."""


def copy_checkout(into: Path) -> None:
    """What git knows of, as it lies in the checkout, and what the type checker remembers of it."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, into / name)
    if (ROOT / ".mypy_cache").is_dir():
        shutil.copytree(ROOT / ".mypy_cache", into / ".mypy_cache", dirs_exist_ok=True)


def take_out(root: Path, name: str) -> None:
    """Remove a wing's folders and its line, and make anew what is made from the rest; raises ValueError for no wing."""
    lines = (root / REGISTRY).read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if line.strip() != f'"{name}",']
    if len(kept) != len(lines) - 1:
        raise ValueError(f"{REGISTRY} has no line for {name!r}.")
    (root / REGISTRY).write_text("".join(kept), encoding="utf-8")
    for folder in FOLDERS:
        shutil.rmtree(root / folder / name, ignore_errors=True)
    stubs = [sys.executable, "-m", "scripts.wing_stubs"]
    subprocess.run(stubs, cwd=root, env=surroundings(root), check=True)


def surroundings(root: Path) -> Mapping[str, str]:
    """The variables with which the packages of a copy are imported, and not those of the checkout."""
    paths = pathsep.join(str(root / part) for part in ("core", "focus", ""))
    return {**environ, "PYTHONPATH": paths, "AMGS_DATA": str(root / "data")}


def checks(store: Path, *, quick: bool) -> Iterator[tuple[str, list[str]]]:
    """What is looked at in the copy, and the command for it. store: a file that was written with the wing."""
    python = [sys.executable, "-m"]
    amgs = [*python, "amgs_tui", "--model", "tiny"]
    yield "every module can be imported", [sys.executable, "-c", _EVERY_MODULE]
    yield "ruff finds nothing", [*python, "ruff", "check", "--no-cache", "."]
    yield "the files are formatted", [*python, "ruff", "format", "--check", "--no-cache", "."]
    yield ("imports keep to their contracts", [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"])
    yield "the command line explains itself", [*amgs, "--help"]
    yield "help lists the commands", [*amgs, "help", "--all"]
    yield "a store written with the wing opens", [*amgs, "--store", str(store), "verify"]
    yield "and is exported", [*amgs, "--store", str(store), "export", str(store.with_suffix(".jsonl"))]
    yield "a block of it is erased", [sys.executable, "-c", _ERASE, str(store)]
    if not quick:
        yield "types hold", [*python, "mypy"]
    tests = _QUICK_TESTS if quick else _TESTS
    yield "the rest is tested", [*python, "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]


def make_store(name: str, path: Path) -> None:
    """A store in which the wing has written, as its tests make one; one with a note where they make none."""
    if (ROOT / "tests/wings" / name / "stores.py").is_file():
        load_named(f"tests.wings.{name}.stores:make_store")(path)
        return
    from amgs.clock import SystemClock
    from amgs.memory import Memory

    with Memory.open(path, clock=SystemClock()) as memory:
        memory.add("The dome stalled on Sunday.")
        memory.consolidate()


def stands_without(name: str, *, quick: bool) -> bool:
    """Take a wing out and run the checks; prints each, and what the first said that failed."""
    with tempfile.TemporaryDirectory() as folder:
        root, store = Path(folder) / "checkout", Path(folder) / "with.duckdb"
        make_store(name, store)
        copy_checkout(root)
        take_out(root, name)
        for what, command in checks(store, quick=quick):
            done = subprocess.run(
                command, cwd=root, env=surroundings(root), capture_output=True, text=True, check=False
            )
            print(f"{'ok' if done.returncode == 0 else 'FAILED'}: without {name}, {what}", flush=True)
            if done.returncode:
                print(done.stdout[-4000:], done.stderr[-4000:])
                return False
    return True


def main(arguments: list[str]) -> int:
    """Check that the rest stands without the wings that are named, or without each; 1 where it does not."""
    named = [each for each in arguments if not each.startswith("--")]
    return int(not all(stands_without(name, quick="--quick" in arguments) for name in named or WINGS))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

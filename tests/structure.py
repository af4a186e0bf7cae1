"""The structure in figures: `python -m tests.structure`.

Files, lines and classes by package; circles of packages, by every import and by those of run time alone; and how many
modules a search and a decode step enter, from the call or the key to the answer or the repaint.
"""

from __future__ import annotations

import ast
import asyncio
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
HOMES = {"amgs": "core", "amgs_app": "core", "amgs_focus": "focus", "amgs_tui": "."}
"""Packages and the folders they stand in."""


def modules() -> dict[str, Path]:
    """Every module of the packages that are there, by its dotted name."""
    found = {}
    for package, home in HOMES.items():
        base = (ROOT / home).resolve()
        for path in (base / package).rglob("*.py"):
            name = ".".join(path.relative_to(base).with_suffix("").parts).removesuffix(".__init__")
            found[name] = path
    return found


def imports(known: Mapping[str, Path], *, typing: bool) -> Iterator[tuple[str, str]]:
    """Pairs of modules of which the first imports the second; typing: with those under TYPE_CHECKING."""
    for name, path in known.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        skipped = set()
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.If)
                and isinstance(node.test, ast.Name)
                and node.test.id == "TYPE_CHECKING"
            ):
                skipped |= {id(inner) for inner in ast.walk(node)}
        for node in ast.walk(tree):
            if id(node) in skipped and not typing:
                continue
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    target = f"{node.module}.{alias.name}"
                    target = target if target in known else node.module
                    if target in known:
                        yield name, target
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name in known:
                        yield name, alias.name


def circles(arrows: Iterable[tuple[str, str]], depth: int) -> list[list[str]]:
    """Groups of packages that reach one another; a package is the first `depth` parts of a module's name."""
    reach: dict[str, set[str]] = defaultdict(set)
    for source, target in arrows:
        one, other = (".".join(name.split(".")[:depth]) for name in (source, target))
        if one != other:
            reach[one].add(other)
    everything = set(reach) | {each for targets in reach.values() for each in targets}

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [*reach.get(start, ())]
        while waiting:
            each = waiting.pop()
            if each not in seen:
                seen.add(each)
                waiting += reach.get(each, ())
        return seen

    beyond = {each: reached(each) for each in everything}
    groups = {
        frozenset({o for o in beyond[each] if each in beyond[o]})
        for each in everything
        if each in beyond[each]
    }
    return sorted(sorted(group) for group in groups)


@contextmanager
def entered() -> Iterator[set[str]]:
    """The project's modules of which a function is called inside, in any thread begun inside or in this one."""
    places = {str(path.resolve()): name for name, path in modules().items()}
    found: set[str] = set()

    def profile(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename in places and frame.f_code.co_name != "<module>":
            found.add(places[frame.f_code.co_filename])

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def of_a_search() -> set[str]:
    """Modules entered by `memory.search` in a memory of a few notes."""
    from amgs import FixedClock, Memory
    from amgs.clock import parse_instant

    with Memory.open(":memory:", clock=FixedClock(parse_instant("2026-03-01T09:00:00Z"))) as memory:
        for text in ("The dome stood still.", "The encoder slipped in the cold.", "Bread on Sunday."):
            memory.ingest_text(text)
        memory.apply_consolidation(memory.plan_consolidation())
        memory.search("why did the dome stand still?")
        with entered() as found:
            memory.search("what slipped?")
    return found


async def of_a_step() -> set[str]:
    """Modules entered between the key `.` in the pane of the working context and the screen at rest."""
    from tests.tui.test_app_focus import opened
    from tests.tui.test_app_tiny import NOTES

    everywhere: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes"
        notes.mkdir()
        for name, text in NOTES.items():
            (notes / name).write_text(f"---\ndate: 2026-02-20\n---\n{text}")
        switch: list[Callable[[Any, str, Any], None] | None] = [None]

        def profile(frame: Any, event: str, argument: Any) -> None:
            if switch[0] is not None:
                switch[0](frame, event, argument)

        threading.setprofile(profile)
        sys.setprofile(profile)
        try:
            async with opened(Path(folder) / "store.duckdb", notes) as driven:
                places = {str(path.resolve()): name for name, path in modules().items()}

                def note(frame: Any, event: str, _: Any) -> None:
                    if event == "call" and frame.f_code.co_filename in places:
                        everywhere.add(places[frame.f_code.co_filename])

                switch[0] = note
                await driven.press("full_stop")
                switch[0] = None
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return everywhere


def main() -> None:
    known = modules()
    every = lines = 0
    for package in HOMES:
        mine = [path for name, path in known.items() if name.split(".")[0] == package]
        size = sum(path.read_text(encoding="utf-8").count("\n") for path in mine)
        every, lines = every + len(mine), lines + size
        sys.stdout.write(f"{package}: {len(mine)} files, {size:,} lines" + "\n")
    sys.stdout.write(f"together: {every} files, {lines:,} lines" + "\n")
    for typing in (False, True):
        arrows = list(imports(known, typing=typing))
        for depth, what in ((1, "top packages"), (2, "packages"), (99, "modules")):
            found = circles(arrows, depth)
            label = "with TYPE_CHECKING" if typing else "at run time"
            sys.stdout.write(
                f"{what} in circles {label}: {sum(map(len, found))} {[len(group) for group in found]}" + "\n"
            )
    search = of_a_search()
    sys.stdout.write(f"modules entered by a search: {len(search)}" + "\n")
    step = asyncio.run(of_a_step())
    sys.stdout.write(f"modules entered by a decode step: {len(step)}" + "\n")
    if "-v" in sys.argv:
        sys.stdout.write("\n".join([*sorted(search), "", *sorted(step)]) + "\n")


if __name__ == "__main__":
    main()

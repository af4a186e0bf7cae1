"""A store as a killed process leaves it, damaged at random on the disk, and what opening it then says.

`python -m tests.safety.damage_world COUNT [SEED]` damages it so many times and prints what came of it.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from amgs.clock import FixedClock
from amgs.errors import AmgsError
from amgs.memory import Memory
from tests.safety.kill_world import AT, consolidate, take_in

_PAGE = 4096
KINDS = ("cut", "zero", "flip", "noise", "remove")


def _live(path: str) -> None:
    """Work of which a part is in the file and a part in the write-ahead file, and an end without a close."""
    with Memory.open(path, clock=FixedClock(AT)) as memory:
        take_in(memory, 0, lambda _: None)
        consolidate(memory, lambda _: None)
    memory = Memory.open(path, clock=FixedClock(AT))
    for round_ in (1, 2):
        take_in(memory, round_, lambda _: None)
        consolidate(memory, lambda _: None)
    memory.assemble("ATTENTION", query="kiln 3")
    os._exit(0)


def build(folder: Path) -> Path:
    """The store; its write-ahead file holds the last five changes."""
    path = folder / "s.duckdb"
    process = multiprocessing.get_context("spawn").Process(target=_live, args=(str(path),))
    process.start()
    process.join()
    if not Path(f"{path}.wal").exists():
        raise AssertionError("the process left no write-ahead file")
    return path


def damage(path: Path, draw: random.Random) -> str:
    """Damage the file or its write-ahead file; says how."""
    target = Path(f"{path}.wal") if draw.random() < 0.6 else path
    data, kind = bytearray(target.read_bytes()), draw.choice(KINDS)
    at = draw.randrange(len(data))
    size = len(data[at : at + draw.choice((16, _PAGE))])
    if kind == "cut":
        del data[at:]
    elif kind == "zero":
        data[at : at + size] = bytes(size)
    elif kind == "noise":
        data[at : at + size] = draw.randbytes(size)
    else:
        data[at] ^= 1 << draw.randrange(8)
    target.write_bytes(data)
    if kind == "remove":
        target.unlink()
    return f"{kind} at {at} of {target.suffix}"


def files(path: Path) -> dict[str, str]:
    """The bytes of the file and of its write-ahead file, as hashes."""
    both = (path, Path(f"{path}.wal"))
    return {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in both if one.exists()}


def rows(memory: Memory) -> dict[str, list[str]]:
    """Every row of every table."""
    store = memory._storage
    return {
        table: [str(row) for batch in store.tables.rows(table, columns) for row in batch]
        for table, columns in store.tables.schema().items()
    }


def examine(path: Path, whole: dict[str, list[str]]) -> str:
    """What a damaged store says of itself: "refused", "told" or "whole".

    Raises AssertionError for one that is silent about what is missing, and for one that was refused and changed.
    """
    before = files(path)
    try:
        with Memory.open(path, clock=FixedClock(AT)) as memory:
            told = bool(memory.verify().faults)
            other = [table for table, held in rows(memory).items() if held != whole[table]]
            memory.search("kiln 3")
    except AmgsError as error:
        assert error.way_out and len(error.message) < 1000
        assert files(path) == before, f"refused, and yet changed on disk: {error}"
        return "lost" if "lost" in error.title else "refused"
    assert told or not other, f"{other} are not what they were, and nothing said so"
    return "told" if told else "whole"


def main(count: int, seed: int) -> int:
    """Damage a store `count` times; prints what came of it, gives the number of faults."""
    draw, seen, faults = random.Random(seed), Counter[str](), 0
    with tempfile.TemporaryDirectory() as folder:
        source = build(Path(folder))
        copy, aside = Path(folder) / "copy", shutil.ignore_patterns("copy*")
        with Memory.open(shutil.copytree(folder, copy, ignore=aside) / source.name, clock=FixedClock(AT)) as memory:
            whole = rows(memory)
        for place in range(count):
            shutil.rmtree(copy, ignore_errors=True)  # an index of the last one may still be closing
            copy = Path(folder) / f"copy-{place}"
            shutil.copytree(folder, copy, ignore=aside)
            how = damage(copy / source.name, draw)
            try:
                seen[examine(copy / source.name, whole)] += 1
            except AssertionError as error:
                faults += 1
                sys.stdout.write(f"{how}: {error}\n")
    sys.stdout.write(f"{count} damages: {', '.join(f'{n} {what}' for what, n in seen.items())}, {faults} faults\n")
    return faults


if __name__ == "__main__":
    sys.exit(min(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0), 1))

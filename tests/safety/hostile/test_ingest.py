"""Hostile files in a folder of notes: each is taken or refused by name, and the store is whole afterwards.

`make explore` draws hundreds anew; what they find becomes an example in `FOUND`.
"""

from __future__ import annotations

import os
import random
from datetime import UTC, datetime
from pathlib import Path

import pytest

from amgs.clock import FixedClock
from amgs.errors import AmgsError
from amgs.memory import Memory
from amgs.types import BlockFilter
from amgs_app.shell.output import as_text
from amgs_app.terminal.output import UNSAFE
from tests.safety.hostile.draws import WORDS, Draws, patience

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
PIECES = (
    "# ", "## ", "###### x\n", "```\n", "~~~python\n", "---\n", "...\n", "\n\n", "\n", "- ", "1. ", "> ", "| a | b |\n",
    "<!-- ", " -->", "[[", "]]", "[a](b)", "[x]: y\n", "![](", "**", "__", "`", "$$", "\\", "\t", "\r", "\r\n", "\x00",
    "date: ", "title: ", "tags: [", "source: ", "links: ", "{", "}", ": ", "&a *a", "!!python/object:os.x", "%YAML",
    "I value quiet. ", "The boiler broke on 3 May. ", "It was not so. ", "See [[dome]]. ", "Ann said: yes. ", "x" * 400,
)  # fmt: skip
DATES = (
    "2026-13-45", "03/04/2026", "[1, 2]", "{a: 1}", "null",
    "2026-02-20T25:00", "-4000-01-01", "99999999999999999999", "2026-02-20T00:00:00+99:99", "noon", "",
)  # fmt: skip


def written(path: Path, rng: random.Random) -> None:
    """A file of one of the kinds that end up in folders of notes."""
    kind = rng.choice(("pieces", "pieces", "front", "front", "bytes", "deep", "words", "utf16"))
    if kind == "bytes":
        path.write_bytes(rng.randbytes(rng.choice((0, 1, 300, 9000))))
        return
    if kind == "deep":
        text = rng.choice(("> ", "- ", "[", "(", "*", "#", "    ", "<div>")) * rng.choice((40, 5000)) + "x"
    elif kind == "words":
        text = "\n\n".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 12)))
    else:
        text = "".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 60)))
    if kind == "front":
        head = "".join(
            f"{rng.choice(('date', 'title', 'source', 'entities', 'created', rng.choice(WORDS)[:40]))}: "
            f"{rng.choice((*DATES, *WORDS))[:200]}\n"
            for _ in range(rng.randrange(1, 6))
        )
        text = f"---\n{head}{rng.choice(('---', '...', ''))}\n{text}"
    path.write_bytes(text.encode("utf-16" if kind == "utf16" else "utf-8", "surrogatepass"))


def name(number: int, rng: random.Random) -> str:
    """A name that a file system takes, odd as it may be."""
    word = rng.choice(WORDS).replace("/", "_").replace("\x00", "0").strip(".")
    shown = word.encode("utf-8", "surrogatepass")[:200].decode("utf-8", "ignore")
    return f"{number} {shown}{rng.choice(('.md', '.md', '.md', '.txt', '.MD', ''))}"


def taken_in(memory: Memory, folder: Path) -> str:
    """Take a folder in and say what came of it; raises for what must not happen."""
    with patience():
        report = memory.ingest_folder(folder)
    told = as_text(report) + as_text(report, "csv")
    assert UNSAFE.search(told) is None
    for refusal in report.refused:
        assert refusal.source, "a refusal that names nothing"
        assert 0 < len(refusal.reason) < 400, refusal.reason[:500]
    return told


@pytest.mark.hostile
def test_hostile_files_are_taken_in_or_refused_by_name(tmp_path: Path, draws: Draws) -> None:
    with Memory.open(tmp_path / "store.duckdb", clock=FixedClock(NOW)) as memory:
        for number in range(draws.count):
            seed = f"{draws.seed}/{number}"
            rng = random.Random(seed)
            folder = tmp_path / "notes" / str(number)
            folder.mkdir(parents=True)
            written(folder / name(number, rng), rng)
            try:
                taken_in(memory, folder)
                if number % 50 == 49:
                    with patience(300):
                        memory.consolidate()
            except AmgsError as error:
                raise AssertionError(f"draw {seed}: the whole folder was refused: {error}") from error
            except BaseException as error:
                raise AssertionError(f"draw {seed}: {os.listdir(folder)!r}") from error  # noqa: PTH208
        assert memory.verify().ok
        held = sum(memory.status().blocks.values())
    print(f"{draws.count} hostile files, {held} blocks")  # noqa: T201


@pytest.mark.parametrize("date", DATES)
def test_a_date_that_is_none_stops_no_folder(tmp_path: Path, date: str) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "odd.md").write_text(f"---\ndate: {date}\n---\n# Odd\n\nThe boiler broke.\n")
    (folder / "good.md").write_text("# Good\n\nThe dome stalled.\n")
    with Memory.open(tmp_path / "store.duckdb", clock=FixedClock(NOW)) as memory:
        taken_in(memory, folder)
        assert any("dome" in block.content for block in memory.blocks(BlockFilter(statuses=("raw",))))

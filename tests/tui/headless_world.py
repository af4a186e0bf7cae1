"""A small corpus and a command line in this process, for the headless tests."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from amgs_app import cli

NOTES = {
    "values/quiet.md": ("2026-01-10", "Quiet hours", "I value a quiet dome after ten. I keep my word."),
    "stall.md": ("2026-02-20", "The dome stalled", "It stalled at azimuth 214, error E-17. See [[motor]]."),
    "motor.md": ("2026-02-21", "Motor log", "The encoder of the dome slipped in the cold. Part QX-7741-B."),
    "goat.md": ("2026-02-25", "Goat", "A goat stood on the terrace and looked at the moon for an hour."),
}
NOW = "2026-03-01T09:00:00Z"


def write_corpus(folder: Path) -> Path:
    """Four notes below a folder."""
    for name, (date, title, text) in NOTES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\ndate: {date}\n---\n# {title}\n\n{text}\n", encoding="utf-8")
    return folder


@dataclass
class Amgs:
    """`amgs …` without a process: its exit code, what it wrote to stdout, and what it said on stderr."""

    store: Path
    corpus: Path
    capture: pytest.CaptureFixture[str]
    out: str = ""
    err: str = ""

    def __call__(self, *arguments: str) -> int:
        everywhere = ["--store", str(self.store), "--corpus", str(self.corpus)]
        everywhere += ["--model", "tiny", "--now", NOW, "--seed", "7"]
        self.capture.readouterr()
        code = cli.run([*everywhere, *arguments])
        self.out, self.err = self.capture.readouterr()
        return code


def make(tmp_path: Path, capture: pytest.CaptureFixture[str], prepared: Path) -> Amgs:
    """A command line on a copy of a consolidated store."""
    store = tmp_path / "world.duckdb"
    for path in prepared.parent.iterdir():
        target = tmp_path / path.name
        if path.is_dir():
            shutil.copytree(path, target)
        else:
            shutil.copy(path, target)
    return Amgs(store, tmp_path / "corpus", capture)


def prepare(folder: Path) -> Path:
    """A store that has taken in and consolidated the small corpus; gives its path."""
    from amgs.clock import FixedClock, parse_instant
    from amgs.memory import Memory

    corpus = write_corpus(folder / "corpus")
    store = folder / "world.duckdb"
    with Memory.open(store, clock=FixedClock(parse_instant(NOW))) as memory:
        memory.ingest_folder(corpus)
        memory.apply_consolidation(memory.plan_consolidation())
    return store

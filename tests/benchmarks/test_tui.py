"""`tui`: the terminal it holds, the walk it times, and that a program which does not answer is not fast."""

from __future__ import annotations

from pathlib import Path

from benchmarks import tui
from benchmarks.terminal import Terminal


def test_a_walk_over_the_inbox_times_every_key_until_the_command_has_ended(tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    tui._prepare(store, 900)
    with Terminal(["--store", str(store), "--model", "tiny"], 120, 40) as terminal:
        assert terminal.wait("Note 000000", 60) is not None
        times = tui._Walk(terminal).during(":consolidate\r", "onsolidated 900")
        assert times and all(0 < each < tui.SLOWEST * 1000 for each in times)
        assert terminal.wait("never drawn", 0.2) is None
        assert terminal.resident() > 20
    assert terminal._child.poll() is not None

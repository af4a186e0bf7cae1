"""What a long command draws in a terminal without the screen, and that Ctrl-C ends it between two tokens; what an
opening counts.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

from amgs.types import Progress
from amgs_app.engine import Engine, Options
from amgs_focus.records import Segment
from benchmarks.terminal import Terminal


def test_decoding_counts_its_tokens_and_stops_when_it_is_asked_to(tmp_path: Path) -> None:
    text = tmp_path / "book.txt"
    text.write_text("\n\n".join(f"The dome stood still on night {night}." for night in range(60)))
    script = tmp_path / "decode.amgs"
    script.write_text(f"focus open {text}\nfocus step 20000\n")
    given = ["--store", str(tmp_path / "s.duckdb"), "--model", "tiny", "run", str(script)]
    with Terminal(given, 100, 24) as terminal:
        assert terminal.come(r"decoding.*[1-9]\d*/20000", 60), terminal.seen
        os.kill(terminal.process, signal.SIGINT)
        assert terminal.come("Stopping", 60), terminal.seen
        assert terminal.come(r"It was stopped before its end", 60), terminal.seen


def test_an_opening_has_one_total_that_only_grows(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    texts = [Segment(f"The dome stood still on night {night}. " * 40) for night in range(5)]
    with Engine(Options(store=str(tmp_path / "s.duckdb"), model="tiny")) as engine:
        engine.open_focus(
            texts, "When did it stand still?", Progress(lambda done, total, _: told.append((done, total)))
        )
    assert {total for _, total in told} == {1 + len(texts)}
    counts = [done for done, _ in told]
    assert counts == sorted(counts) and set(counts) == set(range(1 + len(texts)))

"""The stability bench on the tiny model: what it counts, and that it sees what it should."""

from __future__ import annotations

from pathlib import Path

import pytest

from amgs_focus.errors import TextError
from amgs_focus.model.tiny import TinyModel
from amgs_focus.records import Action, Decision, NodeRef, Refocus
from amgs_focus.settings import FocusSettings
from benchmarks import focus_stability
from benchmarks.focus_rig import TokenCorpus
from tests.benchmarks.rigs import focus_rig

TEXT = "".join(f"On day {day} the keeper of light {day % 7} wrote {day * day} words, and slept. " for day in range(90))


def test_the_stability_bench_counts_what_moves_under_real_and_under_shaken_scores(tmp_path: Path) -> None:
    small = FocusSettings(block_size=4, window=48, cadence=4, tail_blocks=2, horizon=8)
    tokens = tuple(TinyModel().encode(TEXT))
    rig = focus_rig(tmp_path, TokenCorpus("told", ("told",), (tokens,), "0"))
    lifetimes = (200, 1000, 10**6)
    found = focus_stability.run(rig, refocuses=24, lifetimes=lifetimes, windows=(48,), settings=small)
    assert set(focus_stability.BENCH.goals) <= set(found.metrics)
    assert found.settings["lifetimes"] == [200, 1000]  # the text is too short for the third
    for ending in ("", "_noisy"):
        assert found.metrics[f"swap_rate{ending}"] > 0
        assert found.metrics[f"ping_pongs{ending}"] == found.metrics[f"oscillations{ending}"] == 0
    assert [row[0] for row in found.tables[0].rows] == [
        "tail-similarity",
        "tail-similarity + noise 0.5",
        "chance",
        "in turn",
        "contrary",
        "undoing",
    ]
    assert len(found.tables[1].rows) == 2 * 6
    with pytest.raises(TextError, match="longer text"):
        focus_stability.run(rig, lifetimes=(10**6,))


NODE = NodeRef(1, 0)


def record(number: int, *, did: Action | None = None) -> Refocus:
    """A refocus that did something with NODE, or nothing."""
    decided = (Decision(1, 0, did, 0.5, "applied", 3),) if did else ()
    return Refocus(number, number * 4, 100, (), decided, (), 20, 20, 48, 1, 0.0, 0.0, 0, 0.0, 0.0)


def test_an_action_that_undoes_a_recent_one_is_ping_pong() -> None:
    kept = [record(1, did="expand"), record(2), record(3), record(4, did="collapse")]
    assert focus_stability.count_ping_pongs(kept, cooldown=2) == 0
    quick = [record(1, did="expand"), record(2), record(3, did="collapse")]
    assert focus_stability.count_ping_pongs(quick, cooldown=2) == 1

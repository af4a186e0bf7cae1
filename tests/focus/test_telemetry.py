"""Telemetry from the trace: each number is what its name says."""

from __future__ import annotations

import json
import statistics

import pytest

from amgs_focus.records import NodeRef, Refocus, ScoreRow
from amgs_focus.trace.lineage import lineage
from amgs_focus.trace.telemetry import stays, telemetry, to_jsonl
from amgs_focus.trace.trace import read
from tests.focus.focus_world import traced

SETTINGS = {"block_size": 4, "tail_blocks": 2, "horizon": 8, "cooldown": 2}


def refocus(number: int, *nodes: NodeRef) -> Refocus:
    """A refocus that left these nodes."""
    rows = tuple(ScoreRow(node, node.index * 4, node.index * 4 + 4, 0.0) for node in nodes)
    return Refocus(number, number * 4, 100, rows, (), (), 20, 20, 48, 1, 0.0, 0.0, 0, 0.0, 0.0)


def test_the_numbers_of_a_run_are_those_of_its_records() -> None:
    runtime, writer = traced()
    runtime.decode(30)
    trace = read(writer.raw(), allow_incomplete=True)
    line = lineage(trace).line()
    found = telemetry(trace, line)
    refocuses = [record.refocus for record in trace.steps if record.refocus]
    assert len(found.iterations) == len(refocuses) == 8
    assert found.swap_rate == pytest.approx(statistics.fmean(one.swap_rate for one in refocuses))
    first = found.iterations[0]
    assert first.loss_at_h == pytest.approx(statistics.fmean(one.nll for one in trace.steps[:8]))
    assert (first.tokens, first.step, found.iterations[1].step) == (4, 0, 4)
    assert first.token_budget_utilization == refocuses[0].used / refocuses[0].window
    assert 0 < found.token_budget_utilization <= 1
    for one, refocus in zip(found.iterations, refocuses, strict=True):
        assert one.taken - one.given_back == refocus.used - refocus.used_before
    assert sum(one.taken + one.given_back for one in found.iterations) > 0
    assert found.latency_ms == 0  # the clock stands still
    lines = [json.loads(row) for row in to_jsonl(found).splitlines()]
    assert [row["refocus"] for row in lines] == list(range(1, 9))
    assert set(lines[0]) >= {"loss_at_h", "swap_rate", "mean_residency", "latency_ms", "token_budget_utilization"}


def test_stays_are_counted_in_refocuses_outside_the_tail() -> None:
    a, b, c = NodeRef(0, 0), NodeRef(0, 1), NodeRef(0, 24)
    run = [refocus(1, a, b, c), refocus(2, a, b, c), refocus(3, a, c), refocus(4, a, b, c)]
    found = stays(run, SETTINGS)  # the tail of 100 tokens begins at 92: c is in it
    assert (found.ended, sorted(found.running)) == ((2,), [0, 3])
    assert found.mean == pytest.approx(5 / 3)
    assert found.mean_ended == 2.0

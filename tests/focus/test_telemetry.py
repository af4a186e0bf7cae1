"""Telemetry from the trace: each number is what its name says, and each alarm rings when it should."""

from __future__ import annotations

import json
import statistics
from dataclasses import replace

import pytest

from amgs_focus.records import Action, Decision, Measurement, NodeRef, Refocus, ScoreRow, StepRecord
from amgs_focus.runtime.replay import header_of
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.trace.events import Trace, TraceEvent
from amgs_focus.trace.lineage import lineage
from amgs_focus.trace.telemetry import oscillations, ping_pongs, stays, telemetry, to_jsonl
from amgs_focus.trace.trace import TraceWriter, read
from tests.focus.focus_world import notes, small_runtime

SETTINGS = {"block_size": 4, "tail_blocks": 2, "horizon": 8, "cooldown": 2}
NODE = NodeRef(1, 0)


def traced(tokens: int = 30) -> tuple[FocusRuntime, Trace]:
    writer = TraceWriter(None, header_of(small_runtime()))
    runtime = small_runtime(trace=writer)
    runtime.ingest(notes())
    runtime.question("which lamp was lit?")
    runtime.decode(tokens)
    return runtime, read(writer.raw(), allow_incomplete=True)


def refocus(number: int, *nodes: NodeRef, did: Action | None = None, lifetime: int = 100) -> Refocus:
    """A refocus that left these nodes, and did something with NODE."""
    decided = (Decision(1, 0, did, 0.5, "applied", 3),) if did else ()
    rows = tuple(ScoreRow(node, node.index * 4, node.index * 4 + 4, 0.0) for node in nodes)
    return Refocus(number, number * 4, lifetime, rows, decided, (), 20, 20, 48, 1, 0.0, 0.0, 0, 0.0, 0.0)


def step(number: int, *, nll: float = 1.0, milliseconds: float = 10.0, lifetime: int = 0) -> StepRecord:
    return StepRecord(number, 97, "a", nll, False, lifetime or 100 + number, 20, 48, 1, milliseconds, "")


def forged(records: list[StepRecord | Measurement]) -> Trace:
    _, trace = traced(0)
    return replace(trace, events=tuple(TraceEvent(9 + at, record) for at, record in enumerate(records)))


def test_the_numbers_of_a_run_are_those_of_its_records() -> None:
    _, trace = traced()
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


def test_an_action_that_undoes_a_recent_one_is_ping_pong() -> None:
    kept = [refocus(1, did="expand"), refocus(2), refocus(3), refocus(4, did="collapse")]
    assert ping_pongs(kept, cooldown=2) == ()
    quick = [refocus(1, did="expand"), refocus(2), refocus(3, did="collapse")]
    (alarm,) = ping_pongs(quick, cooldown=2)
    assert (alarm.kind, alarm.value) == ("ping_pong", 2)
    assert "L1#0 was collapsed" in alarm.message


def test_a_node_that_goes_back_and_forth_oscillates_even_if_it_waits_each_time() -> None:
    kinds: list[Action | None] = ["expand", None, "collapse", None, "expand", None, "collapse"]
    run = [refocus(at, did=kind) for at, kind in enumerate(kinds, 1)]
    assert [alarm.kind for alarm in oscillations(run)] == ["oscillation"]
    slow = [refocus(at * 4, did=kind) for at, kind in enumerate(kinds, 1)]
    assert oscillations(slow) == ()


def test_an_iteration_that_takes_far_longer_rings() -> None:
    def run(slow: int) -> Trace:
        steps: list[StepRecord | Measurement] = []
        for n in range(1, 41):
            taken = step(n, milliseconds=100.0 if slow <= n < slow + 4 else 10.0)
            due = replace(refocus(n // 4), step=n - 1) if n % 4 == 1 else None
            steps.append(replace(taken, refocus=due))
        return forged(steps)

    for slow, rings in ((99, []), (1, []), (29, [("latency", 28)])):  # the first one reads everything
        trace = run(slow)
        found = telemetry(trace, lineage(trace).line())
        assert [(alarm.kind, alarm.step) for alarm in found.alarms] == rings

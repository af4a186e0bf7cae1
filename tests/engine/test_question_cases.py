"""Questions as tests of a memory: what holds, what does not and why."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from amgs.clock import FixedClock
from amgs.diagnosis.cases import check
from amgs.memory import Memory
from amgs.types.diagnosis import QuestionCase

VALVE = "The boiler valve QX-7741-B was replaced in March."
ROUTER = "The router in the attic drops packets when it rains."
ASKED = "which valve was replaced?"


@pytest.fixture(scope="module")
def memory() -> Memory:
    memory = Memory.open(":memory:", clock=FixedClock(datetime(2026, 3, 1, 9, tzinfo=UTC)))
    memory.add(VALVE)
    memory.add(ROUTER)
    memory.consolidate()
    return memory


@pytest.mark.parametrize(
    ("case", "fault"),
    [
        (QuestionCase(ASKED, ("qx 7741 b", "in March"), rank=1), ""),
        (QuestionCase(ASKED, frame="ATTENTION", must_contain=("QX-7741-B",)), ""),
        (QuestionCase(ASKED, ("the cellar",)), "“the cellar” is not in"),
        (QuestionCase(ASKED, must_not_contain=("was replaced",)), "“was replaced” is in"),
        (QuestionCase(ASKED, ("packets",), rank=1), "at rank 2, not 1"),
        (QuestionCase(ASKED, ("March", "packets"), rank=2), "no one block contains all of it"),
        (QuestionCase(ASKED, frame="ATTENTION", must_contain=("the cellar",)), "not in the text of ATTENTION"),
        (QuestionCase(ASKED, frame="ATTENTION", answerable=True), "is not known for such a question"),
    ],
)
def test_a_case_holds_or_says_what_does_not(memory: Memory, case: QuestionCase, fault: str) -> None:
    faults = check(case, memory).faults
    assert (not faults) if not fault else fault in faults[0]

"""What was resident and what it was worth flows back into memory, by block id, once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from amgs.clock import parse_instant
from amgs.errors import UsageError
from amgs_app.calls.registry import standard
from amgs_app.engine import Engine, Options
from amgs_app.render.catalogue import table_of
from amgs_app.results.focus import FocusFeedback
from amgs_app.session import Operator
from amgs_focus.records import NodeRef
from amgs_focus.runtime.utility import before_answer, block_utilities
from benchmarks.focus_training.gistnet import horizon_nll
from tests.tui.headless_world import NOW, Amgs


@pytest.fixture
def session(amgs: Amgs, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Operator]:
    """In a window that holds the whole frame as tokens, or in the one that a test asks for."""
    monkeypatch.setenv("AMGS_FOCUS__WINDOW", str(getattr(request, "param", 1024)))
    options = Options(store=str(amgs.store), corpus=amgs.corpus, model="tiny", now=parse_instant(NOW), seed=7)
    with Operator(Engine(options)) as opened:
        yield opened


def run(session: Operator, line: str, **words: Any) -> Any:
    registry = standard()
    return session.run(registry.call(line, **words))


def answered(session: Operator) -> None:
    run(session, "frame assemble", name="SESSION", query="why did the dome stall?")
    run(session, "frame open")
    run(session, "focus step", count=6)


def test_a_dry_run_shows_the_worths_and_writes_nothing(session: Operator) -> None:
    answered(session)
    frame = session.last_frame
    assert frame is not None
    before = [(o.prediction_id, o.actual) for o in session.engine.memory.outcomes()]
    shown: FocusFeedback = run(session, "focus measure", feedback=True, dry_run=True)
    assert not shown.applied and shown.outcomes == ()
    assert {row.worth.source for row in shown.rows} == {candidate.block.id for candidate in frame.candidates}
    assert all(row.worth.residency == 1.0 and row.reinforce for row in shown.rows)  # everything fits
    assert any(row.worth.gain is not None and row.useful is not None for row in shown.rows)
    assert [(o.prediction_id, o.actual) for o in session.engine.memory.outcomes()] == before
    assert "would be sent" in table_of(shown).title


def test_feedback_reinforces_what_was_resident_and_settles_forecasts_once(session: Operator) -> None:
    answered(session)
    plan: FocusFeedback = run(session, "focus measure", feedback=True, dry_run=True)
    wanted = {row.worth.source: row.useful for row in plan.rows if row.useful is not None}
    done: FocusFeedback = run(session, "focus measure", feedback=True)
    assert done.applied and done.rows == plan.rows
    assert {o.block_id: o.actual == 1.0 for o in done.outcomes} == wanted != {}
    for outcome in done.outcomes:
        assert outcome.brier == pytest.approx((outcome.predicted - (outcome.actual or 0.0)) ** 2)
    with pytest.raises(UsageError, match="already reported"):
        run(session, "focus measure", feedback=True)


@pytest.mark.parametrize("session", [384, 1024], indirect=True, ids=["a full window", "everything fits"])
def test_a_gain_is_the_answers_nll_without_the_blocks_detail(session: Operator) -> None:
    answered(session)
    runtime = session.engine.focus
    state, tree = runtime.state, runtime.tree
    context = before_answer(state)
    context.check()
    assert context.lifetime == tree.length - len(state.answer)
    answer = torch.tensor([[token for token in state.answer if token not in tree.model.stops]])

    def nll(rows: torch.Tensor) -> float:
        return float(horizon_nll(tree.model, rows[None], answer).mean())

    def without_detail(index: int) -> float:
        """The NLL without the detail of a block of tokens less that with it, the rest being as it stands."""
        place = context.position(NodeRef(1, index))
        if place is not None:
            gists.add(index)
            opened, _ = context.expand(place)
            return plain - nll(opened.embeddings(tree, 0, opened.used))
        closed, _ = context.collapse(NodeRef(1, index))
        return nll(closed.embeddings(tree, 0, closed.used)) - plain

    gists: set[int] = set()
    plain = nll(context.embeddings(tree, 0, context.used))
    for worth in block_utilities(state, tree, runtime.clock):
        held = [span for span in tree.spans() if span.source == worth.source]
        expected = 0.0
        for index in range(context.tail_start // 32):
            overlap = sum(max(0, min(s.end, 32 * index + 32) - max(s.start, 32 * index)) for s in held)
            if overlap:
                expected += overlap / 32 * without_detail(index)
        assert (worth.gain or 0.0) == pytest.approx(expected, abs=1e-6)
    assert bool(gists) == (context.window < context.lifetime)

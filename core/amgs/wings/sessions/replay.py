"""What our own strategies would have kept of a session's window where the agent's program compacted it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import replace

from amgs.errors import ImpossibleBudgetError
from amgs.memory.memory import Memory
from amgs.sessions.conversation import messages_of
from amgs.sessions.turn import Session, Turn
from amgs.types import Progress
from amgs.types.conversation import ContextStrategy
from amgs.wings.sessions.controls import DropOutcome, at_random, harness, instead, recent_only
from amgs.wings.sessions.regrets import Regret

_STRATEGIES: tuple[ContextStrategy, ...] = ("mask", "extractive", "hybrid", "levels")
"""Those that keep messages whole and ask no model."""


def replay(
    memory: Memory, session: Session, found: Sequence[Regret], progress: Progress | None = None
) -> tuple[DropOutcome, ...]:
    """What the compactions of a session cost, and what other ways to drop would have cost with as many tokens kept:
    each strategy of `conversation optimise`, the latest turns only, and dropping at random.

    memory: a scratch memory, into which the window at each compaction is put. A span counts as kept where it stays
    whole. The future is that of the session as it was.
    """
    made = [harness(session, found)]
    for done, strategy in enumerate(_STRATEGIES):
        if progress is not None:
            progress(done, len(_STRATEGIES), strategy)
        made.append(instead(session, found, strategy, _Kept(memory, strategy)))
    return (*made, recent_only(session, found), at_random(session, found))


class _Kept:
    """The turns that a strategy keeps whole; see `controls.Chosen`."""

    def __init__(self, memory: Memory, strategy: ContextStrategy) -> None:
        self._memory = memory
        self._strategy: ContextStrategy = strategy

    def __call__(self, session: Session, boundary: Turn, gone: Sequence[Turn], budget: int) -> Collection[int]:
        name = f"{session.id} {boundary.number}"
        told, _ = messages_of([turn for turn in gone if turn.kind not in ("boundary", "thinking")], session.text)
        if not told:  # nothing was dropped that could be kept
            return ()
        conversations = self._memory.conversation
        if all(one.name != name for one in conversations.list()):
            conversations.add(name, [replace(one.message, at=None) for one in told])
        try:
            made = conversations.optimise(name, budget=max(budget, 1), strategy=self._strategy)
        except ImpossibleBudgetError:
            return ()
        kept = {n for span in made.spans if span.fate == "kept" for n in range(span.first, span.last + 1)}
        lines = [one.line for one in told]
        answers = {one.message.answers: place for place, one in enumerate(told) if one.message.answers}
        numbers = set()
        for turn in gone:
            place = answers.get(turn.answers) if turn.answers else bisect_right(lines, turn.place.line) - 1
            if place is not None and place >= 0 and told[place].message.number in kept:
                numbers.add(turn.number)
        return numbers

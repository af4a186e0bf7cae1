"""What our own strategies, the latest turns and chance would have kept of a session's window where the agent's program
compacted it. The future is that of the session as it was: whoever had kept something else might have gone another way.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from amgs.errors import ImpossibleBudgetError
from amgs.memory.memory import Memory
from amgs.sessions.conversation import messages_of
from amgs.sessions.turn import (
    Session,
    Turn,
    estimate_dropped_tokens,
    find_dropped_turns,
    opening_after,
    tokens_of,
    tokens_of_all,
)
from amgs.types import Progress
from amgs.types.conversation import ContextStrategy
from amgs.wings.sessions.regrets import Regret, count_dropped_tokens, select_caused

_STRATEGIES: tuple[ContextStrategy, ...] = ("mask", "extractive", "hybrid", "levels")
"""Those that keep messages whole and ask no model."""

DRAWS: Final = 20
"""How often dropping at random is drawn."""

Chosen = Callable[[Session, Turn, Sequence[Turn], int], Collection[int]]
"""Which of the turns that were dropped at a boundary a strategy keeps within so many tokens, by their numbers."""


@dataclass(frozen=True, slots=True)
class DropOutcome:
    """What a way to drop cost at the compactions of a session. dropped: tokens that left the window. regrets: how many
    spans were needed again, of the kinds that compactions cause. tokens: what getting them again put into the window.
    spread: of the mean of some draws, the least and the most such tokens.
    """

    name: str
    dropped: int
    regrets: float
    tokens: float
    spread: tuple[float, float] | None = None

    @property
    def rate(self) -> float:
        """Tokens of rework for 1,000 tokens dropped."""
        return 1000.0 * self.tokens / self.dropped if self.dropped else 0.0


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


def harness(session: Session, found: Sequence[Regret]) -> DropOutcome:
    """What the compactions that took place cost."""
    own = select_caused(found)
    return DropOutcome("compaction", count_dropped_tokens(session), len(own), sum(one.tokens for one in own))


def instead(session: Session, found: Sequence[Regret], name: str, choose: Chosen) -> DropOutcome:
    """What another way to drop would have cost at the same compactions, with as many tokens kept as each of them
    kept.
    """
    dropped = 0
    left: list[Regret] = []
    own = select_caused(found)
    for boundary in session.boundaries:
        gone = find_dropped_turns(session, boundary)
        kept = set(choose(session, boundary, gone, budget_of(session, boundary)))
        dropped += estimate_dropped_tokens(session, boundary, kept)
        left += [one for one in own if one.boundary == boundary.number and not _has(session, one, kept)]
    return DropOutcome(name, dropped, len(left), sum(one.tokens for one in left))


def at_random(session: Session, found: Sequence[Regret], seed: int = 7) -> DropOutcome:
    """Dropping at random, the mean of some draws."""
    rng = random.Random(seed)

    def draw(session: Session, boundary: Turn, gone: Sequence[Turn], budget: int) -> Collection[int]:
        del boundary
        return _filled(session, rng.sample(gone, len(gone)), budget)

    drawn = [instead(session, found, "at random", draw) for _ in range(DRAWS)]
    return DropOutcome(
        "at random",
        round(sum(one.dropped for one in drawn) / DRAWS),
        sum(one.regrets for one in drawn) / DRAWS,
        sum(one.tokens for one in drawn) / DRAWS,
        (min(one.tokens for one in drawn), max(one.tokens for one in drawn)),
    )


def recent_only(session: Session, found: Sequence[Regret]) -> DropOutcome:
    """Keeping the latest turns, whole, as far as they fit."""

    def latest(session: Session, boundary: Turn, gone: Sequence[Turn], budget: int) -> Collection[int]:
        del boundary
        return _filled(session, gone[::-1], budget, stop=True)

    return instead(session, found, "the latest only", latest)


def budget_of(session: Session, boundary: Turn) -> int:
    """Tokens of what a compaction kept, estimated: its summary and what it put in."""
    return tokens_of_all(session, opening_after(session, boundary))


def _filled(session: Session, turns: Sequence[Turn], budget: int, *, stop: bool = False) -> set[int]:
    """The first turns that fit into a budget. stop: at the first that does not."""
    kept: set[int] = set()
    for turn in turns:
        cost = tokens_of(session, turn)
        if cost <= budget:
            kept.add(turn.number)
            budget -= cost
        elif stop:
            break
    return kept


def _has(session: Session, one: Regret, kept: Collection[int]) -> bool:
    """Whether what a regret was about stands in the window: of a call, its result."""
    turn = session.turn(one.before)
    if not turn.calls:
        return one.before in kept
    id = turn.calls[0].id
    return any(other.answers == id and other.number in kept for other in session.main)

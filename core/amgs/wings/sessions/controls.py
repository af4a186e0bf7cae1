"""What regret means beside what it is held against: rework that happens anyway, and other ways to drop as much.

The future is that of the session as it was: whoever had kept something else might have gone another way.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from amgs.sessions.turn import Session, Turn
from amgs.sessions.windows import (
    after_boundary,
    dropped_at,
    opening_after,
    tokens_dropped,
    tokens_of,
    tokens_of_all,
    window_at,
)
from amgs.wings.sessions.regrets import CAUSED, REGRET_KINDS, Regret, RegretKind, regrets_between

PLACES: Final = 12
"""Places without a compaction that are looked at in a session: each takes tens of milliseconds of a long one."""
_FOLLOWING: Final = 120
"""Turns that are looked at after a place, in a session without a compaction."""
DRAWS: Final = 20
"""How often dropping at random is drawn."""
_LEAST_BEFORE, _LEAST_AFTER = 40, 20
"""Turns before and after a place without which it says nothing."""

_ENOUGH: Final = 3
"""Times from which on a figure may stand out."""

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


@dataclass(frozen=True, slots=True)
class KindRate:
    """A kind of regret after compactions, beside what is done again anyway.

    regrets, tokens: after the compactions of the session. rate: tokens for 1,000 that were dropped. elsewhere: the same
    at places of the session where nothing was compacted, None where there are none. counted: whether it counts as the
    price of a compaction; see `regrets`.
    """

    kind: RegretKind
    regrets: int
    tokens: int
    rate: float
    elsewhere: float | None
    counted: bool

    @property
    def exceeds(self) -> bool:
        """Whether the rate is above that of other places, as far as there are any."""
        return self.elsewhere is None or self.rate > self.elsewhere

    @property
    def standing(self) -> str:
        """Whether the figure stands out in this session, in words."""
        if self.elsewhere is None:
            return "there is no place to hold it against"
        if not self.exceeds:
            return "as frequent elsewhere"
        if self.regrets < _ENOUGH or self.rate < 2 * self.elsewhere:
            return "too seldom to tell"
        return "stands out in this session"


def by_kind(session: Session, found: Sequence[Regret], *, places: int = PLACES, seed: int = 7) -> tuple[KindRate, ...]:
    """Each kind of regret that was found after a compaction or at other places of the session."""
    dropped = dropped_tokens(session)
    anyway, stood = elsewhere(session, places=places, seed=seed)
    rows = []
    for kind in REGRET_KINDS:
        own = [one for one in found if one.kind == kind]
        other = sum(one.tokens for one in anyway if one.kind == kind)
        if own or other:
            tokens = sum(one.tokens for one in own)
            rate = 1000.0 * tokens / dropped if dropped else 0.0
            rows.append(
                KindRate(kind, len(own), tokens, rate, 1000.0 * other / stood if stood else None, kind in CAUSED)
            )
    return tuple(rows)


def harness(session: Session, found: Sequence[Regret]) -> DropOutcome:
    """What the compactions that took place cost."""
    own = counted(found)
    return DropOutcome("compaction", dropped_tokens(session), len(own), sum(one.tokens for one in own))


def dropped_tokens(session: Session) -> int:
    """Tokens that all compactions of a session dropped, estimated."""
    return sum(tokens_dropped(session, boundary) for boundary in session.boundaries)


def counted(found: Sequence[Regret]) -> list[Regret]:
    """The regrets of the kinds that compactions cause."""
    return [one for one in found if one.kind in CAUSED]


def elsewhere(session: Session, *, places: int = PLACES, seed: int = 7) -> tuple[list[Regret], int]:
    """The same rule at places drawn where nothing was compacted: what was done again there, of what stood in the
    window, within as many turns as the session's compactions are followed by; and how many tokens stood there.
    """
    length = max((len(after_boundary(session, boundary)) for boundary in session.boundaries), default=_FOLLOWING)
    main = session.main
    marks = [turn.number for turn in session.boundaries]
    fit = [
        turn
        for place, turn in enumerate(main)
        if place >= _LEAST_BEFORE and len(main) - place >= _LEAST_AFTER and turn.number not in marks
    ]
    found: list[Regret] = []
    stood = 0
    for turn in random.Random(seed).sample(fit, min(places, len(fit))):
        window = window_at(session, turn.number - 1)
        later = [one for one in main if one.number >= turn.number][:length]
        end = next((n for n, one in enumerate(later) if one.number in marks), len(later))
        found += regrets_between(session, turn.number, window.turns, later[:end])
        stood += min(window.tokens, tokens_of_all(session, window.turns))
    return found, stood


def instead(session: Session, found: Sequence[Regret], name: str, choose: Chosen) -> DropOutcome:
    """What another way to drop would have cost at the same compactions, with as many tokens kept as each of them
    kept.
    """
    dropped = 0
    left: list[Regret] = []
    own = counted(found)
    for boundary in session.boundaries:
        gone = dropped_at(session, boundary)
        kept = set(choose(session, boundary, gone, budget_of(session, boundary)))
        dropped += tokens_dropped(session, boundary, kept)
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

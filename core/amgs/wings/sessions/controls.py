"""Compare regrets with a control: rework at places without a compaction."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from amgs.sessions.turn import Session
from amgs.sessions.windows import after_boundary, estimate_dropped_tokens, tokens_of_all, window_at
from amgs.wings.sessions.regrets import CAUSED, REGRET_KINDS, Regret, RegretKind, regrets_between

PLACES: Final = 12
"""Places without a compaction that are examined in a session; each takes tens of milliseconds in a long one."""
_FOLLOWING: Final = 120
"""Turns examined after a place, in a session without a compaction."""
_LEAST_BEFORE, _LEAST_AFTER = 40, 20
"""Fewest turns before and after a place that is examined."""

_ENOUGH: Final = 3
"""Fewest regrets for a rate to stand out."""


@dataclass(frozen=True, slots=True)
class KindRate:
    """Rate of a kind of regret after compactions, and without them.

    regrets, tokens: after the session's compactions. rate: tokens per 1,000 dropped. elsewhere: the same at places
    without a compaction, None if there are none. counted: whether it counts as a cost of compaction; see `regrets`.
    """

    kind: RegretKind
    regrets: int
    tokens: int
    rate: float
    elsewhere: float | None
    counted: bool

    @property
    def exceeds(self) -> bool:
        """Return whether the rate is above that of places without a compaction, if there are any."""
        return self.elsewhere is None or self.rate > self.elsewhere

    @property
    def standing(self) -> str:
        """Describe the rate in comparison with places without a compaction."""
        if self.elsewhere is None:
            return "there is no place to hold it against"
        if not self.exceeds:
            return "as frequent elsewhere"
        if self.regrets < _ENOUGH or self.rate < 2 * self.elsewhere:
            return "too seldom to tell"
        return "stands out in this session"


def by_kind(
    session: Session, regrets: Sequence[Regret], *, places: int = PLACES, seed: int = 7
) -> tuple[KindRate, ...]:
    """Return the rate of each kind of regret found after compactions or elsewhere."""
    dropped = count_dropped_tokens(session)
    anyway, stood = control_regrets(session, places=places, seed=seed)
    rows = []
    for kind in REGRET_KINDS:
        own = [regret for regret in regrets if regret.kind == kind]
        other = sum(regret.tokens for regret in anyway if regret.kind == kind)
        if own or other:
            tokens = sum(regret.tokens for regret in own)
            rate = 1000.0 * tokens / dropped if dropped else 0.0
            rows.append(
                KindRate(kind, len(own), tokens, rate, 1000.0 * other / stood if stood else None, kind in CAUSED)
            )
    return tuple(rows)


def count_dropped_tokens(session: Session) -> int:
    """Return the estimated tokens that all compactions of a session dropped."""
    return sum(estimate_dropped_tokens(session, boundary) for boundary in session.boundaries)


def counted(regrets: Sequence[Regret]) -> list[Regret]:
    """Return the regrets of the kinds that compactions cause."""
    return [regret for regret in regrets if regret.kind in CAUSED]


def control_regrets(session: Session, *, places: int = PLACES, seed: int = 7) -> tuple[list[Regret], int]:
    """Find regrets at random places without a compaction, over as many turns as follow the session's compactions;
    return them and the tokens in the windows there.
    """
    length = max((len(after_boundary(session, boundary)) for boundary in session.boundaries), default=_FOLLOWING)
    main = session.main
    marks = [turn.number for turn in session.boundaries]
    fit = [
        turn
        for place, turn in enumerate(main)
        if place >= _LEAST_BEFORE and len(main) - place >= _LEAST_AFTER and turn.number not in marks
    ]
    regrets: list[Regret] = []
    stood = 0
    for turn in random.Random(seed).sample(fit, min(places, len(fit))):
        window = window_at(session, turn.number - 1)
        later = [later_turn for later_turn in main if later_turn.number >= turn.number][:length]
        end = next((n for n, later_turn in enumerate(later) if later_turn.number in marks), len(later))
        regrets += regrets_between(session, turn.number, window.turns, later[:end])
        stood += min(window.tokens, tokens_of_all(session, window.turns))
    return regrets, stood

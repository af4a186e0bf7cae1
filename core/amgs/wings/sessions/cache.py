"""Cache use by request, from the counts in the session's file: tokens read from the provider's cache, and tokens read
again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final, Literal

from amgs.sessions.turn import Session
from amgs.sessions.windows import Request, requests

CacheCause = Literal["compaction", "taken back", "pause", "put in", "unknown"]
"""What the file shows as the cause of a cache miss, surest first.

compaction: a new window began. taken back: the user went back. pause: longer than the cache's lifetime. put in: the
program inserted something. unknown: none of these, for example changed tools or system prompt, which most files do not
contain.
"""
LIFETIME: Final = 300.0
"""Seconds for which providers cache an unused prefix, by default."""
READ, WRITTEN = 0.1, 1.25
"""Prices of a cached and a written token, relative to input (Anthropic's list; a one-hour cache costs 2.0)."""
_SLACK: Final = 0.05
"""Share of the window that may be read again unreported, since providers cache whole blocks only."""
_LEAST: Final = 1_024
"""Fewest tokens of a prefix that is cached."""


@dataclass(frozen=True, slots=True)
class CacheMiss:
    """A request that read again what the previous one had cached.

    lost: tokens that the cache could have provided. cost: in input tokens at full price. span: number of the turn that
    changed the prefix, None if unknown. seconds: since the previous request.
    """

    request: int
    turn: int
    lost: int
    cost: float
    cause: CacheCause
    span: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class CacheLine:
    """Cache use of a session. fresh, written, cached, output: tokens of all requests. missed: misses in order."""

    requests: tuple[Request, ...]
    fresh: int
    written: int
    cached: int
    output: int
    missed: tuple[CacheMiss, ...]

    @property
    def share(self) -> float:
        """Share of the input that came from the cache; 0 without any input."""
        total = self.fresh + self.written + self.cached
        return self.cached / total if total else 0.0

    @property
    def lost(self) -> float:
        """Cost of all misses, in input tokens at full price."""
        return sum(miss.cost for miss in self.missed)


def cache_line(session: Session) -> CacheLine:
    """Return the cache use of the main conversation."""
    every = requests(session)
    used = [request.usage for request in every]
    return CacheLine(
        every,
        sum(usage.fresh for usage in used),
        sum(usage.written for usage in used),
        sum(usage.cached for usage in used),
        sum(usage.output for usage in used),
        tuple(_misses(session, every)),
    )


def _misses(session: Session, every: Sequence[Request]) -> Iterator[CacheMiss]:
    written_price = WRITTEN if any(request.usage.written for request in every) else 1.0
    for before, after in pairwise(every):
        could = min(before.usage.window, after.usage.window)
        lost = could - after.usage.cached
        if could < _LEAST or lost <= max(_LEAST, _SLACK * could) or not _counts_cache(every):
            continue
        pause = _seconds(before.at, after.at)
        cause, span = _cause(session, before, after, pause)
        yield CacheMiss(after.number, after.first, lost, lost * (written_price - READ), cause, span, pause)


def _cause(session: Session, before: Request, after: Request, pause: float | None) -> tuple[CacheCause, int | None]:
    """Return what explains that the second request did not find the prefix of the first, and the turn number."""
    between = [turn for turn in session.turns[before.first : after.first] if not turn.agent]
    boundary = next((turn for turn in between if turn.boundary is not None), None)
    if boundary is not None:
        return "compaction", boundary.number
    if any(turn.abandoned for turn in between):
        return "taken back", next(turn.number for turn in between if turn.abandoned)
    if pause is not None and pause > LIFETIME:
        return "pause", None
    put_in = next((turn for turn in between if turn.kind == "injected"), None)
    return ("put in", put_in.number) if put_in is not None else ("unknown", None)


def _counts_cache(every: Sequence[Request]) -> bool:
    """Return whether the file reports cached tokens at all."""
    return any(request.usage.cached for request in every)


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    return None if start is None or end is None else max(0.0, (end - start).total_seconds())

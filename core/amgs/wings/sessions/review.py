"""Review a whole session: fill of the window, losses at compactions and their cost, cache use, failures. Follow
a session while it is being written.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from amgs.sessions.opening import open_session
from amgs.sessions.turn import LoadedRules, Relation, Session, TurnKind, requests, window_at
from amgs.text.words import plural
from amgs.types import Progress
from amgs.wings.sessions.losses import BrokenRule, Loss, Outlook, find_broken_rules, look_ahead, losses
from amgs.wings.sessions.regrets import KindRate, Regret, by_kind, regrets
from amgs.wings.sessions.tasks import UseSum, first_words, price_table, sum_of, use_of
from amgs.wings.sessions.work import (
    CacheLine,
    FailedStep,
    FileUse,
    LargeResult,
    LongWait,
    WindowShare,
    cache_line,
    failures_of,
    files_of,
    largest_results,
    shares_of,
    waits_of,
)

_COMMAND: Final = 80
"""Characters of a command shown in a sentence."""
_AGAIN: Final = 3
"""Times from which on an unresolved failure is reported by itself."""
POINTS: Final = 400
"""Most points of the fill strip: more than a screen has columns."""


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """Facts about a session. title: or the user's first words.

    records: lines or records of the file; taken: those with turns; evidence: others by type; unread: line number and
    reason of unreadable ones. turns: of the main conversation by kind. subagents: their number; side: their turns.
    abandoned: turns of the main conversation that the user took back. has_system, has_tools: the file contains the
    system prompt, the tools' definitions. partial: only the end of the file was read. copied: turns copied from another
    session. parent, relation, notes: see `Session`.
    """

    agent: str
    format: str
    path: str
    id: str
    title: str
    project: str
    model: str
    version: str
    window: int | None
    started: datetime | None
    ended: datetime | None
    records: int
    taken: int
    evidence: Mapping[str, int]
    unread: tuple[tuple[int, str], ...]
    turns: Mapping[TurnKind, int]
    subagents: int
    abandoned: int
    has_system: bool
    has_tools: bool
    partial: bool = False
    parent: str = ""
    relation: Relation = ""
    notes: tuple[str, ...] = ()
    side: int = 0
    copied: int = 0

    @property
    def all_turns(self) -> int:
        """All turns of the file, including abandoned ones and those of subagents."""
        return sum(self.turns.values()) + self.side + self.abandoned


@dataclass(frozen=True, slots=True)
class FillPoint:
    """Fill of the window at a request or a compaction. turn: its number. tokens: as the file reports. fill: share of
    the window, None if its size is unknown. cached: share that came from the cache.
    """

    turn: int
    tokens: int
    fill: float | None
    cached: float
    compaction: bool = False


@dataclass(frozen=True, slots=True)
class SessionReview:
    """Review of a whole session. kinds: rates of regrets, compared with places without a compaction. used: all requests
    of the file, including subagents'. prices: date of the price table. outlook: None without turns.
    """

    facts: SessionFacts
    fills: tuple[FillPoint, ...]
    losses: tuple[Loss, ...]
    regrets: tuple[Regret, ...]
    kinds: tuple[KindRate, ...]
    cache: CacheLine
    rules: tuple[LoadedRules, ...]
    broken: tuple[BrokenRule, ...]
    shares: tuple[WindowShare, ...]
    largest: tuple[LargeResult, ...]
    files: tuple[FileUse, ...]
    failures: tuple[FailedStep, ...]
    waits: tuple[LongWait, ...]
    used: UseSum
    prices: str
    outlook: Outlook | None

    @property
    def wrong(self) -> tuple[str, ...]:
        """Problems in a few words, worst first: broken rules (first those that a compaction had dropped), text fetched
        again after compactions, repeated failures, number of other failures.
        """
        rules = sorted(self.broken, key=lambda rule: (rule.dropped is None, rule.done))
        problems = [
            f"rule of turn {rule.said}"
            + (f", dropped at {rule.dropped}" if rule.dropped is not None else "")
            + f", broken at {rule.done}: `{rule.command[:_COMMAND]}`"
            for rule in rules
        ]
        tokens, _ = self.price
        if tokens:
            problems.append(f"{tokens:,} tokens were needed again after a compaction")
        never = [failure for failure in self.failures if failure.mended is None]
        problems += [f"failed {failure.times} times: {failure.what}" for failure in never if failure.times >= _AGAIN]
        if rest := sum(failure.times < _AGAIN for failure in never):
            problems.append(f"{plural(rest, 'error')} never followed by a success")
        return tuple(problems)

    @property
    def price(self) -> tuple[int, float]:
        """Tokens and seconds for getting dropped text again, counting kinds that compactions cause and that are more
        frequent after them.
        """
        counted = {row.kind for row in self.kinds if row.counted and row.exceeds}
        own = [regret for regret in self.regrets if regret.kind in counted]
        return sum(regret.tokens for regret in own), sum(regret.seconds or 0.0 for regret in own)


def review(session: Session, progress: Progress | None = None) -> SessionReview:
    """Review a whole session; a session of three megabytes takes half a second. Raises Cancelled."""
    all_regrets = regrets(session, progress)
    return SessionReview(
        facts_of(session),
        fills_of(session),
        losses(session),
        all_regrets,
        by_kind(session, all_regrets) if session.boundaries else (),
        cache_line(session),
        session.rules,
        find_broken_rules(session),
        shares_of(session),
        largest_results(session),
        files_of(session),
        failures_of(session),
        waits_of(session),
        sum_of(session.id, use_of(session).requests),
        price_table()["checked"],
        look_ahead(session) if session.main else None,
    )


def facts_of(session: Session) -> SessionFacts:
    """Return the facts about a session."""
    kinds = Counter(turn.kind for turn in session.main)
    return SessionFacts(
        session.agent,
        session.format,
        session.path,
        session.id,
        session.title or first_words(session),
        session.project,
        session.model,
        session.version,
        session.window,
        session.started,
        session.ended,
        session.records,
        session.records_with_turns,
        dict(session.evidence),
        session.unread,
        dict(kinds),
        len({turn.agent for turn in session.turns} - {""}),
        sum(turn.abandoned and not turn.agent for turn in session.turns),
        session.system is not None,
        session.tools is not None,
        session.partial,
        session.parent,
        session.relation,
        session.notes,
        sum(bool(turn.agent) for turn in session.turns),
        sum(turn.copied for turn in session.turns),
    )


def fills_of(session: Session) -> tuple[FillPoint, ...]:
    """Return the fill of the window over the session: a point per request and compaction, in order.

    If the file reports no tokens, about 100 estimated points.
    """
    limit = session.window
    points = [
        FillPoint(
            request.first,
            request.usage.window,
            request.usage.window / limit if limit else None,
            request.usage.cached / request.usage.window if request.usage.window else 0.0,
        )
        for request in requests(session)
    ]
    if not points:
        every = max(1, len(session.main) // 100)
        for turn in session.main[::every]:
            window = window_at(session, turn.number)
            points.append(FillPoint(turn.number, window.tokens, window.fill, 0.0))
    for boundary in session.boundaries:
        tokens = (boundary.boundary.before if boundary.boundary else None) or 0
        points.append(FillPoint(boundary.number, tokens, tokens / limit if limit else None, 0.0, True))
    points.sort(key=lambda point: point.turn)
    step = max(1, len(points) // POINTS)
    return tuple(point for place, point in enumerate(points) if place % step == 0 or point.compaction)


_EVERY: Final = 1.0
"""Seconds between two checks of the file."""


def follow(path: Path, seconds: float | None = None, progress: Progress | None = None) -> tuple[Session, Outlook]:
    """Read a session again whenever its file has grown, until `seconds` have passed or it is cancelled; return its last
    state.

    progress: receives the fill of the window, and near a compaction, which files that are likely needed again it would
    drop. Raises InputError for an unreadable file, and Cancelled.
    """
    end = None if seconds is None else time.monotonic() + seconds
    size: int | None = None
    while True:
        now = _size(path)
        if size is None or now != size:
            size = now
            session = open_session(path)
            outlook = look_ahead(session)
            line = describe_outlook(outlook)
        if progress is not None:
            progress(outlook.tokens, outlook.limit or 0, line)
        if end is not None and time.monotonic() >= end:
            return session, outlook
        time.sleep(_EVERY if end is None else min(_EVERY, max(0.0, end - time.monotonic())))


def describe_outlook(outlook: Outlook) -> str:
    """Return a phrase such as `turn 212, 81 % of the window; a compaction would drop app.py, store.py`."""
    line = f"turn {outlook.turn}, {outlook.tokens:,} tokens"
    if outlook.fill is not None:
        line = f"turn {outlook.turn}, {outlook.fill:.0%} of the window"
    if not outlook.near:
        return line
    names = ", ".join(file.path.rsplit("/", 1)[-1] for file in outlook.files[:4])
    return f"{line}; a compaction would drop {names or 'all of it'}"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1

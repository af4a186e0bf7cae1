"""A session looked at whole: how full the window was, what each compaction threw away, what that cost, what was
cached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from amgs.sessions.turn import LoadedRules, Relation, Session, Turn, TurnKind
from amgs.sessions.windows import requests, tokens_of, window_at
from amgs.types import Progress
from amgs.wings.sessions.cache import CacheLine, cache_line
from amgs.wings.sessions.controls import KindRate, by_kind
from amgs.wings.sessions.findings import action_of
from amgs.wings.sessions.losses import Loss, losses
from amgs.wings.sessions.obedience import BrokenRule, broken_rules
from amgs.wings.sessions.regrets import Regret, regrets

_SHORT: Final = 200
"""Characters of a turn that a list shows."""
POINTS: Final = 400
"""Points of the strip at most: more than any screen has columns."""


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What a session is. records: lines or records of the file; taken: those that hold turns; evidence: the others by
    what they are; unread: line and reason of those that cannot be read. turns: by kind, of the main conversation.
    subagents: how many; side: turns of theirs. abandoned: turns of the main one that were taken back. has_system,
    has_tools: whether the file holds the system prompt and the definitions of tools. partial: whether only the end of
    the file was read. copied: turns that are another session's. parent, relation, notes: see `Session`.
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
        """All turns of the file, those of subagents and those that were taken back too."""
        return sum(self.turns.values()) + self.side + self.abandoned


@dataclass(frozen=True, slots=True)
class FillPoint:
    """The window at a request, or at a compaction. turn: its number. tokens: as the file counts. fill: of the window,
    None where its size is unknown. cached: the share that came from the cache.
    """

    turn: int
    tokens: int
    fill: float | None
    cached: float
    compaction: bool = False


@dataclass(frozen=True, slots=True)
class SessionReview:
    """See the module. kinds: of the regrets, beside what is done again anyway."""

    facts: SessionFacts
    fills: tuple[FillPoint, ...]
    losses: tuple[Loss, ...]
    regrets: tuple[Regret, ...]
    kinds: tuple[KindRate, ...]
    cache: CacheLine
    rules: tuple[LoadedRules, ...]
    broken: tuple[BrokenRule, ...]

    @property
    def price(self) -> tuple[int, float]:
        """(tokens, seconds) of getting again what compactions dropped, of the kinds that they cause."""
        own = [one for one in self.regrets if any(row.kind == one.kind and row.counted for row in self.kinds)]
        return sum(one.tokens for one in own), sum(one.seconds or 0.0 for one in own)


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn as a list shows it. what: its first words, or the tool and what it is called with. tokens: estimated."""

    number: int
    kind: TurnKind
    role: str
    at: datetime | None
    tokens: int
    what: str
    agent: str = ""
    failed: bool = False
    abandoned: bool = False
    copied: bool = False


def review(session: Session, progress: Progress | None = None) -> SessionReview:
    """Look at a session whole; one of three megabytes takes half a second. Raises Cancelled."""
    found = regrets(session, progress)
    return SessionReview(
        facts_of(session),
        fills_of(session),
        losses(session),
        found,
        by_kind(session, found) if session.boundaries else (),
        cache_line(session),
        session.rules,
        broken_rules(session),
    )


def facts_of(session: Session) -> SessionFacts:
    """What a session is, counted."""
    kinds = Counter(turn.kind for turn in session.main)
    return SessionFacts(
        session.agent,
        session.format,
        session.path,
        session.id,
        session.title,
        session.project,
        session.model,
        session.version,
        session.window,
        session.started,
        session.ended,
        session.records,
        session.taken,
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
    """The window over the session: a point a request and a compaction, in order. Without counts of the file, a point
    at every so many turns, estimated.
    """
    limit = session.window
    points = [
        FillPoint(
            one.first,
            one.usage.window,
            one.usage.window / limit if limit else None,
            one.usage.cached / one.usage.window if one.usage.window else 0.0,
        )
        for one in requests(session)
    ]
    if not points:
        every = max(1, len(session.main) // 100)
        for turn in session.main[::every]:
            window = window_at(session, turn.number)
            points.append(FillPoint(turn.number, window.tokens, window.fill, 0.0))
    for boundary in session.boundaries:
        tokens = (boundary.boundary.before if boundary.boundary else None) or 0
        points.append(FillPoint(boundary.number, tokens, tokens / limit if limit else None, 0.0, True))
    points.sort(key=lambda one: one.turn)
    step = max(1, len(points) // POINTS)
    return tuple(one for place, one in enumerate(points) if place % step == 0 or one.compaction)


def row_of(session: Session, turn: Turn) -> TurnRow:
    """A turn as a list shows it."""
    action = action_of(turn)
    told = f"[{turn.speaker}] {turn.text}" if turn.kind == "injected" and turn.speaker else turn.text
    if turn.calls:
        target = action.target if action and action.target else turn.calls[0].arguments
        told = f"{turn.calls[0].name} {target}"
    elif turn.boundary is not None:
        mark = turn.boundary
        what = "compacted" if mark.whole else "results of tools cleared"
        told = " ".join(
            word for word in (what, mark.trigger, f"at {mark.before:,} tokens" if mark.before else "") if word
        )
    return TurnRow(
        turn.number,
        turn.kind,
        turn.role,
        turn.at,
        tokens_of(session, turn),
        " ".join(told[: 4 * _SHORT].split())[:_SHORT],
        turn.agent,
        turn.failed,
        turn.abandoned,
        turn.copied,
    )

"""Views of an agent's session that are not types of the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs.sessions.turn import LoadedRules, Turn
    from amgs.wings.sessions.cache import CacheLine
    from amgs.wings.sessions.controls import KindRate
    from amgs.wings.sessions.losses import Loss, LossReason
    from amgs.wings.sessions.obedience import BrokenRule
    from amgs.wings.sessions.outlook import Outlook
    from amgs.wings.sessions.regrets import Regret
    from amgs.wings.sessions.review import SessionFacts
    from amgs.wings.sessions.turn_rows import TurnRow


@dataclass(frozen=True, slots=True)
class SessionTurns:
    """`session FILE --view turns`: turns in order. total: number of all, or of those that contain the words."""

    facts: SessionFacts
    turns: tuple[TurnRow, ...]
    total: int
    find: str = ""


@dataclass(frozen=True, slots=True)
class SessionWindowShown:
    """`session FILE --view window`: the window at a turn, in the order in which the model read it.

    tokens: as the file reports, else estimated. described: of the turns shown, estimated; the rest are the system
    prompt, tool definitions, and what the file does not contain.
    """

    facts: SessionFacts
    turn: int
    turns: tuple[TurnRow, ...]
    tokens: int
    described: int
    estimated: bool
    system: str | None
    tools: str | None
    masked: int


@dataclass(frozen=True, slots=True)
class SessionText:
    """`session FILE --view text`: one turn in full. diff: lines that a call changes in files."""

    facts: SessionFacts
    turn: Turn
    diff: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionHandOver:
    """`session FILE --brief N`: what another agent must know. message: as a program's first message."""

    facts: SessionFacts
    message: str
    tokens: int


@dataclass(frozen=True, slots=True)
class SessionWhy:
    """`session FILE --view why`: what happened to a text at a compaction, and where it was needed again."""

    facts: SessionFacts
    reason: LossReason
    again: tuple[Regret, ...]


@dataclass(frozen=True, slots=True)
class SessionLosses:
    """`session FILE --view lost`: what compactions dropped, by class. kind: only this class."""

    facts: SessionFacts
    losses: tuple[Loss, ...]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class SessionRegrets:
    """`session FILE --view regret`: what was needed again, compared with rework at other places."""

    facts: SessionFacts
    regrets: tuple[Regret, ...]
    kinds: tuple[KindRate, ...]


@dataclass(frozen=True, slots=True)
class SessionCache:
    """`session FILE --view cache`: tokens that each request read from the provider's cache, and read again."""

    facts: SessionFacts
    cache: CacheLine


@dataclass(frozen=True, slots=True)
class SessionRules:
    """`session FILE --view rules`: standing instructions that were loaded, and prohibitions that were broken."""

    facts: SessionFacts
    rules: tuple[LoadedRules, ...]
    broken: tuple[BrokenRule, ...]


@dataclass(frozen=True, slots=True)
class SessionOutlook:
    """`session FILE --view outlook`: what a compaction at a turn would drop, most likely needed first."""

    facts: SessionFacts
    outlook: Outlook

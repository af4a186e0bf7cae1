"""Views of an agent's session that are not types of the engine, and the terms in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from amgs.sessions.turn import LoadedRules, Turn
    from amgs.wings.sessions.losses import BrokenRule, Loss, LossReason, Outlook
    from amgs.wings.sessions.regrets import KindRate, Regret
    from amgs.wings.sessions.review import SessionFacts
    from amgs.wings.sessions.work import CacheLine, TurnRow


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
    """`session FILE --view text`: a turn in full. diff: lines that a call changes in files."""

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


TERMS: Final = (
    ("▼", "A compaction: what stood in the window was dropped, and a summary stands in its place."),
    ("✗", "In the list: results that tell of a failure. Above a session: what went wrong, the worst first."),
    ("↻, again", "How often something was needed again that a compaction had dropped, where there was time to look."),
    ("word for word", "Of what was dropped, what the new window holds as it was said."),
    ("in other words", "What it holds otherwise: a file's name without its folder, a sentence by most of its words."),
    ("gone", "What it does not hold at all."),
    (
        "reopened",
        "A file that the agent had changed or written, and read again after the compaction, as it had left it.",
    ),
    (
        "reread, rerun, searched, repeated",
        "Done again after a compaction; shown beside what is done again elsewhere, and not counted as its price.",
    ),
    ("read again", "A file whose reading showed, for the most part, lines that an earlier reading had shown."),
    ("mended at", "The turn at which a step went well that had failed before."),
    ("cache", "The share of what the model read that the provider had cached from the request before."),
)
"""Terms and what they mean."""

"""One person or thing that a conversation has under two names, and making them one (context optimiser, L10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from amgs.types.mentions import MentionType

AliasCue = Literal[
    "given name", "family name", "family name, with a title", "title", "short form", "spelling"
]
"""What two names share. given name, family name: one is the first, or the last, word of the other. title: they differ
in it alone.
"""


@dataclass(frozen=True, slots=True)
class AlikeEntities:
    """Two entities of one type that may be one. name: the fuller name, which a merge would keep; other: the other name.

    handles, other_handles: the messages that speak of each. several: whether one of the names goes as well with a third
    that does not go with the other. confidence: in [0, 1], how often two such names are of one.
    """

    name: str
    other: str
    type: MentionType
    handles: tuple[str, ...]
    other_handles: tuple[str, ...]
    cue: AliasCue
    several: bool
    confidence: float


@dataclass(frozen=True, slots=True)
class AlikeNames:
    """Names in a conversation that are likely of one, the surest first. withheld: pairs less sure than `least`.
    waiting: messages that `resolve` has not read.
    """

    conversation: str
    pairs: tuple[AlikeEntities, ...]
    withheld: int
    waiting: int
    least: float


@dataclass(frozen=True, slots=True)
class EntityMerge:
    """Two entities as one. name: the name that stays; other: the one that goes.

    mentions: of the first; moved: mentions of the other, which now mean the first, in the messages of `handles`;
    owned: what was the other's and is the first's now. cue: what their names share, None for nothing; against: what
    speaks against it, "" for nothing. operation: the journal entry, which `undo` takes back; None where nothing was
    changed.
    """

    conversation: str
    name: str
    other: str
    type: MentionType
    mentions: int
    moved: int
    handles: tuple[str, ...]
    owned: tuple[str, ...]
    cue: AliasCue | None
    against: str
    operation: int | None = None

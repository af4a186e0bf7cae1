"""A turn as shown in lists: who, when, size, and first words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from amgs.masking import mask
from amgs.sessions.turn import Session, Turn, TurnKind
from amgs.sessions.windows import tokens_of
from amgs.wings.sessions.findings import action_of

_SHORT: Final = 200
"""Characters of a turn shown in a list."""


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn as shown in a list. what: its first words, or the tool and what it acts on. tokens: estimated."""

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


def row_of(session: Session, turn: Turn) -> TurnRow:
    """Return a turn as shown in a list."""
    action = action_of(turn)
    text = f"[{turn.speaker}] {turn.text}" if turn.kind == "injected" and turn.speaker else turn.text
    if turn.calls:
        target = action.target if action and action.target else turn.calls[0].arguments
        text = f"{turn.calls[0].name} {target}"
    elif turn.boundary is not None:
        mark = turn.boundary
        what = "compacted" if mark.whole else "results of tools cleared"
        text = " ".join(
            word for word in (what, mark.trigger, f"at {mark.before:,} tokens" if mark.before else "") if word
        )
    return TurnRow(
        turn.number,
        turn.kind,
        turn.role,
        turn.at,
        tokens_of(session, turn),
        " ".join(mask(text[: 40 * _SHORT]).split())[:_SHORT],
        turn.agent,
        turn.failed,
        turn.abandoned,
        turn.copied,
    )

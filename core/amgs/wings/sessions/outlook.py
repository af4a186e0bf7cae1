"""Forecast the losses of a compaction at a turn, and which of them are likeliest to be needed again.

Files are told in the order in which they were last spoken of: in words, in thoughts, in a plan. Of the first five of
that order 30 % were read or written again within 80 turns after the 29 compactions of 22 sessions, of all files in the
window 16 %. By when they were last read, by how often, and by what was written the five were no better than all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from amgs.sessions.turn import Session, Turn
from amgs.sessions.windows import tokens_of, window_at
from amgs.wings.sessions.findings import SessionFinding, action_of, findings_in

NEAR: Final = 0.8
"""Share of the window from which on a compaction is near: Claude Code compacted at 84 % in the five
sessions in which it did so by itself.
"""
SHOWN: Final = 10


@dataclass(frozen=True, slots=True)
class FileAtRisk:
    """A file that was read or written in the window. uses: how often. spoken: the turn that named it last in words,
    else the last that used it. tokens: of all its results in the window, estimated.
    """

    path: str
    uses: int
    spoken: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Outlook:
    """Expected losses of a compaction at a turn.

    tokens: of the window; limit: the model's maximum, None where that is unknown. files: likeliest to be needed first.
    asked: what the user asked for to be so, always or never, the latest first.
    """

    turn: int
    tokens: int
    limit: int | None
    files: tuple[FileAtRisk, ...]
    asked: tuple[SessionFinding, ...]

    @property
    def fill(self) -> float | None:
        """Share of the window in use; None where its size is unknown."""
        return self.tokens / self.limit if self.limit else None

    @property
    def near(self) -> bool:
        """Return whether a compaction is near."""
        return self.fill is not None and self.fill >= NEAR


def look_ahead(session: Session, number: int | None = None) -> Outlook:
    """Return what a compaction at a turn, the last one unless given, would drop. Raises IndexError for a number of no
    turn.
    """
    at = number if number is not None else (session.main[-1].number if session.main else len(session.turns))
    window = window_at(session, at)
    asked = [
        finding
        for turn in reversed(window.turns)
        if turn.kind == "said" and turn.role == "user"
        for finding in findings_in(turn)
        if finding.kind == "constraint"
    ]
    return Outlook(
        at, window.tokens, window.limit, tuple(files_at_risk(session, window.turns)[:SHOWN]), tuple(asked[:SHOWN])
    )


def files_at_risk(session: Session, turns: Sequence[Turn]) -> list[FileAtRisk]:
    """Return the files that turns read or wrote, those that were spoken of last first."""
    results = {turn.answers: turn for turn in turns if turn.kind == "result"}
    used: dict[str, list[Turn]] = {}
    for turn in turns:
        action = action_of(turn)
        if action is not None and action.kind in ("read", "write") and action.target:
            used.setdefault(action.target, []).append(turn)
    spoken: dict[str, int] = {}
    names = {path: path.rsplit("/", 1)[-1] for path in used}
    for turn in turns:
        action = action_of(turn)
        if turn.kind in ("said", "thinking") or (action is not None and action.kind == "other"):
            words = turn.words
            spoken.update({path: turn.number for path, name in names.items() if name in words})
    risks = []
    for path, calls in used.items():
        answers = [results[call.calls[0].id] for call in calls if call.calls[0].id in results]
        tokens = sum(tokens_of(session, turn) for turn in (*calls, *answers))
        risks.append(FileAtRisk(path, len(calls), spoken.get(path, calls[-1].number), tokens))
    order = {risk.path: (risk.path in spoken, risk.spoken) for risk in risks}
    return sorted(risks, key=lambda risk: order[risk.path], reverse=True)

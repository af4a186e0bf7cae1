"""Find the user's prohibitions that were broken, and whether a compaction had dropped them.

By rules, and only for prohibitions that a command can break: "never use npm", "do not push", "don't run `mix format`".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from amgs.sessions.turn import Session, Turn
from amgs.sessions.windows import find_dropped_turns, opening_after
from amgs.wings.sessions.findings import action_of, sentences_in
from amgs.wings.sessions.losses import contains_whole

_FORBIDS = re.compile(
    r"\b(?:never|do(?:n't| not)|must(?:n't| not)|should(?:n't| not)|avoid|stop)\s+(?:ever\s+)?"
    r"(?:(?:use|using|run|running|call|calling|execute|executing)\s+`?(?P<program>[a-z][\w./-]*(?: [\w./-]+)?)"
    r"|`(?P<quoted>[a-z][\w./-]*(?: [\w./-]+)?)`|(?P<act>push|commit|rebase|merge)\b)",
    re.IGNORECASE,
)
_PROGRAMS: Final = re.compile(
    r"(?:npm|yarn|pnpm|bun|pip3?|poetry|uv|conda|git|make|cargo|go|mix|docker|kubectl|terraform|sudo|rm|curl|wget|ssh"
    r"|pytest|jest|vitest|prettier|eslint|black|sed)\b"
)
_ACTS: Final = re.compile(r"(?:add|apply|build|commit|deploy|format|install|merge|publish|push|rebase|reset|run|test)$")
"""Second words that say what a program does."""


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A prohibition that was broken.

    said, done: turn numbers. dropped: turn of the compaction that had dropped it by then, None if it was still in the
    window.
    """

    rule: str
    said: int
    done: int
    command: str
    dropped: int | None


def find_broken_rules(session: Session) -> tuple[BrokenRule, ...]:
    """Return the user's prohibitions in the main conversation that a later command broke, without duplicates."""
    return tuple(_find_broken_rules(session))


def _find_broken_rules(session: Session) -> Iterator[BrokenRule]:
    forbidden: list[tuple[Turn, str, str]] = []
    dropped: dict[int, int] = {}
    for turn in session.main:
        if turn.kind == "said" and turn.role == "user":
            forbidden += [(turn, sentence, what) for sentence, what in _forbidden(turn)]
        elif turn.boundary is not None and turn.boundary.whole:
            window = " ".join("\n".join(opening_turn.text for opening_turn in opening_after(session, turn)).split())
            gone = {dropped_turn.number for dropped_turn in find_dropped_turns(session, turn)}
            for user_turn, sentence, _ in forbidden:
                if user_turn.number in gone and not contains_whole(window, sentence):
                    dropped.setdefault(user_turn.number, turn.number)
        action = action_of(turn)
        if action is None or not action.commands or turn.copied:
            continue
        for rule in list(forbidden):
            origin, sentence, what = rule
            if _breaks(action.commands, what):
                forbidden.remove(rule)
                yield BrokenRule(sentence, origin.number, turn.number, action.target, dropped.get(origin.number))


def _forbidden(turn: Turn) -> Iterator[tuple[str, str]]:
    """Yield (sentence, command that it forbids) of a user's turn."""
    for sentence in sentences_in(turn.text[:4_000]):
        match = _FORBIDS.search(sentence)
        if match is None:
            continue
        if match["act"]:
            yield " ".join(sentence.split()), f"git {match['act'].lower()}"
            continue
        words = (match["program"] or match["quoted"]).lower().rstrip("./-").split()
        if _PROGRAMS.match(words[0]):
            yield " ".join(sentence.split()), " ".join(words if _ACTS.match(words[-1]) else words[:1])


def _breaks(commands: Iterable[Sequence[str]], what: str) -> bool:
    """Return whether a command is the forbidden one, or begins with it."""
    return any(f"{' '.join(words)} ".startswith(f"{what} ") for words in commands)

"""Find the user's prohibitions, whether a compaction dropped them, and whether they were broken all the same.

Told by rules alone, and only where a command can tell: "never use npm", "do not push", "don't run `mix format`". A rule
that no command can break is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from amgs.sessions.turn import Session, Turn
from amgs.sessions.windows import find_dropped_turns, opening_after
from amgs.wings.sessions.findings import action_of, sentences_in
from amgs.wings.sessions.losses import stands_in

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
    """Something that was forbidden and done. said, done: numbers of turns. dropped: the turn of the compaction that
    dropped the words before it was done, None where they still stood in the window.
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
                if user_turn.number in gone and not stands_in(window, sentence):
                    dropped.setdefault(user_turn.number, turn.number)
        action = action_of(turn)
        if action is None or not action.commands or turn.copied:
            continue
        for rule in list(forbidden):
            origin, sentence, what = rule
            if _does(action.commands, what):
                forbidden.remove(rule)
                yield BrokenRule(sentence, origin.number, turn.number, action.target, dropped.get(origin.number))


def _forbidden(turn: Turn) -> Iterator[tuple[str, str]]:
    """Yield (sentence, command that it forbids) of what a user says."""
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


def _does(commands: Iterable[Sequence[str]], what: str) -> bool:
    """Return whether one of some commands is what was forbidden, or begins with it."""
    return any(f"{' '.join(words)} ".startswith(f"{what} ") for words in commands)

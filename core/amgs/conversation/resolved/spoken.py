"""What user and assistant say in a conversation, parsed and resolved as one passage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from amgs.conversation.coreference.parser import GrammarParser, Parsed, detected
from amgs.conversation.coreference.passage import CorefPassage
from amgs.conversation.coreference.resolver import Resolution, resolve
from amgs.conversation.resolved.patterns import LONGEST
from amgs.types.conversation import Message

_SPOKEN = frozenset({"user", "assistant"})
_PAUSE = timedelta(hours=6)
"""After so long a pause another session begins: who was there need not be there."""


@dataclass(frozen=True, slots=True)
class SpokenPassage:
    """What is said in a conversation, read as one passage. spoken: the messages that its turns are of; parsed: with the
    names that the parser found; resolutions: of the mentions of `passage`.
    """

    spoken: tuple[Message, ...]
    parsed: Parsed
    passage: CorefPassage
    resolutions: tuple[Resolution, ...]

    def placed(self, start: int, turn: int) -> int:
        """A character of the passage as one of its message."""
        return start - self.passage.turns[turn].start

    def span_of(self, mention: int) -> tuple[int, int, int]:
        """The number of the message and the characters of a mention."""
        one = self.passage.mentions[mention]
        message = self.spoken[one.turn].number
        return message, self.placed(one.start, one.turn), self.placed(one.end, one.turn)


def read_spoken(messages: Sequence[Message], parser: GrammarParser) -> SpokenPassage | None:
    """What user and assistant say; None where they say nothing.

    What is quoted to a tool or by it, and system prompts, are nobody's speech. Of a longer message the first 20,000
    characters are read. Raises ModelError without a parser.
    """
    spoken = [m for m in messages if m.role in _SPOKEN and m.text.strip()]
    if not spoken:
        return None
    turns = [(m.speaker or m.role, m.text[:LONGEST]) for m in spoken]
    parsed = parser.parse(turns, _sessions(spoken))
    passage = detected(parsed)
    return SpokenPassage(tuple(spoken), parsed, passage, resolve(passage))


def _sessions(messages: Sequence[Message]) -> list[int]:
    found, before = [0], messages[0].at
    for message in messages[1:]:
        paused = before is not None and message.at is not None and message.at - before >= _PAUSE
        found.append(found[-1] + paused)
        before = message.at or before
    return found

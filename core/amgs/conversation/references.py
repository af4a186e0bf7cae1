"""Whom the messages of a conversation speak of: resolved over the whole of it, told beside the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from amgs.conversation.coreference.antecedents import AntecedentScorer
from amgs.conversation.coreference.mentions import detected
from amgs.conversation.coreference.parser import GrammarParser, Parsed
from amgs.conversation.coreference.passage import CorefMention, CorefPassage, Kind
from amgs.conversation.coreference.resolver import Resolution, Resolver
from amgs.conversation.resolved.patterns import LONGEST
from amgs.types.conversation import Message, ResolvedReference

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


def read_spoken(
    messages: Sequence[Message], parser: GrammarParser, scorer: AntecedentScorer
) -> SpokenPassage | None:
    """What user and assistant say, parsed and resolved; None where they say nothing.

    What is quoted to a tool or by it, and system prompts, are nobody's speech. Of a longer message the first 20,000
    characters are read. Raises ModelError without a parser.
    """
    spoken = [m for m in messages if m.role in _SPOKEN and m.text.strip()]
    if not spoken:
        return None
    turns = [(m.speaker or m.role, m.text[:LONGEST]) for m in spoken]
    parsed = parser.parse(turns, _sessions(spoken))
    passage = detected(parsed)
    return SpokenPassage(tuple(spoken), parsed, passage, Resolver(scorer).resolve(passage))


def references(
    messages: Sequence[Message], parser: GrammarParser, scorer: AntecedentScorer
) -> tuple[ResolvedReference, ...]:
    """Who is meant by the pronouns, names and nouns in what user and assistant say, in order; the least sure too.

    Raises ModelError without a parser.
    """
    read = read_spoken(messages, parser, scorer)
    return () if read is None else references_in(read)


def references_in(read: SpokenPassage) -> tuple[ResolvedReference, ...]:
    """The references of a passage that was read."""
    found = []
    for one in read.resolutions:
        mention = read.passage.mentions[one.mention]
        if not one.names or _names_itself(mention, one.names):
            continue
        number, start, end = read.span_of(one.mention)
        told = one.antecedent
        if told is not None and read.passage.mentions[told].kind is Kind.LABEL:
            told = None
        found.append(
            ResolvedReference(
                number,
                start,
                end,
                mention.text,
                one.names,
                one.confidence,
                one.cue.value,
                None if told is None else read.span_of(told),
            )
        )
    return tuple(found)


def _sessions(messages: Sequence[Message]) -> list[int]:
    found, before = [0], messages[0].at
    for message in messages[1:]:
        paused = before is not None and message.at is not None and message.at - before >= _PAUSE
        found.append(found[-1] + paused)
        before = message.at or before
    return found


def _names_itself(mention: CorefMention, names: tuple[str, ...]) -> bool:
    """Whether a name means who bears it, which tells nothing."""
    return mention.kind is Kind.NAME and names == (mention.text,)

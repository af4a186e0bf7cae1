"""Whom the messages of a conversation speak of: resolved over the whole of it, told beside the text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from amgs.conversation.coreference.antecedents import AntecedentScorer
from amgs.conversation.coreference.mentions import detected
from amgs.conversation.coreference.parser import GrammarParser
from amgs.conversation.coreference.passage import CorefMention, Kind
from amgs.conversation.coreference.resolver import Resolver
from amgs.types.conversation import Message, ResolvedReference

_SPOKEN = frozenset({"user", "assistant"})
_PAUSE = timedelta(hours=6)
"""After so long a pause another session begins: who was there need not be there."""


def references(
    messages: Sequence[Message], parser: GrammarParser, scorer: AntecedentScorer
) -> tuple[ResolvedReference, ...]:
    """Who is meant by the pronouns, names and nouns in what user and assistant say, in order; the least sure too.

    What is quoted to a tool or by it, and system prompts, are nobody's speech. Raises ModelError without a parser.
    """
    spoken = [m for m in messages if m.role in _SPOKEN and m.text.strip()]
    if not spoken:
        return ()
    turns = [(m.speaker or m.role, m.text) for m in spoken]
    passage = detected(parser.parse(turns, _sessions(spoken)))
    found = []
    for one in Resolver(scorer).resolve(passage):
        mention = passage.mentions[one.mention]
        if not one.names or _names_itself(mention, one.names):
            continue
        start = passage.turns[mention.turn].start
        found.append(
            ResolvedReference(
                spoken[mention.turn].number,
                mention.start - start,
                mention.end - start,
                mention.text,
                one.names,
                one.confidence,
                one.cue.value,
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

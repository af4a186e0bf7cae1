"""Whether a model that read a conversation was sent the messages that say a fact, and why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from amgs.api.context import MemoryContext
from amgs.api.conversation import Conversations
from amgs.api.gateway import GatewayLog
from amgs.conversation.citing import handle
from amgs.diagnosis import facts
from amgs.diagnosis.causes import FactFate
from amgs.types import Block
from amgs.types.conversation import ContextMessage, ContextSpan, Message
from amgs.types.diagnosis import DiagnosedRequest, DiagnosisStep, FactMatch

_FATES = {
    "masked": "its text was replaced by one line",
    "digested": "only some of its sentences were sent",
    "dropped": "it was left out",
}


@dataclass(frozen=True, slots=True)
class SentConversation:
    """What a model read of a conversation. spans: of what was made of it; none where it went on whole."""

    messages: tuple[ContextMessage, ...]
    spans: tuple[ContextSpan, ...]
    until: int | None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class ConversationFate:
    """What became of a message that says a fact. handle: of the message, where it was left out. block: the piece of it
    that says the fact, where a block told it.
    """

    finding: FactFate
    handle: str
    block: Block | None = None


def sent(context: MemoryContext, request: DiagnosedRequest) -> SentConversation:
    """Return what was sent in a recorded call, or what a conversation would be made into now for a question."""
    if request.kind == "gateway call":
        found = GatewayLog(context).exchange(int(request.id))
        spans = () if found.context is None else found.context.spans
        return SentConversation(found.messages, spans, found.until or None, found.missing)
    made = Conversations(context).optimise(request.conversation, request.query, budget=request.budget)
    return SentConversation(made.messages, made.spans, None)


def in_words(
    context: MemoryContext, request: DiagnosedRequest, fact: str, given: SentConversation
) -> ConversationFate | None:
    """Return what became of the message that says a fact in its words, or in most of them; None where none does."""
    if given.missing:
        return None
    here = next((one for one in given.messages if facts.says(one.text, fact)), None)
    if here is not None:
        return _sent(f"{handle(*here.numbers)}, {here.role}, was sent and says it")
    held = context.storage.messages.held(request.conversation, 1, given.until)
    said = [one.message for one in held if facts.says(one.message.text, fact)]
    best = max(said, key=lambda m: (facts.exactly(m.text, fact), facts.share(m.text, fact)), default=None)
    return None if best is None else _left_out(best, given, "")


def in_blocks(
    context: MemoryContext, request: DiagnosedRequest, fact: str, given: SentConversation, matches: Sequence[FactMatch]
) -> ConversationFate | None:
    """Return what became of the message that the likeliest of some blocks is a piece of; None where no message has one.
    matches: blocks that are taken to hold the fact, the likeliest first.
    """
    if given.missing:
        return None
    held = context.storage.messages.held(request.conversation, 1, given.until)
    of = {block: one.message for one in held for block in one.blocks}
    match = next((one for one in matches if one.block.id in of), None)
    if match is None:
        return None
    message = of[match.block.id]
    for one in given.messages:
        covers = one.numbers[0] <= message.number <= one.numbers[1] or message.number in one.cited
        if covers and not facts.says_less(one.text, message.text, fact):
            told = f"#{message.number}, {message.speaker or message.role}, was sent and says it {facts.how(match)}"
            return replace(_sent(told), block=match.block)
    return replace(_left_out(message, given, f" {facts.how(match)}"), block=match.block)


def _sent(told: str) -> ConversationFate:
    said = "The fact was in front of the model: it was sent with the conversation."
    return ConversationFate(FactFate("in the context", said, (DiagnosisStep("conversation", True, told),)), "")


def _left_out(saying: Message, given: SentConversation, how: str) -> ConversationFate:
    """Return the fate of a message that was not sent, or not what it says. how: it says the fact."""
    span = next((s for s in given.spans if s.first <= saying.number <= s.last), None)
    fate = "dropped" if span is None else span.fate
    because = span.because if span is not None else ""
    named = f"#{saying.number}"
    told = f"{named} says it{how}; {_FATES.get(fate, fate)}{f', {because}' if because else ''}"
    steps = (
        DiagnosisStep("said", True, f"{named}, {saying.speaker or saying.role}: “{_short(saying.text)}”"),
        DiagnosisStep("conversation", False, told),
    )
    verdict = f"Left out of the conversation: {told}."
    return ConversationFate(FactFate("left out of the conversation", verdict, steps), named)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:99]}…"

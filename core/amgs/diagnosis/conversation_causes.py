"""Check whether a model that read a conversation was sent the messages that state a fact, and why not."""

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
    """Context of a conversation as a model read it. spans: of the rewritten conversation; none where it went on
    whole.
    """

    messages: tuple[ContextMessage, ...]
    spans: tuple[ContextSpan, ...]
    until: int | None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class ConversationFate:
    """Fate of a message that states a fact.

    handle: of the message, where it was left out. block: the piece of it that states the fact, where a block did.
    """

    finding: FactFate
    handle: str
    block: Block | None = None


def sent(context: MemoryContext, request: DiagnosedRequest) -> SentConversation:
    """Return what was sent in a recorded call, or what a conversation would be made into now for a question."""
    if request.kind == "gateway call":
        exchange = GatewayLog(context).exchange(int(request.id))
        spans = () if exchange.context is None else exchange.context.spans
        return SentConversation(exchange.messages, spans, exchange.until or None, exchange.missing)
    new_context = Conversations(context).optimise(request.conversation, request.query, budget=request.budget)
    return SentConversation(new_context.messages, new_context.spans, None)


def in_words(
    context: MemoryContext, request: DiagnosedRequest, fact: str, conversation: SentConversation
) -> ConversationFate | None:
    """Return what became of the message that says a fact in its words, or in most of them; None where none does."""
    if conversation.missing:
        return None
    here = next((message for message in conversation.messages if facts.says(message.text, fact)), None)
    if here is not None:
        return _report_sent(f"{handle(*here.numbers)}, {here.role}, was sent and says it")
    stored_messages = context.storage.messages.held(request.conversation, 1, conversation.until)
    messages = [
        stored_message.message for stored_message in stored_messages if facts.says(stored_message.message.text, fact)
    ]
    best = max(messages, key=lambda m: (facts.exactly(m.text, fact), facts.share(m.text, fact)), default=None)
    return None if best is None else _explain_left_out(best, conversation, "")


def in_blocks(
    context: MemoryContext,
    request: DiagnosedRequest,
    fact: str,
    conversation: SentConversation,
    matches: Sequence[FactMatch],
) -> ConversationFate | None:
    """Return what became of the message that the likeliest of some blocks is a piece of; None where no message has one.
    matches: blocks that are taken to hold the fact, the likeliest first.
    """
    if conversation.missing:
        return None
    stored_messages = context.storage.messages.held(request.conversation, 1, conversation.until)
    of = {block: stored_message.message for stored_message in stored_messages for block in stored_message.blocks}
    match = next((fact_match for fact_match in matches if fact_match.block.id in of), None)
    if match is None:
        return None
    message = of[match.block.id]
    for context_message in conversation.messages:
        covers = (
            context_message.numbers[0] <= message.number <= context_message.numbers[1]
            or message.number in context_message.cited
        )
        if covers and not facts.says_less(context_message.text, message.text, fact):
            evidence = f"#{message.number}, {message.speaker or message.role}, was sent and says it {facts.how(match)}"
            return replace(_report_sent(evidence), block=match.block)
    return replace(_explain_left_out(message, conversation, f" {facts.how(match)}"), block=match.block)


def _report_sent(evidence: str) -> ConversationFate:
    verdict = "The fact was in front of the model: it was sent with the conversation."
    return ConversationFate(FactFate("in the context", verdict, (DiagnosisStep("conversation", True, evidence),)), "")


def _explain_left_out(saying: Message, conversation: SentConversation, how: str) -> ConversationFate:
    """Return the fate of a message that was not sent, or not what it says. how: it says the fact."""
    span = next((s for s in conversation.spans if s.first <= saying.number <= s.last), None)
    fate = "dropped" if span is None else span.fate
    because = span.because if span is not None else ""
    named = f"#{saying.number}"
    reason = f"{named} says it{how}; {_FATES.get(fate, fate)}{f', {because}' if because else ''}"
    steps = (
        DiagnosisStep("said", True, f"{named}, {saying.speaker or saying.role}: “{_short(saying.text)}”"),
        DiagnosisStep("conversation", False, reason),
    )
    verdict = f"Left out of the conversation: {reason}."
    return ConversationFate(FactFate("left out of the conversation", verdict, steps), named)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:99]}…"

"""Check whether the messages of a conversation that state a fact were sent to the model, and if not, why.

`diagnosing` calls `trace_words` first, and `trace_blocks` where no message states the fact in its own words.
"""

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
    """Messages that a model received. spans: how each part of the conversation was shortened; () where it was sent
    whole.

    until: number of the last message at that time; None: all. missing: why it is not known what was sent, or "".
    """

    messages: tuple[ContextMessage, ...]
    spans: tuple[ContextSpan, ...]
    until: int | None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class ConversationFate:
    """Fate of a message that states a fact. handle: of the message, such as #12, where it was left out; else "".

    block: the stored part of the message that states the fact, where it was found by a block.
    """

    finding: FactFate
    handle: str
    block: Block | None = None


def sent_conversation(context: MemoryContext, request: DiagnosedRequest) -> SentConversation:
    """Return what a recorded call sent, or what would be sent of a conversation for a question now."""
    if request.kind == "gateway call":
        exchange = GatewayLog(context).exchange(int(request.id))
        spans = () if exchange.context is None else exchange.context.spans
        return SentConversation(exchange.messages, spans, exchange.until or None, exchange.missing)
    new_context = Conversations(context).optimise(request.conversation, request.query, budget=request.budget)
    return SentConversation(new_context.messages, new_context.spans, None)


def trace_words(
    context: MemoryContext, request: DiagnosedRequest, fact: str, conversation: SentConversation
) -> ConversationFate | None:
    """Return the fate of the message that states a fact; None where no message does."""
    if conversation.missing:
        return None
    sent_message = next((message for message in conversation.messages if facts.states(message.text, fact)), None)
    if sent_message is not None:
        return _report_sent(f"{handle(*sent_message.numbers)}, {sent_message.role}, was sent and says it")
    stored_messages = context.storage.messages.held(request.conversation, 1, conversation.until)
    messages = [
        stored_message.message for stored_message in stored_messages if facts.states(stored_message.message.text, fact)
    ]
    best = max(
        messages, key=lambda m: (facts.contains_words(m.text, fact), facts.word_share(m.text, fact)), default=None
    )
    return None if best is None else _explain_left_out(best, conversation, "")


def trace_blocks(
    context: MemoryContext,
    request: DiagnosedRequest,
    fact: str,
    conversation: SentConversation,
    matches: Sequence[FactMatch],
) -> ConversationFate | None:
    """Return the fate of the message from which the best matching block was made; None where none is of a message.

    matches: blocks that state the fact, the best first.
    """
    if conversation.missing:
        return None
    stored_messages = context.storage.messages.held(request.conversation, 1, conversation.until)
    message_of = {
        block: stored_message.message for stored_message in stored_messages for block in stored_message.blocks
    }
    match = next((fact_match for fact_match in matches if fact_match.block.id in message_of), None)
    if match is None:
        return None
    message = message_of[match.block.id]
    for context_message in conversation.messages:
        covers = (
            context_message.numbers[0] <= message.number <= context_message.numbers[1]
            or message.number in context_message.cited
        )
        if covers and not facts.leaves_out(context_message.text, message.text, fact):
            speaker = message.speaker or message.role
            evidence = f"#{message.number}, {speaker}, was sent and says it {facts.describe_match(match)}"
            return replace(_report_sent(evidence), block=match.block)
    return replace(_explain_left_out(message, conversation, f" {facts.describe_match(match)}"), block=match.block)


def _report_sent(evidence: str) -> ConversationFate:
    verdict = "The fact was in front of the model: it was sent with the conversation."
    return ConversationFate(FactFate("in the context", verdict, (DiagnosisStep("conversation", True, evidence),)), "")


def _explain_left_out(saying: Message, conversation: SentConversation, how: str) -> ConversationFate:
    """Return the fate of a message that was not sent, or only in part. how: how it states the fact, in words."""
    span = next((s for s in conversation.spans if s.first <= saying.number <= s.last), None)
    fate = "dropped" if span is None else span.fate
    because = span.because if span is not None else ""
    named = f"#{saying.number}"
    reason = f"{named} says it{how}; {_FATES.get(fate, fate)}{f', {because}' if because else ''}"
    steps = (
        DiagnosisStep("said", True, f"{named}, {saying.speaker or saying.role}: “{_shorten(saying.text)}”"),
        DiagnosisStep("conversation", False, reason),
    )
    verdict = f"Left out of the conversation: {reason}."
    return ConversationFate(FactFate("left out of the conversation", verdict, steps), named)


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:99]}…"

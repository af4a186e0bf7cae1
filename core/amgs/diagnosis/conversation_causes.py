"""Whether a model that read a conversation was sent the messages that say a fact, and why not."""

from __future__ import annotations

from dataclasses import dataclass

from amgs.api.context import MemoryContext
from amgs.api.conversation import Conversations
from amgs.api.gateway import GatewayLog
from amgs.conversation.handles import handle
from amgs.diagnosis import wording
from amgs.diagnosis.causes import FactFate
from amgs.types.conversation import ContextMessage, ContextSpan, Message
from amgs.types.diagnosis import DiagnosedRequest, DiagnosisStep

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


def sent(context: MemoryContext, request: DiagnosedRequest) -> SentConversation:
    """What was sent in a recorded call, or what a conversation would be made into now for a question."""
    if request.kind == "gateway call":
        found = GatewayLog(context).exchange(int(request.id))
        spans = () if found.context is None else found.context.spans
        return SentConversation(found.messages, spans, found.until or None, found.missing)
    made = Conversations(context).optimise(request.conversation, request.query, budget=request.budget)
    return SentConversation(made.messages, made.spans, None)


def find(context: MemoryContext, request: DiagnosedRequest, fact: str) -> tuple[FactFate, str] | None:
    """What became of the fact's messages, and their handle; None where the conversation does not say it."""
    given = sent(context, request)
    if given.missing:
        return None
    here = next((one for one in given.messages if wording.says(one.text, fact)), None)
    if here is not None:
        told = f"{handle(*here.numbers)}, {here.role}, was sent and says it"
        said = "The fact was in front of the model: it was sent with the conversation."
        return FactFate("in the context", said, (DiagnosisStep("conversation", True, told),)), ""
    held = context.storage.messages.held(request.conversation, 1, given.until)
    saying = _saying([one.message for one in held], fact)
    if saying is None:
        return None
    span = next((s for s in given.spans if s.first <= saying.number <= s.last), None)
    fate = "dropped" if span is None else span.fate
    because = span.because if span is not None else ""
    named = f"#{saying.number}"
    told = f"{named} says it; {_FATES.get(fate, fate)}{f', {because}' if because else ''}"
    steps = (
        DiagnosisStep("said", True, f"{named}, {saying.speaker or saying.role}: “{_short(saying.text)}”"),
        DiagnosisStep("conversation", False, told),
    )
    return FactFate("left out of the conversation", f"Left out of the conversation: {told}.", steps), named


def _saying(messages: list[Message], fact: str) -> Message | None:
    """The message that says most of a fact, of those that say it."""
    said = [one for one in messages if wording.says(one.text, fact)]
    return max(said, key=lambda m: (wording.exactly(m.text, fact), wording.share(m.text, fact)), default=None)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:99]}…"

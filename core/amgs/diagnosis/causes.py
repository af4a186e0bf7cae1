"""Find why a block that states a fact was missing from a request's result, with the evidence step by step. The
causes are those of `types.diagnosis.DiagnosisCause`; `fixes` proposes changes for each. A request is
explained as it went then, where that is logged, and as it would go now. Nothing here is logged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from amgs.api.assembler import Assembler
from amgs.api.context import MemoryContext, Retrieval
from amgs.api.conversation import Conversations
from amgs.api.frames import Frames
from amgs.api.gateway import GatewayLog
from amgs.conversation.citing import handle
from amgs.diagnosis import facts
from amgs.errors import UsageError
from amgs.frames import registry
from amgs.retrieval.waterfall import FINDERS
from amgs.types import Block, Candidate, Explanation, Frame, FrameDefinition
from amgs.types.conversation import ContextMessage, ContextSpan, Message
from amgs.types.diagnosis import DecodedContext, DiagnosedRequest, DiagnosisCause, DiagnosisStep, FactMatch

_MORE = 2
"""Times the budget up to which a missing block counts as over budget; if even that would not admit it, others outrank
it ("out-voted").
"""


@dataclass(frozen=True, slots=True)
class FactFate:
    """Why a fact was missing, or that it was there. verdict: a sentence. steps: the evidence.

    needed: the budget in tokens, or the number of hits, that would include the fact; None where neither helps.
    """

    cause: DiagnosisCause
    verdict: str
    steps: tuple[DiagnosisStep, ...]
    explanation: Explanation | None = None
    needed: int | None = None


def find_cause(context: MemoryContext, request: DiagnosedRequest, fact: str, block: Block) -> FactFate:
    """Return why a block that states the fact was missing from a request's result, then and now."""
    steps = [_state_step(block)]
    now, shown = _explain_now(context, request, block)
    then = _explain_then(context, request, block)
    if then is not None:
        steps.append(DiagnosisStep("then", then.admitted, f"{then.because} ({then.as_of:%Y-%m-%d %H:%M})"))
    steps += [
        _layer_step(layer_verdict.layer, layer_verdict.verdict, layer_verdict.because) for layer_verdict in now.layers
    ]
    admitted = now.admitted if then is None else then.admitted
    if admitted:
        return _trace_shown_block(context, request, fact, now, shown, steps)
    if then is not None and now.admitted:
        return _trace_mended_block(context, request, block, then, steps)
    return _trace_missing_block(context, request, fact, block, now, steps)


# --- then and now -----------------------------------------------------------------------------------------


def _explain_now(
    context: MemoryContext, request: DiagnosedRequest, block: Block
) -> tuple[Explanation, Candidate | None]:
    """Explain the block in the request as it would go now; and return it as a candidate, None where it is none."""
    if not request.frame:
        explanation = Retrieval(context).why(
            request.query, block.id, top_k=request.places, filter=None, weights=request.weights
        )
        return explanation, explanation.candidate
    frame = assemble_again(context, request)
    mine = [c for c in frame.candidates if c.block.id == block.id]
    shown = next((c for c in mine if c.fate == "selected"), None)
    child = shown.child if shown is not None else question_part(context, request.frame).name
    told = Frames(context).why(
        frame.name, request.query, block.id, budget=request.budget, weights=request.weights, child=child, frame=frame
    )
    return told, shown or told.candidate


def assemble_again(context: MemoryContext, request: DiagnosedRequest, *, budget: int | None = None) -> Frame:
    """Assemble a request's frame as it would be now, without logging it. budget: in place of the request's."""
    return Assembler(context).assemble(
        request.frame,
        query=request.query,
        budget=request.budget if budget is None else budget,
        weights=request.weights,
        reinforce=False,
    )


def question_part(context: MemoryContext, frame: str) -> FrameDefinition:
    """Return the part of a frame that uses the query; its first part where none does."""
    known = context.definitions()
    atoms = registry.leaves(registry.find(frame, known), known)
    return next((atom for atom in atoms if atom.rule.asks), atoms[0])


def _explain_then(context: MemoryContext, request: DiagnosedRequest, block: Block) -> Explanation | None:
    """Explain the block in the request as it went then; None where that is no longer stored."""
    try:
        if request.kind == "assembly":
            return Frames(context).why_then(request.id, block.id)
        if request.kind == "search":
            return Retrieval(context).why_then(int(request.id), block.id)
    except UsageError:  # its candidates are no longer stored
        return None
    return None


def _state_step(block: Block) -> DiagnosisStep:
    """Return the step that says whether a block's status lets frames take it."""
    if block.status == "raw":
        return DiagnosisStep("consolidated", False, "it waits in the inbox")
    if block.valid_to is not None:
        successor = str(block.meta.get("superseded_by", ""))[:12]
        by = f" by {successor}" if successor else ""
        return DiagnosisStep("holds to this day", False, f"superseded{by} on {block.valid_to:%Y-%m-%d}")
    if block.status != "consolidated":
        return DiagnosisStep("consolidated", False, f"it is {block.status}")
    return DiagnosisStep("consolidated", True, "it is consolidated, and nothing has superseded it")


def _layer_step(layer: str, verdict: str, because: str) -> DiagnosisStep:
    has_passed = {"passed": True, "missed": False}.get(verdict)
    return DiagnosisStep(layer, has_passed, because)


# --- the cause --------------------------------------------------------------------------------------------


def _trace_shown_block(
    context: MemoryContext,
    request: DiagnosedRequest,
    fact: str,
    now: Explanation,
    shown: Candidate | None,
    steps: list[DiagnosisStep],
) -> FactFate:
    """Return the fate of a fact whose block was included: over budget if its passage leaves the fact out."""
    part = shown if request.frame and shown is not None and shown.passage is not None else None
    if part is not None and facts.leaves_out(part.excerpt, facts.strip_speaker(part.block), fact):
        reason = "its block was shortened, and the passage that was written leaves the fact out"
        steps.append(DiagnosisStep("passage", False, reason))
        needed = _find_needed_budget(context, request, fact, part.block) or _double_budget(context, request)
        return FactFate("over budget", f"Over budget: {reason}.", tuple(steps), now, needed)
    reason = "The fact was in front of the model: nothing in the memory excluded it."
    return FactFate("in the context", reason, tuple(steps), now)


def _trace_mended_block(
    context: MemoryContext, request: DiagnosedRequest, block: Block, then: Explanation, steps: list[DiagnosisStep]
) -> FactFate:
    """Return the fate of a fact whose block was missing then and would be included now."""
    steps.append(DiagnosisStep("now", True, "it would be in now"))
    number = context.storage.blocks.numbers_of([block.id])[block.id]
    assemblies = context.storage.assemblies.matching(request.id) if request.kind == "assembly" else ()
    since = "; it is mended since"
    if assemblies and number > assemblies[0].last_number:
        return FactFate("not stored", f"Not stored then: it came after{since}.", tuple(steps), then)
    if then.candidate is None:
        return FactFate("not found", f"Not found then{since}.", tuple(steps), then)
    if then.candidate.fate == "over_budget":
        return FactFate("over budget", f"Over budget then{since}.", tuple(steps), then)
    return FactFate("out-voted", f"Out-voted then{since}.", tuple(steps), then)


def _trace_missing_block(
    context: MemoryContext,
    request: DiagnosedRequest,
    fact: str,
    block: Block,
    now: Explanation,
    steps: list[DiagnosisStep],
) -> FactFate:
    """Return the fate of a fact whose block is missing now, too: the first of the causes that applies."""
    if block.status == "raw":
        verdict = "Not consolidated: its block waits in the inbox, where no frame takes it from."
        return FactFate("not consolidated", verdict, tuple(steps), now)
    if block.superseded:
        return FactFate("superseded", f"Superseded: its block was {_state_step(block).told}.", tuple(steps), now)
    if block.status != "consolidated":
        return FactFate("set aside", f"Set aside: its block is {block.status}.", tuple(steps), now)
    if now.fell_at in FINDERS or now.fell_at == "prefilter":
        verdict = f"Not found: no layer brought its block; the {now.fell_at} layer came nearest: {now.because}."
        if now.fell_at == "prefilter":
            verdict = f"Not found: the conditions of {now.frame or 'the search'} refuse its block; {now.because}."
        return FactFate("not found", verdict, tuple(steps), now)
    fate = "" if now.candidate is None else now.candidate.fate
    if fate == "over_budget":
        needed = _find_needed_budget(context, request, fact, block)
        if needed is not None:
            budget = assemble_again(context, request).budget
            steps.append(DiagnosisStep("budget", False, f"{needed:,} tokens would hold it, the budget was {budget:,}"))
            verdict = f"Over budget: {needed:,} tokens would hold it, the budget was {budget:,}."
            return FactFate("over budget", verdict, tuple(steps), now, needed)
        steps.append(DiagnosisStep("budget", None, "others fill even a budget twice as large"))
    verdict = f"Out-voted: found, and others were taken; {now.because}."
    return FactFate("out-voted", verdict, tuple(steps), now, now.rank)


def _double_budget(context: MemoryContext, request: DiagnosedRequest) -> int:
    """Return the largest budget to try: the frame's own, or twice the request's where that is more."""
    own = registry.find(request.frame, context.definitions()).budget
    return max(own, _MORE * (request.budget or own))


def _find_needed_budget(context: MemoryContext, request: DiagnosedRequest, fact: str, block: Block) -> int | None:
    """Return the smallest budget, to 8 tokens, with which the frame includes the fact; None where even the largest to
    try (`_double_budget`) does not.
    """

    def states_fact(budget: int) -> bool:
        """Return whether the frame states the fact with this budget."""
        chosen = assemble_again(context, request, budget=budget).selected
        return any(
            c.block.id == block.id and not facts.leaves_out(c.excerpt, facts.strip_speaker(block), fact) for c in chosen
        )

    most = _double_budget(context, request)
    least = assemble_again(context, request).budget
    if not states_fact(most):
        return None
    while most - least > 8:
        middle = (least + most) // 2
        least, most = (least, middle) if states_fact(middle) else (middle, most)
    return most


_COLLAPSED_SHARE = 0.5
"""Share of a sentence in gists above which it counts as collapsed, where it shares no word with the fact."""


def find_collapsed(
    context: MemoryContext, finding: FactFate, block: Block, fact: str, reading: DecodedContext
) -> FactFate:
    """Change the cause to "collapsed" where the working context had the fact's sentence only as a gist.

    reading: what the working context had of each block when the answer was decoded, as tokens (level 0) or as gists.
    """
    spans = [span for span in reading.spans if span.block == block.id]
    start, end = facts.locate_fact(fact, block, context)
    gists = [span for span in spans if span.level and span.start < end and start < span.end]
    if not gists:
        return finding
    length = len(block.content)
    carrying = block.content[round(start * length) : round(end * length)]
    if facts.stems(carrying) & facts.stems(fact):
        left = " ".join(
            block.content[round(span.start * length) : round(span.end * length)]
            for span in sorted(spans, key=lambda span: span.start)
            if not span.level
        )
        gone = facts.leaves_out(left, carrying, fact)
    else:
        covered = sum(min(span.end, end) - max(span.start, start) for span in gists)
        gone = covered > _COLLAPSED_SHARE * (end - start)
    if not gone:
        return finding
    level = max(span.level for span in gists)
    reason = f"a gist of level {level} stood for it at step {reading.step}"
    step = DiagnosisStep("working context", False, reason)
    return replace(finding, cause="collapsed", verdict=f"Collapsed: {reason}.", steps=(*finding.steps, step))


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


def read_sent_conversation(context: MemoryContext, request: DiagnosedRequest) -> SentConversation:
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
    stored_messages = context.storage.messages.read_messages(request.conversation, 1, conversation.until)
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
    """Return the fate of the message from which the best matching block was created; None where none is of a message.

    matches: blocks that state the fact, the best first.
    """
    if conversation.missing:
        return None
    stored_messages = context.storage.messages.read_messages(request.conversation, 1, conversation.until)
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

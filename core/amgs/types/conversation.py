"""A conversation as it is kept, and what of it a model is given for one question (context optimiser, L1–L13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypedDict, get_args

from amgs.types.conversation_views import ClassSurvival, RestoreLevel, SurvivalVerdict, TextPiece, worst

Role = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = get_args(Role)

ContextStrategy = Literal["mask", "extractive", "hybrid", "topic", "levels", "abstractive"]
CONTEXT_STRATEGIES: tuple[ContextStrategy, ...] = get_args(ContextStrategy)
"""mask: old outputs of tools become one line, then the oldest messages go. extractive: what answers the query stays.
hybrid: what answers the query, whole or cited in part. topic: each topic in an extract, or not at all. levels: each
whole, in an extract, as its findings or not at all, by what it is worth. abstractive: as levels, but a language model
writes what stands for citations, of which only founded sentences stay.
"""

SpanFate = Literal["kept", "masked", "digested", "dropped"]
SPAN_FATES: tuple[SpanFate, ...] = get_args(SpanFate)
"""What became of a message: whole, its text one line, a few of its sentences, or left out."""

RelevanceLayer = Literal["semantic", "lexical", "entity", "temporal", "structure", "around"]
RELEVANCE_LAYERS: tuple[RelevanceLayer, ...] = get_args(RelevanceLayer)
"""What speaks for a message: its meaning, its words, whom and what it names, when it was said, who says it and in
answer to what; and what stands around it, less what its length takes.
"""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool. id: by which its result names it, unique in a conversation. arguments: as they were written."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation, as it was said; never changed.

    number: its place, from 1. at: when it was said, None where only the order is known. speaker: a name, else the role.
    calls: of tools, made by this message. answers: the id of the call whose result this is. pinned: always kept.
    """

    number: int
    role: Role
    text: str
    at: datetime | None = None
    speaker: str = ""
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""
    pinned: bool = False

    def as_object(self) -> dict[str, Any]:
        """Return the message as JSON has it, in the style of OpenAI's chat completions; `add` reads it back as it
        was.
        """
        data: dict[str, Any] = chat_object(self)
        if self.at is not None:
            data["at"] = self.at.isoformat()
        if self.pinned:
            data["pinned"] = True
        return data


@dataclass(frozen=True, slots=True)
class ConversationAdded:
    """Result of `add`. first, last: numbers of the new messages. blocks: new ones, by which a search finds them.

    notes: what was not taken as it was given, in words. operation: of the journal; `undo` takes it back. again: how
    many of its texts had been set aside and hold again.
    """

    conversation: str
    first: int
    last: int
    blocks: int
    notes: tuple[str, ...] = ()
    operation: int | None = None
    again: int = 0


@dataclass(frozen=True, slots=True)
class ConversationKept:
    """Handles that every context of a conversation keeps whole on request, in order.

    operation: of the journal, by which `undo` takes the change back; None where nothing changed. impossible: why no
    context within the budget that was asked about can keep them.
    """

    conversation: str
    kept: tuple[str, ...]
    operation: int | None = None
    impossible: str = ""


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """A conversation that is held. first, last: instants of its first and last message, None where unknown."""

    name: str
    messages: int
    first: datetime | None
    last: datetime | None


@dataclass(frozen=True, slots=True)
class ContextMessage:
    """A message as a model is given it.

    numbers: (first, last) of the messages that it stands for. fate: of the message; "dropped" for the line that marks a
    gap. text: the message's own where it was kept, else marked with the handle under which the originals are restored.
    cited: the numbers of those of which it cites sentences, all of its own role.
    """

    numbers: tuple[int, int]
    role: Role
    text: str
    fate: SpanFate
    tokens: int
    speaker: str = ""
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""
    cited: tuple[int, ...] = ()

    def as_object(self) -> dict[str, Any]:
        """Return the message in the form of OpenAI's chat completions."""
        return chat_object(self)


def chat_object(message: Message | ContextMessage) -> dict[str, Any]:
    """Return a message in the style of OpenAI's chat completions."""
    data: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.speaker:
        data["name"] = message.speaker
    if message.calls:
        data["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for c in message.calls
        ]
    if message.answers:
        data["tool_call_id"] = message.answers
    return data


@dataclass(frozen=True, slots=True)
class ContextSpan:
    """Neighbouring messages with the same fate, and why.

    handle: `#12` or `#12-15`; restores them. worth: in [0, 1], how likely the best of them is needed for the query.
    tokens: of the originals. shown: of what stands in their place; the line that marks a gap counts to the rendering.
    """

    handle: str
    first: int
    last: int
    fate: SpanFate
    because: str
    worth: float
    tokens: int
    shown: int


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """Effect of a stage on the tokens: `before - taken + added == after`, and each row begins where the last ended.

    messages: how many stand after it.
    """

    stage: str
    before: int
    taken: int
    added: int
    after: int
    messages: int
    because: str = ""


class ContextOptions(TypedDict, total=False):
    """Options of a context, beside its query.

    budget: in tokens; 124,000 unless given. configuration: what is kept and how much of the budget is used; its
    strategy serves unless another is given. previous: the `plan` of the context that was sent before; it is kept while
    it fits, so that what a provider has cached stays valid. until: the conversation as it stood after the message of
    this number. keep: handles of what must stay whole.
    """

    budget: int | None
    strategy: ContextStrategy | None
    configuration: ContextConfiguration
    previous: str
    until: int | None
    keep: Sequence[str]


@dataclass(frozen=True, slots=True)
class OptimisedContext:
    """Part of a conversation that a model should read for a query, in the order of time, and the fate of the rest.

    messages: to send. spans: every message of the conversation once, in order. ledger: a row a stage; its last `after`
    is `tokens`. budget, tokens, history: in tokens as `counter` counts; history: of the whole conversation.
    estimated: whether the count is an estimate, no tokenizer being known. plan: give it back as `previous`, and what
    was sent stays as it was for as long as it fits. stable_prefix: in [0, 1], how much of what was sent before stands
    unchanged at the beginning; 1 without a previous plan. replanned: why the previous plan was given up or added to,
    "" where it was kept or there was none. resent: tokens of what was sent before that stand at the beginning no
    longer: what a provider has cached of them is lost. costs, worths: of every message, in order: tokens as it was
    said, and how likely it is needed for the query, in [0, 1]; 0 where nothing had to go. dropped_summary: what the
    messages that were left out say above all, in their own words, each with its handle.
    """

    conversation: str
    query: str
    strategy: ContextStrategy
    budget: int
    tokens: int
    history: int
    counter: str
    estimated: bool
    messages: tuple[ContextMessage, ...]
    spans: tuple[ContextSpan, ...]
    ledger: tuple[LedgerRow, ...]
    plan: str
    stable_prefix: float = 1.0
    replanned: str = ""
    resent: int = 0
    milliseconds: float = 0.0
    costs: tuple[int, ...] = ()
    worths: tuple[float, ...] = ()
    dropped_summary: str = ""

    def messages_of(self, span: ContextSpan) -> tuple[ContextSpan, ...]:
        """Return the messages of a span, each as a span of its own. Of several that one text stands for, the first has
        its tokens.
        """
        if not self.costs:
            return (span,)
        sent = {message.numbers[0]: message.tokens for message in self.messages if message.fate != "dropped"}
        start = self.spans[0].first
        return tuple(
            ContextSpan(
                f"#{number}",
                number,
                number,
                span.fate,
                span.because,
                self.worths[number - start],
                self.costs[number - start],
                sent.get(number, 0),
            )
            for number in range(span.first, span.last + 1)
        )

    def worth_of(self, fate: SpanFate) -> float:
        """Return which share of all worths the messages of a fate have, in [0, 1]; 0 where no message has any."""
        start = self.spans[0].first if self.spans else 1
        total = sum(self.worths)
        own = (sum(self.worths[span.first - start : span.last - start + 1]) for span in self.spans if span.fate == fate)
        return sum(own) / total if total else 0.0

    def count(self, fate: SpanFate) -> int:
        """Return how many messages have a fate."""
        return sum(span.last - span.first + 1 for span in self.spans if span.fate == fate)


@dataclass(frozen=True, slots=True)
class FateChange:
    """Neighbouring messages that fare differently in two contexts. tokens: of the originals."""

    handle: str
    first: int
    last: int
    before: SpanFate
    after: SpanFate
    tokens: int


@dataclass(frozen=True, slots=True)
class ContextComparison:
    """Two contexts of the same messages for the same query and budget. changes: where they differ, in order."""

    a: OptimisedContext
    b: OptimisedContext
    changes: tuple[FateChange, ...]


@dataclass(frozen=True, slots=True)
class SpanReason:
    """Reason for the fate of messages, and the smallest changes, any of which would keep all of them whole.

    kept: whether they are. spans: those that they belong to. tokens: of the originals. budget_needed: with so many
    tokens they are kept, with one less they are not; None where they are kept. displaced: what a context that must keep
    them gives up for it. impossible: why there is no such context within the budget, "" where there is one. layers: how
    much each layer raises or lowers the log odds of the best of its messages against the mean of the conversation;
    empty where nothing is weighed.
    """

    conversation: str
    handle: str
    query: str
    strategy: ContextStrategy
    budget: int
    kept: bool
    spans: tuple[ContextSpan, ...]
    tokens: int
    estimated: bool
    budget_needed: int | None = None
    displaced: tuple[FateChange, ...] = ()
    impossible: str = ""
    layers: tuple[tuple[RelevanceLayer, float], ...] = ()


@dataclass(frozen=True, slots=True)
class RestoredSpan:
    """Messages given back at a level.

    messages: as they were said, byte for byte; only where the level is complete. pieces: of a shorter level, each with
    the characters that it cites; their texts together are `text`. survival: what of each class is in that text, what
    its handles bring back, and what is lost. tokens: of `text`, as the memory counts; history: of the messages.
    """

    conversation: str
    handle: str
    messages: tuple[Message, ...]
    level: RestoreLevel = "complete"
    pieces: tuple[TextPiece, ...] = ()
    survival: tuple[ClassSurvival, ...] = ()
    tokens: int = 0
    history: int = 0

    @property
    def text(self) -> str:
        """Text of the pieces."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def verdict(self) -> SurvivalVerdict:
        """Worst verdict on a class; never a mean."""
        return worst(self.survival)


@dataclass(frozen=True, slots=True)
class ConversationStats:
    """Content of a conversation. tokens: as `counter` counts. by_role: (role, messages, tokens) of those that occur.

    unconsolidated: blocks of it that a search finds by their words only. kept: handles of what every context keeps.
    unresolved: messages that `resolve` has not read.
    """

    name: str
    messages: int
    tokens: int
    counter: str
    estimated: bool
    by_role: tuple[tuple[str, int, int], ...]
    calls: int
    open_calls: int
    blocks: int
    unconsolidated: int
    first: datetime | None
    last: datetime | None
    kept: tuple[str, ...] = ()
    unresolved: int = 0


ContextConfiguration = Literal["default", "high-compression", "high-fidelity"]


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """Settings of a configuration. Shares are in [0, 1].

    strategy: unless another is asked for. fill: of the budget, what a context takes at most. soft: of that, what a plan
    takes that is made because an earlier one no longer fits. recent: so many of the last messages are HIGH;
    recent_share: of the room beside what is CRITICAL, what they take at most, with `extractive` in proportion less
    below a room of `full_recent` tokens. preference_share: likewise, for what the user prefers (HIGH). medium_share:
    likewise, for decisions, goals, commitments and questions that are open (MEDIUM); 0 protects none. recalled: so many
    atoms that answer a new query come back into a plan that is kept.
    """

    strategy: ContextStrategy = "extractive"
    fill: float = 1.0
    soft: float = 0.8
    recent: int = 6
    recent_share: float = 0.25
    full_recent: int = 2_048
    preference_share: float = 0.1
    medium_share: float = 0.0
    recalled: int = 4


CONTEXT_CONFIGURATIONS: Mapping[ContextConfiguration, ContextSettings] = {
    "default": ContextSettings(),
    "high-compression": ContextSettings(strategy="levels", fill=0.5, soft=0.6, recent=2, recent_share=0.2, recalled=2),
    "high-fidelity": ContextSettings(soft=0.9, recent=8, recent_share=0.5, full_recent=0, medium_share=0.2, recalled=8),
}

"""A stored conversation, and the part of it that a model reads for a question (context optimiser, L1–L13)."""

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
"""mask: old tool outputs become one line, then the oldest messages are dropped. extractive: what answers the query
stays. hybrid: what answers the query, whole or as citations. topic: each topic as an extract or not at all. levels:
each message whole, as an extract, as findings or not at all, by its worth. abstractive: like levels, but a language
model writes the extracts, of which only supported sentences stay.
"""

SpanFate = Literal["kept", "masked", "digested", "dropped"]
SPAN_FATES: tuple[SpanFate, ...] = get_args(SpanFate)
"""What happened to a message: whole, its text as a single line, some of its sentences, or left out."""

RelevanceLayer = Literal["semantic", "lexical", "entity", "temporal", "structure", "around"]
RELEVANCE_LAYERS: tuple[RelevanceLayer, ...] = get_args(RelevanceLayer)
"""What raises a message: its meaning, words, names, time, speaker and what it answers, and its neighbours; less for
length.
"""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool. id: unique in a conversation; its result refers to it. arguments: as written."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a conversation, verbatim; never changed.

    number: position, from 1. at: None if only the order is known. speaker: a name, else the role. calls: of tools by
    this message. answers: id of the call whose result this is. pinned: always kept.
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
        """Return the message in the format of OpenAI's chat completions; `add` reads it back unchanged."""
        data: dict[str, Any] = chat_object(self)
        if self.at is not None:
            data["at"] = self.at.isoformat()
        if self.pinned:
            data["pinned"] = True
        return data


@dataclass(frozen=True, slots=True)
class ConversationAdded:
    """Result of `add`.

    first, last: numbers of the new messages. blocks: new ones for searching. notes: what was changed or left out of the
    input. operation: of the journal, for `undo`. again: number of texts that had been hidden and hold again.
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

    operation: of the journal, for `undo`; None if nothing changed. impossible: why no context within the budget can
    keep them.
    """

    conversation: str
    kept: tuple[str, ...]
    operation: int | None = None
    impossible: str = ""


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """A stored conversation. first, last: times of its first and last message, None if unknown."""

    name: str
    messages: int
    first: datetime | None
    last: datetime | None


@dataclass(frozen=True, slots=True)
class ContextMessage:
    """A message as sent to a model.

    numbers: (first, last) of the messages that it stands for. fate: "dropped" for the line that marks a gap. text: the
    message's own if whole, else with the handle that restores the originals. cited: numbers of the messages, all of its
    role, of which it cites sentences.
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
        """Return the message in the format of OpenAI's chat completions."""
        return chat_object(self)


def chat_object(message: Message | ContextMessage) -> dict[str, Any]:
    """Return a message in the format of OpenAI's chat completions."""
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
    """Neighbouring messages with the same fate, and the reason.

    handle: `#12` or `#12-15`; restores them. worth: probability that the best of them is needed for the query. tokens:
    of the originals. shown: of what replaces them, without the line that marks a gap.
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
    """Effect of a stage on the tokens: `before - taken + added == after`; `before` is the previous row's `after`.

    messages: number after it.
    """

    stage: str
    before: int
    taken: int
    added: int
    after: int
    messages: int
    because: str = ""


class ContextOptions(TypedDict, total=False):
    """Options of a context, besides its query.

    budget: in tokens; default 120,000. configuration: what is kept, and how much of the budget is used; strategy
    overrides its strategy. previous: `plan` of the context sent before; it is kept while it fits, so that the
    provider's cache stays valid. until: number of the last message to consider. keep: handles of messages to keep
    whole.
    """

    budget: int | None
    strategy: ContextStrategy | None
    configuration: ContextConfiguration
    previous: str
    until: int | None
    keep: Sequence[str]


@dataclass(frozen=True, slots=True)
class OptimisedContext:
    """The part of a conversation that a model should read for a query, in order of time, and what happened to the rest.

    messages: to send. spans: cover every message once, in order. ledger: a row per stage; the last `after` is `tokens`.
    budget, tokens, history: counted by `counter`; history: of the whole conversation. estimated: no tokenizer is known.
    plan: passed back as `previous`, keeps what was sent unchanged as long as it fits. stable_prefix: share of the
    previous context that is unchanged at the beginning; 1 without a previous plan. replanned: why the previous plan was
    dropped or extended, else "". resent: tokens sent before that are no longer at the beginning, so that their caching
    is lost. costs, worths: by message, in order: tokens, and probability that it is needed for the query, 0 if nothing
    had to be dropped. dropped_summary: extract of the dropped messages, each sentence with its handle.
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
        """Return a span's messages, each as a span; of several with a common text, the first has its tokens."""
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
        """Return the share of all worths that messages with this fate have; 0 if no message has any."""
        start = self.spans[0].first if self.spans else 1
        total = sum(self.worths)
        own = (sum(self.worths[span.first - start : span.last - start + 1]) for span in self.spans if span.fate == fate)
        return sum(own) / total if total else 0.0

    def count(self, fate: SpanFate) -> int:
        """Return the number of messages with this fate."""
        return sum(span.last - span.first + 1 for span in self.spans if span.fate == fate)


@dataclass(frozen=True, slots=True)
class FateChange:
    """Neighbouring messages with different fates in two contexts. tokens: of the originals."""

    handle: str
    first: int
    last: int
    before: SpanFate
    after: SpanFate
    tokens: int


@dataclass(frozen=True, slots=True)
class ContextComparison:
    """Two contexts of the same messages for the same query and budget. changes: their differences, in order."""

    a: OptimisedContext
    b: OptimisedContext
    changes: tuple[FateChange, ...]


@dataclass(frozen=True, slots=True)
class SpanReason:
    """Why messages have their fate, and the smallest changes that would keep all of them whole.

    kept: whether they are whole. spans: that contain them. tokens: of the originals. budget_needed: least budget that
    keeps them; None if they are kept. displaced: what a context that must keep them drops instead. impossible: why
    there is no such context within the budget, else "". layers: how much each layer changes the log odds of the best of
    them against the conversation's mean; empty if nothing is weighed.
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
    """Messages restored at a level.

    messages: verbatim; only at level complete. pieces: of a shorter level, with the characters that they cite; together
    they are `text`. survival: what of each class is in that text, what its handles restore, and what is lost. tokens:
    of `text`; history: of the messages.
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
    """Content of a conversation.

    tokens: counted by `counter`. by_role: (role, messages, tokens). unconsolidated: its blocks that a search finds by
    words only. kept: handles that every context keeps. unresolved: messages that `resolve` has not read.
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
    """Settings of a configuration; shares are in [0, 1].

    strategy: default. fill: most of the budget that a context uses. soft: share of that which a new plan uses when an
    earlier plan no longer fits. recent: number of last messages with priority HIGH; recent_share: most of the space
    besides CRITICAL that they take, less with `extractive` if the space is below `full_recent` tokens.
    preference_share, definition_share, open_share, date_share: the same for the user's preferences (HIGH), definitions
    and what the last words refer to (HIGH), what is open or decided (MEDIUM) and dates (MEDIUM); 0 protects none.
    recalled: number of atoms answering a new query that are restored into a stored plan.
    """

    strategy: ContextStrategy = "extractive"
    fill: float = 1.0
    soft: float = 0.8
    recent: int = 6
    recent_share: float = 0.25
    full_recent: int = 2_048
    preference_share: float = 0.1
    definition_share: float = 0.0
    open_share: float = 0.0
    date_share: float = 0.0
    recalled: int = 4


CONTEXT_CONFIGURATIONS: Mapping[ContextConfiguration, ContextSettings] = {
    "default": ContextSettings(),
    "high-compression": ContextSettings(strategy="levels", fill=0.5, soft=0.6, recent=2, recent_share=0.2, recalled=2),
    "high-fidelity": ContextSettings(
        soft=0.9,
        recent=8,
        recent_share=0.5,
        full_recent=0,
        definition_share=0.1,
        open_share=0.15,
        date_share=0.05,
        recalled=8,
    ),
}

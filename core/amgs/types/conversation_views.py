"""Views of a conversation: generated texts and what survives in them; topics, acts, summaries, memories; what
words in it refer to, resolved at ingestion and stored besides the text (L9–L11); and the entities of a
memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from amgs.types.block import Block
    from amgs.types.retrieval import PassageSpan


SummaryLevel = Literal["turn", "topic", "session", "cumulative"]
SUMMARY_LEVELS: tuple[SummaryLevel, ...] = get_args(SummaryLevel)


@dataclass(frozen=True, slots=True)
class ConversationTopic:
    """Neighbouring messages on the same topic.

    handle: restores them. chance: probability that the topic changed before them, 1 at the beginning of a session.
    terms: words that distinguish it.
    """

    handle: str
    messages: int
    chance: float
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConversationTopics:
    """Topics of a conversation in order of time; every message is in one."""

    conversation: str
    topics: tuple[ConversationTopic, ...]


@dataclass(frozen=True, slots=True)
class ConversationAct:
    """A question, goal or commitment.

    text: characters [start, end) of the message. chance: probability that it is an open point. closed_by: handle of the
    message that closed it, "" while it is open.
    """

    kind: str
    handle: str
    speaker: str
    text: str
    start: int
    end: int
    chance: float
    closed_by: str


@dataclass(frozen=True, slots=True)
class ConversationActs:
    """Questions, goals and commitments of a conversation. closed: number of closed ones not shown."""

    conversation: str
    acts: tuple[ConversationAct, ...]
    closed: int


@dataclass(frozen=True, slots=True)
class SummarySpan:
    """Characters [start, end) of a message in the summarised part. slot: sentence, decision, question, name, number,
    date, path or command.
    """

    part: str
    slot: str
    handle: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ConversationExtract:
    """A summary in the conversation's own words. level: turn, topic, session or cumulative. parts: number of summarised
    parts.
    """

    conversation: str
    level: str
    parts: int
    spans: tuple[SummarySpan, ...]


MemoryKind = Literal["short-term", "working", "long-term", "episodic"]
MEMORY_KINDS: tuple[MemoryKind, ...] = get_args(MemoryKind)
"""short-term: the last messages; working: open items; long-term: everything, by session; episodic: topics."""

MemberKind = Literal["message", "question", "goal", "commitment", "call", "session", "topic"]


@dataclass(frozen=True, slots=True)
class MemoryMember:
    """Member of a memory: messages, with the handle that restores them.

    text: the open item, or distinguishing words. tokens: of the messages or the open item. surprise: of a topic,
    probability that the topic changed there; else 0.
    """

    memory: MemoryKind
    kind: MemberKind
    handle: str
    text: str
    tokens: int
    surprise: float = 0.0


@dataclass(frozen=True, slots=True)
class ConversationMemories:
    """The memories of a conversation, all views of its messages, and its state.

    members: short-term and long-term in order of time, working by kind, episodic by falling surprise. turns: messages
    of the user. topic: words of the present topic. calls_done: tool calls with a result. asked_back: the last message
    asks the user. Tokens are counted by `counter`.
    """

    conversation: str
    members: tuple[MemoryMember, ...]
    turns: int
    topic: tuple[str, ...]
    calls_done: int
    asked_back: bool
    counter: str
    estimated: bool

    def of(self, memory: MemoryKind) -> tuple[MemoryMember, ...]:
        """Return the members of a memory."""
        return tuple(member for member in self.members if member.memory == memory)


RestoreLevel = Literal["minimal", "standard", "detailed", "complete"]
RESTORE_LEVELS: tuple[RestoreLevel, ...] = get_args(RestoreLevel)
"""minimal: names, numbers and the like; standard: also the most important sentences; detailed: every sentence with any
of these; complete: the messages.
"""

SurvivalVerdict = Literal["whole", "one handle away", "lost", "invented"]
VERDICTS: tuple[SurvivalVerdict, ...] = get_args(SurvivalVerdict)
"""Best to worst."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of a generated text.

    number: of the message whose characters [start, end) it is, in its text followed by its calls; 0 if it comes from
    none: a handle, a label, a speaker.
    """

    text: str
    number: int = 0
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class ClassSurvival:
    """What survives of a class, such as numbers or paths.

    Of `there` different ones in the messages: in_window verbatim in the text, one_handle_away restorable by a handle in
    it, and lost. missing: the latest that are not in the text, with the handles of their messages. invented: in the
    text but not in the messages.
    """

    kind: str
    there: int
    in_window: int
    one_handle_away: int
    lost: int
    missing: tuple[tuple[str, str], ...] = ()
    invented: tuple[str, ...] = ()

    @property
    def verdict(self) -> SurvivalVerdict:
        """Worst verdict on a member of the class."""
        if self.invented:
            return "invented"
        return "lost" if self.lost else "one handle away" if self.one_handle_away else "whole"


def worst(classes: Sequence[ClassSurvival]) -> SurvivalVerdict:
    """Return the worst verdict on a class."""
    return max((survival.verdict for survival in classes), key=VERDICTS.index, default="whole")


GIVEN_TEXT = "a given text"


@dataclass(frozen=True, slots=True)
class ConversationSurvival:
    """What survives of a conversation, or of some messages, in a window, by class.

    of: the window, in words. tokens: of the window; history: of the messages; both counted by `counter`.
    """

    conversation: str
    handle: str
    of: str
    classes: tuple[ClassSurvival, ...]
    tokens: int
    history: int
    counter: str
    estimated: bool

    @property
    def verdict(self) -> SurvivalVerdict:
        """Worst verdict on a class; never a mean."""
        return worst(self.classes)


MentionKind = Literal["person", "entity", "personal", "date", "reference", "concept", "alias"]
"""personal: something of a person, such as "my car". reference: words for people named elsewhere, such as "she". alias:
two names joined, in older stores only; not read any more.
"""

MentionType = Literal[
    "person",
    "organisation",
    "place",
    "product",
    "event",
    "work",
    "group",
    "personal_object",
    "personal_relationship",
    "date",
    "deadline",
    "schedule",
    "time",
    "money",
    "percent",
    "quantity",
    "url",
    "email",
    "path",
    "command",
    "version",
    "identifier",
    "concept",
]
MENTION_TYPES: tuple[MentionType, ...] = get_args(MentionType)
"""group: a nationality, faith or party. work: a book, film or song. deadline: a date by which; schedule: a recurring
date. concept: a term of several common nouns.
"""


@dataclass(frozen=True, slots=True)
class ResolvedMention:
    """Words of a message and what they mean; the message itself is unchanged.

    number: of the message; start, end: characters of its text. means: name or normal form, several names for "we"; for
    a date the days in ISO 8601, `2026-03-02` or `2026-03-02/2026-03-08`, `..` for an open end. antecedent: message and
    characters of the mention that explains it. confidence: how often such a reading is right. because: the reason;
    detector: that found it.
    """

    number: int
    start: int
    end: int
    text: str
    kind: MentionKind
    type: MentionType
    means: tuple[str, ...]
    confidence: float
    because: str
    detector: str
    antecedent: tuple[int, int, int] | None = None

    @property
    def handle(self) -> str:
        """Handle of the message."""
        return f"#{self.number}"


@dataclass(frozen=True, slots=True)
class ConversationResolved:
    """Result of `resolve`. messages: that were waiting; mentions: in them. operation: for `undo`; None if nothing was
    waiting.
    """

    conversation: str
    messages: int
    mentions: int
    operation: int | None = None


@dataclass(frozen=True, slots=True)
class ConversationEntity:
    """An entity in a conversation.

    name: its usual form; type: of its most certain mentions. mentions: in order, including pronouns. owner: of a
    personal entity. confidence: of its most certain mention.
    """

    name: str
    type: MentionType
    mentions: tuple[ResolvedMention, ...]
    confidence: float
    owner: str = ""

    @property
    def handles(self) -> tuple[str, ...]:
        """Handles of the messages that mention it, each once."""
        return tuple(dict.fromkeys(mention.handle for mention in self.mentions))


@dataclass(frozen=True, slots=True)
class ConversationEntities:
    """Entities in a conversation, most frequent first.

    withheld: number of mentions less certain than `least`. waiting: messages that `resolve` has not read, of which only
    findings by rules are included.
    """

    conversation: str
    entities: tuple[ConversationEntity, ...]
    withheld: int
    waiting: int
    least: float


EntityType = Literal["person", "organisation", "place", "project", "topic", "unknown"]
ENTITY_TYPES: tuple[EntityType, ...] = get_args(EntityType)


@dataclass(frozen=True, slots=True)
class EntitySummary:
    """An entity in a memory.

    name: its most frequent form. aliases: the others, most frequent first. type: by agreement of several cues, else
    unknown. mentions: in `blocks` blocks. first, last: when the earliest and latest of these were created. because:
    cues for the type.
    """

    name: str
    type: EntityType
    aliases: tuple[str, ...]
    mentions: int
    blocks: int
    first: datetime
    last: datetime
    because: str = ""


@dataclass(frozen=True, slots=True)
class EntityMention:
    """A block that mentions an entity, how often, and the passage."""

    block: Block
    count: int
    passage: PassageSpan


@dataclass(frozen=True, slots=True)
class RelatedEntity:
    """An entity mentioned in the same blocks. shared: number of blocks that mention both."""

    name: str
    type: EntityType
    shared: int


@dataclass(frozen=True, slots=True)
class EntityKnowledge:
    """What is known of an entity.

    asked: name in the request. mentions: the first of its blocks in the requested order; entity.blocks is their number.
    """

    asked: str
    entity: EntitySummary
    mentions: tuple[EntityMention, ...]
    related: tuple[RelatedEntity, ...]

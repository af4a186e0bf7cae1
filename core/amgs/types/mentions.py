"""What words in a conversation refer to, resolved at ingestion and stored besides the text (L9–L11)."""

from __future__ import annotations

from dataclasses import dataclass

from amgs.types.mention_types import MentionKind, MentionType


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

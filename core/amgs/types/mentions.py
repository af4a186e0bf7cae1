"""Meanings of words in a conversation, resolved at ingestion and stored beside the text (L9–L11)."""

from __future__ import annotations

from dataclasses import dataclass

from amgs.types.mention_types import MentionKind, MentionType


@dataclass(frozen=True, slots=True)
class ResolvedMention:
    """Words of a message and what they mean. The message itself stays as it was said.

    number: of the message; start, end: characters of its text. means: the name or normal form, several names for "we";
    of a date the days as ISO 8601, `2026-03-02` or `2026-03-02/2026-03-08`, `..` for an open end. antecedent: the
    message and characters by which it was found, where another mention told. confidence: in [0, 1], how often such a
    reading is right. because: by what; detector: which of them found it.
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
    """Result of `resolve`.

    messages: those that had waited; mentions: those in them. operation: `undo` takes it back; None where nothing
    waited.
    """

    conversation: str
    messages: int
    mentions: int
    operation: int | None = None


@dataclass(frozen=True, slots=True)
class ConversationEntity:
    """Something that a conversation speaks of. name: the form it is known by; type: what its mentions say most surely.

    mentions: in order, those of pronouns too. owner: whose it is, of a personal entity. confidence: in [0, 1], of its
    surest mention.
    """

    name: str
    type: MentionType
    mentions: tuple[ResolvedMention, ...]
    confidence: float
    owner: str = ""

    @property
    def handles(self) -> tuple[str, ...]:
        """Handles of the messages that speak of it, without repeats."""
        return tuple(dict.fromkeys(mention.handle for mention in self.mentions))


@dataclass(frozen=True, slots=True)
class ConversationEntities:
    """Entities in a conversation, the most often mentioned first.

    withheld: mentions that were less sure than `least`. waiting: messages that `resolve` has not read: of them only
    what rules find is here.
    """

    conversation: str
    entities: tuple[ConversationEntity, ...]
    withheld: int
    waiting: int
    least: float

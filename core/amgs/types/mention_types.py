"""The kinds and types of what words in a conversation mean."""

from __future__ import annotations

from typing import Literal, get_args

MentionKind = Literal["person", "entity", "personal", "date", "reference", "concept", "alias"]
"""personal: what is somebody's, as "my car". reference: words that mean people named elsewhere, as "she". alias: of
older stores alone, where two names were made one; nothing reads it.
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
"""group: a nationality, faith or party. work: a book, film or song. deadline: a date by which; schedule: one that comes
again. concept: a term of several common nouns.
"""

"""Kinds and types of mentions in a conversation."""

from __future__ import annotations

from typing import Literal, get_args

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

"""Mentions gathered to what they mention: one entity for each normal form and type, as far as the mentions are sure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from amgs.text import names
from amgs.types.mentions import ConversationEntity, MentionType, ResolvedMention

_OWNED = re.compile(r"(.+?)’s ")
_TWICE = frozenset({"concept"})
"""Kinds that a conversation is on only where several messages have them."""


def gathered(
    mentions: Iterable[ResolvedMention], type: MentionType | None = None
) -> tuple[ConversationEntity, ...]:
    """The entities of mentions, the most often mentioned first, of equals the one that comes first.

    Nothing but the normal form and the type makes two mentions one entity; a pronoun counts for whom it means.
    """
    groups: dict[tuple[MentionType, str], list[ResolvedMention]] = defaultdict(list)
    references: list[ResolvedMention] = []
    for one in mentions:
        if one.kind == "reference":
            references.append(one)
        else:
            groups[one.type, names.key(one.means[0])].append(one)
    for one in references:
        for name in one.means:
            groups["person", names.key(name)].append(one)
    found = [
        _entity(of_type, members)
        for (of_type, _), members in groups.items()
        if type in (None, of_type)
        and not (members[0].kind in _TWICE and len({one.number for one in members}) < 2)
    ]
    return tuple(
        sorted(found, key=lambda one: (-len(one.mentions), one.mentions[0].number, one.mentions[0].start))
    )


def _entity(type: MentionType, members: Sequence[ResolvedMention]) -> ConversationEntity:
    ordered = tuple(sorted(members, key=lambda one: (one.number, one.start)))
    forms = Counter(one.means[0] for one in ordered if len(one.means) == 1)
    name = max(forms, key=lambda form: (forms[form], form)) if forms else " and ".join(ordered[0].means)
    told = [one.confidence for one in ordered if one.kind != "reference"]
    owned = _OWNED.match(name) if ordered[0].kind == "personal" else None
    return ConversationEntity(
        name,
        type,
        ordered,
        max(told or [one.confidence for one in ordered]),
        owned[1] if owned else "",
    )


def sure(mentions: Sequence[ResolvedMention], least: float) -> tuple[tuple[ResolvedMention, ...], int]:
    """Those of a confidence of `least` or more, and how many are less sure."""
    told = tuple(one for one in mentions if one.confidence >= least)
    return told, len(mentions) - len(told)

"""Two names of one person or thing as one. A merge is kept beside the words as a mention that names both, so that it
goes with the messages that it rests on; what is mentioned later under the other name means the first, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from rapidfuzz import fuzz, process

from amgs.conversation.resolved.alike import cue_of, speaks
from amgs.conversation.resolved.entities import gathered
from amgs.errors import UnknownEntityError, UsageError
from amgs.log import journal
from amgs.storage.store import Storage
from amgs.text import names
from amgs.types.entity_merges import EntityMerge
from amgs.types.mentions import ConversationEntity, MentionType, ResolvedMention

KIND = "merge"
_DETECTOR = "merge"
_OWNED = re.compile(r"(.+?)(’s .+)", re.DOTALL)
_NEAR, _NEAR_ENOUGH = 5, 60

Merges = Mapping[tuple[MentionType, str], str]
"""The name that stays, by the type and the key of the one that goes."""


def merges_in(mentions: Sequence[ResolvedMention]) -> Merges:
    """The merges among mentions; the name that stays is followed to the last."""
    direct = {
        (one.type, names.key(one.means[1])): one.means[0]
        for one in mentions
        if one.kind == "alias" and len(one.means) == 2
    }
    found = {}
    for (of_type, key), name in direct.items():
        seen = {key}
        while (next_key := names.key(name)) not in seen and (of_type, next_key) in direct:
            seen.add(next_key)
            name = direct[of_type, next_key]
        found[of_type, key] = name
    return found


def merged(mentions: Sequence[ResolvedMention]) -> tuple[ResolvedMention, ...]:
    """The mentions with what they mean under the names that stay, merges themselves left out."""
    merges = merges_in(mentions)
    if not merges:
        return tuple(one for one in mentions if one.kind != "alias")
    return tuple(replace(one, means=renamed(one, merges)) for one in mentions if one.kind != "alias")


def renamed(one: ResolvedMention, merges: Merges) -> tuple[str, ...]:
    """What a mention means under the names that stay."""
    told = tuple(dict.fromkeys(merges.get((one.type, names.key(name)), name) for name in one.means))
    if one.kind != "personal" or told != one.means:
        return told
    return tuple(
        f"{merges.get(('person', names.key(owned[1])), owned[1])}{owned[2]}"
        if (owned := _OWNED.fullmatch(name))
        else name
        for name in told
    )


def of_people(told: Sequence[str], merges: Merges) -> tuple[str, ...]:
    """People under the names that stay."""
    return tuple(dict.fromkeys(merges.get(("person", names.key(name)), name) for name in told))


def planned(
    storage: Storage, conversation: str, name: str, other: str, type: MentionType | None
) -> EntityMerge:
    """What merging two entities would change; nothing is changed. Raises UnknownEntityError for a name that nothing has
    in this conversation, UsageError for two that are no pair.
    """
    mentions = merged(storage.mentions.held(conversation))
    entities = gathered(mentions, type)
    stays = _find(entities, name)
    goes = _find([one for one in entities if one.type == stays.type], other)
    if stays is goes:
        raise UsageError(f"{name[:60]!r} and {other[:60]!r} are one already.", way_out="Give two names.")
    start = f"{goes.name}’s "
    owned = [one for one in entities if one.owner and names.key(one.owner) == names.key(goes.name)]
    everything = dict.fromkeys(
        handle for one in sorted((goes, *owned), key=lambda e: e is not goes) for handle in one.handles
    )
    people = {m.message.speaker for m in storage.messages.held(conversation) if m.message.speaker}
    return EntityMerge(
        conversation,
        stays.name,
        goes.name,
        stays.type,
        len(stays.mentions),
        len(goes.mentions),
        tuple(sorted(everything, key=lambda handle: int(handle[1:]))),
        tuple(one.name.removeprefix(start) for one in owned) if stays.type == "person" else (),
        cue_of(stays.name, goes.name) if stays.type == "person" else None,
        _against(stays, goes, people),
    )


def merge(storage: Storage, plan: EntityMerge, now: datetime) -> EntityMerge:
    """Carry a plan out, as one entry of the journal."""
    entities = gathered(merged(storage.mentions.held(plan.conversation)), plan.type)
    stays, goes = _find(entities, plan.name), _find(entities, plan.other)
    first, told = _named(goes), _named(stays)
    row = replace(
        first,
        kind="alias",
        type=plan.type,
        means=(plan.name, plan.other),
        confidence=1.0,
        because="somebody said so",
        detector=_DETECTOR,
        antecedent=(told.number, told.start, told.end),
    )
    with storage.transaction():
        summary = f"{plan.other} is {plan.name} in conversation {plan.conversation}"
        operation = journal.write(storage, KIND, now, summary, []).id
        storage.mentions.add(plan.conversation, [row], operation)
    return replace(plan, operation=operation)


def _named(entity: ConversationEntity) -> ResolvedMention:
    """Its first mention by name, else its first."""
    return next((one for one in entity.mentions if one.kind != "reference"), entity.mentions[0])


def _against(stays: ConversationEntity, goes: ConversationEntity, speakers: Collection[str]) -> str:
    if stays.type == "person" and speaks(stays.name, speakers) and speaks(goes.name, speakers):
        return "both speak here"
    return ""


def _find(entities: Sequence[ConversationEntity], name: str) -> ConversationEntity:
    wanted = names.key(name)
    found = [one for one in entities if names.key(one.name) == wanted]
    if not found:
        known = [one.name for one in entities]
        near = process.extract(
            name[:120],
            known,
            scorer=fuzz.WRatio,
            processor=str.casefold,
            limit=_NEAR,
            score_cutoff=_NEAR_ENOUGH,
        )
        told = ", ".join(each for each, _, _ in near)
        raise UnknownEntityError(
            f"The conversation speaks of nothing by the name {name[:60]!r}.",
            way_out=f"Names near to it: {told}." if told else "Ask what it speaks of.",
        )
    if len(found) > 1:
        types = ", ".join(one.type for one in found)
        raise UsageError(f"{name[:60]!r} is of several types: {types}.", way_out="Give the type, too.")
    return found[0]

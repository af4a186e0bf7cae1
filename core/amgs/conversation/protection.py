"""Decide which messages of a conversation must stay, and group those that belong together (a call with its results, a
question with its answer).

`optimise` keeps messages by their protection; `change_kept` records what the operator keeps by hand. The rules for
personal statements and preferences are English.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import IntEnum
from typing import Literal

from amgs.conversation.citing import handle, runs
from amgs.conversation.coreference.passage import is_first_name
from amgs.conversation.findings import NO_NAMES, acts, find_slots
from amgs.errors import ImpossibleBudgetError
from amgs.log import journal
from amgs.storage.store import Storage
from amgs.text.names import clean_name
from amgs.text.prose import sentences
from amgs.text.words import COMMON_WORDS
from amgs.types.conversation import ConversationKept, Message, OptimisedContext


class Protection(IntEnum):
    """Protection level of a message. CRITICAL: always included. HIGH, then MEDIUM: included before messages that are
    chosen by worth, each level within its share of the budget.
    """

    NONE = 0
    MEDIUM = 1
    HIGH = 2
    CRITICAL = 3


ProtectedShare = Literal["preference", "recent", "definition", "open", "date"]


@dataclass(frozen=True, slots=True)
class Protected:
    """Protection of a message and its reason. spans: (start, end) of the sentences that suffice where it is long; ():
    only the whole message does. share: whose share of the budget a message below CRITICAL takes.
    """

    level: Protection = Protection.NONE
    because: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    share: ProtectedShare = "recent"


def protect_messages(
    messages: Sequence[Message],
    recent: int,
    restored: Collection[int] = (),
    important: Mapping[int, Protected] | None = None,
) -> list[Protected]:
    """Return the protection of each message.

    CRITICAL: system prompts, pinned and restored messages, calls without a result yet, the last message and the user's
    last, and who the user is. HIGH: the user's preferences and the last `recent` messages.

    restored: numbers of messages that were requested back. important: protection of others by index, see
    `find_important`.
    """
    answered = {m.answers for m in messages if m.answers}
    task = max((n for n, m in enumerate(messages) if m.role == "user"), default=-1)
    personal = find_personal(messages)

    def protect(place: int, message: Message) -> Protected:
        """Return the protection of a message: the highest level that applies."""
        critical = {
            "system prompt": message.role == "system",
            "pinned": message.pinned,
            "restored": message.number in restored,
            "the active task": place == task,
            "the last message": place == len(messages) - 1,
            "its call waits for a result": any(call.id not in answered for call in message.calls),
        }
        if why := next((why for why, holds in critical.items() if holds), ""):
            return Protected(Protection.CRITICAL, why)
        if place in personal:
            return personal[place]
        if place >= len(messages) - recent:
            return Protected(Protection.HIGH, f"among the last {recent}")
        if important is not None and place in important:
            return important[place]
        return Protected()

    return [protect(place, message) for place, message in enumerate(messages)]


_IDENTITY = re.compile(
    r"(?i:\b(?:my name(?: is|['’]s)|call me|i(?: am|['’]m) called)) "
    r"(?P<told>(?!(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Today|Tonight|Tomorrow|Later|Back)\b)[A-Z]\w+)"
    r"|\b(?:I['’]m|I am|[Tt]his is) (?P<name>[A-Z]\w+)"
)
_PREFERENCE = re.compile(
    r"\b(?:always|never|from now on)\b.{0,24}\b(?:answer|reply|respond|write|use|call|address|speak|say|give|keep|"
    r"format|include|mention|send|ask|quote|cite|explain)\b|\b(?:don['’]t|do not) ever\b|\bfrom now on\b"
    r"|\bI(?:['’]d| would)? (?:always |much |really |usually )?(?:prefer|rather)\b|\bmy preference\b"
    r"|\b(?:keep|make) (?:your|all|the) (?:answers?|replies|explanations?)\b"
    r"|\b(?:answer|reply|respond|write|speak)(?: to me| me)? (?:only |always )?in (?!the (?:morning|evening)|a )\w"
    r"|\bI(?:['’]m| am) (?:allergic|vegetarian|vegan|colou?r-?blind|left-handed)\b|\bI (?:don['’]t|do not|never) eat\b"
    r"|\bI (?:like|want|need|value) (?:my|your|short|brief|long|detailed|quiet)\b",
    re.IGNORECASE,
)


def find_personal(messages: Sequence[Message]) -> dict[int, Protected]:
    """Return the protection of messages where users say who they are (of each user the last) or what they prefer, by
    index; the rules are English.
    """
    who: dict[str, tuple[int, tuple[int, int]]] = {}
    prefers: dict[int, list[tuple[int, int]]] = {}
    for place, message in enumerate(messages):
        if message.role != "user":
            continue
        for start, end in sentences(message.text[:_READ]):
            sentence = message.text[start:end]
            named = _IDENTITY.search(sentence)
            if named and (named["told"] or is_first_name(named["name"])):
                who[message.speaker] = (place, (start, end))
            if _PREFERENCE.search(sentence) and not sentence.endswith("?"):
                prefers.setdefault(place, []).append((start, end))
    protections = {
        place: Protected(Protection.HIGH, "what the user prefers", tuple(spans), "preference")
        for place, spans in prefers.items()
    }
    for place, span in who.values():
        protections[place] = Protected(
            Protection.CRITICAL, "who the user is", (span, *prefers.get(place, ())), "preference"
        )
    return protections


_READ = 20_000
"""Characters of a message that are searched for personal statements."""
_ASKS = ("?", "？", "؟", "¿")


def group_atoms(messages: Sequence[Message]) -> tuple[tuple[int, ...], ...]:
    """Group messages that belong together into atoms of indexes, ascending: calls with results, questions with answers.

    A call or a result without its counterpart among the messages is an atom by itself.
    """
    group = list(range(len(messages)))

    def root(place: int) -> int:
        while group[place] != place:
            group[place] = group[group[place]]
            place = group[place]
        return place

    call_places: dict[str, int] = {}
    asked: int | None = None
    for place, message in enumerate(messages):
        for call in message.calls:
            call_places[call.id] = place
        if message.role == "tool" and message.answers in call_places:
            group[root(place)] = root(call_places[message.answers])
        elif message.role == "user":
            asked = place if ends_with_question(message.text) else None
        elif message.role == "assistant" and asked is not None and message.text.strip() and not message.calls:
            group[root(place)] = root(asked)
            asked = None
    groups: dict[int, list[int]] = {}
    for place in range(len(messages)):
        groups.setdefault(root(place), []).append(place)
    return tuple(sorted(tuple(atom) for atom in groups.values()))


def ends_with_question(text: str) -> bool:
    """Return whether a text ends with a question."""
    return text.rstrip(" \t\r\n\"'”’)]*_").endswith(_ASKS)


_DATE = "a date"
_OPEN = {"question": "an open question", "goal": "a goal", "commitment": "a commitment"}


_DEFINITION = re.compile(
    r"\b(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir) (?:[a-z][\w-]*,? ){1,3}?(?P<kin>[A-Z]\w+)"
    r"|\b(?P<apposed>[A-Z]\w+)(?:,? (?:is|was|who is)|,(?=[^,]{4,60},)) (?:my|our|the|his|her|their|an?) [a-z]"
    r"|(?<=[a-z] )(?P<met>[A-Z]\w+), (?:my|our|his|her|their) [a-z]"
    r"|\b(?P<term>[A-Z][\w-]{0,40}|[\"“'][^\"”']{2,40}[\"”']) "
    r"(?i:means|stands for|is short for|refers to|is defined as)\b"
    r"|\b(?i:by) (?P<meant>[\"“']?\w[\w -]{1,40}?[\"”']?),? (?:I|we) mean\b"
    r"|\b(?:(?:is|are|was) (?:called|named|known as)|(?:[Ww]e|I) (?:call|named|call(?:ed)?) (?:it|him|her|them|this)) "
    r"(?P<called>[A-Z]\w+)"
)
"""A sentence that says who or what a name is: "my sister Ada, …", "Vela is our mooring buoy", "ETA means …"."""
_COMMON = frozenset(COMMON_WORDS)


def find_important(messages: Sequence[Message], referred: Mapping[int, str] | None = None) -> dict[int, Protected]:
    """Return the protection of messages of users and assistants that matter beyond the question, by index.

    HIGH: the first that says who or what a name is, and those to which words of the last messages refer. MEDIUM: a
    decision; an open question, goal or commitment; a date. The rules for definitions are English. referred: words that
    refer to a message, by its number.
    """
    places = [n for n, m in enumerate(messages) if m.role in ("user", "assistant") and m.text.strip()]
    texts = [messages[n].text[:_READ] for n in places]
    medium: dict[int, str] = {}
    for place, text in zip(places, texts, strict=True):
        slots = {slot for slot, *_ in find_slots(text, names=NO_NAMES)}
        if slots & {"decision", "date"}:
            medium[place] = "a decision" if "decision" in slots else _DATE
    for act in acts(texts, [messages[n].speaker or messages[n].role for n in places]):
        if act.closed_by is None and medium.get(places[act.place]) != "a decision":
            medium[places[act.place]] = _OPEN[act.kind]
    protections = {
        place: Protected(Protection.MEDIUM, why, (), "date" if why == _DATE else "open")
        for place, why in medium.items()
    }
    protections |= _find_definitions({place: messages[place].text[:_READ] for place in places})
    for place, message in enumerate(messages):
        if referred and message.number in referred:
            protections[place] = Protected(Protection.HIGH, referred[message.number], (), "definition")
    return protections


def _find_definitions(texts: Mapping[int, str]) -> dict[int, Protected]:
    """Return the protection of the first sentence that defines each name, by index."""
    defined = dict[str, int]()
    spans: dict[int, list[tuple[int, int]]] = {}
    for place, text in texts.items():
        for start, end in sentences(text):
            sentence = text[start:end]
            if sentence.endswith("?"):
                continue
            names = (clean_name(match[match.lastgroup or 0]) for match in _DEFINITION.finditer(sentence))
            keys = {name.casefold() for name in names if name} - _COMMON  # "There is a …"
            new = [key for key in keys if defined.setdefault(key, place) == place]
            if new:
                spans.setdefault(place, []).append((start, end))
    return {
        place: Protected(Protection.HIGH, "says who or what a name is", tuple(own), "definition")
        for place, own in spans.items()
    }


KIND = "keep"


def handles_of(storage: Storage, conversation: str) -> tuple[str, ...]:
    """Return the handles of the messages that the operator keeps, in order."""
    return tuple(handle(*span) for span in runs(sorted(storage.messages.read_kept(conversation))))


def change_kept(
    storage: Storage, conversation: str, numbers: Collection[int], now: datetime, *, drop: bool
) -> ConversationKept:
    """Mark messages to include in every context, or with `drop` remove the mark; journalled where that changes
    anything.
    """
    with storage.transaction():
        standing = storage.messages.read_kept(conversation)
        changed = standing.intersection(numbers) if drop else frozenset(numbers) - standing
        done = None
        if changed:
            spans = ", ".join(handle(*span) for span in runs(sorted(changed)))
            summary = f"{spans} of conversation {conversation} {'no longer kept' if drop else 'kept'} in every context"
            done = journal.write(storage, KIND, now, summary, []).id
            note = storage.messages.release if drop else storage.messages.keep_whole
            note(conversation, changed, done)
        return ConversationKept(conversation, handles_of(storage, conversation), done)


def keep_what_fits(
    choose: Callable[[Collection[int]], OptimisedContext], must: frozenset[int], standing: frozenset[int]
) -> OptimisedContext:
    """Return the context that keeps `must` and the messages pinned by hand (`standing`); without the latter, and with a
    remark, where both do not fit.

    choose: builds a context that keeps these numbers. Raises ImpossibleBudgetError where not even `must` fits.
    """
    try:
        return choose(must | standing)
    except ImpossibleBudgetError:
        if standing <= must:
            raise
        context, remark = choose(must), "what is kept by hand does not fit into the budget"
        spans = tuple(
            replace(span, because=f"{span.because}; {remark}")
            if span.fate != "kept" and any(span.first <= number <= span.last for number in standing)
            else span
            for span in context.spans
        )
        return replace(context, spans=spans, replanned=remark)

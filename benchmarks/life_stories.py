"""Generated lives of notes: folders of files that are edited, moved, split, merged, deleted, restored, reverted and
duplicated, with the facts that they state at each moment.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise

EVENTS = ("edited", "moved", "split", "merged", "deleted", "restored", "reverted", "duplicated")
ROOTS = ("notes", "copies")

_THINGS = ("door code", "meeting room", "locker number", "phone extension", "parking space", "invoice number")
_PLACES = ("Harrow", "Linden", "Marlow", "Osprey", "Quill", "Sorrel", "Tamar", "Wexford", "Yarrow", "Zennor")
_KINDS = ("office", "workshop", "studio", "depot", "archive")
_STATED = (
    "The {thing} of the {place} {kind} is {value}.",
    "At the {place} {kind} the {thing} was set to {value}.",
    "For the {place} {kind}, {value} is the {thing} to use.",
)
_AROUND = (
    "It was agreed with everybody who works there.",
    "Ask at the desk when it does not work.",
    "The list on the wall says the same.",
    "Please do not pass it on to visitors.",
    "It is looked at again every spring.",
)


@dataclass(frozen=True, slots=True)
class Topic:
    """Something that has one value at a time. question: what asks for it."""

    thing: str
    place: str
    kind: str

    @property
    def question(self) -> str:
        return f"What is the {self.thing} of the {self.place} {self.kind}?"


@dataclass(frozen=True, slots=True)
class FactSection:
    """A heading with a fact and some words around it."""

    topic: Topic
    value: str
    text: str


Fresh = Callable[[], str]
"""Gives a value that no other fact has."""

Files = Mapping[tuple[str, str], tuple[FactSection, ...]]
"""The files of a moment, by folder and path."""


@dataclass(frozen=True, slots=True)
class NoteMoment:
    """What happened, and what is there since."""

    event: str
    files: Files = field(hash=False)

    def values(self, topic: Topic) -> frozenset[str]:
        """What the files say of a topic: more than one value where two copies differ."""
        return frozenset(s.value for sections in self.files.values() for s in sections if s.topic == topic)

    def texts(self) -> dict[tuple[str, str], str]:
        """The files as they are written."""
        return {at: "\n\n".join(s.text for s in sections) + "\n" for at, sections in self.files.items()}


@dataclass(frozen=True, slots=True)
class NoteLife:
    """A life of notes, moment by moment, the first being the writing."""

    name: str
    topics: tuple[Topic, ...]
    moments: tuple[NoteMoment, ...]


def lives(number: int, seed: int, moments: int) -> tuple[NoteLife, ...]:
    """So many lives of so many moments; every event is as frequent as it can be. Equal seeds, equal lives."""
    draw = random.Random(f"lives {seed}")
    topics = [Topic(t, p, k) for t in _THINGS for p in _PLACES for k in _KINDS]
    draw.shuffle(topics)
    numbers = [str(n) for n in range(1000, 10_000)]
    draw.shuffle(numbers)
    place = count()
    told: dict[str, int] = dict.fromkeys(EVENTS, 0)

    def value() -> str:
        return numbers[next(place)]

    made = []
    for n in range(number):
        own = tuple(topics[4 * n + k] for k in range(4))
        made.append(_life(f"life-{n + 1:02}", own, value, draw, moments, told))
    return tuple(made)


def _life(
    name: str, topics: tuple[Topic, ...], value: Fresh, draw: random.Random, moments: int, told: dict[str, int]
) -> NoteLife:
    first = {(ROOTS[0], "a.md"): tuple(_section(t, value(), draw) for t in topics[:3])}
    first |= {(ROOTS[0], "b.md"): (_section(topics[3], value(), draw),)}
    story = [NoteMoment("written", first)]
    while len(story) < moments:
        for event in sorted(EVENTS, key=lambda one: (told[one], draw.random())):
            files = _after(event, story, value, draw)
            if files is not None:
                told[event] += 1
                story.append(NoteMoment(event, files))
                break
    return NoteLife(name, topics, tuple(story))


def _section(topic: Topic, value: str, draw: random.Random) -> FactSection:
    stated = draw.choice(_STATED).format(thing=topic.thing, place=topic.place, kind=topic.kind, value=value)
    around = " ".join(draw.sample(_AROUND, 2))
    return FactSection(topic, value, f"## {topic.thing.capitalize()} of {topic.place}\n\n{stated} {around}")


def _after(event: str, story: Sequence[NoteMoment], value: Fresh, draw: random.Random) -> Files | None:
    """The files after an event; None where it cannot happen."""
    files = dict(story[-1].files)
    places = sorted(files)
    if not places:
        return None if event != "restored" else _restored(story, draw)
    at = draw.choice(places)
    root, path = at
    sections = files[at]
    if event == "edited":
        k = draw.randrange(len(sections))
        changed = _section(sections[k].topic, value(), draw)
        files[at] = (*sections[:k], changed, *sections[k + 1 :])
    elif event == "moved":
        files[root, f"moved/{len(story)}-{path.rpartition('/')[2]}"] = files.pop(at)
    elif event == "split":
        if len(sections) < 2:
            return None
        k = draw.randrange(1, len(sections))
        files[at], files[root, f"part-{len(story)}.md"] = sections[:k], sections[k:]
    elif event == "merged":
        others = [one for one in places if one[0] == root and one != at]
        if not others:
            return None
        files[at] = (*sections, *files.pop(draw.choice(others)))
    elif event == "deleted":
        if len(sections) > 1 and draw.random() < 0.5:
            k = draw.randrange(len(sections))
            files[at] = (*sections[:k], *sections[k + 1 :])
        else:
            del files[at]
    elif event == "restored":
        return _restored(story, draw)
    elif event == "reverted":
        earlier = [m.files[at] for m in story[:-1] if at in m.files and m.files[at] != sections]
        if not earlier:
            return None
        files[at] = draw.choice(earlier)
    elif event == "duplicated":
        other = ROOTS[1 - ROOTS.index(root)]
        if (other, path) in files:
            return None
        files[other, path] = sections
    return files


def _restored(story: Sequence[NoteMoment], draw: random.Random) -> Files | None:
    """A file that was deleted, as it last was."""
    files = dict(story[-1].files)
    gone = sorted({at for m in story for at in m.files} - files.keys())
    deleted = [
        at
        for at in gone
        if any(m.event == "deleted" and at in before.files and at not in m.files for before, m in _pairs(story))
    ]
    if not deleted:
        return None
    at = draw.choice(deleted)
    files[at] = next(m.files[at] for m in reversed(story) if at in m.files)
    return files


def _pairs(story: Sequence[NoteMoment]) -> list[tuple[NoteMoment, NoteMoment]]:
    return list(pairwise(story))

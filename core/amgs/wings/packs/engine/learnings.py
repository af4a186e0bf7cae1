"""Learnings: what several sources say, in a part of their own sentences and findings, each cited.

A learning is made of sources alone, never of another learning, and no source is changed by it: what it leaves out
stands where it stood. A finding that an earlier learning tells is not listed again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from amgs.conversation.slots import ELEMENT_CLASSES, EXACT, elements_of, names_of
from amgs.conversation.summaries import key_sentences
from amgs.conversation.survival import Element, holds
from amgs.identity import file_of, piece_of
from amgs.types import Block

SHARE = 0.25
"""Tokens of a learning's sentences for each of its members', unless given; its other findings take as many at most."""
_MOST = 64
"""Sentences of a group that are weighed."""
_GAP = " … "
_NUMBER = re.compile(r"\d+")

Span = tuple[int, int, int]
"""(member, start, end): characters [start, end) of the member at a place."""
Cite = tuple[int, int, int, int]
"""(at, member, start, end): what stands in a learning from `at` on."""


@dataclass(frozen=True, slots=True)
class LearningText:
    """members: in the order of time. title: the sentence that weighs most. cites: what of the text is whose; the rest
    says when, who and of what class.
    """

    members: tuple[Block, ...]
    text: str
    title: str
    cites: tuple[Cite, ...]


def in_time(blocks: Sequence[Block]) -> list[Block]:
    """Blocks in the order of time, those of one file in its order."""

    def place(block: Block) -> tuple[object, ...]:
        source = str(block.meta.get("source") or "")
        pieces = tuple(map(int, _NUMBER.findall(piece_of(source)[:40])))
        return block.created_at, file_of(source), pieces, block.id

    return sorted(blocks, key=place)


def findings(blocks: Sequence[Block]) -> list[list[Element]]:
    """What of each block must not be lost. All of them together tell which words are names."""
    names = names_of([one.content for one in blocks], [_speaker(one) for one in blocks])
    return [
        [
            Element(kind, place, start, end, one.content[start:end])
            for kind, start, end in elements_of(one.content, one.created_at, names)
        ]
        for place, one in enumerate(blocks)
    ]


def learnings(
    blocks: Sequence[Block], parts: Sequence[Sequence[int]], told: str, share: float, count: Callable[[str], int]
) -> list[LearningText]:
    """A learning of each part of blocks, given as rising places: sentences in at most `share` of the tokens of its
    members, but for one, and findings in as many at most. told: what earlier learnings say. count: tokens of a text.
    """
    found = findings(blocks)
    ends = [0, *accumulate(map(len, parts))]
    said = [blocks[place].content for part in parts for place in part]
    made = []
    for part, start, best in zip(parts, ends, key_sentences(said, list(pairwise(ends)), _MOST), strict=False):
        members = [blocks[place] for place in part]
        key = [(one.place - start, one.start, one.end) for one in best]
        own = [replace(one, number=n) for n, place in enumerate(part) for one in found[place]]
        room = int(share * sum(count(one.content) for one in members))
        one = _learning(members, key, own, told, room, count)
        told += f"\n{one.text}"
        made.append(one)
    return made


def _learning(
    members: Sequence[Block],
    key: Sequence[Span],
    found: Sequence[Element],
    told: str,
    room: int,
    count: Callable[[str], int],
) -> LearningText:
    """The sentence that weighs most, what was decided and the next sentences, while there is room; then findings that
    these do not tell, while there is as much room again. key: sentences, the weightiest first. found: of the members.
    """
    first = key[0] if key else (0, 0, len(members[0].content))
    chosen, listed = [first], list[Element]()
    for one in (*((e.number, e.start, e.end) for e in found if e.kind == "decision"), *key):
        if one not in chosen and count(_written(members, [*chosen, one], ())[0]) <= room:
            chosen.append(one)
    seen = f"{told}\n{_written(members, chosen, ())[0]}"
    every = {(e.kind, _said(e, members)): e for e in reversed(found) if e.kind in EXACT}
    for (_, said), e in reversed(every.items()):
        new = not holds(seen, said) and not any(_within(e, span) for span in chosen)
        if new and count(_written(members, (), [*listed, e])[0]) <= room:
            listed.append(e)
    text, cites = _written(members, chosen, listed)
    place, start, end = first
    return LearningText(tuple(members), text, " ".join(members[place].content[start:end].split()), cites)


def _written(
    members: Sequence[Block], chosen: Sequence[Span], listed: Sequence[Element]
) -> tuple[str, tuple[Cite, ...]]:
    """A line for each member of which sentences are told, with its day and who says it; a line for each class of
    findings.
    """
    text = ""
    cites: list[Cite] = []
    for place, member in enumerate(members):
        own = sorted((start, end) for n, start, end in chosen if n == place)
        speaker = _speaker(member)
        for n, (start, end) in enumerate(own):
            if n:
                text += _GAP if member.content[own[n - 1][1] : start].strip() else " "
            else:
                text += "\n" if text else ""
                text += f"{_day(member)} "
                text += f"{speaker}: " if speaker and not member.content[start:].startswith(speaker) else ""
            cites.append((len(text), place, start, end))
            text += member.content[start:end]
    for kind in ELEMENT_CLASSES:
        for n, one in enumerate(e for e in listed if e.kind == kind):
            text += "; " if n else f"\n{kind}s: "
            cites.append((len(text), one.number, one.start, one.end))
            text += _said(one, members)
    return text, tuple(cites)


def _speaker(block: Block) -> str:
    return str(block.meta.get("speaker") or "")


def _said(one: Element, members: Sequence[Block]) -> str:
    """As it is listed: "yesterday" says nothing without the day on which it was said."""
    return f"{one.text} ({_day(members[one.number])})" if one.kind == "date" else one.text


def _within(one: Element, span: Span) -> bool:
    place, start, end = span
    return one.number == place and start <= one.start and one.end <= end


def _day(block: Block) -> str:
    return block.written.date().isoformat()

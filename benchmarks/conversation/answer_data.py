"""Questions with their answers, each asked of a stretch of its conversation that a small model reads whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import locomo_data
from benchmarks.locomo_data import Conversation

LENGTH = 2_000
"""Tokens of a stretch at most: what is read in full still lies within what a model of this size was trained on."""
_OF_ONE = 3
"""Questions that are asked of one stretch at most."""


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question, its answer, and the places in the stretch, from 0, of the messages that answer it."""

    text: str
    answer: str
    evidence: frozenset[int]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Sessions of a conversation in the order of time, as `memory.conversation.add` takes messages, and what is asked
    of them. now: the clock of its memory.
    """

    name: str
    messages: tuple[Mapping[str, Any], ...]
    questions: tuple[AnsweredQuestion, ...]
    now: datetime


def stretches(folder: Path, count: Callable[[str], int]) -> list[Stretch]:
    """The sessions that hold the evidence of a question, and of those around them the nearest that fit.

    Questions whose evidence lies in sessions that are longer than LENGTH, adversarial ones and those without an answer
    are left out. () where the folder is not there.
    """
    if not any(folder.glob("*.json")):
        return []
    return [made for one in locomo_data.read_folder(folder) for made in _of(one, count)]


def drawn(found: Sequence[Stretch], questions: int, seed: int) -> Iterator[Stretch]:
    """Stretches at random, with at most three questions of each, until there are so many questions."""
    chance = np.random.default_rng(seed)
    left = questions
    for place in chance.permutation(len(found)):
        if left <= 0:
            return
        one = found[place]
        chosen = sorted(chance.permutation(len(one.questions))[: min(_OF_ONE, left)])
        left -= len(chosen)
        yield Stretch(one.name, one.messages, tuple(one.questions[at] for at in chosen), one.now)


def _of(one: Conversation, count: Callable[[str], int]) -> Iterator[Stretch]:
    messages, of_session, places = [], [], {}
    for place, draft in enumerate(one.drafts):
        places[str(draft.meta["source"])] = place
        of_session.append(str(draft.meta["source"]).partition("#")[0])
        speaker = str(draft.meta["speaker"])
        said = draft.content.removeprefix(f"{speaker}: ").removesuffix(f"\n({draft.meta['date']})")
        messages.append({"speaker": speaker, "text": said, "at": draft.created_at})
    names = list(dict.fromkeys(of_session))
    members = [[place for place, name in enumerate(of_session) if name == session] for session in names]
    lengths = [
        sum(count(f"{messages[p]['speaker']}: {messages[p]['text']}\n") for p in held) for held in members
    ]
    asked: dict[tuple[int, ...], list[tuple[str, str, list[int]]]] = {}
    for question in one.questions:
        evidence = [places[source] for source in question.evidence]
        within = around(sorted({names.index(of_session[place]) for place in evidence}), lengths)
        if within and question.answer and question.category != locomo_data.ADVERSARIAL:
            asked.setdefault(within, []).append((question.text, question.answer, evidence))
    for number, (within, those) in enumerate(asked.items()):
        held = [place for session in within for place in members[session]]
        yield Stretch(
            f"{one.name}-{number}",
            tuple(messages[place] for place in held),
            tuple(AnsweredQuestion(q, a, frozenset(held.index(p) for p in e)) for q, a, e in those),
            one.now,
        )


def around(wanted: Sequence[int], lengths: Sequence[int], most: int = LENGTH) -> tuple[int, ...]:
    """The wanted sessions, and of the others the nearest that still fit, in order; () where the wanted ones do not."""
    left = most - sum(lengths[session] for session in wanted)
    if left < 0:
        return ()
    held = set(wanted)
    others = set(range(len(lengths))) - held
    for session in sorted(others, key=lambda s: (min(abs(s - w) for w in wanted), s)):
        if lengths[session] > left:
            break
        held.add(session)
        left -= lengths[session]
    return tuple(sorted(held))

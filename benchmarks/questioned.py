"""Memories of four corpora, and what is asked of them: conversations (LoCoMo, REALTALK), and the paragraphs of all
questions in one memory (HotpotQA, MuSiQue).

Questions over paragraphs come with what supports the answer: sentences of HotpotQA, paragraphs of MuSiQue.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from amgs.errors import InputError
from amgs.identity import block_id
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.types import Block
from benchmarks.bench_results import MemoryRig
from benchmarks.conversation import evidence_data
from benchmarks.conversation.evidence_data import QuestionedConversation
from benchmarks.stores import STILL, BenchClock


@dataclass(frozen=True, slots=True)
class PruningUnit:
    """Characters [start, end) of a paragraph's content that are kept or left out as one."""

    paragraph: int
    start: int
    end: int
    supports: bool


@dataclass(frozen=True, slots=True)
class PruningQuestion:
    """A question with its paragraphs, `Title`, an empty line and the text, and the units of these in order."""

    text: str
    paragraphs: tuple[RawBlock, ...]
    units: tuple[PruningUnit, ...]
    answer: str = ""


def read_questions(folder: Path, name: str) -> tuple[PruningQuestion, ...]:
    """The questions of `multihop/NAME.json`; none where it is not there. Raises InputError for another layout."""
    path = folder / "multihop" / f"{name}.json"
    if not path.exists():
        return ()
    reader = {"hotpotqa": _hotpotqa, "musique": _musique}[name]
    try:
        return tuple(reader(one) for one in json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} cannot be read as questions with paragraphs: {error!r}.") from error


def _hotpotqa(given: Mapping[str, Any]) -> PruningQuestion:
    wanted = {(str(title), int(place)) for title, place in given["supporting_facts"]}
    paragraphs, units = [], list[PruningUnit]()
    for number, (title, sentences) in enumerate(given["context"]):
        paragraphs.append(_paragraph(str(title), "".join(sentences)))
        at = len(title) + 2
        for place, sentence in enumerate(sentences):
            if sentence.strip():
                units.append(PruningUnit(number, at, at + len(sentence), (str(title), place) in wanted))
            at += len(sentence)
    return PruningQuestion(str(given["question"]), tuple(paragraphs), tuple(units), str(given.get("answer", "")))


def _musique(given: Mapping[str, Any]) -> PruningQuestion:
    paragraphs, units = [], []
    for number, one in enumerate(given["paragraphs"]):
        paragraph = _paragraph(str(one["title"]), str(one["paragraph_text"]))
        paragraphs.append(paragraph)
        start = len(str(one["title"])) + 2
        units.append(PruningUnit(number, start, len(paragraph.content), bool(one["is_supporting"])))
    return PruningQuestion(str(given["question"]), tuple(paragraphs), tuple(units), str(given.get("answer", "")))


def _paragraph(title: str, text: str) -> RawBlock:
    return RawBlock(f"{title}\n\n{text}", meta={"source": title, "title": title})


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """wanted: (id, start, end) of what answers. group: what is drawn as one for an interval."""

    text: str
    answer: str
    group: str
    wanted: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class QuestionedMemory:
    """A memory with its corpus. memories: how many of that corpus there are. share: into how many parts the questions
    that a model judges are shared; 0: none are. blocks: in the order of time. conversation: what it was made of; None
    for paragraphs.
    """

    corpus: str
    memories: int
    share: int
    memory: Memory
    blocks: Sequence[Block]
    asked: Sequence[AskedQuestion]
    conversation: QuestionedConversation | None = None


def questioned_memories(rig: MemoryRig, data: Path) -> Iterator[QuestionedMemory]:
    """Each memory of four corpora as far as a folder has them, open until the next is asked for."""
    count = cache(rig.count_tokens)
    corpora = {name: evidence_data.read(data, name) for name in ("locomo", "realtalk")}
    there = sum(bool(found) for found in corpora.values())
    for corpus, conversations in corpora.items():
        for one in conversations:
            clock = BenchClock(one.now)
            with Memory.open(":memory:", clock=clock, embedder=rig.embedder, count_tokens=count) as memory:
                memory.conversation.add(one.name, one.messages)
                memory.apply_consolidation(memory.plan_consolidation())
                stored = memory._opened.storage.messages.read_messages(one.name)
                own = {each.message.number: each.blocks for each in stored}
                held = memory._opened.storage.blocks.get([i for ids in own.values() for i in ids])
                asked = [
                    AskedQuestion(question.text, question.answer, one.name, wanted)
                    for question in one.questions
                    if (
                        wanted := tuple(
                            (i, 0, len(held[i].content))
                            for number in sorted(question.evidence)
                            for i in own.get(number, ())
                        )
                    )
                ]
                latest_last = sorted(held.values(), key=lambda block: block.created_at)
                yield QuestionedMemory(
                    corpus, len(conversations), there * len(conversations), memory, latest_last, asked, one
                )
    for corpus in ("hotpotqa", "musique"):
        questions = [one for one in read_questions(data, corpus) if any(u.supports for u in one.units)]
        if questions:
            drafts = {block_id(draft.content): draft for one in questions for draft in one.paragraphs}
            with Memory.open(":memory:", clock=BenchClock(STILL), embedder=rig.embedder, count_tokens=count) as memory:
                memory.ingest_many(drafts.values())
                memory.apply_consolidation(memory.plan_consolidation())
                ids = sorted(drafts, key=lambda one: (str(drafts[one].meta["title"]), one))
                held = memory._opened.storage.blocks.get(ids)
                asked = [
                    AskedQuestion(
                        one.text,
                        one.answer,
                        f"question {number}",
                        tuple(
                            (block_id(one.paragraphs[u.paragraph].content), u.start, u.end)
                            for u in one.units
                            if u.supports
                        ),
                    )
                    for number, one in enumerate(questions)
                ]
                yield QuestionedMemory(corpus, 1, 0, memory, [held[one] for one in ids], asked)

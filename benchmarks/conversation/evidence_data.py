"""Conversations with questions and the turns that answer them: LoCoMo, REALTALK, QMSum."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from amgs.errors import InputError
from amgs.memory import Memory
from benchmarks import locomo_data
from benchmarks.bench_results import MemoryRig
from benchmarks.stores import STILL, open_memory


@dataclass(frozen=True, slots=True)
class EvidenceQuestion:
    """A question, and the numbers of the messages that answer it, from 1. answer: "" where none is given."""

    text: str
    kind: str
    evidence: frozenset[int]
    answer: str = ""


@dataclass(frozen=True, slots=True)
class QuestionedConversation:
    """Messages as `memory.conversation.add` takes them, and what is asked of them. now: the clock of its memory."""

    name: str
    messages: tuple[Mapping[str, Any], ...]
    questions: tuple[EvidenceQuestion, ...]
    now: datetime


@contextmanager
def opened_conversation(one: QuestionedConversation, rig: MemoryRig) -> Iterator[Memory]:
    """A memory of one conversation, consolidated."""
    with open_memory(rig, now=one.now) as memory:
        memory.conversation.add(one.name, one.messages)
        memory.apply_consolidation(memory.plan_consolidation())
        yield memory


def read(folder: Path, name: str) -> tuple[QuestionedConversation, ...]:
    """The conversations of a corpus (`locomo`, `realtalk`, `qmsum`) below a folder; () where it is not there."""
    held = folder / name
    if not held.is_dir():
        return ()
    return tuple(_meetings(held) if name == "qmsum" else _dialogues(held))


def _dialogues(folder: Path) -> Iterator[QuestionedConversation]:
    """In LoCoMo's layout, without the adversarial questions, which ask for what was never said."""
    for one in locomo_data.read_folder(folder):
        numbers: dict[str, int] = {}
        messages = []
        for number, draft in enumerate(one.drafts, 1):
            numbers[str(draft.meta["source"])] = number
            speaker = str(draft.meta["speaker"])
            said = draft.content.removeprefix(f"{speaker}: ").removesuffix(f"\n({draft.meta['date']})")
            messages.append({"speaker": speaker, "text": said, "at": draft.created_at})
        questions = tuple(
            EvidenceQuestion(
                q.text,
                locomo_data.CATEGORIES.get(q.category, str(q.category)),
                frozenset(numbers[source] for source in q.evidence),
                q.answer,
            )
            for q in one.questions
            if q.category != locomo_data.ADVERSARIAL
        )
        yield QuestionedConversation(one.name, tuple(messages), questions, one.now)


def _meetings(folder: Path) -> Iterator[QuestionedConversation]:
    """Meetings with the spans of turns that a query is about; general queries name no span."""
    for path in sorted(folder.glob("*.jsonl")):
        try:
            rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
            for place, row in enumerate(rows):
                messages = [{"speaker": t["speaker"], "text": t["content"]} for t in row["meeting_transcripts"]]
                questions = [
                    EvidenceQuestion(str(q["query"]), "span", _numbers(q["relevant_text_span"], len(messages)))
                    for q in row["specific_query_list"]
                ]
                named = f"{path.stem}-{place}"
                asked = tuple(q for q in questions if q.evidence)
                yield QuestionedConversation(named, tuple(messages), asked, STILL)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path} holds no meetings as QMSum has them: {error}.") from error


def _numbers(spans: list[list[str]], size: int) -> frozenset[int]:
    """The numbers of the turns in spans, which count from 0 and include both ends."""
    places = {place for first, last in spans for place in range(int(first), min(int(last), size - 1) + 1)}
    return frozenset(place + 1 for place in places)

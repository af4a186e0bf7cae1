"""Whether a case of a file of questions holds of a memory: a search or a frame is asked, and nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from amgs.diagnosis.wording import exactly
from amgs.types.block import Block
from amgs.types.frame import Frame
from amgs.types.question_case import CaseHit, CaseOutcome, QuestionCase
from amgs.types.retrieval import Candidate, SearchResult
from amgs.types.score import COMPONENTS

TOP = 10
"""Hits that are looked at, where a case asks for no rank beyond."""
EVEN = 0.5
"""From this chance on a memory is taken to hold an answer."""


class Answering(Protocol):
    """A memory, here or served."""

    def search(self, query: str, *, top_k: int = 10, as_of: datetime | None = None) -> SearchResult: ...

    def assemble(
        self, name: str, *, query: str = "", reinforce: bool = True, as_of: datetime | None = None
    ) -> Frame: ...


def check(case: QuestionCase, memory: Answering) -> CaseOutcome:
    """Ask a case. Texts are found whatever their case and the signs between their words; by a search each in one of the
    best hits, by a frame anywhere in its text. Raises UnknownFrameError where the case names a frame that is not there.
    """
    answered = _answered(case, memory)
    blocks, texts, where = [one.block for one in answered.given], answered.texts, answered.where
    faults = [f"“{text}” is not in {where}" for text in case.must_contain if not _in(text, texts)]
    for text in case.must_not_contain:
        if _in(text, texts):
            held = next((n for n, block in enumerate(blocks, 1) if exactly(block.content, text)), None)
            faults.append(f"“{text}” is in {where}{f', at {held}' if held else ''}")
    rank = _rank(case.must_contain, blocks)
    if case.rank is not None and not faults and (rank is None or rank > case.rank):
        faults.append(f"at rank {rank}, not {case.rank}" if rank else "no one block contains all of it")
    if case.answerable is not None:
        if answered.chance is None:
            faults.append("how likely the memory holds an answer is not known for such a question")
        elif (answered.chance >= EVEN) != case.answerable:
            faults.append(f"the memory holds an answer with a chance of {answered.chance:.2f}")
    hits = tuple(_hit(one, number, case) for number, one in enumerate(answered.given, 1))
    return CaseOutcome(case, tuple(faults), rank, hits)


def holding(case: QuestionCase, memory: Answering) -> QuestionCase | None:
    """A case with those of its texts that hold of the memory as it is; None where none does. A test that fails from its
    first day on says nothing of what changed since.
    """
    texts = _answered(case, memory).texts
    kept = replace(
        case,
        must_contain=tuple(text for text in case.must_contain if _in(text, texts)),
        must_not_contain=tuple(text for text in case.must_not_contain if not _in(text, texts)),
    )
    return kept if kept.must_contain or kept.must_not_contain else None


@dataclass(frozen=True, slots=True)
class _Answered:
    """What is given for a case: its blocks, the texts that are looked through, where they are in words, and the chance
    that the memory holds an answer; None where that is not known.
    """

    given: Sequence[Candidate]
    texts: Sequence[str]
    where: str
    chance: float | None


def _answered(case: QuestionCase, memory: Answering) -> _Answered:
    if case.frame:
        frame = memory.assemble(case.frame, query=case.question, reinforce=False, as_of=case.as_of)
        return _Answered(frame.selected, [frame.text], f"the text of {frame.name}", None)
    found = memory.search(case.question, top_k=max(TOP, case.rank or 0), as_of=case.as_of)
    texts = [hit.block.content for hit in found.hits]
    return _Answered(found.hits, texts, f"the {len(texts)} best hits", found.answerable)


def _hit(one: Candidate, rank: int, case: QuestionCase) -> CaseHit:
    parts = {"keyword": one.lexical, "vector": one.vector, "graph": one.graph}
    parts |= {name: getattr(one.parts, name) for name in COMPONENTS}
    wanted = any(exactly(one.block.content, text) for text in case.must_contain)
    shown = tuple((name, round(value, 4)) for name, value in parts.items() if value)
    return CaseHit(one.block.id, one.block.title, rank, round(one.score, 4), one.layers, shown, wanted)


def _in(text: str, texts: Sequence[str]) -> bool:
    return any(exactly(each, text) for each in texts)


def _rank(wanted: Sequence[str], blocks: Sequence[Block]) -> int | None:
    if not wanted:
        return None
    held = (n for n, block in enumerate(blocks, 1) if all(exactly(block.content, text) for text in wanted))
    return next(held, None)

"""Whether a case of a file of questions holds of a memory: a search or a frame is asked, and nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from amgs.diagnosis.wording import exactly
from amgs.types.block import Block
from amgs.types.frame import Frame
from amgs.types.question_case import CaseOutcome, QuestionCase
from amgs.types.retrieval import SearchResult

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
    if case.frame:
        frame = memory.assemble(case.frame, query=case.question, reinforce=False, as_of=case.as_of)
        blocks, texts = [one.block for one in frame.selected], [frame.text]
        where, chance = f"the text of {frame.name}", None
    else:
        found = memory.search(case.question, top_k=max(TOP, case.rank or 0), as_of=case.as_of)
        blocks = [hit.block for hit in found.hits]
        texts = [block.content for block in blocks]
        where, chance = f"the {len(blocks)} best hits", found.answerable
    faults = [f"“{text}” is not in {where}" for text in case.must_contain if not _in(text, texts)]
    for text in case.must_not_contain:
        if _in(text, texts):
            held = next((n for n, block in enumerate(blocks, 1) if exactly(block.content, text)), None)
            faults.append(f"“{text}” is in {where}{f', at {held}' if held else ''}")
    rank = _rank(case.must_contain, blocks)
    if case.rank is not None and not faults and (rank is None or rank > case.rank):
        faults.append(f"at rank {rank}, not {case.rank}" if rank else "no one block contains all of it")
    if case.answerable is not None:
        if chance is None:
            faults.append("how likely the memory holds an answer is not known for such a question")
        elif (chance >= EVEN) != case.answerable:
            faults.append(f"the memory holds an answer with a chance of {chance:.2f}")
    return CaseOutcome(case, tuple(faults), rank)


def _in(text: str, texts: Sequence[str]) -> bool:
    return any(exactly(each, text) for each in texts)


def _rank(wanted: Sequence[str], blocks: Sequence[Block]) -> int | None:
    if not wanted:
        return None
    held = (n for n, block in enumerate(blocks, 1) if all(exactly(block.content, text) for text in wanted))
    return next(held, None)

"""Whether a case of a file of questions holds of a memory: a search or a frame is asked, and nothing is changed; and
questions that were judged, as such cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

from amgs.api.context import MemoryContext
from amgs.diagnosis import asked, facts
from amgs.diagnosis.facts import exactly
from amgs.sessions.opening import open_session
from amgs.sessions.windows import window_at
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
    best hits, by a frame anywhere in its text, of a session in its last window. Raises UnknownFrameError where the case
    names a frame that is not there, InputError for a session that cannot be read.
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
    if case.session:
        session = open_session(Path(case.session).expanduser())
        turns = window_at(session, len(session.turns)).turns if session.turns else ()
        return _Answered(
            (), [session.text(turn) + turn.words for turn in turns], "the session's last window", None
        )
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


_WORDS = 12
"""So many words of a block stand for it: an edit elsewhere in the block leaves the case alone."""
_MOST = 3
"""So many blocks of one kind are told of each question."""


def judged(context: MemoryContext, limit: int) -> tuple[QuestionCase, ...]:
    """The questions of the latest `limit` verdicts, the latest first: each frame and question once, with words of the
    blocks that were judged useful, and of those that were judged useless. Of several verdicts the latest counts.
    """
    rows = context.storage.forecasts.cases(decided=True, limit=limit)
    blocks = context.storage.blocks.get({outcome.block_id for outcome, *_ in rows})
    found: dict[tuple[str, str], tuple[str, dict[str, bool]]] = {}
    for outcome, question, *_ in rows:
        if not question.strip() or not outcome.frame or outcome.block_id not in blocks:
            continue
        key = outcome.frame, asked.plain(question)
        _, verdicts = found.setdefault(key, (question.strip(), {}))
        verdicts.setdefault(outcome.block_id, bool(outcome.actual))
    cases = []
    for (frame, _), (question, verdicts) in found.items():
        told = {
            useful: tuple(_telling(blocks[i], question) for i, was in verdicts.items() if was is useful)[
                :_MOST
            ]
            for useful in (True, False)
        }
        cases.append(QuestionCase(question, told[True], told[False], frame=frame))
    return tuple(cases)


def _telling(block: Block, question: str) -> str:
    """The words of a block that stand for it: of its sentence that says most of the question, the first dozen."""
    start, end = facts.place_in(block.content, question)
    length = len(block.content)
    sentence = block.content[round(start * length) : round(end * length)] or block.content
    return " ".join(sentence.split()[:_WORDS])

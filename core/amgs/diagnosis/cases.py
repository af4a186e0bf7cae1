"""Check cases of a question file against a memory by a search or a frame, without changes; turn judged questions into
such cases; report changes since an earlier run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

from amgs.api.context import MemoryContext
from amgs.diagnosis import asked, facts
from amgs.diagnosis.facts import contains_words
from amgs.sessions.opening import open_session
from amgs.sessions.turn import window_at
from amgs.types.block import Block
from amgs.types.diagnosis import CaseChange, CaseComparison, CaseHit, CaseOutcome, QuestionCase
from amgs.types.frame import Frame
from amgs.types.retrieval import COMPONENTS, Candidate, SearchResult

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
    """Ask a case and compare the answer with what it requires. Case and punctuation do not matter. A search must have
    each text in any of its best hits, a frame anywhere in its text, a session in its last window. Raises
    UnknownFrameError where the case names a frame that is not there, InputError for a session that cannot be read.
    """
    answered = _answer_case(case, memory)
    blocks, texts, where = [candidate.block for candidate in answered.candidates], answered.texts, answered.where
    faults = [f"“{text}” is not in {where}" for text in case.must_contain if not _in(text, texts)]
    for text in case.must_not_contain:
        if _in(text, texts):
            position = next((n for n, block in enumerate(blocks, 1) if contains_words(block.content, text)), None)
            faults.append(f"“{text}” is in {where}{f', at {position}' if position else ''}")
    rank = _rank(case.must_contain, blocks)
    if case.rank is not None and not faults and (rank is None or rank > case.rank):
        faults.append(f"at rank {rank}, not {case.rank}" if rank else "no one block contains all of it")
    if case.answerable is not None:
        if answered.chance is None:
            faults.append("how likely the memory holds an answer is not known for such a question")
        elif (answered.chance >= EVEN) != case.answerable:
            faults.append(f"the memory holds an answer with a chance of {answered.chance:.2f}")
    hits = tuple(_hit(candidate, number, case) for number, candidate in enumerate(answered.candidates, 1))
    return CaseOutcome(case, tuple(faults), rank, hits)


def holding(case: QuestionCase, memory: Answering) -> QuestionCase | None:
    """Return a case with those of its texts that hold of the memory as it is; None where none does. A test that fails
    from its first day on says nothing of what changed since.
    """
    texts = _answer_case(case, memory).texts
    valid_case = replace(
        case,
        must_contain=tuple(text for text in case.must_contain if _in(text, texts)),
        must_not_contain=tuple(text for text in case.must_not_contain if not _in(text, texts)),
    )
    return valid_case if valid_case.must_contain or valid_case.must_not_contain else None


@dataclass(frozen=True, slots=True)
class _Answered:
    """Response to a case: its blocks, the texts to look through, a description of them in words, and the chance that
    the memory holds an answer; None where unknown.
    """

    candidates: Sequence[Candidate]
    texts: Sequence[str]
    where: str
    chance: float | None


def _answer_case(case: QuestionCase, memory: Answering) -> _Answered:
    """Return what answers a case: the last window of a session, a frame, or the hits of a search."""
    if case.session:
        session = open_session(Path(case.session).expanduser())
        turns = window_at(session, len(session.turns)).turns if session.turns else ()
        return _Answered((), [session.text(turn) + turn.words for turn in turns], "the session's last window", None)
    if case.frame:
        frame = memory.assemble(case.frame, query=case.question, reinforce=False, as_of=case.as_of)
        return _Answered(frame.selected, [frame.text], f"the text of {frame.name}", None)
    result = memory.search(case.question, top_k=max(TOP, case.rank or 0), as_of=case.as_of)
    texts = [hit.block.content for hit in result.hits]
    return _Answered(result.hits, texts, f"the {len(texts)} best hits", result.answerable)


def _hit(candidate: Candidate, rank: int, case: QuestionCase) -> CaseHit:
    parts = {"keyword": candidate.lexical, "vector": candidate.vector, "graph": candidate.graph}
    parts |= {name: getattr(candidate.parts, name) for name in COMPONENTS}
    wanted = any(contains_words(candidate.block.content, text) for text in case.must_contain)
    shown = tuple((name, round(value, 4)) for name, value in parts.items() if value)
    return CaseHit(
        candidate.block.id, candidate.block.title, rank, round(candidate.score, 4), candidate.layers, shown, wanted
    )


def _in(text: str, texts: Sequence[str]) -> bool:
    return any(contains_words(passage, text) for passage in texts)


def _rank(wanted: Sequence[str], blocks: Sequence[Block]) -> int | None:
    if not wanted:
        return None
    ranks = (n for n, block in enumerate(blocks, 1) if all(contains_words(block.content, text) for text in wanted))
    return next(ranks, None)


_WORDS = 12
"""So many words of a block stand for it: an edit elsewhere in the block leaves the case alone."""
_MOST = 3
"""So many blocks of a kind are told of each question."""


def read_judged_questions(context: MemoryContext, limit: int) -> tuple[QuestionCase, ...]:
    """Return the questions of the latest `limit` verdicts, the latest first: each frame and question once, with words
    of the blocks that were judged useful, and of those that were judged useless. Of several verdicts the latest counts.
    """
    rows = context.storage.forecasts.cases(decided=True, limit=limit)
    blocks = context.storage.blocks.get({outcome.block_id for outcome, *_ in rows})
    questions: dict[tuple[str, str], tuple[str, dict[str, bool]]] = {}
    for outcome, question, *_ in rows:
        if not question.strip() or not outcome.frame or outcome.block_id not in blocks:
            continue
        key = outcome.frame, asked.normalise_question(question)
        _, verdicts = questions.setdefault(key, (question.strip(), {}))
        verdicts.setdefault(outcome.block_id, bool(outcome.actual))
    cases = []
    for (frame, _), (question, verdicts) in questions.items():
        texts = {
            useful: tuple(_telling(blocks[i], question) for i, was in verdicts.items() if was is useful)[:_MOST]
            for useful in (True, False)
        }
        cases.append(QuestionCase(question, texts[True], texts[False], frame=frame))
    return tuple(cases)


def _telling(block: Block, question: str) -> str:
    """Return the words of a block that stand for it: of its sentence that says most of the question, the first
    dozen.
    """
    start, end = facts.locate_by_words(block.content, question)
    length = len(block.content)
    sentence = block.content[round(start * length) : round(end * length)] or block.content
    return " ".join(sentence.split()[:_WORDS])


_LEAST = 0.005
"""A part that moved by less is not named."""
_PASSED = 3
"""So many blocks that came before the wanted block are named."""


def compare(before: Sequence[CaseOutcome], after: Sequence[CaseOutcome]) -> CaseComparison:
    """Return both runs, case by case; a case that was edited since is a different case."""
    earlier = {outcome.case: outcome for outcome in before}
    same, moved, added = 0, [], []
    for now in after:
        was = earlier.pop(now.case, None)
        if was is None:
            added.append(now.case.question)
        elif (was.faults == now.faults or not (was.faults or now.faults)) and was.rank == now.rank:
            same += 1
        else:
            moved.append(CaseChange(was, now, reasons(was, now)))
    return CaseComparison(same, tuple(moved), tuple(added), tuple(case.question for case in earlier))


def reasons(before: CaseOutcome, after: CaseOutcome) -> tuple[str, ...]:
    """Return why a case moved: where its wanted block was and is, what part of its score moved most, and what passed
    it.
    """
    was, now = _find_wanted_hit(before), _find_wanted_hit(after)
    known = {hit.block for hit in before.hits}
    clauses: list[str] = []
    if was is None and now is None:
        came = [hit for hit in after.hits if hit.block not in known]
        return tuple(f"{_name_hit(hit)} came in, at rank {hit.rank}" for hit in came[:_PASSED])
    if was is None and now is not None:
        clauses.append(f"{_name_hit(now)} came in, at rank {now.rank}")
    elif was is not None:
        same = next((hit for hit in after.hits if hit.block == was.block), None)
        clauses.append(_course(was, same, len(after.hits)))
        if same is not None:
            clauses += _parts(was, same)
        passed = _list_overtaking_hits(before, after, was, same)
        clauses += [f"{_name_hit(hit)} {_since(hit, before)} came before it, at rank {hit.rank}" for hit in passed]
    return tuple(clauses)


def _find_wanted_hit(outcome: CaseOutcome) -> CaseHit | None:
    """Return the hit at the outcome's rank, which has all wanted texts; without a rank the first hit that has any; None
    where none has.
    """
    if outcome.rank:
        return next((hit for hit in outcome.hits if hit.rank == outcome.rank), None)
    return next((hit for hit in outcome.hits if hit.wanted), None)


def _course(was: CaseHit, now: CaseHit | None, count: int) -> str:
    if now is None:
        return f"{_name_hit(was)} was at rank {was.rank} and is not among the {count} of the result"
    if now.rank == was.rank:
        return f"{_name_hit(was)} stays at rank {was.rank}"
    return f"{_name_hit(was)} went from rank {was.rank} to {now.rank}"


def _parts(was: CaseHit, now: CaseHit) -> list[str]:
    """Return what moved a block the way that it went: the layers that no longer find it, or find it now, and the part
    of its score that fell, or rose, most. What moved the other way explains nothing.
    """
    fell = now.rank > was.rank
    clauses = []
    layers = _without(was.layers, now.layers) if fell else _without(now.layers, was.layers)
    if layers:
        clauses.append(f"{'no longer' if fell else 'now'} found by {', '.join(layers)}")
    before, after = dict(was.parts), dict(now.parts)
    moves = {name: after.get(name, 0.0) - before.get(name, 0.0) for name in (*before, *after)}
    most = max(moves, key=lambda name: -moves[name] if fell else moves[name], default="")
    if most and abs(moves[most]) >= _LEAST and (moves[most] < 0) == fell:
        clauses.append(f"its {most} moved from {before.get(most, 0.0):.2f} to {after.get(most, 0.0):.2f}")
    return clauses


def _list_overtaking_hits(before: CaseOutcome, after: CaseOutcome, was: CaseHit, now: CaseHit | None) -> list[CaseHit]:
    """Return what is before the wanted block now and was not: the best first; where it is gone, as far as its place
    was.
    """
    ahead = {hit.block for hit in before.hits if hit.rank < was.rank}
    end = len(after.hits) + 1 if now is None else now.rank
    return [hit for hit in after.hits if hit.rank < end and hit.block not in {*ahead, was.block}][:_PASSED]


def _since(hit: CaseHit, before: CaseOutcome) -> str:
    was = next((earlier_hit.rank for earlier_hit in before.hits if earlier_hit.block == hit.block), None)
    return "(not in the result before)" if was is None else f"(from rank {was})"


def _without(some: Sequence[str], others: Sequence[str]) -> list[str]:
    return [name for name in some if name not in others]


def _name_hit(hit: CaseHit) -> str:
    return f"{hit.block[:12]} “{hit.title}”"

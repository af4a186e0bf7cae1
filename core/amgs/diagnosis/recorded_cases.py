"""Questions that were judged, as cases of a file: what was judged useful for one must be in its answer again."""

from __future__ import annotations

from amgs.api.context import MemoryContext
from amgs.diagnosis import asked, wording
from amgs.types import Block
from amgs.types.question_case import QuestionCase

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
    start, end = wording.place(block.content, question)
    length = len(block.content)
    sentence = block.content[round(start * length) : round(end * length)] or block.content
    return " ".join(sentence.split()[:_WORDS])

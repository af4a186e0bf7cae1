"""Measure the budget that the labelled questions of a memory need of its frames: assemble each with less and less as
long as it holds everything it must rest on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from amgs.api.assembler import Assembler
from amgs.api.context import MemoryContext
from amgs.calibration import coverage
from amgs.calibration.results import FrameNeeds
from amgs.diagnosis import asked
from amgs.diagnosis.facts import exactly
from amgs.frames import pipeline, registry
from amgs.frames.registry import Definitions
from amgs.retrieval.sources import Sources
from amgs.text.loading import load
from amgs.types import Frame, Progress
from amgs.types.question_case import QuestionCase

MOST: Final = 16_384
"""Tokens: what a frame of so many does not hold is taken never to be held."""
_FINE: Final = 32
"""A budget is found to one part in so many of itself."""
_LATEST: Final = 400
"""So many questions with a verdict or an answer are asked again, the latest."""


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question and what the answer to it must rest on: blocks, by id, or texts. With neither, nothing that was
    looked at was of use, and no frame holds it.
    """

    frame: str
    text: str
    blocks: frozenset[str] = frozenset()
    texts: tuple[str, ...] = ()

    def held(self, frame: Frame) -> bool:
        """Return whether all of it stands in a frame."""
        if not self.blocks <= {candidate.block.id for candidate in frame.selected}:
            return False
        return bool(self.blocks or self.texts) and all(exactly(frame.text, text) for text in self.texts)


def collect_labelled_questions(context: MemoryContext, cases: Sequence[QuestionCase]) -> tuple[LabelledQuestion, ...]:
    """Return the cases of a file that say what must be in, then what verdicts and answers tell, the oldest first. A
    question whose useful blocks have left the memory, or are superseded, is no longer about it and left out.
    """
    questions = {
        (case.frame or asked.FRAME, asked.plain(case.question)): LabelledQuestion(
            case.frame or asked.FRAME, case.question, texts=case.must_contain
        )
        for case in cases
        if case.must_contain and case.as_of is None and not case.session
    }
    judged = context.storage.forecasts.judged_questions(_LATEST)
    blocks = context.storage.blocks.get({i for *_, ids in judged for i in ids})
    there = {i for i, block in blocks.items() if not block.superseded}
    for frame, question, ids in judged:
        if there.issuperset(ids):
            labelled_question = LabelledQuestion(frame, question, frozenset(ids))
            questions.setdefault((frame, asked.plain(question)), labelled_question)
    return tuple(questions.values())


def of_frames(
    context: MemoryContext, cases: Sequence[QuestionCase], progress: Progress | None = None
) -> tuple[FrameNeeds, ...]:
    """Return what the labelled questions need of each frame that they were asked of, as it is defined now; leaves no
    trace.
    """
    known = context.definitions()
    questions = [question for question in collect_labelled_questions(context, cases) if question.frame in known]
    budgets: dict[str, list[int | None]] = defaultdict(list)
    if questions:
        load(context.embedder, "the encoder")
        with context.derived.searching() as sources:
            for number, question in enumerate(questions):
                if progress is not None:
                    progress(number, len(questions), "asking for less and less")
                budgets[question.frame].append(
                    least_budget(with_less(context, question, known, sources), question.held)
                )
    return tuple(FrameNeeds(name, coverage.version(name, known), tuple(own)) for name, own in budgets.items())


def with_less(
    context: MemoryContext, question: LabelledQuestion, known: Definitions, sources: Sources
) -> Callable[[int], Frame]:
    """Return the frame of a question by its budget in tokens. What it chooses from is searched for once."""
    definition = registry.find(question.frame, known)
    request = pipeline.FrameRequest(question.text)
    pools = {
        atom.name: Assembler(context).scored(
            definition, atom, pipeline.derive_request(definition, atom, request), sources
        )
        for atom in registry.leaves(definition, known)
    }

    def build_frame(budget: int) -> Frame:
        return pipeline.build(
            definition,
            pipeline.FrameRequest(question.text, budget),
            known,
            sources,
            context.settings,
            context.count_tokens,
            pools,
        )

    return build_frame


def least_budget(build_frame: Callable[[int], Frame], fits: Callable[[Frame], bool]) -> int | None:
    """Return the budget from which on a frame holds what it must, in tokens; None where MOST do not do."""
    budget = MOST
    if not fits(build_frame(budget)):
        return None
    while budget > 1 and fits(build_frame(budget // 2)):
        budget //= 2
    missed = budget // 2
    while budget - missed > max(1, missed // _FINE):
        middle = (missed + budget) // 2
        if fits(build_frame(middle)):
            budget = middle
        else:
            missed = middle
    return budget

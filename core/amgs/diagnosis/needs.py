"""Measure the smallest budget at which a frame contains what a labelled question's answer must rest on.

`calibration.coverage` turns these budgets into a promise for further questions. Nothing is logged.
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
from amgs.diagnosis.facts import contains_words
from amgs.frames import pipeline, registry
from amgs.frames.registry import Definitions
from amgs.retrieval.sources import Sources
from amgs.text.loading import load
from amgs.types import Frame, Progress
from amgs.types.question_case import QuestionCase

MOST: Final = 16_384
"""Largest budget tried, in tokens; what it does not contain counts as never contained."""
_FINE: Final = 32
"""Precision: a budget is found to 1/_FINE of itself."""
_LATEST: Final = 400
"""Latest questions with a verdict or an answer that are measured."""


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question and what its answer must rest on: blocks, by id, or texts. With neither, no shown block was useful,
    and no frame satisfies it.
    """

    frame: str
    text: str
    blocks: frozenset[str] = frozenset()
    texts: tuple[str, ...] = ()

    def is_satisfied(self, frame: Frame) -> bool:
        """Return whether a frame contains all of these blocks and texts."""
        if not self.blocks <= {candidate.block.id for candidate in frame.selected}:
            return False
        return bool(self.blocks or self.texts) and all(contains_words(frame.text, text) for text in self.texts)


def collect_labelled_questions(context: MemoryContext, cases: Sequence[QuestionCase]) -> tuple[LabelledQuestion, ...]:
    """Return the cases of a file that say what an answer must contain, then the questions with a verdict or an answer,
    oldest first; without those whose useful blocks are gone or superseded.
    """
    questions = {
        (case.frame or asked.FRAME, asked.normalise_question(case.question)): LabelledQuestion(
            case.frame or asked.FRAME, case.question, texts=case.must_contain
        )
        for case in cases
        if case.must_contain and case.as_of is None and not case.session
    }
    judged = context.storage.forecasts.judged_questions(_LATEST)
    blocks = context.storage.blocks.get({block_id for *_, ids in judged for block_id in ids})
    present = {block_id for block_id, block in blocks.items() if not block.superseded}
    for frame, question, ids in judged:
        if present.issuperset(ids):
            labelled_question = LabelledQuestion(frame, question, frozenset(ids))
            questions.setdefault((frame, asked.normalise_question(question)), labelled_question)
    return tuple(questions.values())


def measure_needs(
    context: MemoryContext, cases: Sequence[QuestionCase], progress: Progress | None = None
) -> tuple[FrameNeeds, ...]:
    """Return the budgets that labelled questions need of each frame, as it is defined now."""
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
                    least_budget(frame_builder(context, question, known, sources), question.is_satisfied)
                )
    return tuple(FrameNeeds(name, coverage.definition_hash(name, known), tuple(own)) for name, own in budgets.items())


def frame_builder(
    context: MemoryContext, question: LabelledQuestion, known: Definitions, sources: Sources
) -> Callable[[int], Frame]:
    """Return a function that builds a question's frame for a budget in tokens; its candidates are
    gathered only once.
    """
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
    """Return the smallest budget in tokens, to 1/_FINE, at which `fits` accepts the frame; None where MOST do not."""
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

"""`memory.diagnosis`: why an answer missed a fact, what would bring it in, and what that does to other answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from amgs import bounds
from amgs.api.context import MemoryContext
from amgs.calibration.results import CalibrationPlan
from amgs.conversation import keeping
from amgs.diagnosis import (
    asked,
    case_trials,
    causes,
    conversation_causes,
    facts,
    fixes,
    recorded_cases,
    wording,
)
from amgs.diagnosis.causes import FactFate
from amgs.diagnosis.trial import trials
from amgs.errors import UsageError
from amgs.types import Block, Candidate, Progress, Weights
from amgs.types.diagnosis import (
    DecodedContext,
    DiagnosedRequest,
    Diagnosis,
    DiagnosisStep,
    FactMatch,
    FixApplied,
    FixTrial,
    ProposedFix,
)
from amgs.types.question_case import CaseComparison, QuestionCase

_FEW = 1
"""A fix that moves so many other answers is taken before larger ones are tried."""


class Diagnosing:
    """Why an answer missed a fact, as `memory.diagnosis`. To diagnose leaves no trace; fixes are tried in a copy of the
    memory.
    """

    def __init__(self, context: MemoryContext) -> None:
        self._context = context

    def diagnose(
        self,
        answer: str,
        missed: str,
        *,
        question: str = "",
        frame: str = "",
        budget: int | None = None,
        weights: Weights | None = None,
        exchange: int | None = None,
        conversation: str = "",
        block: str = "",
        questions: int = 20,
        read: DecodedContext | None = None,
        progress: Progress | None = None,
    ) -> Diagnosis:
        """Find the one cause for which an answer missed a fact, and the fix that brings it in and moves fewest others.

        answer: what was answered, "" where that is not known. missed: the fact, in any words. question: what was asked;
        else the latest call, assembly or search in the logs that led to the answer. frame, budget, weights: of a
        question that no log has; a session's frame unless given. exchange: the number of a call that the gateway
        recorded. conversation: a conversation that the question was asked of. block: the block that holds the fact, by
        the start of its id. questions: so many other logged questions are asked before and after each fix; with 0 no
        fix is tried. read: what the working context held when the answer was decoded.
        Raises UsageError where nothing tells which question was asked, or several blocks hold the fact alike.
        """
        if not missed.strip():
            raise UsageError("No fact is given.", way_out="Say which fact was missed, in a sentence.")
        bounds.count("The number of questions", questions)
        request = self._request(answer, question, frame, budget, weights, exchange, conversation)
        found, block_held, matches, handle = self._found(request, missed, block)
        finding = _read(found, block_held, missed, read)
        source = self._answered_from(request, answer)
        steps = (_asked(request), *_answered(source), *finding.steps)
        made = Diagnosis(
            answer,
            missed,
            request,
            finding.cause,
            finding.verdict,
            steps,
            block_held,
            matches,
            source,
            finding.explanation,
        )
        mended = any(step.step == "now" for step in finding.steps)
        if not questions or mended:
            return made
        if finding.cause != "left out of the conversation":
            request = _in_memory(request)
        candidates = fixes.proposed(self._context, request, finding, missed, block_held, handle)
        return self._tried(made, request, candidates, questions, progress) if candidates else made

    def fix(
        self,
        answer: str,
        missed: str,
        *,
        question: str = "",
        frame: str = "",
        budget: int | None = None,
        weights: Weights | None = None,
        exchange: int | None = None,
        conversation: str = "",
        block: str = "",
        questions: int = 20,
        progress: Progress | None = None,
    ) -> FixApplied:
        """Diagnose, and carry the fix out that is proposed; takes what `diagnose` takes.

        Raises what it raises, and UsageError where nothing in the memory is to be changed.
        """
        made = self.diagnose(
            answer,
            missed,
            question=question,
            frame=frame,
            budget=budget,
            weights=weights,
            exchange=exchange,
            conversation=conversation,
            block=block,
            questions=questions,
            progress=progress,
        )
        return self.carry_out(made)

    def carry_out(self, made: Diagnosis) -> FixApplied:
        """Carry out the fix that a diagnosis proposes. Raises UsageError where it proposes none, or one that is no
        change of the memory.
        """
        if made.trial is None:
            raise UsageError(made.verdict, title="Nothing to apply", way_out="No change is proposed.")
        return self.apply(made.trial.fix)

    def apply(self, fix: ProposedFix) -> FixApplied:
        """Carry a fix out as it was proposed, all of it or nothing; `undo` takes its operations back.

        Raises UsageError for a fix that is no change of the memory, or that no longer fits it.
        """
        return fixes.apply(self._context, fix)

    def hits(self, fact: str) -> tuple[Candidate, ...]:
        """The best hits for a fact among blocks in every state: those that `judged` tells apart."""
        return facts.hits(fact, self._context)

    def judged(self, fact: str, found: Sequence[Candidate]) -> tuple[FactMatch, ...]:
        """Each of some hits with the chance that it holds a fact, the likeliest first."""
        return facts.judged(fact, self._context, found)

    def judged_questions(self, limit: int = 2000) -> tuple[QuestionCase, ...]:
        """The questions of the latest verdicts as cases of a test: what was judged useful must be in the answer, what
        was judged useless must not. Whether they hold of the memory as it is was not looked at.
        """
        return recorded_cases.judged(self._context, bounds.count("A limit", limit))

    def calibrated(
        self, plan: CalibrationPlan, cases: Sequence[QuestionCase], *, progress: Progress | None = None
    ) -> CaseComparison:
        """Which cases of a file of questions would move if a recalibration were carried out; asked in a copy of the
        memory, which itself stays as it is.

        Raises UsageError where the plan is out of date, UnknownFrameError where a case names a frame that is not there.
        """
        return case_trials.calibrated(self._context, plan, cases, progress)

    # --- inside -----------------------------------------------------------------------------------------

    def _request(
        self,
        answer: str,
        question: str,
        frame: str,
        budget: int | None,
        weights: Weights | None,
        exchange: int | None,
        conversation: str,
    ) -> DiagnosedRequest:
        if exchange is not None:
            return asked.of_call(self._context, exchange)
        if conversation:
            keeping.held(self._context.storage, conversation)
            because = "the conversation that was named"
            return DiagnosedRequest(
                "conversation", question, because, budget=budget, conversation=conversation
            )
        if question.strip():
            return asked.of_question(self._context, question, frame, budget, weights)
        return asked.of_answer(self._context, answer)

    def _found(
        self, request: DiagnosedRequest, missed: str, block: str
    ) -> tuple[FactFate, Block | None, tuple[FactMatch, ...], str]:
        """The cause, the block of the fact, all blocks that may hold it, and the handle of its messages."""
        if request.conversation:
            told = conversation_causes.find(self._context, request, missed)
            if told is not None:
                finding, handle = told
                return finding, None, (), handle
        request = _in_memory(request)
        matches = facts.matching(missed, self._context, block)
        match = facts.chosen(missed, [one for one in matches if block or facts.holds(one)])
        if match is None:
            step = DiagnosisStep("stored", False, _nowhere(matches))
            return FactFate("not stored", "Not stored: no block holds the fact.", (step,)), None, (), ""
        held = {"exact": "in its words", "words": "in most of its words"}
        how = held.get(match.how, f"by meaning, with a chance of {match.chance:.2f}")
        step = DiagnosisStep("stored", True, f"{match.block.id[:12]} “{match.block.title}” holds it {how}")
        matches = tuple(one for one in matches if block or facts.holds(one))
        finding = causes.find(self._context, request, missed, match.block)
        return replace(finding, steps=(step, *finding.steps)), match.block, matches, ""

    def _answered_from(self, request: DiagnosedRequest, answer: str) -> Block | None:
        """The block of what the request gave that says the answer, the best first."""
        if not answer.strip() or request.conversation or request.kind == "question":
            return None
        given = asked.given(self._context, request)
        return next((one for one in given if wording.says(one.content, answer)), None)

    def _tried(
        self,
        made: Diagnosis,
        request: DiagnosedRequest,
        candidates: tuple[ProposedFix, ...],
        questions: int,
        progress: Progress | None,
    ) -> Diagnosis:
        """The diagnosis with the first fix that works and moves hardly another answer, else the one that works and
        moves the fewest; the first where none works.
        """
        tried: list[FixTrial] = []
        with trials(self._context, request, made.missed, made.block, questions, progress) as trying:
            for fix in candidates:
                tried.append(trying.of(fix, progress))
                if tried[-1].works and len(tried[-1].moved) <= _FEW:
                    break
        best = min(tried, key=lambda one: (not one.works, max(len(one.moved), _FEW)))
        others = tuple(one for one in tried if one is not best)
        return replace(made, trial=best, others=others)


def _nowhere(matches: Sequence[FactMatch]) -> str:
    """That no block holds a fact, and which comes nearest: who knows better can name it."""
    told = "no block says it, in its words or by meaning"
    if not matches:
        return told
    near = matches[0]
    return f"{told}; nearest is {near.block.id[:12]} “{near.block.title}”, with a chance of {near.chance:.2f}"


def _in_memory(request: DiagnosedRequest) -> DiagnosedRequest:
    """A request of a conversation as one of the memory: a frame for the same question."""
    if not request.conversation:
        return request
    return replace(request, kind="question", frame=asked.FRAME, budget=None, conversation="")


def _asked(request: DiagnosedRequest) -> DiagnosisStep:
    named = {
        "assembly": f"{request.frame} {request.id[:12]}",
        "search": f"search {request.id}",
        "gateway call": f"call {request.id} through the gateway",
        "conversation": f"conversation {request.conversation}",
        "question": request.frame,
    }[request.kind]
    return DiagnosisStep("asked", None, f"“{request.query}”, {named}: {request.because}")


def _answered(source: Block | None) -> tuple[DiagnosisStep, ...]:
    if source is None:
        return ()
    return (DiagnosisStep("answered from", None, f"{source.id[:12]} “{source.title}”"),)


def _read(finding: FactFate, block: Block | None, fact: str, read: DecodedContext | None) -> FactFate:
    """The finding, collapsed where the working context held the fact's part of the block as a gist."""
    if finding.cause != "in the context" or block is None or read is None:
        return finding
    start, end = wording.place(block.content, fact)
    levels = [
        one.level for one in read.spans if one.block == block.id and one.start < end and start < one.end
    ]
    if not levels or max(levels) == 0:
        return finding
    told = f"a gist of level {max(levels)} stood for it at step {read.step}"
    step = DiagnosisStep("working context", False, told)
    return replace(finding, cause="collapsed", verdict=f"Collapsed: {told}.", steps=(*finding.steps, step))

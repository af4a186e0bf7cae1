"""`memory.diagnosis`: why an answer missed a fact, what would bring it in, and what that does to other answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Unpack

from amgs import bounds
from amgs.api.context import MemoryContext
from amgs.calibration.results import CalibrationPlan, FrameNeeds
from amgs.conversation import keeping
from amgs.diagnosis import asked, cases, causes, conversation_causes, facts, fixes, needs, trial
from amgs.diagnosis.causes import FactFate
from amgs.diagnosis.trial import trials
from amgs.errors import UsageError
from amgs.types import Block, Candidate, Progress
from amgs.types.diagnosis import (
    DecodedContext,
    DiagnosedRequest,
    Diagnosis,
    DiagnosisArguments,
    DiagnosisStep,
    FactMatch,
    FixApplied,
    FixTrial,
    ProposedFix,
)
from amgs.types.question_case import CaseComparison, QuestionCase

_NEAREST = 3
"""So many blocks are named where none says the fact."""
_FEW = 1
"""A fix that moves so many other answers is taken before larger ones are tried."""


@dataclass(frozen=True, slots=True)
class _Found:
    """The cause, the block of the fact, all blocks that may hold it, and the handle of the message that says it."""

    finding: FactFate
    block: Block | None = None
    matches: tuple[FactMatch, ...] = ()
    handle: str = ""


class Diagnosing:
    """Diagnosis of missed facts, as `memory.diagnosis`.

    A diagnosis leaves no trace; fixes are tried in a copy of the memory.
    """

    def __init__(self, context: MemoryContext) -> None:
        self._context = context

    def diagnose(
        self,
        answer: str,
        missed: str,
        *,
        read: DecodedContext | None = None,
        progress: Progress | None = None,
        **asked_of: Unpack[DiagnosisArguments],
    ) -> Diagnosis:
        """Find the one cause for which an answer missed a fact, and the fix that brings it in and moves fewest others.

        answer: what was answered, "" where that is not known. missed: the fact, as the memory would say it. read: what
        the working context held when the answer was decoded. The others: see `DiagnosisArguments`.
        Raises UsageError where nothing tells which question was asked, or several blocks hold the fact alike, and
        TypeError for a name that is none of the arguments.
        """
        unknown = asked_of.keys() - DiagnosisArguments.__annotations__.keys()
        if unknown:
            raise TypeError(f"diagnose has no argument {min(unknown)!r}.")
        if not missed.strip():
            raise UsageError("No fact is given.", way_out="Say which fact was missed, in a sentence.")
        questions = bounds.count("The number of questions", asked_of.get("questions", 20))
        request = self._request(answer, asked_of)
        location = self._found(request, missed, asked_of.get("block", ""))
        finding = location.finding
        if read is not None and location.block is not None and finding.cause == "in the context":
            finding = causes.find_decoded(self._context, finding, location.block, missed, read)
        source = self._find_answer_block(request, answer)
        steps = (_asked(request), *_describe_answer_block(source), *finding.steps)
        diagnosis = Diagnosis(
            answer,
            missed,
            request,
            finding.cause,
            finding.verdict,
            steps,
            location.block,
            location.matches,
            source,
            finding.explanation,
        )
        mended = any(step.step == "now" for step in finding.steps)
        if not questions or mended:
            return diagnosis
        if finding.cause != "left out of the conversation":
            request = _in_memory(request)
        candidates = fixes.proposed(self._context, request, finding, missed, location.block, location.handle)
        return self._try_fixes(diagnosis, request, candidates, questions, progress) if candidates else diagnosis

    def fix(
        self, answer: str, missed: str, *, progress: Progress | None = None, **asked_of: Unpack[DiagnosisArguments]
    ) -> FixApplied:
        """Diagnose, and carry the fix out that is proposed; takes what `diagnose` takes.

        Raises what it raises, and UsageError where nothing in the memory is to be changed.
        """
        return self.carry_out(self.diagnose(answer, missed, progress=progress, **asked_of))

    def carry_out(self, diagnosis: Diagnosis) -> FixApplied:
        """Carry out the fix that a diagnosis proposes. Raises UsageError where it proposes none, or one that is no
        change of the memory.
        """
        if diagnosis.trial is None:
            raise UsageError(diagnosis.verdict, title="Nothing to apply", way_out="No change is proposed.")
        return self.apply(diagnosis.trial.fix)

    def apply(self, fix: ProposedFix) -> FixApplied:
        """Carry a fix out as it was proposed, all of it or nothing; `undo` takes its operations back.

        Raises UsageError for a fix that is no change of the memory, or that no longer fits it.
        """
        return fixes.apply(self._context, fix)

    def hits(self, fact: str) -> tuple[Candidate, ...]:
        """Return the best hits for a fact among blocks in every state: those that `judged` tells apart."""
        return facts.hits(fact, self._context)

    def judged(self, fact: str, candidates: Sequence[Candidate]) -> tuple[FactMatch, ...]:
        """Return each of some hits by how it says a fact, the best first."""
        return facts.judged(fact, candidates)

    def judged_questions(self, limit: int = 2000) -> tuple[QuestionCase, ...]:
        """Return the questions of the latest verdicts as cases of a test: what was judged useful must be in the answer,
        what was judged useless must not. Whether they hold of the memory as it is was not looked at.
        """
        return cases.judged(self._context, bounds.count("A limit", limit))

    def calibrated(
        self, plan: CalibrationPlan, cases: Sequence[QuestionCase], *, progress: Progress | None = None
    ) -> CaseComparison:
        """Return which cases of a file of questions would move if a recalibration were carried out; asked in a copy of
        the memory, which itself stays as it is.

        Raises UsageError where the plan is out of date, UnknownFrameError where a case names a frame that is not there.
        """
        return trial.calibrated(self._context, plan, cases, progress)

    def needs(self, cases: Sequence[QuestionCase] = (), *, progress: Progress | None = None) -> tuple[FrameNeeds, ...]:
        """Return how many tokens the labelled questions need of their frames: the cases of a file, and the latest
        questions that verdicts or answers tell of. Leaves no trace.
        """
        return needs.of_frames(self._context, cases, progress)

    # --- inside -----------------------------------------------------------------------------------------

    def _request(self, answer: str, arguments: DiagnosisArguments) -> DiagnosedRequest:
        exchange, conversation = arguments.get("exchange"), arguments.get("conversation", "")
        question, budget = arguments.get("question", ""), arguments.get("budget")
        if exchange is not None:
            return asked.of_call(self._context, exchange)
        if conversation:
            keeping.read_held(self._context.storage, conversation)
            because = "the conversation that was named"
            return DiagnosedRequest("conversation", question, because, budget=budget, conversation=conversation)
        if question.strip():
            frame, weights = arguments.get("frame", ""), arguments.get("weights")
            return asked.of_question(self._context, question, frame, budget, weights)
        return asked.of_answer(self._context, answer)

    def _found(self, request: DiagnosedRequest, missed: str, block: str) -> _Found:
        """Return where the fact fell out: of the conversation that was asked of, or of the memory."""
        sent = conversation_causes.sent(self._context, request) if request.conversation else None
        if sent is not None and not block:
            fate = conversation_causes.in_words(self._context, request, missed, sent)
            if fate is not None:
                return _Found(fate.finding, handle=fate.handle)
        every = facts.matching(missed, self._context, block)
        matches = tuple(fact_match for fact_match in every if block or facts.holds(fact_match))
        if sent is not None:
            fate = conversation_causes.in_blocks(self._context, request, missed, sent, matches)
            if fate is not None:
                return _Found(fate.finding, fate.block, matches, fate.handle)
        match = facts.chosen(missed, matches)
        if match is None:
            step = DiagnosisStep("stored", False, _nowhere(every))
            near = every[:_NEAREST]
            verdict = "Not stored: no block says the fact in its words."
            return _Found(FactFate("not stored", verdict, (step,)), matches=near)
        told_how = f"{match.block.id[:12]} “{match.block.title}” holds it {facts.how(match)}"
        step = DiagnosisStep("stored", True, told_how)
        finding = causes.find(self._context, _in_memory(request), missed, match.block)
        return _Found(replace(finding, steps=(step, *finding.steps)), match.block, matches)

    def _find_answer_block(self, request: DiagnosedRequest, answer: str) -> Block | None:
        """Return the block of what the request gave that says the answer, the best first."""
        if not answer.strip() or request.conversation or request.kind == "question":
            return None
        blocks = asked.given(self._context, request)
        return next((block for block in blocks if facts.says(block.content, answer)), None)

    def _try_fixes(
        self,
        diagnosis: Diagnosis,
        request: DiagnosedRequest,
        candidates: tuple[ProposedFix, ...],
        questions: int,
        progress: Progress | None,
    ) -> Diagnosis:
        """Return the diagnosis with the first fix that works and moves hardly another answer, else the one that works
        and moves the fewest; the first where none works.
        """
        tried: list[FixTrial] = []
        with trials(self._context, request, diagnosis.missed, diagnosis.block, questions, progress) as trying:
            for fix in candidates:
                tried.append(trying.of(fix, progress))
                if tried[-1].works and len(tried[-1].moved) <= _FEW:
                    break
        best = min(tried, key=lambda fix_trial: (not fix_trial.works, max(len(fix_trial.moved), _FEW)))
        others = tuple(fix_trial for fix_trial in tried if fix_trial is not best)
        return replace(diagnosis, trial=best, others=others)


def _nowhere(matches: Sequence[FactMatch]) -> str:
    """Return a message that no block states a fact, with the nearest blocks: whoever knows better can name one."""
    if not matches:
        return "no block says it in its words"
    near = ", ".join(f"{match.block.id[:12]} “{match.block.title}”" for match in matches[:_NEAREST])
    meant = "if one of them is meant, name it with `--block`"
    return f"no block says it in its words; a search for it finds {near}; {meant}"


def _in_memory(request: DiagnosedRequest) -> DiagnosedRequest:
    """Return a request of a conversation as one of the memory: a frame for the same question."""
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


def _describe_answer_block(source: Block | None) -> tuple[DiagnosisStep, ...]:
    if source is None:
        return ()
    return (DiagnosisStep("answered from", None, f"{source.id[:12]} “{source.title}”"),)

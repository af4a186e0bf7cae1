"""Find why an answer missed a fact, and a fix that brings it in and changes few other answers:
`memory.diagnosis`. `asked` finds the request, `facts` the block that states the fact, `causes` why it was
missing, `fixes` what to change, tried in a copy; `measure_needs` finds the smallest budgets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Unpack

from amgs import bounds
from amgs.api.assembler import Assembler
from amgs.api.context import MemoryContext
from amgs.calibration import forecasting
from amgs.calibration.results import CalibrationPlan, FrameNeeds
from amgs.conversation import keeping
from amgs.diagnosis import asked, cases, causes, facts, fixes
from amgs.diagnosis.causes import FactFate
from amgs.diagnosis.facts import contains_words
from amgs.diagnosis.fixes import open_trials
from amgs.errors import UsageError
from amgs.frames import pipeline, registry
from amgs.frames.registry import Definitions
from amgs.retrieval.sources import Sources
from amgs.text.embedding import load
from amgs.types import Block, Candidate, Frame, Progress
from amgs.types.diagnosis import (
    CaseComparison,
    DecodedContext,
    DiagnosedRequest,
    Diagnosis,
    DiagnosisArguments,
    DiagnosisStep,
    FactMatch,
    FixApplied,
    FixTrial,
    ProposedFix,
    QuestionCase,
)

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
    judged = context.storage.forecasts.read_judged_questions(_LATEST)
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
    return tuple(
        FrameNeeds(name, forecasting.definition_hash(name, known), tuple(own)) for name, own in budgets.items()
    )


def frame_builder(
    context: MemoryContext, question: LabelledQuestion, known: Definitions, sources: Sources
) -> Callable[[int], Frame]:
    """Return a function that builds a question's frame for a budget in tokens; its candidates are
    gathered only once.
    """
    definition = registry.find(question.frame, known)
    request = pipeline.FrameRequest(question.text)
    pools = {
        atom.name: Assembler(context).score_pool(
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


_NEAREST = 3
"""Number of blocks named where none states the fact."""
_FEW = 1
"""Other answers that a fix may change and still be proposed before larger fixes are tried."""


@dataclass(frozen=True, slots=True)
class _Location:
    """Why a fact was missing, and where it is. block: that states it; None if none does. matches: all blocks that may.

    handle: of the message that states it, such as #12; "" for none.
    """

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
        """Find the cause for which an answer missed a fact, and the fix that brings it in and changes fewest others.

        answer: what was answered; "" if unknown. missed: the fact, worded as the memory would state it. read: the
        working context when the answer was decoded. Other arguments: see `DiagnosisArguments`.

        Raises UsageError where the question is unknown or several blocks state the fact equally well, TypeError for an
        unknown argument.
        """
        unknown = asked_of.keys() - DiagnosisArguments.__annotations__.keys()
        if unknown:
            raise TypeError(f"diagnose has no argument {min(unknown)!r}.")
        if not missed.strip():
            raise UsageError("No fact is stated.", way_out="Say which fact was missed, in a sentence.")
        questions = bounds.count("The number of questions", asked_of.get("questions", 20))
        request = self._request(answer, asked_of)
        location = self._locate(request, missed, asked_of.get("block", ""))
        finding = location.finding
        if read is not None and location.block is not None and finding.cause == "in the context":
            finding = causes.find_collapsed(self._context, finding, location.block, missed, read)
        source = self._find_answer_block(request, answer)
        steps = (_request_step(request), *_answer_steps(source), *finding.steps)
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
        candidates = fixes.propose_fixes(self._context, request, finding, missed, location.block, location.handle)
        return self._try_fixes(diagnosis, request, candidates, questions, progress) if candidates else diagnosis

    def fix(
        self, answer: str, missed: str, *, progress: Progress | None = None, **asked_of: Unpack[DiagnosisArguments]
    ) -> FixApplied:
        """Diagnose, with the arguments of `diagnose`, and apply the proposed fix.

        Raises what `diagnose` raises, and UsageError where no change of the memory is proposed.
        """
        return self.carry_out(self.diagnose(answer, missed, progress=progress, **asked_of))

    def carry_out(self, diagnosis: Diagnosis) -> FixApplied:
        """Apply the fix that a diagnosis proposes. Raises UsageError where it proposes no change of the memory."""
        if diagnosis.trial is None:
            raise UsageError(diagnosis.verdict, title="Nothing to apply", way_out="No change is proposed.")
        return self.apply(diagnosis.trial.fix)

    def apply(self, fix: ProposedFix) -> FixApplied:
        """Apply a proposed fix, wholly or not at all; its operations can be undone.

        Raises UsageError for a fix that does not change the memory, or that no longer fits it.
        """
        return fixes.apply_fix(self._context, fix)

    def hits(self, fact: str) -> tuple[Candidate, ...]:
        """Return the best hits for a fact among blocks of every status; `judged` classifies them."""
        return facts.search_fact(fact, self._context)

    def judge_hits(self, fact: str, candidates: Sequence[Candidate]) -> tuple[FactMatch, ...]:
        """Return hits with how each states a fact, the best first."""
        return facts.classify_hits(fact, candidates)

    def read_judged_questions(self, limit: int = 2000) -> tuple[QuestionCase, ...]:
        """Return the questions of the latest verdicts as test cases: useful blocks must be in the answer, useless ones
        must not. Whether the memory passes them now is not checked.
        """
        return cases.read_judged_questions(self._context, bounds.count("A limit", limit))

    def compare_calibration(
        self, plan: CalibrationPlan, cases: Sequence[QuestionCase], *, progress: Progress | None = None
    ) -> CaseComparison:
        """Return which question cases would change if a recalibration were applied; tried in a copy of the memory.

        Raises UsageError where the plan is out of date, UnknownFrameError where a case names an unknown frame.
        """
        return fixes.compare_calibration(self._context, plan, cases, progress)

    def needs(self, cases: Sequence[QuestionCase] = (), *, progress: Progress | None = None) -> tuple[FrameNeeds, ...]:
        """Return the tokens that labelled questions need of their frames: the cases of a file, and the latest questions
        with a verdict or an answer. Nothing is logged.
        """
        return measure_needs(self._context, cases, progress)

    # --- inside -----------------------------------------------------------------------------------------

    def _request(self, answer: str, arguments: DiagnosisArguments) -> DiagnosedRequest:
        """Return the request to diagnose: the named call, conversation or question, else that behind the answer."""
        exchange, conversation = arguments.get("exchange"), arguments.get("conversation", "")
        question, budget = arguments.get("question", ""), arguments.get("budget")
        if exchange is not None:
            return asked.request_of_call(self._context, exchange)
        if conversation:
            keeping.read_held(self._context.storage, conversation)
            because = "the conversation that was named"
            return DiagnosedRequest("conversation", question, because, budget=budget, conversation=conversation)
        if question.strip():
            frame, weights = arguments.get("frame", ""), arguments.get("weights")
            return asked.request_of_question(self._context, question, frame, budget, weights)
        return asked.request_of_answer(self._context, answer)

    def _locate(self, request: DiagnosedRequest, missed: str, block: str) -> _Location:
        """Find where the fact was lost: in the conversation, if the request has any, or else in the memory."""
        sent = causes.read_sent_conversation(self._context, request) if request.conversation else None
        if sent is not None and not block:
            fate = causes.trace_words(self._context, request, missed, sent)
            if fate is not None:
                return _Location(fate.finding, handle=fate.handle)
        every = facts.find_matches(missed, self._context, block)
        matches = tuple(fact_match for fact_match in every if block or facts.is_match(fact_match))
        if sent is not None:
            fate = causes.trace_blocks(self._context, request, missed, sent, matches)
            if fate is not None:
                return _Location(fate.finding, fate.block, matches, fate.handle)
        match = facts.choose_match(missed, matches)
        if match is None:
            step = DiagnosisStep("stored", False, _describe_nearest(every))
            near = every[:_NEAREST]
            verdict = "Not stored: no block says the fact in its words."
            return _Location(FactFate("not stored", verdict, (step,)), matches=near)
        told_how = f"{match.block.id[:12]} “{match.block.title}” holds it {facts.describe_match(match)}"
        step = DiagnosisStep("stored", True, told_how)
        finding = causes.find_cause(self._context, _in_memory(request), missed, match.block)
        return _Location(replace(finding, steps=(step, *finding.steps)), match.block, matches)

    def _find_answer_block(self, request: DiagnosedRequest, answer: str) -> Block | None:
        """Return the first block of the request's result that states the answer; None if none does."""
        if not answer.strip() or request.conversation or request.kind == "question":
            return None
        blocks = asked.returned_blocks(self._context, request)
        return next((block for block in blocks if facts.states(block.content, answer)), None)

    def _try_fixes(
        self,
        diagnosis: Diagnosis,
        request: DiagnosedRequest,
        candidates: tuple[ProposedFix, ...],
        questions: int,
        progress: Progress | None,
    ) -> Diagnosis:
        """Return the diagnosis with a fix: the first that works and changes at most _FEW other answers, else the fix
        that works and changes fewest; the first where none works.
        """
        tried: list[FixTrial] = []
        with open_trials(self._context, request, diagnosis.missed, diagnosis.block, questions, progress) as trying:
            for fix in candidates:
                tried.append(trying.run_fix(fix, progress))
                if tried[-1].works and len(tried[-1].moved) <= _FEW:
                    break
        best = min(tried, key=lambda fix_trial: (not fix_trial.works, max(len(fix_trial.moved), _FEW)))
        others = tuple(fix_trial for fix_trial in tried if fix_trial is not best)
        return replace(diagnosis, trial=best, others=others)


def _describe_nearest(matches: Sequence[FactMatch]) -> str:
    """Return a message that no block states the fact, with the nearest blocks, for the operator to choose."""
    if not matches:
        return "no block says it in its words"
    near = ", ".join(f"{match.block.id[:12]} “{match.block.title}”" for match in matches[:_NEAREST])
    meant = "name the right block with `--block`"
    return f"no block says it in its words; a search for it finds {near}; {meant}"


def _in_memory(request: DiagnosedRequest) -> DiagnosedRequest:
    """Return the request as a request for a frame, where it was of a conversation: the same question asked of the
    memory.
    """
    if not request.conversation:
        return request
    return replace(request, kind="question", frame=asked.FRAME, budget=None, conversation="")


def _request_step(request: DiagnosedRequest) -> DiagnosisStep:
    """Return the step that says which request was diagnosed, and why that request."""
    named = {
        "assembly": f"{request.frame} {request.id[:12]}",
        "search": f"search {request.id}",
        "gateway call": f"call {request.id} through the gateway",
        "conversation": f"conversation {request.conversation}",
        "question": request.frame,
    }[request.kind]
    return DiagnosisStep("asked", None, f"“{request.query}”, {named}: {request.because}")


def _answer_steps(source: Block | None) -> tuple[DiagnosisStep, ...]:
    if source is None:
        return ()
    return (DiagnosisStep("answered from", None, f"{source.id[:12]} “{source.title}”"),)

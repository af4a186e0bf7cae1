"""Diagnosis of an answer that missed a fact: the request, the cause, the evidence, and a fix that was tried; and
questions with what their answers must contain, as a test of a memory asks them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from amgs.types.block import Block
    from amgs.types.frame import FrameDefinition
    from amgs.types.lifecycle import JournalEntry
    from amgs.types.retrieval import Explanation, Weights


DiagnosisCause = Literal[
    "not stored",
    "not consolidated",
    "set aside",
    "superseded",
    "not found",
    "out-voted",
    "over budget",
    "left out of the conversation",
    "collapsed",
    "in the context",
]
"""In the order in which they are checked.

set aside: archived or pruned. not found: by no layer. out-voted: found, but others were chosen. over budget: it would
fit into the frame's own budget, or twice the stated one. collapsed: in the frame, but as a gist when the answer was
generated. in the context: the model had it in its context.
"""

RequestKind = Literal["assembly", "search", "gateway call", "conversation", "question"]
FixKind = Literal[
    "add", "consolidate", "reinstate", "restore", "also called", "frame", "budget", "places", "keep", "expand"
]
"""add: ingest the fact. reinstate: restore an archived or pruned block. restore: let a superseded block hold again.
also called: add a block with the words of question and fact. frame: change its definition. budget, places: ask with
more. keep: always keep messages of a conversation. expand: pin the block in the working context.
"""


class DiagnosisArguments(TypedDict, total=False):
    """Arguments of `diagnose` besides the answer and the fact, all optional.

    question: default: the latest call, assembly or search in the logs that led to the answer. frame, budget (tokens),
    weights: of a question that is in no log; default: a session's frame. exchange: number of a call recorded by the
    gateway. conversation: in which the question was asked. block: prefix of the id of the block with the fact.
    questions: number of other logged questions asked before and after each fix, default 20; 0 tries no fix.
    """

    question: str
    frame: str
    budget: int | None
    weights: Weights | None
    exchange: int | None
    conversation: str
    block: str
    questions: int


@dataclass(frozen=True, slots=True)
class DiagnosedRequest:
    """The request whose answer missed the fact.

    because: how it was found. id: of the assembly, or number of the search or gateway call; "" if it is repeated now.
    frame: "" for a search. budget: in tokens; None for the frame's own. places: number of hits of a search.
    conversation: whose messages the model read, "" for none.
    """

    kind: RequestKind
    query: str
    because: str
    id: str = ""
    frame: str = ""
    budget: int | None = None
    weights: Weights | None = None
    places: int = 10
    at: datetime | None = None
    conversation: str = ""


@dataclass(frozen=True, slots=True)
class FactMatch:
    """A block that states a fact, or is near it.

    how: verbatim, in most of its words, or only near, which does not count as containing it. share: of the fact's words
    in it; cosine: between the two.
    """

    block: Block
    how: Literal["exact", "words", "near"]
    share: float
    cosine: float


@dataclass(frozen=True, slots=True)
class DiagnosisStep:
    """A step in the chain of evidence. holds: whether the fact passed it; None if it was not decided."""

    step: str
    holds: bool | None
    told: str


@dataclass(frozen=True, slots=True)
class ReadSpan:
    """A part of a block in a working context: [start, end) as shares of the block's text. level: 0 for tokens, above
    that a gist.
    """

    block: str
    start: float
    end: float
    level: int


@dataclass(frozen=True, slots=True)
class DecodedContext:
    """Blocks in a model's context when it generated a token. step: of the run, from 0."""

    step: int
    spans: tuple[ReadSpan, ...]


@dataclass(frozen=True, slots=True)
class ProposedFix:
    """A change that should bring the fact in.

    told: a sentence. applies: whether it changes the memory; False for what the caller does, such as asking with
    another budget. text: to be ingested. block: that changes. definition: of the frame after the change. budget,
    places: to ask with. conversation, handle: messages to keep.
    """

    kind: FixKind
    told: str
    applies: bool = True
    text: str = ""
    block: str = ""
    definition: FrameDefinition | None = None
    budget: int | None = None
    places: int | None = None
    conversation: str = ""
    handle: str = ""


@dataclass(frozen=True, slots=True)
class MovedAnswer:
    """A logged question with a different answer after a fix.

    lost, came: titles of blocks that leave and enter it. first: whether its best block changes.
    """

    question: str
    frame: str
    lost: tuple[str, ...]
    came: tuple[str, ...]
    first: bool


@dataclass(frozen=True, slots=True)
class FixTrial:
    """A fix tried in a copy of the memory.

    works: the fact is in the answer then. questions: number of others asked before and after; moved: those whose answer
    lost a block or has another best block.
    """

    fix: ProposedFix
    works: bool
    questions: int
    moved: tuple[MovedAnswer, ...]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why an answer missed a fact.

    verdict: a line. evidence: the steps down to the cause. block: that contains the fact; None if there is none.
    matches: all that may contain it. answered_from: block in the request's result from which the answer comes.
    explanation: the block's way through the layers. trial: the proposed fix as tried; None if there is nothing to
    change or none was wanted. others: fixes tried but not proposed.
    """

    answer: str
    missed: str
    request: DiagnosedRequest
    cause: DiagnosisCause
    verdict: str
    evidence: tuple[DiagnosisStep, ...]
    block: Block | None = None
    matches: tuple[FactMatch, ...] = ()
    answered_from: Block | None = None
    explanation: Explanation | None = None
    trial: FixTrial | None = None
    others: tuple[FixTrial, ...] = ()


@dataclass(frozen=True, slots=True)
class FixApplied:
    """A fix that was applied.

    operations: of the journal, for `undo`, latest first; none if a frame's definition was changed. before: that
    definition before the change.
    """

    fix: ProposedFix
    told: str
    operations: tuple[JournalEntry, ...] = ()
    before: FrameDefinition | None = None


@dataclass(frozen=True, slots=True)
class QuestionCase:
    """A question and the requirements on its answer.

    must_contain, must_not_contain: texts, compared without case and punctuation. rank: the best block with all of
    must_contain has at most this rank; None: any. answerable: whether the memory should have an answer; None: any.
    as_of: ask for what held then. frame: to ask; "" for a search. session: file of an agent's session, whose last
    window is asked instead of the memory; "" for none.
    """

    question: str
    must_contain: tuple[str, ...] = ()
    must_not_contain: tuple[str, ...] = ()
    rank: int | None = None
    answerable: bool | None = None
    as_of: datetime | None = None
    frame: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class CaseHit:
    """A block that was found for a case; rank from 1.

    layers: that found it. parts: raw scores of the layers and components of its score. wanted: whether it contains any
    of the required texts.
    """

    block: str
    title: str
    rank: int
    score: float
    layers: tuple[str, ...] = ()
    parts: tuple[tuple[str, float], ...] = ()
    wanted: bool = False


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """Outcome of a case.

    faults: requirements that are not met, in words. rank: of the best block with all of must_contain, from 1; None if
    there is none or nothing is required. hits: blocks found, best first.
    """

    case: QuestionCase
    faults: tuple[str, ...] = ()
    rank: int | None = None
    hits: tuple[CaseHit, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseChange:
    """A case with a different outcome than before. because: what changed for the block with the required text, and
    which blocks came before it, in words.
    """

    before: CaseOutcome
    after: CaseOutcome
    because: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CaseComparison:
    """The cases of a file compared with an earlier run.

    same: number with the same outcome and rank. moved: the others. added, gone: questions only in this run, or only in
    the earlier run.
    """

    same: int
    moved: tuple[CaseChange, ...]
    added: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def failing(self) -> tuple[CaseChange, ...]:
        """Cases that held before and fail now."""
        return tuple(change for change in self.moved if change.after.faults and not change.before.faults)

"""Diagnosis of an answer that missed a fact: the request, the one cause, the evidence for it, and a fix that
was tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from amgs.types.block import Block
    from amgs.types.explanation import Explanation
    from amgs.types.frame import FrameDefinition
    from amgs.types.lifecycle import JournalEntry
    from amgs.types.retrieval import Weights

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
"""In the order in which a fact meets them. set aside: archived or pruned. not found: no layer brought its block.
out-voted: found, and others were taken. over budget: it would fit in the frame's own budget, or in twice the one given.
collapsed: in the frame, but a gist when the answer was decoded. in the context: the model had it before it.
"""

RequestKind = Literal["assembly", "search", "gateway call", "conversation", "question"]
FixKind = Literal[
    "add", "consolidate", "reinstate", "restore", "also called", "frame", "budget", "places", "keep", "expand"
]
"""add: take the fact in. reinstate: bring an archived or pruned block back. restore: let a superseded block hold again.
also called: a block with the words of the question and the fact. frame: another definition. budget, places: ask with
more. keep: always keep messages of a conversation. expand: pin the block in the working context.
"""


class DiagnosisArguments(TypedDict, total=False):
    """Arguments of `diagnose` beside the answer and the fact, all optional.

    question: what was asked; else the latest call, assembly or search in the logs that led to the answer. frame,
    budget (tokens), weights: of a question that no log has; a session's frame unless given. exchange: the number of a
    call that the gateway recorded. conversation: a conversation that the question was asked of. block: the block that
    holds the fact, by the start of its id. questions: so many other logged questions are asked before and after each
    fix, 20 unless given; with 0 no fix is tried.
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
    """Request whose answer missed the fact. because: the way it was found.

    id: of the assembly, or the number of the search or of the gateway's call; "" where it is asked now. frame: "" for a
    search. budget: in tokens; None for the frame's own. places: hits of a search. conversation: whose messages the
    model read, "" for none.
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
    """A block that says a fact, or comes near it. how: in the same words, in most of them, or only near, which is not
    taken to hold it. share: of the fact's words that it holds; cosine: between the two; both in [0, 1].
    """

    block: Block
    how: Literal["exact", "words", "near"]
    share: float
    cosine: float


@dataclass(frozen=True, slots=True)
class DiagnosisStep:
    """A link of the chain of evidence. holds: whether the fact came through here; None where nothing was decided."""

    step: str
    holds: bool | None
    told: str


@dataclass(frozen=True, slots=True)
class ReadSpan:
    """A part of a block as a working context held it: [start, end) in shares of the block's text. level: 0 for tokens,
    above that a gist.
    """

    block: str
    start: float
    end: float
    level: int


@dataclass(frozen=True, slots=True)
class DecodedContext:
    """Blocks in a model's context when it decoded a token. step: of the run, from 0."""

    step: int
    spans: tuple[ReadSpan, ...]


@dataclass(frozen=True, slots=True)
class ProposedFix:
    """One change that should bring the fact in. told: a sentence. applies: whether the memory itself is changed; False
    for what a caller does otherwise, such as asking with another budget.

    text: to be taken in. block: whose fate changes. definition: a frame as it would be. budget, places: to ask with.
    conversation, handle: the messages to keep.
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
    """A logged question whose answer would be another. lost, came: titles of blocks that leave and enter it. first:
    whether the best of it changes.
    """

    question: str
    frame: str
    lost: tuple[str, ...]
    came: tuple[str, ...]
    first: bool


@dataclass(frozen=True, slots=True)
class FixTrial:
    """A fix as it was tried in a copy of the memory. works: the fact is in the answer then. questions: how many others
    were asked before and after; moved: those whose answer lost something or begins with something else.
    """

    fix: ProposedFix
    works: bool
    questions: int
    moved: tuple[MovedAnswer, ...]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Reason that an answer missed a fact.

    verdict: one line. evidence: the chain up to the cause. block: that holds the fact; None where none does. matches:
    all that may hold it. answered_from: the block that the answer stands in, of those that the request gave.
    explanation: how the block went through the layers. trial: the fix that is proposed, as it was tried; None where
    there is nothing to change, or none was asked for. others: fixes that were tried and are not proposed.
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
    """A fix that was carried out. operations: of the journal, by which `undo` takes it back, the latest first; none
    where a frame's definition was changed. before: that definition as it was.
    """

    fix: ProposedFix
    told: str
    operations: tuple[JournalEntry, ...] = ()
    before: FrameDefinition | None = None

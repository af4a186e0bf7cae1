"""Analyse a trace without a model: its branches, where two of them part, and a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from amgs_focus.errors import TraceError
from amgs_focus.records import Decision, NodeRef, Reason, Refocus, StepRecord
from amgs_focus.trace.events import (
    NAMES,
    Acted,
    Branched,
    Configured,
    Ingested,
    Overridden,
    QuestionRecord,
    Record,
    SteppedBack,
    Switched,
    Trace,
    TraceHeader,
    outcome,
)
from amgs_focus.trace.trace import faulty

Change = Literal["nothing", "text", "question", "override", "setting", "upkeep", "refocus", "token", "end"]

_MOVES = (Ingested, QuestionRecord, Overridden, Configured, Acted, StepRecord)


@dataclass(slots=True)
class TraceBranch:
    """A branch of a trace: every change on it from the beginning. at: the step at which it left its parent."""

    name: str
    parent: str = ""
    at: int = 0
    moves: list[Record] = field(default_factory=list)

    @property
    def steps(self) -> tuple[StepRecord, ...]:
        return tuple(move for move in self.moves if isinstance(move, StepRecord))

    @property
    def refocuses(self) -> tuple[Refocus, ...]:
        """Every refocus of the branch in order, forced ones included."""
        candidates = (move.refocus if isinstance(move, StepRecord) else move for move in self.moves)
        return tuple(candidate for candidate in candidates if isinstance(candidate, Refocus))


@dataclass(frozen=True, slots=True)
class Changed:
    """A node about which two refocuses decided differently; None where one of them decided nothing."""

    node: NodeRef
    kind: str
    ours: Reason | None
    theirs: Reason | None
    ours_score: float
    theirs_score: float


@dataclass(frozen=True, slots=True)
class TraceDiff:
    """Comparison of two branches: where they part, and what follows.

    headers: (name, ours, theirs) of header fields that differ. shared: leading steps that agree. what: kind of the
    first difference; ours_did, theirs_did: a phrase for each side. refocus_step: tokens decoded before the first
    refocus that decided differently, −1 if none did; changed: its decisions. ours_text, theirs_text: decoded after the
    shared steps.
    """

    ours: str
    theirs: str
    headers: tuple[tuple[str, str, str], ...]
    shared: int
    what: Change
    ours_did: str
    theirs_did: str
    refocus_step: int
    changed: tuple[Changed, ...]
    ours_text: str
    theirs_text: str
    ours_steps: int
    theirs_steps: int

    @property
    def same(self) -> bool:
        return self.what == "nothing" and not self.headers


@dataclass(frozen=True, slots=True)
class LineSummary:
    """Figures of a branch."""

    name: str
    parent: str
    at: int
    steps: int
    refocuses: int
    actions: int
    active: bool


@dataclass(frozen=True, slots=True)
class TraceSummary:
    """Contents of a trace. events: number of each kind; milliseconds: sum over all steps."""

    path: str
    header: TraceHeader
    complete: bool
    lifetime: int
    events: tuple[tuple[str, int], ...]
    branches: tuple[LineSummary, ...]
    milliseconds: float
    question: str
    text: str
    state_hash: str


@dataclass(frozen=True, slots=True)
class Lineage:
    """The branches of a trace by name, and which of them is current at its end."""

    lines: Mapping[str, TraceBranch]
    active: str

    def line(self, name: str = "") -> TraceBranch:
        """Return a branch; "" is the active one. Raises TraceError for an unknown branch."""
        if (name or self.active) not in self.lines:
            raise TraceError(
                f"The trace has no branch {name!r}.",
                title="No such branch",
                way_out=f"It has: {', '.join(self.lines)}.",
            )
        return self.lines[name or self.active]


def lineage(trace: Trace) -> Lineage:
    """Return the branches that the events build. Raises TraceError for an event that cannot follow the earlier ones."""
    line = TraceBranch("main")
    lines = {line.name: line}
    place = 0
    for event in trace.events:
        record = event.record
        if isinstance(record, Branched):
            place = _seek(line, place, record.at) if record.chosen else place
            line = TraceBranch(record.name, line.name, record.at, line.moves[:place])
            lines[record.name] = line
        elif isinstance(record, Switched):
            if record.name not in lines:
                raise faulty(event.line, f"there is no branch {record.name!r}")
            line = lines[record.name]
            place = len(line.moves)
        elif isinstance(record, SteppedBack):
            place = _seek(line, place, _steps(line.moves[:place]) - record.steps)
        elif isinstance(record, _MOVES) or (isinstance(record, Refocus) and record.forced):
            if place == len(line.moves):
                line.moves.append(record)
            elif not isinstance(record, StepRecord) or not isinstance(line.moves[place], StepRecord):
                raise faulty(event.line, "it changes the past without a branch")
            place += 1
    return Lineage(lines, line.name)


def summary(trace: Trace, path: str = "") -> TraceSummary:
    """Return a summary of a trace."""
    history = lineage(trace)
    line = history.line()
    counts = Counter(NAMES[type(event.record)] for event in trace.events)
    last = next((m for m in reversed(line.moves) if isinstance(m, StepRecord)), None)
    question = next((at for at in reversed(range(len(line.moves))) if isinstance(line.moves[at], QuestionRecord)), -1)
    question_record = line.moves[question] if question >= 0 else None
    answer = [move.text for move in line.moves[question + 1 :] if isinstance(move, StepRecord)]
    return TraceSummary(
        path=path,
        header=trace.header,
        complete=trace.complete,
        lifetime=last.lifetime if last else trace.header.lifetime,
        events=tuple((name, counts[name]) for name in NAMES.values() if counts[name]),
        branches=tuple(
            LineSummary(
                branch.name,
                branch.parent,
                branch.at,
                len(branch.steps),
                len(branch.refocuses),
                sum(len(refocus.applied) for refocus in branch.refocuses),
                branch is line,
            )
            for branch in history.lines.values()
        ),
        milliseconds=sum(step.milliseconds for step in trace.steps),
        question=question_record.question if isinstance(question_record, QuestionRecord) else "",
        text="".join(answer),
        state_hash=last.state_hash if last else "",
    )


def diff(
    ours: TraceBranch,
    theirs: TraceBranch,
    headers: tuple[TraceHeader, TraceHeader] | None = None,
    names: tuple[str, str] | None = None,
) -> TraceDiff:
    """Return where two branches, of one trace or of two, part: the first different move, the first refocus with
    different decisions, and the text after the shared steps.

    headers: of their traces, if they are two. names: shown for the branches.
    """
    part = next(
        (at for at, (a, b) in enumerate(zip(ours.moves, theirs.moves, strict=False)) if not _alike(a, b)),
        min(len(ours.moves), len(theirs.moves)),
    )
    shared = _steps(ours.moves[:part])
    first, second = (line.moves[part] if part < len(line.moves) else None for line in (ours, theirs))
    step, changed = _first_change(ours, theirs)
    return TraceDiff(
        ours=names[0] if names else ours.name,
        theirs=names[1] if names else theirs.name,
        headers=_header_changes(*headers) if headers else (),
        shared=shared,
        what=_what(first, second),
        ours_did=_describe_move(first),
        theirs_did=_describe_move(second),
        refocus_step=step,
        changed=changed,
        ours_text=_text(ours, shared),
        theirs_text=_text(theirs, shared),
        ours_steps=len(ours.steps),
        theirs_steps=len(theirs.steps),
    )


def _seek(line: TraceBranch, place: int, step: int) -> int:
    """Return the place in a line after so many steps, moving as the runtime does."""
    steps = _steps(line.moves[:place])
    while place > 0 and steps > step:
        place -= 1
        steps -= isinstance(line.moves[place], StepRecord)
    while place < len(line.moves) and steps < step:
        steps += isinstance(line.moves[place], StepRecord)
        place += 1
    return place


def _steps(moves: Sequence[Record]) -> int:
    return sum(isinstance(move, StepRecord) for move in moves)


def _alike(a: Record, b: Record) -> bool:
    """Return whether two moves did the same, whatever their times."""
    if isinstance(a, StepRecord) and isinstance(b, StepRecord):
        return a.token == b.token and outcome(a.refocus) == outcome(b.refocus)
    if isinstance(a, Refocus) and isinstance(b, Refocus):
        return bool(outcome(a) == outcome(b))
    if isinstance(a, Ingested) and isinstance(b, Ingested):
        return a.segments == b.segments
    if isinstance(a, QuestionRecord) and isinstance(b, QuestionRecord):
        return a.question == b.question
    if isinstance(a, Configured) and isinstance(b, Configured):
        return (a.key, a.value) == (b.key, b.value)
    if isinstance(a, Acted) and isinstance(b, Acted):
        return (a.kind, a.nodes) == (b.kind, b.nodes)
    return a == b


def _first_change(ours: TraceBranch, theirs: TraceBranch) -> tuple[int, tuple[Changed, ...]]:
    """Return tokens decoded before the first refocus that decided differently, and its differences; (−1, ()) if none
    did.
    """
    for a, b in zip(ours.refocuses, theirs.refocuses, strict=False):
        if outcome(a) != outcome(b):
            return a.step, _changes(a, b)
    return -1, ()


def _changes(a: Refocus, b: Refocus) -> tuple[Changed, ...]:
    """Return the decisions that differ, those applied on one side first."""
    mine, other = ({(decision.node, decision.kind): decision for decision in refocus.decisions} for refocus in (a, b))
    changes = [
        Changed(node, kind, _reason(x), _reason(y), x.score if x else 0.0, y.score if y else 0.0)
        for node, kind in sorted({*mine, *other})
        if _reason(x := mine.get((node, kind))) != _reason(y := other.get((node, kind)))
    ]
    return tuple(sorted(changes, key=lambda change: "applied" not in (change.ours, change.theirs)))


def _reason(decision: Decision | None) -> Reason | None:
    return None if decision is None else decision.reason


def _what(a: Record | None, b: Record | None) -> Change:
    """Return the kind of the first difference."""
    record = a if a is not None else b
    if record is None:
        return "nothing"
    if a is None or b is None:
        return "end"
    pair = (a, b)
    for kind, name in _CHANGES:
        if any(isinstance(move, kind) for move in pair):
            return name
    if isinstance(a, StepRecord) and isinstance(b, StepRecord) and a.token != b.token:
        return "refocus" if outcome(a.refocus) != outcome(b.refocus) else "token"
    return "refocus"


_CHANGES: tuple[tuple[type[Record], Change], ...] = (
    (Overridden, "override"),
    (Configured, "setting"),
    (Acted, "upkeep"),
    (QuestionRecord, "question"),
    (Ingested, "text"),
)


def _describe_move(move: Record | None) -> str:
    """Return a phrase that describes a move."""
    if move is None:
        return "ends here"
    if isinstance(move, StepRecord):
        return f"decodes {move.text!r}" + (" after a refocus" if move.refocus else "")
    if isinstance(move, Overridden):
        return f"{move.word or 'release'} {move.node}"
    if isinstance(move, Configured):
        return f"sets {move.key} to {move.value}"
    if isinstance(move, QuestionRecord):
        return f"asks {move.question!r}"
    if isinstance(move, Acted):
        return f"{move.kind}s the detail of {len(move.act.nodes)} gists"
    if isinstance(move, Ingested):
        return f"reads {len(move.segments)} segments in"
    return "refocuses at the operator's word"


def _text(line: TraceBranch, shared: int) -> str:
    return "".join(step.text for step in line.steps[shared:])


def _header_changes(a: TraceHeader, b: TraceHeader) -> tuple[tuple[str, str, str], ...]:
    rows = [
        (name, str(getattr(a, name)), str(getattr(b, name)))
        for name in ("fingerprint", "gist", "gist_version", "scorer", "lifetime")
    ]
    rows.insert(0, ("model", a.model.name, b.model.name))
    keys = sorted({*a.settings, *b.settings})
    rows += [(key, str(a.settings.get(key)), str(b.settings.get(key))) for key in keys]
    return tuple(row for row in rows if row[1] != row[2])

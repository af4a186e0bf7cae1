"""Work in a session: what filled the window, files read and changed, failures, and waits.

For every session, with or without compactions. Tokens of single turns are estimated, see `tokens_of`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final, Literal

from amgs.masking import mask
from amgs.sessions.turn import Session, Turn, TurnKind
from amgs.sessions.windows import tokens_of, window_at
from amgs.types.conversation import Role
from amgs.wings.sessions.findings import SHELLS, action_of, findings_in
from amgs.wings.sessions.regrets import SAME_LINES, AgentStep, measure_known_share, steps_of

LARGEST: Final = 10
"""Number of largest results reported."""
_READ: Final = 4_000
_SAID: Final = 160
"""Characters of a failure that are shown."""
_LEAST_WAIT: Final = 5.0
"""Seconds from which on a wait is reported."""

WaitedFor = Literal["tool", "model", "compaction"]


@dataclass(frozen=True, slots=True)
class WindowShare:
    """Turns of one class in the window.

    tool: of calls and results; role: of messages. tokens: of all of them; now: of those in the last window.
    """

    kind: TurnKind
    tool: str
    role: str
    turns: int
    tokens: int
    now: int


@dataclass(frozen=True, slots=True)
class LargeResult:
    """A result that took much of the window. what: the call that it answers."""

    turn: int
    tokens: int
    what: str


@dataclass(frozen=True, slots=True)
class FileUse:
    """A file that was read or changed.

    again: readings whose content was mostly known. tokens: of all readings. last: turn of its last use.
    """

    path: str
    reads: int
    again: int
    changes: int
    tokens: int
    last: int


@dataclass(frozen=True, slots=True)
class FailedStep:
    """A step that failed, with all its failures.

    first, last: turn numbers. says: beginning of the last error. mended: turn in which the same step succeeded later,
    None if never.
    """

    what: str
    times: int
    first: int
    last: int
    says: str
    mended: int | None


@dataclass(frozen=True, slots=True)
class LongWait:
    """A wait. turn: that ended it. of: what was waited for; what: the call of a tool."""

    turn: int
    seconds: float
    of: WaitedFor
    what: str


def shares_of(session: Session) -> tuple[WindowShare, ...]:
    """Return what came into the window of the main conversation by class, largest first."""
    standing = {turn.number for turn in window_at(session, session.main[-1].number).turns} if session.main else set()
    tools = {turn.calls[0].id: turn.calls[0].name for turn in session.main if turn.calls}
    groups: dict[tuple[TurnKind, str, Role | Literal[""]], list[Turn]] = defaultdict(list)
    for turn in session.main:
        if turn.kind != "boundary":
            tool = turn.calls[0].name if turn.calls else tools.get(turn.answers, "")
            role: Role | Literal[""] = turn.role if turn.kind == "said" else ""
            groups[turn.kind, tool if turn.kind in ("call", "result") else "", role].append(turn)
    shares = []
    for (kind, tool, role), turns in groups.items():
        sizes = {turn.number: tokens_of(session, turn) for turn in turns}
        now = sum(size for number, size in sizes.items() if number in standing)
        shares.append(WindowShare(kind, tool, role, len(turns), sum(sizes.values()), now))
    return tuple(sorted(shares, key=lambda share: -share.tokens))


def largest_results(session: Session) -> tuple[LargeResult, ...]:
    """Return the results that took most of the window, largest first."""
    calls = {turn.calls[0].id: turn for turn in session.main if turn.calls}
    sized = [(tokens_of(session, turn), turn) for turn in session.main if turn.kind == "result"]
    sized.sort(key=lambda pair: (-pair[0], pair[1].number))
    return tuple(
        LargeResult(turn.number, tokens, what_of(calls.get(turn.answers), turn)) for tokens, turn in sized[:LARGEST]
    )


def what_of(call: Turn | None, result: Turn | None = None) -> str:
    """Return a step in words: its tool, and the file, command or words that it acts on."""
    action = action_of(call) if call is not None else None
    if call is None or action is None:
        return " ".join(mask((result.text if result is not None else "")[:_READ])[:_SAID].split())
    tool = "" if action.tool in SHELLS else f"{call.calls[0].name} "
    return " ".join(mask(f"{tool}{action.target or call.calls[0].arguments}"[:_READ])[:_SAID].split())


def files_of(session: Session) -> tuple[FileUse, ...]:
    """Return the files that the main conversation read or changed: those read again first, then by tokens."""
    used: dict[str, list[AgentStep]] = defaultdict(list)
    for step in steps_of(session, session.main):
        if step.action.kind in ("read", "write") and not step.failed_write:
            for target in step.targets:
                used[target].append(step)
    files = []
    for path, steps in used.items():
        known: set[str] = set()
        again = tokens = 0
        reads = [step for step in steps if step.action.kind == "read"]
        for step in reads:
            again += bool(step.lines) and measure_known_share(step.lines, known) >= SAME_LINES
            known.update(step.lines)
            tokens += tokens_of(session, step.result) if step.result else 0
        changes = len(steps) - len(reads)
        files.append(FileUse(path, len(reads), again, changes, tokens, steps[-1].call.number))
    return tuple(sorted(files, key=lambda file: (-file.again, -file.tokens, -file.changes)))


def failures_of(session: Session) -> tuple[FailedStep, ...]:
    """Return the failed steps of the main conversation, most frequent first."""
    same: dict[str, list[tuple[Turn, Turn]]] = defaultdict(list)
    calls = {turn.calls[0].id: turn for turn in session.main if turn.calls}
    for turn in session.main:
        if turn.kind == "result" and (call := calls.get(turn.answers)) is not None:
            same[what_of(call)].append((call, turn))
    failures = []
    for what, steps in same.items():
        failed = [result for _, result in steps if result.failed]
        if failed:
            last = failed[-1].number
            mended = next((result.number for _, result in steps if result.number > last), None)
            says = _first_error(failed[-1])
            failures.append(FailedStep(what, len(failed), failed[0].number, last, says, mended))
    return tuple(sorted(failures, key=lambda failure: (-failure.times, -failure.last)))


def _first_error(result: Turn) -> str:
    """Return the first error in a failed result, else its beginning."""
    errors = (finding.text for finding in findings_in(result) if finding.kind == "error")
    message = next(errors, "") or result.text.partition("\nOutput:\n")[2] or result.text
    return " ".join(mask(message[:_READ])[:_SAID].split())


def waits_of(session: Session) -> tuple[LongWait, ...]:
    """Return the long waits of the main conversation, longest first; without the user's pauses."""
    return tuple(sorted(_waits(session), key=lambda wait: -wait.seconds))


def _waits(session: Session) -> Iterator[LongWait]:
    calls = {turn.calls[0].id: turn for turn in session.main if turn.calls}
    for before, after in pairwise(session.main):
        call = calls.get(after.answers)
        if after.kind == "result" and call is not None:
            yield from _wait(after, call.at, "tool", what_of(call))
        elif after.kind in ("boundary", "summary"):
            yield from _wait(after, before.at, "compaction", "")
        elif after.role == "assistant" and before.role != "assistant":
            yield from _wait(after, before.at, "model", "")


def _wait(turn: Turn, since: datetime | None, of: WaitedFor, what: str) -> Iterator[LongWait]:
    if since is not None and turn.at is not None and (seconds := (turn.at - since).total_seconds()) >= _LEAST_WAIT:
        yield LongWait(turn.number, seconds, of, what)

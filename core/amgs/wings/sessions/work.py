"""Work in a session: what filled the window, cache use by request, files read and changed, failures and waits;
and a turn as lists show it, with its changes in files as a diff.

Tokens of single turns are estimated, see `tokens_of`.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, Final, Literal

from amgs.masking import mask
from amgs.sessions.lines import items, parse_object, text
from amgs.sessions.turn import Request, Session, Turn, TurnKind, requests, tokens_of, window_at
from amgs.types.conversation import Role
from amgs.wings.sessions.findings import SHELLS, action_of, findings_in
from amgs.wings.sessions.regrets import SAME_LINES, AgentStep, measure_known_share, steps_of

_SHORT: Final = 200
"""Characters of a turn shown in a list."""


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn as shown in a list. what: its first words, or the tool and what it acts on. tokens: estimated."""

    number: int
    kind: TurnKind
    role: str
    at: datetime | None
    tokens: int
    what: str
    agent: str = ""
    failed: bool = False
    abandoned: bool = False
    copied: bool = False


def row_of(session: Session, turn: Turn) -> TurnRow:
    """Return a turn as shown in a list."""
    action = action_of(turn)
    text = f"[{turn.speaker}] {turn.text}" if turn.kind == "injected" and turn.speaker else turn.text
    if turn.calls:
        target = action.target if action and action.target else turn.calls[0].arguments
        text = f"{turn.calls[0].name} {target}"
    elif turn.boundary is not None:
        mark = turn.boundary
        what = "compacted" if mark.whole else "results of tools cleared"
        text = " ".join(
            word for word in (what, mark.trigger, f"at {mark.before:,} tokens" if mark.before else "") if word
        )
    return TurnRow(
        turn.number,
        turn.kind,
        turn.role,
        turn.at,
        tokens_of(session, turn),
        " ".join(mask(text[: 40 * _SHORT]).split())[:_SHORT],
        turn.agent,
        turn.failed,
        turn.abandoned,
        turn.copied,
    )


_OLD: Final = ("old_string", "oldString", "old_str", "oldText", "old_text", "search")
_NEW: Final = ("new_string", "newString", "new_str", "newText", "new_text", "replace")
_WHOLE: Final = ("content", "file_text", "contents", "insert_text")
_PATCH = re.compile(r"^\*\*\* Begin Patch$.*?^\*\*\* End Patch$", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"(?:<{5,}|-{5,}) SEARCH\n(.*?)\n?={5,}\n(.*?)\n?(?:>{5,}|\+{5,}) REPLACE", re.DOTALL)
_UNIFIED = re.compile(r"^(?:@@|--- )", re.MULTILINE)


def diff_of(turn: Turn) -> tuple[str, ...]:
    """Return what a call changes: lines with `+` added, `-` removed, a blank unchanged, other signs are headings.

    Empty for a turn that changes no file or does not say what it changes.
    """
    action = action_of(turn)
    if action is None:
        return ()
    raw_arguments = turn.calls[0].arguments
    arguments = parse_object(raw_arguments) or {}
    if patch := _PATCH.search(_texts(arguments) or raw_arguments):
        return tuple(patch[0].split("\n")[1:-1])
    if action.kind != "write":
        return ()
    changes = [*_changes(arguments)]
    return (f"*** {action.target}", *(line for change in changes for line in change)) if changes else ()


def _changes(arguments: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the lines of each change in a call's arguments."""
    for edit in (arguments, *items(arguments.get("edits")), *items(arguments.get("replacements"))):
        old, new = (next((edit[key] for key in keys if isinstance(edit.get(key), str)), None) for keys in (_OLD, _NEW))
        if old is not None or new is not None:
            yield _diff(text(old), text(new))
    diff = text(arguments.get("diff") or arguments.get("patch"))
    blocks = [_diff(old, new) for old, new in _BLOCK.findall(diff)]
    yield from blocks or ([tuple(diff.split("\n"))] if _UNIFIED.search(diff) else [])
    whole = next((arguments[key] for key in _WHOLE if isinstance(arguments.get(key), str)), None)
    if whole is not None:
        yield tuple(f"+{line}" for line in whole.split("\n"))


def _diff(old: str, new: str) -> tuple[str, ...]:
    """Return the lines of a diff between two texts, without file names."""
    return tuple(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=2))[2:]


def _texts(arguments: Mapping[str, Any]) -> str:
    """Return the texts among a call's arguments, including those in lists."""
    flat = [part for value in arguments.values() for part in (value if isinstance(value, list) else [value])]
    return "\n".join(part for part in flat if isinstance(part, str))


CacheCause = Literal["compaction", "taken back", "pause", "put in", "unknown"]
"""What the file shows as the cause of a cache miss, surest first.

compaction: a new window began. taken back: the user went back. pause: longer than the cache's lifetime. put in: the
program inserted something. unknown: none of these, for example changed tools or system prompt, which most files do not
contain.
"""
LIFETIME: Final = 300.0
"""Seconds for which providers cache an unused prefix, by default."""
READ, WRITTEN = 0.1, 1.25
"""Prices of a cached and a written token, relative to input (Anthropic's list; a one-hour cache costs 2.0)."""
_SLACK: Final = 0.05
"""Share of the window that may be read again unreported, since providers cache whole blocks only."""
_LEAST: Final = 1_024
"""Fewest tokens of a prefix that is cached."""


@dataclass(frozen=True, slots=True)
class CacheMiss:
    """A request that read again what the previous request had cached.

    lost: tokens that the cache could have provided. cost: in input tokens at full price. span: number of the turn that
    changed the prefix, None if unknown. seconds: since the previous request.
    """

    request: int
    turn: int
    lost: int
    cost: float
    cause: CacheCause
    span: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class CacheLine:
    """Cache use of a session. fresh, written, cached, output: tokens of all requests. missed: misses in order."""

    requests: tuple[Request, ...]
    fresh: int
    written: int
    cached: int
    output: int
    missed: tuple[CacheMiss, ...]

    @property
    def share(self) -> float:
        """Share of the input that came from the cache; 0 without any input."""
        total = self.fresh + self.written + self.cached
        return self.cached / total if total else 0.0

    @property
    def lost(self) -> float:
        """Cost of all misses, in input tokens at full price."""
        return sum(miss.cost for miss in self.missed)


def cache_line(session: Session) -> CacheLine:
    """Return the cache use of the main conversation."""
    every = requests(session)
    used = [request.usage for request in every]
    return CacheLine(
        every,
        sum(usage.fresh for usage in used),
        sum(usage.written for usage in used),
        sum(usage.cached for usage in used),
        sum(usage.output for usage in used),
        tuple(_misses(session, every)),
    )


def _misses(session: Session, every: Sequence[Request]) -> Iterator[CacheMiss]:
    written_price = WRITTEN if any(request.usage.written for request in every) else 1.0
    for before, after in pairwise(every):
        could = min(before.usage.window, after.usage.window)
        lost = could - after.usage.cached
        if could < _LEAST or lost <= max(_LEAST, _SLACK * could) or not _counts_cache(every):
            continue
        pause = _seconds(before.at, after.at)
        cause, span = _cause(session, before, after, pause)
        yield CacheMiss(after.number, after.first, lost, lost * (written_price - READ), cause, span, pause)


def _cause(session: Session, before: Request, after: Request, pause: float | None) -> tuple[CacheCause, int | None]:
    """Return what explains that the second request did not find the prefix of the first, and the turn number."""
    between = [turn for turn in session.turns[before.first : after.first] if not turn.agent]
    boundary = next((turn for turn in between if turn.boundary is not None), None)
    if boundary is not None:
        return "compaction", boundary.number
    if any(turn.abandoned for turn in between):
        return "taken back", next(turn.number for turn in between if turn.abandoned)
    if pause is not None and pause > LIFETIME:
        return "pause", None
    put_in = next((turn for turn in between if turn.kind == "injected"), None)
    return ("put in", put_in.number) if put_in is not None else ("unknown", None)


def _counts_cache(every: Sequence[Request]) -> bool:
    """Return whether the file reports cached tokens at all."""
    return any(request.usage.cached for request in every)


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    return None if start is None or end is None else max(0.0, (end - start).total_seconds())


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
    """Turns of the same class in the window.

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

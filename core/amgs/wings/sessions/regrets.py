"""Regrets: what a compaction dropped and the session needed again, found by rules in the session's own future;
and their comparison with rework at places without a compaction.

A dropped span is regretted if afterwards, in the same window,
- reopened: the agent reads a file that it had changed or written, and at least 80 % of the lines are as it left them;
- reread: it reads a file again that it had read but not changed, and at least 80 % of the lines are as before;
- rerun: it runs the same command again with nearly the same result, although nothing was changed in between;
- searched: at least 60 % of the lines that a search finds were in a dropped result;
- repeated: the user repeats a constraint or correction.
Text that is verbatim in the new window was not lost, so needing it again is no regret.

All of these also happen without compactions. After the compactions of 22 sessions, 37.8 tokens were read from
`reopened` files per 1,000 dropped, and 7.0 at other places of the same sessions. The other kinds do not stand out: they
are shown, but not counted as a cost of compaction.
"""

from __future__ import annotations

import posixpath
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args

from amgs.sessions.lines import items, parse_object, text
from amgs.sessions.turn import (
    Session,
    Turn,
    after_boundary,
    estimate_dropped_tokens,
    find_dropped_turns,
    once_a_session,
    opening_after,
    tokens_of,
    tokens_of_all,
    window_at,
)
from amgs.types import Progress
from amgs.wings.sessions.findings import AgentAction, action_of, is_constraint, sentences_in
from amgs.wings.sessions.losses import contains_whole, words_of

RegretKind = Literal["reopened", "reread", "rerun", "searched", "repeated"]
REGRET_KINDS: tuple[RegretKind, ...] = get_args(RegretKind)

CAUSED: Final[tuple[RegretKind, ...]] = ("reopened",)
"""Kinds that count as a cost of compaction."""
SAME_LINES: Final = 0.8
"""Share of a result's lines that must be known for it to be the same, since edits change some."""
KNOWN_LINES: Final = 0.6
"""Share of a search's lines that must be known for it to count as searched again."""
SAME_WORDS: Final = 0.6
"""Share of a sentence's words that an earlier sentence must contain for it to count as repeated."""
_LEAST: Final = 40
"""Least characters of a result that counts."""
_LONG_PAUSE: Final = 30 * 60
"""Seconds above which a step contains a pause of the user."""
_CHANGES = re.compile(
    r"\b(?:add|apply|build|checkout|close|commit|compile|cp|create|deploy|format|install|merge|mkdir|mv|pull|push|rebase|reset"
    r"|restore|rm|sed -i|stash|touch|update|up)\b|>"
)
"""Commands that may change files or the output of other commands."""
_AROUND = re.compile(
    r"<system-reminder>.*?</system-reminder>|\A(?:(?:Command|Chunk ID|Wall time|Process exited|Original token count"
    r"|Script completed)\b[^\n]*\n)+(?:Output:[ \t]*\n)?",
    re.DOTALL,
)
"""Text that programs put around a result and that differs each time."""
_LINE_NUMBER = re.compile(r"^\s*(?:[\w./@+-]+:)?\d+\s*[→│|:\t-]\s?|^[\w./@+-]+:\s?")


@dataclass(frozen=True, slots=True)
class Regret:
    """Something dropped that was needed again.

    boundary, before, after: turn numbers of the compaction, of the dropped text, and of where it was needed. what:
    file, command, search, sentence or word. tokens: that getting it again put into the window, estimated. seconds: that
    it took, from the previous step to the result; None if the file has no times.
    """

    kind: RegretKind
    boundary: int
    before: int
    after: int
    what: str
    tokens: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class AgentStep:
    """A call with its action, its result and the result's lines. targets: what it acts on; files with full paths."""

    call: Turn
    result: Turn | None
    action: AgentAction
    lines: tuple[str, ...]
    targets: tuple[str, ...]

    @property
    def failed_write(self) -> bool:
        """Return whether it is a failed write."""
        return self.action.kind == "write" and self.result is not None and self.result.failed


def regrets(session: Session, progress: Progress | None = None) -> tuple[Regret, ...]:
    """Return what each compaction of the main conversation dropped and the window after it needed again, in order.

    Raises Cancelled.
    """
    all_regrets: list[Regret] = []
    for done, boundary in enumerate(session.boundaries):
        if progress is not None:
            progress(done, len(session.boundaries), "what was needed again")
        opening = "\n".join(session.text(turn) for turn in opening_after(session, boundary))
        dropped, later = find_dropped_turns(session, boundary), after_boundary(session, boundary)
        all_regrets += regrets_between(session, boundary.number, dropped, later, opening)
    return tuple(all_regrets)


def regrets_between(
    session: Session, boundary: int, dropped: Sequence[Turn], later: Sequence[Turn], opening: str = ""
) -> list[Regret]:
    """Return what later turns needed of dropped ones.

    opening: text at the start of the new window, which was not lost. boundary: turn number under which regrets are
    reported.
    """
    window = " ".join(opening.split())
    lost = [turn for turn in dropped if turn.kind != "result" or not contains_whole(window, _plain(turn.text))]
    before, after = steps_of(session, lost), steps_of(session, later)
    all_regrets = [
        *_step_regrets(session, boundary, before, after),
        *_find_repeated_sayings(session, boundary, lost, later, window),
    ]
    return sorted(all_regrets, key=lambda regret: (regret.after, regret.before))


def _step_regrets(
    session: Session, boundary: int, before: Sequence[AgentStep], after: Sequence[AgentStep]
) -> Iterable[Regret]:
    """Yield regrets of reading, running and searching again; only the first time, since then the new window contains
    it.
    """
    known: dict[tuple[str, str], list[AgentStep]] = defaultdict(list)
    written: dict[str, set[str]] = defaultdict(set)
    where: dict[str, int] = {}
    for step in before:
        if step.failed_write:
            continue
        for target in step.targets:
            known[step.action.kind, target].append(step)
            if step.action.kind == "write":
                written[target].update(_lines(_read_written_text(step.call)))
        where.update((line, step.call.number) for line in step.lines)
    settled = max((step.call.number for step in before if _changes(step.action)), default=0)
    changed: set[str] = set()
    again: set[tuple[str, ...]] = set()
    for step in after:
        if step.failed_write:
            continue
        if step.action.kind == "write":
            changed.update(step.targets)
            continue
        if _changes(step.action):
            changed.update(step.targets or ("",))
        key = (step.action.kind, *step.targets)
        if sum(map(len, step.lines)) < _LEAST or step.result is None or step.result.failed or key in again:
            continue
        again.add(key)
        kinds = ("write", "read") if step.action.kind == "read" else (step.action.kind,)
        same = [earlier_step for kind in kinds for target in step.targets for earlier_step in known[kind, target]]
        own = [written[target] for target in step.targets if target in written]
        kind, source = _classify_need(step, same, own, where, changed, settled)
        if kind is not None:
            yield _regret(session, kind, boundary, source, step, step.action.target)


def _classify_need(
    step: AgentStep,
    known: Sequence[AgentStep],
    own: Sequence[set[str]],
    where: Mapping[str, int],
    changed: set[str],
    settled: int,
) -> tuple[RegretKind | None, int]:
    """Return what kind of regret a step is, and the turn that had its result before; (None, 0) for none.

    known: earlier steps that did the same. own: lines that the agent had written into each file. where: turn of each
    dropped line. changed: files written since. settled: last dropped turn that changed anything.
    """
    if step.action.kind == "search":
        dropped_lines = [line for line in step.lines if line in where]
        enough = len(dropped_lines) >= KNOWN_LINES * len(step.lines)
        return ("searched", where[dropped_lines[-1]]) if enough else (None, 0)
    written = {line for lines in own for line in lines}
    same = [
        earlier_step
        for earlier_step in known
        if measure_known_share(step.lines, {*earlier_step.lines, *written}) >= SAME_LINES
    ]
    if not same and len(step.targets) > 1:  # several files that were read separately before
        every = {line for earlier_step in known for line in earlier_step.lines} | written
        same = list(known[-1:]) if measure_known_share(step.lines, every) >= SAME_LINES else []
    if not same or changed & {*step.targets}:
        return None, 0
    if step.action.kind == "read":
        return ("reopened" if own else "reread"), same[-1].call.number
    fresh = same[-1].call.number > settled and not changed
    return ("rerun", same[-1].call.number) if step.action.kind == "run" and fresh else (None, 0)


def _find_repeated_sayings(
    session: Session, boundary: int, lost: Sequence[Turn], later: Sequence[Turn], window: str
) -> Iterable[Regret]:
    """Yield constraints and corrections that the user repeats."""
    statements = [
        (turn, sentence, frozenset(words_of(sentence)))
        for turn in lost
        if turn.kind == "said" and turn.role == "user"
        for sentence in sentences_in(turn.text)
        if is_constraint(sentence) and not contains_whole(window, _plain(sentence))
    ]
    for turn in later:
        if turn.kind != "said" or turn.role != "user" or len(turn.text) > 2_000:
            continue
        for sentence in sentences_in(turn.text):
            own = frozenset(words_of(sentence))
            if len(own) < 4:
                continue
            shared = [
                (len(own & words) / len(own), earlier_turn.number)
                for earlier_turn, _, words in statements
                if len(words) >= 4
            ]
            best, number = max(shared, default=(0.0, 0))
            if best >= SAME_WORDS:
                yield Regret("repeated", boundary, number, turn.number, sentence, tokens_of(session, turn), None)
                break


def _regret(session: Session, kind: RegretKind, boundary: int, source: int, step: AgentStep, what: str) -> Regret:
    result = step.result
    tokens = tokens_of(session, step.call) + (tokens_of(session, result) if result else 0)
    end = result.at if result else None
    return Regret(
        kind, boundary, source, step.call.number, what, tokens, _seconds(_previous_end(session, step.call), end)
    )


def _previous_end(session: Session, call: Turn) -> datetime | None:
    """Return the end of the step before a call, when the model began to answer."""
    earlier = (
        turn.at
        for turn in reversed(session.turns[: call.number - 1])
        if turn.agent == call.agent and (turn.request != call.request or not call.request)
    )
    return next((at for at in earlier if at is not None), call.at)


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    if start is None or end is None:
        return None
    taken = (end - start).total_seconds()
    return taken if 0 <= taken <= _LONG_PAUSE else None


def steps_of(session: Session, turns: Sequence[Turn]) -> list[AgentStep]:
    """Return the calls among turns, with their results."""
    results = {turn.answers: turn for turn in turns if turn.kind == "result"}
    steps = []
    for turn in turns:
        action = action_of(turn)
        if action is not None and turn.calls:
            result = results.get(turn.calls[0].id)
            lines = _lines_of(session, result.number) if result else ()
            steps.append(AgentStep(turn, result, action, lines, _targets(session, action)))
    return steps


def _targets(session: Session, action: AgentAction) -> tuple[str, ...]:
    """Return what a step acts on; files with full paths, if the session's folder is known."""
    if action.kind in ("read", "write"):
        files = (posixpath.join(session.project, file) for file in action.targets if file)
        return tuple(posixpath.normpath(file) for file in files)
    return (" ".join(action.target.split()),)


def _lines_of(session: Session, number: int) -> tuple[str, ...]:
    """Return the lines of the result in a turn, cached."""
    known = _line_cache(session)
    if number not in known:
        known[number] = _lines(session.text(session.turn(number)))
    return known[number]


@once_a_session
def _line_cache(session: Session) -> dict[int, tuple[str, ...]]:
    """Return the cache of `_lines_of` for a session, by turn."""
    del session
    return {}


def _lines(output: str) -> tuple[str, ...]:
    """Return the significant lines of a result, without line numbers and program headers."""
    plain = (_LINE_NUMBER.sub("", line).strip() for line in _AROUND.sub("", output).split("\n"))
    return tuple(line for line in plain if len(line) >= 12)


def measure_known_share(lines: Sequence[str], known: set[str]) -> float:
    """Return the share of lines that are known."""
    return sum(line in known for line in lines) / len(lines) if lines else 0.0


def _read_written_text(call: Turn) -> str:
    """Return the text that a call writes into a file, by its arguments."""
    raw_arguments = call.calls[0].arguments if call.calls else ""
    arguments = parse_object(raw_arguments)
    if arguments is None:
        return "\n".join(line.removeprefix("+") for line in raw_arguments.replace("\\n", "\n").split("\n"))
    names = (
        *("content", "new_string", "newString", "new_str", "input", "patch", "file_text", "replace", "newText"),
        *("cmd", "command"),
    )
    pieces = [text(value) for name in names for value in _as_list(arguments.get(name))]
    pieces += [text(edit.get(name)) for edit in items(arguments.get("edits")) for name in ("new_string", "newText")]
    return "\n".join(line.removeprefix("+") for piece in pieces for line in piece.split("\n"))


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _changes(action: AgentAction) -> bool:
    """Return whether a step may change files, so that running a command again has a reason."""
    return action.kind == "write" or (action.kind == "run" and _CHANGES.search(action.target) is not None)


def _plain(passage: str) -> str:
    return " ".join(passage.split())


PLACES: Final = 12
"""Places without a compaction that are examined in a session; each takes tens of milliseconds in a long session."""
_FOLLOWING: Final = 120
"""Turns examined after a place, in a session without a compaction."""
_LEAST_BEFORE, _LEAST_AFTER = 40, 20
"""Fewest turns before and after a place that is examined."""

_ENOUGH: Final = 3
"""Fewest regrets for a rate to stand out."""


@dataclass(frozen=True, slots=True)
class KindRate:
    """Rate of a kind of regret after compactions, and without them.

    regrets, tokens: after the session's compactions. rate: tokens per 1,000 dropped. elsewhere: the same at places
    without a compaction, None if there are none. counted: whether it counts as a cost of compaction; see `regrets`.
    """

    kind: RegretKind
    regrets: int
    tokens: int
    rate: float
    elsewhere: float | None
    counted: bool

    @property
    def exceeds(self) -> bool:
        """Return whether the rate is above that of places without a compaction, if there are any."""
        return self.elsewhere is None or self.rate > self.elsewhere

    @property
    def standing(self) -> str:
        """Describe the rate in comparison with places without a compaction."""
        if self.elsewhere is None:
            return "no other place in the session to compare with"
        if not self.exceeds:
            return "as frequent elsewhere"
        if self.regrets < _ENOUGH or self.rate < 2 * self.elsewhere:
            return "too seldom to tell"
        return "stands out in this session"


def by_kind(
    session: Session, regrets: Sequence[Regret], *, places: int = PLACES, seed: int = 7
) -> tuple[KindRate, ...]:
    """Return the rate of each kind of regret found after compactions or elsewhere."""
    dropped = count_dropped_tokens(session)
    anyway, stood = control_regrets(session, places=places, seed=seed)
    rows = []
    for kind in REGRET_KINDS:
        own = [regret for regret in regrets if regret.kind == kind]
        other = sum(regret.tokens for regret in anyway if regret.kind == kind)
        if own or other:
            tokens = sum(regret.tokens for regret in own)
            rate = 1000.0 * tokens / dropped if dropped else 0.0
            rows.append(
                KindRate(kind, len(own), tokens, rate, 1000.0 * other / stood if stood else None, kind in CAUSED)
            )
    return tuple(rows)


def count_dropped_tokens(session: Session) -> int:
    """Return the estimated tokens that all compactions of a session dropped."""
    return sum(estimate_dropped_tokens(session, boundary) for boundary in session.boundaries)


def select_caused(regrets: Sequence[Regret]) -> list[Regret]:
    """Return the regrets of the kinds that compactions cause."""
    return [regret for regret in regrets if regret.kind in CAUSED]


def control_regrets(session: Session, *, places: int = PLACES, seed: int = 7) -> tuple[list[Regret], int]:
    """Find regrets at random places without a compaction, over as many turns as follow the session's compactions;
    return them and the tokens in the windows there.
    """
    length = max((len(after_boundary(session, boundary)) for boundary in session.boundaries), default=_FOLLOWING)
    main = session.main
    marks = [turn.number for turn in session.boundaries]
    fit = [
        turn
        for place, turn in enumerate(main)
        if place >= _LEAST_BEFORE and len(main) - place >= _LEAST_AFTER and turn.number not in marks
    ]
    regrets: list[Regret] = []
    stood = 0
    for turn in random.Random(seed).sample(fit, min(places, len(fit))):
        window = window_at(session, turn.number - 1)
        later = [later_turn for later_turn in main if later_turn.number >= turn.number][:length]
        end = next((n for n, later_turn in enumerate(later) if later_turn.number in marks), len(later))
        regrets += regrets_between(session, turn.number, window.turns, later[:end])
        stood += min(window.tokens, tokens_of_all(session, window.turns))
    return regrets, stood

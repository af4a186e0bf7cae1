"""Find what a compaction dropped and the session needed again, by the session's own future and by rules alone.

A span that was dropped is regretted where afterwards, in the same window,
- reopened: the agent reads a file that it had changed or written, and finds at least 80 % of it as it left it;
- reread: it reads a file again that it had read and not changed, and finds at least 80 % of it as it was;
- rerun: it runs the same command again with nearly the same result, though in between it changed no file and ran
  nothing that changes one;
- searched: it searches, and at least 60 % of the lines that it finds stood in a result that was dropped;
- repeated: the user says a constraint or a correction again.
What stands in the new window word for word was not lost, and needing it again is no regret.

All of it happens where nothing was compacted, too; `controls` counts that. After the compactions of 22 sessions 37.8
tokens were read in `reopened` files for 1,000 that were dropped, 7.0 at other places of the same sessions. The other
kinds do not stand out: they are shown, and not counted as the price of a compaction.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args

from amgs.sessions.lines import items, parse_object, text
from amgs.sessions.turn import Session, Turn
from amgs.sessions.windows import after_boundary, find_dropped_turns, once_a_session, opening_after, tokens_of
from amgs.types import Progress
from amgs.wings.sessions.findings import AgentAction, action_of, is_constraint, sentences_in
from amgs.wings.sessions.losses import stands_in, words_of

RegretKind = Literal["reopened", "reread", "rerun", "searched", "repeated"]
REGRET_KINDS: tuple[RegretKind, ...] = get_args(RegretKind)

CAUSED: Final[tuple[RegretKind, ...]] = ("reopened",)
"""The kinds that are counted as the price of a compaction."""
SAME_LINES: Final = 0.8
"""Share of the lines of a result that must have been there before for it to be the same: an edit changes some."""
KNOWN_LINES: Final = 0.6
"""Share of what a search finds that must have been known for it to be a search for what was known."""
SAME_WORDS: Final = 0.6
"""Share of the words of what a user says that must be those of what they said before for it to be the same again."""
_LEAST: Final = 40
"""Characters of a result below which it says too little to be missed."""
_LONG_PAUSE: Final = 30 * 60
"""Seconds beyond which a step is not the agent's time: somebody was away."""
_CHANGES = re.compile(
    r"\b(?:add|apply|build|checkout|close|commit|compile|cp|create|deploy|format|install|merge|mkdir|mv|pull|push|rebase|reset"
    r"|restore|rm|sed -i|stash|touch|update|up)\b|>"
)
"""Commands that may change files, or what other commands show."""
_AROUND = re.compile(
    r"<system-reminder>.*?</system-reminder>|\A(?:(?:Command|Chunk ID|Wall time|Process exited|Original token count"
    r"|Script completed)\b[^\n]*\n)+(?:Output:[ \t]*\n)?",
    re.DOTALL,
)
"""What a program puts around a result, anew each time."""
_LINE_NUMBER = re.compile(r"^\s*(?:[\w./@+-]+:)?\d+\s*[→│|:\t-]\s?|^[\w./@+-]+:\s?")


@dataclass(frozen=True, slots=True)
class Regret:
    """Something dropped that was needed again.

    boundary, before, after: numbers of the turns of the compaction, of what was dropped, and of where it was needed.
    what: the file, command, search, sentence or word. tokens: what getting it again put into the window, estimated.
    seconds: how long that took, from the step before to the result; None where the file has no times.
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
    """A call with its result, what it does, and the lines that came of it. targets: what it does it to, files by their
    whole paths.
    """

    call: Turn
    result: Turn | None
    action: AgentAction
    lines: tuple[str, ...]
    targets: tuple[str, ...]

    @property
    def fell_through(self) -> bool:
        """Return whether it should have written a file and failed."""
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
    """Return the regrets of dropping turns, in the turns that came later.

    opening: the text of the new window, which holds what was not lost. boundary: the number of any turn, under which
    they are reported.
    """
    window = " ".join(opening.split())
    lost = [turn for turn in dropped if turn.kind != "result" or not stands_in(window, _plain(turn.text))]
    before, after = steps_of(session, lost), steps_of(session, later)
    all_regrets = [*_of_steps(session, boundary, before, after), *_of_words(session, boundary, lost, later, window)]
    return sorted(all_regrets, key=lambda regret: (regret.after, regret.before))


def _of_steps(
    session: Session, boundary: int, before: Sequence[AgentStep], after: Sequence[AgentStep]
) -> Iterable[Regret]:
    """Reading, running and searching again. The first time counts: then the new window has it."""
    known: dict[tuple[str, str], list[AgentStep]] = defaultdict(list)
    written: dict[str, set[str]] = defaultdict(set)
    where: dict[str, int] = {}
    for step in before:
        if step.fell_through:
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
        if step.fell_through:
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
    """Return what a step after a compaction needed again, and the number of the turn that had it before; (None, 0) for
    nothing.

    known: the steps before that did the same. own: lines that the agent wrote into the same files before, of each.
    where: the turn of each line of a dropped result. changed: files that were written since. settled: the last turn
    before that changed anything.
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
    if not same and len(step.targets) > 1:  # several files, each of which was read by itself
        every = {line for earlier_step in known for line in earlier_step.lines} | written
        same = list(known[-1:]) if measure_known_share(step.lines, every) >= SAME_LINES else []
    if not same or changed & {*step.targets}:
        return None, 0
    if step.action.kind == "read":
        return ("reopened" if own else "reread"), same[-1].call.number
    fresh = same[-1].call.number > settled and not changed
    return ("rerun", same[-1].call.number) if step.action.kind == "run" and fresh else (None, 0)


def _of_words(
    session: Session, boundary: int, lost: Sequence[Turn], later: Sequence[Turn], window: str
) -> Iterable[Regret]:
    """Return what the user said again: a constraint or correction whose words are those of one before."""
    statements = [
        (turn, sentence, frozenset(words_of(sentence)))
        for turn in lost
        if turn.kind == "said" and turn.role == "user"
        for sentence in sentences_in(turn.text)
        if is_constraint(sentence) and not stands_in(window, _plain(sentence))
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
    return Regret(kind, boundary, source, step.call.number, what, tokens, _seconds(_before(session, step.call), end))


def _before(session: Session, call: Turn) -> datetime | None:
    """Return the end of the step before a call: the model began to write its answer then."""
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
    """Return the calls among turns, each with its result."""
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
    """Return what a step does something to: files by their whole paths, as far as the session tells its folder."""
    if action.kind in ("read", "write"):
        files = (posixpath.join(session.project, file) for file in action.targets if file)
        return tuple(posixpath.normpath(file) for file in files)
    return (" ".join(action.target.split()),)


def _lines_of(session: Session, number: int) -> tuple[str, ...]:
    """Return the lines of the result in a turn; each is asked for once for every place that is looked at."""
    known = _keep_lines(session)
    if number not in known:
        known[number] = _lines(session.text(session.turn(number)))
    return known[number]


@once_a_session
def _keep_lines(session: Session) -> dict[int, tuple[str, ...]]:
    """Return what `_lines_of` has read of a session, by turn."""
    del session
    return {}


def _lines(output: str) -> tuple[str, ...]:
    """Return the lines of a result that say something, without their numbers and what the program puts around."""
    plain = (_LINE_NUMBER.sub("", line).strip() for line in _AROUND.sub("", output).split("\n"))
    return tuple(line for line in plain if len(line) >= 12)


def measure_known_share(lines: Sequence[str], known: set[str]) -> float:
    """Return the share of lines that are known, from 0 to 1."""
    return sum(line in known for line in lines) / len(lines) if lines else 0.0


def _read_written_text(call: Turn) -> str:
    """Return what a call writes into a file, as its arguments say."""
    raw_arguments = call.calls[0].arguments if call.calls else ""
    arguments = parse_object(raw_arguments)
    if arguments is None:
        return "\n".join(line.removeprefix("+") for line in raw_arguments.replace("\\n", "\n").split("\n"))
    names = (
        *("content", "new_string", "newString", "new_str", "input", "patch", "file_text", "replace", "newText"),
        *("cmd", "command"),
    )
    pieces = [text(value) for name in names for value in _several(arguments.get(name))]
    pieces += [text(edit.get(name)) for edit in items(arguments.get("edits")) for name in ("new_string", "newText")]
    return "\n".join(line.removeprefix("+") for piece in pieces for line in piece.split("\n"))


def _several(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _changes(action: AgentAction) -> bool:
    """Return whether a step may change files, so that running a command again is to see what came of it."""
    return action.kind == "write" or (action.kind == "run" and _CHANGES.search(action.target) is not None)


def _plain(passage: str) -> str:
    return " ".join(passage.split())

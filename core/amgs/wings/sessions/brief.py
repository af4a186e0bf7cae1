"""Brief for another agent that continues a session, in the session's own words with references to turns; written by
rules.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from amgs.masking import mask as mask_secrets
from amgs.sessions.turn import Session, Turn
from amgs.text.language_model import approximate_tokens
from amgs.wings.sessions.findings import action_of, findings_in, is_constraint, sentences_in

Program = Literal["markdown", "claude-code", "codex"]
_SECTIONS: Final = (
    ("Task", 0.25),
    ("Constraints", 0.12),
    ("About to be done", 0.14),
    ("Files changed", 0.16),
    ("Failed, and how it was mended", 0.1),
    ("Decisions", 0.08),
    ("Commands that ran", 0.12),
    ("Files read", 0.08),
    ("Told last", 1.0),
)
"""Sections in the order in which they are filled, each with the share of tokens that it may take at first."""
_LONGEST: Final = 600
_PLANS: Final = ("todowrite", "update_plan", "write_todos", "todo_write")


@dataclass(frozen=True, slots=True)
class BriefItem:
    """A line of a brief. turn: its source."""

    section: str
    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class SessionBrief:
    """A brief. tokens: estimated, at most the budget."""

    text: str
    tokens: int
    items: tuple[BriefItem, ...]


def write_brief(
    session: Session, budget: int, turns: Sequence[Turn] | None = None, *, mask: Callable[[str], str] = mask_secrets
) -> SessionBrief:
    """Write a brief of at most `budget` tokens.

    turns: those to cover; None for the whole main conversation. mask: masks secrets in a text before it is cut.
    """
    chosen = [turn for turn in (session.main if turns is None else turns) if not turn.copied]
    head = f"# Hand-over of {session.agent} session {session.id}\n"
    free = budget - approximate_tokens(head)
    sections: dict[str, list[BriefItem]] = {}
    rest: list[tuple[str, str, BriefItem]] = []
    seen: set[str] = set()
    for section, share in _SECTIONS:
        room = min(free, int(budget * share))
        heading = approximate_tokens(f"\n## {section}\n")
        for item in _items(session, section, chosen, mask):
            if (key := " ".join(item.text.split())) in seen:
                continue
            cost = approximate_tokens(_line(item)) + (0 if section in sections else heading)
            if section == "Task" and section not in sections and cost > room > heading:  # the task is never left out
                item = replace(item, text=f"{item.text[: len(item.text) * (room - heading) // cost]}…")
                cost = approximate_tokens(_line(item)) + heading
            if cost > min(room, free):
                rest.append((section, key, item))
                continue
            seen.add(key)
            sections.setdefault(section, []).append(item)
            room, free = room - cost, free - cost
    for section, key, item in rest:  # use the remaining space
        cost = approximate_tokens(_line(item)) + (0 if section in sections else approximate_tokens(f"\n## {section}\n"))
        if cost <= free and key not in seen:
            seen.add(key)
            sections.setdefault(section, []).append(item)
            free -= cost
    parts = [head]
    for section, _ in _SECTIONS:
        if section in sections:
            sections[section].sort(key=lambda item: item.turn)
            parts.append(f"\n## {section}\n" + "".join(map(_line, sections[section])))
    text = "".join(parts)
    return SessionBrief(text, approximate_tokens(text), tuple(item for part in sections.values() for item in part))


def as_first_message(brief: str, program: Program) -> str:
    """Return a brief as the first message of a program's session: a line of its file, or Markdown."""
    if program == "markdown":
        return brief
    if program == "codex":
        message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": brief}]}
        return json.dumps({"type": "response_item", "payload": message}, ensure_ascii=False)
    return json.dumps({"type": "user", "message": {"role": "user", "content": brief}}, ensure_ascii=False)


def _line(item: BriefItem) -> str:
    return f"- {item.text} (turn {item.turn})\n"


def _items(session: Session, section: str, turns: Sequence[Turn], mask: Callable[[str], str]) -> Iterator[BriefItem]:
    """Yield the possible items of a section, most important first."""
    passages: Iterable[tuple[int, str]]
    match section:
        case "Task":
            asked = [turn for turn in turns if turn.kind == "said" and turn.role == "user" and turn.text.strip()]
            wanted = dict.fromkeys([*asked[:1], *reversed(asked[1:])])
            passages = ((turn.number, session.text(turn)) for turn in wanted)
        case "Constraints":
            passages = _findings(turns, "constraint")
        case "Decisions":
            passages = _findings(turns, "decision")
        case "About to be done":
            passages = _plans(turns)
        case "Files changed":
            passages = _files(turns, "write")
        case "Files read":
            passages = _files(turns, "read")
        case "Commands that ran":
            passages = _commands(turns)
        case "Failed, and how it was mended":
            passages = _failures(turns)
        case _:
            passages = _rank_sayings(session, turns)
    for number, text in passages:
        plain = " ".join(mask(text).split())
        if plain:
            yield BriefItem(section, number, plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…")


def _findings(turns: Sequence[Turn], kind: str) -> Iterator[tuple[int, str]]:
    for turn in reversed(turns):
        if turn.kind == "said":
            yield from ((turn.number, finding.text) for finding in findings_in(turn) if finding.kind == kind)


def _plans(turns: Sequence[Turn]) -> Iterator[tuple[int, str]]:
    """Yield the agent's last message, and the open steps of its latest plan."""
    last = next((turn for turn in reversed(turns) if turn.kind == "said" and turn.role == "assistant"), None)
    if last is not None:
        yield last.number, last.text
    for turn in reversed(turns):
        if turn.calls and turn.calls[0].name.lower() in _PLANS:
            try:
                arguments = json.loads(turn.calls[0].arguments)
                steps = next(value for value in arguments.values() if isinstance(value, list))
            except (ValueError, AttributeError, StopIteration):
                return
            for step in steps:
                state = step.get("status") if isinstance(step, dict) else ""
                if state and state != "completed":
                    yield turn.number, f"{state}: {step.get('content') or step.get('step') or ''}"
            return


def _files(turns: Sequence[Turn], kind: str) -> Iterator[tuple[int, str]]:
    """Yield files by how often and how recently they were read or changed, with their changes."""
    used: dict[str, list[Turn]] = {}
    for turn in turns:
        action = action_of(turn)
        if action is not None and action.kind == kind and action.target:
            used.setdefault(action.target, []).append(turn)
    failed = {turn.answers for turn in turns if turn.failed}
    last = turns[-1].number if turns else 0
    for path, calls in sorted(used.items(), key=lambda use: -len(use[1]) - 8 * use[1][-1].number / max(1, last)):
        state = path
        if kind == "write":
            times = f"changed {len(calls)} times" if len(calls) > 1 else "changed once"
            broken = calls[-1].calls[0].id in failed
            state += f": {times}, last change failed" if broken else f": {times}"
        yield calls[-1].number, state


def _commands(turns: Sequence[Turn]) -> Iterator[tuple[int, str]]:
    """Yield commands that succeeded, by how often and how recently they ran."""
    failed = {turn.answers for turn in turns if turn.failed}
    ran: dict[str, list[int]] = {}
    for turn in turns:
        action = action_of(turn)
        worked = bool(turn.calls) and turn.calls[0].id not in failed
        if worked and action is not None and action.kind == "run" and len(action.target) <= 200:
            ran.setdefault(action.target, []).append(turn.number)
    last = turns[-1].number if turns else 0
    for command, numbers in sorted(ran.items(), key=lambda use: -len(use[1]) - 4 * use[1][-1] / max(1, last)):
        yield numbers[-1], f"`{command}`"


def _failures(turns: Sequence[Turn]) -> Iterator[tuple[int, str]]:
    """Yield errors, latest first, each with the step that resolved it: the same command again, or a changed file."""
    calls = {turn.calls[0].id: turn for turn in turns if turn.calls}
    for place in range(len(turns) - 1, -1, -1):
        turn = turns[place]
        error = next((finding.text for finding in findings_in(turn) if finding.kind == "error"), "")
        if turn.kind != "result" or not (turn.failed or error):
            continue
        call = calls.get(turn.answers)
        action = None if call is None else action_of(call)
        what = f"`{action.target[:160]}`: " if action is not None and action.target else ""
        yield turn.number, f"{what}{error or turn.text[:200]}{_describe_fix(turns[place + 1 :], action, calls)}"


def _describe_fix(after: Sequence[Turn], action: object, calls: dict[str, Turn]) -> str:
    """Describe how a failure was resolved; "" if it was not."""
    changed = ""
    for turn in after:
        step = action_of(turn)
        if step is not None and step.kind == "write":
            changed = f"; then {step.target} was changed (turn {turn.number})"
        if turn.kind == "result" and not turn.failed and action is not None:
            call = calls.get(turn.answers)
            if call is not None and action_of(call) == action:
                return f"{changed}; it ran without a failure at turn {turn.number}"
    return changed


def _rank_sayings(session: Session, turns: Sequence[Turn]) -> Iterator[tuple[int, str]]:
    """Yield sentences with a number, a file name or a demand, latest turn first."""
    for turn in reversed(turns):
        if turn.kind in ("said", "summary"):
            findings = [finding.text for finding in findings_in(turn)]
            for sentence in sentences_in(session.text(turn)[:8_000]):
                if is_constraint(sentence) or any(finding in sentence for finding in findings):
                    yield turn.number, sentence

"""Codex: `~/.codex/sessions/YEAR/MONTH/DAY/rollout-*.jsonl`.

A line is `{timestamp, type, payload}`. What the model read and wrote are the `response_item` lines; `event_msg` lines
mostly repeat them for the screen, and show which of them the user sent. A compaction is a line `compacted`, whose
`replacement_history` is what the model reads from then on; its summary may be encrypted. The oldest files have the
items without a wrapper.

Source: `RolloutLine` of the openai/codex repository.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from amgs.sessions.branches import TASK_STARTS, CopiedBeginning, lines_before, thread_above
from amgs.sessions.building import ListMarks, RecordReading, SessionFormat, read_lines
from amgs.sessions.lines import (
    Line,
    Record,
    as_json,
    content_text,
    count,
    fields,
    instant,
    items,
    parse_object,
    text,
    usage_with_cache,
)
from amgs.sessions.messages import find_request, words_of_user
from amgs.sessions.turn import Boundary, LoadedRules, Place, Turn
from amgs.types.conversation import ToolCall
from amgs.types.gateway import Usage

_PUT_IN: Final = re.compile(
    r"\s*(?:# AGENTS\.md instructions|# Context from my IDE setup:|<heartbeat>\s*<automation_id>"
    r"|<(?:environment_context|user_instructions|turn_aborted|permissions|skill|INSTRUCTIONS)\b"
    r"|Another language model started to solve this problem|The following is the Codex agent history"
    r"|\[external_agent_tool_|Warning: (?:apply_patch was requested via|The maximum number of unified exec"
    r"|Your account was flagged))"
)
_BLOCKS: Final = re.compile(
    r"(?:\s*(?:# AGENTS\.md instructions[^\n]*\n\s*)?"
    r"<(environment_context|user_instructions|permissions instructions|skill|INSTRUCTIONS|recommended_plugins"
    r"|in-app-browser-context)>.*?</\1>)+\s*",
    re.DOTALL,
)
"""What the program puts before the user's words in their message."""
_EXIT: Final = re.compile(r"^(?:Process exited with code|Exit code:) (\d+)", re.MULTILINE)
_CALLS: Final = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call", "mcp_tool_call")
_ITEMS: Final = ("message", "reasoning", "compaction", "compaction_summary", *_CALLS)


class _Reading(RecordReading):
    def __init__(self, path: Path, limit: int | None) -> None:
        super().__init__("Codex", "codex", path, limit)
        self._unpaid: list[Turn] = []
        """Turns of the model since the last token count."""
        self._requests = 0
        self._told = ""
        self._last = Usage()
        self._model = ""
        self._messages: dict[int, tuple[str, ...]] = {}
        """The numbers of a message's turns, by the hash of its whole text."""
        self._typed: list[tuple[int, str]] = []
        """(Number of turns before it, text) of what the user sent according to the program."""
        self._slot: list[tuple[int, tuple[str, ...]]] = []
        """The number of each turn of role user, and the text of its message: whole, and what is asked."""
        self._starts: list[int] = []
        """After how many turns a task began."""
        self._taken_back: list[tuple[int, int]] = []
        """(Number of turns before it, number of user turns) each time the user went back."""
        self._copy: CopiedBeginning | None = None
        self._before = 0
        """Turns of the file that this file continues."""

    def take(self, line: Line) -> None:
        """Read a line into turns; count it by kind if it has none."""
        record = line.value
        if record is None:
            self.fail(line)
            return
        wrapped = isinstance(record.get("payload"), dict)
        payload = fields(record.get("payload")) if wrapped else record
        kind = text(record.get("type")) if wrapped else "response_item"
        at = record.get("timestamp")
        before = len(self.turns)
        if self._copy is not None and line.place.line > 0:
            self._copy.take(kind, payload, instant(at), before)
        if kind == "response_item":
            self._item(payload, line.place, at)
        elif kind == "session_meta" or (not wrapped and "instructions" in record):
            self._meta(payload, line.place)
        elif kind == "turn_context":
            self._context(payload)
        elif kind == "compacted":
            self._read_compaction(payload, line.place, at)
        elif kind == "event_msg":
            self._event(payload)
        if len(self.turns) == before or kind == "session_meta":
            inner = text(payload.get("type")) if wrapped else ""
            self.note(f"{kind}: {inner}" if inner else kind)

    def finish(self) -> None:
        """Add the facts that only the whole file shows: messages that the user sent or took back, and those of
        another thread.
        """
        copied = self._before
        if self._copy is not None:
            copied = max(copied, self._copy.turns(len(self.turns)))
        typed = [{words for after, words in self._typed if (after > copied) == own} for own in (False, True)]
        for number, texts in self._slot:
            turn = self.turns[number - 1]
            put_in = [(spoken, speaker) for spoken, _, speaker in words_of_user(texts[-1])]
            sent_here = typed[number > copied]
            sent = (
                bool(sent_here & {_squeeze(words) for words in texts})
                if sent_here
                else any(spoken for spoken, _ in put_in)
            )
            if turn.kind == "said" and not sent:
                self.change(turn, kind="injected", speaker=next((speaker for _, speaker in put_in if speaker), ""))
        for end, number in self._taken_back:
            own = [t for t in self.turns[:end] if t.kind == "said" and t.role == "user" and not t.abandoned]
            for turn in self.turns[self._find_beginning(own, number) : end] if own and number else ():
                if not turn.abandoned:
                    self.change(turn, abandoned=True)
        for turn in self.turns[:copied]:
            self.change(turn, copied=True, usage=None, request="")

    def _find_beginning(self, own: Sequence[Turn], number: int) -> int:
        """Return before which turn the last of the user's turns begin, with what was put in for them; what was put in
        for the first stays.
        """
        first = own[-number:][0]
        begin = first.number - 1
        task = max((start for start in self._starts if start <= begin and first is not own[0]), default=begin)
        for turn in reversed(self.turns[:begin]):
            if turn.kind != "injected" or (turn.number <= task and turn.place.line != first.place.line):
                break
            begin = turn.number - 1
        return begin

    def _meta(self, payload: Record, place: Place) -> None:
        first = "id" not in self.facts
        self.know(
            id=text(payload.get("id")) or text(payload.get("session_id")),
            project=text(payload.get("cwd")),
            version=text(payload.get("cli_version")),
            branch=text(fields(payload.get("git")).get("branch")),
            system=content_text(payload.get("base_instructions") or payload.get("instructions")),
        )
        parent, relation = thread_above(payload)
        if not first or not relation or place.line < 0:
            return
        self.know(parent=parent, relation=relation)
        if base := fields(payload.get("history_base")):
            self._go_on(base, text(base.get("thread_id")))
        else:
            began = instant(payload.get("timestamp"))
            self._copy = CopiedBeginning(self.path, self.facts.get("id", ""), parent, began)

    def _go_on(self, base: Record, thread: str) -> None:
        """Read the beginning, which is in another file."""
        records = lines_before(self.path, base)
        evidence, unread = Counter(self.evidence), list(self.unread)
        for number, record in enumerate(records or (), 1):
            self.take(Line(Place(-number), record))
        self.evidence, self.unread = evidence, unread
        self._before = len(self.turns)
        self._unpaid = []
        sentence = f"It goes on from thread {thread}"
        where = (
            f", whose first {self._before} turns stand before it"
            if records
            else ": its beginning is in a file that is not here"
        )
        self.know(notes=(f"{sentence}{where}.",))

    def _context(self, payload: Record) -> None:
        self._model = text(payload.get("model")) or self._model
        self.know(model=self._model, project=text(payload.get("cwd")))
        instructions = text(payload.get("user_instructions"))
        if instructions and not any(rules.text == instructions for rules in self.rules):
            self.rules.append(LoadedRules("AGENTS.md", instructions, len(self.turns) + 1))

    def _item(self, item: Record, place: Place, at: Any) -> None:
        kind, before = text(item.get("type")), len(self.turns)
        common: dict[str, Any] = {"at": instant(at), "id": text(item.get("id"))}
        if kind == "message":
            role = text(item.get("role"))
            content = content_text(item.get("content"))
            if role == "assistant":
                self._add_unpaid(self.turn(place, "assistant", "said", content, **common))
            elif role == "user":
                self._user(item, content, place, common)
            else:
                self.turn(place, "system", "injected", content, **common)
            self._messages[hash(content)] = tuple(str(turn.number) for turn in self.turns[before:])
        elif kind == "agent_message":
            content, author = content_text(item.get("content")), text(item.get("author"))
            self.turn(place, "user", "injected", content, speaker=author, **common)
        elif kind == "reasoning":
            content = content_text(item.get("summary")) or content_text(item.get("content"))
            self._add_unpaid(self.turn(place, "assistant", "thinking", content, **common))
        elif kind in _CALLS:
            arguments = next((item[key] for key in ("arguments", "input", "action") if item.get(key)), None)
            name = text(item.get("name")) or kind.removesuffix("_call")
            call = ToolCall(text(item.get("call_id") or item.get("id")), name, as_json(arguments))
            self._add_unpaid(self.turn(place, "assistant", "call", "", (call,), **common))
        elif kind.endswith("_output"):
            content, failed = _output(item.get("output"))
            answers = text(item.get("call_id"))
            self.turn(place, "tool", "result", content, answers=answers, failed=failed, **common)
        elif kind in ("compaction", "compaction_summary"):
            self._boundary(place, at, content_text(item.get("summary")), sealed=bool(item.get("encrypted_content")))

    def _user(self, item: Record, content: str, place: Place, common: dict[str, Any]) -> None:
        """Add a message in the user's role; another line states whether the user sent it."""
        sent = "".join(
            words
            for part in items(item.get("content"))
            if (words := text(part.get("text"))) and not words.lstrip().startswith(("<image", "</image"))
        )
        texts = [sent]
        blocks = _BLOCKS.match(content)
        begin = blocks.end() if blocks else 0
        if request := find_request(content, begin):
            texts.append(content[begin:])
            begin = request.end()
        if begin < len(content) or request:
            self.say(place, "user", "injected", content[: request.start() if request else begin].strip(), **common)
            content = content[begin:].strip() if begin else content
        put_in = _PUT_IN.match(content) is not None
        turn = self.turn(place, "user", "injected" if put_in else "said", content, **common)
        self._slot.append((turn.number, (*texts, content)))

    def _add_unpaid(self, turn: Turn) -> None:
        self._unpaid.append(turn)

    def _event(self, payload: Record) -> None:
        self.know(window=count(payload.get("model_context_window")))
        info = fields(payload.get("info"))
        kind = text(payload.get("type"))
        if kind == "user_message":
            self._typed.append((len(self.turns), _squeeze(text(payload.get("message")))))
        elif kind == "item_completed" and fields(payload.get("item")).get("type") == "UserMessage":
            parts = items(fields(payload.get("item")).get("content"))
            self._typed.append((len(self.turns), _squeeze("".join(text(part.get("text")) for part in parts))))
        elif kind in TASK_STARTS:
            self._starts.append(len(self.turns))
        elif kind == "thread_rolled_back":
            self._taken_back.append((len(self.turns), count(payload.get("num_turns"))))
        elif kind == "thread_name_updated":
            self.facts["title"] = text(payload.get("thread_name"))
        self.know(window=count(info.get("model_context_window")))
        total = count(fields(info.get("total_token_usage")).get("total_tokens"))
        last = fields(info.get("last_token_usage"))
        token_counts = (total, last.get("input_tokens"), last.get("cached_input_tokens"), last.get("output_tokens"))
        if kind != "token_count" or not last or repr(token_counts) == self._told:
            return
        self._told = repr(token_counts)
        if not last.get("input_tokens"):  # it tells the window that a compaction left
            self._record_tokens_left(count(last.get("total_tokens")))
            return
        output, cached = count(last.get("output_tokens")), last.get("cached_input_tokens")
        self._last = usage_with_cache(last.get("input_tokens"), output, cached)
        self._requests += 1
        for turn in self._unpaid:
            now = self.turns[turn.number - 1]
            self.change(now, usage=self._last, request=f"request {self._requests}", model=self._model)
        self._unpaid = []

    def _record_tokens_left(self, tokens: int) -> None:
        latest = next((turn for turn in reversed(self.turns) if turn.boundary), None)
        if latest is not None and latest.boundary is not None and latest.boundary.after is None and tokens:
            self.change(latest, boundary=replace(latest.boundary, after=tokens))

    def _read_compaction(self, payload: Record, place: Place, at: Any) -> None:
        history = payload.get("replacement_history")
        sealed = any(item.get("encrypted_content") for item in items(history)) and not payload.get("message")
        self._boundary(place, at, text(payload.get("message")), sealed=sealed, history=items(history))

    def _boundary(self, place: Place, at: Any, summary: str, *, sealed: bool, history: Sequence[Record] = ()) -> None:
        """Add a compaction and the contents of its window; preserved messages are identified by their words."""
        messages = [content_text(item.get("content")) for item in history if item.get("type") == "message"]
        message_ids = tuple(number for message in messages for number in self._messages.get(hash(message), ()))
        self.turn(
            place,
            "system",
            "boundary",
            "",
            at=instant(at),
            boundary=Boundary("", self._last.window + self._last.output or None, None, message_ids, (), True, sealed),
        )
        new = [message for message in messages if hash(message) not in self._messages and message.strip()]
        for words in [summary, *(message for message in new if message != summary)]:
            if words:
                self.turn(place, "assistant", "summary", words, at=instant(at))


def _squeeze(words: str) -> str:
    """Return words without blanks and line breaks, which the program writes differently in the same message."""
    return "".join(words.split())


def _output(output: Any) -> tuple[str, bool]:
    """Return a tool's output as text, and whether it failed: of a text, parts, or JSON with the exit status."""
    content = content_text(output)
    inner = parse_object(content) if content.startswith("{") else None
    if inner is not None and "output" in inner:
        return content_text(inner["output"]), fields(inner.get("metadata")).get("exit_code") not in (0, None)
    match = _EXIT.search(content[:400])
    return content, match is not None and match[1] != "0"


read: Final = partial(read_lines, _Reading)


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether lines are of Codex: wrapped ones of its types, or the first of a file without wrappers."""
    wrapped = ("session_meta", "response_item", "turn_context", "event_msg", "compacted")
    if any(record.get("type") in wrapped and isinstance(record.get("payload"), dict) for record in first):
        return True
    old = bool(first) and "instructions" in first[0] and "id" in first[0]
    return path.name.startswith("rollout-") and (old or any(record.get("type") in _ITEMS for record in first))


FORMAT: Final = SessionFormat(
    "codex",
    "Codex",
    "2026-11-28, 0.104 to 0.147",
    (".codex/sessions/**/rollout-*.jsonl*", ".codex/archived_sessions/**/rollout-*.jsonl*"),
    recognises,
    read,
    ListMarks(
        re.compile(rb'"type"\s*:\s*"(?:user_message|UserMessage)"'),
        re.compile(rb'"type"\s*:\s*"compacted"'),
        re.compile(rb'"type"\s*:\s*"item_started"'),
        id=re.compile(rb'(?<!\\)"id"\s*:\s*"([\w-]+)"'),
        side=re.compile(
            rb'(?<!\\)"(?:parent_thread_id"\s*:\s*"|(?:thread_)?source"\s*:\s*(?:\{\s*)?"(?:subagent|internal"\s*:))'
        ),
        titles=(re.compile(rb'"thread_name"\s*:\s*("(?:[^"\\]|\\.)*")'),),
        failed=re.compile(
            rb'"output"\s*:\s*"(?:(?:(?!(?:exited with code|Exit code:) \d)(?:[^"\\]|\\.)){0,400}'
            rb'(?:exited with code|Exit code:) [1-9]|\{\\"output\\".{0,200000}?\\"exit_code\\":[1-9])'
        ),
    ),
    read_end=read,
)

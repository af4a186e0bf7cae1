"""Choose the reader of a file by its name's suffix; and read what has a structure of its own: conversations
in JSON Lines, and source code (Python by its syntax tree, other languages by blocks that begin unindented).
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Final, Protocol

from amgs.clock import UNPLACED
from amgs.ingest.document import ParsedDocument, UnfitError, Utterance, decode
from amgs.ingest.readers import documents, notes
from amgs.ingest.readers.line_ranges import PassageList, runs
from amgs.text.intervals import note_date

_SPEAKER = ("speaker", "name", "author", "sender", "from", "user", "role")
_TEXT = ("text", "content", "message", "body", "value")
_DATE = ("date", "timestamp", "time", "created_at", "at", "ts", "datetime")
_LISTS = ("messages", "conversations", "conversation", "turns")
_QUESTION = "it is a question, not a message"
_MOST_TOLD = 5
_MILLISECONDS = 1e11
"""A larger number is a time in milliseconds since 1970, not seconds."""


def read_chat(raw: bytes) -> ParsedDocument:
    """See `Reader`. Lines that are not messages are listed as warnings; a file without messages, or of test questions,
    is refused.

    JSON Lines: a message per line (`role` and `content`, or `speaker`, `text` and `date`), or a conversation per line
    (`messages` or `conversations`).
    """
    text, guess = decode(raw)
    turns: list[Utterance] = []
    wrong: list[tuple[int, str]] = []
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    for session, (number, line) in enumerate(lines, 1):
        try:
            turns += _of_line(json.loads(line), session)
        except (ValueError, RecursionError) as error:
            wrong.append((number, str(error) if isinstance(error, UnfitError) else "it is no JSON"))
    if not turns and wrong and all(why == _QUESTION for _, why in wrong):
        raise UnfitError("it holds questions with their answers, to test a memory with, and no text to remember")
    if not turns:
        raise UnfitError("none of its lines is a message with a text, as {role, content} or {speaker, text, date}")
    warnings = [guess] if guess else []
    warnings += [f"line {number} was left out: {why}" for number, why in wrong[:_MOST_TOLD]]
    if len(wrong) > _MOST_TOLD:
        warnings.append(f"{len(wrong) - _MOST_TOLD} more lines were left out")
    first = next((turn.at for turn in turns if turn.at is not None), None)
    return ParsedDocument(text, turns=tuple(turns), date=first, warnings=tuple(warnings), meta={"kind": "dialogue"})


def _of_line(record: Any, session: int) -> Iterator[Utterance]:
    """Yield the messages of a line. Raises UnfitError if it has none."""
    if not isinstance(record, Mapping):
        raise UnfitError("it is no object")
    inside = next((record[key] for key in _LISTS if isinstance(record.get(key), list)), None)
    if inside is not None:
        utterances = [
            m for entry in inside if isinstance(entry, Mapping) and (m := _message(entry, {"session": session}))
        ]
    else:
        utterance = _message(record, {})
        utterances = [utterance] if utterance else []
    if not utterances:
        raise UnfitError(_QUESTION if _text(record.get("question")) else "it holds no text")
    yield from utterances


def _message(record: Mapping[str, Any], meta: Mapping[str, Any]) -> Utterance | None:
    """Return a record as a message; None if it has no text."""
    text = next((t for key in _TEXT if (t := _text(record.get(key)))), "")
    if not text:
        return None
    speaker = next((_read_name(record[key]) for key in _SPEAKER if _read_name(record.get(key))), "")
    at = next((i for key in _DATE if (i := _instant(record.get(key))) is not None), None)
    return Utterance(speaker, text, at, meta)


def _text(value: Any) -> str:
    """Return a text, or the joined texts of a list of parts."""
    if isinstance(value, list):
        return "\n".join(t for part in value if (t := _text(part.get("text") if isinstance(part, Mapping) else part)))
    return value.strip() if isinstance(value, str) else ""


def _read_name(value: Any) -> str:
    if isinstance(value, Mapping):
        value = value.get("name")
    return " ".join(value.split())[:60] if isinstance(value, str) else ""


def _instant(value: Any) -> datetime | None:
    try:
        if isinstance(value, bool) or value is None:
            return None
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UNPLACED)
        at = note_date(value) if isinstance(value, str) else None
        return at.replace(tzinfo=UNPLACED) if at is not None and value.strip().endswith(("Z", "z")) else at
    except (OverflowError, ValueError, OSError):
        return None


LANGUAGES = {
    ".py": "Python", ".pyi": "Python", ".js": "JavaScript", ".mjs": "JavaScript", ".jsx": "JavaScript",
    ".ts": "TypeScript", ".tsx": "TypeScript", ".java": "Java", ".kt": "Kotlin", ".scala": "Scala", ".go": "Go",
    ".rs": "Rust", ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".hpp": "C++", ".cs": "C#", ".swift": "Swift",
    ".rb": "Ruby", ".php": "PHP", ".pl": "Perl", ".lua": "Lua", ".r": "R", ".jl": "Julia", ".sh": "Shell",
    ".sql": "SQL", ".hs": "Haskell", ".ex": "Elixir", ".erl": "Erlang", ".el": "Emacs Lisp", ".clj": "Clojure",
}  # fmt: skip

_DEFINITION = re.compile(
    r"^(?:(?:pub(?:\([^)]*\))?|export|default|public|private|protected|internal|static|abstract|final|async|const|unsafe|"
    r"extern|inline|open|data|sealed|override|virtual|local)\s+)*"
    r"(?:fn|func|function|def|class|struct|enum|trait|interface|impl|type|module|object|record|protocol|extension|"
    r"namespace|defmodule|defn|sub|create\s+(?:or\s+replace\s+)?(?:table|view|function|procedure|index))\b"
    r"\s*(?:<[^>]*>\s*)?[\w.:$\"`]*",
    re.IGNORECASE,
)
_CALLABLE = re.compile(r"^[A-Za-z_][\w\s*&:<>,~]*?\b(\w+)\s*\([^;]*$")
_CONTINUES = re.compile(r"^[)\]}]|^(?:else|elif|end|catch|finally|except|then|do|esac|fi|done)\b")
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_LARGE_CLASS = 60
"""From this many lines on, the methods of a class are passages of their own."""


def read_code(raw: bytes, *, language: str) -> ParsedDocument:
    """See `Reader`."""
    text, guess = decode(raw)
    if not text.strip():
        raise UnfitError("it is empty")
    remarks = [guess] if guess else []
    passages = PassageList(text)
    if language == "Python":
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
            _add_python(passages, tree.body, 0, len(passages.lines), 1)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            where = f" (line {error.lineno})" if isinstance(error, SyntaxError) and error.lineno else ""
            remarks.append(f"its Python cannot be parsed{where}; it was cut at blank lines")
            passages = PassageList(text)
    if not passages.items:
        _add_blocks(passages)
    return ParsedDocument(
        text, tuple(passages.items), meta={"language": language}, warnings=tuple(remarks), first_line=1, form="code"
    )


def _add_python(passages: PassageList, body: Sequence[ast.stmt], first: int, end: int, level: int) -> None:
    """Add each function and class as a section, with its comments and decorators; the rest as paragraphs."""
    done = first
    for statement in body:
        if not isinstance(statement, _Definition):
            continue
        begin = min([statement.lineno, *(d.lineno for d in statement.decorator_list)]) - 1
        while begin > done and passages.lines[begin - 1].lstrip().startswith("#"):
            begin -= 1
        stop = statement.end_lineno or statement.lineno
        if begin < done:
            continue  # several statements on a single line
        _add_other_lines(passages, done, begin, level)
        name = f"class {statement.name}" if isinstance(statement, ast.ClassDef) else f"{statement.name}()"
        inner = [s for s in statement.body if isinstance(s, _Definition)]
        if isinstance(statement, ast.ClassDef) and inner and stop - begin > _LARGE_CLASS:
            head = inner[0].lineno - 1
            head = min([head, *(d.lineno - 1 for d in inner[0].decorator_list)])
            while head > begin + 1 and passages.lines[head - 1].lstrip().startswith("#"):
                head -= 1
            passages.section(begin, head, level, name)
            _add_python(passages, [s for s in statement.body if s.lineno > head], head, stop, level + 1)
        else:
            passages.section(begin, stop, level, name)
        done = stop
    _add_other_lines(passages, done, end, level)


def _add_other_lines(passages: PassageList, first: int, end: int, level: int) -> None:
    """Add the lines between definitions to the enclosing section."""
    if any(passages.lines[i].strip() for i in range(first, end)):
        passages.outline.leave(level)
        for start, stop in runs(passages.lines, first, end):
            passages.add(start, stop, whole=True)


def _add_blocks(passages: PassageList) -> None:
    """Add blocks: each begins unindented after a blank line; indented lines and closing brackets belong to the block
    before.
    """
    begin = 0
    for start, _ in runs(passages.lines, 0, len(passages.lines)):
        line = passages.lines[start]
        if start > begin and not line[0].isspace() and not _CONTINUES.match(line):
            _add_block(passages, begin, start)
            begin = start
    _add_block(passages, begin, len(passages.lines))


def _add_block(passages: PassageList, first: int, end: int) -> None:
    """Add lines [first, end) as a section if any of the first 40 defines something, else as a passage."""
    name = next((n for i in range(first, min(end, first + 40)) if (n := _find_defined_name(passages.lines[i]))), "")
    if name:
        passages.section(first, end, 1, name)
    else:
        passages.outline.leave(1)
        passages.add(first, end, whole=True)


def _find_defined_name(line: str) -> str:
    """Return what an unindented line defines; "" if nothing."""
    if not line or line[0].isspace():
        return ""
    if match := _DEFINITION.match(line):
        return " ".join(match[0].split())
    match = _CALLABLE.match(line)
    return f"{match[1]}()" if match and match[1] not in ("if", "for", "while", "switch", "return") else ""


class Reader(Protocol):
    """Turns a file's bytes into a document.

    Raises UnfitError with the reason if it cannot read the file, MissingExtraError if a package is missing.
    """

    def __call__(self, raw: bytes) -> ParsedDocument: ...


READERS: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        ".md": notes.read_markdown,
        ".markdown": notes.read_markdown,
        **dict.fromkeys((".txt", ".rst", ".org", ".eml"), notes.read_plain),
        ".jsonl": read_chat,
        ".ndjson": read_chat,
        **{ending: partial(documents.read, ending=ending) for ending in documents.ENDINGS},
        **{ending: partial(read_code, language=language) for ending, language in LANGUAGES.items()},
    }
)
"""Readers by the suffix of a file name, in lower case."""


def reader_of(name: str) -> Reader | None:
    """Return the reader for a file name; None if the file is not a note.

    A name without a suffix (README, LICENSE) is read as plain text.
    """
    ending = PurePosixPath(name).suffix.lower()
    return READERS.get(ending) if ending else notes.read_plain

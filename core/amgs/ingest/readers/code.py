"""Read source code by its structure: Python by its syntax tree, other languages by blocks that begin unindented."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence

from amgs.ingest.document import ParsedDocument, UnfitError, decode
from amgs.ingest.readers.line_ranges import PassageList, runs

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


def read(raw: bytes, *, language: str) -> ParsedDocument:
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
    if not passages.made:
        _add_blocks(passages)
    return ParsedDocument(
        text, tuple(passages.made), meta={"language": language}, warnings=tuple(remarks), first_line=1, form="code"
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
            continue  # several statements on one line
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
    """Add lines [first, end) as a section if one of the first 40 defines something, else as a passage."""
    name = next((n for i in range(first, min(end, first + 40)) if (n := _name(passages.lines[i]))), "")
    if name:
        passages.section(first, end, 1, name)
    else:
        passages.outline.leave(1)
        passages.add(first, end, whole=True)


def _name(line: str) -> str:
    """Return what an unindented line defines; "" if nothing."""
    if not line or line[0].isspace():
        return ""
    if match := _DEFINITION.match(line):
        return " ".join(match[0].split())
    match = _CALLABLE.match(line)
    return f"{match[1]}()" if match and match[1] not in ("if", "for", "while", "switch", "return") else ""

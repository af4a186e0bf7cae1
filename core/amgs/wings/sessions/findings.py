"""Find what of a turn may be needed again: paths, numbers, ids, commands, decisions, constraints, errors; and
what a shell command shows, writes or searches.

Found by rules: paths and commands that were used or mentioned, not every line of a listing; numbers and ids in messages
or errors.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast, get_args

from amgs.sessions.lines import Record, parse_object, text
from amgs.sessions.turn import Turn

Kind = Literal["read", "search", "write", "run", "aside"]
_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1([^\n]*)\n.*?(?:^[ \t]*\2[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_PATCHED = re.compile(r"\*\*\* (?:(?:Update|Add|Delete) File|Move to): (.+?)\s*(?:\\n|\\r|\n|$)")
_READERS: Final = ("cat", "head", "tail", "sed", "less", "more", "bat", "batcat", "nl", "tac")
_SEARCHERS: Final = ("rg", "grep", "egrep", "fgrep", "ack", "ag", "find", "fd", "ls", "tree")
_FILTERS: Final = (*_READERS, "sort", "uniq", "wc", "cut", "tr", "column", "jq", "xargs", "awk")
_ASIDE: Final = ("cd", "pushd", "popd", "pwd", "echo", "printf", "true", ":", "set", "export", "sleep", "clear")
_WRAPPERS: Final = ("sudo", "time", "env", "command", "nice", "nohup", "stdbuf", "timeout", "exec")
_STRONGEST: Final[tuple[Literal["run", "write", "search", "read"], ...]] = ("run", "write", "search", "read")
_VALUED: Final = ("-n", "-c", "-e", "-f", "-b", "-r", "-w", "--lines", "--bytes", "--expression", "--line-range")
"""Options of readers that are followed by a value."""


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command. words: without redirections. folder: where it runs, "" if unknown. written: files that its
    output goes to. piped: its input is the previous command's output.
    """

    words: tuple[str, ...]
    folder: str
    written: tuple[str, ...] = ()
    piped: bool = False


@dataclass(frozen=True, slots=True)
class CommandUse:
    """What a whole command does; see `use_of`. targets: files, with the folder of the call."""

    kind: Literal["read", "search", "write", "run"]
    targets: tuple[str, ...]
    commands: tuple[Command, ...]


def use_of(command_line: str, folder: str = "") -> CommandUse:
    """Return what a command does: it runs something if any part does; else it writes, searches or reads."""
    commands = tuple(commands_in(command_line, folder))
    if files := find_patched_files(command_line):
        return CommandUse("write", tuple(_below(folder, file) for file in files), commands)
    uses = [_simple_use(command) for command in commands]
    for kind in _STRONGEST:
        if any(use == kind for use, _ in uses):
            targets = tuple(dict.fromkeys(file for use, files in uses if use == kind for file in files))
            return CommandUse(kind, targets, commands)
    return CommandUse("run", (), commands)


def find_patched_files(text: str) -> list[str]:
    """Return the files named in a patch in the form of `apply_patch`, also a patch inside JSON."""
    return list(dict.fromkeys(_PATCHED.findall(text))) if "*** " in text else []


def commands_in(command_line: str, folder: str = "") -> Iterator[Command]:
    """Yield the simple commands of a command line, including those in `bash -c`; nothing if it cannot be split.

    It uses `shlex`, for the shells of all programs; bashlex, which parses all of bash, is under the GPL.
    """
    lexer = shlex.shlex(_HEREDOC.sub(r" \3\n", command_line), posix=True, punctuation_chars=";&|<>()\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        tokens = list(lexer)
    except ValueError:  # an unclosed quote
        return
    words: list[str] = []
    written: list[str] = []
    piped = into = False
    for token in [*tokens, ";"]:
        if token and not token.strip("<>&") and set(token) & {"<", ">"}:
            if words and words[-1].isdigit():
                words.pop()
            into = True
            discarded = ">" not in token or token.endswith("&")
        elif token and not token.strip(";&|()\n"):
            for command in _unwrap_command(tuple(words), folder, tuple(written), piped):
                if command.words[0] in ("cd", "pushd") and len(command.words) > 1:
                    folder = _below(folder, command.words[1])
                yield command
            words, written, piped, into = [], [], token == "|", False
        elif into:
            if not discarded and not token.startswith("/dev/"):
                written.append(token)
            into = False
        else:
            words.append(token)


def _unwrap_command(words: tuple[str, ...], folder: str, written: tuple[str, ...], piped: bool) -> Iterator[Command]:
    """Yield a command without preceding variables and wrapper programs; of a shell with `-c`, the
    commands in its text.
    """
    while words and (words[0] in _WRAPPERS or re.match(r"\w+=", words[0])):
        words = words[1:]
        while words and (words[0].startswith("-") or re.fullmatch(r"[\d.]+[smh]?", words[0])):
            words = words[1:]
    if not words:
        return
    program = words[0].rsplit("/", 1)[-1]
    if program in ("bash", "sh", "zsh", "dash") and len(words) > 2 and re.fullmatch(r"-\w*c", words[1]):
        yield from commands_in(words[2], folder)
    else:
        yield Command((program, *words[1:]), folder, written, piped)


def _simple_use(command: Command) -> tuple[Kind, list[str]]:
    """Return what a simple command does, and to which files."""
    program, *rest = command.words
    if program == "git":
        return _git_use(command, rest)
    if program == "tee" or (program == "sed" and any(re.match(r"-\w*i|--in-place", word) for word in rest)):
        files = [word for word in rest if not word.startswith("-")][program == "sed" :]
        return "write", [_below(command.folder, file) for file in files]
    if command.written and program in (*_FILTERS, *_ASIDE):
        return "write", [_below(command.folder, file) for file in command.written]
    if program in _SEARCHERS:
        acts = program == "find" and {"-delete", "-exec", "-execdir"} & set(rest)
        return ("run" if acts else "search"), []
    if program in _READERS:
        files = _files_of(program, rest)
        return ("read" if files else "aside"), [_below(command.folder, file) for file in files]
    if program in _ASIDE or (command.piped and program in _FILTERS and program != "xargs"):
        return "aside", []
    return "run", []


def _git_use(command: Command, rest: Sequence[str]) -> tuple[Kind, list[str]]:
    """Return what a git command does, and to which files."""
    words = [word for word in rest if not word.startswith("-")]
    if words[:1] == ["grep"] or words[:1] == ["ls-files"]:
        return "search", []
    if words[:1] == ["show"] and len(words) == 2 and ":" in words[1]:
        return "read", [_below(command.folder, words[1].partition(":")[2])]
    return "run", []


def _files_of(program: str, rest: Sequence[str]) -> list[str]:
    """Return the files among a reader's arguments, without options and their values, and without the script of sed."""
    files: list[str] = []
    scripts = program == "sed" and not any(word.startswith(("-e", "--expression", "-f")) for word in rest)
    skip = False
    for word in rest:
        if skip:
            skip = False
        elif word.startswith("-") and len(word) > 1:
            skip = word in _VALUED and not (program in ("sed", "cat") and word == "-n")
        elif scripts:
            scripts = False
        elif word != "-" and not re.fullmatch(r"\+?\d+", word):
            files.append(word)
    return files


def _below(folder: str, path: str) -> str:
    """Return the path joined to the folder."""
    return posixpath.normpath(posixpath.join(folder, path)) if path else path


FindingClass = Literal["path", "number", "id", "command", "decision", "constraint", "error"]
FINDING_CLASSES: tuple[FindingClass, ...] = get_args(FindingClass)

_PATH = re.compile(
    r"(?<![\w@:/.-])(?:~|\.{1,2})?/?(?:[\w@.+-]+/)+[\w@.+-]*\w|(?<![\w@/.-])[\w.-]*\w\.[a-z]\w{0,5}(?![\w/(])"
)
_EXTENSION = re.compile(
    r"\.(?:astro|c|cc|cfg|cjs|conf|cpp|cs|css|csv|cts|dart|env|erl|exs?|go|gradle|heex|hpp|h|hs|html?|ini|ipynb|java|jsx?"
    r"|jsonl?|json5|kts?|less|lock|log|lua|md|mdx|mjs|mts|php|png|prisma|proto|ps1|pyi?|rb|rs|sass|scala|scss|sh|sql|svelte"
    r"|svg|swift|tf|toml|tsx?|txt|vue|wasm|xml|ya?ml|zig)$|^(?:Dockerfile|Makefile)$"
)
_NUMBER = re.compile(r"(?<![\w.#-])\d[\d,]*(?:\.\d+)?(?:\s?(?:%|ms|s|MB|GB|KB|px|k))?(?![\w.-]|\.\d)")
_ID = re.compile(
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b"
    r"|(?<![\w/])#\d{1,6}\b|\b[A-Z]{2,8}-\d{1,6}\b"
)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+(?!\s|$)[^.!?\n]+)*[.!?]*")
_DECISION = re.compile(
    r"\b(?:decided|we(?:'ll| will)? (?:go|use|keep|drop|stick)|let'?s (?:go|use|keep|drop)"
    r"|I(?:'ll| will) (?:use|keep|go|drop|implement)|instead of|chose|going with|agreed"
    r"|the (?:fix|plan|approach|root cause) is)\b",
    re.IGNORECASE,
)
_CONSTRAINT = re.compile(
    r"\b(?:must(?: not|n't)?|never|always|do(?:n't| not)|only|make sure|ensure|should(?:n't| not)|has to|have to"
    r"|needs? to|required?|without|no longer|avoid|allow(?:ed)?|forbidden)\b",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"^(?!\s*\d+\s*[→│|:-]).*(?:\b\w*(?:Error|Exception)\b(?!\()|\berror(?:\[\w+\]| TS\d+)?:|\bFAIL(?:ED)?\b|\bfatal:"
    r"|\bpanicked at|command not found|✗|✘).*$",
    re.MULTILINE,
)
"""Does not match lines that begin with their number, as in a file listing."""
_HEADING = re.compile(r"^#{1,6}\s.*$|^\s*[\d.]+\s", re.MULTILINE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_LONGEST: Final = 20_000
"""Characters of a turn that are searched; longer ones are tool output, which reports errors first."""
SHELLS: Final = (
    "bash",
    "exec_command",
    "shell",
    "shell_command",
    "exec",
    "run_command",
    "run_in_terminal",
    "local_shell",
    "run_shell_command",
    "execute_command",
    "terminal",
)
"""Tools that run a command, in lower case."""


@dataclass(frozen=True, slots=True)
class SessionFinding:
    """A finding in a turn, verbatim."""

    kind: FindingClass
    text: str
    turn: int


@dataclass(frozen=True, slots=True)
class AgentAction:
    """What a call does, by its tool and arguments. tool: in lower case.

    kind: read a file, run a command, search, write a file, or other. target: the file, command or pattern. targets: all
    files that it reads or writes, in the folder in which it runs, if known. commands: words of each simple command that
    it runs.
    """

    kind: Literal["read", "run", "search", "write", "other"]
    tool: str
    target: str
    targets: tuple[str, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()


def action_of(turn: Turn) -> AgentAction | None:
    """Return what the call in a turn does; None if there is no call."""
    if not turn.calls:
        return None
    call = turn.calls[0]
    tool = call.name.lower()
    arguments: Record = parse_object(call.arguments) or {}
    path = _first(
        arguments, "file_path", "filePath", "absolute_path", "path", "filename", "notebook_path", "target_file"
    )
    command = _command(arguments.get("command", arguments.get("cmd", arguments.get("script"))))
    if tool in SHELLS or tool.endswith("_shell") or (command and not path):
        return _shell_action(tool, arguments, command or call.arguments)
    if path and command in ("view", "create", "str_replace", "insert", "undo_edit"):  # Anthropic's editor
        return AgentAction("read" if command == "view" else "write", tool, path, (path,))
    if tool in (
        "grep",
        "glob",
        "search_file_content",
        "search",
        "find",
        "codebase_search",
        "grep_search",
        "search_files",
    ):
        wanted = _first(arguments, "pattern", "query", "regex", "glob_pattern", "path")
        return AgentAction("search", tool, wanted)
    if path and any(word in tool for word in ("edit", "write", "replace", "patch", "create", "insert")):
        return AgentAction("write", tool, path, (path,))
    if tool in ("apply_patch", "applypatch", "patch") and (files := find_patched_files(call.arguments)):
        return AgentAction("write", tool, files[0], tuple(files))
    if path and ("read" in tool or tool in ("view", "view_file", "open", "cat")):
        return AgentAction("read", tool, path, (path,))
    return AgentAction("other", tool, path)


def _shell_action(tool: str, arguments: Record, command_line: str) -> AgentAction:
    """Return what a command does, or the commands that a script of Codex's `exec` calls."""
    folder = _first(arguments, "workdir", "cwd", "working_directory", "dir_path", "directory")
    scripts = [] if arguments else [*_read_shell_calls(command_line)]
    uses = [use_of(command, within or folder) for command, within in scripts or [(command_line, folder)]]
    if files := find_patched_files(command_line):
        return AgentAction("write", tool, files[0], tuple(dict.fromkeys(t for use in uses for t in use.targets)))
    kind = next(kind for kind in ("run", "write", "search", "read") if any(use.kind == kind for use in uses))
    targets = tuple(dict.fromkeys(target for use in uses if use.kind == kind for target in use.targets))
    commands = tuple(command.words for use in uses for command in use.commands)
    plain = " ".join("; ".join(command for command, _ in scripts).split() or command_line.split())
    without_cd = re.sub(r"^cd\s+\S+\s*(?:&&|;)\s*", "", plain)
    shown = targets[0] if targets and kind in ("read", "write") else without_cd
    return AgentAction(cast(Any, kind) if without_cd else "other", tool, shown, targets, commands)


_CALLED = re.compile(
    r"(?:\bcmd|\"cmd\"|\bcommand|\"command\")\s*:\s*(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`)", re.DOTALL
)
_FOLDER = re.compile(r"(?:\bworkdir|\"workdir\")\s*:\s*(\"(?:[^\"\\]|\\.)*\"|'[^']*'|`[^`]*`)")


def _read_shell_calls(script: str) -> Iterator[tuple[str, str]]:
    """Yield (command, folder) of each shell call in a script."""
    places = [*_CALLED.finditer(script)]
    for number, match in enumerate(places):
        end = places[number + 1].start() if number + 1 < len(places) else len(script)
        rest = script[match.end() : end]
        folder = _FOLDER.search(rest)
        yield _read_literal(match[1]), _read_literal(folder[1]) if folder else ""


def _read_literal(literal: str) -> str:
    """Return the value of a string literal."""
    try:
        return text(json.loads(literal)) if literal[0] == '"' else literal[1:-1].replace("\\n", "\n")
    except ValueError:
        return literal[1:-1]


def findings_in(turn: Turn) -> Iterator[SessionFinding]:
    """Yield the findings of a turn, each once."""
    seen: set[tuple[str, str]] = set()
    for kind, raw_text in _find(turn):
        plain = " ".join(raw_text.split()).strip(" .,;:`'\"()")
        if plain and (kind, plain) not in seen:
            seen.add((kind, plain))
            yield SessionFinding(kind, plain, turn.number)


def _find(turn: Turn) -> Iterator[tuple[FindingClass, str]]:
    passage = turn.text[:_LONGEST]
    action = action_of(turn)
    if action is not None:
        if action.kind == "run" and len(action.target) <= 400:
            yield "command", action.target
        elif action.kind in ("read", "write") and action.target:
            yield "path", action.target
        return
    if turn.kind == "result":
        if turn.failed or _ERROR.search(passage[:2_000]):
            for n, match in enumerate(_ERROR.finditer(passage)):
                if n < 3 and len(match[0]) < 400:
                    yield "error", match[0]
        return
    if turn.kind not in ("said", "summary"):
        return
    yield from (("path", path) for path in paths_in(passage))
    yield from (("id", match[0]) for match in _ID.finditer(passage))
    yield from (("number", number) for number in numbers_in(passage))
    for match in _SENTENCE.finditer(passage):
        sentence = match[0].strip()
        if not 12 <= len(sentence) <= 500:
            continue
        if turn.role == "user" and _CONSTRAINT.search(sentence):
            yield "constraint", sentence
        elif _DECISION.search(sentence) and not sentence.endswith("?"):
            yield "decision", sentence


def paths_in(passage: str) -> Iterator[str]:
    """Yield paths and file names in a text: with an extension, or with several slashes."""
    for match in _PATH.finditer(passage):
        path = match[0].rstrip(".")
        name = path.rsplit("/", 1)[-1]
        if _EXTENSION.search(name) or (path.count("/") > 1 and not path[0].isdigit()):
            yield path


def numbers_in(passage: str) -> Iterator[str]:
    """Yield significant numbers: three digits or more, or with a unit or fraction; no years."""
    for match in _NUMBER.finditer(_HEADING.sub("", passage)):
        digits = re.sub(r"\D", "", match[0])
        if (len(digits) >= 3 or not match[0].isdigit()) and len(digits) > 1 and not _YEAR.fullmatch(match[0]):
            yield match[0]


def sentences_in(passage: str) -> Iterator[str]:
    """Return the sentences and lines of a text."""
    return (match[0].strip() for match in _SENTENCE.finditer(passage))


def is_constraint(sentence: str) -> bool:
    """Return whether a sentence states a requirement or prohibition."""
    return _CONSTRAINT.search(sentence) is not None


def _first(arguments: Record, *names: str) -> str:
    return next((argument for name in names if (argument := text(arguments.get(name)))), "")


def _command(command: Any) -> str:
    """Return a command as a single text; of a list, without the shell that runs it."""
    if isinstance(command, list):
        words = [text(word) for word in command]
        return words[-1] if len(words) > 1 and words[0].rsplit("/", 1)[-1] in ("bash", "sh", "zsh") else " ".join(words)
    return text(command)

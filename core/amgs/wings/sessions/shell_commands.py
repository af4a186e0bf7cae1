"""Find what a shell command does from its text: which files it shows or writes, or that it searches.

One parser for all programs, based on `shlex` for words and quotes; bashlex, which parses all of bash, is under the GPL.
A command that cannot be split counts as running something.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

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
    """Return the files named in a patch in the form of `apply_patch`, also one inside JSON."""
    return list(dict.fromkeys(_PATCHED.findall(text))) if "*** " in text else []


def commands_in(command_line: str, folder: str = "") -> Iterator[Command]:
    """Yield the simple commands of a command line, including those in `bash -c`; nothing if it cannot be split."""
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

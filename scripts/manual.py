"""The man page amgs.1, written from the registry of commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amgs_app import __version__
from amgs_app.calls.operation import Operation
from amgs_app.calls.registry import PANELS, standard
from amgs_app.terminal.output import ExitCode


def page() -> str:
    """The man page in the man macros of roff."""
    return "".join(f"{line}\n" for line in _lines())


def _lines() -> Iterator[str]:
    from amgs_app.calls.plain_values import SHARED_OPTIONS, flag_of

    yield f'.TH AMGS 1 "" "amgs {__version__}" "User Commands"'
    yield from (".SH NAME", r"amgs \- watch an agent's memory live", ".SH SYNOPSIS")
    yield from (r".B amgs", r"[\fIOPTION\fR]... [\fICOMMAND\fR [\fIARGUMENT\fR]...]", ".SH DESCRIPTION")
    yield _text("Without a command, opens the workstation. Every other command can also be typed in the workstation,")
    yield _text("in `amgs shell` and in scripts.")
    yield ".SH OPTIONS"
    for name, (takes, about) in SHARED_OPTIONS.items():
        yield from (
            ".TP",
            rf"\fB{_text(flag_of(name))}\fR" + (rf" \fI{_text(takes)}\fR" if takes else ""),
            _text(about),
        )
    yield ".SH COMMANDS"
    nouns = standard().nouns()
    for heading, words in PANELS.items():
        yield f".SS {_text(heading)}"
        for word in words:
            for operation in nouns.get(word, ()):
                yield from _command(operation)
    yield from (".SS Ways to work", ".TP", r"\fBrun\fR \fISCRIPT\fR", "Run a script headlessly.")
    yield from (".TP", r"\fBshell\fR", "Open a prompt for commands.")
    yield from (".TP", r"\fBserve\-web\fR", "Serve the workstation to a browser on this machine.")
    yield ".SH EXIT STATUS"
    for code in ExitCode:
        yield from (".TP", f".B {int(code)}", _text(code.meaning))


def _command(operation: Operation[..., Any]) -> Iterator[str]:
    yield from (".TP", rf"\fB{_text(operation.usage())}\fR", _text(operation.summary))
    if operation.example:
        yield from (".br", rf"Example: \fB{_text(f'amgs {operation.example}')}\fR")
    for parameter in operation.parameters:
        if parameter.is_option and parameter.help:
            yield from (".br", rf"\fI{_text(', '.join(parameter.flags))}\fR: {_text(parameter.help)}")


def _text(words: str) -> str:
    """Text as roff prints it: hyphens stay hyphens, and nothing at the start of a line is a request."""
    safe = words.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{safe}" if safe.startswith((".", "'")) else safe

"""What is said at a terminal: text that is safe to print (the only place for this), error messages of Typer and
pydantic in plain sentences, whether a screen can be drawn, and exit codes, which help, man page and documents show.
"""

from __future__ import annotations

import os
import re
import sys
from enum import IntEnum
from typing import IO, TYPE_CHECKING, Any, Final, Literal, TypeGuard

from amgs_app.terminal.line import near

if TYPE_CHECKING:
    from pydantic import BaseModel


UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""C0 controls except line feed and tab, DEL, C1 controls, direction overrides and isolates, lone surrogates."""


def printable(text: str) -> str:
    """Escape what could control a terminal; line feeds and tabs stay.

    All text for people passes here: tables, CSV, errors, progress, figures and the screen.
    """
    return text if text.isprintable() else UNSAFE.sub(_escape_character, text)


def printable_line(text: str) -> str:
    """Escape likewise and collapse white space, for a line."""
    return printable(" ".join(text.split()))


def in_json(text: str) -> str:
    """Escape the same characters in JSON, which itself requires only the first 32 to be escaped."""
    return text if text.isprintable() else UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _escape_character(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


_KINDS: Final = (
    (r".*valid integer.*|.*as an integer.*", "takes a whole number"),
    (r".*valid number.*|.*as a number.*|.*finite number.*", "takes a number"),
    (r".*valid datetime.*|.*valid date.*", "takes a day or an instant, as 2026-03-01 or 2026-03-01T09:00:00Z"),
    (r".*valid boolean.*", "takes true or false"),
    (r".*valid dictionary.*", "takes a table"),
    (r".*valid string.*", "takes a text"),
    (r".*at least 1 character.*", "takes a text that is not empty"),
    (r".*valid (?:list|tuple|array).*", "takes a list"),
    (r"Field required", "is missing"),
    (r"Extra inputs are not permitted", "is not known here"),
    (r"(?:String|List|Dictionary) should have (at (?:least|most) \d+ \w+).*", r"takes \1"),
    (r"Input should be ('.+)", r"takes one of \1"),
    (r"Input should be greater than or equal to (.+)", r"takes \1 or more"),
    (r"Input should be less than or equal to (.+)", r"takes \1 at most"),
    (r"Input should be greater than (.+)", r"takes more than \1"),
    (r"Input should be less than (.+)", r"takes less than \1"),
    (r"'(.*)' is not one of (.+)", r"takes one of \2, not '\1'"),
)
"""Patterns of messages about a value, and the words that replace them after the name of what takes the value."""
_WHOLE: Final = (
    (r"Option '(.+)' requires an argument", r"\1 takes a value"),
    (
        r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)",
        r"Too many words: \1. Several words that belong together go in quotes",
    ),
)
_OPTION: Final = re.compile(r"No such option: (\S+)(?: \((?:Did you mean|Possible options:) (.+?)\??\))?\.?")
_LEFT: Final = {"--top-k": ("--limit",)}
"""Options of earlier versions, and their present names."""
_VALUE: Final = re.compile(r"Invalid value for '(.+?)': (.*)", re.DOTALL)


def say_value(name: str, message: str) -> str:
    """Return what is wrong with the value of an option, argument or setting, without a full stop."""
    message = message.removeprefix("Value error, ").rstrip(".")
    if message.startswith("takes "):
        return f"{name} {message}"
    for pattern, words in _KINDS:
        if re.fullmatch(pattern, message, re.DOTALL):
            return f"{name} {re.sub(pattern, words, message, count=1, flags=re.DOTALL)}"
    return f"{name}: {message}"


def say_usage(message: str) -> str:
    """Return what is wrong with a command line, in sentences."""
    message = " ".join(message.split())
    if option := _OPTION.fullmatch(message):
        near_words = near(option[1].lstrip("-"), [name.lstrip("-") for name in (option[2] or "").split(", ") if name])
        meant = _LEFT.get(option[1]) or [f"--{name}" for name in near_words]
        asked = f" Did you mean {' or '.join(meant)}?" if meant else ""
        return f"There is no option {option[1]}.{asked}"
    value = _VALUE.fullmatch(message)
    if value is not None:
        message = say_value(value[1].replace("' / '", " or "), value[2])
    else:
        message = message.rstrip(".")
        for pattern, words in _WHOLE:
            message = re.sub(f"^(?:{pattern})$", words, message)
    return message if message.endswith(("?", ".")) else f"{message}."


_TYPES: Final = {"integer": "a whole number", "number": "a number", "boolean": "true or false"}

_BOUNDS: Final = {
    "minimum": "of {:.12g} or more",
    "exclusiveMinimum": "above {:.12g}",
    "maximum": "of {:.12g} or less",
    "exclusiveMaximum": "below {:.12g}",
}


def is_section(kind: object) -> TypeGuard[type[BaseModel]]:
    """Return whether a setting's type is a section, which holds further settings."""
    from pydantic import BaseModel

    return isinstance(kind, type) and issubclass(kind, BaseModel)


def say_section(key: str) -> str:
    """Say that a key is a section and has no value itself."""
    return f"{key} is a section: set a key in it, {key}.KEY."


def say_domain(key: str, model: type[BaseModel], fault: Any) -> str:
    """Say which values a field accepts, according to its schema, instead of the passed value."""
    if fault["type"] == "model_type":
        return say_section(key)
    kind: dict[str, Any] = model.model_json_schema()["properties"][fault["loc"][0]] if fault["loc"] else {}
    kind = next((option for option in kind.get("anyOf", ()) if option.get("type") != "null"), kind)
    kind = kind.get("items", kind)
    if "enum" in kind:
        domain = f"one of {', '.join(map(str, kind['enum']))}"
    elif kind.get("type") in _TYPES:
        if "minimum" in kind and "maximum" in kind:
            bounds = [f"from {kind['minimum']:.12g} to {kind['maximum']:.12g}"]
        else:
            bounds = [words.format(kind[bound]) for bound, words in _BOUNDS.items() if bound in kind]
        domain = " ".join((_TYPES[kind["type"]], *bounds))
    else:
        return f"{say_value(key, fault['msg'])}."
    return f"{key} takes {domain}, not {fault['input']!r}."


Symbols = Literal["braille", "block", "ascii"]
"""What a terminal can show: all of Unicode, only block and line characters, or only ASCII."""


def has_screen() -> bool:
    """Return whether the workstation can be drawn: on a terminal, or by a driver named in the environment."""
    return "TEXTUAL_DRIVER" in os.environ or (sys.stdin.isatty() and draws(sys.stdout))


def draws(out: IO[str]) -> bool:
    """Return whether output there may be coloured and redrawn: a terminal that is not "dumb"."""
    return out.isatty() and os.environ.get("TERM") != "dumb"


class ExitCode(IntEnum):
    """Outcome of a command. meaning: a sentence."""

    meaning: str

    def __new__(cls, code: int, meaning: str = "") -> ExitCode:
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    SUCCESS = 0, "Success."
    DIFFERS = 1, "A check does not hold: an expectation, a snapshot or a question."
    USAGE = 2, "A command, an argument or a setting is invalid."
    INPUT = 3, "An input cannot be read."
    STORE = 4, "The store or a lifetime cannot be used, or is damaged."
    MODEL = 5, "A model or an optional package is missing or does not fit."
    SERVICE = 6, "A served memory refuses or cannot be reached."
    FAILED = 7, "The command failed for another reason."
    STOPPED = 130, "Stopped by ctrl-c, or by no as the answer to a question."
    PIPE_CLOSED = 141, "Whoever read the output has closed it."


def code_of(error: BaseException) -> int:
    """Return the exit code of an error; FAILED if it carries none."""
    return int(getattr(error, "exit_code", ExitCode.FAILED))


def table() -> str:
    """Return the codes as a Markdown table."""
    rows = "".join(f"| {int(code)} | {code.meaning} |\n" for code in ExitCode)
    return f"| exit code | meaning |\n| ---: | --- |\n{rows}"


IN_ONE_LINE: Final = "  ·  ".join(f"{int(code)} {code.meaning.rstrip('.')}" for code in ExitCode)

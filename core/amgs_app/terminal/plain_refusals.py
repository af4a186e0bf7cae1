"""Explain refusals of Typer and pydantic in plain words."""

from __future__ import annotations

import re
from typing import Final

from amgs_app.terminal.line import near

_KINDS: Final = (
    (r".*valid integer.*|.*as an integer.*", "takes a whole number"),
    (r".*valid number.*|.*as a number.*|.*finite number.*", "takes a number"),
    (r".*valid datetime.*|.*valid date.*", "takes a day or an instant, as 2026-03-01 or 2026-03-01T09:00:00Z"),
    (r".*valid boolean.*", "takes true or false"),
    (r"Input should be greater than or equal to (.+)", r"takes \1 or more"),
    (r"Input should be less than or equal to (.+)", r"takes \1 at most"),
    (r"Input should be greater than (.+)", r"takes more than \1"),
    (r"Input should be less than (.+)", r"takes less than \1"),
    (r"'(.*)' is not one of (.+)", r"takes one of \2, not '\1'"),
)
"""What is said of a value, and what is said instead, behind the name of what takes it."""
_WHOLE: Final = (
    (r"Option '(.+)' requires an argument", r"\1 takes a value"),
    (
        r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)",
        r"Too many words: \1. Several words that belong together go in quotes",
    ),
)
_OPTION: Final = re.compile(r"No such option: (\S+)(?: \((?:Did you mean|Possible options:) (.+?)\??\))?\.?")
_LEFT: Final = {"--top-k": ("--limit",)}
"""Options of an earlier version, and what they are called now."""
_VALUE: Final = re.compile(r"Invalid value for '(.+?)': (.*)", re.DOTALL)


def say_value(name: str, message: str) -> str:
    """Return what is wrong with the value of an option, an argument or a setting, without its full stop."""
    message = message.removeprefix("Value error, ").rstrip(".")
    for pattern, words in _KINDS:
        if re.fullmatch(pattern, message, re.DOTALL):
            return f"{name} {re.sub(pattern, words, message, count=1, flags=re.DOTALL)}"
    return f"{name}: {message}"


def say_usage(message: str) -> str:
    """Return what is wrong with a command line, as one sentence or more."""
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

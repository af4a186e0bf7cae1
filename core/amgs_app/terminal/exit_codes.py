"""Exit codes of the `amgs` command; help, man page and documents show this table.

Errors of both engines carry one of these numbers.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class ExitCode(IntEnum):
    """Outcome of a command. meaning: one sentence."""

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

"""What may stand behind a line: ` | json`, ` | csv`, ` | table` or ` | less`, in the shell and in scripts."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from amgs.errors import UsageError
from amgs_app.shell.output import Format, as_text, check_format, write
from amgs_app.terminal.line import LineError, split

PAGER = "less"


@dataclass(frozen=True, slots=True)
class Pipe:
    """How a result is seen: in a format (None: in the one that was chosen for all), and whether it is paged."""

    form: Format | None = None
    paged: bool = False

    def write(self, result: Any, form: Format) -> None:
        """Write a result to standard output; a page at a time only where that is a terminal.

        form: what is written where the line says nothing.
        """
        if self.paged and sys.stdout.isatty():
            import pydoc

            pydoc.pager(as_text(result, self.form or form))
        else:
            write(result, self.form or form)


AS_CHOSEN = Pipe()
"""No pipe: as it was chosen for all."""


def piped(line: str) -> tuple[str, Pipe]:
    """The line without the pipe at its end, and the pipe. Raises LineError for a pipe into anything else."""
    words = split(line)
    if len(words) < 2 or line[words[-2].column - 1 :].split(maxsplit=1)[0] != "|":
        return line, AS_CHOSEN
    target = words[-1]
    rest = line[: words[-2].column - 1]
    if target == PAGER:
        return rest, Pipe(paged=True)
    try:
        return rest, Pipe(check_format(target))
    except UsageError as error:
        raise LineError(
            f"Nothing can be piped into `{target}`.",
            line=line,
            column=target.column,
            way_out="Use json, csv, table or less.",
        ) from error

"""Scripts: one call a line, `#` opens a comment. The whole script is read before anything is done.

Behind a line may stand ` | json`, ` | csv`, ` | table` or ` | less`, in the shell too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amgs.errors import AmgsError, Cancelled, ExpectationError, UsageError
from amgs.regular_file import read_text
from amgs_app.calls.call import Call
from amgs_app.calls.hints import way_out_of
from amgs_app.calls.registry import Registry
from amgs_app.shell.output import Format, as_text, check_format, is_intended, write
from amgs_app.terminal.exit_codes import code_of
from amgs_app.terminal.line import LineError, split
from amgs_app.terminal.printable import printable

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.session.operator import Operator


PAGER = "less"


@dataclass(frozen=True, slots=True)
class Pipe:
    """Output options of a result: its format (None: the default for all), and whether it is paged."""

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
    """Return the line without the pipe at its end, and the pipe. Raises LineError for a pipe into anything else."""
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


TAKES_SNAPSHOT = "snapshot"


class ScriptError(AmgsError):
    """An error with its place: `tour.amgs:3:14`, and a line that points at the word.

    Keeps the exit code of its cause.
    """

    def __init__(self, cause: BaseException, *, script: str, number: int, line: str, column: int = 1) -> None:
        super().__init__(
            str(getattr(cause, "message", cause)),
            way_out=way_out_of(cause),
            title=str(getattr(cause, "title", "Something went wrong")),
        )
        self.exit_code = code_of(cause)
        self.place = f"{script}:{number}:{column}"
        flat = line.translate({ord("\t"): " ", ord("\n"): " "})
        before, after = printable(flat[: column - 1]), printable(flat[column - 1 :])
        self.pointer = f"    {before}{after}\n    {' ' * len(before)}^"


@dataclass(frozen=True, slots=True)
class Step:
    """A line of a script that asks for something, and how its result is seen."""

    number: int
    line: str
    call: Call[Any]
    pipe: Pipe = AS_CHOSEN


def read_script(path: Path) -> str:
    """Return the text of a script; raises InputError for one that cannot be read."""
    return read_text(path, "Give the path of a script in UTF-8, such as docs/tour.amgs.")


def parse_script(registry: Registry, text: str, name: str) -> tuple[Step, ...]:
    """Return every call of the script; raises ScriptError at the first line that is not one."""
    steps: list[Step] = []
    for number, line in enumerate(text.split("\n"), 1):
        step = parse_step(registry, line.rstrip("\r"), name, number)
        if step is not None:
            steps.append(step)
    return tuple(steps)


def parse_step(registry: Registry, line: str, name: str, number: int) -> Step | None:
    """Return the call of one line, None for a blank or a comment; raises ScriptError."""
    try:
        rest, pipe = piped(line)
        call = registry.parse(rest)
    except LineError as error:
        raise ScriptError(error, script=name, number=number, line=line, column=error.column) from error
    return None if call is None else Step(number, line, call, pipe)


def run_step(operator: Operator, step: Step, name: str, progress: Progress | None = None) -> Any:
    """Carry out one line and give its result; raises ScriptError."""
    try:
        return operator.run(step.call, progress)
    except Exception as error:
        if not is_intended(error):
            raise
        column = len(step.line) - len(step.line.lstrip()) + 1
        raise ScriptError(error, script=name, number=step.number, line=step.line, column=column) from error


def run_steps(
    operator: Operator,
    steps: tuple[Step, ...],
    name: str,
    *,
    before: Callable[[Step], None] | None = None,
    after: Callable[[Step, Any], None] | None = None,
    progress: Progress | None = None,
) -> None:
    """Carry out the steps; stops at the first error with a ScriptError, and at the end raises
    ExpectationError when snapshots that were to be compared differ.
    """
    if any(step.call.operation.name == TAKES_SNAPSHOT for step in steps) and not operator.snapshots.chosen:
        raise UsageError("The script takes snapshots, but no folder is given for them.", way_out="Add --out DIR.")
    for step in steps:
        if progress is not None and progress.cancelled:
            raise Cancelled(f"Stopped before {name}:{step.number}.", way_out="Committed changes are kept.")
        if before is not None:
            before(step)
        try:
            result = operator.run(step.call, progress)
        except Exception as error:
            if not is_intended(error):
                raise
            column = len(step.line) - len(step.line.lstrip()) + 1
            raise ScriptError(error, script=name, number=step.number, line=step.line, column=column) from error
        if after is not None:
            after(step, result)
    compared = operator.snapshots
    if compared.differences:
        ran = (
            " Times differ from run to run unless --now gives the one that the snapshots have."
            if operator.engine.options.now is None
            else ""
        )
        raise ExpectationError(
            f"{compared.summary()}: {', '.join(compared.changed)}\n\n" + "\n\n".join(compared.differences),
            title="Snapshots differ",
            way_out=f"If the change is wanted, run again without --check to keep it.{ran}",
        )

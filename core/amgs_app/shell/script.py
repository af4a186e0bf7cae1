"""Scripts: one command per line, `#` begins a comment. The whole script is parsed before its first line runs.

A line may end in ` | json`, ` | csv`, ` | table` or ` | less`, in the shell too.
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
    """How a result is printed: its format (None for the session's) and whether by page."""

    form: Format | None = None
    paged: bool = False

    def write(self, result: Any, form: Format) -> None:
        """Print a result, by page only on a terminal. form: format if the line names none."""
        if self.paged and sys.stdout.isatty():
            import pydoc

            pydoc.pager(as_text(result, self.form or form))
        else:
            write(result, self.form or form)


AS_CHOSEN = Pipe()
"""No pipe: print as the session does."""


def split_pipe(line: str) -> tuple[str, Pipe]:
    """Split the pipe off the end of a line. Raises LineError for an unknown target."""
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
    """An error with its place, such as `tour.amgs:3:14`, and a line that points at the word. Keeps its cause's exit
    code.
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
    """A command of a script. pipe: how its result is printed."""

    number: int
    line: str
    call: Call[Any]
    pipe: Pipe = AS_CHOSEN


def read_script(path: Path) -> str:
    """Read a script's text; raises InputError if it cannot be read."""
    return read_text(path, "Give the path of a script in UTF-8, such as docs/tour.amgs.")


def parse_script(registry: Registry, text: str, name: str) -> tuple[Step, ...]:
    """Parse all commands of a script; raises ScriptError for the first invalid line."""
    steps: list[Step] = []
    for number, line in enumerate(text.split("\n"), 1):
        step = parse_step(registry, line.rstrip("\r"), name, number)
        if step is not None:
            steps.append(step)
    return tuple(steps)


def parse_step(registry: Registry, line: str, name: str, number: int) -> Step | None:
    """Parse one line; None for a blank line or comment. Raises ScriptError."""
    try:
        rest, pipe = split_pipe(line)
        call = registry.parse(rest)
    except LineError as error:
        raise ScriptError(error, script=name, number=number, line=line, column=error.column) from error
    return None if call is None else Step(number, line, call, pipe)


def run_step(operator: Operator, step: Step, name: str, progress: Progress | None = None) -> Any:
    """Run one line and return its result; raises ScriptError."""
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
    """Run the steps; raises ScriptError at the first error, and ExpectationError at the end if compared snapshots
    differ.

    before, after: called around each step.
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

"""Run commands line by line: from a script, or from `amgs shell`, at a prompt or from a pipe.

`#` begins a comment; a script is parsed whole before its first line runs; a line may end in ` | json`, ` |
csv`, ` | table` or ` | less`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from amgs import extras
from amgs.errors import AmgsError, Cancelled, ExpectationError, UsageError
from amgs.incoming import read_text
from amgs.text.words import plural
from amgs_app.calls.call import Call
from amgs_app.calls.hints import way_out_of
from amgs_app.calls.registry import Registry
from amgs_app.shell.output import (
    Format,
    advise,
    as_text,
    ask_first,
    check_format,
    complain,
    is_intended,
    progress_on,
    write,
)
from amgs_app.terminal.line import LineError, split
from amgs_app.terminal.output import code_of, printable, printable_line

if TYPE_CHECKING:
    from prompt_toolkit.completion import CompleteEvent, Completion
    from prompt_toolkit.document import Document

    from amgs.lifecycle.plan_editing import ItemEdit
    from amgs.types import Progress
    from amgs_app.session import Operator


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
    """Parse a line; None for a blank line or comment. Raises ScriptError."""
    try:
        rest, pipe = split_pipe(line)
        call = registry.parse(rest)
    except LineError as error:
        raise ScriptError(error, script=name, number=number, line=line, column=error.column) from error
    return None if call is None else Step(number, line, call, pipe)


def run_step(operator: Operator, step: Step, name: str, progress: Progress | None = None) -> Any:
    """Run a line and return its result; raises ScriptError."""
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
        raise UsageError("The script takes snapshots, but no folder is named for them.", way_out="Add --out DIR.")
    for step in steps:
        if progress is not None and progress.cancelled:
            raise Cancelled(f"Stopped before {name}:{step.number}.", way_out="Committed changes are saved.")
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
            " Times differ from run to run unless --now repeats the time of the snapshots."
            if operator.engine.options.now is None
            else ""
        )
        raise ExpectationError(
            f"{compared.summary()}: {', '.join(compared.changed)}\n\n" + "\n\n".join(compared.differences),
            title="Snapshots differ",
            way_out=f"If the change is wanted, run again without --check to keep it.{ran}",
        )


LEAVE = frozenset({"exit", "quit"})
_WELCOME = (
    "`help` lists the commands; tab completes; ` | json`, ` | csv` or ` | less` after a line says how to see it;"
    " ctrl-d leaves."
)


def run_shell(operator: Operator, registry: Registry, form: Format = "table") -> int:
    """Run lines until the end of the input; return the exit code.

    From a pipe, the first error ends the run with its exit code.
    """
    if not sys.stdin.isatty():
        return _run_piped(operator, registry, sys.stdin, form)
    sys.stderr.write(_WELCOME + "\n")
    if words := _describe_drafts(operator.take_up_drafts()):
        sys.stderr.write(words + "\n")
    for line in _read_prompt_lines(operator, registry):
        if line.strip() in LEAVE:
            break
        _run_line(operator, registry, line, form)
    return 0


def _describe_drafts(edits: tuple[ItemEdit, ...]) -> str:
    """Return a sentence on the draft that an earlier session left; "" for none."""
    if not edits:
        return ""
    blocks = plural(len(edits), "block")
    return f"Kept from the last session: corrections to {blocks}: `consolidate plan` goes on with them."


def _run_piped(operator: Operator, registry: Registry, lines: IO[str], form: Format) -> int:
    """Run the lines of a pipe; return the exit code of the first error, or 0."""
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip("\n")
        if line.strip() in LEAVE:
            break
        try:
            _carry_out(operator, registry, line, form, "<stdin>", number)
        except Exception as error:
            if not is_intended(error):
                raise
            return complain(error)
    return 0


def _run_line(operator: Operator, registry: Registry, line: str, form: Format) -> None:
    """Run a line of the prompt; print an error and continue."""
    try:
        _carry_out(operator, registry, line, form, "amgs", 1)
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
    except Exception as error:
        if not is_intended(error):
            raise
        complain(error)


def _carry_out(operator: Operator, registry: Registry, line: str, form: Format, name: str, number: int) -> None:
    """Parse a line, ask first if needed, run it and print its result."""
    step = parse_step(registry, line, name, number)
    call = None if step is None else ask_first(operator, step.call)
    if step is None or call is None:
        return
    step = replace(step, call=call)
    with progress_on() if step.call.operation.wants_progress else nullcontext() as progress:
        result = run_step(operator, step, name, progress)
    step.pipe.write(result, form)
    advise(operator.engine, result)


def _read_prompt_lines(operator: Operator, registry: Registry) -> Iterator[str]:
    """Yield lines typed at the terminal, with history in the user's data folder; ctrl-c clears the line."""
    with extras.explain_missing():
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import Completer, Completion
        from prompt_toolkit.history import FileHistory

    from amgs_app.calls.completion import complete
    from amgs_app.places.folders import data_folder

    class CommandCompleter(Completer):
        """The registry's suggestions as prompt_toolkit wants them."""

        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
            del complete_event
            engine = operator.engine
            memory = engine.memory if engine.memory_is_open else None
            for suggestion in complete(registry, document.text_before_cursor, memory, operator.listed):
                label, note = printable_line(suggestion.label), printable_line(suggestion.note)
                yield Completion(suggestion.text, -suggestion.replaces, display=label, display_meta=note)

    folder = data_folder(operator.engine.settings.paths)
    folder.mkdir(parents=True, exist_ok=True)
    prompt: PromptSession[str] = PromptSession(
        history=FileHistory(str(folder / "history")), completer=CommandCompleter(), complete_while_typing=False
    )
    while True:
        try:
            yield prompt.prompt("amgs> ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return

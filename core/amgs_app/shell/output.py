"""Print results on stdout, messages and progress on stderr, and choose exit codes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Literal, get_args

from amgs.errors import AmgsError, UsageError, as_refusal
from amgs_app.terminal.output import ExitCode, code_of, draws, printable, printable_line

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.calls.call import Call
    from amgs_app.engine import Engine
    from amgs_app.session import Operator


Format = Literal["table", "json", "csv"]
FORMATS: tuple[Format, ...] = get_args(Format)

PIPE_WIDTH = 100_000
"""Width of a table that does not go to a terminal, so that nothing is cut."""


def check_format(name: str) -> Format:
    """Return the name as a format; raises UsageError."""
    for known in FORMATS:
        if name == known:
            return known
    raise UsageError(f"Unknown format: {name!r}.", way_out=f"Available: {', '.join(FORMATS)}.")


def write(result: Any, form: Format = "table", out: IO[str] | None = None) -> None:
    """Print a result to `out`, by default stdout."""
    out = sys.stdout if out is None else out
    if form == "json":
        from amgs_app.render.encode import to_json

        out.write(to_json(result))
    else:
        out.write(as_text(result, form, width=_width(out), colour=draws(out)))
    out.flush()


def as_text(result: Any, form: Format = "table", *, width: int = PIPE_WIDTH, colour: bool = False) -> str:
    """Return a result as a table or CSV."""
    from amgs_app.render.catalogue import table_of
    from amgs_app.render.sheet import to_csv, to_lines

    table = table_of(result)
    if form == "csv":
        return to_csv(table)
    lines = to_lines(table, width, marks=not colour)
    if not colour:
        return "".join(f"{line.plain.rstrip()}\n" for line in lines)
    import io

    from rich.console import Console

    text = io.StringIO()
    console = Console(file=text, width=width, force_terminal=True, legacy_windows=False)
    for line in lines:
        console.print(line, highlight=False)
    return text.getvalue()


def complain(error: BaseException, out: IO[str] | None = None) -> int:
    """Print an error on stderr and return its exit code.

    For errors raised on purpose, which have title, message, way_out and exit_code.
    """
    from amgs_app.calls.hints import way_out_of

    out = sys.stderr if out is None else out
    error = as_refusal(error)
    title = str(getattr(error, "title", "Something went wrong"))
    message = str(getattr(error, "message", error))
    way_out = way_out_of(error)
    place = str(getattr(error, "place", ""))
    lines = [f"{place or 'amgs'}: {title}: {message}"]
    pointer = str(getattr(error, "pointer", ""))
    lines += [line for line in (pointer, way_out) if line]
    out.write(printable("\n".join(lines)) + "\n")
    out.flush()
    return code_of(error)


def say(text: str) -> None:
    """Write a message to stderr."""
    sys.stderr.write(printable(f"{text}\n"))
    sys.stderr.flush()


def advise(engine: Engine, result: Any, out: IO[str] | None = None) -> None:
    """Print what to do next on stderr, if the result is empty or incomplete."""
    from amgs_app.calls.hints import hint

    advice = hint(engine, result)
    if advice:
        out = sys.stderr if out is None else out
        out.write(f"{advice}\n")
        out.flush()


def is_intended(error: BaseException) -> bool:
    """Return whether an error was raised on purpose: an AmgsError, a FocusError (told by its attributes), or a file
    refused by the system.
    """
    error = as_refusal(error)
    return isinstance(error, AmgsError) or all(
        hasattr(error, name) for name in ("title", "message", "way_out", "exit_code")
    )


def exit_code_of(result: Any) -> ExitCode:
    """Return DIFFERS for a result that is not `as_expected`, STORE for a check that is not `ok`, else SUCCESS."""
    if not getattr(result, "as_expected", True):
        return ExitCode.DIFFERS
    return ExitCode.SUCCESS if getattr(result, "ok", True) else ExitCode.STORE


@contextmanager
def progress_on(out: IO[str] | None = None) -> Iterator[Progress]:
    """Yield a Progress that draws a bar on a terminal, and nothing elsewhere.

    The first Ctrl-C asks the action to stop at its next report, so that it can clean up; the second interrupts it.
    """
    from amgs.types import Progress

    out = sys.stderr if out is None else out
    if not draws(out):
        progress = Progress()
        with _gentle_interrupt(progress, out):
            yield progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(file=out), transient=True) as bars:
        task = bars.add_task("", total=None, visible=False)

        def report(done: int, total: int, doing: str) -> None:
            bars.update(task, completed=done, total=total or None, description=printable_line(doing), visible=True)

        progress = Progress(report)
        with _gentle_interrupt(progress, out):
            yield progress


@contextmanager
def _gentle_interrupt(progress: Progress, out: IO[str]) -> Iterator[None]:
    """Turn the first Ctrl-C into a cancellation while the block runs; the second raises KeyboardInterrupt."""
    import signal
    import threading

    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(signum: int, frame: object) -> None:
        del signum, frame
        if progress.cancelled:
            raise KeyboardInterrupt
        progress.cancel()
        out.write("\nStopping; Ctrl-C again stops at once.\n")

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _width(out: IO[str]) -> int:
    """Return the width of the terminal, or PIPE_WIDTH."""
    if not out.isatty():
        return PIPE_WIDTH
    import shutil

    return shutil.get_terminal_size().columns


def ask_first(operator: Operator, call: Call[Any]) -> Call[Any] | None:
    """Ask on the terminal for missing options or for confirmation; return the call to run, None if the answer is no.

    Without a terminal, return the call unchanged. Raises what the operation's dry run raises.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return call
    own = call.operation.parameters
    if call.operation.prompts and all(p.required or call.arguments.get(p.name) == p.default for p in own):
        return _fill_in(call)
    if not call.operation.asks or call.arguments.get("yes") or call.arguments.get("dry_run"):
        return call
    from amgs_app.render.format import describe_undo

    operator.join()
    plan: Any = call.having(dry_run=True).run(operator)
    if plan.later:
        return call  # it will be refused, with its reason
    sys.stderr.write(f"Undo {describe_undo(plan, operator.engine.clock.now())}\nUndo it? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return call
    sys.stderr.write("Nothing was changed.\n")
    return None


def _fill_in(call: Call[Any]) -> Call[Any] | None:
    """Return the call with answers to its prompts (Enter skips an option); None at the end of the input."""
    from amgs_app.calls.call import Call
    from amgs_app.calls.parsing import read_arguments
    from amgs_app.terminal.line import Word

    own = {parameter.name: parameter for parameter in call.operation.parameters}
    filled = [Word(str(call.arguments[name]), 1) for name, parameter in own.items() if parameter.required]
    for parameter in (own[name] for name in call.operation.prompts):
        while True:
            label = f"{parameter.label} …" if parameter.many else parameter.label
            sys.stderr.write(f"{parameter.help.split(';')[0].rstrip('.')} ({label}), or Enter: ")
            sys.stderr.flush()
            line = sys.stdin.readline()
            if not line:
                sys.stderr.write("\nNothing was changed.\n")
                return None
            answers = line.split() if parameter.many else [line.strip()] if line.strip() else []
            words = [
                Word(word, 1) for answer in answers for word in parameter.words([answer] if parameter.many else answer)
            ]
            try:
                call = Call(call.operation, read_arguments(call.operation, filled + words, line))
            except AmgsError as error:
                complain(error)
                continue
            filled += words
            break
    return call

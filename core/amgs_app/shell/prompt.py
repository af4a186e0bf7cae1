"""`amgs shell`: commands at a prompt with history and completion, or read line by line from a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import IO, TYPE_CHECKING

from amgs import extras
from amgs.text.plural import plural
from amgs_app.calls.registry import Registry
from amgs_app.shell.output import Format, advise, ask_first, complain, is_intended, progress_on
from amgs_app.shell.script import parse_step, run_step
from amgs_app.terminal.printable import printable_line

if TYPE_CHECKING:
    from prompt_toolkit.completion import CompleteEvent, Completion
    from prompt_toolkit.document import Document

    from amgs.lifecycle.plan_editing import ItemEdit
    from amgs_app.session.operator import Operator

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
    """Run one line of the prompt; print an error and continue."""
    try:
        _carry_out(operator, registry, line, form, "amgs", 1)
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
    except Exception as error:
        if not is_intended(error):
            raise
        complain(error)


def _carry_out(operator: Operator, registry: Registry, line: str, form: Format, name: str, number: int) -> None:
    """Parse one line, ask first if needed, run it and print its result."""
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
    with extras.explained():
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

"""Ways to run operations from the command line: a single command, the workstation, the shell, a browser, a script."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from amgs.errors import AmgsError, UsageError
from amgs_app.calls.call import Call
from amgs_app.calls.marks import Arg, Option
from amgs_app.calls.shared_options import flag_of
from amgs_app.calls.standard import standard
from amgs_app.command_line.global_options import ANNOTATIONS, SWITCHES, Globals, Screen
from amgs_app.gc_tuning import rare_collections
from amgs_app.places.paths import write_whole
from amgs_app.shell.output import advise, ask_first, check_format, exit_code_of, progress_on, say, write
from amgs_app.terminal.exit_codes import ExitCode
from amgs_app.terminal.screen import has_screen

if TYPE_CHECKING:
    from amgs_app.session.operator import Operator

_MOST_LISTED = 1000
"""Most blocks of a list that the next command can refer to."""


def run_single(call: Call[Any], options: Globals) -> int:
    """Run one operation, print its result, and return the exit code."""
    form = check_format(options.format or ("json" if call.arguments.get("as_json") else "table"))
    if call.operation.creates and not call.arguments.get("sample"):
        options = replace(options, own=True)  # what is the user's own does not go into the sample's store
    with rare_collections(), _operator(options) as operator:
        operator.engine.standard_input = lambda: sys.stdin.buffer.read()
        operator.engine.creates = call.operation.creates and not options.read_only
        if operator.engine.creates and call.arguments.get("dry_run"):
            operator.engine.keep_off_the_disk()
        _load_last(operator)
        going_on = ask_first(operator, call)
        if going_on is None:
            return ExitCode.STOPPED
        try:
            if call.operation.wants_progress:
                with progress_on() as progress:
                    result = operator.run(going_on, progress)
            else:
                result = operator.run(going_on)
        except AmgsError:
            operator.engine.discard()
            raise
        _save_last(operator)
        write(result, form)
        advise(operator.engine, result)
        return exit_code_of(result)


def open_workstation(options: Globals) -> int:
    """Open the screen and return the exit code; raises UsageError without a terminal."""
    if not has_screen():
        raise UsageError(
            "The workstation needs a terminal that can be drawn on.",
            title="No terminal",
            way_out="Use a single command such as `amgs session`, `amgs shell`, or `amgs run SCRIPT --out DIR`.",
        )
    screen = _screen_of(options)
    engine_options = options.options()
    from amgs_app.attached import engine_of
    from amgs_app.session.operator import Operator
    from amgs_app.terminal.themes import theme_folders

    operator = Operator(engine_of(engine_options))
    operator.engine.reads_at_least = True
    operator.join()
    return screen.open(
        lambda: operator,
        store_name=operator.engine.store_name,
        theme=engine_options.theme,
        theme_folders=theme_folders(),
    )


def open_demo(*, options: Globals) -> int:
    """Open the workstation on the sample that comes with the program: a year of notes at a mountain observatory.

    Your own memory and sessions stay as they are.
    """
    from amgs_app.places.corpus import shipped

    return open_workstation(replace(options, corpus=shipped("sample_corpus")))


def open_shell(*, options: Globals) -> int:
    """Open a prompt for commands, with history and completion.

    Reads a script from standard input if that is not a terminal.
    """
    from amgs_app.shell.prompt import run_shell

    form = check_format(options.format or "table")
    with _operator(options) as operator:
        return run_shell(operator, standard(), form)


def serve_web(
    *,
    port: Annotated[int, Option("--port", metavar="N", min=1, max=65535, help="Port to listen on.")] = 8000,
    options: Globals,
) -> int:
    """Serve the workstation to a browser on this machine (http://127.0.0.1:8000).

    Other machines cannot reach it. Several pages show one memory.
    """
    _ = options.options()  # what cannot be right is said before anything is served
    screen = _screen_of(options)
    words: list[str] = []
    for name in ANNOTATIONS:
        if value := getattr(options, name):
            words += [flag_of(name)] if name in SWITCHES else [flag_of(name), str(value)]
    return screen.serve(words, port)


def run_script(
    script: Annotated[Path, Arg(metavar="SCRIPT", help="One command per line; # starts a comment.")],
    *,
    out: Annotated[Path | None, Option("--out", metavar="DIR", help="Folder for snapshots.")] = None,
    check: Annotated[
        bool,
        Option(
            "--check", help="Compare with the snapshots in --out and print only what differs; exit 1 if anything does."
        ),
    ] = False,
    quiet: Annotated[
        bool, Option("--quiet", help="Print no results and no progress, only errors and differences.")
    ] = False,
    size: Annotated[str, Option("--size", metavar="COLSxLINES", help="Size of the pictures.")] = "120x40",
    symbols: Annotated[
        str, Option("--symbols", metavar="braille|block|ascii", help="Characters used in the pictures.")
    ] = "braille",
    options: Globals,
) -> int:
    """Run a script headlessly; `snapshot NAME` in it writes NAME.txt, NAME.svg and NAME.json.

    Results go to stdout, progress to stderr. The whole script is checked before its first line runs.
    """
    from amgs_app.session.snapshot_target import Target, read_size, read_symbols
    from amgs_app.shell import script as runner

    if check and out is None:
        raise UsageError("--check needs a folder to compare with.", way_out="Add --out DIR.")
    form = check_format(options.format or "table")
    target = Target(
        folder=out or Path(), chosen=out is not None, size=read_size(size), symbols=read_symbols(symbols), check=check
    )
    registry = standard()
    steps = runner.parse_script(registry, runner.read_script(script), str(script))
    with _operator(options) as operator, progress_on() as progress:

        def written(step: runner.Step, result: Any) -> None:
            step.pipe.write(result, form)
            advise(operator.engine, result)

        operator.snapshots = target
        if target.chosen:
            _ = operator.palette  # also the one that the settings name
        runner.run_steps(
            operator,
            steps,
            str(script),
            before=None if quiet else lambda step: say(f"{script.name}:{step.number}  {step.call.line()}"),
            after=None if quiet or check else written,
            progress=progress,
        )
    if check and not quiet:
        sys.stdout.write(f"{target.summary()}\n")
    return 0


def _screen_of(options: Globals) -> Screen:
    """Return the screen; raises UsageError if Textual is not installed."""
    if options.screen is None:
        raise UsageError(
            "The workstation's screen is not installed.",
            title="No screen",
            way_out="Install it: pip install 'amgs-workstation[screen]'. `amgs session` works without it.",
        )
    return options.screen


def _operator(options: Globals) -> Operator:
    """Return an operator on the engine of the options; raises UsageError for an unknown theme."""
    from amgs_app.attached import engine_of
    from amgs_app.session.operator import Operator

    operator = Operator(engine_of(options.options()))
    operator.engine.warn = say
    if options.theme is not None:
        _ = operator.palette  # a theme that is not there is said before anything is done
    return operator


def _load_last(operator: Operator) -> None:
    """Load what the previous command listed (`@1`) and selected; ignore an unreadable file.

    An open lifetime is too large for that file, and only shell and workstation load drafts: two commands in a row would
    compute the consolidation plan again.
    """
    with suppress(
        AmgsError, OSError, ValueError, TypeError, AttributeError
    ):  # settings may be wrong: `settings` mends them
        path = operator.engine.beside_store(".last")
        if path is None:
            return
        state = json.loads(path.read_text(encoding="utf-8"))
        listed, selected = state.get("listed", []), state.get("selected")
        operator.listed = tuple(block_id for block_id in listed if isinstance(block_id, str))
        operator.selection = selected if isinstance(selected, str) else None


def _save_last(operator: Operator) -> None:
    """Save what this command listed and selected for the next one."""
    path = operator.engine.beside_store(".last") if operator.engine.memory_is_open else None
    if path is None:
        return
    state = {"listed": operator.listed[:_MOST_LISTED], "selected": operator.selection}
    with suppress(OSError):
        write_whole(path, json.dumps(state))

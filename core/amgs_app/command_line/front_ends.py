"""Ways to run operations from the command line (a single command, the workstation, the shell, a browser, a
script), and the options of every command, with the engine options that follow from them.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from amgs.clock import parse_instant
from amgs.errors import AmgsError, UsageError
from amgs_app.calls.call import Call
from amgs_app.calls.marks import Arg, Option
from amgs_app.calls.plain_values import SHARED_OPTIONS, SHARED_PANEL, TOKEN, flag_of
from amgs_app.calls.registry import standard
from amgs_app.gc_tuning import rare_collections
from amgs_app.places.paths import write_whole
from amgs_app.shell.output import advise, ask_first, check_format, exit_code_of, progress_on, say, write
from amgs_app.terminal.output import ExitCode, has_screen

if TYPE_CHECKING:
    from amgs_app.engine import Options
    from amgs_app.session import Operator


class Screen(Protocol):
    """What the command line needs of a screen; it imports none itself."""

    def open(self, open_session: Callable[[], Any], **options: Any) -> int:
        """Show the workstation until the operator leaves; return the exit code."""

    def serve(self, words: Sequence[str], port: int) -> int:
        """Serve the workstation to a browser on this machine; return the exit code."""


@dataclass(frozen=True, slots=True)
class Globals:
    """The global options as typed; None for each that was left out.

    own: use the user's own memory rather than the sample's. screen: draws the workstation; None if none is installed.
    """

    store: str | None = None
    corpus: Path | None = None
    model: str | None = None
    now: str | None = None
    seed: int | None = None
    theme: str | None = None
    format: str | None = None
    settings: Path | None = None
    connect: str | None = None
    token: str | None = None
    read_only: bool | None = None
    own: bool | None = None
    screen: Screen | None = None

    def over(self, values: Mapping[str, Any]) -> Globals:
        """Return these options with later values on the line replacing them."""
        known = {field.name for field in fields(self)}
        return replace(self, **{name: value for name, value in values.items() if name in known and value is not None})

    def options(self) -> Options:
        """Return the options of the engine; raises UsageError for an invalid time, ModelError for an unknown model."""
        from amgs_app.engine import Options

        try:
            now = None if self.now is None else parse_instant(self.now)
        except (ValueError, OverflowError) as error:
            raise UsageError(f"Invalid --now {self.now!r}.", way_out="Write it as 2026-03-01T09:00:00Z.") from error
        if self.model is not None:
            from amgs_app.models.choice import require_model

            require_model(self.model)
        return Options(
            store=self.store,
            corpus=self.corpus,
            model=self.model,
            now=now,
            seed=self.seed or 0,
            theme=self.theme,
            settings=self.settings,
            own=bool(self.own),
            connect=self.connect or "",
            token=self.token or os.environ.get(TOKEN, ""),
            read_only=bool(self.read_only),
        )


def _option(name: str, offers: Callable[[], Sequence[str]] | None = None) -> Any:
    """Return the Typer option. offers: returns the values that shell completion proposes; None for file names."""
    metavar, help_text = SHARED_OPTIONS[name]

    def complete(incomplete: str) -> list[str]:
        return [offer for offer in (offers or tuple)() if offer.startswith(incomplete)]

    return typer.Option(
        flag_of(name),
        metavar=metavar or None,
        help=help_text,
        rich_help_panel=SHARED_PANEL,
        autocompletion=complete if offers else None,
    )


def _formats() -> Sequence[str]:
    from amgs_app.shell.output import FORMATS

    return FORMATS


def _theme_names() -> Sequence[str]:
    from amgs_app.terminal.themes import load_all, theme_folders

    return tuple(load_all(theme_folders())[0])


Store = Annotated[str | None, _option("store")]
CorpusFolder = Annotated[Path | None, _option("corpus")]
Model = Annotated[str | None, _option("model")]
Now = Annotated[str | None, _option("now")]
Seed = Annotated[int | None, _option("seed")]
Theme = Annotated[str | None, _option("theme", _theme_names)]
Form = Annotated[str | None, _option("format", _formats)]
SettingsFile = Annotated[Path | None, _option("settings")]
Connect = Annotated[str | None, _option("connect")]
Token = Annotated[str | None, _option("token")]
ReadOnly = Annotated[bool | None, _option("read_only")]
Version = Annotated[bool, typer.Option("--version", help="Show the version and exit.")]

ANNOTATIONS: Mapping[str, Any] = {
    "store": Store,
    "corpus": CorpusFolder,
    "model": Model,
    "now": Now,
    "seed": Seed,
    "theme": Theme,
    "format": Form,
    "settings": SettingsFile,
    "connect": Connect,
    "token": Token,
    "read_only": ReadOnly,
}
SWITCHES = frozenset(name for name, (metavar, _) in SHARED_OPTIONS.items() if not metavar)
"""Options that take no value."""


EVERYWHERE = tuple(
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
    for name, annotation in ANNOTATIONS.items()
)


_MOST_LISTED = 1000
"""Most blocks of a list that the next command can refer to."""


def run_single(call: Call[Any], options: Globals) -> int:
    """Run an operation, print its result, and return the exit code."""
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
    from amgs_app.session import Operator
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
    from amgs_app.places.corpus import find_shipped

    return open_workstation(replace(options, corpus=find_shipped("sample_corpus")))


def open_shell(*, options: Globals) -> int:
    """Open a prompt for commands, with history and completion.

    Reads a script from standard input if that is not a terminal.
    """
    from amgs_app.shell.script import run_shell

    form = check_format(options.format or "table")
    with _operator(options) as operator:
        return run_shell(operator, standard(), form)


def serve_web(
    *,
    port: Annotated[int, Option("--port", metavar="N", min=1, max=65535, help="Port to listen on.")] = 8000,
    options: Globals,
) -> int:
    """Serve the workstation to a browser on this machine (http://127.0.0.1:8000).

    Other machines cannot reach it. Several pages may show the same memory.
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
    from amgs_app.places.folders import Target, read_size, read_symbols
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

        def write_step(step: runner.Step, result: Any) -> None:
            step.pipe.write(result, form)
            advise(operator.engine, result)

        operator.snapshots = target
        if target.chosen:
            _ = operator.palette  # also the palette that the settings name
        runner.run_steps(
            operator,
            steps,
            str(script),
            before=None if quiet else lambda step: say(f"{script.name}:{step.number}  {step.call.line()}"),
            after=None if quiet or check else write_step,
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
    from amgs_app.session import Operator

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
    """Save what this command listed and selected for the next command."""
    path = operator.engine.beside_store(".last") if operator.engine.memory_is_open else None
    if path is None:
        return
    state = {"listed": operator.listed[:_MOST_LISTED], "selected": operator.selection}
    with suppress(OSError):
        write_whole(path, json.dumps(state))

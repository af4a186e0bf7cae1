"""The `amgs` command: the composition root. It reads the arguments, builds the Engine and its Operator, and hands over;
everything heavy is imported only once it is needed.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.main

from amgs.errors import AmgsError, UsageError
from amgs_app import __version__
from amgs_app.calls.call import Call
from amgs_app.calls.operation import Operation
from amgs_app.calls.parsing import callback_of, for_typer
from amgs_app.calls.registry import Registry
from amgs_app.confirmation import DECLINED, agreed
from amgs_app.gc_tuning import rare_collections
from amgs_app.global_options import (
    ANNOTATIONS,
    EVERYWHERE,
    Connect,
    CorpusFolder,
    Form,
    Globals,
    Index,
    Model,
    Now,
    Screen,
    Seed,
    SettingsFile,
    Store,
    Theme,
    Token,
    Version,
)
from amgs_app.last_listing import recall, remember
from amgs_app.operations.groups import EXAMPLES, FRONT_ENDS, PANELS, describe
from amgs_app.operations.standard import beginning_with, standard
from amgs_app.output import advise, check_format, complain, exit_code_of, intended, progress_on, say, write
from amgs_app.printable import printable
from amgs_app.service_commands import (
    new_token,
    run_agents,
    run_workers,
    serve_gateway,
    serve_memory,
    speak_mcp,
)
from amgs_app.spelling import near
from amgs_app.terminal import has_screen

if TYPE_CHECKING:
    from amgs_app.operator import Operator

INTERRUPTED = 130
_UNKNOWN = re.compile(r"No such command '(.*)'\.?")


_CONTEXT = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)

_HELP = """Watch a memory live: notes arrive, are consolidated, fade, are assembled into frames, and are read
by a language model.

Without a command, opens the workstation. Every other command can also be typed in the workstation, in `amgs
shell` and in scripts.
"""

_EXAMPLES = """Examples:

amgs --corpus ~/notes  ·  open the workstation on a folder of notes

amgs ingest --batch ~/notes && amgs consolidate  ·  build a memory of your own

amgs search "wifi fails in bad weather" --format json  ·  search it

amgs frame assemble SESSION --query "what is left to do?"  ·  assemble a context

amgs run tour.amgs --out pictures --check  ·  compare a script's snapshots in CI
"""


_RUNNERS: Mapping[str, Callable[..., int]] = {"agents": run_agents, "workers": run_workers}
"""What `run` below these words stays with; the operations beside it end."""


def run(arguments: Sequence[str], screen: Screen | None = None) -> int:
    """Carry out a command line and give its exit code.

    screen: None where none is installed. Says errors on stderr, raises only faults of the program.
    """
    # Libraries that load models draw their own progress bars on stderr, across the screen; ours is enough.
    os.environ.setdefault("TQDM_DISABLE", "1")
    # Pydantic would look through every installed package for plugins.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        command = typer.main.get_command(build(_needed(arguments)))
        code = command.main(list(arguments), prog_name="amgs", standalone_mode=False, obj=screen)
        sys.stdout.flush()
        return int(code or 0)
    except typer.TyperException as error:
        return _complain_of_usage(error)
    except (KeyboardInterrupt, typer.Abort):
        sys.stderr.write("\nStopped.\n")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has left; a second flush at exit must not complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if not intended(error):
            raise
        return complain(error)


def build(registry: Registry | None = None) -> typer.Typer:
    """The command line: global options, `run`, `shell`, and every operation of the registry."""
    registry = standard() if registry is None else registry
    app = typer.Typer(
        name="amgs",
        help=_HELP,
        epilog=_EXAMPLES,
        suggest_commands=False,
        invoke_without_command=True,
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(_root)
    front_ends: dict[str, Callable[..., int]] = {
        "run": run_script,
        "shell": open_shell,
        "serve": serve_memory,
        "gateway": serve_gateway,
        "mcp": speak_mcp,
        "serve-web": serve_web,
    }
    for name, command in front_ends.items():
        app.command(
            name, help=inspect.getdoc(command), epilog=_shown(EXAMPLES[name]), rich_help_panel=FRONT_ENDS
        )(_with_globals(command))
    token = typer.Typer(help="Make tokens for the service.", suggest_commands=False)
    token.command("new", help=inspect.getdoc(new_token), epilog=_shown(EXAMPLES["token new"]))(
        _with_globals(new_token)
    )
    app.add_typer(token, name="token", rich_help_panel=FRONT_ENDS)
    panel_of = {noun: panel for panel, nouns in PANELS.items() for noun in nouns}
    nouns = sorted(
        registry.nouns().items(),
        key=lambda each: list(panel_of).index(each[0]) if each[0] in panel_of else 99,
    )
    for noun, operations in nouns:
        _add_below(app, operations, 0, panel_of.get(noun))
    return app


def _needed(arguments: Sequence[str]) -> Registry | None:
    """The operations that a command line can mean, None for all: one that names its first word right after the global
    options needs no others.
    """
    words = iter(arguments)
    for word in words:
        if not word.startswith("-"):
            return beginning_with(word)
        name, equals, _ = word.removeprefix("--").partition("=")
        if name not in ANNOTATIONS:
            return None
        if not equals:
            next(words, None)
    return None


def _add_below(
    app: typer.Typer, operations: Sequence[Operation[..., Any]], depth: int, panel: str | None = None
) -> None:
    """Operations as commands by their words from `depth` on: a word that several share, or that goes on, is a group.

    An operation whose whole name is such a word is what its group does alone.
    """
    grouped: dict[str, list[Operation[..., Any]]] = {}
    for each in operations:
        grouped.setdefault(each.words[depth], []).append(each)
    for word, below in grouped.items():
        if len(below) == 1 and len(below[0].words) == depth + 1:
            _add(app, below[0], panel)
            continue
        alone = [each for each in below if len(each.words) == depth + 1]
        longer = [each for each in below if len(each.words) > depth + 1]
        told = alone[0].help if alone else describe(" ".join(below[0].words[: depth + 1]))
        group = typer.Typer(
            help=told,
            epilog=_shown((alone or longer)[0].example),
            no_args_is_help=False,
            invoke_without_command=bool(alone),
            suggest_commands=False,
        )
        if alone:
            group.callback(invoke_without_command=True, help=told)(_callback(alone[0], only_alone=True))
        short = alone[0].summary if alone else told
        app.add_typer(group, name=word, short_help=short, rich_help_panel=panel)
        if depth == 0 and word in _RUNNERS:
            runner = _RUNNERS[word]
            group.command("run", help=inspect.getdoc(runner), epilog=_shown(EXAMPLES[f"{word} run"]))(
                _with_globals(runner)
            )
        _add_below(group, longer, depth + 1)


def _add(app: typer.Typer, each: Operation[..., Any], panel: str | None = None) -> None:
    app.command(
        each.words[-1],
        help=each.help,
        epilog=_shown(each.example),
        short_help=each.summary,
        rich_help_panel=panel,
    )(_callback(each))


def _shown(example: str) -> str | None:
    """A line of the shell as it stands below a command's help on the command line."""
    return f"Example: amgs {example}" if example else None


def _callback(each: Operation[..., Any], *, only_alone: bool = False) -> Callable[..., Any]:
    """A command that carries the operation out; only_alone: not where another command follows its word."""

    def receive(**given: Any) -> int:
        context = given.pop("context")
        if only_alone and context.invoked_subcommand is not None:
            return 0
        own = {name: given.pop(name) for name in each.signature.parameters}
        return one_shot(Call(each, own), _globals(context).over(given))

    return callback_of(each, receive, (_CONTEXT, *EVERYWHERE))


def _with_globals(command: Callable[..., int]) -> Callable[..., int]:
    """The command with the global options added to its own; it is handed them as `options`."""
    own = [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=for_typer(each.annotation))
        for each in inspect.signature(command, eval_str=True).parameters.values()
        if each.name != "options"
    ]
    names = {each.name for each in own}

    def callback(**given: Any) -> int:
        mine = {name: value for name, value in given.items() if name in names}
        rest = {name: value for name, value in given.items() if name not in names}
        return command(options=_globals(rest.pop("context")).over(rest), **mine)

    parameters = [*own, _CONTEXT, *EVERYWHERE]
    callback.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    callback.__annotations__ = {each.name: each.annotation for each in parameters}
    return callback


def _root(
    context: typer.Context,
    store: Store = None,
    corpus: CorpusFolder = None,
    model: Model = None,
    now: Now = None,
    seed: Seed = None,
    theme: Theme = None,
    format: Form = None,
    settings: SettingsFile = None,
    index: Index = None,
    connect: Connect = None,
    token: Token = None,
    version: Version = False,
) -> int:
    screen: Screen | None = context.obj
    context.obj = Globals(
        store, corpus, model, now, seed, theme, format, settings, index, connect, token, screen=screen
    )
    if version:
        sys.stdout.write(f"amgs {__version__}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        return open_workstation(context.obj)
    return 0


def _globals(context: typer.Context) -> Globals:
    """The options typed before the command."""
    found = context.find_root().obj
    return found if isinstance(found, Globals) else Globals()


# --- the commands -----------------------------------------------------------------------------------------


def one_shot(call: Call[Any], options: Globals) -> int:
    """Carry out one operation, write its result to stdout, and leave."""
    form = check_format(options.format or ("json" if call.arguments.get("as_json") else "table"))
    if call.operation.name == "ingest" and any(
        call.arguments.get(name) for name in ("text", "file", "batch")
    ):
        options = replace(options, own=True)  # what is the user's own does not go into the sample's store
    with rare_collections(), _operator(options) as operator:
        operator.engine.creates = call.operation.creates
        recall(operator)
        if not agreed(operator, call):
            return DECLINED
        try:
            if call.operation.wants_progress:
                with progress_on() as progress:
                    result = operator.run(call, progress)
            else:
                result = operator.run(call)
        except AmgsError:
            operator.engine.discard()
            raise
        remember(operator)
        write(result, form)
        advise(operator.engine, result)
        return exit_code_of(result)


def open_workstation(options: Globals) -> int:
    """Open the screen; raises UsageError where there is no terminal."""
    if not has_screen():
        raise UsageError(
            "The workstation needs a terminal.",
            title="No terminal",
            way_out="Use `amgs run SCRIPT --out DIR`, `amgs shell`, or a single command such as `amgs status`.",
        )
    screen = _screen_of(options)
    given = options.options()
    from amgs_app.attached.remote_engine import engine_of
    from amgs_app.folders import theme_folders
    from amgs_app.operator import Operator

    operator = Operator(engine_of(given))
    return screen.open(
        lambda: operator,
        store_name=operator.engine.store_name,
        theme=given.theme,
        theme_folders=theme_folders(),
    )


def open_shell(*, options: Globals) -> int:
    """Open a prompt for commands, with history and completion.

    Reads a script from standard input if that is not a terminal.
    """
    from amgs_app.shell import run_shell

    form = check_format(options.format or "table")
    with _operator(options) as operator:
        return run_shell(operator, standard(), form)


def serve_web(
    *,
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=1, max=65535, help="Port to listen on.")
    ] = 8000,
    options: Globals,
) -> int:
    """Serve the workstation to a browser on this machine (http://127.0.0.1:8000).

    Other machines cannot reach it. A store has one writer, so open one page at a time.
    """
    _ = options.options()  # what cannot be right is said before anything is served
    screen = _screen_of(options)
    words = [(f"--{name}", str(value)) for name in ANNOTATIONS if (value := getattr(options, name))]
    return screen.serve([word for pair in words for word in pair], port)


def run_script(
    script: Annotated[
        Path, typer.Argument(metavar="SCRIPT", help="One command per line; # starts a comment.")
    ],
    *,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Folder for snapshots.")] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Compare with the snapshots in --out and print only what differs; exit 1 if anything does.",
        ),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print no results and no progress, only errors and differences.")
    ] = False,
    size: Annotated[
        str, typer.Option("--size", metavar="COLSxLINES", help="Size of the pictures.")
    ] = "120x40",
    symbols: Annotated[
        str, typer.Option("--symbols", metavar="braille|block|ascii", help="Characters used in the pictures.")
    ] = "braille",
    options: Globals,
) -> int:
    """Run a script headlessly; `snapshot NAME` in it writes NAME.txt, NAME.svg and NAME.json.

    Results go to stdout, progress to stderr. The whole script is checked before its first line runs.
    """
    from amgs_app import script as runner
    from amgs_app.snapshot_target import Target, read_size, read_symbols

    if check and out is None:
        raise UsageError("--check needs a folder to compare with.", way_out="Add --out DIR.")
    form = check_format(options.format or "table")
    target = Target(
        folder=out or Path(),
        chosen=out is not None,
        size=read_size(size),
        symbols=read_symbols(symbols),
        check=check,
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
    if options.screen is None:
        raise UsageError(
            "The workstation's screen is not installed.",
            title="No screen",
            way_out="Install it: pip install 'amgs-workstation[screen]'.",
        )
    return options.screen


def _operator(options: Globals) -> Operator:
    from amgs_app.attached.remote_engine import engine_of
    from amgs_app.operator import Operator

    operator = Operator(engine_of(options.options()))
    if options.theme is not None:
        _ = operator.palette  # a theme that is not there is said before anything is done
    return operator


def _complain_of_usage(error: typer.TyperException) -> int:
    """An argument that Typer cannot read: what is wrong, and where the help is."""
    text = " ".join(error.format_message().split()).replace("Value error, ", "")
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "amgs"
    unknown = _UNKNOWN.fullmatch(text)
    if unknown is not None and context is not None:
        known = getattr(context.command, "commands", {})
        deeper = standard() if context.parent is None else ()
        meant = near(unknown[1], [*known, *(each.name for each in deeper)])
        if meant:
            text = (
                f"There is no command {unknown[1]!r}. Did you mean {' or '.join(repr(one) for one in meant)}?"
            )
        else:
            text = f"There is no command {unknown[1]!r}."
    sys.stderr.write(printable(f"amgs: {text}\nSee `{path} --help`.\n"))
    return int(error.exit_code) if error.exit_code != 1 else 2

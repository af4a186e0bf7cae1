"""The `amgs` command: builds the Typer commands from the operations and the front ends, and runs a single command line.

Heavy modules are imported only when they are needed; `cold start` tests hold that.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import typer
import typer.main

from amgs.errors import hide_secrets
from amgs_app import __version__
from amgs_app.calls.call import Call
from amgs_app.calls.operation import Operation, unwrap
from amgs_app.calls.parsing import callback_of, for_typer, settings_for
from amgs_app.calls.plain_values import PlainCommand, PlainGroup
from amgs_app.calls.registry import EXAMPLES, FRONT_ENDS, PANELS, Registry, beginning_with, describe, say_left, standard
from amgs_app.command_line.front_ends import (
    ANNOTATIONS,
    EVERYWHERE,
    SWITCHES,
    Connect,
    CorpusFolder,
    Form,
    Globals,
    Model,
    Now,
    ReadOnly,
    Screen,
    Seed,
    SettingsFile,
    Store,
    Theme,
    Token,
    Version,
    open_demo,
    open_shell,
    open_workstation,
    run_script,
    run_single,
    serve_web,
)
from amgs_app.command_line.service_commands import new_token, run_agents, serve_gateway, serve_memory, speak_mcp
from amgs_app.shell.output import complain, is_intended
from amgs_app.terminal.line import near
from amgs_app.terminal.output import IN_ONE_LINE, ExitCode, printable, say_usage

_UNKNOWN = re.compile(r"No such command '(.*)'\.?")
_MISSING_COMMAND = "Missing command."


_CONTEXT = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)

_HELP = """See what the sessions of your coding agents lost (`amgs session`), and watch a memory live: notes arrive,
are consolidated, fade, are assembled into frames, and are read by a language model.

Without a command, opens the workstation: your memory, else the sessions that lie here, else a sample. Every other
command can also be typed in the workstation, in `amgs shell` and in scripts.
"""

_EXAMPLES = f"""Examples:

amgs --corpus ~/notes  ·  open the workstation on a folder of notes

amgs ingest --batch ~/notes && amgs consolidate  ·  build a memory of your own

amgs search "wifi fails in bad weather" --format json  ·  search it

amgs frame assemble SESSION --query "what is left to do?"  ·  assemble a context

amgs run tour.amgs --out pictures --check  ·  compare a script's snapshots in CI

Exit codes: {IN_ONE_LINE}
"""


_SHARED = "And the options of every command: `amgs help options`."


_FRONT_ENDS: Mapping[str, Callable[..., int]] = {
    "demo": open_demo,
    "run": run_script,
    "shell": open_shell,
    "serve": serve_memory,
    "gateway": serve_gateway,
    "mcp": speak_mcp,
    "agents": run_agents,
    "serve-web": serve_web,
}
"""Commands that are not operations but start something that runs operations (a shell, a service), by their word."""


def run(
    arguments: Sequence[str], screen: Screen | None = None, *, registry: Registry | None = None, program: str = "amgs"
) -> int:
    """Run a command line and return its exit code.

    screen: opens the workstation; None where Textual is not installed. registry: operations to use instead of the
    workstation's, without front ends (tests and other programs). Prints errors on stderr; raises only faults of the
    program.
    """
    if now := say_left(_command_words(arguments)):
        sys.stderr.write(printable(f"amgs: {now}\n"))
        return ExitCode.USAGE
    try:
        listed = tuple(arguments) == ("--help",)
        app = (
            build(_choose_operations(arguments), listed=listed)
            if registry is None
            else build(registry, front_ends=False)
        )
        command = typer.main.get_command(app)
        code = command.main(list(arguments), prog_name=program, standalone_mode=False, obj=screen)
        sys.stdout.flush()
        return int(code or 0)
    except typer.TyperException as error:
        return _complain_of_usage(error)
    except (KeyboardInterrupt, typer.Abort):
        sys.stderr.write("\nStopped.\n")
        return ExitCode.STOPPED
    except (BrokenPipeError, SystemExit) as left:
        if isinstance(left, SystemExit) and not isinstance(left.__context__, BrokenPipeError):
            raise  # Typer leaves so where the pipe is closed, and where the shell asks for completions
        # The reader has left; a second flush at exit must not complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.PIPE_CLOSED
    except Exception as error:
        if not is_intended(error):
            raise
        return complain(error)


def build(registry: Registry | None = None, *, front_ends: bool = True, listed: bool = False) -> typer.Typer:
    """Return the Typer app: global options, every operation of the registry, and the front ends.

    listed: add each command as a line of help, without its parameters, whose reading takes .3 s.
    """
    registry = standard() if registry is None else registry
    app = typer.Typer(
        name="amgs",
        cls=PlainGroup,
        help=unwrap(_HELP) if front_ends else None,
        epilog=_EXAMPLES if front_ends else None,
        suggest_commands=False,
        invoke_without_command=True,
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(_root)
    if front_ends:
        _add_front_ends(app, listed=listed)
    panel_of = {noun: panel for panel, nouns in PANELS.items() for noun in nouns}
    nouns = sorted(
        registry.nouns().items(), key=lambda entry: list(panel_of).index(entry[0]) if entry[0] in panel_of else 99
    )
    for noun, operations in nouns:
        if listed:
            alone = next((operation.summary for operation in operations if operation.name == noun), "")
            app.command(noun, help=alone or describe(noun), rich_help_panel=panel_of.get(noun))(lambda: None)
        else:
            _add_below(app, operations, 0, panel_of.get(noun))
    return app


def _add_front_ends(app: typer.Typer, *, listed: bool) -> None:
    """Add the front ends and the group `token` to the app. listed: as in `build`."""
    for name, command in _FRONT_ENDS.items():
        app.command(
            name,
            cls=PlainCommand,
            help=unwrap(inspect.getdoc(command) or ""),
            epilog=_format_example(EXAMPLES[name]),
            rich_help_panel=FRONT_ENDS,
        )((lambda: None) if listed else _with_globals(command))
    token = typer.Typer(cls=PlainGroup, help="Make tokens for the service.", suggest_commands=False)
    token.command(
        "new",
        cls=PlainCommand,
        help=unwrap(inspect.getdoc(new_token) or ""),
        epilog=_format_example(EXAMPLES["token new"]),
    )(_with_globals(new_token))
    app.add_typer(token, name="token", rich_help_panel=FRONT_ENDS)


def _choose_operations(arguments: Sequence[str]) -> Registry | None:
    """Return the operations that a command line may mean, or None for all of them.

    Building all commands takes 0.3 s, so only those that begin with its first word are built, and none for a front end.
    """
    first = next(iter(_command_words(arguments)), None)
    if first is None:
        return None
    return Registry(()) if first in _FRONT_ENDS else beginning_with(first)


def _command_words(arguments: Sequence[str]) -> Sequence[str]:
    """Return the arguments from the command on, without the global options before it; empty if any is unknown."""
    place = 0
    while place < len(arguments) and arguments[place].startswith("-"):
        flag, equals, _ = arguments[place].removeprefix("--").partition("=")
        name = flag.replace("-", "_")
        if name not in ANNOTATIONS:
            return ()
        place += 1 if equals or name in SWITCHES else 2
    return arguments[place:]


def _add_below(
    app: typer.Typer, operations: Sequence[Operation[..., Any]], depth: int, panel: str | None = None
) -> None:
    """Add operations as commands, by their words from index `depth` on.

    A word that several operations share, or that others continue, becomes a group; an operation named exactly like the
    group runs when no further word follows.
    """
    grouped: dict[str, list[Operation[..., Any]]] = {}
    for operation in operations:
        grouped.setdefault(operation.words[depth], []).append(operation)
    for word, below in grouped.items():
        if len(below) == 1 and len(below[0].words) == depth + 1:
            _add(app, below[0], panel)
            continue
        alone = [operation for operation in below if len(operation.words) == depth + 1]
        longer = [operation for operation in below if len(operation.words) > depth + 1]
        description = alone[0].help if alone else describe(" ".join(below[0].words[: depth + 1]))
        group = typer.Typer(
            cls=PlainGroup,
            help=description,
            epilog=_format_example((alone or longer)[0].example),
            no_args_is_help=False,
            invoke_without_command=bool(alone),
            suggest_commands=False,
        )
        if alone:
            group.callback(invoke_without_command=True, help=description)(_callback(alone[0], only_alone=True))
        short = alone[0].summary if alone else description
        app.add_typer(group, name=word, short_help=short, rich_help_panel=panel)
        _add_below(group, longer, depth + 1)


def _add(app: typer.Typer, operation: Operation[..., Any], panel: str | None = None) -> None:
    """Add an operation as a command under its last word."""
    app.command(
        operation.words[-1],
        cls=PlainCommand,
        help=operation.manual,
        context_settings=settings_for(operation),
        epilog=_format_example(operation.example),
        short_help=operation.summary,
        rich_help_panel=panel,
    )(_callback(operation))


def _format_example(example: str) -> str | None:
    """Return the text below a command's help: its example, and where the shared options are listed."""
    return f"Example: amgs {example}\n\n{_SHARED}" if example else _SHARED


def _callback(operation: Operation[..., Any], *, only_alone: bool = False) -> Callable[..., Any]:
    """Return the function that Typer calls for an operation. only_alone: do nothing if another command follows the
    group's word.
    """

    def receive(**arguments: Any) -> int:
        context = arguments.pop("context")
        if only_alone and context.invoked_subcommand is not None:
            return 0
        for parameter in operation.parameters if only_alone else ():
            if parameter.required and arguments[parameter.name] is None:
                missing = typer.TyperException(f"Missing option '{parameter.flags[0]}'.")
                missing.ctx = context  # type: ignore[attr-defined]
                raise missing
        own = {name: arguments.pop(name) for name in operation.signature.parameters}
        return run_single(Call(operation, own), _globals(context).over(arguments))

    return callback_of(operation, receive, (_CONTEXT, *EVERYWHERE), required=not only_alone)


def _with_globals(command: Callable[..., int]) -> Callable[..., int]:
    """Return the command with the global options added to its parameters; the command gets them as `options`."""
    own = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=for_typer(parameter.annotation))
        for parameter in inspect.signature(command, eval_str=True).parameters.values()
        if parameter.name != "options"
    ]
    names = {parameter.name for parameter in own}

    def callback(**arguments: Any) -> int:
        mine = {name: value for name, value in arguments.items() if name in names}
        rest = {name: value for name, value in arguments.items() if name not in names}
        return command(options=_globals(rest.pop("context")).over(rest), **mine)

    parameters = [*own, _CONTEXT, *EVERYWHERE]
    callback.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    callback.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
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
    connect: Connect = None,
    token: Token = None,
    read_only: ReadOnly = None,
    version: Version = False,
) -> int:
    """Store the global options for the command that follows; without a command, open the workstation."""
    screen: Screen | None = context.obj
    context.obj = Globals(
        store, corpus, model, now, seed, theme, format, settings, connect, token, read_only, screen=screen
    )
    if version:
        sys.stdout.write(f"amgs {__version__}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        return open_workstation(context.obj)
    return 0


def _globals(context: typer.Context) -> Globals:
    """Return the global options that were typed before the command."""
    options = context.find_root().obj
    return options if isinstance(options, Globals) else Globals()


def _complain_of_usage(error: typer.TyperException) -> int:
    """Print what is wrong with a command line, with similar commands, and return the exit code."""
    text = say_usage(error.format_message())
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "amgs"
    unknown = _UNKNOWN.fullmatch(text)
    known = getattr(context.command, "commands", {}) if context is not None else {}
    choices = f" One of: {', '.join(known)}." if known and context is not None and context.parent is not None else ""
    if text == _MISSING_COMMAND and context is not None:
        text = f"`{context.info_name}` needs another word.{choices}"
    if unknown is not None and context is not None:
        noun = "" if context.parent is None else f"{context.info_name} "
        deeper = [operation for operation in standard() if operation.name.startswith(noun)]
        alternatives = [operation.name.removeprefix(noun) for operation in deeper if unknown[1] in operation.synonyms][
            :3
        ]
        meant = alternatives or near(unknown[1], [*known, *(() if noun else (operation.name for operation in deeper))])
        if meant:
            text = f"There is no command {unknown[1]!r}. Did you mean {' or '.join(repr(name) for name in meant)}?"
        else:
            text = f"There is no command {unknown[1]!r}.{choices}"
    sys.stderr.write(printable(f"amgs: {hide_secrets(text)}\nSee `{path} --help`.\n"))
    return ExitCode.USAGE

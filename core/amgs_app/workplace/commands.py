"""Commands on the whole: `status`, `traffic`, `show`, `theme`, `settings`, `help`."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

from amgs.errors import UsageError
from amgs.wing_registry import load_named
from amgs_app import results
from amgs_app.calls.call import Call
from amgs_app.calls.marks import Arg, Limit, Option, Takes
from amgs_app.calls.operation import Operation, operation
from amgs_app.pages.writing import Html, Redact, palettes, write_page
from amgs_app.panes.layout import Pane, PaneState
from amgs_app.terminal.line import nearness
from amgs_app.wing_views import views

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from amgs_app.calls.registry import Registry
    from amgs_app.engine import Engine
    from amgs_app.session import Operator


@operation(
    "status",
    audience="everyone",
    summary="Show the health of memory, model and session at a glance.",
    synonyms=("info", "summary", "doctor", "problems", "html", "share"),
    example="status --html memory.html",
    pane="overview",
)
def status(operator: Operator, *, html: Html = None, redact: Redact = False) -> results.Overview:
    """Show blocks by state, edges, frames, mean relevance, the Brier score and the model; then how the inbox,
    consolidation, graph, diversity, decay, review queue, calibration and budget stand, with a command where an area
    needs attention. Of a memory in a database, show its namespace among those that the role may use.

    --html writes it as a page that any browser shows, light or dark, without a script and without loading anything,
    with the most used blocks, what drops below the threshold within 30 days, and charts. It holds titles of blocks;
    --redact leaves out every text of the memory, its name, and the charts that name categories or frames.
    """
    engine = operator.engine
    if html is not None:
        from amgs_app.pages.html_page import of_memory

        used = engine.memory.lifecycle.list_most_used(_USED)
        text = of_memory(operator, operator.look_at, used, palettes(), redacted=redact)
        write_page(html, engine.settings.memory.ingest.mask(text))
    store, facts = engine.memory.status(), engine.facts()
    return results.Overview(
        store=store,
        health=engine.memory.health(),
        corpus=facts.corpus,
        model=facts.model,
        model_loaded=facts.model_loaded,
        seed=facts.seed,
        selection=operator.selection,
        focus=facts.focus,
        sample_time=facts.sample_time,
        read_only=facts.read_only,
        namespaces=engine.memory.namespaces() if store.topology is not None and engine.traffic is None else (),
    )


@operation(
    "traffic",
    audience="everyone",
    summary="List who asked a served memory what: questions and changes, the newest first.",
    synonyms=("requests", "audit", "callers"),
    example="traffic --limit 20",
    keys=("T",),
    lists=lambda result: [event.blocks[0] for event in result.events if event.blocks] or None,
)
def traffic(engine: Engine, *, limit: Limit = 50) -> results.TrafficList:
    """List who asked, what they got and how long it took, and count it by the holder of each token. The server keeps
    the last 500 since it began.
    """
    events = () if engine.traffic is None else engine.traffic()
    return results.TrafficList(events[:limit], engine.traffic is not None, Counter(event.caller for event in events))


_USED = 20
"""Most used blocks that the HTML page lists."""
_LINES: Mapping[str, tuple[str, str]] = {
    "overview": ("status", "status"),
    "inbox": ("inbox list", "inbox list"),
    "frame": ("frame last", "frame last"),
    "graph": ("graph stats", "graph neighbours"),
    "decay": ("decay forecast", "decay curve"),
    "calibration": ("calibration", "calibration"),
    "focus": ("focus view", "focus view"),
    "conversation": ("conversation list", "conversation list"),
}
"""The command that each pane shows: for the whole memory, and for the selected block."""


@operation("show", place="here", lane="model", summary="Show a pane with current data.", example="show frame")
def show(
    operator: Operator, pane: Annotated[Pane, Arg(metavar="PANE", help="The pane."), Takes("pane")]
) -> results.Shown:
    """Show a pane with current data; `snapshot` then writes its picture.

    graph and decay show the selected block, or the whole memory when none is selected.
    """
    call = _call_of(operator, pane)
    if call is not None:
        shown = operator.carry_out(operator.resolve(call))
        operator.panes[pane] = PaneState(call.line(), shown)
    if pane not in operator.panes or operator.panes[pane].result == results.LastFrame(None):
        raise UsageError("Nothing was assembled or searched yet.", way_out="`frame assemble SESSION` first.")
    operator.pane = pane
    return results.Shown(pane, operator.panes[pane].result)


def _call_of(operator: Operator, pane: Pane) -> Call[Any] | None:
    """Return the call whose result the pane shows; None for a pane whose last result stays."""
    from amgs_app.calls.registry import standard

    if pane not in _LINES:
        look: Callable[[], Call[Any]] = load_named(views()[pane].look)
        return look()
    if pane in operator.panes and pane in ("frame", "conversation"):
        return None
    of_memory, of_selection = _LINES[pane]
    return standard().call(of_memory if operator.selection is None else of_selection)


@operation(
    "theme",
    place="here",
    summary="Choose the colour theme.",
    synonyms=("colours", "dark mode", "appearance"),
    example="theme paper",
)
def theme(
    operator: Operator,
    name: Annotated[str | None, Arg(metavar="NAME", help="A theme; default: list them."), Takes("theme")] = None,
) -> results.ThemeSet:
    """Choose the palette of the screen and of snapshots; without NAME, list the palettes."""
    from amgs_app.terminal.themes import load_all, theme_folders

    known = tuple(load_all(theme_folders())[0])
    if name is not None and name not in known:
        raise UsageError(f"There is no theme {name!r}.", way_out=f"Available: {', '.join(known)}.")
    if name is not None:
        operator.theme_name = name
    return results.ThemeSet(operator.theme_name or known[0], known)


@operation(
    "settings",
    place="here",
    summary="List every setting with its value and where it comes from, or set some.",
    synonyms=("configuration", "options", "preferences"),
    example="settings memory.decay.threshold=0.1",
)
def settings(
    engine: Engine,
    words: Annotated[
        list[str] | None,
        Arg(metavar="KEY[=VALUE]", help="Only keys that start so, such as memory.decay; or the value of a key."),
        Takes("setting"),
    ] = None,
) -> results.SettingsList:
    """List the settings of this run: the key, its value, its default, and the file or the variable that sets it.

    KEY=VALUE writes the file, whose comments stay; KEY=default takes the key out of it. It holds from the next start
    on; a variable of the same name wins.
    """
    from amgs_app.settings import default_file, every_setting
    from amgs_app.workplace.settings_file import change_settings

    starts = [word for word in words or ("",) if "=" not in word]
    if changes := [word for word in words or () if "=" in word]:
        starts = [*(word for word in starts if word != "set"), *change_settings(changes, engine.options.settings)]
    every = every_setting(engine.options.settings)
    matches = tuple(  # an entry of a table is listed with the table
        setting
        for setting in every
        if any(setting.key.startswith(w) or w.startswith(f"{setting.key}.") for w in starts)
    )
    if not matches:
        sections = dict.fromkeys(setting.key.rsplit(".", 1)[0] for setting in every)
        raise UsageError(f"No setting starts with {starts[0]!r}.", way_out=f"Sections: {', '.join(sections)}.")
    return results.SettingsList(str(engine.options.settings or default_file()), matches)


@operation(
    "help",
    place="here",
    summary="List the commands, explain a command, or find those that a word means.",
    synonyms=("commands", "manual"),
    example="help frame assemble",
    keys=("f1", "question_mark"),
)
def help_command(
    engine: Engine,  # noqa: ARG001 - every operation is handed the engine
    words: Annotated[
        list[str] | None,
        Arg(metavar="WORD", help="A command, its first word, or a word for what you want to do."),
        Takes("command"),
    ] = None,
    *,
    every: Annotated[bool, Option("--all", help="List every command.")] = False,
) -> results.HelpList | results.CommandGroups:
    """Show the first words of all commands by what they are for; explain a command with its arguments; or find commands
    by a word of their name, of what they do, or of what people call that: `help forget`.
    """
    from amgs_app.calls.plain_values import SHARED_OPTIONS, flag_of
    from amgs_app.calls.registry import EXAMPLES, FRONT_ENDS, PANELS, standard

    registry = standard()
    if every:
        return results.HelpList(tuple(_explain_command(command) for command in registry))
    ways = tuple(EXAMPLES)
    if not words:
        return results.CommandGroups((*PANELS.items(), (FRONT_ENDS, ways)), len(registry) + len(ways))
    typed = " ".join(words)
    if typed == "options":
        shared = tuple((f"{flag_of(name)} {takes}".strip(), about) for name, (takes, about) in SHARED_OPTIONS.items())
        return results.HelpList(
            (results.VerbHelp(typed, "amgs COMMAND [OPTIONS]", "", "The options of every command.", shared),)
        )
    if typed in ways:
        explanation = f"A way to work with a memory: `amgs {typed} --help` explains it."
        return results.HelpList((results.VerbHelp(typed, typed, "", explanation, (), example=EXAMPLES[typed]),))
    chosen, _ = registry.find(words)
    matches = find_commands(registry, typed) if len(words) == 1 or chosen is None else []
    if chosen is not None:
        also = tuple(_explain_command(command) for command in matches if command is not chosen)
        return results.HelpList((_explain_command(chosen),), also)
    below = [] if len(words) > 1 else registry.nouns().get(typed, [])
    matches = [*below, *(command for command in matches if command not in below)] or [registry[typed]]
    return results.HelpList(tuple(_explain_command(command) for command in matches))


def find_commands(registry: Registry, typed: str) -> list[Operation[..., Any]]:
    """Return the commands whose name, synonyms or summary have a word beginning with each typed word, best first."""
    words = typed.casefold().split()

    def begins(word: str, texts: Iterable[str]) -> bool:
        return any(part.startswith(word) for text in texts for part in re.findall(r"[\w-]+", text.casefold()))

    return sorted(
        (
            command
            for command in registry
            if all(begins(word, (command.name, command.summary, *command.synonyms)) for word in words)
        ),
        key=lambda command: nearness(command.name, command.synonyms, words),
    )


def _explain_command(command: Operation[..., Any]) -> results.VerbHelp:
    """Return the help of a command."""
    described: list[tuple[str, str]] = []
    for parameter in command.parameters:
        label = ", ".join(parameter.flags) if parameter.is_option else parameter.label
        default: Any = parameter.default
        shown = "" if default is None or default is False or default == "" else f" [{default}]"
        named = all(choice in parameter.help for choice in parameter.choices or ())
        choices = "" if named else f" ({', '.join(parameter.choices)})"
        described.append((label, f"{parameter.help}{choices}{shown}"))
    return results.VerbHelp(
        command.name,
        command.usage(),
        command.summary,
        command.help,
        tuple(described),
        command.keys,
        command.example,
        command.synonyms,
    )

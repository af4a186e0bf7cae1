"""The whole: `status`, `show`, `theme`, `help`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from amgs.errors import UsageError
from amgs_app.operations.call import Call
from amgs_app.operations.marks import Arg, Takes
from amgs_app.operations.operation import Operation, Pane, operation
from amgs_app.operations.results import HelpList, Overview, PaneState, SettingsList, Shown, ThemeSet, VerbHelp
from amgs_app.operations.standard import standard

if TYPE_CHECKING:
    from amgs.types import Health
    from amgs_app.session import Session


@operation("status", summary="Show the health of memory, model and session at a glance.", pane="overview")
def status(session: Session) -> Overview:
    """Show blocks by state, edges, frames, mean relevance, the Brier score, and the model."""
    return Overview(
        store=session.memory.status(),
        corpus=session.corpus_name,
        model=session.model_spec,
        model_loaded=session.model_is_loaded,
        seed=session.seed,
        selection=session.selection,
        focus=session.focus_view,
        sample_time=session.sample_time,
    )


@operation("health", summary="Check each area of the memory and say what needs attention.", pane="overview")
def health(session: Session) -> Health:
    """Check inbox, consolidation, graph, decay, review queue, calibration and budget; where something needs attention,
    name the command for it.
    """
    return session.memory.health()


@operation("show", summary="Show a pane with current data.")
def show(
    session: Session,
    pane: Annotated[Pane, Arg(metavar="PANE", help="The pane."), Takes("pane")],
) -> Shown:
    """Show a pane with current data; `snapshot` then writes its picture.

    graph and decay show the selected block, or the whole memory when none is selected.
    """
    call = _call_of(session, pane)
    if call is not None:
        session.panes[pane] = PaneState(call.line(), call.run(session))
    elif pane not in session.panes and session.memory.frames.last() is not None:
        last = standard().call("frame last")
        session.panes[pane] = PaneState(last.line(), last.run(session))
    elif pane not in session.panes:
        raise UsageError("Nothing was assembled or searched yet.", way_out="`frame assemble SESSION` first.")
    session.pane = pane
    return Shown(pane, session.panes[pane].result)


def _call_of(session: Session, pane: Pane) -> Call[Any] | None:
    """The call whose result the pane shows when it is brought up to date.

    None for what is kept as it was made.
    """
    selected = session.selection is not None
    names: dict[Pane, str | None] = {
        "overview": "status",
        "inbox": "inbox list",
        "frame": None,
        "graph": "graph neighbours" if selected else "graph stats",
        "decay": "decay curve" if selected else "decay forecast",
        "calibration": "calibration table",
        "focus": "focus view",
    }
    name = names[pane]
    return None if name is None else standard().call(name)


@operation("theme", summary="Choose the colour theme.")
def theme(
    session: Session,
    name: Annotated[
        str | None, Arg(metavar="NAME", help="A theme; default: list them."), Takes("theme")
    ] = None,
) -> ThemeSet:
    """Choose the palette of the screen and of snapshots; without NAME, list the palettes."""
    from amgs_app.session import theme_folders
    from amgs_app.themes import load_all

    known = tuple(load_all(theme_folders())[0])
    if name is not None and name not in known:
        raise UsageError(f"There is no theme {name!r}.", way_out=f"Available: {', '.join(known)}.")
    if name is not None:
        session.theme_name = name
    return ThemeSet(session.theme_name or known[0], known)


@operation("settings", summary="List every setting with its value and where it comes from.")
def settings(
    session: Session,
    start: Annotated[
        str, Arg(metavar="KEY", help="Only keys that start with this, such as memory.decay.")
    ] = "",
) -> SettingsList:
    """List the settings of this run: the key, its value, its default, and the file or the variable that sets it."""
    from amgs_app.settings import default_file, every_setting

    every = every_setting(session.options.settings)
    found = tuple(each for each in every if each.key.startswith(start))
    if not found:
        sections = dict.fromkeys(each.key.rsplit(".", 1)[0] for each in every)
        raise UsageError(f"No setting starts with {start!r}.", way_out=f"Sections: {', '.join(sections)}.")
    return SettingsList(str(session.options.settings or default_file()), found)


@operation("help", summary="List the commands, or explain one.", keys=("f1", "question_mark"))
def help_command(
    session: Session,  # noqa: ARG001 - every operation is handed the session
    words: Annotated[
        list[str] | None,
        Arg(metavar="COMMAND", help="A command, or its first word."),
        Takes("command"),
    ] = None,
) -> HelpList:
    """List all commands, or explain one with its arguments."""
    registry = standard()
    if not words:
        return HelpList(tuple(_explained(each) for each in registry))
    chosen, _ = registry.find(words)
    found = [chosen] if chosen is not None else registry.nouns().get(words[0], [])
    if not found:
        found = [registry[" ".join(words)]]
    return HelpList(tuple(_explained(each) for each in found))


def _explained(each: Operation[..., Any]) -> VerbHelp:
    described: list[tuple[str, str]] = []
    for parameter in each.parameters:
        label = ", ".join(parameter.flags) if parameter.is_option else parameter.label
        default: Any = parameter.default
        shown = "" if default is None or default is False or default == "" else f" [{default}]"
        choices = f" ({', '.join(parameter.choices)})" if parameter.choices else ""
        described.append((label, f"{parameter.help}{choices}{shown}"))
    return VerbHelp(each.name, each.usage(), each.summary, each.help, tuple(described), each.keys)

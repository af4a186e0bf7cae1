"""Everything that the operator can do now, for the palette: keys of panes and of the program, commands, themes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from textual.binding import Binding

from amgs_tui.dialogs.palette import Action
from amgs_tui.widgets.keybar import name_key
from amgs_tui.widgets.tabs import TITLES

if TYPE_CHECKING:
    from textual.app import App

    from amgs_app.calls.registry import Registry
    from amgs_tui.appearance import Appearance
    from amgs_tui.host import Host
    from amgs_tui.main_screen import MainScreen
    from amgs_tui.panes.base import Pane

NO_ACTIONS: Final = ("walk", "move", "page", "edge", "command_palette")
"""Actions that only move the cursor or focus, which nobody looks up."""


def actions_of(
    app: App[Any], host: Host, screen: MainScreen, appearance: Appearance, registry: Registry | None
) -> list[Action]:
    """Return all actions: keys of the focused pane, global keys, keys of the other panes, commands, themes."""
    focused = screen.focused_pane

    def keys_of(pane: Pane) -> Iterator[Action]:
        """Return what the keys of a pane do; carried out in the pane, which is brought to the front for it."""

        async def perform(action: str) -> None:
            if screen.focused_pane is not pane:
                screen.go(pane.NAME)
            if not await app.run_action(action, default_namespace=pane):
                app.notify("There is nothing to apply it to yet.", title="Not available now", timeout=4)

        return _list_binding_actions(pane.BINDINGS, partial(app.call_later, perform), appearance, pane)

    actions = [*keys_of(focused)] if focused is not None else []
    run = partial(app.call_later, app.run_action)
    actions += _list_binding_actions(appearance.commands, run, appearance)
    actions += _list_binding_actions(app.BINDINGS, run, appearance)
    for pane in screen.panes:
        if pane is not focused:
            actions += keys_of(pane)
    commands = [*_commands(host, registry)]
    actions += commands
    for name, palette in appearance.palettes.items():
        text = f"Use the {'dark' if palette.dark else 'light'} colour theme {palette.title}"
        actions.append(Action(f"theme {name}", text, partial(host.run_line, f"theme {name}")))
    return actions


def _commands(host: Host, registry: Registry | None) -> Iterator[Action]:
    """Yield every command; one with required arguments opens the command line."""
    run: Callable[[], object]
    for operation in registry or ():
        if any(parameter.required for parameter in operation.parameters):
            name, run = f"{operation.name} …", partial(host.command, f"{operation.name} ")
        else:
            name, run = operation.name, partial(host.run_line, operation.name)
        yield Action(name, operation.summary, run, synonyms=operation.synonyms)


def _list_binding_actions(
    bindings: Iterable[Any], run: Callable[[str], object], appearance: Appearance, pane: Pane | None = None
) -> Iterator[Action]:
    """Yield an action for each binding, with its keys from the settings; duplicates only once."""
    for binding in bindings:
        if not isinstance(binding, Binding) or not binding.id or binding.action.split("(")[0] in NO_ACTIONS:
            continue
        keys = appearance.keys.get(binding.id, binding.key)
        text = binding.tooltip or binding.description
        name = f"pane {binding.description}" if binding.action.startswith("go(") else binding.description
        yield Action(
            name,
            text,
            partial(run, binding.action),
            " ".join(name_key(key.strip()) for key in keys.split(",")),
            TITLES[pane.NAME][0] if pane is not None else "",
            pane is None or pane.check_action(binding.action.split("(")[0], ()) is not False,
        )

"""Say what the operator can do now: the palette of all actions for ctrl+p, and help on the focused pane for `?`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.binding import ActiveBinding, Binding
from textual.content import Content

from amgs_app.reference import SCREEN, TERMS, Words
from amgs_app.render.glyphs import wrap
from amgs_tui.dialogs.palette import Action
from amgs_tui.dialogs.reader import TextReader
from amgs_tui.panes.base import Pane
from amgs_tui.panes.lists import ListPane
from amgs_tui.widgets.bars import TITLES, name_key

if TYPE_CHECKING:
    from textual.app import App

    from amgs_app.calls.registry import Registry
    from amgs_tui.appearance import Appearance
    from amgs_tui.host import Host
    from amgs_tui.main_screen import MainScreen


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
    """Yield every command; a command with required arguments opens the command line."""
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


GENERAL: Final = """\
One block is selected at a time, and every pane shows it. Most keys run a command; the command line (:), the palette
(ctrl+p), `amgs shell` and scripts run the same ones. Long actions show their progress in the line above the keys and
stop with esc. docs/keys.md lists the ids by which the settings give an action another key."""

ROWS: Final = """\
F filters: a word of their texts, field:word, field=3, field>0.5; ! before a term negates it; all terms must hold, and a
blank line shows all rows again. Fields: {fields}. O sorts by {sorts}. Both are saved with the layout."""

FIRST: Final = ("up", "pageup", "home", "left", "minus", "less_than_sign", "comma")
"""Of two keys for the same thing, these are shown first: ← before →."""

Page = list[str | tuple[str, str]]


class Help(TextReader):
    """The help of a pane; `?` continues to the glossary."""

    BINDINGS: ClassVar[list[Any]] = [
        Binding("question_mark,f1", "glossary", "glossary", id="help.glossary", tooltip="Open the glossary")
    ]

    def __init__(self, pane: Pane | None, bindings: dict[str, ActiveBinding]) -> None:
        title = str(pane.border_title) if pane is not None else "The workstation"
        self._of = pane.NAME if pane is not None else ""
        self._title = title
        super().__init__(title, lambda width: help_page(pane, bindings, width), "? glossary · ↑ ↓ scroll · esc closes")

    def action_glossary(self) -> None:
        title, of = f"Glossary: {self._title}" if self._of else "Glossary", self._of
        self.app.switch_screen(TextReader(title, lambda width: glossary_page(width, of)))


def glossary_page(width: int, of: str = "") -> Content:
    """Return the terms of a pane, then the general terms, as in docs/glossary.md."""
    own: Page = []
    if of in SCREEN:
        own = [("Words of this pane\n", "bold $accent"), *_words(SCREEN[of], width)]
        own += [("\nWords that are used everywhere\n", "bold $accent")]
    return Content.assemble(*own, *_words(TERMS, width))


def help_page(pane: Pane | None, bindings: dict[str, ActiveBinding], width: int) -> Content:
    """Return the help of a pane (None: of the program) as a page, `width` cells wide."""
    pieces: Page = []
    everywhere = [active for active in bindings.values() if active.node is not pane]
    if pane is not None:
        own = [active for active in bindings.values() if active.node is pane]
        order = [binding.id for binding in pane.BINDINGS if isinstance(binding, Binding)]
        own.sort(key=lambda active: order.index(active.binding.id) if active.binding.id in order else len(order))
        shared = {binding.id for binding in ListPane.BINDINGS if isinstance(binding, Binding)}
        moving = [active for active in own if active.binding.id in shared]
        pieces += [*_paragraph(pane.PURPOSE, width), ("\nKeys of this pane\n", "bold $accent")]
        pieces += _keys([active for active in own if active not in moving], width)
        if moving:
            pieces += [("\nIn the list\n", "bold $accent"), *_keys(moving, width)]
        listing = pane.sifting.listing
        row_help = ROWS.format(fields=", ".join(listing.fields), sorts=", ".join(listing.sorts))
        pieces += _paragraph(row_help, width)
        pieces += [("\nWords on this screen\n", "bold $accent"), *_words(SCREEN.get(pane.NAME, ()), width)]
    pieces += [("\nKeys everywhere\n", "bold $accent"), *_keys(everywhere, width)]
    pieces += [("\nThe workstation\n", "bold $accent"), *_paragraph(GENERAL, width)]
    return Content.assemble(*pieces)


def _paragraph(text: str, width: int) -> Page:
    return [f"{line}\n" for line in wrap(" ".join(text.split()), max(20, width), 99)]


def _words(words: Words, width: int) -> Page:
    return _rows([(name, text) for name, text in words], width)


def _keys(bindings: Iterable[ActiveBinding], width: int) -> Page:
    """Return keys and what they do in order: keys of the same action on a line, those with the same label together."""
    keys: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    groups: dict[str, list[str]] = {}
    for active in bindings:
        binding = active.binding
        if binding.system or not binding.id or not binding.description:
            continue
        if binding.id not in keys:
            group = groups.setdefault(binding.description, [])
            group.insert(0 if binding.key.split("_")[0] in FIRST or binding.key in FIRST else len(group), binding.id)
        keys.setdefault(binding.id, []).append(name_key(binding.key))
        texts[binding.id] = binding.tooltip or binding.description
    return _rows([(" ".join(keys[name]), texts[name]) for group in groups.values() for name in group], width)


def _rows(rows: Sequence[tuple[str, str]], width: int) -> Page:
    """Return names and texts in two columns, with continuation lines indented."""
    wide = min(20, max((len(name) for name, _ in rows), default=0)) + 2
    pieces: Page = []
    for name, text in rows:
        first, *more = wrap(text, max(16, width - wide - 2), 9)
        gap = " " * max(1, wide - len(name))
        pieces += [(f"  {name}{gap}", "bold $foreground"), (f"{first}\n", "$muted")]
        pieces += [(f"  {' ' * wide}{line}\n", "$muted") for line in more]
    return pieces

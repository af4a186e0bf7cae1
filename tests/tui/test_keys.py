"""Keys of the operator's own: what may be given, what is refused and why, and that the screen obeys."""

from __future__ import annotations

import pytest
from textual.binding import Binding

from amgs_tui.help import help_page
from amgs_tui.keys import ACTS, EVERYWHERE, EXCEPTIONS, own_commands, remap
from amgs_tui.messages import Opening
from amgs_tui.panes.base import Pane
from amgs_tui.panes.by_key import PANE_TYPES
from amgs_tui.panes.lists import ListPane
from tests.tui.app_drive import drive
from tests.tui.app_world import World

STEP = [binding for binding in EVERYWHERE if binding.id in ("app.find", "app.peek", "app.command")]


@pytest.mark.parametrize(
    ("name", "keys", "why"),
    [
        ("app.nothing", "v", "no such action"),
        ("app.peek", "ctrl+z", "terminals reserve ctrl+z"),
        ("app.peek", "slash", "is already used by app.find"),
        ("app.peek", "hyper", "no key called hyper"),
        ("app.peek", " ", "no key is given"),
    ],
)
def test_what_cannot_be_is_named_and_the_rest_holds(name: str, keys: str, why: str) -> None:
    keymap, problems = remap({name: keys, "app.command": "v"}, [STEP])
    assert keymap == {"app.command": "v"}
    assert len(problems) == 1 and why in problems[0] and name in problems[0]


async def test_the_screen_answers_the_new_key_and_no_more_the_old_one() -> None:
    async with drive(World(consolidated=6), (120, 40)) as driven:
        driven.app.use_keys({"app.command": "f9", "app.find": "ctrl+z"}, {})
        await driven.settle()
        assert "app.find" in driven.text and "[screen.keys]" in driven.text
        await driven.press("colon")
        assert not driven.app.main.has_class("-asking")
        await driven.press("f9")
        assert driven.app.main.has_class("-asking")


# --- what keys mean ---------------------------------------------------------------------------------------


def of_panes() -> list[tuple[str, str, list[str]]]:
    """Pane, id and keys of each action that a pane has for itself."""
    lists = {str(each.id) for each in ListPane.BINDINGS}
    return [
        (kind.NAME, str(each.id), each.key.split(","))
        for kind in PANE_TYPES
        for each in bindings_of(kind)
        if each.id not in lists
    ]


def bindings_of(kind: type[Pane]) -> list[Binding]:
    return [each for each in kind.BINDINGS if isinstance(each, Binding)]


def test_a_key_means_the_same_in_all_panes_but_for_the_exceptions_that_are_told() -> None:
    everywhere = {key for binding in EVERYWHERE for key in binding.key.split(",")}
    used: dict[str, dict[str, str]] = {}
    for pane, name, keys in of_panes():
        for key in keys:
            used.setdefault(key, {})[name] = pane
    for key, actions in used.items():
        if key in ACTS or key in everywhere or len({*actions.values()}) > 1:
            act, meant = ACTS.get(key, ("", ()))
            others = {*actions} - {*meant} - {*EXCEPTIONS}
            assert not others, f"{key} means “{act}” elsewhere, but not in {sorted(others)}"


def test_a_command_of_ones_own_needs_a_free_key_and_a_line_that_is_one() -> None:
    wanted = {"ctrl+g": "graph stats | json", "ctrl+n": "search …", "slash": "graph stats", "f7": "grph stats"}
    found, problems = own_commands({**wanted, "f8": "", "f9,f10": "status"}, [STEP], {"app.peek": "f6"})
    assert [(each.key, each.description) for each in found] == list(wanted.items())[:2]
    assert len(problems) == 4
    assert "already used by app.find" in problems[0] and "grph" in problems[1]
    assert "no command is given" in problems[2] and "one key" in problems[3]
    assert own_commands({"f6": "status"}, [STEP], {"app.peek": "f6"})[1], "a key that the settings gave away"
    assert own_commands({"p": "status"}, [STEP], {"app.peek": "f6"})[0], "a key that the settings set free"


async def test_commands_of_ones_own_run_by_their_keys_and_stand_in_help_and_palette() -> None:
    async with drive(World(consolidated=6), (120, 40)) as driven:
        app = driven.app
        app.router._take_opening(Opening(commands={"ctrl+g": "graph stats", "ctrl+n": "search …", "q": "status"}))
        await driven.pilot.pause()
        assert '"q" = "status": is already used by app.quit' in driven.text
        await driven.press("ctrl+g")
        assert app.history.entries[0].line == "graph stats" and app.history.entries[0].done
        await driven.press("ctrl+n")
        await driven.type("mirror", "enter")
        assert app.history.entries[0].line.startswith("search mirror")
        assert any(action.keys == "^g" and action.name == "graph stats" for action in app.actions())
        told = help_page(app.main.focused_pane, app.screen.active_bindings, 100).plain
        assert "Your own: graph stats" in told

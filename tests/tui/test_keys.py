"""Keys of the operator's own: what may be given, what is refused and why, and that the screen obeys."""

from __future__ import annotations

import pytest
from textual.binding import Binding

from amgs_tui.engine_worker import Opening
from amgs_tui.grammar import ACTS, EXCEPTIONS
from amgs_tui.keys import EVERYWHERE, remapped
from amgs_tui.panes import PANE_TYPES
from amgs_tui.panes.base import Pane
from amgs_tui.panes.focus import FocusPane
from amgs_tui.panes.lists import ListPane
from tests.tui.app_drive import drive
from tests.tui.app_world import World

STEP = [binding for binding in EVERYWHERE if binding.id in ("app.find", "app.peek", "app.command")]


def test_a_free_key_is_taken() -> None:
    assert remapped({"app.peek": "v"}, [STEP]) == ({"app.peek": "v"}, ())


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
    keymap, problems = remapped({name: keys, "app.command": "v"}, [STEP])
    assert keymap == {"app.command": "v"}
    assert len(problems) == 1 and why in problems[0] and name in problems[0]


def test_two_actions_may_swap_their_keys() -> None:
    keymap, problems = remapped({"app.peek": "slash", "app.find": "p"}, [STEP])
    assert keymap == {"app.peek": "slash", "app.find": "p"} and not problems


def test_panes_that_are_not_offered_together_may_share_a_key() -> None:
    lists = [binding for binding in ListPane.BINDINGS if binding.id == "list.down"]
    steps = [binding for binding in FocusPane.BINDINGS if binding.id == "focus.step"]
    assert remapped({"focus.step": "j"}, [STEP + lists, STEP + steps]) == ({"focus.step": "j"}, ())
    _, problems = remapped({"focus.step": "j"}, [STEP + lists + steps])
    assert problems == ('focus.step = "j" is already used by list.down',)


def test_a_key_that_a_refused_action_keeps_is_not_given_away() -> None:
    keymap, problems = remapped({"app.peek": "slash", "app.find": "ctrl+z"}, [STEP])
    assert keymap == {} and len(problems) == 2


async def test_the_screen_answers_the_new_key_and_no_more_the_old_one() -> None:
    async with drive(World(consolidated=6), (120, 40)) as driven:
        driven.app.use_keys({"app.command": "f9", "app.find": "ctrl+z"})
        await driven.settle()
        assert "app.find" in driven.text and "[screen.keys]" in driven.text
        await driven.press("colon")
        assert not driven.app.main.has_class("-asking")
        await driven.press("f9")
        assert driven.app.main.has_class("-asking")


def test_an_opening_without_settings_changes_nothing() -> None:
    assert Opening.of(object()) == Opening()


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


def test_the_acts_and_their_exceptions_name_actions_that_have_their_key() -> None:
    keys = {name: keys for _, name, keys in of_panes()}
    assert all(key in keys[name] for key, (_, names) in ACTS.items() for name in names)
    assert EXCEPTIONS.keys() <= keys.keys()
    assert all(any(key in ACTS for key in keys[name]) for name in EXCEPTIONS), "no exception without a rule"

"""Keys of the operator's own: what may be given, what is refused and why, and that the screen obeys."""

from __future__ import annotations

import pytest

from amgs_tui.engine_worker import Opening
from amgs_tui.keys import EVERYWHERE, remapped
from tests.tui.app_drive import drive
from tests.tui.app_world import World

STEP = [binding for binding in EVERYWHERE if binding.id in ("app.find", "app.peek", "app.command")]


def test_a_free_key_is_taken() -> None:
    assert remapped({"app.peek": "v"}, STEP) == ({"app.peek": "v"}, ())


@pytest.mark.parametrize(
    ("name", "keys", "why"),
    [
        ("app.nothing", "v", "no such action"),
        ("app.peek", "ctrl+z", "terminals keep ctrl+z"),
        ("app.peek", "slash", "slash is the key of app.find"),
        ("app.peek", "hyper", "no key called hyper"),
        ("app.peek", " ", "no key is named"),
    ],
)
def test_what_cannot_be_is_named_and_the_rest_holds(name: str, keys: str, why: str) -> None:
    keymap, problems = remapped({name: keys, "app.command": "v"}, STEP)
    assert keymap == {"app.command": "v"}
    assert len(problems) == 1 and why in problems[0] and name in problems[0]


def test_two_actions_may_swap_their_keys() -> None:
    keymap, problems = remapped({"app.peek": "slash", "app.find": "p"}, STEP)
    assert keymap == {"app.peek": "slash", "app.find": "p"} and not problems


async def test_the_screen_answers_the_new_key_and_no_more_the_old_one() -> None:
    async with drive(World(consolidated=6), (120, 40)) as driven:
        driven.app.use_keys({"app.command": "f9", "app.find": "ctrl+z"})
        await driven.settle()
        assert "app.find" in driven.text and "[screen.keys]" in driven.text
        await driven.press("colon")
        assert not driven.app.floor.has_class("-asking")
        await driven.press("f9")
        assert driven.app.floor.has_class("-asking")


def test_an_opening_without_settings_changes_nothing() -> None:
    assert Opening.of(object()) == Opening()

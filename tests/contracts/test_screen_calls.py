"""Every request that the screen sends by name binds to the signature of its operation. They are read from the source.

What panes ask is a typed call, which mypy checks; left are the requests that the screen itself sends with `submit`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from amgs_app.calls.registry import Registry, standard
from amgs_tui.panes.by_key import PANE_TYPES

SCREEN = Path(__file__).parents[2] / "amgs_tui"
HANDED_ON = frozenset(
    {
        # what a typed call holds
        "self.engine.submit(name, arguments, slot=slot, origin=origin, follow=follow)",
        "self.engine.submit(line=line)",  # a line that the operator typed is bound by the parser
        "self.engine.submit(command, slot=command, origin='screen')",  # two looks without arguments
    }
)
"""Requests whose operation or arguments do not stand in the call."""


@pytest.fixture(scope="module")
def registry() -> Registry:
    return standard()


def _requests() -> Iterator[tuple[str, ast.Call]]:
    """Every call of `submit`, with the place where it stands."""
    for path in sorted(SCREEN.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "submit":
                yield f"{path.relative_to(SCREEN)}:{node.lineno}", node


def _literal(node: ast.Call) -> tuple[str, frozenset[str]] | None:
    """The operation and the names of the arguments where both stand there."""
    if not node.args or not isinstance(node.args[0], ast.Constant):
        return None
    if len(node.args) == 1:
        return str(node.args[0].value), frozenset()
    given = node.args[1]
    if not isinstance(given, ast.Dict):
        return None
    keys = [key.value for key in given.keys if isinstance(key, ast.Constant)]
    return (str(node.args[0].value), frozenset(map(str, keys))) if len(keys) == len(given.keys) else None


def test_every_request_of_the_screen_names_its_operation_or_hands_one_on() -> None:
    found = dict(_requests())
    assert len(found) > 2, "the requests are found at all"
    handed = {ast.unparse(node) for node in found.values() if _literal(node) is None}
    assert handed == HANDED_ON


def test_every_request_of_the_screen_binds_to_its_operation(registry: Registry) -> None:
    known = {operation.name: operation for operation in registry}
    wrong = []
    for where, node in _requests():
        sent = _literal(node)
        if sent is None:
            continue
        name, given = sent
        if name not in known:
            wrong.append(f"{where}: no operation {name!r}")
            continue
        names = {parameter.name for parameter in known[name].parameters}
        needed = {parameter.name for parameter in known[name].parameters if parameter.required}
        wrong += [f"{where}: {name} takes no {each}" for each in sorted(given - names)]
        wrong += [f"{where}: {name} needs {each}" for each in sorted(needed - given)]
    assert wrong == []


def test_every_command_behind_a_key_is_one(registry: Registry) -> None:
    actions = [binding.action for kind in PANE_TYPES for binding in kind.BINDINGS]
    lines = [ast.literal_eval(action[4:-1]) for action in actions if action.startswith("run(")]
    assert lines and all(registry.parse(line) for line in lines)  # parse raises for a line that is none

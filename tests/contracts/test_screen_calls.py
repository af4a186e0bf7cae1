"""Every request that the screen sends binds to the signature of its verb. The calls are read from the source, so that
none is missed.

A call whose verb and arguments stand there literally is checked as it is. Any other has to be explained in EXPLAINED,
by the text of the call: which verbs it may be, and which arguments it may have.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from amgs_app.operations.registry import Registry
from amgs_app.operations.standard import standard

SCREEN = Path(__file__).parents[2] / "amgs_tui"
FILES = sorted(
    [*(path for folder in ("panes", "dialogs", "widgets") for path in (SCREEN / folder).glob("*.py"))]
    + [SCREEN / name for name in ("app.py", "dispatcher.py", "main_screen.py")]
)
TRANSPORT = frozenset({"origin", "slot", "line"})
"""Arguments of `ask` and `submit` themselves."""
SENDERS = ("ask", "submit", "_correct", "_sift_by")
"""Methods that send what they are given, by their names."""


@dataclass(frozen=True)
class Sent:
    """A request: where it is sent, the verb, the arguments that it always has, and those that it may have."""

    where: str
    verb: str
    given: frozenset[str]
    maybe: frozenset[str] = frozenset()


Explained = Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]

EXPLAINED: Explained = {
    # what a pane is given by its own `asks`, which is read where it stands
    "self.ask(verb, origin='screen', **arguments)": ((), ()),
    # hands on what `ask`, `filter` and `sort` are given
    "self.workstation.submit(verb, arguments, slot=slot, origin=origin)": ((), ()),
    "self.engine.submit(verb, arguments, line=line, slot=slot, origin=origin)": ((), ()),
    "self.workstation.submit(verb, arguments, slot=f'{self.NAME}:{verb}')": ((), ()),
    "self._sift_by('filter', wanted, terms=list(wanted.terms))": (("filter",), ("pane", "terms")),
    "self._sift_by('sort', wanted, field=wanted.order)": (("sort",), ("pane", "field")),
    # lines that the operator typed or chose are bound by the parser
    "self.submit(line=rest)": ((), ()),
    "self.submit('layout set', arguments, slot='layout', origin='screen')": (
        ("layout set",),
        ("pane", "beside", "large"),
    ),
    "self.ask('consolidate edit', block=item.block.id, **what)": (("consolidate edit",), ("block",)),
    "self._correct(**{'keep' if gone else 'drop': [str(self.edge + 1)]})": (
        ("consolidate edit",),
        ("keep", "drop"),
    ),
    "self.ask(f'focus {word}', node=str(self.entry.node), release=said)": (
        ("focus pin", "focus forbid"),
        ("node", "release"),
    ),
    "self.ask(f'review {verdict}', review=item.review.id)": (("review accept", "review reject"), ("review",)),
    # tuples of `asks`
    "('calibration table', {'bins': self.bins, **only})": (("calibration table",), ("bins", "by", "value")),
    "('calibration forecasts', {'bins': self.bins, **inside, **only})": (
        ("calibration forecasts",),
        ("bins", "limit", "bin", "state", "by", "value"),
    ),
    "('graph neighbours', {'block': selected, 'hops': self.hops, **only})": (
        ("graph neighbours",),
        ("block", "hops", "relation"),
    ),
    "('inbox list', {'limit': PAGE, 'offset': max(0, self._place - PAGE // 2)} | wanted)": (
        ("inbox list",),
        ("limit", "offset", "only", "by", "reverse"),
    ),
    "('decay preview', {'block': selected, 'days': self.reach} | self._pace)": (
        ("decay preview",),
        ("block", "days", "profile", "pin"),
    ),
    "('decay forecast', {'days': self.days} | what_if)": (
        ("decay forecast",),
        ("days", "block", "profile", "pin"),
    ),
}


@pytest.fixture(scope="module")
def registry() -> Registry:
    return standard()


def _requests() -> Iterator[tuple[str, ast.Call | ast.Tuple]]:
    """Every call of `ask` or `submit`, and every pair of a verb and its arguments in a method that makes such pairs."""
    for path in FILES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            where = f"{path.relative_to(SCREEN)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr in SENDERS and "Prompt" not in ast.unparse(node.func):
                    yield where, node
            elif isinstance(node, ast.FunctionDef) and "asks" in node.name:
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Tuple) and len(inner.elts) == 2:
                        yield f"{path.relative_to(SCREEN)}:{inner.lineno}", inner


def _literal(node: ast.Call | ast.Tuple) -> tuple[str, frozenset[str]] | None:
    """The verb and the names of the arguments where both stand there; None where they have to be explained."""
    if isinstance(node, ast.Tuple):
        return _named(node.elts[0], node.elts[1])
    names = {keyword.arg for keyword in node.keywords if keyword.arg not in TRANSPORT}
    if isinstance(node.func, ast.Attribute) and node.func.attr == "_correct" and None not in names:
        return "consolidate edit", frozenset(str(name) for name in names)
    if not node.args or None in names:
        return None
    if len(node.args) > 1:
        return _named(node.args[0], node.args[1])
    verb = node.args[0]
    return (str(verb.value), frozenset(map(str, names))) if isinstance(verb, ast.Constant) else None


def _named(verb: ast.expr, arguments: ast.expr) -> tuple[str, frozenset[str]] | None:
    if not isinstance(verb, ast.Constant) or not isinstance(arguments, ast.Dict):
        return None
    keys = [key.value for key in arguments.keys if isinstance(key, ast.Constant)]
    return (str(verb.value), frozenset(map(str, keys))) if len(keys) == len(arguments.keys) else None


def _sent() -> tuple[list[Sent], list[str], set[str]]:
    """What is sent, the requests that nothing explains, and the explanations that were used."""
    sent, unexplained, used = [], [], set()
    for where, node in _requests():
        plain = _literal(node)
        text = ast.unparse(node)
        if plain is not None:
            sent.append(Sent(where, *plain))
        elif text in EXPLAINED:
            used.add(text)
            verbs, names = EXPLAINED[text]
            sent += [Sent(where, verb, frozenset(), frozenset(names)) for verb in verbs]
        else:
            unexplained.append(f"{where}: {text}")
    return sent, unexplained, used


def test_every_request_of_the_screen_is_literal_or_explained() -> None:
    sent, unexplained, used = _sent()
    assert unexplained == []
    assert used == set(EXPLAINED), "an explanation whose call is gone"
    assert len(sent) > 50, "the calls are found at all"


def test_every_request_of_the_screen_binds_to_its_verb(registry: Registry) -> None:
    verbs = {verb.name: verb for verb in registry}
    wrong = []
    for each in _sent()[0]:
        if each.verb not in verbs:
            wrong.append(f"{each.where}: no verb {each.verb!r}")
            continue
        known = {parameter.name for parameter in verbs[each.verb].parameters}
        needed = {parameter.name for parameter in verbs[each.verb].parameters if parameter.required}
        if extra := (each.given | each.maybe) - known:
            wrong.append(f"{each.where}: {each.verb} takes no {', '.join(sorted(extra))}")
        if missing := needed - each.given - each.maybe:
            wrong.append(f"{each.where}: {each.verb} needs {', '.join(sorted(missing))}")
    assert wrong == []

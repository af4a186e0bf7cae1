"""The registry: one parser, calls that turn into lines and back, and errors that name the word."""

from __future__ import annotations

import string
from datetime import datetime
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs_app.calls.call import Call
from amgs_app.calls.marks import Parameter
from amgs_app.calls.operation import Operation
from amgs_app.calls.registry import Registry, standard
from amgs_app.terminal.line import LineError


@pytest.fixture(scope="module")
def registry() -> Registry:
    return standard()


def _values(verb: Operation[..., Any], parameter: Parameter) -> st.SearchStrategy[Any]:
    """Values that this parameter may have, by its annotation."""
    annotation = verb.signature.parameters[parameter.name].annotation
    least = 2
    if hasattr(annotation, "__metadata__"):
        annotation, option, *_ = get_args(annotation)
        least = max(least, int(getattr(option, "min", None) or 0))
    kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
    inner = kinds[0] if get_origin(annotation) is not list and kinds else annotation
    if parameter.choices:
        one: st.SearchStrategy[Any] = st.sampled_from(parameter.choices)
    else:
        one = _scalar(get_args(inner)[0] if parameter.many else inner, least)
    return st.lists(one, min_size=1) if parameter.many else one


def _scalar(kind: Any, least: int) -> st.SearchStrategy[Any]:
    if kind is bool:
        return st.booleans()
    if kind is int:
        return st.integers(least, least + 2)
    if kind is float:
        return st.floats(0.02, 0.99)
    if kind is datetime:
        return st.datetimes().map(lambda at: at.replace(fold=0))
    if kind is Path:
        return st.text(string.ascii_letters + "-_ ./'\"", min_size=1).map(Path)
    return st.text()


@st.composite
def calls(draw: st.DrawFn) -> Call[Any]:
    verb = draw(st.sampled_from(list(standard())))
    arguments: dict[str, Any] = {}
    for parameter in verb.parameters:
        if parameter.required or draw(st.booleans()):
            arguments[parameter.name] = draw(_values(verb, parameter))
    return standard().call(verb.name, **arguments)


@given(calls())
def test_the_line_of_a_call_parses_to_the_same_call(call: Call[Any]) -> None:
    again = standard().parse(call.line())
    assert again == call
    assert again is not None
    assert again.line() == call.line()


@pytest.mark.parametrize(
    ("line", "column", "says"),
    [
        ("serch dome", 1, "Did you mean search"),
        ("  frobnicate", 3, "no command `frobnicate`"),
        ("frame", 1, "needs another word"),
        ("frame asemble SESSION", 7, "One of: list, assemble, last, open"),
        ("search", 7, "Missing argument 'QUERY'"),
        ("search dome motor", 13, "Too many words: motor."),
        ("search dome --limit many", 21, "--limit takes a whole number."),
        ("search dome --limit=many", 13, "--limit takes a whole number."),
        ("search dome --limit 0", 21, "--limit takes 1 or more."),
        ("search dome --lyer keyword", 13, "There is no option --lyer. Did you mean --layer?"),
        ("search dome --layer", 13, "--layer takes a value."),
        ("search dome --layer sound", 21, "'keyword', 'fuzzy', 'vector', 'graph'"),
        ("search dome --since yesterday", 21, "--since takes a day or an instant"),
        ("feedback nice @1", 10, "'useful'"),
        ("show pictures", 6, "'inbox'"),
        ("expect raw => 3", 12, "'>='"),
        ("expect raw >= few", 15, "takes a number"),
        ("graph neighbours @1 --hops 9", 28, "--hops takes 4 at most"),
    ],
)
def test_an_error_names_the_word(registry: Registry, line: str, column: int, says: str) -> None:
    with pytest.raises(LineError) as caught:
        registry.parse(line)
    assert caught.value.column == column
    assert says in str(caught.value)
    assert caught.value.exit_code == 2

"""Every error that the memory engine raises on purpose names a way out (contract 8 of docs/architecture.md)."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from amgs import errors
from amgs_focus.errors import TextError

ENGINE = Path(__file__).parents[2] / "core" / "amgs"
ENGINES = (ENGINE, Path(__file__).parents[2] / "focus" / "amgs_focus")
OURS = {
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.AmgsError) and name != "Cancelled"
}


def test_every_error_of_the_engine_has_a_way_out() -> None:
    bare = []
    for path in sorted(ENGINE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in OURS
            if made and isinstance(node, ast.Call) and "way_out" not in {k.arg for k in node.keywords}:
                bare.append(f"{path.relative_to(ENGINE)}:{node.lineno}")
    assert bare == []


def test_no_error_says_the_number_that_the_system_gives_one() -> None:
    for number, words in ((2, "No such file or directory: 'a'"), (-2, "Name or service not known")):
        for kind in (errors.InputError, TextError):
            error = kind(f"a cannot be read: [Errno {number}] {words}.", way_out="Look.")
            assert error.message == f"a cannot be read: {words}."
            assert "Errno" not in str(error)


def test_errors_of_the_engines_name_no_command_and_no_option() -> None:
    """An engine serves more than one front end: what to type is added by `amgs_app.calls.hints`."""
    from amgs_app.calls.plain_values import SHARED_OPTIONS, flag_of
    from amgs_app.calls.registry import standard

    options = {flag for verb in standard() for parameter in verb.parameters for flag in parameter.flags}
    options |= {flag_of(name) for name in SHARED_OPTIONS}
    quoted = re.compile(rf"`(?:{'|'.join(map(re.escape, standard().nouns()))})\b")
    flag = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
    found = []
    for path in (path for engine in ENGINES for path in sorted(engine.rglob("*.py"))):
        for made in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(made, ast.Call) or not _is_error(made.func):
                continue
            for each in ast.walk(made):
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    flags = options & set(flag.findall(each.value))
                    if flags or quoted.search(each.value):
                        found.append(f"{path.name}:{each.lineno}: {each.value}")
    assert found == []


def test_every_subject_of_an_error_has_a_hint_and_every_hint_names_a_command() -> None:
    from amgs_app.calls.hints import REMEDIES
    from amgs_app.calls.registry import standard

    written = " ".join(path.read_text(encoding="utf-8") for engine in ENGINES for path in engine.rglob("*.py"))
    subjects = set(re.findall(r'about ?= ?"(\w+)"', written))
    assert subjects == set(REMEDIES)
    for hint in REMEDIES.values():
        for words in re.findall(r"`([a-z][^`]*)`", hint):
            assert standard().find(words.split())[0] is not None, hint


def _is_error(function: ast.expr) -> bool:
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    return str(name).endswith("Error")

"""The page api.md: every public name of both engines with its signature and docstring."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from amgs.lazy_names import homes
from amgs.wing_registry import WINGS

_SECTIONS = (
    ("Open a memory", ("amgs.opening", "amgs.memory")),
    ("Parts of a memory", ("amgs.api.", "amgs.diagnosis")),
    ("Over HTTP", ("amgs.client",)),
    ("What it gives and takes", ("amgs.types", "amgs.ingest.", "amgs.identity", "amgs.simulation")),
    ("Settings, models, clocks", ("amgs.settings", "amgs.text.", "amgs.conversation.", "amgs.clock")),
    ("Errors", ("amgs.errors",)),
)
"""Headings, and the modules whose names stand below them."""
_IN_PARTS = ("amgs.memory", "amgs.client")
"""Packages of public classes whose bases are parts of them in files of their own."""
_WIDTH = 110


def page() -> str:
    """The whole page."""
    import amgs
    import amgs_focus

    lines = [
        "# Public names",
        "",
        "Made from the docstrings by `make docs`: what a program may rely on. The rest may change without notice.",
        "Instants are aware and in UTC, scores lie in [0, 1].",
        "",
    ]
    home = homes(amgs.__file__)
    for heading, modules in _SECTIONS:
        names = [name for name in amgs.__all__ if home[name].startswith(modules)]
        names.sort(key=lambda name: (name[0].isupper(), modules.index(_first(home[name], modules)), name))
        lines += [f"## {heading}", "", *_entries(amgs, names)]
    for name in WINGS:
        wing = import_module(f"amgs.wings.{name}")
        if public := getattr(wing, "__all__", ()):
            lines += [f"## {name.capitalize()}: `{wing.__name__}`", "", *_entries(wing, public)]
    lines += [
        "## The working context: `amgs_focus`",
        "",
        textwrap.fill(" ".join((inspect.getdoc(amgs_focus) or "").split()), 118),
        "",
        *_entries(amgs_focus, amgs_focus.__all__),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _first(module: str, modules: Sequence[str]) -> str:
    return next(one for one in modules if module.startswith(one))


def _entries(package: ModuleType, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        value = getattr(package, name)
        yield from (f"### {package.__name__}.{name}", "")
        if inspect.isclass(value):
            yield from _class(value)
        elif inspect.isfunction(value):
            yield from (*_code(_signature(value.__name__, value)), *_doc(value))
        else:
            yield from (*_code([_plain(value)]), "")


def _class(kind: type) -> Iterator[str]:
    fields = _fields(kind)
    if fields:
        yield from _code([f"{name}: {annotation}{default}" for name, annotation, default in fields])
    elif any(name == "__init__" for name, _ in _members(kind)) and not issubclass(kind, BaseException):
        yield from _code(_signature(kind.__name__, kind.__init__))
    yield from _doc(kind)
    for name, member in _members(kind):
        if name.startswith("_") or name in {field for field, _, _ in fields}:
            continue
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if isinstance(member, property) and member.fget is not None:
            result = inspect.signature(member.fget).return_annotation
            yield from (f"#### {name}", "", *_code([f"{name}: {result}"]), *_doc(member))
        elif inspect.isfunction(function):
            yield from (f"#### {name}", "", *_code(_signature(name, function)), *_doc(function))


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    """What a class defines; of Memory and its clients, whatever their bases define too."""
    for part in kind.__mro__:
        if part is kind or part.__module__.startswith(_IN_PARTS):
            yield from vars(part).items()


def _fields(kind: type) -> list[tuple[str, str, str]]:
    """Name, annotation and default of each field as the source has them; none for a class that is no record."""
    if not (hasattr(kind, "__dataclass_fields__") or hasattr(kind, "model_fields")):
        return []
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    return [
        (node.target.id, ast.unparse(node.annotation), _default(node.value))
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]


def _default(value: ast.expr | None) -> str:
    """What a field is without being given: of a setting its default, with its sentence."""
    if value is None:
        return ""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "Field":
        given = {each.arg: each.value for each in value.keywords}
        default = given.get("default")
        told = given.get("description")
        words = ast.literal_eval(told) if isinstance(told, ast.Constant) else ""
        return (f" = {ast.unparse(default)}" if default is not None else "") + (f"  # {words}" if words else "")
    return f" = {ast.unparse(value)}"


def _signature(name: str, function: Any) -> list[str]:
    """A function's head as the source has it."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef)
    if function.__name__ == "__init__":
        tree.returns = None
    return _head(name, tree)


def _head(name: str, tree: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Name, parameters and result, without `self`, one parameter a line where it is long."""
    given = tree.args
    first = given.posonlyargs or given.args
    if first and first[0].arg in ("self", "cls"):
        del first[0]
    result = f" -> {ast.unparse(tree.returns)}" if tree.returns is not None else ""
    whole = f"{name}({ast.unparse(given)}){result}"
    if len(whole) <= _WIDTH:
        return [whole]
    return [f"{name}(", *(f"    {one}," for one in _parameters(given)), f"){result}"]


def _parameters(given: ast.arguments) -> Iterator[str]:
    plain = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
    for parameter, default in zip(plain, defaults, strict=True):
        yield _parameter(parameter, default)
    if given.vararg is not None:
        yield f"*{ast.unparse(given.vararg)}"
    elif given.kwonlyargs:
        yield "*"
    for parameter, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield _parameter(parameter, default)
    if given.kwarg is not None:
        yield f"**{ast.unparse(given.kwarg)}"


def _parameter(parameter: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(parameter) + ("" if default is None else f" = {ast.unparse(default)}")


def _plain(value: Any) -> str:
    return str(value).replace("typing.", "")


def _code(lines: Sequence[str]) -> list[str]:
    return ["```text", *lines, "```", ""]


def _doc(value: object) -> list[str]:
    """A docstring's paragraphs; what is indented stays as it is."""
    told = inspect.getdoc(value) or ""
    lines: list[str] = []
    for paragraph in told.split("\n\n"):
        if any(line.startswith("  ") for line in paragraph.splitlines()):
            lines += _code(textwrap.dedent(paragraph).splitlines())
        else:
            lines += [*textwrap.wrap(paragraph, 118, break_long_words=False, break_on_hyphens=False), ""]
    return lines

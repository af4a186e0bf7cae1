"""Writes what follows from the table in `amgs.client.parts` and the methods of `Memory` that its rows are derived from:
what editors and type checkers read of both clients, and `signatures.py`, by which the clients read their arguments.

python -m scripts.client_stubs           writes memory_client.pyi, async_memory_client.pyi and signatures.py anew
python -m scripts.client_stubs --check   names those that are not what the table gives
"""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import inspect
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

from amgs.client import async_memory_client, memory_client, signatures
from amgs.client.derived import ELSEWHERE, DerivedRequest, Request, describe
from amgs.client.parts import ALIASES, MEMORY, PARTS
from amgs_app.operations.standard import standard

_WIDTH: Final = 110
_CLIENTS: Final[tuple[tuple[ModuleType, type, str], ...]] = (
    (memory_client, memory_client.MemoryClient, ""),
    (async_memory_client, async_memory_client.AsyncMemoryClient, "Async"),
)


def write_texts() -> dict[Path, str]:
    """The text of each file by its path."""
    stubs = {
        Path(str(module.__file__)).with_suffix(".pyi"): _stub(module, client, prefix)
        for module, client, prefix in _CLIENTS
    }
    return {Path(str(signatures.__file__)): _signatures(), **stubs}


# --- signatures.py ---------------------------------------------------------------------------------------


def _signatures() -> str:
    """What each method takes that a row is derived from, and which operations write.

    Raises ValueError for a row whose operation is not there, or does not take what the method gives it.
    """
    every = [each for part in PARTS.values() for each in part.requests.values()]
    rows = {each.place: each for each in (*MEMORY.values(), *every) if isinstance(each, DerivedRequest)}
    operations = {each.identifier: each for each in standard()}
    writing = set()
    lines = []
    for key, row in sorted(rows.items()):
        if not row.answered.startswith("/"):
            if row.answered not in operations:
                raise ValueError(f"{key}: there is no operation {row.answered}.")
            there = operations[row.answered]
            unknown = {row.rename(name) for name in _taken(row)} | set(row.also)
            unknown -= {each.name for each in there.parameters}
            if unknown and row.change is None:
                raise ValueError(f"{key}: {row.answered} has no {', '.join(sorted(unknown))}.")
            if there.writes:
                writing.add(row.answered)
        lines.append(f'"{key}": lambda {ast.unparse(_arguments(row))}: locals(),')
    return formatted(
        "\n".join(
            [
                f'"""{inspect.getdoc(signatures)}\n"""',
                "# ruff: noqa: E501",
                "from __future__ import annotations",
                "from collections.abc import Callable, Mapping",
                "from typing import Any, Final",
                "TAKES: Final[Mapping[str, Callable[..., dict[str, Any]]]] = {",
                *lines,
                "}",
                '"""The arguments by name, by the method that takes them."""',
                f"WRITES: Final = frozenset({{{', '.join(repr(each) for each in sorted(writing))}}})",
                '"""Operations that change the memory."""',
                "",
            ]
        ),
        Path(str(signatures.__file__)),
    )


def _taken(row: DerivedRequest) -> list[str]:
    """The names of what a method takes that the service takes, too."""
    given = _arguments(row)
    rest = [each for each in (given.vararg,) if each is not None]
    return [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs, *rest)]


def _arguments(row: DerivedRequest) -> ast.arguments:
    """The arguments of the method without their types, for a lambda."""
    given = copy.deepcopy(_declared(row).args)
    for each in ast.walk(given):
        if isinstance(each, ast.arg):
            each.annotation = None
    return given


def _declared(described: Request) -> ast.FunctionDef:
    """How a request's function is written: of a derived one the method, without `self` and what is not served."""
    function = described.find_method() if isinstance(described, DerivedRequest) else described
    body = _tree(_module(described)).body
    *classes, name = function.__qualname__.split(".")
    for kind in classes:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == kind)
    found = next(node for node in body if isinstance(node, ast.FunctionDef) and node.name == name)
    if not isinstance(described, DerivedRequest):
        return found
    found = copy.deepcopy(found)
    left_out = {"self", ELSEWHERE, *described.without}
    defaults = inspect.signature(function).parameters
    given = found.args
    given.args = [each for each in given.args if each.arg not in left_out]
    given.kwonlyargs = [each for each in given.kwonlyargs if each.arg not in left_out]
    optional = [each for each in given.args if defaults[each.arg].default is not inspect.Parameter.empty]
    given.defaults = [_value(defaults[each.arg].default) for each in optional]
    given.kw_defaults = [
        None if default is inspect.Parameter.empty else _value(default)
        for default in (defaults[each.arg].default for each in given.kwonlyargs)
    ]
    return found


def _value(value: object) -> ast.expr:
    """A default as it is written, in place of the name of a constant."""
    return ast.parse(repr(value), mode="eval").body


def _module(described: Request) -> ModuleType:
    module = inspect.getmodule(
        described.find_method() if isinstance(described, DerivedRequest) else described
    )
    assert module is not None
    return module


# --- stubs -----------------------------------------------------------------------------------------------


def _stub(module: ModuleType, client: type, prefix: str) -> str:
    (base,) = client.__bases__
    imports = {base.__name__: base.__module__, "ClientPart": "amgs.client.methods"}
    lines: list[str] = []
    for part in PARTS.values():
        lines += [f"class {prefix}{part.kind}(ClientPart):", *_doc(part.about, 4)]
        lines += _methods(part.requests, prefix, imports)
    lines += [f"class {client.__name__}({base.__name__}):", *_doc(inspect.getdoc(client) or "", 4)]
    lines += _methods(MEMORY, prefix, imports)
    for name, part in PARTS.items():
        lines += property_lines(name, prefix + part.kind, part.about)
    for name, (other, about) in ALIASES.items():
        lines += property_lines(name, prefix + PARTS[other].kind, about)
    heads = [f"from {home} import {name}" for name, home in imports.items()]
    written = f'"""{inspect.getdoc(module)}\n\nMade by `scripts/client_stubs.py`.\n"""'
    path = Path(str(module.__file__)).with_suffix(".pyi")
    return formatted("\n".join([written, "", *heads, "", *lines, ""]), path)


def _methods(requests: Mapping[str, Request], prefix: str, imports: dict[str, str]) -> Iterator[str]:
    for name, described in requests.items():
        function = _declared(described)
        answer = function.returns
        assert answer is not None
        if not isinstance(described, DerivedRequest):
            assert isinstance(answer, ast.Subscript) and ast.unparse(answer.value) == "Ask"
            answer = answer.slice
        names = _Names(_module(described))
        given = names.visit(copy.deepcopy(function.args))
        if isinstance(described, DerivedRequest) and described.gives:
            home, _, kind = described.gives.partition(":")
            names.homes[kind], answer = home, ast.Name(kind)
        else:
            answer = names.visit(copy.deepcopy(answer))
        for used, home in names.homes.items():
            if imports.setdefault(used, home) != home and not _same(used, home, imports[used]):
                raise ValueError(f"{used} is of {imports[used]} and of {home}: rename one.")
        head = "async def" if prefix else "def"
        parameters = ", ".join(filter(None, ("self", ast.unparse(given))))
        yield f"    {head} {name}({parameters}) -> {ast.unparse(answer)}:"
        yield from _doc(describe(described), 8)


@functools.cache
def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


class _Names(ast.NodeTransformer):
    """Where the names come from that are used in types; `module.Name` becomes `Name`."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module.__name__
        self._imported = {
            alias.asname or alias.name: (str(node.module), alias.name)
            for node in ast.walk(_tree(module))
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        self.homes: dict[str, str] = {}

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        assert isinstance(node.value, ast.Name)
        self.homes[node.attr] = ".".join(self._imported[node.value.id])
        return ast.Name(node.attr)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not hasattr(builtins, node.id):
            self.homes[node.id] = self._imported.get(node.id, (self._module, ""))[0]
        return node


def _same(name: str, *homes: str) -> bool:
    """Whether a name stands for the same in each of these modules."""
    first, *others = (getattr(import_module(home), name) for home in homes)
    return all(each is first for each in others)


def property_lines(name: str, kind: str, about: str) -> list[str]:
    """A property without a body, indented as in a class."""
    return ["    @property", f"    def {name}(self) -> {kind}:", *_doc(about, 8)]


def _doc(told: str, indent: int) -> list[str]:
    """A docstring, wrapped again: it stands further in than where it was written."""
    room = _WIDTH - indent
    paragraphs = [textwrap.fill(" ".join(one.split()), room - 6) for one in told.split("\n\n")]
    quoted = '"""' + "\n\n".join(paragraphs) + ('"""' if "\n" not in "\n\n".join(paragraphs) else '\n"""')
    return textwrap.indent(quoted, " " * indent).splitlines()


def formatted(text: str, path: Path) -> str:
    """The text as `make format` leaves it."""
    for command in (["check", "--fix", "--quiet", "--select", "I"], ["format"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(path), "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        text = done.stdout
    return text


def main(arguments: list[str]) -> int:
    """Write the files, or with `--check` name those that differ; 1 where one does."""
    differ = [
        path
        for path, text in write_texts().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    if "--check" in arguments:
        print("\n".join(f"{path.name} is not what the table gives: make docs" for path in differ))
        return 1 if differ else 0
    for path, text in write_texts().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

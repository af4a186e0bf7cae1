"""Writes what editors and type checkers read of both clients, from the table in `amgs.client.parts`.

python -m scripts.client_stubs           writes memory_client.pyi and async_memory_client.pyi anew
python -m scripts.client_stubs --check   names those that are not what the table gives
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Final

from amgs.client import async_memory_client, memory_client
from amgs.client.parts import ALIASES, MEMORY, PARTS, Request

_WIDTH: Final = 110
_CLIENTS: Final[tuple[tuple[ModuleType, type, str], ...]] = (
    (memory_client, memory_client.MemoryClient, ""),
    (async_memory_client, async_memory_client.AsyncMemoryClient, "Async"),
)


def stubs() -> dict[Path, str]:
    """The text of each stub by its path."""
    return {
        Path(str(module.__file__)).with_suffix(".pyi"): _stub(module, client, prefix)
        for module, client, prefix in _CLIENTS
    }


def _stub(module: ModuleType, client: type, prefix: str) -> str:
    (base,) = client.__bases__
    imports = {base.__name__: base.__module__, "ClientPart": "amgs.client.parts"}
    lines: list[str] = []
    for part in PARTS.values():
        lines += [f"class {prefix}{part.kind}(ClientPart):", *_doc(part.about, 4)]
        lines += _methods(part.requests, prefix, imports)
    lines += [f"class {client.__name__}({base.__name__}):", *_doc(inspect.getdoc(client) or "", 4)]
    lines += _methods(MEMORY, prefix, imports)
    for name, part in PARTS.items():
        lines += _property(name, prefix + part.kind, part.about)
    for name, (other, about) in ALIASES.items():
        lines += _property(name, prefix + PARTS[other].kind, about)
    heads = [f"from {home} import {name}" for name, home in imports.items()]
    written = f'"""{inspect.getdoc(module)}\n\nMade by `scripts/client_stubs.py`.\n"""'
    path = Path(str(module.__file__)).with_suffix(".pyi")
    return _formatted("\n".join([written, "", *heads, "", *lines, ""]), path)


def _methods(requests: Mapping[str, Request], prefix: str, imports: dict[str, str]) -> Iterator[str]:
    for name, described in requests.items():
        module = inspect.getmodule(described)
        assert module is not None
        tree = _tree(module)
        function = next(
            n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == described.__name__
        )
        answer = function.returns
        assert isinstance(answer, ast.Subscript) and ast.unparse(answer.value) == "Ask"
        for used, home in _homes(module, [function.args, answer.slice]).items():
            if imports.setdefault(used, home) != home:
                raise ValueError(f"{used} is of {imports[used]} and of {home}: rename one.")
        head = "async def" if prefix else "def"
        given = ", ".join(filter(None, ("self", ast.unparse(function.args))))
        yield f"    {head} {name}({given}) -> {ast.unparse(answer.slice)}:"
        yield from _doc(inspect.getdoc(described) or "", 8)


@functools.cache
def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


def _homes(module: ModuleType, used: list[ast.AST]) -> dict[str, str]:
    """Where the names that are used come from."""
    names = {node.id for each in used for node in ast.walk(each) if isinstance(node, ast.Name)}
    imported = {
        alias.asname or alias.name: str(node.module)
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return {
        name: imported.get(name, module.__name__) for name in sorted(names) if not hasattr(builtins, name)
    }


def _property(name: str, kind: str, about: str) -> list[str]:
    return ["    @property", f"    def {name}(self) -> {kind}:", *_doc(about, 8)]


def _doc(told: str, indent: int) -> list[str]:
    """A docstring, wrapped again: it stands further in than where it was written."""
    room = _WIDTH - indent
    paragraphs = [textwrap.fill(" ".join(one.split()), room - 6) for one in told.split("\n\n")]
    quoted = '"""' + "\n\n".join(paragraphs) + ('"""' if "\n" not in "\n\n".join(paragraphs) else '\n"""')
    return textwrap.indent(quoted, " " * indent).splitlines()


def _formatted(text: str, path: Path) -> str:
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
    """Write the stubs, or with `--check` name those that differ; 1 where one does."""
    differ = [
        path
        for path, text in stubs().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    if "--check" in arguments:
        print("\n".join(f"{path.name} is not what the table gives: make docs" for path in differ))
        return 1 if differ else 0
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

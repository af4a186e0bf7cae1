"""The types of results that operations promise, read from their signatures."""

from __future__ import annotations

import ast
import sys
import types
import typing
from pathlib import Path
from typing import Any

from amgs_app.calls.operation import Operation
from amgs_app.calls.registry import standard


def results_of(operation: Operation[..., Any]) -> tuple[type, ...]:
    """The types that an operation's signature promises, imported from where the checker finds them."""
    module = sys.modules[operation.function.__module__]
    space = dict(vars(module))
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            exec(compile(ast.Module(node.body, []), str(module.__file__), "exec"), space)
    found = eval(operation.function.__annotations__["return"], space)
    return typing.get_args(found) if isinstance(found, types.UnionType) else (found,)


def every_type() -> list[type]:
    """Every type of result, by name."""
    return sorted({kind for each in standard() for kind in results_of(each)}, key=lambda kind: kind.__name__)

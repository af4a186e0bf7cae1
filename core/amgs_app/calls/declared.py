"""The types that functions and classes declare, those too that their modules import for the type checker alone."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any, get_type_hints


@lru_cache(maxsize=1024)
def hints_of(kind: type[Any]) -> dict[str, Any]:
    """The types of a class's fields by name."""
    return get_type_hints(kind, localns=_checked_names(kind.__module__))


def returned_by(function: Callable[..., Any]) -> Any:
    """The type of what a function returns."""
    told = inspect.get_annotations(function)["return"]
    module = function.__module__
    return eval(told, vars(sys.modules[module]), _checked_names(module)) if isinstance(told, str) else told


class _CheckedNames(dict[str, Any]):
    """The names that a module imports under `if TYPE_CHECKING`; each is imported when it is asked for first."""

    def __init__(self, sources: dict[str, tuple[str, str]]) -> None:
        super().__init__()
        self._sources = sources

    def __missing__(self, name: str) -> Any:
        module, original = self._sources[name]
        self[name] = found = getattr(importlib.import_module(module), original)
        return found


@lru_cache(maxsize=256)
def _checked_names(module: str) -> _CheckedNames:
    sources: dict[str, tuple[str, str]] = {}
    for block in ast.parse(inspect.getsource(sys.modules[module])).body:
        if (
            isinstance(block, ast.If)
            and isinstance(block.test, ast.Name)
            and block.test.id == "TYPE_CHECKING"
        ):
            for node in block.body:
                if isinstance(node, ast.ImportFrom) and node.module:
                    sources |= {each.asname or each.name: (node.module, each.name) for each in node.names}
    return _CheckedNames(sources)

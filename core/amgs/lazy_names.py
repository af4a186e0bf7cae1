"""Public names of a package that are loaded on first use, so that importing the package costs next to nothing.

They stand once, in the stub that the type checker reads: `from MODULE import NAME as NAME` in `__init__.pyi`.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_IMPORTED = re.compile(r"^from (\S+) import (\w+) as \2$", re.MULTILINE)


def homes(file: str) -> dict[str, str]:
    """Return the module of each public name of the package whose `__init__.py` is `file`."""
    stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    return {name: module for module, name in _IMPORTED.findall(stub)}


def lazy(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package."""
    home_of = homes(file)

    def load(name: str) -> Any:
        home = home_of.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return load, names, sorted(home_of)

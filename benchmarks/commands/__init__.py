"""The benchmarks by name, as `python -m benchmarks NAME` takes them."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec

from amgs.wing_registry import WINGS
from amgs_app.calls.registry import Registry


@lru_cache(maxsize=1)
def registry() -> Registry:
    """Every benchmark, those of wings too; its options are those of its function."""
    from benchmarks.commands import focus, memory, servers, training

    of_wings = (f"benchmarks.{name}" for name in WINGS)
    own = [import_module(f"{folder}.commands") for folder in of_wings if find_spec(folder)]
    return Registry.of_modules([memory, servers, focus, training, *own])

"""The benchmarks by name, as `python -m benchmarks NAME` takes them."""

from __future__ import annotations

from functools import lru_cache

from amgs_app.calls.registry import Registry


@lru_cache(maxsize=1)
def registry() -> Registry:
    """Every benchmark; its options are those of its function."""
    from benchmarks.commands import focus, memory, servers, training

    return Registry.of_modules([memory, servers, focus, training])

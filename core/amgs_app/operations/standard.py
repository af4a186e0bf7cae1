"""The operations of the workstation."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from amgs_app import operations
from amgs_app.calls.registry import Registry

if TYPE_CHECKING:
    from amgs_app.operator import Operator


@lru_cache(maxsize=1)
def standard() -> Registry:
    """The registry of the workstation."""
    return Registry.of_modules(getattr(operations, noun) for noun in operations.NOUNS)


def beginning_with(word: str) -> Registry | None:
    """The operations that begin with a word, without the others; None where which they are is not known beforehand."""
    modules = operations.FIRST_WORDS.get(word)
    if modules is None:
        return None
    every = Registry.of_modules(getattr(operations, noun) for noun in modules)
    return Registry(one for one in every if one.words[0] == word)


def look_of(operator: Operator) -> Callable[[str], Any]:
    """The result of a command as it is now, by its line; nothing is noted of it."""
    return lambda line: standard().call(line).run(operator)

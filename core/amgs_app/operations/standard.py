"""The operations of the workstation."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from amgs_app import operations
from amgs_app.calls.registry import Registry
from amgs_app.wing_views import views

if TYPE_CHECKING:
    from amgs_app.session.operator import Operator


@lru_cache(maxsize=1)
def standard() -> Registry:
    """The registry of the workstation."""
    own = (getattr(operations, noun) for noun in operations.NOUNS)
    of_wings = (import_module(view.operations) for view in views().values())
    return Registry.of_modules((*own, *of_wings))


def beginning_with(word: str) -> Registry | None:
    """The operations that begin with a word, without the others; None where none does.

    The modules of the others are imported too unless the word is one of `FIRST_WORDS`.
    """
    modules = operations.FIRST_WORDS.get(word)
    every = standard() if modules is None else Registry.of_modules(getattr(operations, one) for one in modules)
    found = Registry(one for one in every if one.words[0] == word)
    return found if len(found) else None


def look_of(operator: Operator) -> Callable[[str], Any]:
    """The result of a command as it is now, by its line; nothing is noted of it."""
    return lambda line: standard().call(line).run(operator)

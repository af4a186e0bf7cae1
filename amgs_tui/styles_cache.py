"""A removed widget's pictures end with it. Textual's cache of inner and outer colours holds the widget's whole styles
cache as a part of its key (8.2.8: `lru_cache` on what was meant as a class method): up to 1024 widgets' strips.
"""

from __future__ import annotations

from functools import lru_cache
from inspect import getattr_static
from typing import Any

from textual._styles_cache import StylesCache


def end_with_widgets() -> None:
    """Have the colours cached by colours alone; nothing is done where Textual does so itself."""
    given: Any = getattr_static(StylesCache, "get_inner_outer")
    if not isinstance(given, (classmethod, staticmethod)):
        colours = given.__wrapped__
        type.__setattr__(
            StylesCache,
            "get_inner_outer",
            staticmethod(lru_cache(1024)(lambda base, background: colours(StylesCache, base, background))),
        )

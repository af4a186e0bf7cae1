"""Immutable results of operations that are not types of the engines. `results.NAME` is imported on first use, so that
listing commands imports none.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amgs_app.results.focus import *  # noqa: F403
    from amgs_app.results.memory import *  # noqa: F403
    from amgs_app.results.overview import *  # noqa: F403
    from amgs_app.results.session import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        for module in ("memory", "session", "overview", "focus"):
            if value := vars(import_module(f"{__name__}.{module}")).get(name):
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Packs in the application: the commands `pack …`, their results, and how they are shown.

Commands are imported when a command is called, since a screen imports this package before its first painting.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from amgs_app.wing_views import TextSource, WingView

VIEW: Final = WingView(
    words=("pack",),
    about="Keep frames as packs, read them again, and see what became of that.",
    operations="amgs_app.views.packs.commands",
    entries="amgs_app.views.packs.rows",
    look="amgs_app.views.packs.commands:packs",
    listing="amgs_app.views.packs.rows:LISTING",
    terms="amgs_app.views.packs.commands:WORDS",
    source=TextSource(
        asked="From packs, instead of a frame", operation="pack assemble", nothing="No saved pack says anything of it."
    ),
)
"""What this wing adds to the application."""

if TYPE_CHECKING:
    from types import ModuleType

    from amgs_app.views.packs import commands as commands
else:  # hidden from the type checker, which would take any name for a module

    def __getattr__(name: str) -> ModuleType:
        if name == "commands":
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""What can be done with the engines, one module a noun. A module is imported when it is first named, so that a screen
that has painted nothing yet can import this package for free.

    operations.frame.assemble(name="SESSION", query="…")    # a typed Call; nothing is carried out yet
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

NOUNS = (
    "general",
    "lifecycle",
    "source",
    "consolidation_plan",
    "maintenance",
    "simulate",
    "block",
    "entity",
    "edge",
    "search",
    "diagnose",
    "question",
    "frame",
    "frame_definitions",
    "conversation",
    "graph",
    "decay",
    "calibration",
    "traffic",
    "tuning",
    "exchange",
    "focus",
    "focus_lifetime",
    "focus_trace",
    "script",
    "report",
    "workspace",
    "utility",
)
"""The modules with operations, in the order in which `help` lists them; the wings' own come after them."""

FIRST_WORDS = {
    "search": ("search",),
    "why": ("search",),
    "status": ("general",),
    "ingest": ("lifecycle",),
    "inbox": ("lifecycle",),
    "consolidate": ("lifecycle", "consolidation_plan"),
    "source": ("source",),
    "block": ("block",),
    "frame": ("frame", "frame_definitions", "tuning"),
    "graph": ("graph",),
}
"""The modules of the operations that begin with a word, of words that single commands begin with most often: for one of
them the other modules need not be imported.
"""

if TYPE_CHECKING:
    from amgs_app.operations import block as block
    from amgs_app.operations import calibration as calibration
    from amgs_app.operations import consolidation_plan as consolidation_plan
    from amgs_app.operations import conversation as conversation
    from amgs_app.operations import decay as decay
    from amgs_app.operations import diagnose as diagnose
    from amgs_app.operations import edge as edge
    from amgs_app.operations import entity as entity
    from amgs_app.operations import exchange as exchange
    from amgs_app.operations import focus as focus
    from amgs_app.operations import focus_lifetime as focus_lifetime
    from amgs_app.operations import focus_trace as focus_trace
    from amgs_app.operations import frame as frame
    from amgs_app.operations import frame_definitions as frame_definitions
    from amgs_app.operations import general as general
    from amgs_app.operations import graph as graph
    from amgs_app.operations import lifecycle as lifecycle
    from amgs_app.operations import maintenance as maintenance
    from amgs_app.operations import question as question
    from amgs_app.operations import script as script
    from amgs_app.operations import search as search
    from amgs_app.operations import simulate as simulate
    from amgs_app.operations import source as source
    from amgs_app.operations import traffic as traffic
    from amgs_app.operations import tuning as tuning
    from amgs_app.operations import utility as utility
    from amgs_app.operations import workspace as workspace
else:  # hidden from the type checker, which would take any name for a module

    def __getattr__(name: str) -> ModuleType:
        if name in NOUNS:
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

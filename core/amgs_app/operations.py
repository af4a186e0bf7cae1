"""Operations of the engines, a module per noun, for code that names an operation.

A module is imported when it is first named.

    operations.frame.assemble(name="SESSION", query="…")    # a typed Call; nothing is carried out yet
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from amgs_app.calls.registry import MODULES

if TYPE_CHECKING:
    from types import ModuleType

    from amgs_app.calibration import commands as calibration
    from amgs_app.calibration import commands as tuning
    from amgs_app.conversation import commands as conversation
    from amgs_app.conversation import commands as traffic
    from amgs_app.decay import commands as decay
    from amgs_app.decay import commands as simulate
    from amgs_app.diagnosis import commands as diagnose
    from amgs_app.diagnosis import commands as question
    from amgs_app.focus import commands as focus
    from amgs_app.focus import lifetime_commands as focus_lifetime
    from amgs_app.focus import trace_commands as focus_trace
    from amgs_app.frames import commands as frame
    from amgs_app.frames import commands as frame_definitions
    from amgs_app.graph import commands as edge
    from amgs_app.graph import commands as entity
    from amgs_app.graph import commands as graph
    from amgs_app.lifecycle import care_commands as consolidation_plan
    from amgs_app.lifecycle import care_commands as exchange
    from amgs_app.lifecycle import care_commands as maintenance
    from amgs_app.lifecycle import commands as lifecycle
    from amgs_app.memory import commands as block
    from amgs_app.memory import commands as source
    from amgs_app.search import commands as search
    from amgs_app.workplace import commands as general
    from amgs_app.workplace import operator_commands as script
    from amgs_app.workplace import operator_commands as workspace

    __all__ = [
        "block",
        "calibration",
        "consolidation_plan",
        "conversation",
        "decay",
        "diagnose",
        "edge",
        "entity",
        "exchange",
        "focus",
        "focus_lifetime",
        "focus_trace",
        "frame",
        "frame_definitions",
        "general",
        "graph",
        "lifecycle",
        "maintenance",
        "question",
        "script",
        "search",
        "simulate",
        "source",
        "traffic",
        "tuning",
        "workspace",
    ]
else:  # hidden from the type checker, which would take any name for a module

    def __getattr__(name: str) -> ModuleType:
        if name in MODULES:
            return import_module(f"amgs_app.{MODULES[name]}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

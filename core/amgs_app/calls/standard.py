"""The workstation's operations: which module defines them.

Modules are imported on first use, so that a screen that has not painted yet can import this one at no cost.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module
from typing import Any

from amgs_app.calls.registry import Registry
from amgs_app.wing_views import views

MODULES = {
    "general": "workplace.commands",
    "lifecycle": "lifecycle.commands",
    "source": "memory.source_commands",
    "consolidation_plan": "lifecycle.plan_commands",
    "maintenance": "lifecycle.care_commands",
    "simulate": "lifecycle.simulation_commands",
    "block": "memory.commands",
    "entity": "graph.entity_commands",
    "edge": "graph.edge_commands",
    "search": "search.commands",
    "diagnose": "diagnosis.commands",
    "question": "diagnosis.question_commands",
    "frame": "frames.commands",
    "frame_definitions": "frames.definition_commands",
    "conversation": "conversation.commands",
    "graph": "graph.commands",
    "decay": "decay.commands",
    "calibration": "calibration.commands",
    "traffic": "exchanges.commands",
    "tuning": "calibration.tuning_commands",
    "exchange": "store.commands",
    "focus": "focus.commands",
    "focus_lifetime": "focus.lifetime_commands",
    "focus_trace": "focus.trace_commands",
    "script": "workplace.script_commands",
    "workspace": "workplace.arrangement_commands",
}
"""Modules with operations, by noun, in the order in which `help` lists them; the wings' modules follow."""

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
"""Modules that define the operations beginning with a common word; only these are imported for a command with that
word.
"""


def _import(nouns: Iterable[str]) -> list[Any]:
    """Import the modules of these nouns."""
    return [import_module(f"amgs_app.{MODULES[noun]}") for noun in nouns]


@lru_cache(maxsize=1)
def standard() -> Registry:
    """Return the registry of all operations."""
    return Registry.of_modules((*_import(MODULES), *(import_module(view.operations) for view in views().values())))


def beginning_with(word: str) -> Registry | None:
    """Return only the operations that begin with this word, None if there are none.

    Imports all modules unless the word is in FIRST_WORDS.
    """
    nouns = FIRST_WORDS.get(word)
    every = standard() if nouns is None else Registry.of_modules(_import(nouns))
    registry = Registry(operation for operation in every if operation.words[0] == word)
    return registry if len(registry) else None

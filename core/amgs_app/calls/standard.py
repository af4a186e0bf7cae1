"""The operations of the workstation: which module holds those of each noun. A module is imported when it is first asked
for, so that a screen that has painted nothing yet can import this one for free.
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


def _import(nouns: Iterable[str]) -> list[Any]:
    return [import_module(f"amgs_app.{MODULES[noun]}") for noun in nouns]


@lru_cache(maxsize=1)
def standard() -> Registry:
    """Return the registry of the workstation."""
    return Registry.of_modules((*_import(MODULES), *(import_module(view.operations) for view in views().values())))


def beginning_with(word: str) -> Registry | None:
    """Return the operations that begin with a word, without the others; None where none does.

    The modules of the others are imported too unless the word is one of `FIRST_WORDS`.
    """
    nouns = FIRST_WORDS.get(word)
    every = standard() if nouns is None else Registry.of_modules(_import(nouns))
    registry = Registry(operation for operation in every if operation.words[0] == word)
    return registry if len(registry) else None

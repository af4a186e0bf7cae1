"""The memory engine: `from amgs import Memory, Settings`.

Public names are loaded on first use, so that `import amgs` itself costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amgs.calibration.door import Calibration
    from amgs.clock import Clock, FixedClock, ShiftedClock, SystemClock
    from amgs.errors import (
        AmbiguousIdError,
        AmgsError,
        BudgetError,
        Cancelled,
        ExpectationError,
        FrameCycleError,
        InputError,
        ModelError,
        StoreCorruptError,
        StoreError,
        StoreLockedError,
        StoreTooNewError,
        UnknownBlockError,
        UnknownFrameError,
        UsageError,
        WeightsError,
    )
    from amgs.exchange.door import Exchange
    from amgs.frames.door import Frames
    from amgs.graph.door import Graph
    from amgs.identity import block_id, canonical
    from amgs.lifecycle.door import Lifecycle
    from amgs.lifecycle.ingest import Draft
    from amgs.memory import Memory
    from amgs.model import (
        Block,
        BlockFilter,
        Centrality,
        ChildFrame,
        ConsolidationPlan,
        DecayCurve,
        Edge,
        Fall,
        Forecast,
        Frame,
        FrameDefinition,
        GraphStats,
        Health,
        IngestReport,
        Neighbourhood,
        Operation,
        Outcome,
        Progress,
        Reliability,
        SearchResult,
        SelectionRule,
        Status,
        StoreStatus,
        Verification,
        Weights,
    )
    from amgs.montecarlo.door import MonteCarlo
    from amgs.settings import Settings
    from amgs.text.embedding import Embedder, HashingEmbedder
    from amgs.text.entities import EntityRecogniser, RuleRecogniser
    from amgs.text.minilm import MiniLM
    from amgs.text.spacy_entities import SpacyRecogniser

_HOMES = {
    "amgs.montecarlo.door": ("MonteCarlo",),
    "amgs.lifecycle.door": ("Lifecycle",),
    "amgs.graph.door": ("Graph",),
    "amgs.frames.door": ("Frames",),
    "amgs.exchange.door": ("Exchange",),
    "amgs.calibration.door": ("Calibration",),
    "amgs.clock": ("Clock", "FixedClock", "ShiftedClock", "SystemClock"),
    "amgs.errors": (
        "AmbiguousIdError",
        "AmgsError",
        "BudgetError",
        "Cancelled",
        "ExpectationError",
        "FrameCycleError",
        "InputError",
        "ModelError",
        "StoreCorruptError",
        "StoreError",
        "StoreLockedError",
        "StoreTooNewError",
        "UnknownBlockError",
        "UnknownFrameError",
        "UsageError",
        "WeightsError",
    ),
    "amgs.identity": ("block_id", "canonical"),
    "amgs.lifecycle.ingest": ("Draft",),
    "amgs.memory": ("Memory",),
    "amgs.model": (
        "Block",
        "BlockFilter",
        "Centrality",
        "ChildFrame",
        "ConsolidationPlan",
        "DecayCurve",
        "Edge",
        "Fall",
        "Forecast",
        "Frame",
        "FrameDefinition",
        "GraphStats",
        "Health",
        "IngestReport",
        "Neighbourhood",
        "Operation",
        "Outcome",
        "Progress",
        "Reliability",
        "SearchResult",
        "SelectionRule",
        "Status",
        "StoreStatus",
        "Verification",
        "Weights",
    ),
    "amgs.settings": ("Settings",),
    "amgs.text.embedding": ("Embedder", "HashingEmbedder"),
    "amgs.text.entities": ("EntityRecogniser", "RuleRecogniser"),
    "amgs.text.minilm": ("MiniLM",),
    "amgs.text.spacy_entities": ("SpacyRecogniser",),
}
__all__ = [
    "AmbiguousIdError",
    "AmgsError",
    "Block",
    "BlockFilter",
    "BudgetError",
    "Calibration",
    "Cancelled",
    "Centrality",
    "ChildFrame",
    "Clock",
    "ConsolidationPlan",
    "DecayCurve",
    "Draft",
    "Edge",
    "Embedder",
    "EntityRecogniser",
    "Exchange",
    "ExpectationError",
    "Fall",
    "FixedClock",
    "Forecast",
    "Frame",
    "FrameCycleError",
    "FrameDefinition",
    "Frames",
    "Graph",
    "GraphStats",
    "HashingEmbedder",
    "Health",
    "IngestReport",
    "InputError",
    "Lifecycle",
    "Memory",
    "MiniLM",
    "ModelError",
    "MonteCarlo",
    "Neighbourhood",
    "Operation",
    "Outcome",
    "Progress",
    "Reliability",
    "RuleRecogniser",
    "SearchResult",
    "SelectionRule",
    "Settings",
    "ShiftedClock",
    "SpacyRecogniser",
    "Status",
    "StoreCorruptError",
    "StoreError",
    "StoreLockedError",
    "StoreStatus",
    "StoreTooNewError",
    "SystemClock",
    "UnknownBlockError",
    "UnknownFrameError",
    "UsageError",
    "Verification",
    "Weights",
    "WeightsError",
    "block_id",
    "canonical",
]

_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})

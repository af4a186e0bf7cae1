"""The memory engine: `with amgs.open("notes.duckdb") as memory: …`.

Public names are loaded on first use, so that `import amgs` itself costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amgs.api.calibration import Calibration
    from amgs.api.diversity import Diversity
    from amgs.api.entities import Entities
    from amgs.api.erasure import Erasure
    from amgs.api.exchange import Exchange
    from amgs.api.frames import Frames
    from amgs.api.graph import Graph
    from amgs.api.lifecycle import Lifecycle
    from amgs.api.simulation import Simulation
    from amgs.api.sources import SourceLibrary
    from amgs.client import AsyncMemoryClient, MemoryClient
    from amgs.clock import Clock, FixedClock, ShiftedClock, SystemClock
    from amgs.errors import (
        AmbiguousIdError,
        AmgsError,
        BudgetError,
        Cancelled,
        ExpectationError,
        FrameCycleError,
        InputError,
        MissingExtraError,
        ModelError,
        NotAllowedError,
        NotFoundError,
        ServiceError,
        StaleError,
        StoreCorruptError,
        StoreError,
        StoreLockedError,
        StoreTooNewError,
        TooMuchError,
        TooSlowError,
        UnknownBlockError,
        UnknownCallerError,
        UnknownEntityError,
        UnknownFrameError,
        UnreachableError,
        UsageError,
        WeightsError,
    )
    from amgs.identity import block_id, canonical
    from amgs.ingest.raw_blocks import RawBlock
    from amgs.memory import Memory
    from amgs.opening import FallbackWarning, open
    from amgs.settings import Settings
    from amgs.text.embedding import Embedder, HashingEmbedder
    from amgs.text.entities import EntityRecogniser, RuleRecogniser
    from amgs.text.minilm import MiniLM
    from amgs.text.spacy_entities import SpacyRecogniser
    from amgs.types import (
        Block,
        BlockFilter,
        Centrality,
        ChildFrame,
        ConsolidationPlan,
        ConsolidationSummary,
        DecayCurve,
        Edge,
        EntityKnowledge,
        EntitySummary,
        Explanation,
        Forecast,
        Frame,
        FrameDefinition,
        GraphStats,
        Health,
        IngestReceipt,
        IngestReport,
        JournalEntry,
        JournalPage,
        Neighbourhood,
        Outcome,
        PastSearch,
        PlanApplied,
        Progress,
        Reliability,
        SearchResult,
        SelectionRule,
        ServedPlan,
        Status,
        StoreStatus,
        Verification,
        Weights,
    )

_HOMES = {
    "amgs.api.sources": ("SourceLibrary",),
    "amgs.api.simulation": ("Simulation",),
    "amgs.api.lifecycle": ("Lifecycle",),
    "amgs.api.graph": ("Graph",),
    "amgs.api.frames": ("Frames",),
    "amgs.api.entities": ("Entities",),
    "amgs.api.erasure": ("Erasure",),
    "amgs.api.exchange": ("Exchange",),
    "amgs.api.diversity": ("Diversity",),
    "amgs.api.calibration": ("Calibration",),
    "amgs.client": ("AsyncMemoryClient", "MemoryClient"),
    "amgs.clock": ("Clock", "FixedClock", "ShiftedClock", "SystemClock"),
    "amgs.errors": (
        "AmbiguousIdError",
        "AmgsError",
        "BudgetError",
        "Cancelled",
        "ExpectationError",
        "FrameCycleError",
        "InputError",
        "MissingExtraError",
        "ModelError",
        "NotAllowedError",
        "NotFoundError",
        "ServiceError",
        "StaleError",
        "StoreCorruptError",
        "StoreError",
        "StoreLockedError",
        "StoreTooNewError",
        "TooMuchError",
        "TooSlowError",
        "UnknownBlockError",
        "UnknownCallerError",
        "UnknownEntityError",
        "UnknownFrameError",
        "UnreachableError",
        "UsageError",
        "WeightsError",
    ),
    "amgs.identity": ("block_id", "canonical"),
    "amgs.ingest.raw_blocks": ("RawBlock",),
    "amgs.memory": ("Memory",),
    "amgs.types": (
        "Block",
        "BlockFilter",
        "Centrality",
        "ChildFrame",
        "ConsolidationPlan",
        "ConsolidationSummary",
        "DecayCurve",
        "Edge",
        "EntityKnowledge",
        "EntitySummary",
        "Explanation",
        "Forecast",
        "Frame",
        "FrameDefinition",
        "GraphStats",
        "Health",
        "IngestReceipt",
        "IngestReport",
        "JournalEntry",
        "JournalPage",
        "Neighbourhood",
        "Outcome",
        "PastSearch",
        "PlanApplied",
        "Progress",
        "Reliability",
        "SearchResult",
        "SelectionRule",
        "ServedPlan",
        "Status",
        "StoreStatus",
        "Verification",
        "Weights",
    ),
    "amgs.opening": ("FallbackWarning", "open"),
    "amgs.settings": ("Settings",),
    "amgs.text.embedding": ("Embedder", "HashingEmbedder"),
    "amgs.text.entities": ("EntityRecogniser", "RuleRecogniser"),
    "amgs.text.minilm": ("MiniLM",),
    "amgs.text.spacy_entities": ("SpacyRecogniser",),
}
__all__ = [
    "AmbiguousIdError",
    "AmgsError",
    "AsyncMemoryClient",
    "Block",
    "BlockFilter",
    "BudgetError",
    "Calibration",
    "Cancelled",
    "Centrality",
    "ChildFrame",
    "Clock",
    "ConsolidationPlan",
    "ConsolidationSummary",
    "DecayCurve",
    "Diversity",
    "Edge",
    "Embedder",
    "Entities",
    "EntityKnowledge",
    "EntityRecogniser",
    "EntitySummary",
    "Erasure",
    "Exchange",
    "ExpectationError",
    "Explanation",
    "FallbackWarning",
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
    "IngestReceipt",
    "IngestReport",
    "InputError",
    "JournalEntry",
    "JournalPage",
    "Lifecycle",
    "Memory",
    "MemoryClient",
    "MiniLM",
    "MissingExtraError",
    "ModelError",
    "Neighbourhood",
    "NotAllowedError",
    "NotFoundError",
    "Outcome",
    "PastSearch",
    "PlanApplied",
    "Progress",
    "RawBlock",
    "Reliability",
    "RuleRecogniser",
    "SearchResult",
    "SelectionRule",
    "ServedPlan",
    "ServiceError",
    "Settings",
    "ShiftedClock",
    "Simulation",
    "SourceLibrary",
    "SpacyRecogniser",
    "StaleError",
    "Status",
    "StoreCorruptError",
    "StoreError",
    "StoreLockedError",
    "StoreStatus",
    "StoreTooNewError",
    "SystemClock",
    "TooMuchError",
    "TooSlowError",
    "UnknownBlockError",
    "UnknownCallerError",
    "UnknownEntityError",
    "UnknownFrameError",
    "UnreachableError",
    "UsageError",
    "Verification",
    "Weights",
    "WeightsError",
    "block_id",
    "canonical",
    "open",
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

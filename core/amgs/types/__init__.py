"""The frozen values that travel between the stages of the memory engine and out to the screen.

Nothing here computes more than a check or a total; every instant is aware and in UTC; every score is in [0, 1].
One file per subject; everybody else imports the names from here, which loads the file of a name with its first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amgs.types.block import STATUSES, Block, Edge, EdgeKey, Status, Vector
    from amgs.types.calibration import CoursePoint, ForecastCase, Outcome, Reliability, ReliabilityBin
    from amgs.types.decay import (
        CategoryCurve,
        CategoryCurves,
        CategoryOutlook,
        DecayCurve,
        Forecast,
        ForecastRow,
        Supposed,
    )
    from amgs.types.entities import (
        ENTITY_TYPES,
        EntityKnowledge,
        EntityMention,
        EntitySummary,
        EntityType,
        RelatedEntity,
    )
    from amgs.types.entropy import Entropy
    from amgs.types.explanation import EvidenceChange, Explanation, LayerVerdict, Verdict, WeightChange
    from amgs.types.frame import (
        Assembly,
        BudgetStrategy,
        ChildFrame,
        Frame,
        FrameDefinition,
        FramePart,
        Gather,
        LedgerEntry,
        Merge,
        Selection,
        SelectionRule,
        Span,
    )
    from amgs.types.graph import Centrality, GraphStats, LiveEdge, Neighbourhood
    from amgs.types.health import Fault, Health, HealthLine, StoreStatus, Verification
    from amgs.types.lifecycle import (
        BlockChange,
        ConsolidationItem,
        ConsolidationPlan,
        ConsolidationSummary,
        IngestReceipt,
        IngestReport,
        JournalEntry,
        JournalEntryDetail,
        JournalPage,
        PlanApplied,
        Refusal,
        ReinforcementEvent,
        Review,
        ServedPlan,
        Skipped,
        UndoPlan,
    )
    from amgs.types.progress import Progress
    from amgs.types.retrieval import (
        LAYERS,
        BlockFilter,
        Candidate,
        Fate,
        LayerReport,
        PassageSpan,
        PastSearch,
        SearchResult,
        StemReading,
    )
    from amgs.types.score import COMPONENTS, ScoreParts, Weights
    from amgs.types.topology import CONSISTENCIES, Consistency, IndexBuild, IndexStatus, StoreChange

_HOMES = {
    "block": (
        "STATUSES",
        "Block",
        "Edge",
        "EdgeKey",
        "Status",
        "Vector",
    ),
    "calibration": (
        "CoursePoint",
        "ForecastCase",
        "Outcome",
        "Reliability",
        "ReliabilityBin",
    ),
    "decay": (
        "CategoryCurve",
        "CategoryCurves",
        "CategoryOutlook",
        "DecayCurve",
        "Forecast",
        "ForecastRow",
        "Supposed",
    ),
    "entities": (
        "ENTITY_TYPES",
        "EntityKnowledge",
        "EntityMention",
        "EntitySummary",
        "EntityType",
        "RelatedEntity",
    ),
    "entropy": ("Entropy",),
    "explanation": (
        "EvidenceChange",
        "Explanation",
        "LayerVerdict",
        "Verdict",
        "WeightChange",
    ),
    "frame": (
        "Assembly",
        "BudgetStrategy",
        "ChildFrame",
        "Frame",
        "FrameDefinition",
        "FramePart",
        "Gather",
        "LedgerEntry",
        "Merge",
        "Selection",
        "SelectionRule",
        "Span",
    ),
    "graph": (
        "Centrality",
        "GraphStats",
        "LiveEdge",
        "Neighbourhood",
    ),
    "health": (
        "Fault",
        "Health",
        "HealthLine",
        "StoreStatus",
        "Verification",
    ),
    "lifecycle": (
        "BlockChange",
        "ConsolidationItem",
        "ConsolidationPlan",
        "ConsolidationSummary",
        "IngestReceipt",
        "IngestReport",
        "JournalEntry",
        "JournalEntryDetail",
        "JournalPage",
        "PlanApplied",
        "Refusal",
        "ReinforcementEvent",
        "Review",
        "ServedPlan",
        "Skipped",
        "UndoPlan",
    ),
    "progress": ("Progress",),
    "retrieval": (
        "LAYERS",
        "BlockFilter",
        "Candidate",
        "Fate",
        "LayerReport",
        "PassageSpan",
        "PastSearch",
        "SearchResult",
        "StemReading",
    ),
    "score": (
        "COMPONENTS",
        "ScoreParts",
        "Weights",
    ),
    "topology": (
        "CONSISTENCIES",
        "Consistency",
        "IndexBuild",
        "IndexStatus",
        "StoreChange",
    ),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "COMPONENTS",
    "CONSISTENCIES",
    "ENTITY_TYPES",
    "LAYERS",
    "STATUSES",
    "Assembly",
    "Block",
    "BlockChange",
    "BlockFilter",
    "BudgetStrategy",
    "Candidate",
    "CategoryCurve",
    "CategoryCurves",
    "CategoryOutlook",
    "Centrality",
    "ChildFrame",
    "Consistency",
    "ConsolidationItem",
    "ConsolidationPlan",
    "ConsolidationSummary",
    "CoursePoint",
    "DecayCurve",
    "Edge",
    "EdgeKey",
    "EntityKnowledge",
    "EntityMention",
    "EntitySummary",
    "EntityType",
    "Entropy",
    "EvidenceChange",
    "Explanation",
    "Fate",
    "Fault",
    "Forecast",
    "ForecastCase",
    "ForecastRow",
    "Frame",
    "FrameDefinition",
    "FramePart",
    "Gather",
    "GraphStats",
    "Health",
    "HealthLine",
    "IndexBuild",
    "IndexStatus",
    "IngestReceipt",
    "IngestReport",
    "JournalEntry",
    "JournalEntryDetail",
    "JournalPage",
    "LayerReport",
    "LayerVerdict",
    "LedgerEntry",
    "LiveEdge",
    "Merge",
    "Neighbourhood",
    "Outcome",
    "PassageSpan",
    "PastSearch",
    "PlanApplied",
    "Progress",
    "Refusal",
    "ReinforcementEvent",
    "RelatedEntity",
    "Reliability",
    "ReliabilityBin",
    "Review",
    "ScoreParts",
    "SearchResult",
    "Selection",
    "SelectionRule",
    "ServedPlan",
    "Skipped",
    "Span",
    "Status",
    "StemReading",
    "StoreChange",
    "StoreStatus",
    "Supposed",
    "UndoPlan",
    "Vector",
    "Verdict",
    "Verification",
    "WeightChange",
    "Weights",
]

if not TYPE_CHECKING:  # the type checker would take any name for one of them

    def __getattr__(name: str) -> Any:
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
        globals()[name] = found
        return found

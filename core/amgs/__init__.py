"""The memory engine: `with amgs.open("notes.duckdb") as memory: …`.

Public names are loaded on first use, so that `import amgs` itself costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amgs.api.calibration import Calibration as Calibration
    from amgs.api.changes import Changes as Changes
    from amgs.api.conversation import Conversations as Conversations
    from amgs.api.diversity import Diversity as Diversity
    from amgs.api.entities import Entities as Entities
    from amgs.api.erasure import Erasure as Erasure
    from amgs.api.exchange import Exchange as Exchange
    from amgs.api.frames import Frames as Frames
    from amgs.api.gateway import GatewayLog as GatewayLog
    from amgs.api.graph import Graph as Graph
    from amgs.api.lifecycle import Lifecycle as Lifecycle
    from amgs.api.search_index import SearchIndex as SearchIndex
    from amgs.api.simulation import Simulation as Simulation
    from amgs.api.sources import SourceLibrary as SourceLibrary
    from amgs.api.tasks import Tasks as Tasks
    from amgs.client import AsyncMemoryClient as AsyncMemoryClient
    from amgs.client import MemoryClient as MemoryClient
    from amgs.clock import Clock as Clock
    from amgs.clock import FixedClock as FixedClock
    from amgs.clock import ShiftedClock as ShiftedClock
    from amgs.clock import SystemClock as SystemClock
    from amgs.conversation.agent import AgentConversation as AgentConversation
    from amgs.conversation.summaries import AbstractiveSummariser as AbstractiveSummariser
    from amgs.diagnosis.diagnosing import Diagnosing as Diagnosing
    from amgs.errors import AmbiguousIdError as AmbiguousIdError
    from amgs.errors import AmgsError as AmgsError
    from amgs.errors import BudgetError as BudgetError
    from amgs.errors import BusyError as BusyError
    from amgs.errors import Cancelled as Cancelled
    from amgs.errors import ExpectationError as ExpectationError
    from amgs.errors import FrameCycleError as FrameCycleError
    from amgs.errors import ImpossibleBudgetError as ImpossibleBudgetError
    from amgs.errors import InputError as InputError
    from amgs.errors import MessageError as MessageError
    from amgs.errors import MissingExtraError as MissingExtraError
    from amgs.errors import ModelError as ModelError
    from amgs.errors import NotAllowedError as NotAllowedError
    from amgs.errors import NotFoundError as NotFoundError
    from amgs.errors import RepeatedError as RepeatedError
    from amgs.errors import ServiceError as ServiceError
    from amgs.errors import StaleError as StaleError
    from amgs.errors import StoreCorruptError as StoreCorruptError
    from amgs.errors import StoreError as StoreError
    from amgs.errors import StoreLockedError as StoreLockedError
    from amgs.errors import StoreTooNewError as StoreTooNewError
    from amgs.errors import TooMuchError as TooMuchError
    from amgs.errors import TooSlowError as TooSlowError
    from amgs.errors import UnknownBlockError as UnknownBlockError
    from amgs.errors import UnknownCallerError as UnknownCallerError
    from amgs.errors import UnknownConversationError as UnknownConversationError
    from amgs.errors import UnknownEntityError as UnknownEntityError
    from amgs.errors import UnknownFrameError as UnknownFrameError
    from amgs.errors import UnreachableError as UnreachableError
    from amgs.errors import UsageError as UsageError
    from amgs.errors import WeightsError as WeightsError
    from amgs.identity import block_id as block_id
    from amgs.identity import canonical as canonical
    from amgs.ingest.raw_blocks import RawBlock as RawBlock
    from amgs.memory import Memory as Memory
    from amgs.opening import FallbackWarning as FallbackWarning
    from amgs.opening import open as open
    from amgs.settings import Settings as Settings
    from amgs.text.embedding import Embedder as Embedder
    from amgs.text.embedding import HashingEmbedder as HashingEmbedder
    from amgs.text.entities import EntityRecogniser as EntityRecogniser
    from amgs.text.entities import RuleRecogniser as RuleRecogniser
    from amgs.text.minilm import MiniLM as MiniLM
    from amgs.text.spacy_entities import SpacyRecogniser as SpacyRecogniser
    from amgs.types import Block as Block
    from amgs.types import BlockFilter as BlockFilter
    from amgs.types import Centrality as Centrality
    from amgs.types import ChildFrame as ChildFrame
    from amgs.types import ConsolidationPlan as ConsolidationPlan
    from amgs.types import ConsolidationSummary as ConsolidationSummary
    from amgs.types import DecayCurve as DecayCurve
    from amgs.types import Edge as Edge
    from amgs.types import EntityKnowledge as EntityKnowledge
    from amgs.types import EntitySummary as EntitySummary
    from amgs.types import Explanation as Explanation
    from amgs.types import Forecast as Forecast
    from amgs.types import Frame as Frame
    from amgs.types import FrameDefinition as FrameDefinition
    from amgs.types import GraphStats as GraphStats
    from amgs.types import Health as Health
    from amgs.types import IndexBuild as IndexBuild
    from amgs.types import IndexStatus as IndexStatus
    from amgs.types import IngestReceipt as IngestReceipt
    from amgs.types import IngestReport as IngestReport
    from amgs.types import JournalEntry as JournalEntry
    from amgs.types import JournalPage as JournalPage
    from amgs.types import Neighbourhood as Neighbourhood
    from amgs.types import Outcome as Outcome
    from amgs.types import PastSearch as PastSearch
    from amgs.types import PlanApplied as PlanApplied
    from amgs.types import Progress as Progress
    from amgs.types import Reliability as Reliability
    from amgs.types import SearchResult as SearchResult
    from amgs.types import SelectionRule as SelectionRule
    from amgs.types import ServedPlan as ServedPlan
    from amgs.types import Status as Status
    from amgs.types import StoreChange as StoreChange
    from amgs.types import StoreStatus as StoreStatus
    from amgs.types import Verification as Verification
    from amgs.types import Weights as Weights
    from amgs.types.conversation import ContextMessage as ContextMessage
    from amgs.types.conversation import ContextSpan as ContextSpan
    from amgs.types.conversation import ConversationAdded as ConversationAdded
    from amgs.types.conversation import ConversationKept as ConversationKept
    from amgs.types.conversation import ConversationStats as ConversationStats
    from amgs.types.conversation import ConversationSummary as ConversationSummary
    from amgs.types.conversation import LedgerRow as LedgerRow
    from amgs.types.conversation import Message as Message
    from amgs.types.conversation import OptimisedContext as OptimisedContext
    from amgs.types.conversation import RestoredSpan as RestoredSpan
    from amgs.types.conversation import ToolCall as ToolCall
    from amgs.types.conversation_views import ClassSurvival as ClassSurvival
    from amgs.types.conversation_views import ConversationAct as ConversationAct
    from amgs.types.conversation_views import ConversationActs as ConversationActs
    from amgs.types.conversation_views import ConversationExtract as ConversationExtract
    from amgs.types.conversation_views import ConversationMemories as ConversationMemories
    from amgs.types.conversation_views import ConversationSurvival as ConversationSurvival
    from amgs.types.conversation_views import ConversationTopic as ConversationTopic
    from amgs.types.conversation_views import ConversationTopics as ConversationTopics
    from amgs.types.conversation_views import MemoryMember as MemoryMember
    from amgs.types.conversation_views import SummarySpan as SummarySpan
    from amgs.types.conversation_views import TextPiece as TextPiece
    from amgs.types.diagnosis import DecodedContext as DecodedContext
    from amgs.types.diagnosis import DiagnosedRequest as DiagnosedRequest
    from amgs.types.diagnosis import Diagnosis as Diagnosis
    from amgs.types.diagnosis import DiagnosisArguments as DiagnosisArguments
    from amgs.types.diagnosis import DiagnosisStep as DiagnosisStep
    from amgs.types.diagnosis import FactMatch as FactMatch
    from amgs.types.diagnosis import FixApplied as FixApplied
    from amgs.types.diagnosis import FixTrial as FixTrial
    from amgs.types.diagnosis import MovedAnswer as MovedAnswer
    from amgs.types.diagnosis import ProposedFix as ProposedFix
    from amgs.types.diagnosis import ReadSpan as ReadSpan
    from amgs.types.edge_draft import EdgeDraft as EdgeDraft
    from amgs.types.edge_draft import EdgeEdit as EdgeEdit
    from amgs.types.gateway import GatewayExchange as GatewayExchange
    from amgs.types.gateway import GatewayPrompt as GatewayPrompt
    from amgs.types.gateway import PrefixComparison as PrefixComparison
    from amgs.types.mentions import ConversationEntities as ConversationEntities
    from amgs.types.mentions import ConversationEntity as ConversationEntity
    from amgs.types.mentions import ConversationResolved as ConversationResolved
    from amgs.types.mentions import ResolvedMention as ResolvedMention
    from amgs.types.question_case import QuestionCase as QuestionCase
    from amgs.types.tasks import Task as Task
    from amgs.types.tasks import WorkerList as WorkerList
    from amgs.types.tasks import WorkerState as WorkerState
    from amgs.types.topology import IndexLag as IndexLag
    from amgs.types.topology import NamespaceSize as NamespaceSize
    from amgs.types.topology import StoreTopology as StoreTopology
    from amgs.types.usage import Usage as Usage
    from amgs.workers import Worker as Worker

_HOMES = {
    "amgs.api.sources": ("SourceLibrary",),
    "amgs.api.search_index": ("SearchIndex",),
    "amgs.api.simulation": ("Simulation",),
    "amgs.api.lifecycle": ("Lifecycle",),
    "amgs.api.graph": ("Graph",),
    "amgs.api.frames": ("Frames",),
    "amgs.api.entities": ("Entities",),
    "amgs.api.erasure": ("Erasure",),
    "amgs.api.exchange": ("Exchange",),
    "amgs.api.diversity": ("Diversity",),
    "amgs.api.calibration": ("Calibration",),
    "amgs.api.changes": ("Changes",),
    "amgs.api.conversation": ("Conversations",),
    "amgs.api.gateway": ("GatewayLog",),
    "amgs.api.tasks": ("Tasks",),
    "amgs.conversation.agent": ("AgentConversation",),
    "amgs.conversation.summaries": ("AbstractiveSummariser",),
    "amgs.client": ("AsyncMemoryClient", "MemoryClient"),
    "amgs.clock": ("Clock", "FixedClock", "ShiftedClock", "SystemClock"),
    "amgs.diagnosis.diagnosing": ("Diagnosing",),
    "amgs.errors": (
        "AmbiguousIdError",
        "AmgsError",
        "BudgetError",
        "BusyError",
        "Cancelled",
        "ExpectationError",
        "FrameCycleError",
        "ImpossibleBudgetError",
        "InputError",
        "MessageError",
        "MissingExtraError",
        "ModelError",
        "NotAllowedError",
        "NotFoundError",
        "ServiceError",
        "RepeatedError",
        "StaleError",
        "StoreCorruptError",
        "StoreError",
        "StoreLockedError",
        "StoreTooNewError",
        "TooMuchError",
        "TooSlowError",
        "UnknownBlockError",
        "UnknownCallerError",
        "UnknownConversationError",
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
        "IndexBuild",
        "IndexStatus",
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
        "StoreChange",
        "StoreStatus",
        "Verification",
        "Weights",
    ),
    "amgs.types.conversation": (
        "ContextMessage",
        "ContextSpan",
        "ConversationAdded",
        "ConversationKept",
        "ConversationStats",
        "ConversationSummary",
        "LedgerRow",
        "Message",
        "OptimisedContext",
        "RestoredSpan",
        "ToolCall",
    ),
    "amgs.types.conversation_views": (
        "ClassSurvival",
        "ConversationAct",
        "ConversationActs",
        "ConversationExtract",
        "ConversationMemories",
        "ConversationSurvival",
        "ConversationTopic",
        "ConversationTopics",
        "MemoryMember",
        "SummarySpan",
        "TextPiece",
    ),
    "amgs.types.diagnosis": (
        "DecodedContext",
        "DiagnosedRequest",
        "Diagnosis",
        "DiagnosisArguments",
        "DiagnosisStep",
        "FactMatch",
        "FixApplied",
        "FixTrial",
        "MovedAnswer",
        "ProposedFix",
        "ReadSpan",
    ),
    "amgs.types.edge_draft": ("EdgeDraft", "EdgeEdit"),
    "amgs.types.gateway": ("GatewayExchange", "GatewayPrompt", "PrefixComparison"),
    "amgs.types.question_case": ("QuestionCase",),
    "amgs.types.mentions": (
        "ConversationEntities",
        "ConversationEntity",
        "ConversationResolved",
        "ResolvedMention",
    ),
    "amgs.types.tasks": ("Task", "WorkerList", "WorkerState"),
    "amgs.types.topology": ("IndexLag", "NamespaceSize", "StoreTopology"),
    "amgs.types.usage": ("Usage",),
    "amgs.workers": ("Worker",),
    "amgs.opening": ("FallbackWarning", "open"),
    "amgs.settings": ("Settings",),
    "amgs.text.embedding": ("Embedder", "HashingEmbedder"),
    "amgs.text.entities": ("EntityRecogniser", "RuleRecogniser"),
    "amgs.text.minilm": ("MiniLM",),
    "amgs.text.spacy_entities": ("SpacyRecogniser",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})

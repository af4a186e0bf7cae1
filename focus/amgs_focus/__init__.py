"""The working-context engine: a frozen language model reads a lifetime of any length through a window of fixed size.

`FocusRuntime` is the loop; `LifetimeTree` holds the text, `WorkingContext` is what the model reads, `FocusScorer` says
where detail is wanted. Names are loaded when they are first used, so that importing the package does not load torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amgs_focus.errors import BaseModelError as BaseModelError
    from amgs_focus.errors import CheckpointError as CheckpointError
    from amgs_focus.errors import ConfigurationError as ConfigurationError
    from amgs_focus.errors import CtxError as CtxError
    from amgs_focus.errors import FocusError as FocusError
    from amgs_focus.errors import ModelMismatchError as ModelMismatchError
    from amgs_focus.errors import ModelMissingError as ModelMissingError
    from amgs_focus.errors import SettingError as SettingError
    from amgs_focus.errors import TextError as TextError
    from amgs_focus.errors import TraceError as TraceError
    from amgs_focus.errors import WindowBudgetError as WindowBudgetError
    from amgs_focus.gist.gistnet import GistEncoder as GistEncoder
    from amgs_focus.gist.gistnet import PointerEncoder as PointerEncoder
    from amgs_focus.lens.question_search import QuestionSearch as QuestionSearch
    from amgs_focus.lens.scoring import FocusScorer as FocusScorer
    from amgs_focus.lens.scoring import LensView as LensView
    from amgs_focus.lens.scoring import TailSimilarity as TailSimilarity
    from amgs_focus.model.base_model import BaseModel as BaseModel
    from amgs_focus.model.base_model import KVCache as KVCache
    from amgs_focus.model.tiny import TinyModel as TinyModel
    from amgs_focus.options import SearchOptions as SearchOptions
    from amgs_focus.protocols import PerfClock as PerfClock
    from amgs_focus.protocols import ProgressCallback as ProgressCallback
    from amgs_focus.protocols import TextEncoder as TextEncoder
    from amgs_focus.records import Action as Action
    from amgs_focus.records import Band as Band
    from amgs_focus.records import BranchView as BranchView
    from amgs_focus.records import Decision as Decision
    from amgs_focus.records import Findings as Findings
    from amgs_focus.records import FoundBlock as FoundBlock
    from amgs_focus.records import Keyframe as Keyframe
    from amgs_focus.records import Measurement as Measurement
    from amgs_focus.records import ModelCard as ModelCard
    from amgs_focus.records import NodeRef as NodeRef
    from amgs_focus.records import Override as Override
    from amgs_focus.records import Refocus as Refocus
    from amgs_focus.records import ScoreRow as ScoreRow
    from amgs_focus.records import Segment as Segment
    from amgs_focus.records import SpanAbout as SpanAbout
    from amgs_focus.records import SpanKind as SpanKind
    from amgs_focus.records import SpanSource as SpanSource
    from amgs_focus.records import StepRecord as StepRecord
    from amgs_focus.records import TokenSpan as TokenSpan
    from amgs_focus.runtime.prefix import PrefixReader as PrefixReader
    from amgs_focus.runtime.replay import header_of as header_of
    from amgs_focus.runtime.replay import replay as replay
    from amgs_focus.runtime.runtime import FocusRuntime as FocusRuntime
    from amgs_focus.runtime.state import FocusState as FocusState
    from amgs_focus.settings import FocusSettings as FocusSettings
    from amgs_focus.settings import ForgetRules as ForgetRules
    from amgs_focus.trace.events import Trace as Trace
    from amgs_focus.trace.events import TraceHeader as TraceHeader
    from amgs_focus.trace.events import TraceSink as TraceSink
    from amgs_focus.trace.trace import TraceWriter as TraceWriter
    from amgs_focus.tree.files import LifetimeStore as LifetimeStore
    from amgs_focus.tree.gist_tree import LifetimeTree as LifetimeTree
    from amgs_focus.tree.node_set import NodeSet as NodeSet
    from amgs_focus.tree.span_metadata import Act as Act
    from amgs_focus.views import EntryExplanation as EntryExplanation
    from amgs_focus.views import EntryView as EntryView
    from amgs_focus.views import FocusView as FocusView
    from amgs_focus.window.working_context import Edit as Edit
    from amgs_focus.window.working_context import Entry as Entry
    from amgs_focus.window.working_context import Scores as Scores
    from amgs_focus.window.working_context import WorkingContext as WorkingContext

_HOMES = {
    "amgs_focus.errors": (
        "BaseModelError",
        "CheckpointError",
        "ConfigurationError",
        "CtxError",
        "FocusError",
        "ModelMismatchError",
        "ModelMissingError",
        "SettingError",
        "TextError",
        "TraceError",
        "WindowBudgetError",
    ),
    "amgs_focus.gist.gistnet": ("GistEncoder", "PointerEncoder"),
    "amgs_focus.lens.question_search": ("QuestionSearch",),
    "amgs_focus.options": ("SearchOptions",),
    "amgs_focus.lens.scoring": ("FocusScorer", "LensView", "TailSimilarity"),
    "amgs_focus.model.base_model": ("BaseModel", "KVCache"),
    "amgs_focus.model.tiny": ("TinyModel",),
    "amgs_focus.protocols": ("PerfClock", "ProgressCallback", "TextEncoder"),
    "amgs_focus.records": (
        "Action",
        "Band",
        "BranchView",
        "Decision",
        "Findings",
        "FoundBlock",
        "Keyframe",
        "Measurement",
        "ModelCard",
        "NodeRef",
        "Override",
        "Refocus",
        "ScoreRow",
        "Segment",
        "SpanAbout",
        "SpanKind",
        "SpanSource",
        "StepRecord",
        "TokenSpan",
    ),
    "amgs_focus.runtime.prefix": ("PrefixReader",),
    "amgs_focus.runtime.replay": ("header_of", "replay"),
    "amgs_focus.runtime.runtime": ("FocusRuntime",),
    "amgs_focus.runtime.state": ("FocusState",),
    "amgs_focus.settings": ("FocusSettings", "ForgetRules"),
    "amgs_focus.trace.events": ("Trace", "TraceHeader", "TraceSink"),
    "amgs_focus.trace.trace": ("TraceWriter",),
    "amgs_focus.tree.files": ("LifetimeStore",),
    "amgs_focus.tree.gist_tree": ("LifetimeTree",),
    "amgs_focus.tree.node_set": ("NodeSet",),
    "amgs_focus.tree.span_metadata": ("Act",),
    "amgs_focus.views": ("EntryExplanation", "EntryView", "FocusView"),
    "amgs_focus.window.working_context": ("Edit", "Entry", "Scores", "WorkingContext"),
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

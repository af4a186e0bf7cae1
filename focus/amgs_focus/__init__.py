"""The working-context engine: a frozen language model reads a lifetime of any length through a window of
fixed size.

Names are loaded when they are first used, so that importing the package, or its records, does not load
torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amgs_focus.base_model import BaseModel, ModelCard
    from amgs_focus.errors import FocusError
    from amgs_focus.gist_tree import LifetimeTree, Segment
    from amgs_focus.gistnet import GistEncoder, PointerEncoder
    from amgs_focus.records import EntryExplanation, FocusView, NodeRef, Refocus, StepRecord
    from amgs_focus.runtime import FocusRuntime
    from amgs_focus.scoring import FocusScorer
    from amgs_focus.settings import FocusSettings
    from amgs_focus.tail_similarity import TailSimilarity
    from amgs_focus.tiny import TinyModel
    from amgs_focus.trace import TraceWriter
    from amgs_focus.working_context import WorkingContext

_HOMES = {
    "BaseModel": "base_model",
    "EntryExplanation": "records",
    "FocusError": "errors",
    "FocusRuntime": "runtime",
    "FocusScorer": "scoring",
    "FocusSettings": "settings",
    "FocusView": "records",
    "GistEncoder": "gistnet",
    "LifetimeTree": "gist_tree",
    "ModelCard": "base_model",
    "NodeRef": "records",
    "PointerEncoder": "gistnet",
    "Refocus": "records",
    "Segment": "gist_tree",
    "StepRecord": "records",
    "TailSimilarity": "tail_similarity",
    "TinyModel": "tiny",
    "TraceWriter": "trace",
    "WorkingContext": "working_context",
}

__all__ = [
    "BaseModel",
    "EntryExplanation",
    "FocusError",
    "FocusRuntime",
    "FocusScorer",
    "FocusSettings",
    "FocusView",
    "GistEncoder",
    "LifetimeTree",
    "ModelCard",
    "NodeRef",
    "PointerEncoder",
    "Refocus",
    "Segment",
    "StepRecord",
    "TailSimilarity",
    "TinyModel",
    "TraceWriter",
    "WorkingContext",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})

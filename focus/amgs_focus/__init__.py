"""The working-context engine: a frozen language model reads a lifetime of any length through a window of
fixed size.

Names are loaded when they are first used, so that importing the package, or its records, does not load
torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amgs_focus.errors import FocusError
    from amgs_focus.gist.gistnet import GistEncoder, PointerEncoder
    from amgs_focus.lens.baseline import TailSimilarity
    from amgs_focus.lens.scoring import FocusScorer
    from amgs_focus.model.base_model import BaseModel
    from amgs_focus.model.tiny import TinyModel
    from amgs_focus.records import ModelCard, NodeRef, Refocus, Segment, StepRecord
    from amgs_focus.runtime.runtime import FocusRuntime
    from amgs_focus.settings import FocusSettings
    from amgs_focus.trace.trace import TraceWriter
    from amgs_focus.tree.gist_tree import LifetimeTree
    from amgs_focus.views import EntryExplanation, FocusView
    from amgs_focus.window.working_context import WorkingContext

_HOMES = {
    "BaseModel": "model.base_model",
    "EntryExplanation": "views",
    "FocusError": "errors",
    "FocusRuntime": "runtime.runtime",
    "FocusScorer": "lens.scoring",
    "FocusSettings": "settings",
    "FocusView": "views",
    "GistEncoder": "gist.gistnet",
    "LifetimeTree": "tree.gist_tree",
    "ModelCard": "records",
    "NodeRef": "records",
    "PointerEncoder": "gist.gistnet",
    "Refocus": "records",
    "Segment": "records",
    "StepRecord": "records",
    "TailSimilarity": "lens.baseline",
    "TinyModel": "model.tiny",
    "TraceWriter": "trace.trace",
    "WorkingContext": "window.working_context",
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

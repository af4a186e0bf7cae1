"""Ways to fit a conversation into a budget, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amgs.conversation.material import Draft
from amgs.conversation.strategies.extractive import extractive
from amgs.conversation.strategies.mask import mask
from amgs.types.conversation import ContextStrategy

STRATEGIES: Mapping[ContextStrategy, Callable[[Draft], None]] = {"mask": mask, "extractive": extractive}
"""Each fills a draft in which what is CRITICAL is kept already."""

"""Ways to fit a conversation into a budget, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amgs.conversation.material import Draft
from amgs.conversation.strategies.extractive import extractive, mask
from amgs.conversation.strategies.hybrid import hybrid
from amgs.conversation.strategies.levels import levels
from amgs.types.conversation import ContextStrategy

STRATEGIES: Mapping[ContextStrategy, Callable[[Draft], None]] = {
    "mask": mask,
    "extractive": extractive,
    "hybrid": hybrid,
    "levels": levels,
}
"""Each fills a draft in which what is CRITICAL is kept already."""

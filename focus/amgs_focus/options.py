"""The constants that decide what is opened, as one value: a trace's header names them, and a replay compares them.

What an operator may want to change are `FocusSettings`; what a search of the lifetime is made with, `SearchOptions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Words: word_blocks: blocks that are kept of a word; what stands in more tells nothing. weighed_blocks: from so
    many blocks on the weights of words stay as they are. edges_looked_at: best blocks of a search whose edges are read;
    across: what words beside an edge count for the block on its other side.

    Features of the lens, which its weights were solved with: latest_tokens tell prose from code; up to prose_share of
    tokens without a letter all is prose, from code_share on all is code. At far_blocks `far` is 1 and stays so, at
    near_blocks `near` is a half.

    Bridges: coarsest_bridge: gists above this level stand for too much to be one end of one.

    Cooldown: most_doubled: flips in a row that lengthen it; calm_after: refocuses that an action is remembered at the
    least.
    """

    word_blocks: int = 2048
    weighed_blocks: int = 1 << 15
    edges_looked_at: int = 32
    across: float = 0.95
    latest_tokens: int = 512
    prose_share: float = 0.25
    code_share: float = 0.45
    far_blocks: float = 64.0
    near_blocks: float = 8.0
    coarsest_bridge: int = 2
    most_doubled: int = 4
    calm_after: int = 8


OPTIONS = EngineOptions()

EARLIER: Mapping[str, Any] = asdict(EngineOptions())
"""What traces that name none were made with; it stays as it is when a default changes."""

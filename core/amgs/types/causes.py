"""What blocks state of causes: kept beside them, with the sentence that says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amgs.types.block import Block

STATED_CAUSES = "stated_causes"
"""Where a block's meta keeps what it states."""


def stated_in(block: Block) -> tuple[Mapping[str, Any], ...]:
    """What is kept of the causes that a block states."""
    held = block.meta.get(STATED_CAUSES)
    return tuple(one for one in held if isinstance(one, Mapping)) if isinstance(held, list | tuple) else ()


@dataclass(frozen=True, slots=True)
class KeptCause:
    """A cause that a block states. cause, effect: in words of its text; connective: what says it ("because").

    cause_block, effect_block: which other block the cause or the effect is, with a `causes` edge between the two;
    None where the block itself holds it. confidence: in [0, 1].
    """

    block: Block
    sentence: str
    cause: str
    effect: str
    connective: str
    confidence: float
    cause_block: Block | None = None
    effect_block: Block | None = None


@dataclass(frozen=True, slots=True)
class KeptCauses:
    """What is kept of stated causes, the surest first. left_out: how many more there are than the limit."""

    causes: tuple[KeptCause, ...]
    left_out: int = 0

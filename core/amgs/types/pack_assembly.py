"""A text made of packs for one question, and where every token of them went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs.types.frame import Span
    from amgs.types.packs import RoutedPack


@dataclass(frozen=True, slots=True)
class PackStageChange:
    """Why a stage gives on less, or more, than it was given. count: of what the stage chooses among, and tokens; both
    are negative for what is left out. ids: packs by name, members by their ids.
    """

    why: str
    count: int
    tokens: int
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PackStage:
    """A step of the road from packs to a text. What comes in and the changes add up to what goes out, in number and in
    tokens, and what goes out in tokens comes into the next. unit: what is counted.
    """

    unit: str
    count_in: int
    tokens_in: int
    changes: tuple[PackStageChange, ...]
    count_out: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class PackAssembly:
    """A text of at most `budget` tokens for a question, whose spans tile it. packs: those that were chosen, in that
    order. blocks: members of which something stands in it; shortened: those of which a part does. uses: the numbers of
    the log's rows, one for each pack of which something was read; none where nothing is logged.
    """

    query: str
    budget: int
    tokens: int
    text: str
    spans: tuple[Span, ...]
    packs: tuple[RoutedPack, ...]
    blocks: tuple[str, ...]
    shortened: tuple[str, ...]
    stages: tuple[PackStage, ...]
    uses: tuple[int, ...] = ()

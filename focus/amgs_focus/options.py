"""Options recorded in a trace's header: the engine's constants and those of the search for a question; and Protocols of
what a caller passes in: a clock, a progress callback and a text encoder. `FocusSettings` holds what an operator may
change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol

from amgs_focus.errors import TraceError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Constants of the engine.

    Words. word_blocks: blocks stored for a word; a word in more blocks does not tell them apart. weighed_blocks: number
    of blocks after which the weights of words are fixed. edges_looked_at: best blocks of a search whose borders are
    read; across: weight for a block of words found across its border.

    Features of the lens, as its weights were fitted. latest_tokens: tell prose from code: up to prose_share of them
    without a letter all is prose, from code_share on all is code. far_blocks: distance from which `far` is 1;
    near_blocks: distance at which `near` is a half.

    Bridges. coarsest_bridge: coarser gists cover too much to be an end of a bridge.

    Reading. longest_row: sibling gists in a row that the model reads separately, as many as in the training of the
    shipped nets; a longer row is read as a single gist.
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
    longest_row: int = 4


OPTIONS = EngineOptions()


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Constants of the search for a question.

    meaning, similar: weights of the cosine and of similar words, both in standard deviations over the lifetime's
    blocks; words: weight of the share of the question's own words. by_meaning, by_score: number of blocks, best by
    meaning alone and by all evidence, that are read sentence by sentence. found: best blocks of a question; their
    neighbours are opened too, to the ends of their sentences. reread: best sentences after which the frozen model
    computes the question's likelihood; likelihood: weight of a nat of it, 0 for no such pass. longest, shortest: tokens
    of a sentence. first, last: scores of the entries with the first and the last block found; anything not found scores
    lower by more than both thresholds.
    """

    meaning: float = 1.0
    words: float = 2.0
    similar: float = 0.5
    by_meaning: int = 8
    by_score: int = 24
    found: int = 2
    reread: int = 24
    likelihood: float = 0.3
    longest: int = 48
    shortest: int = 5
    first: float = 0.95
    last: float = 0.55

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> SearchOptions:
        """Return the options in a trace's header. Raises TraceError for unknown names."""
        known = {field.name for field in fields(cls)}
        if strange := sorted(set(values) - known):
            raise TraceError(
                f"The trace was searched with {', '.join(strange)}, which this version does not know.",
                way_out="Replay it with the version that wrote it.",
            )
        return cls(**values)

    def to_header(self) -> dict[str, Any]:
        """Return the options as a trace's header holds them."""
        return asdict(self)


class PerfClock(Protocol):
    """Seconds on a monotonic clock; a clock that stands still gives durations of 0."""

    def perf(self) -> float: ...


class ProgressCallback(Protocol):
    """Called with the progress of a long action. An exception that it raises cancels the action, which leaves nothing
    behind.
    """

    def __call__(self, done: int, total: int, doing: str) -> None: ...


class TextEncoder(Protocol):
    """Encodes texts as unit vectors; the product of two is their similarity in meaning."""

    @property
    def name(self) -> str:
        """Name of the encoder; vectors of differently named encoders are never compared."""
        ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) vectors, each of length 1."""
        ...

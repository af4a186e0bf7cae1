"""Options that a trace's header names, the engine's constants and the search for a question; and protocols of
what a caller passes in: a clock, a progress callback and a text encoder. What an operator may change are
`FocusSettings`.
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
    """Words: word_blocks: blocks that are stored of a word; what stands in more tells nothing. weighed_blocks: from so
    many blocks on the weights of words stay as they are. edges_looked_at: best blocks of a search whose edges are read;
    across: what words beside an edge count for the block on its other side.

    Features of the lens, which its weights were solved with: latest_tokens tell prose from code; up to prose_share of
    tokens without a letter all is prose, from code_share on all is code. At far_blocks `far` is 1 and stays so, at
    near_blocks `near` is a half.

    Bridges: coarsest_bridge: gists above this level stand for too much to be an end of a bridge.

    Reading: longest_row: gists of the same parent in a row that the model reads separately, as many as the shipped ones
    were trained in; a longer row is read as a single gist.
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
    """meaning, words, similar: weights of the cosine and of similar words, each in standard deviations over the
    lifetime's blocks, and of the share of the question's own words. by_meaning, by_score: blocks best by meaning alone
    and by all evidence that are read sentence by sentence. found: best blocks of a question, beside
    which their neighbours are opened to the ends of their sentences. reread: best
    sentences of which the frozen model says how likely the question is after them; likelihood: what a nat of that
    counts, 0 asks it nothing. longest, shortest: tokens of a sentence. first, last: the scores of what holds the first
    and the last block found; what was not found lies below them by more than both thresholds.
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
        """From a trace's header. Raises TraceError for names that are unknown here."""
        known = {field.name for field in fields(cls)}
        if strange := sorted(set(values) - known):
            raise TraceError(
                f"The trace was searched with {', '.join(strange)}, which this version does not know.",
                way_out="Replay it with the version that wrote it.",
            )
        return cls(**values)

    def to_header(self) -> dict[str, Any]:
        """As a trace's header has it."""
        return asdict(self)


class PerfClock(Protocol):
    """Seconds on a monotonic clock; a clock that stands still gives durations of 0."""

    def perf(self) -> float: ...


class ProgressCallback(Protocol):
    """Told how far a long action is. Raising from it cancels the action, which then leaves nothing behind."""

    def __call__(self, done: int, total: int, doing: str) -> None: ...


class TextEncoder(Protocol):
    """Texts as vectors of length 1; the product of two says how much the texts mean alike."""

    @property
    def name(self) -> str:
        """Vectors of encoders with different names are never compared."""
        ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension), each row of length 1."""
        ...

"""What the engine asks of a language model that reads texts: how likely it finds an answer after each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from amgs.types import Progress

AnswerLosses = NDArray[np.float64]
"""(n, m), nats a token of each of m answers after each of n texts."""


class AnswerReader(Protocol):
    """A language model that is loaded on first use; `Memory.open` takes one."""

    @property
    def name(self) -> str:
        """The model's name; noted beside whatever it says."""
        ...

    def losses(
        self,
        texts: Sequence[str],
        question: str,
        answers: Sequence[str],
        progress: Progress | None = None,
    ) -> AnswerLosses:
        """The mean negative log-likelihood of each answer behind each text and the question, (n, m) nats a token.

        Texts that begin alike, one after the other, are cheaper. Raises ModelError for a text that its window does
        not hold, or where the model is missing.
        """
        ...

    def first_words(self, text: str, question: str, most: int) -> str:
        """The first `most` tokens of the likeliest answer behind a text; "" where that is empty."""
        ...

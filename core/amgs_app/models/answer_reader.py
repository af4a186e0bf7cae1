"""The base model as the memory engine asks it: what `amgs.text.answer_reader` wants, filled in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from amgs.errors import ModelError

if TYPE_CHECKING:
    from amgs.text.answer_reader import AnswerLosses
    from amgs.types import Progress
    from amgs_focus.model.base_model import BaseModel

ANSWER = 256
"""Tokens of an answer that count; a longer one is read so far."""


class LoadedReader:
    """An `AnswerReader`. load: gives the model, asked when it is needed first."""

    def __init__(self, load: Callable[[], BaseModel]) -> None:
        self._load = load

    @property
    def name(self) -> str:
        return self._load().card.name

    def losses(
        self,
        texts: Sequence[str],
        question: str,
        answers: Sequence[str],
        progress: Progress | None = None,
    ) -> AnswerLosses:
        import numpy as np

        from amgs_focus.evaluation.answers import ContextReader

        model = self._load()
        said = [self._clipped(model, one) for one in answers]
        beside = len(model.encode(model.turn(question))) + max(
            (len(model.encode(one)) for one in said), default=0
        )
        reader: ContextReader | None = None
        found = np.zeros((len(texts), len(said)))
        for place, text in enumerate(texts):
            if progress is not None:
                progress(place, len(texts), f"{model.card.name} reads {place + 1} of {len(texts)} texts")
            self._check(model, text, beside)
            if reader is None:
                reader = ContextReader(model, text)
            else:
                reader.turn_to(text)
            found[place] = reader.nll(question, said)
        return found

    def first_words(self, text: str, question: str, most: int) -> str:
        from amgs_focus.evaluation.answers import ContextReader

        model = self._load()
        self._check(model, text, len(model.encode(model.turn(question))) + most)
        return model.decode(ContextReader(model, text).first_tokens(question, most))

    def _clipped(self, model: BaseModel, answer: str) -> str:
        tokens = model.encode(answer)
        return answer if len(tokens) <= ANSWER else model.decode(tokens[:ANSWER])

    def _check(self, model: BaseModel, text: str, beside: int) -> None:
        tokens, most = len(model.sinks()) + len(model.encode(text)) + beside, model.card.positions
        if most and tokens > most:
            raise ModelError(
                f"The text, the question and the answer have {tokens:,} tokens; the window of {model.card.name} holds "
                f"{most:,}.",
                title="Too long for the model",
                way_out="Read packs within a smaller budget.",
            )

"""Sentences near the border of a budget, settled by a language model: which of them makes an answer likelier?

The answer is not known when a text is pruned, so the tokens stand for it with which the model itself begins to answer
after everything that may be kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from amgs.packs.pruning import PackSentence, Worths
from amgs.packs.sentence_relevance import sentence_title
from amgs.text.answer_reader import AnswerLosses, AnswerReader

BAND = 6
"""Sentences that are settled: as many kept ones that are worth least as others that are worth most."""
FIRST = 8
"""Tokens that stand for the answer."""


class Borderline:
    """A `SettleBorder`. reader: the model that is asked, some 100 tokens a sentence beside what is kept anyway."""

    def __init__(self, reader: AnswerReader) -> None:
        self._reader = reader

    def settled(
        self, query: str, sentences: Sequence[PackSentence], worths: Worths, kept: NDArray[np.bool_]
    ) -> Worths:
        """The worths, those of the band dealt out anew; the same where the model begins no answer."""
        places = band(worths, kept)
        if not places:
            return worths
        chosen = [int(n) for n in np.flatnonzero(kept) if n not in places]
        core, lines = (
            "\n".join(map(line, (sentences[n] for n in chosen))),
            [line(sentences[n]) for n in places],
        )
        answer = self._reader.first_words("\n".join([core, *lines]), query, FIRST)
        if not any(c.isalnum() for c in answer):
            return worths
        return dealt(worths, places, gains(core, lines, query, [answer], self._reader)[:, 0])


def band(worths: Worths, kept: NDArray[np.bool_]) -> list[int]:
    """The places around the border, those that are kept first; none where all or nothing is kept."""
    order = np.argsort(-worths, kind="stable")
    inside, outside = [int(n) for n in order if kept[n]], [int(n) for n in order if not kept[n]]
    half = min(BAND // 2, len(inside), len(outside))
    return inside[len(inside) - half :] + outside[:half]


def gains(
    core: str, lines: Sequence[str], question: str, answers: Sequence[str], reader: AnswerReader
) -> AnswerLosses:
    """(k, m), nats a token by which each of k lines makes each of m answers likelier behind what is kept anyway."""
    losses = reader.losses([core, *(f"{core}\n{one}" for one in lines)], question, answers)
    return np.asarray(losses[:1] - losses[1:])


def dealt(worths: Worths, places: Sequence[int], judged: Worths) -> Worths:
    """Worths in which those of some places are dealt out anew, the highest to what is judged best."""
    made = worths.copy()
    made[np.array(places)[np.argsort(-judged, kind="stable")]] = -np.sort(-worths[list(places)])
    return made


def line(sentence: PackSentence) -> str:
    """A sentence with the title of its member, as the model reads it."""
    title = sentence_title(sentence)
    return f"{title}: {sentence.text.strip()}" if title else sentence.text.strip()

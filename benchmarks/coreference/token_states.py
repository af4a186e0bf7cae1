"""What a frozen encoder makes of two mentions: the states of their tokens, and how they attend to each other."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amgs.conversation.coreference.passage import CorefMention, CorefPassage, Kind
from amgs.text.bert import BertEncoder
from amgs.types import Vector

LAYERS = (3, 5)
"""Whose states are read, counted from 0."""
_STEP = 128  # tokens between the beginnings of two windows
_RIGHT = 30  # tokens read behind a mention, where there are so many
_KEPT = 4  # windows of which states are kept
_MOST = 6  # tokens of a mention that are read


@dataclass(frozen=True, eq=False)
class PairStates:
    """anaphor: its states (len(LAYERS) * d,), candidates: theirs (n, len(LAYERS) * d); attention: of every head of
    every layer there and back (n, 2 * layers * heads); read: which candidates stand in the same window, (n,). What
    does not is zero.
    """

    anaphor: Vector
    candidates: Vector
    attention: Vector
    read: Vector


class TokenStates:
    """Reads passages in windows that overlap by half; the last windows of one passage are remembered."""

    def __init__(self, encoder: BertEncoder) -> None:
        self._encoder = encoder
        self._size = encoder.longest - 2
        self._text = ""
        self._ids: list[int] = []
        self._starts = np.zeros(0, dtype=np.int64)
        self._ends = np.zeros(0, dtype=np.int64)
        self._windows: OrderedDict[int, tuple[Vector, Vector]] = OrderedDict()

    def pairs(self, passage: CorefPassage, anaphor: int, candidates: Sequence[int]) -> PairStates:
        """The states of a mention and of others, read together."""
        self._take(passage.text)
        own = self._pieces(passage, passage.mentions[anaphor])
        first = self._window(own)
        states, attention = self._read(first)
        mine = own - first
        vector = states[list(LAYERS)][:, mine].mean(axis=1).reshape(-1)
        heads = 2 * attention.shape[0] * attention.shape[1]
        found = PairStates(
            np.asarray(vector),
            np.zeros((len(candidates), vector.size), dtype=np.float32),
            np.zeros((len(candidates), heads), dtype=np.float32),
            np.zeros(len(candidates), dtype=np.float32),
        )
        for row, number in enumerate(candidates):
            theirs = self._pieces(passage, passage.mentions[number]) - first
            if theirs[0] < 0 or theirs[-1] >= states.shape[1]:
                continue
            found.read[row] = 1.0
            found.candidates[row] = states[list(LAYERS)][:, theirs].mean(axis=1).reshape(-1)
            there = attention[:, :, mine][:, :, :, theirs].sum(axis=3).mean(axis=2)
            back = attention[:, :, theirs][:, :, :, mine].sum(axis=3).mean(axis=2)
            found.attention[row] = np.concatenate([there.reshape(-1), back.reshape(-1)])
        return found

    def _take(self, text: str) -> None:
        if text == self._text and self._ids:
            return
        self._ids, spans = self._encoder.pieces(text)
        self._starts, self._ends = np.array(spans, dtype=np.int64).reshape(-1, 2).T
        self._text = text
        self._windows.clear()

    def _pieces(self, passage: CorefPassage, mention: CorefMention) -> NDArray[np.int64]:
        """The tokens of a mention, those of the word that heads it where it is a noun."""
        start, end = mention.start, mention.end
        if mention.kind is Kind.NOUN and mention.word >= 0:
            word = passage.words[mention.word]
            start, end = word.start, word.end
        first = int(np.searchsorted(self._ends, start, side="right"))
        after = int(np.searchsorted(self._starts, end, side="left"))
        first = min(first, len(self._ids) - 1)
        return np.arange(first, min(max(after, first + 1), first + _MOST))

    def _window(self, pieces: NDArray[np.int64]) -> int:
        """Where the window starts in which these tokens have the most text before them."""
        last = int(pieces[-1])
        if len(self._ids) <= self._size:
            return 0
        number = max(0, -(-(last + _RIGHT - self._size) // _STEP))
        return min(number * _STEP, int(pieces[0]))

    def _read(self, first: int) -> tuple[Vector, Vector]:
        if first not in self._windows:
            self._windows[first] = self._encoder.layers(self._ids[first : first + self._size])
            if len(self._windows) > _KEPT:
                self._windows.popitem(last=False)
        return self._windows[first]

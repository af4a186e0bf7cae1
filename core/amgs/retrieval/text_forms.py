"""Decide the form of each block's text: a turn of a dialogue, a part of a document, or a note of its own.

The features of a search differ between them (`features`). A turn is often a fragment that its neighbours complete, and
it has a speaker; a part of a document has neither; and lengths are comparable only within a form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from amgs.index.block_features import NOBODY, BlockFeatures

TURN, PART, NOTE = 0, 1, 2
FORMS: Mapping[int, str] = {TURN: "turn of a dialogue", PART: "part of a document", NOTE: "note of its own"}

LEAST_SHARE = 0.05
"""Share of an episode's blocks that a name must begin to count as a speaker."""

FEWEST_SPEAKERS = 2
_NEARLY_ALL, _HARDLY = 0.9, 2
_NAMED = 0.5
"""Share of a dialogue's blocks that begin with a name, at least."""

WHOLE_WEIGHT = 150.0
"""Characters of a turn up to which its neighbours count in full; for a longer turn they count less."""


@dataclass(frozen=True, eq=False)
class TextForms:
    """Arrays (n,) over all blocks of the store.

    form: TURN, PART or NOTE. speaker: index of a turn's speaker in the traits' names; NOBODY for any other block.
    length: logarithm of the characters, minus the median of the form. gate: how much a block's neighbours count for it,
    in [0, 1]; 0 for all but turns.
    """

    form: NDArray[np.int8]
    speaker: NDArray[np.int32]
    length: NDArray[np.float64]
    gate: NDArray[np.float64]

    @property
    def turns(self) -> NDArray[np.bool_]:
        """Mask of the turns: (n,)."""
        return np.asarray(self.form == TURN)


def forms_of(traits: BlockFeatures, episode: NDArray[np.int64], chained: NDArray[np.bool_]) -> TextForms:
    """Return the forms of all n blocks.

    episode: (n,) number of each block's episode, from 0. chained: (n,) whether a block has one before or after it.

    A dialogue is an episode in which at least two names each begin LEAST_SHARE of the blocks, and names together half
    of them; so "License: MIT" makes no speaker. Where names begin nearly all blocks, two blocks make a speaker, since
    one side of a chat may say little.
    """
    turns = _turns(traits, episode)
    form = np.where(turns, TURN, np.where(chained, PART, NOTE)).astype(np.int8)
    length = traits.length.astype(np.float64)
    for form_code in FORMS:
        kind = form == form_code
        if kind.any():
            length[kind] -= np.median(length[kind])
    characters = np.maximum(np.expm1(traits.length.astype(np.float64)), 1.0)
    gate = np.where(turns, np.minimum(1.0, WHOLE_WEIGHT / characters), 0.0)
    return TextForms(form, np.where(turns, traits.name, NOBODY).astype(np.int32), length, gate)


def _turns(traits: BlockFeatures, episode: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return (n,) which blocks are turns: they begin with a name and their episode is a dialogue (`forms_of`)."""
    named = traits.name != NOBODY
    if not named.any():
        return np.zeros(traits.numbers.size, dtype=np.bool_)
    size = np.bincount(episode)
    named_counts = np.bincount(episode[named], minlength=size.size)
    width = len(traits.names)
    pairs, counts = np.unique(episode[named] * width + traits.name[named], return_counts=True)
    pair_episode = pairs // width
    speaks = (counts >= LEAST_SHARE * size[pair_episode]) | (
        (counts >= _HARDLY) & (named_counts[pair_episode] >= _NEARLY_ALL * size[pair_episode])
    )
    speakers = np.bincount(pair_episode[speaks], minlength=size.size)
    dialogue = (speakers >= FEWEST_SPEAKERS) & (named_counts >= _NAMED * size)
    return np.asarray(named & dialogue[episode])

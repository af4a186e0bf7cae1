"""Form of text of a block: a turn of a dialogue, a part of a document, or a note of its own.

What is evidence differs between them. A turn is often a fragment that its neighbours complete, and somebody says it;
a part of a document is neither; and how long a text is says something only among texts of its kind.
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
"""Of the blocks of an episode: who says less of it is none of its speakers."""

FEWEST_SPEAKERS = 2
_NEARLY_ALL, _HARDLY = 0.9, 2
_NAMED = 0.5
"""So much of a dialogue at least begins with a name."""

WHOLE_WEIGHT = 150.0
"""Characters up to which the neighbours of a turn are evidence for it in full; a longer turn speaks for itself."""


@dataclass(frozen=True, eq=False)
class TextForms:
    """Columns of all n blocks. form: TURN, PART or NOTE. speaker: who says a turn, a place in the names; NOBODY for
    any other block. length: logarithm of the characters over the median of the form. gate: in [0, 1], how much the
    neighbours and the episode may say for the block.
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
    """Return the forms of all blocks. episode: (n,) numbers from 0. chained: (n,) whether a piece stands before or
    after.

    A dialogue is an episode in which at least two names each begin LEAST_SHARE of the blocks, and names together
    half of them; a name before a colon anywhere else ("License: MIT") makes no speaker. Where names begin nearly all
    blocks, who says two of them is a speaker, too: one side of a chat may hardly get a word in.
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
    named = traits.name != NOBODY
    if not named.any():
        return np.zeros(traits.numbers.size, dtype=np.bool_)
    size = np.bincount(episode)
    named_counts = np.bincount(episode[named], minlength=size.size)
    width = len(traits.names)
    pairs, counts = np.unique(episode[named] * width + traits.name[named], return_counts=True)
    of = pairs // width
    heard = (counts >= LEAST_SHARE * size[of]) | ((counts >= _HARDLY) & (named_counts[of] >= _NEARLY_ALL * size[of]))
    speakers = np.bincount(of[heard], minlength=size.size)
    dialogue = (speakers >= FEWEST_SPEAKERS) & (named_counts >= _NAMED * size)
    return np.asarray(named & dialogue[episode])

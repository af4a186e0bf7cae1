"""Index the order of blocks: the neighbours before and after each block, and its episode (a dialogue or document).

`derived` builds it once for a state of the store and saves it as arrays (FORMAT); every search reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.graph.view import GraphView
from amgs.index.block_features import NOBODY, BlockFeatures
from amgs.index.snapshot_store import Generation, save_arrays
from amgs.retrieval.asked_role import ASSISTANTS, USERS, ChatRole
from amgs.retrieval.text_forms import TextForms, forms_of

NEXT = "next"
NOTHING = -1
_DOUBLINGS = 24
_COLUMNS = ("numbers", "episode", "name", "length", "asking", "asks")
FORMAT = 3
"""Version of the saved arrays; raise it when their meaning changes, and saved ones are built again."""
_FEW_SOURCES = 64
"""Sources of new blocks up to which `append_blocks` is faster than `build_sequences`."""


@dataclass(frozen=True, eq=False)
class SequenceIndex:
    """Order of the n blocks of a state of the store; rows are those of `traits`.

    before, after: (n,) row of the block before and after, or NOTHING. episode: (n,) number of the episode, from 0; a
    block without neighbours is an episode of its own. source: (n,) the traits' episode hash of the first block in each
    block's chain.
    """

    traits: BlockFeatures
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    episode: NDArray[np.int64]
    source: NDArray[np.uint64]

    @cached_property
    def episodes(self) -> int:
        """Number of episodes."""
        return int(self.episode.max(initial=-1)) + 1

    @cached_property
    def forms(self) -> TextForms:
        """Forms of text of the blocks."""
        return forms_of(self.traits, self.episode, (self.before != NOTHING) | (self.after != NOTHING))

    def called(self, text: str) -> tuple[int, ...]:
        """Return the speakers of dialogues that a text names, as indexes into the traits' names."""
        return tuple(place for place in self.traits.named(text) if place in self._speakers)

    @cached_property
    def _speakers(self) -> frozenset[int]:
        # Counting is faster here than np.unique, which sorts.
        return frozenset(np.flatnonzero(np.bincount(self.forms.speaker - NOBODY)[1:]).tolist())

    def select_spoken(self, role: ChatRole) -> NDArray[np.bool_]:
        """Return (n,) which blocks the user, or the assistant, says in a chat with an assistant. Where nobody in a chat
        is named "user", everybody but the assistant is the user.
        """
        users, assistants = self._chats
        return users if role == "user" else assistants

    @cached_property
    def _chats(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The blocks of users and those of assistants, (n,) each."""
        named = self.traits.name != NOBODY
        users, assistants = (
            np.isin(self.traits.name, [place for place, name in enumerate(self.traits.names) if name in called])
            for called in (USERS, ASSISTANTS)
        )
        chats, with_users = (self._in_episodes_of(rows) for rows in (assistants, users))
        return chats & (users | (named & ~with_users & ~assistants)), assistants

    def _in_episodes_of(self, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return (n,) which blocks share an episode with any of these rows (n,)."""
        in_episode = np.zeros(self.episodes, dtype=np.bool_)
        in_episode[self.episode[rows]] = True
        return np.asarray(in_episode[self.episode])

    def step(self, rows: NDArray[np.int64], way: NDArray[np.int64], count: int = 1) -> NDArray[np.int64]:
        """Return the rows `count` steps along `way` (the array `before` or `after`); NOTHING past an end."""
        for _ in range(count):
            rows = np.where(rows == NOTHING, NOTHING, way[rows]) if way.size else rows
        return rows


def write_sequences(folder: Path, sequences: SequenceIndex) -> None:
    """Save the arrays of a sequence index in a folder; its names are saved as JSON, from `describe_names`."""
    t = sequences.traits
    save_arrays(folder, {name: getattr(t, name) for name in _COLUMNS})
    save_arrays(
        folder,
        {
            "before": sequences.before,
            "after": sequences.after,
            "episode_number": sequences.episode,
            "source": sequences.source,
        },
    )


def describe_names(sequences: SequenceIndex) -> Mapping[str, Any]:
    """Return the speakers' names, which the caller saves as JSON beside the arrays."""
    return {"names": list(sequences.traits.names)}


def read_sequences(generation: Generation) -> SequenceIndex:
    """Return the sequence index saved in a generation (a version of the saved indexes)."""
    columns = {name: generation.array(name) for name in _COLUMNS}
    traits = BlockFeatures(**columns, names=tuple(map(str, generation.facts["names"])))
    order = (generation.array(name) for name in ("before", "after", "episode_number", "source"))
    return SequenceIndex(traits, *order)


def build_sequences(traits: BlockFeatures, view: GraphView) -> SequenceIndex:
    """Build the sequence index: order from the `next` edges, episodes from the sources or, without them, the order.

    The strength of an edge does not matter, since order does not decay. A text that occurs in several places has the
    neighbours of its first one.
    """
    size = traits.numbers.size
    before, after = np.full(size, NOTHING, np.int64), np.full(size, NOTHING, np.int64)
    edge_rows = np.flatnonzero(view.columns.relation == NEXT)[::-1]
    if edge_rows.size:
        source = traits.rows(view.nodes[view.source[edge_rows]])
        target = traits.rows(view.nodes[view.target[edge_rows]])
        # Reversed above, so that of several edges to a row the first one is assigned last.
        after[source], before[target] = target, source
    return SequenceIndex(traits, before, after, *_number_episodes(traits, before))


def append_blocks(known: SequenceIndex, traits: BlockFeatures) -> SequenceIndex | None:
    """Add new blocks without neighbours at the end of a known index; None where anything else changed.

    Equals what `build_sequences` returns, but for the numbering of episodes, and saves building the whole.
    """
    size = known.traits.numbers.size
    fresh = traits.episode[size:].tolist()
    same = np.array_equal(traits.numbers[:size], known.traits.numbers) and np.array_equal(
        traits.episode[:size], known.traits.episode
    )
    if not same or len(set(fresh)) > _FEW_SOURCES:
        return None
    episode_of: dict[int, int] = {}
    next_episode, numbers = known.episodes, []
    for source in fresh:
        if source and source not in episode_of:
            same_source = known.source == source
            at = int(same_source.argmax()) if same_source.size else 0
            if same_source.size and same_source[at]:
                episode_of[source] = int(known.episode[at])
        if source not in episode_of:
            episode_of[source], next_episode = next_episode, next_episode + 1
        numbers.append(episode_of.pop(0) if not source else episode_of[source])
    nothing = np.full(len(fresh), NOTHING, np.int64)
    return SequenceIndex(
        traits,
        np.concatenate([known.before, nothing]),
        np.concatenate([known.after, nothing]),
        np.concatenate([known.episode, np.array(numbers, dtype=np.int64)]),
        np.concatenate([known.source, traits.episode[size:]]),
    )


def _number_episodes(traits: BlockFeatures, before: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return each block's episode number (n,) and source (n,): an episode is a source's blocks, or a chain's where the
    sources do not say.
    """
    size = before.size
    if not size:
        return np.zeros(0, np.int64), np.zeros(0, np.uint64)
    first = np.where(before == NOTHING, np.arange(size), before)
    for _ in range(_DOUBLINGS):  # each round doubles how far back a row looks; chains are shorter than 2^24
        further = first[first]
        if np.array_equal(further, first):
            break
        first = further
    # A chain belongs to its first block's source; where the chain is that source's only one, it is its own episode.
    _, source, members = np.unique(traits.episode[first], return_inverse=True, return_counts=True)
    alone = (traits.episode[first] == 0) | (members[source] == 1)
    _, episode = np.unique(np.where(alone, first + members.size, source), return_inverse=True)
    return np.asarray(episode, dtype=np.int64), traits.episode[first]

"""Order of blocks: the neighbours before and after a block, and its episode.

It does not change with the query; it is laid out once for a state of the store and serves every search.
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
_FEW_SOURCES = 64


@dataclass(frozen=True, eq=False)
class SequenceIndex:
    """Rows are those of the traits, n of them. before, after: (n,) the row of the piece before and after, or
    NOTHING. episode: (n,) a number from 0 for each episode; a block of its own is one. source: (n,) what the traits
    give as the episode of the first piece of each block's chain.
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
        """Return the speakers of dialogues that a text names: places in the names of the traits."""
        return tuple(place for place in self.traits.named(text) if place in self._speakers)

    @cached_property
    def _speakers(self) -> frozenset[int]:
        # Counted: to sort out which of a few names occur would take longer.
        return frozenset(np.flatnonzero(np.bincount(self.forms.speaker - NOBODY)[1:]).tolist())

    def select_spoken(self, role: ChatRole) -> NDArray[np.bool_]:
        """Return (n,) which blocks the user, or the assistant, of a chat with an assistant says. Where nobody in a chat
        is called user, everybody but the assistant is.
        """
        users, assistants = self._chats
        return users if role == "user" else assistants

    @cached_property
    def _chats(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        named = self.traits.name != NOBODY
        users, assistants = (
            np.isin(self.traits.name, [place for place, name in enumerate(self.traits.names) if name in called])
            for called in (USERS, ASSISTANTS)
        )
        chats, with_users = (self._in_episodes_of(rows) for rows in (assistants, users))
        return chats & (users | (named & ~with_users & ~assistants)), assistants

    def _in_episodes_of(self, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        in_episode = np.zeros(self.episodes, dtype=np.bool_)
        in_episode[self.episode[rows]] = True
        return np.asarray(in_episode[self.episode])

    def step(self, rows: NDArray[np.int64], way: NDArray[np.int64], count: int = 1) -> NDArray[np.int64]:
        """Return the rows `count` steps along a way (`before` or `after`); NOTHING where it ends."""
        for _ in range(count):
            rows = np.where(rows == NOTHING, NOTHING, way[rows]) if way.size else rows
        return rows


def write(folder: Path, sequences: SequenceIndex) -> None:
    """Write a sequence index into a folder, all but the names, which `said` gives."""
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


def said(sequences: SequenceIndex) -> Mapping[str, Any]:
    """Return what is noted beside the arrays."""
    return {"names": list(sequences.traits.names)}


def read(generation: Generation) -> SequenceIndex:
    """Return the sequence index of a generation."""
    columns = {name: generation.array(name) for name in _COLUMNS}
    traits = BlockFeatures(**columns, names=tuple(map(str, generation.said["names"])))
    order = (generation.array(name) for name in ("before", "after", "episode_number", "source"))
    return SequenceIndex(traits, *order)


def lay_out(traits: BlockFeatures, view: GraphView) -> SequenceIndex:
    """Return the sequence index of a store: order from the `next` edges, episodes from the sources, else from the
    order.

    Order does not decay: whatever an edge's strength, what was said before stays said before. A text that
    stands at several places keeps its first neighbours.
    """
    size = traits.numbers.size
    before, after = np.full(size, NOTHING, np.int64), np.full(size, NOTHING, np.int64)
    edge_rows = np.flatnonzero(view.columns.relation == NEXT)[::-1]
    if edge_rows.size:
        source = traits.rows(view.nodes[view.source[edge_rows]])
        target = traits.rows(view.nodes[view.target[edge_rows]])
        # Reversed above, so that of several writes to one place the first edge is the last to write.
        after[source], before[target] = target, source
    return SequenceIndex(traits, before, after, *_episodes(traits, before))


def appended(known: SequenceIndex, traits: BlockFeatures) -> SequenceIndex | None:
    """Return the same as `lay_out`, except for the numbering of episodes, where all that is new are blocks at the end
    that stand before or after no other; None where something else changed, too.
    """
    size = known.traits.numbers.size
    fresh = traits.episode[size:].tolist()
    same = np.array_equal(traits.numbers[:size], known.traits.numbers) and np.array_equal(
        traits.episode[:size], known.traits.episode
    )
    if not same or len(set(fresh)) > _FEW_SOURCES:
        return None
    of: dict[int, int] = {}
    following, numbers = known.episodes, []
    for source in fresh:
        if source and source not in of:
            same_source = known.source == source
            at = int(same_source.argmax()) if same_source.size else 0
            if same_source.size and same_source[at]:
                of[source] = int(known.episode[at])
        if source not in of:
            of[source], following = following, following + 1
        numbers.append(of.pop(0) if not source else of[source])
    nothing = np.full(len(fresh), NOTHING, np.int64)
    return SequenceIndex(
        traits,
        np.concatenate([known.before, nothing]),
        np.concatenate([known.after, nothing]),
        np.concatenate([known.episode, np.array(numbers, dtype=np.int64)]),
        np.concatenate([known.source, traits.episode[size:]]),
    )


def _episodes(traits: BlockFeatures, before: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return (n,) episode numbers: blocks of one source, or of one chain where sources do not tell; and (n,) the
    sources.
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
    # A chain belongs to the source of its first piece; where that is the only one of its source, to itself.
    _, source, members = np.unique(traits.episode[first], return_inverse=True, return_counts=True)
    alone = (traits.episode[first] == 0) | (members[source] == 1)
    _, episode = np.unique(np.where(alone, first + members.size, source), return_inverse=True)
    return np.asarray(episode, dtype=np.int64), traits.episode[first]

"""Name what a search reads from the packages below, and index the order of blocks, with their forms and
speakers.

Between the layers a block is its `number`, which the store counts up as blocks arrive: arrays of integers are
filtered far faster than ids. Only the best candidates are read as a Block.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from amgs.clock import Clock
from amgs.graph.live import LiveGraph
from amgs.graph.view import GraphView
from amgs.index.arrays import NOBODY, BlockFeatures, Generation, save_arrays
from amgs.index.lexical import LexicalIndex
from amgs.index.vector import VectorIndex
from amgs.storage.block_columns import ScoringFacts
from amgs.storage.blocks import NumberedBlock
from amgs.text.language import table_of
from amgs.types import BlockFilter, Vector

ChatRole = Literal["user", "assistant"]

USERS = frozenset({"human", "user"})
ASSISTANTS = frozenset(
    {"ai", "assistant", "bot", "chatbot", "chatgpt", "claude", "codex", "copilot", "gemini", "llm", "model"}
)
"""Names, in lower case, that chats give to the assistant's turns."""

_BETWEEN_SENTENCES = re.compile(r"(?<=[!?])\s+|(?<=\D\.)\s+|(?<=[。！？])\s*")


def find_asked_role(text: str) -> ChatRole | None:
    """Return whose turns the last question of a text asks for; None where it asks for neither or is no question.

    The first "I", "you" or "we" that is a subject decides ("What did you suggest for my garden?"), else the first
    "my" or "your". "What can I do" asks for neither.

    In a chat with an assistant "I mentioned" asks for the user's turns, "you recommended" for the assistant's.
    """
    words = table_of(text)
    asked = ""
    for sentence in _BETWEEN_SENTENCES.split(text):
        if "?" in sentence or "？" in sentence or words.asks.search(sentence) or words.request.match(sentence):
            asked = sentence
    asked = words.request.sub("", asked)
    # "can you" matches neither group, so the next subject decides; "we" means both, so nobody.
    for match in words.subject.finditer(asked):
        if match.lastgroup:
            return cast("ChatRole | None", None if match.lastgroup == "both" else match.lastgroup)
    own = words.own.search(asked)
    return cast("ChatRole", own.lastgroup) if own else None


# A turn is often a fragment that its neighbours complete, and it has a speaker; a part of a document has neither;
# lengths are comparable only within a form.
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

    episode: (n,) number of each block's episode, from 0. chained: (n,) whether a block has a block before or after it.

    A dialogue is an episode in which at least two names each begin LEAST_SHARE of the blocks, and names together half
    of them; so "License: MIT" makes no speaker. Where names begin nearly all blocks, two blocks make a speaker, since
    either side of a chat may say little.
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

    def find_speakers(self, text: str) -> tuple[int, ...]:
        """Return the speakers of dialogues that a text names, as indexes into the traits' names."""
        return tuple(place for place in self.traits.find_names(text) if place in self._speakers)

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
    neighbours of its first block.
    """
    size = traits.numbers.size
    before, after = np.full(size, NOTHING, np.int64), np.full(size, NOTHING, np.int64)
    edge_rows = np.flatnonzero(view.columns.relation == NEXT)[::-1]
    if edge_rows.size:
        source = traits.rows(view.nodes[view.source[edge_rows]])
        target = traits.rows(view.nodes[view.target[edge_rows]])
        # Reversed above, so that of several edges to a row the first is assigned last.
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
    # A chain belongs to its first block's source; where the chain is that source's only chain, it is its own episode.
    _, source, members = np.unique(traits.episode[first], return_inverse=True, return_counts=True)
    alone = (traits.episode[first] == 0) | (members[source] == 1)
    _, episode = np.unique(np.where(alone, first + members.size, source), return_inverse=True)
    return np.asarray(episode, dtype=np.int64), traits.episode[first]


Numbers = NDArray[np.int64]
"""(n,) int64: numbers of blocks."""


class BlockReader(Protocol):
    """What a search needs from the store; `derived.block_reader` implements it."""

    def numbers(self, wanted: BlockFilter, *, limit: int | None = None) -> Numbers:
        """Return numbers of the blocks that pass, ascending; with a limit, the most recently reinforced of them."""
        ...

    def read_blocks(self, numbers: Sequence[int]) -> Sequence[NumberedBlock]:
        """Return the blocks with these numbers, in any order; unknown numbers are left out."""
        ...

    def facts(self, numbers: Sequence[int]) -> ScoringFacts:
        """Return the scoring columns of the blocks with these numbers; unknown numbers are left out."""
        ...

    def numbers_of(self, ids: Sequence[str]) -> Mapping[str, int]:
        """Return numbers by id, without ids that do not exist."""
        ...


@dataclass(frozen=True, slots=True)
class Sources:
    """Everything a search reads.

    embed: the vector of a query. embed_raw: the vector of a raw block's text, cached where it was asked for before.
    sequences: the order of blocks, built on first use. knows_script: whether the embedder knows a text's script.
    meaning_weight: how much the embedder's cosines count; 1 for the packaged embedder.
    """

    blocks: BlockReader
    keyword: LexicalIndex
    vectors: VectorIndex
    graph: LiveGraph
    embed: Callable[[str], Vector]
    embed_raw: Callable[[str], Vector]
    clock: Clock
    sequences: Callable[[], SequenceIndex]
    knows_script: Callable[[str], bool]
    meaning_weight: float = 1.0

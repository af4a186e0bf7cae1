"""What a scorer of antecedents is trained on: pronouns with their candidates, read once by the frozen encoder and kept
on disk in half precision.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from amgs.conversation.coreference.mentions import given
from amgs.conversation.coreference.pairs import agree, pair_features
from amgs.conversation.coreference.parser import GrammarParser
from amgs.conversation.coreference.passage import CorefPassage, Kind
from amgs.types import Vector
from benchmarks.conversation.coreference_data import GapExample
from benchmarks.conversation.coreference_judging import read_gap_passage
from benchmarks.coreference.coreference_texts import AnnotatedText
from benchmarks.coreference.token_states import TokenStates

_CANDIDATES = 25
_ANAPHORS = frozenset({Kind.PERSON, Kind.THEY, Kind.IT})
_NO_CANDIDATES = frozenset({Kind.I, Kind.YOU, Kind.WE})


@dataclass(frozen=True, eq=False)
class Example:
    """A pronoun: features and whether both were read together (n, F + 1), states of its candidates (n, S) and its
    own (S,), attention (n, A), and which candidates are right (n,), none of them where all are false.
    """

    features: Vector
    attention: Vector
    candidates: Vector
    anaphor: Vector
    right: Vector


def of_text(one: AnnotatedText, parser: GrammarParser, states: TokenStates) -> Iterator[Example]:
    """The pronouns of a text that mean somebody or something else in it, with the mentions before them."""
    passage = parser.parse([("", one.text)]).passage
    who = {(start, end): number for start, end, number in one.mentions}
    passage = given(passage, who)
    for number, mention in enumerate(passage.mentions):
        if mention.kind not in _ANAPHORS:
            continue
        before = [
            i
            for i in range(number)
            if passage.mentions[i].kind not in _NO_CANDIDATES
            and passage.mentions[i].end <= mention.start
            and agree(mention, passage.mentions[i])
        ][-_CANDIDATES:]
        if before:
            own = who[mention.start, mention.end]
            same = [who[passage.mentions[i].start, passage.mentions[i].end] == own for i in before]
            yield example(passage, number, before, same, states)


def of_gap(
    given_examples: Iterable[GapExample], parser: GrammarParser, states: TokenStates
) -> Iterator[Example]:
    """Examples of GAP: two candidates each, before or after the pronoun."""
    for one in given_examples:
        read = read_gap_passage(one, parser)
        yield example(read.passage, read.pronoun, read.names, one.right, states)


def example(
    passage: CorefPassage, anaphor: int, candidates: Sequence[int], right: Sequence[bool], states: TokenStates
) -> Example:
    """A mention with its candidates as it is trained on."""
    pairs = states.pairs(passage, anaphor, candidates)
    rows = np.concatenate([pair_features(passage, anaphor, candidates), pairs.read[:, None]], axis=1)
    return Example(rows, pairs.attention, pairs.candidates, pairs.anaphor, np.array(right, dtype=bool))


def save(path: Path, examples: Sequence[Example]) -> None:
    """Writes examples as columns, in half precision, in one rename."""
    sizes = np.array([len(one.right) for one in examples], dtype=np.int32)
    part = path.with_suffix(".partial")
    with part.open("wb") as file:
        np.savez(
            file,
            sizes=sizes,
            right=np.concatenate([one.right for one in examples]),
            anaphors=np.stack([one.anaphor for one in examples]).astype(np.float16),
            features=np.concatenate([one.features for one in examples]).astype(np.float16),
            attention=np.concatenate([one.attention for one in examples]).astype(np.float16),
            candidates=np.concatenate([one.candidates for one in examples]).astype(np.float16),
        )
    part.replace(path)


def load(path: Path) -> list[Example]:
    """Reads what `save` wrote, as it is on disk."""
    with np.load(path) as held:
        ends = np.cumsum(held["sizes"])
        columns = {name: held[name] for name in ("features", "attention", "candidates", "right")}
        anaphors = held["anaphors"]
    found = []
    for number, (start, end) in enumerate(zip(np.r_[0, ends[:-1]], ends, strict=True)):
        rows = {name: column[start:end] for name, column in columns.items()}
        found.append(Example(anaphor=anaphors[number], **rows))
    return found


def digest(paths: Iterable[Path]) -> str:
    """SHA-256 of the bytes of files, in the order of their names."""
    found = hashlib.sha256()
    for path in sorted(paths):
        found.update(path.read_bytes())
    return found.hexdigest()

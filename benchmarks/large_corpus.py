"""Any number of blocks out of a folder of books: for benches of size.

Round 0 is the books' own paragraphs, as they stand. Every further round repeats each paragraph with one of its
sentences replaced by one of another paragraph of the book, with other proper names and other numbers. A block
belongs to a part of a journal, with a date, the piece before and after, shared names and likenesses as edges.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from amgs.clock import microseconds_of
from amgs.errors import InputError
from amgs.identity import block_id
from amgs.lifecycle.categories import CATEGORIES, decay_of
from amgs.text.embedding import normalise_rows
from amgs.types import Vector

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_YEARS = 3.0
_PART = 40
_SHORTEST, _LONGEST = 60, 900
_SENTENCE = re.compile(r"(?<=[.!?])[\"'”’]?\s+(?=[\"'“‘]?[A-Z])")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{3,}\b")
_NUMBER = re.compile(r"\b\d+\b")
_NOISE = 0.30
"""Length of the random part of a varied block's vector, beside a mix of length 1."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of a book: its sentences, and the book's number."""

    book: int
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.sentences)


@dataclass(frozen=True, eq=False)
class Slice:
    """Blocks `start` to `start + n` of a corpus as columns. base, other: (n,) the paragraph each comes from,
    and the one that lent a sentence. name: the proper name it mentions, "" for none. part, place: the part of a
    journal and the place in it. speaker: "" in narration.
    """

    start: int
    ids: list[str]
    contents: list[str]
    base: NDArray[np.int64]
    other: NDArray[np.int64]
    names: list[str]
    sources: list[str]
    speakers: list[str]
    created: NDArray[np.int64]
    category: list[str]
    decay_lambda: NDArray[np.float64]
    confidence: NDArray[np.float64]
    reinforcements: NDArray[np.int64]


class Books:
    """The paragraphs of every `.txt` in a folder; raises InputError when there is none."""

    def __init__(self, folder: Path) -> None:
        files = sorted(folder.glob("*.txt")) if folder.is_dir() else []
        if not files:
            raise InputError(f"{folder} contains no books.", way_out="Give a folder of .txt files with --data.")
        self.titles = tuple(file.stem for file in files)
        self.paragraphs = tuple(p for i, file in enumerate(files) for p in _paragraphs(i, file))
        of_book = [[i for i, p in enumerate(self.paragraphs) if p.book == b] for b in range(len(files))]
        self._of_book = [np.array(rows, dtype=np.int64) for rows in of_book]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Proper names: words that stand in capitals inside a sentence of the books, alphabetically."""
        return tuple(sorted({name for p in self.paragraphs for name in _NAME.findall(p.text)}))

    def queries(self, count: int, seed: int) -> list[str]:
        """Sentences of the books, every other one a question; 5 to 25 words, each once."""
        chance = random.Random(seed)
        fit = [s for p in self.paragraphs for s in p.sentences if 5 <= len(s.split()) <= 25]
        asking = list(dict.fromkeys(s for s in fit if s.rstrip("\"'”’").endswith("?")))
        telling = list(dict.fromkeys(s for s in fit if s.endswith(".")))
        half = min(count // 2, len(asking))
        chosen = [*chance.sample(asking, half), *chance.sample(telling, min(count - half, len(telling)))]
        chance.shuffle(chosen)
        return chosen

    def slices(self, count: int, seed: int, size: int = 50_000) -> Iterator[Slice]:
        """The first `count` blocks, each content once, in slices."""
        seen: set[bytes] = set()
        made: list[tuple[str, str, int, int, str, int]] = []
        start = 0
        round_ = 0
        while start + len(made) < count:
            for one in self._round(round_, seed):
                key = bytes.fromhex(one[0])[:12]
                if key in seen:
                    continue
                seen.add(key)
                made.append(one)
                if len(made) == size or start + len(made) == count:
                    yield self._columns(start, count, made, seed)
                    start, made = start + len(made), []
                    if start == count:
                        return
            round_ += 1

    def _round(self, round_: int, seed: int) -> Iterator[tuple[str, str, int, int, str, int]]:
        """(id, content, paragraph, lender, name, round) of every paragraph, varied unless round 0."""
        chance = random.Random(seed * 1_000_003 + round_)
        swapped = list(self.names)
        chance.shuffle(swapped)
        alias = dict(zip(self.names, swapped, strict=True))
        for place, paragraph in enumerate(self.paragraphs):
            text, other = paragraph.text, place
            if round_:
                rows = self._of_book[paragraph.book]
                other = int(rows[chance.randrange(rows.size)])
                text = _varied(paragraph, self.paragraphs[other], alias, chance)
            named = _NAME.search(text)
            yield block_id(text), text, place, other, named.group() if named else "", round_

    def _columns(self, start: int, count: int, made: Sequence[tuple[str, str, int, int, str, int]], seed: int) -> Slice:
        chance = np.random.default_rng([seed, start])
        n = len(made)
        begin = microseconds_of(NOW - timedelta(days=365.25 * _YEARS))
        step = (microseconds_of(NOW) - begin) // (count + 1)
        created = begin + step * np.arange(start + 1, start + n + 1, dtype=np.int64)
        # Half of what is remembered is of durable kinds, half fades within weeks.
        kinds = [CATEGORIES[k] for k in chance.integers(0, len(CATEGORIES), size=n)]
        sources, speakers = [], []
        for i, (_, _, base, _, _, round_) in enumerate(made):
            part = (start + i) // _PART
            title = self.titles[self.paragraphs[base].book]
            sources.append(f"journals/{title}/{round_:03d}/{part:06d}.md#{(start + i) % _PART + 1}")
            talks = part % 4 == 0
            speakers.append(self.names[(part * 7 + i % 2 * 3) % len(self.names)] if talks else "")
        used = chance.geometric(0.6, size=n) * (chance.random(n) < 0.08)
        return Slice(
            start=start,
            ids=[one[0] for one in made],
            contents=[one[1] for one in made],
            base=np.array([one[2] for one in made], dtype=np.int64),
            other=np.array([one[3] for one in made], dtype=np.int64),
            names=[one[4] for one in made],
            sources=sources,
            speakers=speakers,
            created=created,
            category=kinds,
            decay_lambda=np.array([decay_of(k) for k in kinds]),
            confidence=chance.uniform(0.5, 0.95, size=n).round(3),
            reinforcements=used.astype(np.int64),
        )


def sample_of(books: Books, count: int) -> NDArray[np.int64]:
    """Paragraphs whose vectors are real: `count` of them, evenly over the books: (s,) rising."""
    total = len(books.paragraphs)
    return np.unique(np.linspace(0, total - 1, min(count, total)).round().astype(np.int64))


def paragraph_vectors(sample: NDArray[np.int64], real: Vector, total: int) -> Vector:
    """(total, d): the sampled paragraphs' real vectors, and between two of them a mix of both."""
    places = np.arange(total)
    after = np.clip(np.searchsorted(sample, places), 0, sample.size - 1)
    before = np.where(sample[after] > places, np.maximum(after - 1, 0), after)
    span = np.maximum(sample[after] - sample[before], 1)
    share = ((places - sample[before]) / span).astype(np.float32)[:, None]
    return normalise_rows((1 - share) * real[before] + share * real[after])


def vectors_of(made: Slice, paragraphs: Vector, seed: int) -> Vector:
    """(n, d) unit vectors of a slice: its paragraph's, some of the lender's, and noise; round 0 without any."""
    chance = np.random.default_rng([seed, made.start, 1])
    noise = chance.standard_normal((len(made.ids), paragraphs.shape[1]), dtype=np.float32)
    noise *= _NOISE / np.sqrt(np.float32(paragraphs.shape[1]))
    mixed = normalise_rows(paragraphs[made.base] + np.float32(0.4) * paragraphs[made.other])
    # A paragraph as it stands lends to itself; it still gets a little noise unless its vector is a real one.
    return normalise_rows(mixed + noise * (made.other != made.base)[:, None].astype(np.float32))


# --- text -------------------------------------------------------------------------------------------------


def _paragraphs(book: int, file: Path) -> Iterator[Paragraph]:
    for raw in re.split(r"\n\s*\n", file.read_text(encoding="utf-8", errors="replace")):
        text = " ".join(raw.split())
        if len(text) < _SHORTEST or not any(c.islower() for c in text):
            continue
        held: list[str] = []
        for sentence in _SENTENCE.split(text):
            if held and sum(map(len, held)) + len(sentence) > _LONGEST:
                yield Paragraph(book, tuple(held))
                held = []
            held.append(sentence[: 2 * _LONGEST])
        if sum(map(len, held)) >= _SHORTEST:
            yield Paragraph(book, tuple(held))


def _varied(own: Paragraph, other: Paragraph, alias: dict[str, str], chance: random.Random) -> str:
    sentences = list(own.sentences)
    lent = chance.choice(other.sentences)
    sentences[chance.randrange(len(sentences))] = lent
    if len(sentences) == 1:
        sentences.append(chance.choice(own.sentences))
    text = " ".join(sentences)
    text = _NAME.sub(lambda found: alias.get(found.group(), found.group()), text)
    return _NUMBER.sub(lambda found: str(int(found.group()[:6]) + chance.randrange(1, 90)), text)

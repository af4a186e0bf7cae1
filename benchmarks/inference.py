"""`inference`: what the memory concludes from documents that nobody here wrote.

Documents are taken in and consolidated; each gets a date of its own, a day apart, so that dates alone spare nothing.
Among them pairs of short notes are planted that supersede or contradict each other, for recall, and sentences of the
documents themselves are told again, with another value or not. What else is found among the documents is listed for
reading, and counts as wrong unless a file of labels says otherwise.
The simplest rule, the same words with other numbers, runs on the same blocks beside it.

Sentences of foreign documents told again a year later: with another value, with the same one, or of another thing.

Only the first says anything against its origin. Words are exchanged and the sentence gets another opening or a tail,
so that neither the words alone nor the number alone tells the three apart.
"""

from __future__ import annotations

import csv
import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Literal

from amgs.errors import InputError
from amgs.identity import file_of
from amgs.ingest.raw_blocks import RawBlock
from amgs.ingest.reading import read_folder
from amgs.lifecycle.conflict import SURE
from amgs.memory import Memory
from amgs.settings import IngestSettings
from amgs.text.claims import claims
from amgs.text.entities import EntityRecogniser
from amgs.text.prose import statements
from amgs.types import Block, BlockFilter, Review
from benchmarks.bench_results import Bench, BenchResult, BenchTable, MemoryRig
from benchmarks.stores import BenchClock

RETOLD = "retold"
Telling = Literal["changed", "same", "other"]

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_NUMBER = re.compile(r"(?<![\w.,:/#%-])(?:\d{1,3}(?:,\d{3})+|\d{1,3}(?:\.\d)?|[3-9]\d{3})(?![\w,:/-]|\.\d)")
_NAME = re.compile(r"[A-Z][\w'’-]+(?: (?:of |the )?[A-Z][\w'’-]+)*")
_WORDS = range(8, 31)
_LATER = timedelta(days=400)

_OTHERWISE = (
    ("located", "situated"),
    ("about", "roughly"),
    ("approximately", "around"),
    ("built", "constructed"),
    ("people", "persons"),
    ("has", "counts"),
    ("large", "big"),
    ("many", "numerous"),
    ("began", "started"),
    ("near", "close to"),
    ("also", "too"),
    ("includes", "comprises"),
    ("most", "the bulk"),
    ("released", "published"),
)
_FRAMES = (
    "{s}.",
    "Checked again this spring: {s}.",
    "The latest report has it that {s}.",
    "{s}, says the new edition.",
    "By today's count {s}.",
    "I looked it up and wrote it down: {s}.",
)


@dataclass(frozen=True, slots=True)
class RetoldSentence:
    """A note that tells a sentence of another block again. origin: the source of that block."""

    draft: RawBlock
    origin: str
    telling: Telling


def retold(drafts: Iterable[RawBlock], seed: int, many: int = 24) -> list[RetoldSentence]:
    """Up to `many` sentences with a name and one value, each of another file, told again in the three ways in turn."""
    draw = random.Random(seed)
    found = [(one, s) for one in drafts for s in _fit(one.content)]
    draw.shuffle(found)
    files: dict[str, tuple[RawBlock, str]] = {}
    for one, sentence in found:
        files.setdefault(str(one.meta.get("source", "")).partition("#")[0], (one, sentence))
    chosen = list(files.values())[:many]
    names = [_names(sentence)[-1] for _, sentence in chosen]
    made = []
    for n, (one, sentence) in enumerate(chosen):
        telling: Telling = ("changed", "same", "other")[n % 3]
        told = _told(sentence, telling, names[(n + 1) % len(names)], draw)
        at = None if one.created_at is None else one.created_at + _LATER
        note = RawBlock(told, at, {"source": f"{RETOLD}/{n}-{telling}.md"})
        made.append(RetoldSentence(note, str(one.meta.get("source", "")), telling))
    return made


def _fit(content: str) -> Sequence[str]:
    return [
        s
        for s in (" ".join(part.split()) for part in _SENTENCE.split(statements(content)))
        if len(s.split()) in _WORDS and s[0].isupper() and s[-1] == "." and ":" not in s
        if len(_NUMBER.findall(s)) == 1 and len(re.findall(r"\d+", _NUMBER.sub("", s))) == 0 and _names(s)
    ]


def _names(sentence: str) -> list[str]:
    """Runs of capitals, the longest last; a single word that opens the sentence is none."""
    return sorted((m[0] for m in _NAME.finditer(sentence) if m.start() or " " in m[0]), key=len)


def _told(sentence: str, telling: Telling, other: str, draw: random.Random) -> str:
    said = sentence[:-1]
    if telling == "other":
        said = said.replace(_names(sentence)[-1], other)
    if telling != "same":
        said = _NUMBER.sub(lambda m: _changed(m[0], draw), said)
    for word, another in _OTHERWISE:
        said = re.sub(rf"\b{word}\b", another, said)
    frame = draw.choice(_FRAMES)
    if not frame.startswith("{s}") and said.startswith(("The ", "It ", "In ", "A ")):
        said = said[0].lower() + said[1:]
    return frame.format(s=said)


def _changed(number: str, draw: random.Random) -> str:
    """Another number of the same look, a tenth to a half more."""
    value = float(number.replace(",", ""))
    more = value * draw.uniform(1.1, 1.5) + 1
    return f"{more:.1f}" if "." in number else f"{round(more):,}" if "," in number else str(round(more))


BENCH = Bench(
    "inference",
    {
        "sure_precision": (">=", 0.8),
        "planted_recall": (">=", 0.8),
        "entity_debris": ("<=", 0.02),
        "category_precision": (">=", 0.8),
    },
)
_START = datetime(2025, 1, 1, tzinfo=UTC)
_PLANTED = "planted"
_DEBRIS = re.compile(
    r"[<>\[\]{}|\\`=*\"\n]|https?:|www\.|\bhref\b|://|\w@\w|::|&\w+;|\w\("
    r"|^[^\w]|^\W*$|^[\d.,:/-]+$|\.(?:py|md|rst|html?)$"
)
"""What no name holds: marks of markup, an address, a line break, code, numbers alone."""

_FACTS: tuple[tuple[str, str], ...] = (
    (
        "The rent of the {p} boat house is {a} crowns a month.",
        "From now on the rent of the {p} boat house is {b} crowns a month, not {a}.",
    ),
    ("The {p} office closes at {a}:15 on weekdays.", "The {p} office now closes at {b}:15 on weekdays instead."),
    (
        "{n} is the treasurer of the {p} choir.",
        "{m} is the treasurer of the {p} choir since the meeting, {n} stepped down.",
    ),
    ("The spare key of the {p} cellar lies with {n}.", "The spare key of the {p} cellar was moved from {n} to {m}."),
    ("The {p} lighthouse is {a} metres high.", "By the survey the {p} lighthouse is {b} metres high."),
    ("The {p} mill was built with {a} windows on the river side.", "The {p} mill has {b} windows on the river side."),
)
"""What an earlier note says and what a later one says against it: four times something changed, twice two disagree."""

_PLACES = ("Sundby", "Vellmark", "Orsa", "Tannau", "Lindholm", "Kesterby", "Morla", "Haugen", "Brenta", "Ostrow")
_PEOPLE = ("Signe Holt", "Ove Lind", "Amina Yusuf", "Petter Dahl", "Maja Berg", "Ilse Kern", "Tomas Weil", "Nuria Sol")


def run(rig: MemoryRig, folder: Path, recogniser: EntityRecogniser, labels: Path | None = None) -> BenchResult:
    """folder: documents. labels: a file of tab-separated lines `kind, first source, second source, right|wrong` for
    findings and `category, source, category` for blocks, filled by reading. Raises InputError for one that is missing
    or holds something else.
    """
    told = _read_labels(labels)
    read = read_folder(folder, IngestSettings())
    if not read.drafts:
        raise InputError(f"{folder} holds no documents.", way_out="Give a folder of notes or manuals.")
    dated = _dated(read.drafts)
    again = retold(dated, rig.seed)
    drafts = [*dated, *_planted(rig.seed), *(one.draft for one in again)]
    clock = BenchClock(_START + timedelta(days=1000))
    with Memory.open(":memory:", clock=clock, embedder=rig.embedder, recogniser=recogniser) as memory:
        memory.ingest_many(drafts)
        memory.apply_consolidation(memory.plan_consolidation(progress=rig.progress))
        blocks = {b.id: b for b in memory.blocks(BlockFilter())}
        found = [r for r in memory.lifecycle.plan_review(progress=rig.progress).found if r.kind != "merges"]
    planted = {(f"{_PLANTED}/{n}-old.md", f"{_PLANTED}/{n}-new.md") for n in range(len(_PLACES))}
    changed = {(one.origin, str(one.draft.meta["source"])) for one in again if one.telling == "changed"}
    made = planted | changed
    rows = [(r, *_ends(r, blocks)) for r in found]
    right = {(a, b) for _, a, b in rows if (a, b) in planted}
    sure = [(r, a, b) for r, a, b in rows if r.confidence >= SURE]
    good = [1 for r, a, b in sure if (a, b) in made or told.get((r.kind, a, b)) == "right"]
    simplest = _same_words_other_numbers(blocks.values())
    also_good = [pair for pair in simplest if pair in made or _called_right(told, pair)]
    names = Counter(str(name) for b in blocks.values() for name in b.meta.get("entities") or ())
    debris = sum(bool(_DEBRIS.search(name)) for name in names)
    foreign = {_source(b): b for b in blocks.values() if not _source(b).startswith((_PLANTED, RETOLD))}
    categories = _categories(foreign, told)
    metrics = {
        "blocks": len(blocks),
        "findings": len(rows),
        "sure": len(sure),
        "sure_precision": len(good) / len(sure) if sure else math.nan,
        "simplest": len(simplest),
        "simplest_precision": len(also_good) / len(simplest) if simplest else math.nan,
        "simplest_planted_recall": len(simplest & planted) / len(planted),
        "sure_foreign": sum(a in foreign and b in foreign for _, a, b in sure),
        "planted_recall": len(right) / len(planted),
        "planted_recall_sure": sum((a, b) in planted for _, a, b in sure) / len(planted),
        "retold_changed": len(changed),
        "retold_recall": len(changed & {(a, b) for _, a, b in rows}) / max(1, len(changed)),
        "retold_recall_sure": len(changed & {(a, b) for _, a, b in sure}) / max(1, len(changed)),
        "simplest_retold_recall": len(changed & simplest) / max(1, len(changed)),
        "retold_false": sum(b.startswith(RETOLD) and (a, b) not in changed for _, a, b in rows),
        "simplest_retold_false": sum(b.startswith(RETOLD) and (a, b) not in changed for a, b in simplest),
        "entities": len(names),
        "entity_debris": debris / len(names) if names else 0.0,
        "categorised": sum(b.category != "note" for b in foreign.values()) / max(1, len(foreign)),
        "self": sum(b.is_self_component for b in foreign.values()),
        **categories,
    }
    listing = tuple((r.kind, r.confidence, a, b, r.because[:160]) for r, a, b in rows if (a, b) not in made)
    named = tuple((b.category, source) for source, b in sorted(foreign.items()) if b.category != "note")
    tables = (
        BenchTable("Found among the documents, to be read", ("kind", "sure", "older", "newer", "because"), listing),
        BenchTable("Blocks that are no plain note, to be read", ("category", "source"), named),
    )
    settings = {"data": folder.name, "seed": rig.seed, "embedder": rig.embedder.name, "names": recogniser.name}
    return BENCH.result(settings, metrics, tables)


def _dated(drafts: Sequence[RawBlock]) -> list[RawBlock]:
    files = {str(d.meta.get("source", "")).partition("#")[0]: None for d in drafts}
    day = {file: n for n, file in enumerate(files)}
    return [
        RawBlock(d.content, _START + timedelta(days=day[str(d.meta.get("source", "")).partition("#")[0]]), d.meta)
        for d in drafts
    ]


def _planted(seed: int) -> list[RawBlock]:
    draw = random.Random(seed)
    made = []
    for n, place in enumerate(_PLACES):
        old, new = _FACTS[n % len(_FACTS)]
        a, b = draw.sample(range(11, 22), 2)
        first, second = draw.sample(_PEOPLE, 2)
        words: Mapping[str, str | int] = {"p": place, "a": a, "b": b, "n": first, "m": second}
        for name, text, day in (("old", old, 10 * n), ("new", new, 10 * n + 400)):
            source = f"{_PLANTED}/{n}-{name}.md"
            made.append(RawBlock(text.format(**words), _START + timedelta(days=day), {"source": source}))
    return made


def _same_words_other_numbers(blocks: Iterable[Block]) -> set[tuple[str, str]]:
    """Pairs of sources, the older first, with a statement each of the same content words (two and more) and different
    numbers.
    """
    said: dict[frozenset[str], list[tuple[Block, frozenset[str]]]] = {}
    for block in sorted(blocks, key=lambda b: (b.created_at, b.id)):
        for claim in claims(block.content):
            numbers = frozenset(v.amount for v in claim.values)
            if numbers and len(claim.subject) >= 2:
                said.setdefault(claim.subject, []).append((block, numbers))
    return {
        (_source(a), _source(b))
        for alike in said.values()
        for (a, ours), (b, theirs) in combinations(alike, 2)
        if file_of(_source(a)) != file_of(_source(b)) and ours != theirs
    }


def _called_right(told: Mapping[tuple[str, ...], str], pair: tuple[str, str]) -> bool:
    return any(key[1:] == pair and value == "right" for key, value in told.items())


def _source(block: Block) -> str:
    return str(block.meta.get("source", ""))


def _ends(review: Review, blocks: Mapping[str, Block]) -> tuple[str, str]:
    return _source(blocks[review.older_id]), _source(blocks[review.newer_id])


def _categories(blocks: Mapping[str, Block], told: Mapping[tuple[str, ...], str]) -> dict[str, float]:
    """How often the categories agree with those that a reader gave: of those that are no note, and there the reader's
    commonest category for all and the same categories in any order; of all, and what `note` for everything would reach.
    """
    read = {key[1]: value for key, value in told.items() if key[0] == "category" and key[1] in blocks}
    if not read:
        return {}
    said = {source: blocks[source].category for source in read}
    claimed = [source for source in read if said[source] != "note"]
    true, ours = Counter(read[s] for s in claimed), Counter(said[s] for s in claimed)
    return {
        "labelled": len(read),
        "category_precision": sum(said[s] == read[s] for s in claimed) / len(claimed) if claimed else math.nan,
        "category_precision_majority": max(true.values()) / len(claimed) if claimed else math.nan,
        "category_precision_shuffled": sum(true[c] * n for c, n in ours.items()) / len(claimed) ** 2
        if claimed
        else math.nan,
        "category_accuracy": sum(said[s] == read[s] for s in read) / len(read),
        "category_accuracy_all_note": sum(value == "note" for value in read.values()) / len(read),
    }


def _read_labels(labels: Path | None) -> dict[tuple[str, ...], str]:
    if labels is None:
        return {}
    try:
        with labels.open(encoding="utf-8", newline="") as lines:
            rows = [row for row in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE) if row]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{labels} cannot be read: {error}.", way_out="Give a file of labels.") from error
    wrong = next((row for row in rows if len(row) != (3 if row[0] == "category" else 4)), None)
    if wrong is not None:
        raise InputError(
            f"{labels} has a line that is no label: {' '.join(wrong)[:60]!r}.",
            way_out="A line is `kind, older, newer, right|wrong` or `category, source, category`, separated by tabs.",
        )
    return {tuple(row[:-1]): row[-1] for row in rows}

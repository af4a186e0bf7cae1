"""What every bench of the focus engine is given: models, scorers, texts, a folder for its rows, a clock.

Places in a text where the engine is measured: a lifetime that ends there, and the tokens that came next.

Lifetimes that a bench builds once and keeps on disk: their gists take minutes, asking takes seconds.

The rows a bench measures, one line of JSON each as it is measured, so that a run cut short goes on from there.

What the focus benches read: a text of the caller's, and code that no gist was trained on.
"""

from __future__ import annotations

import hashlib
import json
import sysconfig
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from amgs.errors import InputError, UsageError
from amgs_focus.gist import GistEncoder
from amgs_focus.lens.question_search import QuestionSearch
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.base_model import BaseModel
from amgs_focus.options import PerfClock, ProgressCallback
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from benchmarks.bench_results import Bench, Rig, Stopwatch
from benchmarks.focus_evaluation.gist import draw_windows
from benchmarks.focus_evaluation.statistics import resampled

HELD_OUT = ("email", "asyncio", "xml")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Tokens of a document, from its token `at` on."""

    document: int
    at: int
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class TokenCorpus:
    """Documents as token ids. mark: changes with the text."""

    name: str
    names: tuple[str, ...]
    documents: tuple[tuple[int, ...], ...]
    mark: str

    @property
    def tokens(self) -> int:
        return sum(map(len, self.documents))

    def excerpts(self, need: int, count: int, seed: int, *, beside: int = 0) -> tuple[Excerpt, ...]:
        """Up to `count` excerpts of `need` tokens, spread evenly, from documents that have `beside` tokens more. Raises
        TextError when no document is so long.
        """
        lengths = [len(document) if len(document) >= need + beside else 0 for document in self.documents]
        places = draw_windows(lengths, need, count, seed)
        return tuple(Excerpt(document, at, self.documents[document][at : at + need]) for document, at in places)


def read_texts(model: BaseModel, files: Sequence[Path] | Path | None, bench: str) -> TokenCorpus:
    """Text files, each a document. Raises UsageError when none is named, InputError for one that cannot be
    read.
    """
    named = [files] if isinstance(files, Path) else list(files or ())
    if not named:
        raise UsageError(
            "No text given. The bench needs one that the gists were not trained on.",
            way_out=f"Name a file: `bench {bench} --text FILE`.",
        )
    return _corpus(model, " + ".join(file.name for file in named), named)


def held_out_code(model: BaseModel) -> TokenCorpus:
    """The packages of Python's standard library that training leaves out, each module a document."""
    library = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(file for package in HELD_OUT for file in (library / package).rglob("*.py"))
    files = [file for file in files if file.stat().st_size > 0]
    if not files:
        raise InputError(f"{library} holds none of {', '.join(HELD_OUT)}.", way_out="Leave the code out: `--no-code`.")
    return _corpus(model, f"standard library: {', '.join(HELD_OUT)}", files)


def _corpus(model: BaseModel, name: str, files: Sequence[Path]) -> TokenCorpus:
    documents, mark = [], 0
    for file in files:
        text = _text(file)
        mark = zlib.crc32(text.encode(), mark)
        documents.append(tuple(model.encode(text)))
    return TokenCorpus(name, tuple(file.name for file in files), tuple(documents), f"{mark:08x}")


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 (byte {error.start}).", way_out="Save it as UTF-8.") from error
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}.", way_out="Give a text file.") from error


Row = dict[str, Any]


def say_percent(rows: Sequence[Row], field: str, *, interval: bool = True) -> str:
    """A share of the rows in percent, with its interval by drawing rows; nothing where there are none."""
    if not rows:
        return ""
    found = resampled({"x": [float(row[field]) for row in rows]}, lambda means: means["x"], seed=0)
    said = f"{100 * found.mean:.0f}"
    return f"{said} [{100 * found.low:.0f}, {100 * found.high:.0f}]" if interval else said


class Ledger:
    """Rows by key, in `FOLDER/BENCH-DIGEST.jsonl`; the digest is of all that decides what is measured.

    The first line holds those settings, every other `{"key": …, …}`. A last line that was cut off is measured
    anew. Raises InputError when the file cannot be written.
    """

    def __init__(self, folder: Path, bench: str, settings: Mapping[str, Any]) -> None:
        told = json.dumps(settings, sort_keys=True, ensure_ascii=False, default=str)
        self.path = folder / f"{bench}-{hashlib.sha256(told.encode()).hexdigest()[:10]}.jsonl"
        self._rows: dict[str, Row] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if self.path.exists():
                self._read()
            else:
                self.path.write_text(f"{told}\n", encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"{self.path} cannot be written ({error.strerror}).", way_out="Choose another folder with --out."
            ) from error

    def once(self, key: str, measure: Callable[[], Row]) -> Row:
        """The row of a key: as it was measured before, else as it is measured now."""
        if key not in self._rows:
            row = measure()
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, **row}, ensure_ascii=False) + "\n")
            self._rows[key] = row
        return self._rows[key]

    def get(self, key: str) -> Row | None:
        """The row of a key, where it was measured."""
        return self._rows.get(key)

    def __len__(self) -> int:
        return len(self._rows)

    def _read(self) -> None:
        whole = self.path.read_text(encoding="utf-8")
        kept = whole[: whole.rfind("\n") + 1]
        if kept != whole:
            self.path.write_text(kept, encoding="utf-8")
        for line in kept.splitlines()[1:]:
            row = json.loads(line)
            self._rows[row.pop("key")] = row


def lifetime_of(
    model: BaseModel,
    gist: GistEncoder,
    tokens: Sequence[int],
    settings: FocusSettings,
    progress: ProgressCallback | None = None,
) -> LifetimeTree:
    """A lifetime in memory that holds the tokens."""
    tree = LifetimeTree(model, gist, block_size=settings.block_size)
    tree.append(tokens, progress=progress)
    return tree


@dataclass(frozen=True, kw_only=True)
class FocusRig(Rig):
    """scorers: the one that is measured first. corpora: () for a bench that reads files of its own. out: the folder of
    the measured rows. search: what questions are looked up with, None where the scorer alone reads them. quick: a short
    run on a fraction of the places.
    """

    model: BaseModel
    encoder: GistEncoder
    scorers: Sequence[FocusScorer]
    corpora: Sequence[TokenCorpus]
    out: Path
    search: QuestionSearch | None = None
    quick: bool = False
    clock: PerfClock = field(default_factory=Stopwatch)

    @property
    def scorer(self) -> FocusScorer:
        return self.scorers[0]

    @property
    def corpus(self) -> TokenCorpus:
        return self.corpora[0]

    @cached_property
    def text(self) -> tuple[int, ...]:
        """The tokens of all documents of the corpus, one after another."""
        return tuple(token for document in self.corpus.documents for token in document)

    def models(self) -> dict[str, Any]:
        """The language model and the gists, by what tells them from others."""
        card = self.model.card
        return {
            "model": card.name,
            "precision": card.precision,
            "gist": self.encoder.name,
            "gist_version": self.encoder.version,
        }

    def parts(self) -> dict[str, Any]:
        """The models, the measured scorer and the text, by what tells them from others."""
        scorer = {"scorer": self.scorer.name, "scorer_version": self.scorer.version}
        return {**self.models(), **scorer, **self._text()}

    def searching(self) -> dict[str, str]:
        """What questions are looked up with, by what tells it from others; nothing where they are not."""
        return {} if self.search is None else {"text_encoder": self.search.encoder.name}

    def parts_with(self, scorers: Iterable[FocusScorer]) -> dict[str, Any]:
        """The models, several scorers and the text, by what tells them from others."""
        named = [f"{scorer.name} {scorer.version}" for scorer in scorers]
        return {**self.models(), "scorers": named, **self._text()}

    def ledger(self, bench: Bench, settings: dict[str, Any]) -> Ledger:
        """The rows of a bench with these settings. Raises InputError when its file cannot be written."""
        return Ledger(self.out, bench.name, settings)

    def lifetime(self, tokens: Sequence[int], settings: FocusSettings) -> LifetimeTree:
        """The tokens as a lifetime in memory; the caller closes it."""
        return lifetime_of(self.model, self.encoder, tokens, settings)

    def _text(self) -> dict[str, str]:
        return {"text": f"{self.corpus.name} {self.corpus.mark}"} if self.corpora else {}


STEP = 16_384
"""Tokens a step of building: a build that was cut short goes on from the last whole one."""


def kept_lifetime(rig: FocusRig, name: str, tokens: Sequence[int], block_size: int) -> LifetimeTree:
    """The lifetime of these tokens, built as far as it was not yet. Raises CtxError as the tree does."""
    card, encoder, mark = rig.model.card, rig.encoder, rig.corpus.mark
    told = f"{card.name}|{card.precision}|{encoder.version}|{mark}|{block_size}|{name}"
    place = rig.out / "lifetimes" / f"{name}-{hashlib.sha256(told.encode()).hexdigest()[:10]}"
    place.parent.mkdir(parents=True, exist_ok=True)
    tree = LifetimeTree.open(place, rig.model, encoder, block_size=block_size, mend=True)
    try:
        if tree.length > len(tokens) or not np.array_equal(
            tree.tokens(0, tree.length), np.asarray(tokens[: tree.length], np.uint32)
        ):
            tree.truncate(0)
        for start in range(tree.length, len(tokens), STEP):
            rig.progress(start, len(tokens), f"gists of {name}")
            tree.append(tokens[start : start + STEP])
    except BaseException:
        tree.close()
        raise
    return tree

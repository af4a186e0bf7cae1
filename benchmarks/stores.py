"""Stores that a bench fills for itself, in memory, with labelled questions beside them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from amgs.clock import FixedClock, parse_instant
from amgs.conversation.summaries import AbstractiveSummariser
from amgs.errors import InputError
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.text.embedding import Embedder
from amgs.types import Progress
from benchmarks.bench_results import MemoryRig
from benchmarks.locomo_data import ADVERSARIAL, Conversation

STILL = datetime(2026, 1, 1, tzinfo=UTC)
"""The instant of a store whose texts have no dates."""


class BenchClock(FixedClock):
    """Stands still for the memory, so that a bench repeats, and runs for whoever takes the time."""

    def perf(self) -> float:
        return time.perf_counter()


def open_memory(
    rig: MemoryRig,
    place: Path | str = ":memory:",
    now: datetime = STILL,
    *,
    read_only: bool = False,
    summariser: AbstractiveSummariser | None = None,
) -> Memory:
    """A memory with the models of a rig, whose clock stands still at `now`."""
    return Memory.open(
        place,
        clock=BenchClock(now),
        embedder=rig.embedder,
        count_tokens=rig.count_tokens,
        read_only=read_only,
        summariser=summariser,
    )


@dataclass(frozen=True, slots=True)
class SourcedQuestion:
    """A question with the sources that answer it; none, and not answerable, where the corpus says nothing.

    kind: the corpus's own word for its kind.
    """

    text: str
    kind: str
    sources: tuple[str, ...]
    answerable: bool


def conversation_store(
    conversation: Conversation, embedder: Embedder, progress: Progress | None = None
) -> AbstractContextManager[Memory]:
    """A memory of one conversation, consolidated, at the instant the protocol wants."""
    return drafts_store(conversation.drafts, conversation.now, embedder, progress)


@contextmanager
def drafts_store(
    drafts: Iterable[RawBlock], now: datetime, embedder: Embedder, progress: Progress | None = None
) -> Iterator[Memory]:
    """A memory of some drafts, consolidated; a draft without a date is of the instant `now`."""
    with Memory.open(":memory:", clock=BenchClock(now), embedder=embedder) as memory:
        memory.ingest_many(drafts)
        memory.apply_consolidation(memory.plan_consolidation(progress=progress))
        yield memory


@contextmanager
def notes_store(folder: Path, now: datetime, embedder: Embedder, progress: Progress | None = None) -> Iterator[Memory]:
    """A memory of a folder of notes, consolidated."""
    with Memory.open(":memory:", clock=BenchClock(now), embedder=embedder) as memory:
        memory.ingest_folder(folder)
        memory.apply_consolidation(memory.plan_consolidation(progress=progress))
        yield memory


def conversation_questions(conversation: Conversation) -> tuple[SourcedQuestion, ...]:
    """A conversation's questions; the adversarial ones ask for what was never said so."""
    return tuple(
        SourcedQuestion(q.text, str(q.category), q.evidence, q.category != ADVERSARIAL) for q in conversation.questions
    )


def notes_questions(file: Path) -> tuple[SourcedQuestion, ...]:
    """Questions from lines of JSON: `question`, `kind`, `answers` (sources; none when it has no answer)."""
    try:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        return tuple(
            SourcedQuestion(str(r["question"]), str(r["kind"]), tuple(r["answers"]), bool(r["answers"])) for r in rows
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{file} holds no labelled questions: {error}.") from error


def notes_now(folder: Path) -> datetime:
    """The instant at which a corpus of notes lives, as its `corpus.toml` says."""
    import tomllib

    try:
        return parse_instant(str(tomllib.loads((folder / "corpus.toml").read_text(encoding="utf-8"))["now"]))
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{folder} has no corpus.toml that says `now`: {error}.") from error


def block_ids(memory: Memory, sources: Sequence[str]) -> list[frozenset[str]]:
    """For each source the blocks that hold it; equal texts share a block. Sources without one are dropped."""
    found = [frozenset(memory.resolve_source(source)) for source in sources]
    return [ids for ids in dict.fromkeys(found) if ids]

"""The same steps on a store in PostgreSQL and on one in a file: what they answer must be equal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from amgs import wire
from amgs.clock import FixedClock
from amgs.memory import Memory
from amgs_app.places.corpus import find_shipped
from benchmarks.bench_results import BenchTable, MemoryRig, SubjectResult
from benchmarks.scaleout.setup import ScaleoutSetup
from benchmarks.stores import notes_now

Step = Callable[[Memory], Any]
_QUESTIONS = ("who repairs the dome?", "the seeing tonight", "what was promised to Ilse", "QX-7741-B")
_ADDED = "The spare bearing of the dome arrived on Tuesday and lies in the workshop."


def measure_parity(rig: MemoryRig, setup: ScaleoutSetup, corpus: Path | None = None) -> SubjectResult:
    """A corpus, that of the program unless given, taken in, consolidated, searched, framed, judged, changed, undone
    and verified on both; the control adds one sentence to the file's notes, which the comparison must see.
    """
    corpus = corpus or find_shipped("sample_corpus")
    with setup.namespace("parity") as place:
        there = _told(rig, place, corpus)
    here = _told(rig, ":memory:", corpus)
    changed = _told(rig, ":memory:", corpus, add=_ADDED)
    unequal = [name for name in here if here[name] != there[name]]
    seen = sum(here[name] != changed[name] for name in here)
    metrics = {
        "parity_steps": float(len(here)),
        "parity_unequal": float(len(unequal)),
        "parity_unequal_control": float(seen),
    }
    table = BenchTable(
        "The same steps on PostgreSQL and on a file",
        ("compared", "steps", "unequal", "which"),
        (
            ("PostgreSQL with a file", len(here), len(unequal), ", ".join(unequal) or "none"),
            ("control: a file with one of a sentence more", len(here), seen, "not named"),
        ),
    )
    return SubjectResult(metrics, {"parity_unequal": ("<=", 0.0), "parity_unequal_control": (">=", 1.0)}, (table,))


def _told(rig: MemoryRig, place: str, corpus: Path, add: str = "") -> dict[str, object]:
    """What each step answers in an empty memory, without the place of the store, which differs."""
    clock = FixedClock(notes_now(corpus))
    told: dict[str, object] = {}
    with Memory.open(place, clock=clock, embedder=rig.embedder, count_tokens=rig.count_tokens) as memory:
        if add:
            memory.ingest_text(add)
        for name, step in _steps(corpus).items():
            told[name] = _comparable(wire.encode(step(memory)), memory.path)
            clock.advance(timedelta(minutes=1))
    return told


def _comparable(value: object, place: str) -> object:
    """Numbers to 12 digits: databases add up the terms of a mean in orders of their own."""
    if isinstance(value, dict):
        return {key: _comparable(part, place) for key, part in value.items()}
    if isinstance(value, list):
        return [_comparable(part, place) for part in value]
    if isinstance(value, float):
        return f"{value:.12g}"
    return "" if value == place else value


def _steps(corpus: Path) -> Mapping[str, Step]:
    """The steps by name, in order: each changes what the later ones see."""
    steps: dict[str, Step] = {
        "ingest": lambda m: m.ingest_folder(corpus),
        "search the inbox": partial(_searched, question=_QUESTIONS[0]),
        "consolidate": lambda m: m.consolidate(),
    }
    for question in _QUESTIONS:
        steps |= {
            f"search {question}": partial(_searched, question=question),
            f"SESSION {question}": partial(_framed, question=question, frame="SESSION"),
            f"ATTENTION {question}": partial(_framed, question=question, frame="ATTENTION"),
        }
    return steps | {
        "why": lambda m: m.why(_QUESTIONS[0], m.search(_QUESTIONS[1]).hits[0].block.id),
        "feedback": _judged,
        "outcomes": lambda m: m.outcomes(),
        "tag": lambda m: m.tag(m.search(_QUESTIONS[2]).hits[0].block.id, add=["promised"]),
        "undo": lambda m: m.undo(m.operations(1)[0].id),
        "as of yesterday": lambda m: m.search(_QUESTIONS[0], as_of=notes_now(corpus) - timedelta(days=1)),
        "communities": lambda m: m.graph.communities(),
        "statistics": lambda m: m.graph_stats(),
        "entities": lambda m: m.entity_names(),
        "health": lambda m: m.health(),
        "status": lambda m: replace(m.status(), topology=None),  # a file has none
        "journal": lambda m: m.operations(50),
        "verify": lambda m: m.verify(),
    }


def _searched(memory: Memory, question: str) -> object:
    return memory.search(question)


def _framed(memory: Memory, question: str, frame: str) -> object:
    return memory.assemble(frame, query=question)


def _judged(memory: Memory) -> object:
    found = memory.search(_QUESTIONS[0]).hits
    return [memory.feedback(hit.block.id, useful=place < 2) for place, hit in enumerate(found[:4])]

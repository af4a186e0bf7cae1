"""A conversation that nobody here wrote, and what its failures are planted in: a copy of its memory for each.

Each failure is planted by an operation that people use, on a turn of its own. Only questions are taken whose turn the
whole memory has in its frame and no other turn says the fact of, so that what was planted is the one cause.

Whether a fact told in other words is found, and whether one that is not stored is said not to be.

Facts are what others wrote that a turn says, or a question with its answer where nobody wrote that. Controls: the same
fact with its turn left out of the hits, and with the speakers' names exchanged; and the first hit of a search for all.
"""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from amgs.diagnosis import facts
from amgs.memory import Memory
from amgs.types import Candidate, Frame
from amgs.types.diagnosis import DiagnosisCause
from benchmarks.bench_results import BenchTable, MemoryRig
from benchmarks.locomo_data import ADVERSARIAL, Conversation, source_of
from benchmarks.stores import BenchClock

_MOST = 60
"""Facts of a conversation that are looked for, drawn by the seed."""


@dataclass(frozen=True, slots=True)
class FactsFound:
    """How many facts were looked for, and what came of it. right, wrong: its turn, or another block, was taken. first:
    its turn was the first hit. absent: of the same facts without their turn, how many a block was taken for. swapped,
    exchanged: with the speakers' names exchanged, how many there were, and how many a block was taken for.
    """

    facts: int = 0
    right: int = 0
    wrong: int = 0
    first: int = 0
    absent: int = 0
    swapped: int = 0
    exchanged: int = 0


def find_facts(memory: Memory, conversation: Conversation, retold: Mapping[str, str], seed: int) -> FactsFound:
    """Look for the facts of a conversation in its own memory; nothing is changed."""
    told = sorted((fact, source) for source, fact in retold.items())
    random.Random(f"{seed} {conversation.name} facts").shuffle(told)
    names = tuple(sorted({str(d.meta["speaker"]).split()[0] for d in conversation.drafts}))
    counts = dict.fromkeys(("facts", "right", "wrong", "first", "absent", "swapped", "exchanged"), 0)
    for fact, source in told[:_MOST]:
        own = set(memory.resolve_source(source))
        hits = memory.diagnosis.hits(fact)
        taken = _taken(memory, fact, hits)
        counts["facts"] += 1
        counts["right"] += taken in own
        counts["wrong"] += bool(taken) and taken not in own
        counts["first"] += bool(hits) and hits[0].block.id in own
        counts["absent"] += bool(_taken(memory, fact, [one for one in hits if one.block.id not in own]))
        other = _exchanged(fact, names)
        if other != fact:
            counts["swapped"] += 1
            counts["exchanged"] += bool(_taken(memory, other, memory.diagnosis.hits(other)))
    return FactsFound(**counts)


def _taken(memory: Memory, fact: str, hits: Sequence[Candidate]) -> str:
    """The id of the block that is taken to hold a fact; "" where none is."""
    best = next(iter(memory.diagnosis.judge_hits(fact, hits)), None)
    return best.block.id if best is not None and facts.is_match(best) else ""


def answered_facts(conversation: Conversation) -> list[tuple[str, str]]:
    """Questions of one turn with their answers, as facts, and the source of each."""
    return sorted(
        (f"{one.text} {one.answer}", one.evidence[0])
        for one in conversation.questions
        if one.category != ADVERSARIAL and len(one.evidence) == 1 and one.answer
    )


def _exchanged(fact: str, names: Sequence[str]) -> str:
    if len(names) != 2:
        return fact
    other = dict(zip(names, reversed(names), strict=True))
    return re.sub(rf"\b({'|'.join(map(re.escape, names))})\b", lambda match: other[match[0]], fact)


def fact_totals(every: Iterable[FactsFound]) -> dict[str, float]:
    """The counts of all conversations, as metrics: `facts`, `facts_right`, …"""
    summed = {field.name: 0.0 for field in fields(FactsFound)}
    for one in every:
        for name in summed:
            summed[name] += getattr(one, name)
    return {name if name == "facts" else f"facts_{name}": count for name, count in summed.items()}


def fact_table(every: Mapping[str, FactsFound]) -> BenchTable:
    """A row for each conversation."""
    columns = ("conversation", "facts", "right", "wrong", "first hit is right", "absent, taken", "exchanged, taken")
    rows = tuple(
        (name, f"{o.facts}", f"{o.right}", f"{o.wrong}", f"{o.first}", f"{o.absent}", f"{o.exchanged} of {o.swapped}")
        for name, o in every.items()
    )
    return BenchTable("Facts told in other words", columns, rows)


FRAME = "ATTENTION"
PLANTED: tuple[tuple[DiagnosisCause, int], ...] = (
    ("not stored", 5),
    ("not consolidated", 5),
    ("superseded", 4),
    ("set aside", 4),
    ("not found", 4),
    ("out-voted", 4),
    ("over budget", 4),
    ("left out of the conversation", 6),
    ("collapsed", 4),
)
"""Forty. Of the six that a conversation left out, two were left out of calls that the gateway recorded."""
_OTHERS = 12
"""Questions of the same conversation that nothing is done to."""
TALK = "talk"
"""What the conversation is called where it is held as messages."""
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
_STORE = "whole.duckdb"
_TELLING = 2
"""An answer of so many telling words is said again by a turn that holds them all; one word is in many turns."""


@dataclass(frozen=True, slots=True)
class PlantedFailure:
    """A question, the fact that its answer misses, and why. source, block: of the turn that says the fact; said: its
    longest sentence. retold: whether the fact is told in other words than the turn's. asked: the question as it is
    asked, which may be in other words. place: the how-maniest of its cause. called: whether it was left out of a
    recorded call, the second; the first left out nothing.
    """

    cause: DiagnosisCause
    question: str
    asked: str
    source: str
    block: str
    said: str
    fact: str
    retold: bool
    place: int = 0
    called: bool = False
    budget: int | None = None


@dataclass(frozen=True, slots=True)
class FailureWorld:
    """A conversation in a memory, in a folder of its own, and what is to be planted in copies of it. others: questions
    that nothing is done to, with the blocks and sentences of their turns. spare: failures whose cause is yet to be
    given, for those that cannot be planted. ambiguous: questions that were passed over, since another turn says the
    fact too. facts: what became of all retold facts, before anything was planted.
    """

    rig: MemoryRig
    conversation: Conversation
    folder: Path
    wanted: tuple[PlantedFailure, ...]
    others: tuple[tuple[str, str, str], ...]
    spare: tuple[tuple[PlantedFailure, PlantedFailure], ...]
    ambiguous: int
    facts: FactsFound

    @contextmanager
    def memory(self) -> Iterator[Memory]:
        """A copy of the whole memory, gone at the end."""
        with TemporaryDirectory(prefix="amgs-bench-") as folder:
            shutil.copytree(self.folder, folder, dirs_exist_ok=True)
            with _opened(self.rig, self.conversation, Path(folder)) as memory:
                yield memory

    @contextmanager
    def talk(self) -> Iterator[Memory]:
        """A memory that holds the conversation as messages; its speakers take turns as user and assistant."""
        clock = BenchClock(self.conversation.now)
        with Memory.open(":memory:", clock=clock, embedder=self.rig.embedder) as memory:
            memory.conversation.add(TALK, messages(self.conversation))
            yield memory


@contextmanager
def world(
    rig: MemoryRig, conversation: Conversation, path: Path, share: Mapping[DiagnosisCause, int]
) -> Iterator[FailureWorld]:
    """So many failures of each cause that are to be planted in a conversation, drawn by the rig's seed."""
    chance = random.Random(f"{rig.seed} {conversation.name}")
    observed = _retold(path)
    retold = observed or {source: fact for fact, source in answered_facts(conversation)}
    with TemporaryDirectory(prefix="amgs-bench-") as folder:
        with _opened(rig, conversation, Path(folder)) as whole:
            whole.ingest_many(conversation.drafts)
            whole.apply_consolidation(whole.plan_consolidation(progress=rig.progress))
            looked_for = find_facts(whole, conversation, retold, rig.seed)
            every = list(_answered(whole, conversation, retold))
            twice = _said_twice(conversation, every, observed, retold)
            answered = [one for one in every if one.source not in twice]
            chance.shuffle(answered)
            wanted: list[PlantedFailure] = []
            for cause, count in _fitting(share, len(answered)).items():
                for place in range(count):
                    own = _failures(whole, conversation, answered.pop(), retold)[len(wanted) % 2]
                    called = cause == "left out of the conversation" and place % 4 > 1
                    wanted.append(replace(own, cause=cause, place=place, called=called))
            others = tuple(
                (one.text, whole.resolve_source(one.source)[0], _said(conversation, one.source))
                for one in answered[:_OTHERS]
            )
            for question, _, _ in others:  # they are logged, and an answer that is given moves later ones
                whole.assemble(FRAME, query=question)
            spare = tuple(_failures(whole, conversation, one, retold) for one in answered[_OTHERS:])
        yield FailureWorld(rig, conversation, Path(folder), tuple(wanted), others, spare, len(twice), looked_for)


def _opened(rig: MemoryRig, conversation: Conversation, folder: Path) -> Memory:
    return Memory.open(folder / _STORE, clock=BenchClock(conversation.now), embedder=rig.embedder)


def messages(conversation: Conversation) -> list[dict[str, Any]]:
    """A conversation as messages; its speakers take turns as user and assistant."""
    first = str(conversation.drafts[0].meta["speaker"])
    return [
        {"role": "user" if d.meta["speaker"] == first else "assistant", "content": d.content.rpartition("\n(")[0]}
        for d in conversation.drafts
    ]


def look(memory: Memory, question: str, budget: int | None = None) -> Frame:
    """What a question gets, without a trace."""
    return memory.assemble(FRAME, query=question, budget=budget, reinforce=False)


def has(frame: Frame, block: str, said: str) -> bool:
    """Whether a frame says a sentence, by its block."""
    return any(c.block.id == block and said in c.excerpt for c in frame.selected)


def _fitting(share: Mapping[DiagnosisCause, int], questions: int) -> dict[DiagnosisCause, int]:
    """The share, or where there are not so many questions, a part of each; a quarter of the questions is left alone."""
    room, wanted = questions - min(_OTHERS, questions // 4), sum(share.values())
    return {cause: min(count, count * room // max(wanted, 1)) for cause, count in share.items()}


# --- choosing ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _AnsweredTurn:
    """A question whose one turn is in the frame."""

    text: str
    source: str
    answer: str


def _answered(memory: Memory, conversation: Conversation, retold: Mapping[str, str]) -> Iterator[_AnsweredTurn]:
    """Questions whose one turn is in the frame, one a turn."""
    seen: set[str] = set()
    for one in conversation.questions:
        source = one.evidence[0]
        if one.category == ADVERSARIAL or len(one.evidence) > 1 or source in seen or source not in retold:
            continue
        said, told = _said(conversation, source), _said(conversation, source, retold[source])
        blocks = memory.resolve_source(source)
        if len(said.split()) < 6 or not blocks:
            continue
        frame = look(memory, one.text)
        if has(frame, blocks[0], said) and has(frame, blocks[0], told):
            seen.add(source)
            yield _AnsweredTurn(one.text, source, one.answer)


def _said_twice(
    conversation: Conversation, turns: Sequence[_AnsweredTurn], observed: Mapping[str, str], fact_of: Mapping[str, str]
) -> frozenset[str]:
    """The turns whose fact another turn says too, as far as words and the annotations of the data tell: in the words of
    the fact or of the answer, or somebody retold both turns alike. Without its turn such a fact is still stored.
    """
    held = {str(d.meta["source"]): (d.content, facts.stems(d.content)) for d in conversation.drafts}
    retold = {source: facts.stems(text) for source, text in observed.items()}
    found: set[str] = set()
    for turn in turns:
        fact, answer = fact_of[turn.source], facts.stems(turn.answer) if turn.answer else frozenset()
        wanted = [(one, facts.stems(one)) for one in (fact, _said(conversation, turn.source))]
        for source, (text, words) in held.items():
            if source == turn.source:
                continue
            saying = (one for one, stems in wanted if _most(stems, words) and facts.states(text, one))
            alike = source in retold and _most(wanted[0][1], retold[source]) and facts.states(observed[source], fact)
            if next(saying, None) or alike or (len(answer) >= _TELLING and answer <= words):
                found.add(turn.source)
                break
    return frozenset(found)


def _most(wanted: frozenset[str], held: frozenset[str]) -> bool:
    return len(wanted & held) >= facts.MOST_WORDS * len(wanted)


def _failures(
    memory: Memory, conversation: Conversation, turn: _AnsweredTurn, retold: Mapping[str, str]
) -> tuple[PlantedFailure, PlantedFailure]:
    """A question with its fact in the turn's own words, and as others retold it; the cause is yet to be given."""
    (block,) = memory.resolve_source(turn.source)[:1]
    own, fact = _said(conversation, turn.source), retold[turn.source]
    said = _said(conversation, turn.source, fact)
    asked = turn.text
    return (
        PlantedFailure("not stored", asked, asked, turn.source, block, own, own, retold=False),
        PlantedFailure("not stored", asked, asked, turn.source, block, said, fact, retold=True),
    )


def _said(conversation: Conversation, source: str, fact: str = "") -> str:
    """The longest sentence of a turn, as it was said; of a fact that was retold, the one with most of its words."""
    text = next(d.content for d in conversation.drafts if d.meta["source"] == source)
    said = re.sub(r"\s*\[[^\]]*\]\s*$", "", text.rpartition("\n(")[0].partition(": ")[2])
    told = facts.stems(fact) if fact else frozenset()
    return max(re.split(r"(?<=[.!?])\s+", said), key=lambda one: (len(told & facts.stems(one)), len(one)))


def _retold(path: Path) -> dict[str, str]:
    """What others wrote that turns say, by source; nothing of it is taken into a memory before it is diagnosed."""
    given: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    found: dict[str, str] = {}
    for name, sessions in given.items():
        if not name.endswith("_observation") or not isinstance(sessions, dict):
            continue
        for told in (pair for pairs in sessions.values() for pair in pairs):
            places = _EVIDENCE.findall(str(told[1]))
            if len(places) == 1:
                found.setdefault(source_of(int(places[0][0]), int(places[0][1])), str(told[0]))
    return found

"""Whether a fact told in other words is found, and whether one that is not stored is said not to be.

Facts are what others wrote that a turn says, or a question with its answer where nobody wrote that. Controls: the same
fact with its turn left out of the hits, and with the speakers' names exchanged; and the first hit of a search for all.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from amgs.diagnosis import facts
from amgs.memory import Memory
from amgs.types import Candidate
from benchmarks.bench_results import BenchTable
from benchmarks.locomo_data import ADVERSARIAL, Conversation

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


def found(memory: Memory, conversation: Conversation, retold: Mapping[str, str], seed: int) -> FactsFound:
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
    best = next(iter(memory.diagnosis.judged(fact, hits)), None)
    return best.block.id if best is not None and facts.holds(best) else ""


def answered(conversation: Conversation) -> list[tuple[str, str]]:
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


def totals(every: Iterable[FactsFound]) -> dict[str, float]:
    """The counts of all conversations, as metrics: `facts`, `facts_right`, …"""
    summed = {field.name: 0.0 for field in fields(FactsFound)}
    for one in every:
        for name in summed:
            summed[name] += getattr(one, name)
    return {name if name == "facts" else f"facts_{name}": count for name, count in summed.items()}


def table(every: Mapping[str, FactsFound]) -> BenchTable:
    """A row for each conversation."""
    columns = (
        "conversation",
        "facts",
        "right",
        "wrong",
        "first hit is right",
        "absent, taken",
        "exchanged, taken",
    )
    rows = tuple(
        (
            name,
            f"{o.facts}",
            f"{o.right}",
            f"{o.wrong}",
            f"{o.first}",
            f"{o.absent}",
            f"{o.exchanged} of {o.swapped}",
        )
        for name, o in every.items()
    )
    return BenchTable("Facts told in other words", columns, rows)

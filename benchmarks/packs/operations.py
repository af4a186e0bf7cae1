"""What is proposed to do with packs: how often a merge or a retirement is false, and what a list is worth.

Packs of real chats with planted copies, look-alikes, superseded members and packs that nobody needs any more.

A pack is six messages in a row. What it is read for, and when, is invented, and so is what became of its members; what
nobody could see from a log is not planted. What is right to do with it follows from how it was made, and, for
retiring it, from whether it is read in the year that comes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean

from amgs.decay import PROFILES, relevance_at
from amgs.identity import block_id
from amgs.types import Block
from amgs.wings.packs.engine.continuum import ReadTogether, needed, together
from amgs.wings.packs.engine.keeping import pack_id
from amgs.wings.packs.engine.proposals import COST, PackView, candidates, proposed
from amgs.wings.packs.values import Pack, PackMember, PackProposal, PackUsage
from benchmarks.bench_results import BenchTable, Comparator, MemoryRig, SubjectResult
from benchmarks.conversation import evidence_data
from benchmarks.measures import mean_interval

NOW = datetime(2026, 1, 1, tzinfo=UTC)
_YEAR = 365.0
_ROW = 6
_FADED_BELOW = 0.05
_WORD = re.compile(r"[A-Za-z]{4,}|\d+")


@dataclass(frozen=True, eq=False)
class OperationsWorld:
    """What could be done with the packs of a world, and what is right to do: by action, the names of packs."""

    candidates: tuple[PackProposal, ...]
    right: frozenset[tuple[str, frozenset[str]]]

    def is_right(self, one: PackProposal) -> bool:
        """Whether an action should be taken on the packs."""
        return (one.action, frozenset(name.partition("@")[0] for name in one.packs)) in self.right


def invented(texts: Sequence[str], seed: str) -> OperationsWorld:
    """A world of the messages of a conversation."""
    return _World(texts, random.Random(seed)).made()


class _World:
    def __init__(self, texts: Sequence[str], chance: random.Random) -> None:
        self.chance = chance
        self.texts = [text for text in dict.fromkeys(texts) if len(text.split()) > 3]
        self.words = sorted({word.lower() for text in self.texts for word in _WORD.findall(text)})
        self.views: list[PackView] = []
        self.right: set[tuple[str, frozenset[str]]] = set()

    def made(self) -> OperationsWorld:
        rows = [self.texts[n : n + _ROW] for n in range(0, len(self.texts) - _ROW, _ROW)]
        for n, row in enumerate(rows):
            name = f"pack {n}"
            blocks = self._blocks(row)
            following = rows[(n + 1) % len(rows)]
            kind = self.chance.choices(
                ("plain", "copy", "retyped", "excerpt", "neighbour", "restated", "superseded", "record"),
                (40, 8, 8, 8, 10, 12, 10, 4),
            )[0]
            self._add(name, blocks, kind)
            other = self._other(kind, row, following)
            if other:
                self._add(f"{name} b", self._blocks(other), "other")
                if kind in ("copy", "retyped"):
                    self.right.add(("MERGE", frozenset((name, f"{name} b"))))
        read_together = self._together()
        return OperationsWorld(candidates(self.views, read_together), frozenset(self.right))

    def _other(self, kind: str, row: Sequence[str], following: Sequence[str]) -> list[str]:
        """The members of a second pack beside the first."""
        if kind == "copy":
            return list(row[: len(row) - self.chance.randrange(2)])
        if kind == "retyped":
            return [self._retyped(text) if self.chance.random() < 0.5 else text for text in row]
        if kind == "excerpt":
            return list(row[:2])
        if kind == "neighbour":
            kept = self.chance.randrange(2, _ROW)
            return [*row[_ROW - kept :], *following[: _ROW - kept]]
        if kind == "restated":
            changed = self.chance.sample(range(_ROW), self.chance.randrange(1, 4))
            return [self._restated(text) if n in changed else text for n, text in enumerate(row)]
        return []

    def _retyped(self, text: str) -> str:
        """The same in another spelling: a letter less in a long word, or its punctuation and capitals."""
        long = [word for word in _WORD.findall(text) if len(word) > 6 and word.islower()]
        if long and self.chance.random() < 0.5:
            word = self.chance.choice(long)
            return text.replace(word, word[:3] + word[4:], 1)
        return text.rstrip(".!? ").lower()

    def _restated(self, text: str) -> str:
        """Something else in the same words: another number, or another word, in place of one."""
        word = self.chance.choice(_WORD.findall(text) or text.split())
        new = str(self.chance.randrange(2, 99)) if word.isdigit() else self.chance.choice(self.words)
        return text.replace(word, new, 1) if new != word.lower() else f"not {text}"

    def _blocks(self, texts: Sequence[str]) -> dict[str, Block]:
        made = (Block(block_id(text), text, NOW, NOW, confidence=self.chance.uniform(0.5, 0.95)) for text in texts)
        return {block.id: replace(block, status="consolidated") for block in made}

    def _add(self, name: str, blocks: Mapping[str, Block], kind: str) -> None:
        age = self.chance.uniform(5, 1_000)
        reads, coming = self._reads(age)
        profile = self.chance.choices(("standard", "durable", "core"), (0.4, 0.5, 0.1))[0]
        last = reads[-1] if reads else 0.0
        at = NOW - timedelta(days=age - last)
        faded = relevance_at(PROFILES[profile], at, NOW) < _FADED_BELOW
        heirs: dict[str, Block] = {}
        if kind in ("superseded", "record"):
            old = self.chance.choice(sorted(blocks))
            heirs = {old: next(iter(self._blocks([self._restated(blocks[old].content)]).values()))}
            if kind == "superseded":
                self.right.add(("UPDATE", frozenset((name,))))
            else:  # kept as it was, to be looked up and not to be followed
                age, reads, last = max(age, 300.0), [], 0.0
        if not coming:
            self.right.add(("DELETE", frozenset((name,))))
        members = tuple(PackMember(i) for i in blocks)
        tokens = sum(len(block.content) // 4 + 1 for block in blocks.values())
        pack = Pack(name, 1, pack_id("", (), members), "", members, (), tokens, NOW - timedelta(days=age))
        likely = needed(len(reads), last, age, _YEAR)
        usage = PackUsage(pack, len(reads), NOW - timedelta(days=age - last) if reads else None, 0, None, likely)
        self.views.append(PackView(usage, blocks, heirs, age, age - last, likely, float(faded)))

    def _reads(self, age: float) -> tuple[list[float], bool]:
        """The days, from when it was kept, that a pack was read; and whether it is within the year that comes."""
        chance = self.chance
        kind = chance.choices(("steady", "project", "interval", "once", "never"), (25, 35, 15, 15, 10))[0]
        end, day, every = age + _YEAR, 0.0, []
        if kind == "interval":
            period = chance.uniform(14, 370)
            while (day := day + max(chance.gauss(period, 0.05 * period), 1.0)) < end:
                every.append(day)
        elif kind in ("steady", "project"):
            rate = chance.gammavariate(1.0, 0.05) + 0.002 if kind == "steady" else chance.gammavariate(2.0, 0.125)
            over = end if kind == "steady" else min(chance.expovariate(1 / 60), end)
            while (day := day + chance.expovariate(max(rate, 1e-4))) < over:
                every.append(day)
        elif kind == "once":
            every = sorted(chance.expovariate(0.1) for _ in range(chance.randrange(1, 3)))
        return [one for one in every if one <= age], any(one > age for one in every if one < end)

    def _together(self) -> tuple[ReadTogether, ...]:
        """Tasks that read two or three packs, and sessions that read any: what is planted is right to keep as one."""
        names = [view.usage.pack.name for view in self.views]
        sessions: list[list[str]] = [self.chance.sample(names, 3) for _ in range(150)]
        for _ in range(3):
            task = self.chance.sample(names, self.chance.randrange(2, 4))
            self.right.add(("ADD", frozenset(task)))
            sessions += [list(task) for _ in range(self.chance.randrange(4, 12))]
        busy = self.chance.sample(names, 4)
        sessions += [[name for name in busy if self.chance.random() < 0.3] for _ in range(120)]
        return together(sessions)


_WORLDS = 4
"""Invented for each conversation."""
GOALS: dict[str, tuple[Comparator, float]] = {"false_delete_merge": ("<=", 1.0)}
Proposals = Sequence[PackProposal]
POLICIES: Mapping[str, Callable[[OperationsWorld], Proposals]] = {
    "the rule": lambda world: proposed(world.candidates),
    "every candidate": lambda world: world.candidates,
    "nothing": lambda _: (),
    "ceiling: what is right": lambda world: [one for one in world.candidates if world.is_right(one)],
}


def measure_operations(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """The proposals by rule, with their controls; None where there is no data."""
    rows: list[tuple[str | float, ...]] = []
    metrics: dict[str, float] = {}
    wrong: dict[str, list[int]] = {}
    for corpus in ("locomo", "realtalk"):
        texts = [[str(each["text"]) for each in one.messages] for one in evidence_data.read(data, corpus)]
        worlds = [
            [invented(each, f"held out {rig.seed} {corpus} {n} {k}") for k in range(_WORLDS)]
            for n, each in enumerate(texts)
        ]
        if not worlds:
            continue
        found = {name: _values(worlds, policy) for name, policy in POLICIES.items()}
        for name, (each, counts) in found.items():
            gain = [a - b for a, b in zip(each, found["the rule"][0], strict=True)]
            low, high = mean_interval(gain)
            told = f"{mean(gain):+.2f} [{low:+.2f}, {high:+.2f}]"
            rows.append((corpus, name, mean(each), *(f"{counts[a][1]} of {counts[a][0]}" for a in COST), told))
            own = wrong.setdefault(name.split(":")[0].replace(" ", "_"), [0, 0])
            for action in ("DELETE", "MERGE"):
                own[0] += counts[action][1]
                own[1] += counts[action][0]
    if not rows:
        return None
    for name, (false, every) in wrong.items():
        metrics["false_delete_merge" if name == "the_rule" else f"false_delete_merge_{name}"] = (
            100.0 * false / max(every, 1)
        )
    columns = ("judged on", "policy", "worth a list", *(f"{a}, wrong of" for a in COST), "less the rule, 95 %")
    return SubjectResult(metrics, GOALS, (BenchTable("Proposals about packs", columns, tuple(rows)),))


def _values(
    worlds: Sequence[Sequence[OperationsWorld]], policy: Callable[[OperationsWorld], Proposals]
) -> tuple[list[float], dict[str, tuple[int, int]]]:
    """The worth of the list of a world, by conversation, and of each action how many were proposed, and wrong."""
    counts = dict.fromkeys(COST, (0, 0))
    values = []
    for own in worlds:
        each = []
        for world in own:
            total = 0.0
            for one in policy(world):
                right = world.is_right(one)
                total += 1.0 if right else -COST[one.action]
                counts[one.action] = (counts[one.action][0] + 1, counts[one.action][1] + (not right))
            each.append(total)
        values.append(mean(each))
    return values, {str(action): count for action, count in counts.items()}

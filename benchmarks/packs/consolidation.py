"""Learnings of twenty sessions, one after another: what of them is in a learning, what one restore brings back,
how they grow, what is left when it is done again, and what they answer.

LoCoMo and REALTALK; a source is a message. Facts are the findings of `conversation/elements.py`, each once.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from amgs.conversation.cohesion import stems
from amgs.conversation.slots import ELEMENT_CLASSES, EXACT
from amgs.conversation.survival import Element, holds
from amgs.identity import block_id
from amgs.memory import Memory
from amgs.text.sentences import units
from amgs.types import Block, Vector
from amgs.wings.packs.engine import consolidation
from amgs.wings.packs.engine.consolidation import is_learning
from amgs.wings.packs.engine.keeping import origins_of
from amgs.wings.packs.engine.learnings import SHARE, LearningText, findings, in_time, learnings
from benchmarks import locomo_data
from benchmarks.bench_results import BenchTable, Comparator, MemoryRig, SubjectResult
from benchmarks.conversation import evidence_data
from benchmarks.locomo_data import Conversation, LocomoQuestion
from benchmarks.measures import grouped, interval
from benchmarks.stores import open_memory

SESSIONS = 20
AGAIN = 5
_ANEW = 4
"""Sessions after which the control tells everything anew."""
BUDGET = 512
_FOUND = 60
_RESAMPLES = 1_000
_NAME = "said"
OURS = "amgs"
RESTORED = "within one restore"
CLASSES = tuple(one for one in ELEMENT_CLASSES if one in EXACT or one in ("decision", "commitment"))
GOALS: Mapping[str, tuple[Comparator, float]] = {
    "learnings_within_one_restore_worst": (">=", 95.0),
    "learnings_growth": ("<=", 1.1),
    "learnings_left_after_five_times": (">=", 1.0),
    "learnings_same_in_any_order": (">=", 1.0),
}

_Row = tuple[str | float, ...]
Units = Sequence[tuple[int, int, int]]
"""(member, start, end) of each sentence of a group."""


@dataclass
class _Found:
    """What is added up over conversations. kept: by method and class, facts that are there and all; tokens: by method.
    growth, left: (conversation → figure) by method. answers: by method, each question's share.
    """

    kept: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)
    growth: dict[str, list[float]] = field(default_factory=dict)
    left: dict[str, list[float]] = field(default_factory=dict)
    answers: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    same: list[bool] = field(default_factory=list)
    sources: int = 0
    learnings: int = 0

    def keeps(self, method: str, facts: Iterable[Element], text: str) -> None:
        """Count the facts that stand in a text."""
        by = self.kept.setdefault(method, {})
        for kind, value in sorted({(one.kind, one.text) for one in facts}):
            there, every = by.setdefault(kind, [0, 0])
            by[kind] = [there + holds(text, value), every + 1]


def measure_consolidation(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """None where there are no dialogues."""
    found = {}
    for corpus in ("locomo", "realtalk"):
        if not (data / corpus).is_dir():
            continue
        found[corpus] = _Found()
        given = locomo_data.read_folder(data / corpus)
        for place, (one, said) in enumerate(zip(given, evidence_data.read(data, corpus), strict=True)):
            rig.progress(place, len(given), f"{corpus} {one.name}")
            _measure(one, said.messages, rig, found[corpus])
    return _result(found) if found else None


def _measure(one: Conversation, messages: Sequence[Mapping[str, Any]], rig: MemoryRig, found: _Found) -> None:
    session = [str(draft.meta["source"]).partition("#")[0] for draft in one.drafts]
    names = list(dict.fromkeys(session))[:SESSIONS]
    fed = [[m for m, own in zip(messages, session, strict=True) if own == name] for name in names]
    asked = [
        q
        for q in one.questions
        if q.category != locomo_data.ADVERSARIAL and all(s.partition("#")[0] in names for s in q.evidence)
    ]

    def opened() -> Memory:
        return open_memory(rig, now=one.now)

    with opened() as memory:
        so_far: list[str] = []
        naive = 0
        for place, new in enumerate(fed):
            memory.conversation.add(_NAME, new)
            memory.apply_consolidation(memory.plan_consolidation())
            held = memory._opened.storage.messages.held(_NAME)
            so_far = list(dict.fromkeys(block for each in held for block in each.blocks))
            memory.packs.keep(_NAME, blocks=so_far)
            memory.packs.learn(_NAME)
            if place % _ANEW == _ANEW - 1:
                naive += _bytes(_built(memory, so_far, rig))
        ours = _learned(memory)
        made = [_text_of(memory, block) for block in ours]
        sources = in_time(list(memory._opened.storage.blocks.get(so_far, embeddings=True).values()))
        grown = _bytes(made)
        once = _built(memory, so_far, rig)
        for _ in range(AGAIN):
            memory.packs.learn(_NAME)
        again = _learned(memory)
        _facts(found, sources, made, rig)
        _again(found, sources, made, [block.content for block in again], rig)
    found.sources += len(sources)
    found.learnings += len(made)
    with opened() as memory:
        memory.conversation.add(_NAME, [m for new in fed for m in new])
        memory.apply_consolidation(memory.plan_consolidation())
        _asked(found, memory, asked, one, "before", rig)
        memory.packs.keep(_NAME, blocks=so_far)
        plan = memory.packs.learn(_NAME, dry_run=True).learnings
        memory.packs.keep(_NAME, blocks=so_far[::-1])
        mixed = random.Random(rig.seed).sample(so_far, len(so_far))
        orders = [memory.packs.learn(_NAME, dry_run=True).learnings]
        memory.packs.keep(_NAME, blocks=mixed)
        orders.append(memory.packs.learn(_NAME, dry_run=True).learnings)
        found.same.append(all(order == plan for order in orders) and len(plan) > 0)
        scratch = sum(len(each.block.content.encode()) for each in plan)
        memory.packs.learn(_NAME)
        _asked(found, memory, asked, one, "after", rig)
    for method, size in (
        (OURS, grown),
        (f"everything anew, after each {_ANEW} sessions", naive),
        ("everything anew, once", _bytes(once)),
    ):
        found.growth.setdefault(method, []).append(size / max(scratch, 1))


def _learned(memory: Memory) -> list[Block]:
    return [one for one in memory.packs.show(_NAME).blocks if is_learning(one)]


def _text_of(memory: Memory, block: Block) -> LearningText:
    sources = memory._opened.storage.blocks.get(origins_of(block))
    cites = tuple((at, n, start, end) for at, n, start, end in block.meta["cited_spans"])
    return LearningText(tuple(sources[one] for one in origins_of(block)), block.content, "", cites)


def _built(memory: Memory, ids: Sequence[str], rig: MemoryRig) -> list[LearningText]:
    """Learnings of all sources at once, whatever was learned before."""
    blocks = in_time(list(memory._opened.storage.blocks.get(ids, embeddings=True).values()))
    return _of(blocks, rig)


def _of(blocks: Sequence[Block], rig: MemoryRig) -> list[LearningText]:
    vectors = np.stack([one.embedding for one in blocks if one.embedding is not None])
    files = [str(one.meta.get("source") or "").partition("#")[0] for one in blocks]
    return learnings(blocks, consolidation.groups(vectors, files), "", SHARE, rig.count_tokens)


def _bytes(made: Iterable[LearningText]) -> int:
    return sum(len(one.text.encode()) for one in made)


# --- what is there ----------------------------------------------------------------------------------------


def _facts(found: _Found, sources: Sequence[Block], made: Sequence[LearningText], rig: MemoryRig) -> None:
    facts = [one for own in findings(sources) for one in own if one.kind in CLASSES]
    chance = random.Random(rig.seed)
    texts = {OURS: [one.text for one in made]}
    for name, choose in _choices(chance, rig).items():
        texts[name] = [_filled(one, choose(one.members), rig) for one in made]
    texts["findings alone, no sentence"] = [_listed(one, rig) for one in made]
    for name, own in texts.items():
        found.keeps(name, facts, "\n".join(own))
        found.tokens[name] = found.tokens.get(name, 0) + sum(map(rig.count_tokens, own))
    best = [max(range(len(one.members)), key=lambda n, one=one: (_cited(one, n), -n)) for one in made]  # type: ignore[misc]
    reached = {
        f"{OURS} and the member it cites most": [
            f"{one.text}\n{one.members[n].content}" for one, n in zip(made, best, strict=True)
        ],
        f"{OURS}, {RESTORED}": [f"{one.text}\n" + "\n".join(m.content for m in one.members) for one in made],
    }
    for name, own in reached.items():
        found.keeps(name, facts, "\n".join(own))
        found.tokens[name] = found.tokens.get(name, 0) + sum(map(rig.count_tokens, own))
    every = sum(rig.count_tokens(one.content) for one in sources)
    found.tokens["sources"] = found.tokens.get("sources", 0) + every


def _cited(one: LearningText, place: int) -> int:
    return sum(end - start for _, n, start, end in one.cites if n == place)


def _choices(chance: random.Random, rig: MemoryRig) -> Mapping[str, Callable[[Sequence[Block]], Units]]:
    """Orders in which sentences of a group are taken while they fit."""

    def all_of(members: Sequence[Block]) -> list[tuple[int, int, int]]:
        return [(n, start, end) for n, one in enumerate(members) for start, end in units(one.content)]

    def drawn(members: Sequence[Block]) -> Units:
        every = all_of(members)
        return chance.sample(every, len(every))

    embedded: dict[tuple[str, ...], Vector] = {}

    def near(members: Sequence[Block], diverse: float) -> Units:
        every = all_of(members)
        key = tuple(one.id for one in members)
        if key not in embedded:
            embedded[key] = rig.embedder.embed([members[n].content[start:end] for n, start, end in every])
        vectors = embedded[key]
        centre = vectors.mean(axis=0)
        worth = vectors @ centre / max(float(np.linalg.norm(centre)), 1e-9)
        order: list[int] = []
        alike = np.zeros(len(every))
        while len(order) < len(every):
            score = (1.0 - diverse) * worth - diverse * alike
            score[order] = -np.inf
            order.append(int(score.argmax()))
            alike = np.maximum(alike, vectors @ vectors[order[-1]])
        return [every[n] for n in order]

    return {
        "random sentences": drawn,
        "first sentences": all_of,
        "nearest to the centroid": lambda members: near(members, 0.0),
        "maximal marginal relevance": lambda members: near(members, 0.3),
    }


def _filled(one: LearningText, order: Units, rig: MemoryRig) -> str:
    """Sentences in the order of choice, with day and speaker, in the tokens of a learning; one at least."""
    room = rig.count_tokens(one.text)
    text = ""
    for n, start, end in order:
        member = one.members[n]
        said = member.content[start:end]
        who = str(member.meta.get("speaker") or "")
        mark = "" if said.startswith(who) else f"{who}: "
        tried = f"{text}\n{member.created_at.date().isoformat()} {mark}{said}".strip()
        if not text or rig.count_tokens(tried) <= room:
            text = tried
    return text


def _listed(one: LearningText, rig: MemoryRig) -> str:
    room = rig.count_tokens(one.text)
    text = ""
    for value in dict.fromkeys(e.text for own in findings(one.members) for e in own if e.kind in CLASSES):
        tried = f"{text}; {value}" if text else value
        if rig.count_tokens(tried) <= room:
            text = tried
    return text


# --- again and again --------------------------------------------------------------------------------------


def _again(
    found: _Found, sources: Sequence[Block], made: Sequence[LearningText], again: Sequence[str], rig: MemoryRig
) -> None:
    """Facts left after consolidating AGAIN times over: ours, and learnings made of learnings."""
    facts = {(e.kind, e.text) for own in findings(sources) for e in own if e.kind in CLASSES}

    def left(texts: Iterable[str]) -> int:
        text = "\n".join(texts)
        return sum(holds(text, value) for _, value in facts)

    first = max(left(one.text for one in made), 1)
    found.left.setdefault(OURS, []).append(left(again) / first)
    texts = made
    for _ in range(AGAIN):
        blocks = [
            replace(one.members[-1], id=block_id(one.text), content=one.text, meta={}, embedding=vector)
            for one, vector in zip(texts, rig.embedder.embed([one.text for one in texts]), strict=True)
        ]
        texts = _of(blocks, rig)
    found.left.setdefault("learnings of learnings", []).append(left(one.text for one in texts) / first)


# --- questions --------------------------------------------------------------------------------------------


def _asked(
    found: _Found, memory: Memory, asked: Sequence[LocomoQuestion], one: Conversation, when: str, rig: MemoryRig
) -> None:
    """Of each question, the share of what answers it among the ten sources that are found first, and the share of the
    answer's words in what is read of what is found.
    """
    number = {str(draft.meta["source"]): n for n, draft in enumerate(one.drafts, 1)}
    blocks = {each.message.number: set(each.blocks) for each in memory._opened.storage.messages.held(_NAME)}
    learned = [block.content for block in _learned(memory)] if when == "after" else []
    chance = random.Random(rig.seed)
    for q in asked:
        hits = [hit.block for hit in memory.search(q.text, top_k=_FOUND).hits]
        said = [block for block in hits if not is_learning(block)]
        first = {block.id for block in said[:10]}
        there = sum(bool(first & blocks[number[s]]) for s in q.evidence) / len(q.evidence)
        found.answers.setdefault(f"recall {when}", []).append((one.name, there))
        wanted = set(stems(q.answer))
        if not wanted:
            continue
        read = {"sources": [block.content for block in said]}
        if when == "after":
            drawn = iter(chance.sample(learned, len(learned)))
            read = {
                "sources, with the learnings there": read["sources"],
                "first sentence of each source": [
                    one.content[start:end] for one in said for start, end in islice(units(one.content), 1)
                ],
                "learnings": [block.content for block in hits if is_learning(block)],
                "both, as found": [block.content for block in hits],
                "both, any learning for each": [next(drawn) if is_learning(block) else block.content for block in hits],
            }
        for name, own in read.items():
            text, used = "", 0
            for each in own:
                cost = rig.count_tokens(each)
                if used + cost <= BUDGET:
                    text, used = f"{text}\n{each}", used + cost
            share = len(wanted & set(stems(text))) / len(wanted)
            found.answers.setdefault(name, []).append((one.name, share))


# --- figures ----------------------------------------------------------------------------------------------


def _result(found: Mapping[str, _Found]) -> SubjectResult:
    metrics: dict[str, float] = {}
    kept, grown, answered = list[_Row](), list[_Row](), list[_Row]()
    worst, growth, left, same = [], [], [], []
    for corpus, own in found.items():
        for name, by in own.kept.items():
            shares = {kind: 100.0 * there / every for kind, (there, every) in by.items()}
            whole = 100.0 * sum(a for a, _ in by.values()) / sum(b for _, b in by.values())
            cells = [shares.get(kind, float("nan")) for kind in CLASSES]
            kept.append((corpus, name, own.tokens[name] / own.tokens["sources"], *cells, whole))
            if name.endswith(RESTORED):
                worst.append(min(shares.values()))
            if name == OURS:
                metrics[f"learnings_hold_{corpus}"] = whole
        counts = [float(own.kept[OURS].get(kind, (0, 0))[1]) for kind in CLASSES]
        kept.append((corpus, "facts, all", 1.0, *counts, sum(counts)))
        for what, figures in (("bytes", own.growth), ("facts left", own.left)):
            for name, each in figures.items():
                grown.append((corpus, what, name, float(np.mean(each)), min(each), max(each)))
        growth += own.growth[OURS]
        left += own.left[OURS]
        same += own.same
        base = own.answers["sources"]
        for name, pairs in own.answers.items():
            against = own.answers["recall before"] if name.startswith("recall") else base
            gains = [b - a for (_, a), (_, b) in zip(against, pairs, strict=True)]
            low, high = interval(grouped([who for who, _ in pairs], gains), draws=_RESAMPLES)
            mean = 100.0 * float(np.mean([share for _, share in pairs]))
            answered.append((corpus, name, len(pairs), mean, f"[{100 * low:+.1f}, {100 * high:+.1f}]"))
            metrics[f"learnings_read_{name.replace(',', '').replace(' ', '_')}_{corpus}"] = mean
        metrics[f"learnings_sources_each_{corpus}"] = own.sources / max(own.learnings, 1)
    metrics |= {
        "learnings_within_one_restore_worst": min(worst),
        "learnings_growth": max(growth),
        "learnings_left_after_five_times": min(left),
        "learnings_same_in_any_order": float(np.mean(same)),
    }
    tables = (
        BenchTable(
            f"Facts in the learnings of {SESSIONS} sessions, percent",
            ("corpus", "method", "tokens", *CLASSES, "all"),
            tuple(kept),
        ),
        BenchTable(
            f"Bytes against one build of all, and facts left after {AGAIN} times more",
            ("corpus", "what", "method", "mean", "least", "most"),
            tuple(grown),
        ),
        BenchTable(
            f"Words of the answer in {BUDGET} tokens, and recall@10 of what answers, percent",
            ("corpus", "read", "questions", "there", "against sources, or before, 95 %"),
            tuple(answered),
        ),
    )
    return SubjectResult(metrics, GOALS, tables)

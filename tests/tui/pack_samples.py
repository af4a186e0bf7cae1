"""Invented packs for the pictures: many of them, with names and texts that no line was made for."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from amgs.types.pack_assembly import PackStage
from amgs.types.pack_families import FAMILIES, PackGraph, PackLink
from amgs.types.pack_learning import PACK_ACTIONS, PackProposal
from amgs.types.pack_sentences import PackSentences, PackSentenceWorth
from amgs.types.pack_weights import PackUtility, PackWeight, PackWeights
from amgs.types.packs import (
    Pack,
    PackContent,
    PackCourse,
    PackForecast,
    PackHabits,
    PackMember,
    PackOutlook,
    PackRoute,
    PackSequence,
    PackSet,
    PackUsage,
    PackUse,
    RoutedPack,
)
from tests.tui.figure_samples import BLOCKS, NOW

ORIGINS = BLOCKS[20:23]
LEARNING = replace(BLOCKS[9], meta={"title": "Learnt 漢字", "derived_from": [one.id for one in ORIGINS]})


def pack(number: int) -> Pack:
    """The pack of this number; every third has a learning."""
    members = [PackMember(one.id) for one in BLOCKS[number % 7 : number % 7 + 5]]
    members += [PackMember(LEARNING.id, "learning")] if number % 3 == 0 else []
    name = (
        f"dome {number}" if number != 2 else "漢字\x1b[31m and a name that is far too long for any list " * 2
    )
    return Pack(
        name, number % 4 + 1, f"{number:064x}", "", tuple(members), ("dome", "encoder"), 90 * number, NOW
    )


def usage(number: int) -> PackUsage:
    """How often it was read."""
    last = NOW - timedelta(days=number) if number else None
    return PackUsage(pack(number), number, last, number // 2, 0.5 if number > 1 else None)


def forecast(packs: int = 30) -> PackForecast:
    """What is needed, and what would go."""
    likely = [0.97**n for n in range(packs)]
    told = tuple(
        PackOutlook(usage(n), p, n > 20, tuple(p * 0.9**k for k in range(13))) for n, p in enumerate(likely)
    )
    return PackForecast(30.0, 40_000, 9_000, told)


def content() -> PackContent:
    """A pack that is held but for one member."""
    held = (*BLOCKS[3:7], LEARNING)
    return PackContent(usage(3), held, (BLOCKS[7].id,), (pack(3),), ORIGINS)


def route() -> PackRoute:
    """Three packs for a question, and five that are left out."""
    every = [RoutedPack(pack(n), 90 * n, 0.8**n, 0.02, 0.01, 0.03, 0.0) for n in range(1, 9)]
    every[-1] = replace(every[-1], relevance=0.0, efficiency=0.0, quality=0.0, recency=0.0)
    words = (("dome", True), ("漢字", False))
    return PackRoute(
        "Why did the dome 漢字 stall?", 600, 540, tuple(every[:3]), words, 0.7, tuple(every[3:]), 4
    )


def uses() -> tuple[PackUse, ...]:
    """Forty readings, the newest first."""
    return tuple(
        PackUse(
            n,
            "dome 3",
            1,
            "",
            NOW - timedelta(hours=n),
            "why?",
            "night",
            300,
            (),
            (None, 1.0, 0.0)[n % 3],
            (0.31, None, -0.04, -12.5)[n % 4],
        )
        for n in range(40)
    )


def graph() -> PackGraph:
    """Twelve packs, most of which hang together."""
    packs = tuple(pack(n) for n in range(12))
    names = sorted(one.name for one in packs)
    links = [
        PackLink(a, b, family, 1 + (3 * n + 5 * k) % 17)
        for n, a in enumerate(names[:9])
        for k, b in enumerate(names[n + 1 : 10 : 2])
        for family in FAMILIES[n % 3 :]
    ]
    return PackGraph(packs, tuple(links))


def proposals() -> tuple[PackProposal, ...]:
    """Each action three times, open and decided."""
    return tuple(
        PackProposal(
            n + 1,
            PACK_ACTIONS[n % 4],
            tuple(f"{pack(k).name}@1" for k in range(n % 4 + 1)),
            "dome",
            tuple(one.id for one in BLOCKS[n : n + 9]),
            (BLOCKS[30].id,),
            "They say the same 漢字 in \x1b[31m other words. " * 3,
            {f"feature {k}": k / 7 for k in range(9)},
            1 - n / 12,
            None if n else 0.4,
            0.3,
            n + 1,
            0.9**n,
            ("open", "accepted", "rejected")[n % 3],
        )
        for n in range(12)
    )


def sentences() -> PackSentences:
    """Many sentences, some of them odd, half of them kept."""
    found = tuple(
        PackSentenceWorth(
            one.id,
            one.title,
            f"{one.content}\t漢字 \x1b[31m{'long' * 40}",
            30,
            -1 + n / 9,
            n % 2 == 0 and n < 20,
        )
        for n, one in enumerate(block for block in BLOCKS[:12] for _ in range(4))
    )
    stages = (PackStage("packs", 9, 4_000, (), 3, 800), PackStage("sentences", 48, 800, (), 10, 280))
    return PackSentences("Why?", 300, 280, ("dome@1", "漢字@2"), found, stages)


def weights() -> PackWeights:
    """What 84 outcomes of twelve packs taught, one with an odd name."""
    told = (
        ("constant", -0.42, 0.5),
        ("asked", 1.31, 0.9),
        ("recent", 0.22, 0.6),
        ("often", 0.08, 0.4),
        ("tokens", -0.9, 0.7),
        ("success", 0.61, 0.8),
    )
    shared = tuple(PackWeight(name, value, value - wide, value + wide) for name, value, wide in told)
    packs = tuple(
        PackUtility(pack(n).name, 12 - n, 0.5 - n / 10, 1.4 - n / 4, 0.9 - n / 3) for n in range(12)
    )
    why = "the last third has 28 outcomes, of 30 it takes"
    return PackWeights(False, why, 84, 6, shared, 0.3, 0.041, -0.012, 0.094, packs)


def habits() -> PackHabits:
    """What follows what in 40 sessions, and two sets."""
    names = [pack(n).name for n in range(7)]
    found = tuple(
        PackSequence(a, b, 0.9 - 0.02 * (7 * n + k), 30 - n - k, 0.1 * (k % 4))
        for n, a in enumerate(names)
        for k, b in enumerate(names)
        if a != b
    )
    return PackHabits(40, found, (PackSet(tuple(names[1:4]), 9, 3.42), PackSet(tuple(names[4:6]), 6, 1.6)))


def course() -> PackCourse:
    """Forty days with twelve readings, and thirty to come."""
    read = tuple(NOW - timedelta(days=38 - 2 * n) for n in range(12))
    at = tuple(NOW + timedelta(days=n) for n in range(-40, 31))
    return PackCourse("dome 3", 30.0, NOW, at, tuple(0.9 ** (n % 20) for n in range(71)), read)

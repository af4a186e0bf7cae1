"""Invented packs for the pictures: many of them, with names and texts that no line was made for."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import get_args

from amgs.wings.packs.values import (
    FAMILIES,
    INTENTS,
    Pack,
    PackAction,
    PackContent,
    PackLink,
    PackMember,
    PackProposal,
    PackRoute,
    PackUsage,
    PackUse,
    RoutedPack,
)
from amgs_app.views.packs.results import PackList
from tests.tui.figure_samples import BLOCKS, NOW

LEARNING = replace(BLOCKS[9], meta={"title": "Learnt 漢字", "derived_from": [one.id for one in BLOCKS[20:23]]})


def pack(number: int) -> Pack:
    """The pack of this number; every third has a learning."""
    members = [PackMember(one.id) for one in BLOCKS[number % 7 : number % 7 + 5]]
    members += [PackMember(LEARNING.id, "learning")] if number % 3 == 0 else []
    name = f"dome {number}" if number != 2 else "漢字\x1b[31m and a name that is far too long for any list " * 2
    return Pack(name, number % 4 + 1, f"{number:064x}", "", tuple(members), ("dome", "encoder"), 90 * number, NOW)


def usage(number: int) -> PackUsage:
    """How often it was read, how likely it is needed, and whether it would go."""
    last = NOW - timedelta(days=number) if number else None
    success = 0.5 if number > 1 else None
    return PackUsage(pack(number), number, last, number // 2, success, 0.97**number, number > 20)


def listed(packs: int = 30) -> PackList:
    """What is kept, and what would go."""
    return PackList(tuple(map(usage, range(packs))), 9_000)


def content() -> PackContent:
    """A pack that is held but for one member."""
    held = (*BLOCKS[3:7], LEARNING)
    links = tuple(PackLink(pack(n).name, family, n + 1) for n in range(4) for family in FAMILIES)
    return PackContent(usage(3), held, (BLOCKS[7].id,), (pack(3),), uses(), links)


def route() -> PackRoute:
    """Three packs for a question, and five that are left out."""
    every = [RoutedPack(pack(n), 90 * n, 0.8**n) for n in range(1, 9)]
    every[-1] = replace(every[-1], gain=0.0)
    words = (("dome", True), ("漢字", False))
    return PackRoute(
        "Why did the dome 漢字 stall?",
        600,
        540,
        tuple(every[:3]),
        words,
        0.7,
        tuple(every[3:]),
        tuple((one, 0.25) for one in INTENTS),
    )


def uses() -> tuple[PackUse, ...]:
    """Forty readings, the newest first."""
    return tuple(
        PackUse(n, "dome 3", 1, "", NOW - timedelta(hours=n), "why?", "night", 300, (), (None, 1.0, 0.0)[n % 3])
        for n in range(40)
    )


def proposals() -> tuple[PackProposal, ...]:
    """Each action three times."""
    return tuple(
        PackProposal(
            f"{n:08x}",
            get_args(PackAction)[n % 4],
            tuple(f"{pack(k).name}@1" for k in range(n % 4 + 1)),
            "dome",
            tuple(one.id for one in BLOCKS[n : n + 9]),
            (BLOCKS[30].id,),
            "They say the same 漢字 in \x1b[31m other words. " * 3,
            1 - n / 12,
        )
        for n in range(12)
    )

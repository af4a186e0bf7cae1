"""Invented packs for the pictures: many of them, with names and texts that no line was made for."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from amgs.wings.packs.values import (
    ACTIONS,
    GRAPHS,
    Pack,
    PackAssembly,
    PackContent,
    PackLink,
    PackMember,
    PackProposal,
    PackStage,
    PackUsage,
    PackUse,
    RoutedPack,
)
from amgs_app.views.packs.commands import PackList, PackProposals
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
    needed, success = 0.97**number, 0.5 if number > 1 else None
    return PackUsage(
        pack(number), number, last, number // 2, success, needed, NOW, 0.0, 0.0, 0, 0.4, forget=number > 20
    )


def listed(packs: int = 30) -> PackList:
    """What is kept, and what would go."""
    return PackList(tuple(map(usage, range(packs))), 9_000)


def content() -> PackContent:
    """A pack that is held but for one member."""
    uses = tuple(
        PackUse(n, "dome 3", 1, "", NOW - timedelta(hours=n), "why?", "night", 300, (), (None, 1.0, 0.0)[n % 3])
        for n in range(40)
    )
    links = tuple(PackLink(pack(n).name, graph, 0.1 * n) for n in range(1, 4) for graph in GRAPHS)
    return PackContent(usage(3), (*BLOCKS[3:7], LEARNING), (BLOCKS[7].id,), (pack(3),), uses, links, ("dome 4",))


def assembly() -> PackAssembly:
    """Three packs for a question, and five that are left out."""
    packs = tuple(RoutedPack(pack(n), 90 * n, 0.8**n, n < 4, "adds .5 of 漢字 \x1b[31m") for n in range(1, 9))
    stages = (PackStage("graphs", "semantic: 3 begin", "packs", 8, 8, 900, 900),)
    text = "The dome 漢字 stalled.\n\n## Sources\x1b[31m\n" * 9
    told = (("quality", "dome 1 first"),)
    return PackAssembly("why?", 600, 540, text, (), packs, (), (), stages, ("graphs",), told, (1, 2))


def proposals() -> PackProposals:
    """Each action three times."""
    names = [tuple(f"{pack(k).name}@1" for k in range(n % 4 + 1)) for n in range(12)]
    because = "They say the same 漢字 in \x1b[31m other words. " * 3
    come = tuple(one.id for one in BLOCKS[:9])
    return PackProposals(
        tuple(
            PackProposal(f"{n:08x}", ACTIONS[n % 4], names[n], "dome", come, (BLOCKS[30].id,), because, 1 - n / 12)
            for n in range(12)
        )
    )

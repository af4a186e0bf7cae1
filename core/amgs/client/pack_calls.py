"""The requests about packs, described once for both clients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from amgs.client.ask import Ask, operation, part

if TYPE_CHECKING:
    from amgs.types import JournalEntry
    from amgs.types.packs import (
        PackAssembly,
        PackContent,
        PackDifference,
        PackKept,
        PackLearned,
        PackProposal,
        PackRole,
        PackRoute,
        PackText,
        PackUsage,
        PackUse,
        PackWeights,
    )


def keep(
    name: str,
    *,
    query: str = "",
    frame: str = "SESSION",
    budget: int | None = None,
    blocks: Sequence[str] = (),
    title: str = "",
    keywords: Sequence[str] = (),
) -> Ask[PackKept]:
    """Keep what a frame selects for a query, or the blocks that are named, as the next version of a pack."""
    return operation(
        "pack_keep",
        writes=True,
        name=name,
        query=query,
        frame=frame,
        budget=budget,
        block=list(blocks),
        title=title,
        keyword=list(keywords),
    )


def list_packs(*, retired: bool = False, keep: int | None = None) -> Ask[tuple[PackUsage, ...]]:
    """The latest version of each pack, by name, with what its log says; keep: mark what to do without to fit."""
    return operation("pack_list", part("packs"), retired=retired, keep=keep)


def show(pack: str) -> Ask[PackContent]:
    """A pack, `NAME` or `NAME@VERSION`, with its members as they are now."""
    return operation("pack_show", pack=pack)


def diff(left: str, right: str = "") -> Ask[PackDifference]:
    """From one version to another; the latest of the same name unless given."""
    return operation("pack_diff", left=left, right=right)


def use(
    pack: str,
    query: str = "",
    *,
    budget: int | None = None,
    prune: bool = False,
    session: str = "",
) -> Ask[PackText]:
    """A pack as a text in at most `budget` tokens; that it was read is logged."""
    return operation(
        "pack_use",
        writes=True,
        pack=pack,
        query=query,
        budget=budget,
        prune=prune,
        session=session,
    )


def route(query: str, *, budget: int | None = None, role: PackRole | None = None) -> Ask[PackRoute]:
    """The packs that a question should be given, whole, within `budget` tokens; writes nothing."""
    return operation("pack_route", query=query, budget=budget, role=role)


def learn(
    pack: str, *, others: Sequence[str] = (), share: float = 0.25, dry_run: bool = False
) -> Ask[PackLearned]:
    """Make learnings of the sources of a pack that are in none yet, and keep the next version, with both."""
    return operation("pack_learn", writes=True, name=pack, others=list(others), share=share, dry_run=dry_run)


def assemble(
    query: str, *, budget: int | None = None, role: PackRole | None = None, session: str = ""
) -> Ask[PackAssembly]:
    """All packs as one text for a question, in at most `budget` tokens; what was read of each is logged."""
    return operation("pack_assemble", writes=True, query=query, budget=budget, role=role, session=session)


def judge(use: int, *, useful: bool) -> Ask[PackUse]:
    """Note whether what was read was useful."""
    return operation("pack_judge", writes=True, use=use, useful=useful)


def weights() -> Ask[PackWeights]:
    """What judged readings taught: shared weights of what is known before one, and a small offset of each pack."""
    return operation("pack_weights")


def proposals() -> Ask[tuple[PackProposal, ...]]:
    """What could be done with packs, what is worth most first; changes nothing."""
    return operation("pack_proposals", part("proposals"), writes=True)


def accept(proposal: str) -> Ask[JournalEntry]:
    """Carry a proposal out, as one change that `undo` takes back."""
    return operation("pack_proposals", part("decided"), writes=True, accept=proposal)


def reject(proposal: str) -> Ask[JournalEntry]:
    """Say that a proposal is not wanted; it is not made again while its packs stay as they are."""
    return operation("pack_proposals", part("decided"), writes=True, reject=proposal)


def retire(*names: str) -> Ask[JournalEntry]:
    """Retire packs: they are no longer listed or used; their versions and their log stay."""
    return operation("pack_retire", writes=True, names=list(names))

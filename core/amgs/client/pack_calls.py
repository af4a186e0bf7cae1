"""The requests about packs, described once for both clients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from amgs.client.ask import Ask, operation, part

if TYPE_CHECKING:
    from amgs.types import JournalEntry
    from amgs.types.pack_assembly import PackAssembly
    from amgs.types.pack_consolidation import PackLearned, RestoredLearning
    from amgs.types.pack_families import PackGraph, PackIntent
    from amgs.types.pack_learning import PackPolicy, PackProposal, PackProposals
    from amgs.types.pack_sentences import PackSentences
    from amgs.types.pack_weights import PackCredits, PackWeights
    from amgs.types.packs import (
        PackContent,
        PackCourse,
        PackDifference,
        PackForecast,
        PackHabits,
        PackKept,
        PackRole,
        PackRoute,
        PackText,
        PackUsage,
        PackUse,
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


def list_packs(*, retired: bool = False) -> Ask[tuple[PackUsage, ...]]:
    """The latest version of each pack, by name, with what its log says."""
    return operation("pack_list", part("packs"), retired=retired)


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
    settle: bool = False,
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
        settle=settle,
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


def restore(learning: str) -> Ask[RestoredLearning]:
    """The sources behind a learning, whole."""
    return operation("pack_restore", learning=learning)


def graph() -> Ask[PackGraph]:
    """The packs and how many relations of each family there are between the members of each two."""
    return operation("pack_graph")


def sentences(query: str, *, pack: str | None = None, budget: int | None = None) -> Ask[PackSentences]:
    """What each sentence of a pack, or of those chosen for a question, is worth, and which fit; writes nothing."""
    return operation("pack_sentences", query=query, pack=pack, budget=budget)


def assemble(
    query: str, *, budget: int | None = None, role: PackRole | None = None, session: str = ""
) -> Ask[PackAssembly]:
    """All packs as one text for a question, in at most `budget` tokens; what was read of each is logged."""
    return operation("pack_assemble", writes=True, query=query, budget=budget, role=role, session=session)


def intent(query: str, *, limit: int = 3) -> Ask[PackIntent]:
    """What a question asks for, and what the walk of each family of relations leads to from the best hits."""
    return operation("pack_intent", query=query, limit=limit)


def judge(use: int, *, useful: bool) -> Ask[PackUse]:
    """Note whether what was read was useful."""
    return operation("pack_judge", writes=True, use=use, useful=useful)


def uses(pack: str | None = None, limit: int = 50) -> Ask[tuple[PackUse, ...]]:
    """What was read, the newest first; of one pack when it is named."""
    return operation("pack_uses", part("uses"), pack=pack, limit=limit)


def forecast(*, days: int = 30, keep: int | None = None) -> Ask[PackForecast]:
    """How likely each pack is read within so many days, and what to retire so that the others take `keep` tokens."""
    return operation("pack_forecast", days=days, keep=keep)


def course(pack: str, *, days: int = 30) -> Ask[PackCourse]:
    """How likely a pack was read within so many days, since it was kept, and from now on if it is not read."""
    return operation("pack_course", pack=pack, days=days)


def forget(*, keep: int, days: int = 30) -> Ask[PackForecast]:
    """Retire what `forecast` says, as one change that can be undone."""
    return operation("pack_forget", writes=True, keep=keep, days=days)


def habits() -> Ask[PackHabits]:
    """What is read after what, and what is read together, in sessions that have a name."""
    return operation("pack_habits")


def retire(name: str) -> Ask[JournalEntry]:
    """Retire a pack: it is no longer listed or used; its versions and its log stay."""
    return operation("pack_retire", writes=True, name=name)


def propose(*, limit: int | None = None, explore: float = 0.0, queue: bool = False) -> Ask[PackProposals]:
    """What could be done with packs, what is worth most first; changes no pack."""
    return operation("pack_propose", writes=True, limit=limit, explore=explore, queue=queue)


def proposals(*, every: bool = False) -> Ask[tuple[PackProposal, ...]]:
    """The open proposals of the latest list in their order; every: those of all lists, decided or not."""
    return operation("pack_proposals", part("proposals"), every=every)


def policy() -> Ask[PackPolicy]:
    """Who proposes, the rule or what was learned, and what the log of decisions says of both."""
    return operation("pack_policy")


def credit(use: int, answer: str) -> Ask[PackCredits]:
    """How much less likely an answer is without each pack that was read for it, noted in the log as one change."""
    return operation("pack_credit", writes=True, use=use, answer=answer)


def weights() -> Ask[PackWeights]:
    """What judged readings taught: shared weights of what is known before one, and a small offset of each pack."""
    return operation("pack_weights")


def accept(number: int) -> Ask[JournalEntry]:
    """Carry a proposal out, as one change that `undo` takes back."""
    return operation("pack_accept", writes=True, number=number)


def reject(number: int) -> Ask[JournalEntry]:
    """Say that a proposal is not wanted; it is not made again while its packs stay as they are."""
    return operation("pack_reject", writes=True, number=number)

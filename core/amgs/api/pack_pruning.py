"""The members of a pack as they are now, and the sentences of them that answer a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from amgs.api.context import MemoryContext
from amgs.errors import ModelError, UsageError
from amgs.packs import pruning, reading
from amgs.packs.borderline import Borderline
from amgs.packs.sentence_relevance import SearchRelevance
from amgs.text.answer_reader import AnswerReader
from amgs.text.loading import load
from amgs.types import Block
from amgs.types.packs import Pack

LIVE = ("raw", "consolidated")


def live(context: MemoryContext, ids: Sequence[str]) -> dict[str, Block]:
    """The blocks that the memory still holds and uses, by id."""
    held = context.storage.blocks.get(list(ids))
    return {one: block for one, block in held.items() if block.status in LIVE}


def pruned(
    context: MemoryContext,
    pack: Pack,
    held: Mapping[str, Block],
    query: str,
    budget: int,
    *,
    settle: bool = False,
) -> pruning.PrunedPack:
    """The sentences of the members that are held that answer a query; raises UsageError for one without words.

    settle: the language model decides between those near the border; raises ModelError where there is none.
    """
    if not any(c.isalnum() for c in query):
        raise UsageError("Nothing is asked.", way_out="Give a query, or read without pruning.")
    border = Borderline(language_model(context)) if settle else None
    load(context.embedder, "the encoder")
    with context.derived.searching() as sources:
        numbers = context.storage.blocks.numbers_of(sorted(held))
        relevance = SearchRelevance(sources, numbers)
        title, members = pack.title or pack.name, reading.in_order(pack, held)
        now = context.clock.now()
        return pruning.prune(title, members, query, budget, now, context.count_tokens, relevance, border)


def language_model(context: MemoryContext) -> AnswerReader:
    """Raises ModelError where the memory was opened without one."""
    if context.reader is None:
        raise ModelError(
            "The memory was opened without a language model.",
            title="No language model",
            way_out="Open it with a reader.",
        )
    return context.reader

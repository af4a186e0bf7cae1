"""What each pack of a reading contributed to an answer: the part of `memory.packs` that asks the language model."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from amgs.api.context import MemoryContext
from amgs.api.pack_pruning import language_model, live, pruned
from amgs.errors import NotFoundError, UsageError
from amgs.log import journal
from amgs.packs import credit, keeping, reading
from amgs.types.pack_weights import PackCredit, PackCredits
from amgs.types.packs import PackUse

if TYPE_CHECKING:
    from amgs.types import Progress

CREDITED = "pack credit"


class PackCrediting:
    """See the module. `undo` takes back what was credited."""

    def __init__(self, context: MemoryContext) -> None:
        self._context = context

    def credit(self, use: int, answer: str, *, progress: Progress | None = None) -> PackCredits:
        """How much less likely the answer is without each pack that was read for it, noted in the log as one change.

        use: the number of a reading; those of other packs for the same question, in its session or at its instant,
        count as read together. The text of each pack is made again, from the members that were read, in about as
        many tokens. The answer itself is not kept. A pack that was read alone is held against no text at all.

        Takes a pass of the model over about half of all texts for each pack. Raises NotFoundError for a reading that is
        not logged, UsageError where it was for no question, nothing was answered or nothing of it is left, ModelError
        without a language model.
        """
        context = self._context
        reader = language_model(context)
        if not any(c.isalnum() for c in answer):
            raise UsageError("Nothing is answered.", way_out="Give the answer that followed the reading.")
        with context.storage.snapshot():
            together = _read_together(context.storage.packs.uses(), use)
            texts = [self._text(one) for one in together]
        if not any(texts):
            raise UsageError(
                f"Nothing of what reading {use} read is left.",
                way_out="Credit a reading whose members are still there.",
            )
        asked = together[0].query
        losses = credit.left_out(texts, asked, [answer], reader, progress)
        credits = {one.number: float(loss) for one, loss in zip(together, losses[:, 0], strict=True)}
        count = "1 reading" if len(together) == 1 else f"{len(together)} readings"
        summary = f"{count} of {', '.join(one.name for one in together)[:80]}"
        with context.storage.transaction():
            entry = journal.write(context.storage, CREDITED, context.clock.now(), summary, [])
            context.storage.packs.credit(credits, reader.name, entry.id)
        told = [
            PackCredit(one.number, one.name, one.version, loss, loss >= credit.HELPS)
            for one in together
            for loss in (credits[one.number],)
        ]
        return PackCredits(asked, reader.name, tuple(told), entry.id)

    def _text(self, use: PackUse) -> str:
        """What was read, made again; "" where nothing of it is left."""
        context = self._context
        pack = keeping.find(context.storage.packs, f"{use.name}@{use.version}")
        held = live(context, use.blocks)
        now, count = context.clock.now(), context.count_tokens
        whole = reading.read(pack, held, use.query, sys.maxsize, now, count)
        said = sum(count(block.content) for block in held.values())
        if said <= use.tokens:
            return whole.text if held else ""
        # an assembly logs the tokens of sentences alone, so there is room for headings and citations beside them
        return pruned(context, pack, held, use.query, use.tokens + whole.tokens - said).reading.text


def _read_together(uses: Sequence[PackUse], number: int) -> list[PackUse]:
    """The reading and those of other packs for the same question, the oldest first; of each pack the latest.

    uses: the newest first.
    """
    named = next((one for one in uses if one.number == number), None)
    if named is None:
        raise NotFoundError(f"No use {number} is logged.", way_out="Each reading tells its number.")
    if not any(c.isalnum() for c in named.query):
        raise UsageError(
            f"Reading {number} was for no question.", way_out="Credit one that was read for a question."
        )
    found = {named.name: named}
    for one in uses:
        same = one.session == named.session and (one.session or one.at == named.at)
        if same and one.query == named.query:
            found.setdefault(one.name, one)
    return sorted(found.values(), key=lambda one: one.number)

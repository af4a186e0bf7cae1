"""What outcomes of readings taught of packs: the part of `memory.packs` that explains them."""

from __future__ import annotations

from amgs.api.context import MemoryContext
from amgs.packs import outcome_weights
from amgs.packs.off_policy import PolicyEstimate
from amgs.packs.outcome_weights import LEAST
from amgs.types.pack_weights import PackWeights


class PackWeighing:
    """See the module. Writes nothing, and nothing that chooses packs asks it."""

    def __init__(self, context: MemoryContext) -> None:
        self._context = context

    def weights(self) -> PackWeights:
        """What judged readings taught: shared weights of what is known before one, and a small offset of each pack.

        Explains only. Where all packs of a session got one verdict, it is not counted for any of them; what each was
        credited with counts in its place.
        """
        packs = self._context.storage.packs
        with self._context.storage.snapshot():
            uses = packs.uses()[::-1]
            keywords = {one.name: one.keywords for one in packs.latest()}
        outcomes, left_out = outcome_weights.read_from(uses, keywords)
        if not outcomes:
            why = "every verdict was that of a session" if left_out else "nothing was judged yet"
            return PackWeights(False, why, 0, left_out, (), 0.0, None, None, None, ())
        model = outcome_weights.fit(outcomes)
        found = outcome_weights.gain(outcomes)
        every = outcome_weights.utilities(model, outcomes)
        gain, low, high = (found.value, found.low, found.high) if found.rounds > 1 else (None, None, None)
        return PackWeights(
            outcome_weights.better(found),
            _because(found),
            len(outcomes),
            left_out,
            model.shared(),
            model.spread,
            gain,
            low,
            high,
            every,
        )


def _because(found: PolicyEstimate) -> str:
    if found.rounds < LEAST:
        return f"the last third has {found.rounds} outcomes, of {LEAST} it takes"
    return f"the lower end of its gain on the last third is {found.low:+.3f} nats"

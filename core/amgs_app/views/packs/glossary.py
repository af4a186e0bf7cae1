"""Terms in the tables of packs."""

from __future__ import annotations

from typing import Final

WORDS: Final = (
    ("source, learning", "A member that was taken in as it is; one that was made from other blocks and cites them."),
    ("uses, useful", "How often a version was read; the mean outcome of the readings that have one."),
    ("needed", "From 0 to 1: how likely the pack is to be read within the next 30 days, from its readings so far."),
    ("weight", "From 0 to 1: what outcomes taught of the pack; .5 where they taught nothing."),
    ("worth", "How much of what answers the pack holds, as the layers that are switched on see it."),
    ("links", "What ties it to other packs in four graphs: semantic, temporal, causal, entity."),
    ("sure", "How sure the policy is about a proposal, from 0 to 1."),
    ("in, out", "Whether the pack is read for the question; because: why, or why not."),
)
"""Terms and what they mean."""

"""The words of the pictures of packs."""

from __future__ import annotations

from typing import Final

WORDS: Final = (
    ("○ source", "A member that was taken in as it is."),
    ("◆ learning", "A member that was made from other blocks and cites them."),
    ("read, useful", "How often a version was read; of the judged readings, how many were useful."),
    ("needed", "From 0 to 1: how likely the pack is to be read within the next 30 days, from its readings so far."),
    ("adds", "By how much what answers is likelier to be among the chosen packs with it: the bar's length."),
    ("links", "Relations between its members and those of other packs: semantic, temporal, causal, entity."),
    ("sure", "How sure the rule is about a proposal, from 0 to 1."),
    ("in, out", "Chosen within the budget or not, and why not."),
)
"""Terms and what they mean."""

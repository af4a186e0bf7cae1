"""How often each cue is right, and from which confidence on an answer is given."""

from __future__ import annotations

from collections.abc import Mapping

from amgs.conversation.coreference.addressee import CorefCue

CONFIDENCE: Mapping[CorefCue, float] = {
    CorefCue.SPEAKER: 0.98,
    CorefCue.QUOTED: 0.6,
    CorefCue.ONLY_TWO: 0.91,
    CorefCue.CALLED: 0.89,
    CorefCue.BETWEEN: 0.88,
    CorefCue.BEFORE: 0.58,
    CorefCue.NEXT: 0.78,
    CorefCue.ASKED: 0.56,
    CorefCue.GROUP: 0.34,
    CorefCue.WITH_ADDRESSEE: 0.55,
    CorefCue.JOINED: 0.7,
    CorefCue.NAMED: 0.91,
    CorefCue.NICKNAME: 0.86,
    CorefCue.NEW_NAME: 0.5,
    CorefCue.RELATIVE: 0.2,
    CorefCue.PREDICATE: 0.55,
    CorefCue.NAMED_BESIDE: 0.6,
    CorefCue.ENDEARMENT: 0.67,
    CorefCue.SAME_WORDS: 0.3,
}
"""Counted over the gold mentions of eight episodes of character-identification (Friends, development half), rounded;
for an antecedent the scorer says it, for who is meant by "we" it is multiplied by that of who is spoken to. What the
counts of seven episodes say of the eighth is in `python -m benchmarks conversation`.
"""
ABSTAINS_BELOW = 0.75
"""Least confidence that is told by default: nine in ten answers above it are right on the same episodes."""

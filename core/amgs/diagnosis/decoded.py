"""Whether a fact stood as tokens when an answer was decoded, or a gist stood for the part of its block that says it."""

from __future__ import annotations

from dataclasses import replace

from amgs.api.context import MemoryContext
from amgs.diagnosis import facts, wording
from amgs.diagnosis.causes import FactFate
from amgs.types import Block
from amgs.types.diagnosis import DecodedContext, DiagnosisStep

_MOST = 0.5
"""Of a sentence that shares no word with the fact, so much may be a gist before the fact is."""


def find(
    context: MemoryContext, finding: FactFate, block: Block, fact: str, reading: DecodedContext
) -> FactFate:
    """The finding about a block that was in the context; "collapsed" where the tokens of it that were left do not say
    what its sentence that carries the fact says.
    """
    spans = [one for one in reading.spans if one.block == block.id]
    start, end = facts.place(fact, block, context)
    over = [one for one in spans if one.level and one.start < end and start < one.end]
    if not over:
        return finding
    length = len(block.content)
    carrying = block.content[round(start * length) : round(end * length)]
    if wording.stems(carrying) & wording.stems(fact):
        left = " ".join(
            block.content[round(one.start * length) : round(one.end * length)]
            for one in sorted(spans, key=lambda one: one.start)
            if not one.level
        )
        gone = wording.says_less(left, carrying, fact)
    else:
        covered = sum(min(one.end, end) - max(one.start, start) for one in over)
        gone = covered > _MOST * (end - start)
    if not gone:
        return finding
    level = max(one.level for one in over)
    told = f"a gist of level {level} stood for it at step {reading.step}"
    step = DiagnosisStep("working context", False, told)
    return replace(finding, cause="collapsed", verdict=f"Collapsed: {told}.", steps=(*finding.steps, step))

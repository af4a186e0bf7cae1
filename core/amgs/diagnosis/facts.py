"""Which blocks hold a fact, whatever became of them: in its words, in most of them, or by meaning."""

from __future__ import annotations

from amgs.api.context import MemoryContext
from amgs.api.retrieval import Retrieval
from amgs.diagnosis import wording
from amgs.errors import UsageError
from amgs.types import STATUSES, BlockFilter
from amgs.types.diagnosis import FactMatch

_LOOKED_AT = 50
"""The best of a search for the fact, in every state a block may be in."""
_LEAST_SHARE, _LEAST_COSINE = 0.34, 0.6
"""By meaning a block must hold some of the words, too: a fact about another person reads alike."""
_NEAR = 0.02
_ORDER = ("exact", "words", "meaning")


def matching(fact: str, context: MemoryContext, block: str = "") -> tuple[FactMatch, ...]:
    """The blocks that hold a fact, the best first. block: the one that is meant, whatever it holds."""
    if block:
        found = context.block(block)
        return (FactMatch(found, "words", wording.share(found.content, fact), 0.0),)
    hits = (
        Retrieval(context).search(fact, top_k=_LOOKED_AT, filter=BlockFilter(statuses=tuple(STATUSES))).hits
    )
    matches = []
    (named,) = context.recogniser.recognise([fact])
    names = (
        wording.stems(" ".join(entity.text for entity in named if entity.kind != "link"))
        if named
        else frozenset()
    )
    for hit in hits:
        share = wording.share(hit.block.content, fact)
        if names - wording.stems(hit.block.content):
            share = 0.0  # the same of somebody else is another fact
        if wording.exactly(hit.block.content, fact):
            matches.append(FactMatch(hit.block, "exact", 1.0, hit.vector))
        elif share >= wording.MOST_WORDS:
            matches.append(FactMatch(hit.block, "words", share, hit.vector))
        elif share >= _LEAST_SHARE and hit.vector >= _LEAST_COSINE:
            matches.append(FactMatch(hit.block, "meaning", share, hit.vector))
    return tuple(sorted(matches, key=lambda m: (_ORDER.index(m.how), -(m.share + m.cosine), m.block.id)))


def chosen(fact: str, matches: tuple[FactMatch, ...]) -> FactMatch | None:
    """The block that is meant; None where none holds the fact. Raises UsageError where several do equally well."""
    if not matches:
        return None
    best = matches[0]
    alike = [
        m for m in matches if m.how == best.how and m.share + m.cosine >= best.share + best.cosine - _NEAR
    ]
    if len(alike) > 1:
        told = "; ".join(f"{m.block.id[:12]} “{m.block.title}”" for m in alike[:5])
        raise UsageError(
            f"{len(alike)} blocks hold {fact[:80]!r}: {told}.",
            title="Several blocks hold the fact",
            way_out="Say more of the fact, or give the start of the id of the block that is meant.",
        )
    return best

"""Which blocks hold a fact, whatever became of them: in its words, or in most of them; and which come near.

What is near in meaning is named and not taken: a rule that was fitted to tell by meaning which block holds a fact named
no more causes on conversations that it was not fitted on than taking none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from amgs.api.context import MemoryContext
from amgs.api.retrieval import Retrieval
from amgs.diagnosis import wording
from amgs.errors import UsageError
from amgs.types import STATUSES, Block, BlockFilter, Candidate
from amgs.types.diagnosis import FactMatch

_LOOKED_AT = 50
"""The best of a search for the fact, in every state a block may be in."""
_NEAR = 0.02
_SAYS = re.compile(r"([^\W\d_a-z][\w.'’-]*(?: [^\W\d_a-z][\w.'’-]*){0,2}): ")
_ORDER = ("exact", "words", "near")


def matching(fact: str, context: MemoryContext, block: str = "") -> tuple[FactMatch, ...]:
    """The blocks that may hold a fact, the best first; `holds` says of each whether it is taken to. block: the one that
    is meant, whatever it holds.
    """
    if block:
        found = context.block(block)
        return (FactMatch(found, "words", wording.share(found.content, fact), 0.0),)
    return judged(fact, hits(fact, context))


def hits(fact: str, context: MemoryContext) -> tuple[Candidate, ...]:
    """The best hits for a fact among blocks in every state."""
    every = BlockFilter(statuses=tuple(STATUSES))
    return Retrieval(context).search(fact, top_k=_LOOKED_AT, filter=every).hits


def holds(match: FactMatch) -> bool:
    """Whether a block is taken to hold the fact that it was judged by: it says it, whatever else is near in meaning."""
    return match.how != "near"


def judged(fact: str, found: Sequence[Candidate]) -> tuple[FactMatch, ...]:
    """Each of some hits by how it says a fact, the best first; those that do not in the order of the search."""
    speakers = _speakers(found)
    meant = {one for one in set(speakers.values()) - {""} if wording.stems(fact) & wording.stems(one)}
    matches: list[FactMatch] = []
    for hit in found:
        content = hit.block.content
        share = wording.share(content, fact)
        # What is said by another person than those the fact names is another fact, unless it says so.
        other = bool(meant) and speakers[hit.block.id] not in {*meant, ""}
        if wording.exactly(content, fact):
            matches.append(FactMatch(hit.block, "exact", 1.0, hit.vector))
        elif share >= wording.MOST_WORDS and not other:
            matches.append(FactMatch(hit.block, "words", share, hit.vector))
        else:
            matches.append(FactMatch(hit.block, "near", share, hit.vector))
    said_well = {id(one): -(one.share + one.cosine) if holds(one) else 0.0 for one in matches}
    return tuple(sorted(matches, key=lambda one: (_ORDER.index(one.how), said_well[id(one)])))


def _speakers(found: Sequence[Candidate]) -> dict[str, str]:
    """Who said each hit: the name that its text begins with, where another hit begins with it too, since a message may
    say who wrote it in its own text; else the speaker that is noted.
    """
    begun = {hit.block.id: match[1] for hit in found if (match := _SAYS.match(said(hit.block)))}
    often = Counter(begun.values())
    return {
        hit.block.id: begun[hit.block.id]
        if often[begun.get(hit.block.id, "")] > 1
        else str(hit.block.meta.get("speaker") or "")
        for hit in found
    }


def said(block: Block) -> str:
    """The content of a block without the name of who says it before it."""
    return block.content.removeprefix(f"{block.meta.get('speaker') or ''}: ")


def how(match: FactMatch) -> str:
    """How a block holds the fact, in words."""
    return {"exact": "in its words", "words": "in most of its words", "near": "in other words"}[match.how]


def place(fact: str, block: Block, context: MemoryContext) -> tuple[float, float]:
    """Where a block carries a fact, as [start, end) in shares of its content: the sentence that says most of its words,
    and is nearest to it in meaning.
    """
    content = block.content
    found = wording.sentences(content)
    if len(found) < 2 or wording.exactly(content, fact):
        return wording.place(content, fact)
    wanted = wording.stems(fact)
    told = [content[start:end] for start, end in found]
    mine, *vectors = context.embedder.embed([fact, *told])
    worth = [
        len(wanted & wording.stems(text)) / max(len(wanted), 1) + float(vector @ mine)
        for text, vector in zip(told, vectors, strict=True)
    ]
    start, end = found[worth.index(max(worth))]
    return start / len(content), end / len(content)


def chosen(fact: str, matches: Sequence[FactMatch]) -> FactMatch | None:
    """The block that is meant; None where none holds the fact. Raises UsageError where several do equally well."""
    if not matches:
        return None
    best = matches[0]
    alike = [
        m
        for m in matches
        if m.how == best.how != "near" and m.share + m.cosine >= best.share + best.cosine - _NEAR
    ]
    if len(alike) > 1:
        told = "; ".join(f"{m.block.id[:12]} “{m.block.title}”" for m in alike[:5])
        raise UsageError(
            f"{len(alike)} blocks hold {fact[:80]!r}: {told}.",
            title="Several blocks hold the fact",
            way_out="Say more of the fact, or give the start of the id of the block that is meant.",
        )
    return best

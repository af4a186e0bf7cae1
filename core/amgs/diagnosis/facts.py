"""Which blocks hold a fact, whatever became of them: in its words, in most of them, or by meaning."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from amgs.api.context import MemoryContext
from amgs.api.retrieval import Retrieval
from amgs.diagnosis import wording
from amgs.errors import UsageError
from amgs.index.terms import idf
from amgs.types import STATUSES, Block, BlockFilter, Candidate
from amgs.types.diagnosis import FactMatch

_LOOKED_AT = 50
"""The best of a search for the fact, in every state a block may be in."""
_READ, _SENTENCES = 5, 8
"""The best hits are read sentence by sentence: so many of them, so many sentences of each."""
_BASE = -11.04
_SCORE, _LEAD, _SENTENCE, _WORDS, _SPEAKER = 5.5, 8.0, 5.0, 3.1, -2.5
"""A logistic regression, fitted to facts of other conversations than those it was judged on (the page of results names
both): the score of the hit, its lead over the next, the cosine of its closest sentence, the share of the fact's words
by their weight, and whether somebody else said it.
"""
_TEXT_BASE = -7.74
_TEXT_SENTENCE, _TEXT_WORDS, _TEXT_LEAD, _TEXT_WORDS_LEAD, _TEXT_SPEAKER = 5.6, 3.7, 1.6, 5.0, -5.0
"""The same for a block whose meaning no search can read, since it is embedded only when it is consolidated: of the text
alone, its closest sentence and its words, and what both lead by.
"""
_LEAST_CHANCE = 0.27
"""From here on a block is taken to hold the fact by meaning: facts that are there and facts that are not are told apart
best here, on what the regression was fitted to, each conversation judged by the others.
"""
_NEAR = 0.02
_ORDER = ("exact", "words", "meaning")


def matching(fact: str, context: MemoryContext, block: str = "") -> tuple[FactMatch, ...]:
    """The blocks that may hold a fact, the best first; `holds` says of each whether it is taken to. block: the one that
    is meant, whatever it holds.
    """
    if block:
        found = context.block(block)
        return (FactMatch(found, "words", wording.share(found.content, fact), 0.0),)
    return judged(fact, context, hits(fact, context))


def hits(fact: str, context: MemoryContext) -> tuple[Candidate, ...]:
    """The best hits for a fact among blocks in every state."""
    every = BlockFilter(statuses=tuple(STATUSES))
    return Retrieval(context).search(fact, top_k=_LOOKED_AT, filter=every).hits


def holds(match: FactMatch) -> bool:
    """Whether a block is taken to hold the fact that it was judged by."""
    return match.how != "meaning" or match.chance >= _LEAST_CHANCE


def judged(fact: str, context: MemoryContext, found: Sequence[Candidate]) -> tuple[FactMatch, ...]:
    """Each of some hits with the chance that it holds a fact, the likeliest first."""
    weights = _weights(fact, context)
    spoken = {str(hit.block.meta.get("speaker") or "") for hit in found} - {""}
    meant = {one for one in spoken if wording.stems(fact) & wording.stems(one)}
    # Who takes part is not named in every sentence; whoever else is, must be.
    needed = wording.numbers(fact) | (_names(fact, context) - wording.stems(" ".join(spoken)))
    total = sum(weights.values()) or 1.0
    covered = {
        hit.block.id: sum(weights[word] for word in weights.keys() & wording.stems(hit.block.content)) / total
        for hit in found
    }
    nearest = _closest(fact, context, _read(found, covered))
    best, second = _two(hit.score for hit in found)
    matches = []
    for hit in found:
        content = hit.block.content
        share = wording.share(content, fact)
        if wording.exactly(content, fact):
            matches.append(FactMatch(hit.block, "exact", 1.0, hit.vector))
            continue
        # What is said by another person than those the fact names is another fact, unless it says so.
        other = bool(meant) and str(hit.block.meta.get("speaker") or "") not in {*meant, ""}
        if share >= wording.MOST_WORDS and not other:
            matches.append(FactMatch(hit.block, "words", share, hit.vector))
            continue
        words = covered[hit.block.id]
        cosine = max(nearest.get(hit.block.id, 0.0), 0.9 * hit.vector)
        if hit.block.status == "raw":
            told = _of_text(hit.block.id, nearest, covered) + _TEXT_SPEAKER * other
        else:
            lead = hit.score - (second if hit.score == best else best)
            told = _BASE + _SCORE * hit.score + _LEAD * lead + _SENTENCE * cosine + _WORDS * words
            told += _SPEAKER * other
        chance = 1 / (1 + math.exp(-told))
        if needed - wording.stems(content):
            chance = 0.0  # the same of another number or of somebody else is another fact
        matches.append(FactMatch(hit.block, "meaning", share, cosine, chance))
    return tuple(
        sorted(matches, key=lambda m: (_ORDER.index(m.how), -m.chance, -(m.share + m.cosine), m.block.id))
    )


def _read(found: Sequence[Candidate], covered: Mapping[str, float]) -> list[Candidate]:
    """The hits that are read sentence by sentence: the best, and of the raw ones, which a search knows by their words
    alone, those with most of the fact's.
    """
    raw = sorted((hit for hit in found if hit.block.status == "raw"), key=lambda hit: -covered[hit.block.id])
    chosen = {hit.block.id: hit for hit in (*found[:_READ], *raw[:_READ])}
    return list(chosen.values())


def _of_text(block: str, nearest: Mapping[str, float], covered: Mapping[str, float]) -> float:
    """The log odds that a block holds a fact, by its text: `nearest` has the cosines of the blocks that were read."""
    if block not in nearest:
        return -math.inf
    told = _TEXT_BASE + _TEXT_SENTENCE * nearest[block] + _TEXT_WORDS * covered[block]
    for values, weight in ((nearest, _TEXT_LEAD), (covered, _TEXT_WORDS_LEAD)):
        others = max((values[one] for one in nearest if one != block), default=0.0)
        told += weight * (values[block] - others)
    return told


def _two(values: Iterable[float]) -> tuple[float, float]:
    """The two largest of some values; 0 for what is not there."""
    first, second = (*sorted(values, reverse=True), 0.0, 0.0)[:2]
    return first, second


def _weights(fact: str, context: MemoryContext) -> Mapping[str, float]:
    """The stems of a fact, each with how telling it is in this memory."""
    with context.derived.searching() as sources:
        words = sources.keyword
        return {stem: idf(words.documents, words.frequency(stem)) for stem in wording.stems(fact)}


def _names(fact: str, context: MemoryContext) -> frozenset[str]:
    """The stems of what a fact names."""
    (found,) = context.recogniser.recognise([fact])
    told = " ".join(one.text for one in found if one.kind != "link")
    return wording.names(fact) | (wording.stems(told) if told else frozenset())


def _closest(fact: str, context: MemoryContext, found: Sequence[Candidate]) -> dict[str, float]:
    """The cosine of the sentence of each hit that is nearest to a fact; none where one says it in its words, which
    settles it.
    """
    if any(wording.exactly(hit.block.content, fact) for hit in found):
        return {}
    told = {hit.block.id: _sentences(hit.block) for hit in found}
    # Texts of one length together: a batch is as long as its longest.
    every = sorted({one for some in told.values() for one in some}, key=len)
    if not every:
        return {}
    wanted, *vectors = context.embedder.embed([fact, *every])
    cosine = {text: float(vector @ wanted) for text, vector in zip(every, vectors, strict=True)}
    return {block: max((cosine[one] for one in some), default=0.0) for block, some in told.items()}


def _sentences(block: Block) -> list[str]:
    """The sentences of a block, each with who says it."""
    text = said(block)
    head = block.content[: len(block.content) - len(text)]
    return [head + text[start:end].strip() for start, end in wording.sentences(text)][:_SENTENCES]


def said(block: Block) -> str:
    """The content of a block without the name of who says it before it."""
    return block.content.removeprefix(f"{block.meta.get('speaker') or ''}: ")


def how(match: FactMatch) -> str:
    """How a block holds the fact, in words."""
    held = {"exact": "in its words", "words": "in most of its words"}
    return held.get(match.how, f"by meaning, with a chance of {match.chance:.2f}")


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
        if m.how == best.how != "meaning" and m.share + m.cosine >= best.share + best.cosine - _NEAR
    ]
    if len(alike) > 1:
        told = "; ".join(f"{m.block.id[:12]} “{m.block.title}”" for m in alike[:5])
        raise UsageError(
            f"{len(alike)} blocks hold {fact[:80]!r}: {told}.",
            title="Several blocks hold the fact",
            way_out="Say more of the fact, or give the start of the id of the block that is meant.",
        )
    return best

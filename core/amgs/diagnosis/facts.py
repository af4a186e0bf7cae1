"""Which blocks hold a fact, whatever became of them: in its words, in most of them, or by meaning."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

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
_BASE = -11.39
_SCORE, _LEAD, _SENTENCE, _WORDS, _SPEAKER, _UNNAMED = 6.1, 7.2, 4.35, 5.4, -4.5, -0.95
"""A logistic regression over the blocks that were read and none of them, fitted to facts of other conversations than
those it was judged on (the page of results names both): the score of the hit, its lead over the next, the cosine of its
closest sentence, the share of the fact's words by their weight, whether somebody else said it, and whether it is only
near it that a name of the fact was said.
"""
_TEXT_BASE = -9.49
_TEXT_SENTENCE, _TEXT_WORDS, _TEXT_WORDS_LEAD, _TEXT_SPEAKER = 7.8, 5.1, 4.1, -5.4
"""The same for a block whose meaning no search can read, since it is embedded only when it is consolidated: of the text
alone, its closest sentence, its words and what these lead by.
"""
_LEAST_CHANCE = 0.35
"""From here on a block is taken to hold the fact by meaning: a stored fact that is not found counts twice as much as a
block that is taken for a fact that is not stored, since all causes but one are of stored facts.
"""
_BEFORE = 4
"""In so many turns before its own a name of the fact may have been said: who talks on of it does not repeat it."""
_NEAR = 0.02
_SAYS = re.compile(r"([^\W\d_a-z][\w.'’-]*(?: [^\W\d_a-z][\w.'’-]*){0,2}): ")
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
    """Each of some hits with the chance that it holds a fact, the likeliest first. By meaning one of them holds it, or
    none does: the chances of all add up to less than 1.
    """
    weights = _weights(fact, context)
    speakers = _speakers(found)
    spoken = set(speakers.values()) - {""}
    meant = {one for one in spoken if wording.stems(fact) & wording.stems(one)}
    # Who takes part is not named in every sentence; whoever else is, must be, here or shortly before.
    named = _names(fact, context) - wording.stems(" ".join(spoken))
    total = sum(weights.values()) or 1.0
    covered = {
        hit.block.id: sum(weights[word] for word in weights.keys() & wording.stems(hit.block.content)) / total
        for hit in found
    }
    nearest = _closest(fact, context, _read(found, covered))
    best, second = _two(hit.score for hit in found)
    matches: list[FactMatch] = []
    odds: dict[str, float] = {}
    for hit in found:
        content = hit.block.content
        share = wording.share(content, fact)
        if wording.exactly(content, fact):
            matches.append(FactMatch(hit.block, "exact", 1.0, hit.vector))
            continue
        # What is said by another person than those the fact names is another fact, unless it says so.
        other = bool(meant) and speakers[hit.block.id] not in {*meant, ""}
        if share >= wording.MOST_WORDS and not other:
            matches.append(FactMatch(hit.block, "words", share, hit.vector))
            continue
        cosine = max(nearest.get(hit.block.id, 0.0), 0.9 * hit.vector)
        matches.append(FactMatch(hit.block, "meaning", share, cosine, 0.0))
        unnamed = named - wording.stems(content)
        if hit.block.id not in nearest or wording.numbers(fact) - wording.stems(content):
            continue  # the same of another number is another fact
        if unnamed and unnamed - wording.stems(_before(hit.block, context)):
            continue  # so is the same of somebody else
        if hit.block.status == "raw":
            told = _of_text(hit.block.id, nearest, covered) + _TEXT_SPEAKER * other
        else:
            lead = hit.score - (second if hit.score == best else best)
            told = _BASE + _SCORE * hit.score + _LEAD * lead + _SENTENCE * cosine
            told += _WORDS * covered[hit.block.id] + _SPEAKER * other + _UNNAMED * bool(unnamed)
        odds[hit.block.id] = math.exp(told)
    every = 1 + sum(odds.values())
    matches = [
        replace(one, chance=odds.get(one.block.id, 0.0) / every) if one.how == "meaning" else one
        for one in matches
    ]
    return tuple(
        sorted(matches, key=lambda m: (_ORDER.index(m.how), -m.chance, -(m.share + m.cosine), m.block.id))
    )


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


def _read(found: Sequence[Candidate], covered: Mapping[str, float]) -> list[Candidate]:
    """The hits that are read sentence by sentence: the best, and of the raw ones, which a search knows by their words
    alone, those with most of the fact's.
    """
    raw = sorted((hit for hit in found if hit.block.status == "raw"), key=lambda hit: -covered[hit.block.id])
    chosen = {hit.block.id: hit for hit in (*found[:_READ], *raw[:_READ])}
    return list(chosen.values())


def _before(block: Block, context: MemoryContext) -> str:
    """What was said in the turns before a block, as far as it says what it follows."""
    told: list[str] = []
    for _ in range(_BEFORE):
        chain = block.meta.get("follows")
        sources = chain.values() if isinstance(chain, Mapping) else ()
        ids = [one for source in sources for one in context.storage.blocks.with_source(str(source))][:1]
        found = context.storage.blocks.get(ids)
        if not found:
            break
        block = found[ids[0]]
        told.append(block.content)
    return "\n".join(told)


def _of_text(block: str, nearest: Mapping[str, float], covered: Mapping[str, float]) -> float:
    """The log odds that a block holds a fact, by its text. nearest: the cosines of the blocks that were read."""
    others = max((covered[one] for one in nearest if one != block), default=0.0)
    told = _TEXT_BASE + _TEXT_SENTENCE * nearest[block] + _TEXT_WORDS * covered[block]
    return told + _TEXT_WORDS_LEAD * (covered[block] - others)


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

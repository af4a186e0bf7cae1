"""Find the blocks that hold a fact, whatever became of them, in its words or in most of them, and the nearest ones.

What is near in meaning is named and not taken: a rule that was fitted to tell by meaning which block holds a fact named
no more causes on conversations that it was not fitted on than taking none.

How much of a fact a text says goes by its words, whatever their endings, their case and the signs between them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache

from tantivy import TextAnalyzer

from amgs.api.context import MemoryContext
from amgs.api.retrieval import Retrieval
from amgs.errors import UsageError
from amgs.index.terms import word_analyzer
from amgs.storable import make_storable
from amgs.text.stop_words import COMMON_WORDS
from amgs.types import STATUSES, Block, BlockFilter, Candidate
from amgs.types.diagnosis import FactMatch

MOST_WORDS = 0.75
"""From this share on of its words a text says a fact, if it holds all its numbers."""
_LESS = 0.15
"""A part of a text that holds so much less of a fact's words than the whole leaves the fact out."""
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"(?<=[\w,;:] )[^\W\d_a-z]\w+")


def says(text: str, fact: str) -> bool:
    """Return whether a text says a fact in its words, or in most of them and all its numbers."""
    return exactly(text, fact) or share(text, fact) >= MOST_WORDS


def exactly(text: str, fact: str) -> bool:
    """Return whether the words of a fact stand in a text one after the other."""
    wanted = _plain(fact)
    return bool(wanted.strip()) and wanted in _plain(text)


def share(text: str, fact: str) -> float:
    """Return the share of the fact's words that a text holds, in [0, 1]; 0 where it lacks one of the fact's numbers or
    names: what is said of another person or day is another fact.
    """
    wanted, text_stems = stems(fact), stems(text)
    needed = numbers(fact) | names(fact)
    if not wanted or needed - text_stems:
        return 0.0
    return len(wanted & text_stems) / len(wanted)


def stems(text: str) -> frozenset[str]:
    """Return the stems of a text's words, the commonest words left out unless there are no others."""
    all_stems = frozenset(_analyzer().analyze(make_storable(text)))
    return all_stems - _common() or all_stems


def numbers(text: str) -> frozenset[str]:
    """Return the words of a text that hold a digit."""
    return frozenset(word for word in stems(text) if any(c.isdigit() for c in word))


def names(text: str) -> frozenset[str]:
    """Return the stems of words that are written like names: with a capital, and not at the beginning of a sentence."""
    return frozenset(_analyzer().analyze(make_storable(" ".join(_NAME.findall(text))))) - _common()


def says_less(part: str, whole: str, fact: str) -> bool:
    """Return whether a part of a text leaves out what the whole says of a fact: one of its numbers or names, or so many
    of its words that the rest says something else.
    """
    wanted, part_stems = stems(fact), stems(part)
    whole_stems = wanted & stems(whole)
    needed = (numbers(fact) | names(fact)) & whole_stems
    return bool(needed - part_stems) or len(wanted & part_stems) < len(whole_stems) - _LESS * len(wanted)


def place_in(text: str, fact: str) -> tuple[float, float]:
    """Return where a text says most of a fact, as [start, end) in shares of the text: its sentence with most of the
    words.
    """
    wanted = stems(fact)
    start, end = max(sentences(text), key=lambda at: len(wanted & stems(text[at[0] : at[1]])), default=(0, len(text)))
    length = max(len(text), 1)
    return start / length, end / length


def sentences(text: str) -> list[tuple[int, int]]:
    """Return where each sentence of a text stands: characters [start, end)."""
    spans, at = [], 0
    for sentence in re.split(r"(?<=[.!?])\s+|\n+", text):
        start = text.index(sentence, at)
        at = start + len(sentence)
        if _WORD.search(sentence):
            spans.append((start, at))
    return spans


def _plain(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


@cache
def _analyzer() -> TextAnalyzer:
    return word_analyzer()


@cache
def _common() -> frozenset[str]:
    return frozenset(_analyzer().analyze(" ".join(COMMON_WORDS)))


_LOOKED_AT = 2_000
"""More than the layers of a search bring: where a hit ranks says nothing of whether it holds the fact, since what is
superseded counts half.
"""
_NEAR = 0.02
_SAYS = re.compile(r"([^\W\d_a-z][\w.'’-]*(?: [^\W\d_a-z][\w.'’-]*){0,2}): ")
_ORDER = ("exact", "words", "near")


def matching(fact: str, context: MemoryContext, block: str = "") -> tuple[FactMatch, ...]:
    """Return the blocks that may hold a fact, the best first; `holds` says of each whether it is taken to. block: the
    one that is meant, whatever it holds.
    """
    if block:
        stored_block = context.block(block)
        return (FactMatch(stored_block, "words", share(stored_block.content, fact), 0.0),)
    return judged(fact, hits(fact, context))


def hits(fact: str, context: MemoryContext) -> tuple[Candidate, ...]:
    """Return all that a search for a fact brings of blocks in every state, the best first."""
    every = BlockFilter(statuses=tuple(STATUSES))
    return Retrieval(context).search(fact, top_k=_LOOKED_AT, filter=every).hits


def holds(match: FactMatch) -> bool:
    """Return whether a block is taken to hold the fact that it was judged by: it says it, whatever else is near in
    meaning.
    """
    return match.how != "near"


def judged(fact: str, candidates: Sequence[Candidate]) -> tuple[FactMatch, ...]:
    """Return each of some hits by how it says a fact, the best first; those that do not in the order of the search."""
    speakers = _speakers(candidates)
    meant = {speaker for speaker in set(speakers.values()) - {""} if stems(fact) & stems(speaker)}
    matches: list[FactMatch] = []
    for hit in candidates:
        content = hit.block.content
        said_share = share(content, fact)
        # What is said by another person than those the fact names is another fact, unless it says so.
        other = bool(meant) and speakers[hit.block.id] not in {*meant, ""}
        if exactly(content, fact):
            matches.append(FactMatch(hit.block, "exact", 1.0, hit.vector))
        elif said_share >= MOST_WORDS and not other:
            matches.append(FactMatch(hit.block, "words", said_share, hit.vector))
        else:
            matches.append(FactMatch(hit.block, "near", said_share, hit.vector))
    said_well = {id(match): -(match.share + match.cosine) if holds(match) else 0.0 for match in matches}
    return tuple(sorted(matches, key=lambda match: (_ORDER.index(match.how), said_well[id(match)])))


def _speakers(candidates: Sequence[Candidate]) -> dict[str, str]:
    """Return who said each hit: the name that its text begins with, where another hit begins with it too, since a
    message may say who wrote it in its own text; else the speaker that is noted.
    """
    begun = {hit.block.id: match[1] for hit in candidates if (match := _SAYS.match(said(hit.block)))}
    often = Counter(begun.values())
    return {
        hit.block.id: begun[hit.block.id]
        if often[begun.get(hit.block.id, "")] > 1
        else str(hit.block.meta.get("speaker") or "")
        for hit in candidates
    }


def said(block: Block) -> str:
    """Return the content of a block without the name of who says it before it."""
    return block.content.removeprefix(f"{block.meta.get('speaker') or ''}: ")


def how(match: FactMatch) -> str:
    """Return how a block holds the fact, in words."""
    return {"exact": "in its words", "words": "in most of its words", "near": "in other words"}[match.how]


def place(fact: str, block: Block, context: MemoryContext) -> tuple[float, float]:
    """Return where a block carries a fact, as [start, end) in shares of its content: the sentence that says most of its
    words, and is nearest to it in meaning.
    """
    content = block.content
    spans = sentences(content)
    if len(spans) < 2 or exactly(content, fact):
        return place_in(content, fact)
    wanted = stems(fact)
    texts = [content[start:end] for start, end in spans]
    mine, *vectors = context.embedder.embed([fact, *texts])
    worth = [
        len(wanted & stems(text)) / max(len(wanted), 1) + float(vector @ mine)
        for text, vector in zip(texts, vectors, strict=True)
    ]
    start, end = spans[worth.index(max(worth))]
    return start / len(content), end / len(content)


def chosen(fact: str, matches: Sequence[FactMatch]) -> FactMatch | None:
    """Return the block that is meant; None where none holds the fact. Raises UsageError where several do equally
    well.
    """
    if not matches:
        return None
    best = matches[0]
    alike = [
        m for m in matches if m.how == best.how != "near" and m.share + m.cosine >= best.share + best.cosine - _NEAR
    ]
    if len(alike) > 1:
        listing = "; ".join(f"{m.block.id[:12]} “{m.block.title}”" for m in alike[:5])
        raise UsageError(
            f"{len(alike)} blocks hold {fact[:80]!r}: {listing}.",
            title="Several blocks hold the fact",
            way_out="Say more of the fact, or give the start of the id of the block that is meant.",
        )
    return best

"""Find the blocks that state a fact, of any status, and decide how fully a text states it.

A text states a fact by its words, whatever their endings, case and punctuation. Blocks that are only near in meaning
are listed and never taken as the fact's: a fitted rule that did so found no more causes on conversations it had not
been fitted on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache

from tantivy import TextAnalyzer

from amgs.api.context import MemoryContext, Retrieval
from amgs.errors import UsageError
from amgs.incoming import make_storable
from amgs.index.terms import word_analyzer
from amgs.text.words import COMMON_WORDS
from amgs.types import STATUSES, Block, BlockFilter, Candidate
from amgs.types.diagnosis import FactMatch

MOST_WORDS = 0.75
"""Share of the fact's words from which a text states it, if it has all its numbers and names."""
_LESS = 0.15
"""Share of the fact's words that a part of a text may lack, compared with the whole, and still state the fact."""
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"(?<=[\w,;:] )[^\W\d_a-z]\w+")


def states(text: str, fact: str) -> bool:
    """Return whether a text states a fact: in its words, or in most of them with all its numbers and names."""
    return contains_words(text, fact) or word_share(text, fact) >= MOST_WORDS


def contains_words(text: str, fact: str) -> bool:
    """Return whether a text contains the fact's words in sequence."""
    wanted = _word_string(fact)
    return bool(wanted.strip()) and wanted in _word_string(text)


def word_share(text: str, fact: str) -> float:
    """Return the share of the fact's words in a text, in [0, 1]; 0 where it lacks a number or name of the fact, since a
    statement about another person or day is another fact.
    """
    wanted, text_stems = stems(fact), stems(text)
    needed = numbers(fact) | names(fact)
    if not wanted or needed - text_stems:
        return 0.0
    return len(wanted & text_stems) / len(wanted)


def stems(text: str) -> frozenset[str]:
    """Return the stems of a text's words, without the commonest words unless there are no others."""
    all_stems = frozenset(_analyzer().analyze(make_storable(text)))
    return all_stems - _common() or all_stems


def numbers(text: str) -> frozenset[str]:
    """Return the stems in a text that have a digit."""
    return frozenset(word for word in stems(text) if any(c.isdigit() for c in word))


def names(text: str) -> frozenset[str]:
    """Return the stems of words that are written like names: with a capital, and not at the beginning of a sentence."""
    return frozenset(_analyzer().analyze(make_storable(" ".join(_NAME.findall(text))))) - _common()


def leaves_out(part: str, whole: str, fact: str) -> bool:
    """Return whether a part of a text lacks what the whole states of a fact: a number or name, or more than _LESS of
    its words.
    """
    wanted, part_stems = stems(fact), stems(part)
    whole_stems = wanted & stems(whole)
    needed = (numbers(fact) | names(fact)) & whole_stems
    return bool(needed - part_stems) or len(wanted & part_stems) < len(whole_stems) - _LESS * len(wanted)


def locate_by_words(text: str, fact: str) -> tuple[float, float]:
    """Return the sentence with most of the fact's words, as [start, end) in shares of the text's length."""
    wanted = stems(fact)
    start, end = max(sentences(text), key=lambda at: len(wanted & stems(text[at[0] : at[1]])), default=(0, len(text)))
    length = max(len(text), 1)
    return start / length, end / length


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the position of each sentence in a text, as characters [start, end)."""
    spans, at = [], 0
    for sentence in re.split(r"(?<=[.!?])\s+|\n+", text):
        start = text.index(sentence, at)
        at = start + len(sentence)
        if _WORD.search(sentence):
            spans.append((start, at))
    return spans


def _word_string(text: str) -> str:
    """Return a text's words in lower case, with a space before and after each, for comparison."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


@cache
def _analyzer() -> TextAnalyzer:
    return word_analyzer()


@cache
def _common() -> frozenset[str]:
    return frozenset(_analyzer().analyze(" ".join(COMMON_WORDS)))


_LOOKED_AT = 2_000
"""Hits that are checked: more than a search returns, since rank says little here (a superseded block counts half)."""
_NEAR = 0.02
"""Difference of share and cosine within which two blocks state a fact equally well."""
_SAYS = re.compile(r"([^\W\d_a-z][\w.'’-]*(?: [^\W\d_a-z][\w.'’-]*){0,2}): ")
_ORDER = ("exact", "words", "near")


def find_matches(fact: str, context: MemoryContext, block: str = "") -> tuple[FactMatch, ...]:
    """Return the blocks that may state a fact, the best first; `is_match` decides for each.

    block: reference of the block that is meant; it is then the only match, whatever it says.
    """
    if block:
        stored_block = context.block(block)
        return (FactMatch(stored_block, "words", word_share(stored_block.content, fact), 0.0),)
    return classify_hits(fact, search_fact(fact, context))


def search_fact(fact: str, context: MemoryContext) -> tuple[Candidate, ...]:
    """Return the hits of a search for a fact among blocks of every status, the best first."""
    every = BlockFilter(statuses=tuple(STATUSES))
    return Retrieval(context).search(fact, top_k=_LOOKED_AT, filter=every).hits


def is_match(match: FactMatch) -> bool:
    """Return whether a block states the fact, rather than being only near in meaning."""
    return match.how != "near"


def classify_hits(fact: str, candidates: Sequence[Candidate]) -> tuple[FactMatch, ...]:
    """Classify hits by how they state a fact ("exact", "words" or "near"), the best first; "near" ones stay in the
    order of the search.
    """
    speakers = _speakers(candidates)
    meant = {speaker for speaker in set(speakers.values()) - {""} if stems(fact) & stems(speaker)}
    matches: list[FactMatch] = []
    for hit in candidates:
        content = hit.block.content
        said_share = word_share(content, fact)
        # The same statement by another person than the fact names is another fact, unless the words are exact.
        other = bool(meant) and speakers[hit.block.id] not in {*meant, ""}
        if contains_words(content, fact):
            matches.append(FactMatch(hit.block, "exact", 1.0, hit.vector))
        elif said_share >= MOST_WORDS and not other:
            matches.append(FactMatch(hit.block, "words", said_share, hit.vector))
        else:
            matches.append(FactMatch(hit.block, "near", said_share, hit.vector))
    said_well = {id(match): -(match.share + match.cosine) if is_match(match) else 0.0 for match in matches}
    return tuple(sorted(matches, key=lambda match: (_ORDER.index(match.how), said_well[id(match)])))


def _speakers(candidates: Sequence[Candidate]) -> dict[str, str]:
    """Return the speaker of each hit, by block id: the name that its text begins with, where another hit begins with it
    too; else the speaker in its metadata, or "".
    """
    begun = {hit.block.id: match[1] for hit in candidates if (match := _SAYS.match(strip_speaker(hit.block)))}
    often = Counter(begun.values())
    return {
        hit.block.id: begun[hit.block.id]
        if often[begun.get(hit.block.id, "")] > 1
        else str(hit.block.meta.get("speaker") or "")
        for hit in candidates
    }


def strip_speaker(block: Block) -> str:
    """Return the content of a block without its speaker's name in front."""
    return block.content.removeprefix(f"{block.meta.get('speaker') or ''}: ")


def describe_match(match: FactMatch) -> str:
    """Return in words how a block states the fact."""
    return {"exact": "in its words", "words": "in most of its words", "near": "in other words"}[match.how]


def locate_fact(fact: str, block: Block, context: MemoryContext) -> tuple[float, float]:
    """Return the sentence of a block that states a fact, as [start, end) in shares of its content: that with the
    highest sum of shared words and cosine.
    """
    content = block.content
    spans = sentences(content)
    if len(spans) < 2 or contains_words(content, fact):
        return locate_by_words(content, fact)
    wanted = stems(fact)
    texts = [content[start:end] for start, end in spans]
    mine, *vectors = context.embedder.embed([fact, *texts])
    worth = [
        len(wanted & stems(text)) / max(len(wanted), 1) + float(vector @ mine)
        for text, vector in zip(texts, vectors, strict=True)
    ]
    start, end = spans[worth.index(max(worth))]
    return start / len(content), end / len(content)


def choose_match(fact: str, matches: Sequence[FactMatch]) -> FactMatch | None:
    """Return the best match; None where there is none. Raises UsageError where several blocks state the fact equally
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

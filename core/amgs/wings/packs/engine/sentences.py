"""Rate the sentences of the members for a question, by what the search knows; and write a text from the best of them.

A question may need two texts of which it names but one. So words count twice, those of the question and those of the
sentence that answers most of it; and so does a member whose title the best sentences, or the question, name.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import exp
from typing import NamedTuple

import numpy as np

from amgs.frames.assemble import Assembled, FrameSection, Template, TextSpan, assemble, group_of
from amgs.index.bm25 import TextBm25
from amgs.index.lexical import LexicalIndex
from amgs.retrieval.similarity import contributions
from amgs.retrieval.sources import Sources
from amgs.retrieval.waterfall import RetrievalRequest, gather
from amgs.text.sentences import units
from amgs.text.stop_words import COMMON_WORDS
from amgs.types import STATUSES, Block, BlockFilter, Candidate, PassageSpan, ScoreParts, Span
from amgs.types.block import heading_path
from amgs.wings.packs.engine.task import Floats, PackSentence, PackTask
from amgs.wings.packs.values import PackRole

_BEST = (1.0, 0.75, 0.5)
"""What naming a title counts in the best sentence, the second and the third."""
_EVIDENCE, _WORDS, _SHORTEST_NAME = 1 / 8, 2.0, 4
_MOST = 512
"""Members that may answer; the rest together is next to nothing."""
_WORD = re.compile(r"[\w'’-]+")
_ASIDE = re.compile(r"\s*\([^)]*\)")
_GAP = " … "
_TITLES: Mapping[PackRole, str] = {"learning": "Learnings", "source": "Sources"}


def evidence_of(query: str, numbers: Mapping[str, int], sources: Sources) -> dict[str, float]:
    """Return the search's linear score of each member, under that of the best; numbers: by id, as the store counts."""
    within = tuple(sorted(set(numbers.values())))
    request = RetrievalRequest(query, BlockFilter(statuses=STATUSES), within=within, present=within, most=0)
    features = gather(request, sources).evidence if within and any(c.isalnum() for c in query) else None
    if features is None:
        return {}
    linear = contributions(features).sum(axis=1)
    scores = dict(zip(features.numbers.tolist(), (linear - linear.max()).tolist(), strict=True))
    return {block: scores[number] for block, number in numbers.items() if number in scores}


def likely_of(evidence: Mapping[str, float]) -> dict[str, float]:
    """Return how likely each member is the one that answers, for the likeliest of them; together 1."""
    best = sorted(evidence, key=lambda block: -evidence[block])[:_MOST]
    powers = {block: exp(evidence[block]) for block in best}
    every = sum(powers.values())
    return {block: power / every for block, power in powers.items()}


def sentences_of(members: Sequence[tuple[PackRole, Block]]) -> list[PackSentence]:
    """Return the sentences of members, in order."""
    return [PackSentence(block, start, end) for _, block in members for start, end in units(block.content)]


def stems_of(text: str, index: LexicalIndex) -> list[str]:
    """Return the words of a text that mean something, as the index reads them."""
    words = (word for word in _WORD.findall(text.lower()) if word not in COMMON_WORDS)
    return [stem for word in words for stem in index.stems(word)]


def worth_of_sentences(
    query: str, sentences: Sequence[PackSentence], evidence: Mapping[str, float], index: LexicalIndex
) -> Floats:
    """Return (n,) the higher, the more a sentence helps to answer; falling in their order where nothing is asked."""
    asked = stems_of(query, index)
    if not sentences or not any(c.isalnum() for c in query):
        return -np.arange(len(sentences), dtype=np.float64)
    titles = [(heading_path(sentence.block.meta) or (sentence.block.title,))[-1] for sentence in sentences]
    words = [stems_of(f"{title} {sentence.text}", index) for title, sentence in zip(titles, sentences, strict=True)]
    bm25 = TextBm25(words)
    worst = min(evidence.values(), default=0.0)
    known = np.array([evidence.get(sentence.block.id, worst) for sentence in sentences])
    alone = bm25.scores(asked)
    best = np.argsort(-(_by_best(alone) + _EVIDENCE * known), kind="stable")[: len(_BEST)].tolist()
    named = np.array([float(_names(query, title)) for title in titles])
    beside = np.zeros(len(sentences))
    for share, place in zip(_BEST, best, strict=False):
        for row, title in enumerate(titles):
            if sentences[row].block.id != sentences[place].block.id and _names(sentences[place].text, title):
                beside[row] = max(beside[row], share)
    with_answer = _by_best(bm25.scores([*asked, *words[int(np.argmax(alone))]]))
    beyond = _by_best(bm25.scores([*asked, *words[best[0]]]))
    return np.asarray(_WORDS * with_answer + beyond + beside + named + known)


def _by_best(scores: Floats) -> Floats:
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores


def _names(text: str, title: str) -> bool:
    """Return whether a text names a title, brackets aside."""
    bare = _ASIDE.sub("", title).casefold()
    return len(bare) >= _SHORTEST_NAME and bare in text.casefold()


class WrittenText(NamedTuple):
    """A text whose spans tile it, of so many sentences; ids of the members in it, and of those of which a part is."""

    text: str
    spans: tuple[Span, ...]
    tokens: int
    sentences: int
    blocks: tuple[str, ...]
    shortened: tuple[str, ...]


def write_text(task: PackTask, title: str, members: Sequence[tuple[PackRole, Block]]) -> WrittenText:
    """Return the sentences of a task, in falling worth, while they fit into its budget: the learnings, then the
    sources, each by day and source under one heading, in the order of time; " … " where something is left out.
    """
    count, sentences = task.count_tokens, task.sentences
    template = Template("template", title, task.query, task.now)
    members = sorted(members, key=lambda member: (member[0] == "source", member[1].created_at))
    roles = {block.id: role for role, block in members}
    worths = task.relevance(task.query, sentences)
    opening = template.opening() + "".join(template.heading(section.title) for section in _sections(members))
    left = task.budget - count(opening)
    paid: set[object] = set()
    places: list[int] = []
    for place in np.argsort(-worths, kind="stable").tolist():
        block = sentences[place].block
        group = (roles[block.id], *group_of(block))
        cost = count(sentences[place].text)
        if block.id not in paid:
            empty = Candidate(block, ScoreParts(), 0.0, passage=PassageSpan(0, 0))
            cost += count("".join(piece.text for piece in template.block(empty, lambda _: ())))
        cost += 0 if group in paid else count(template.group_heading(block))
        if cost <= left:
            places.append(place)
            paid |= {block.id, group}
            left -= cost
    while True:
        draft = _write([sentences[place] for place in sorted(places)], members, template, task)
        tokens = count(draft.text)
        if tokens <= task.budget:
            break
        places.pop()  # marks where something is left out were not counted, and a sum can be less than the whole
    written = Counter(sentences[place].block.id for place in places)
    whole = {block.id: sum(1 for _ in units(block.content)) for _, block in members if block.id in written}
    shortened = tuple(block for block, count in whole.items() if written[block] < count)
    return WrittenText(draft.text, draft.spans, tokens, len(places), tuple(whole), shortened)


def _sections(members: Sequence[tuple[PackRole, Block]], cut: Mapping[str, PassageSpan] = {}) -> list[FrameSection]:
    """Return one without a title; one for each role where there are both."""
    roles = [role for role in _TITLES if any(own == role for own, _ in members)]
    candidates = [(own, Candidate(b, ScoreParts(), 0.0, passage=cut.get(b.id))) for own, b in members]
    return [
        FrameSection(_TITLES[role] if len(roles) > 1 else "", tuple(c for own, c in candidates if own == role))
        for role in roles
    ]


def _write(
    sentences: Sequence[PackSentence], members: Sequence[tuple[PackRole, Block]], template: Template, task: PackTask
) -> Assembled:
    of: dict[str, list[PackSentence]] = defaultdict(list)
    for sentence in sorted(sentences, key=lambda piece: piece.start):
        of[sentence.block.id].append(sentence)
    cut = {block: PassageSpan(own[0].start, own[-1].end) for block, own in of.items()}
    standing = [(role, block) for role, block in members if block.id in of]
    return assemble(template, _sections(standing, cut), task.count_tokens, lambda c: _extract(of[c.block.id]))


def _extract(sentences: Sequence[PackSentence]) -> tuple[TextSpan, ...]:
    """Return sentences of one member as spans that cite it, with a mark where something is left out."""
    block = sentences[0].block
    runs: list[tuple[int, int]] = []
    for sentence in sentences:
        if runs and not block.content[runs[-1][1] : sentence.start].strip():
            runs[-1] = (runs[-1][0], sentence.end)
        else:
            runs.append((sentence.start, sentence.end))
    spans = [TextSpan(_GAP.lstrip() if block.content[: runs[0][0]].strip() else "")]
    for place, (start, end) in enumerate(runs):
        spans += [TextSpan(_GAP)] if place else []
        spans.append(TextSpan(block.content[start:end], block.id))
    spans.append(TextSpan(_GAP.rstrip() if block.content[runs[-1][1] :].strip() else ""))
    return tuple(spans)

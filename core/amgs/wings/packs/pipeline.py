"""Write a text for a question from packs, through the layers that are switched on, with a record of each: sentences are
rated by the search's evidence, and layers 3 and 5 leave out what does not fit.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from math import exp
from typing import Literal, NamedTuple

import numpy as np

from amgs.frames.assemble import Assembled, FrameSection, Template, TextSpan, assemble, group_of
from amgs.index.lexical import LexicalIndex, TextBm25
from amgs.retrieval.similarity import contributions
from amgs.retrieval.sources import Sources
from amgs.retrieval.waterfall import RetrievalRequest, gather
from amgs.text.prose import units
from amgs.text.words import COMMON_WORDS, plural
from amgs.types import STATUSES, Block, BlockFilter, Candidate, PassageSpan, ScoreParts, Span
from amgs.types.block import heading_path
from amgs.wings.packs.choice import Floats, PackSentence, PackTask, agree_on_packs, retrieve_by_graphs
from amgs.wings.packs.continuum import evolve_worth, weigh_packs
from amgs.wings.packs.proposals import operate_on_packs
from amgs.wings.packs.values import PackLayer, PackRole, PackStage

_BEST = (1.0, 0.75, 0.5)
"""Gain of a title that is named in the best sentence, the second and the third."""
_EVIDENCE, _WORDS, _SHORTEST_NAME = 1 / 8, 2.0, 4
_MOST = 512
"""Most members that may answer; the probability of the rest is negligible."""
_WORD = re.compile(r"[\w'’-]+")
_ASIDE = re.compile(r"\s*\([^)]*\)")
_GAP = " … "
_TITLES: Mapping[PackRole, str] = {"learning": "Learnings", "source": "Sources"}


def evidence_of(query: str, numbers: Mapping[str, int], sources: Sources) -> dict[str, float]:
    """Return the search's linear score of each member, relative to the best. numbers: block numbers by id."""
    within = tuple(sorted(set(numbers.values())))
    request = RetrievalRequest(query, BlockFilter(statuses=STATUSES), within=within, present=within, most=0)
    features = gather(request, sources).evidence if within and any(c.isalnum() for c in query) else None
    if features is None:
        return {}
    linear = contributions(features).sum(axis=1)
    scores = dict(zip(features.numbers.tolist(), (linear - linear.max()).tolist(), strict=True))
    return {block: scores[number] for block, number in numbers.items() if number in scores}


def likely_of(evidence: Mapping[str, float]) -> dict[str, float]:
    """Return the probability of each of the best members to answer; they sum to 1."""
    best = sorted(evidence, key=lambda block: -evidence[block])[:_MOST]
    powers = {block: exp(evidence[block]) for block in best}
    every = sum(powers.values())
    return {block: power / every for block, power in powers.items()}


def sentences_of(members: Sequence[tuple[PackRole, Block]]) -> list[PackSentence]:
    """Return the sentences of members, in order."""
    return [PackSentence(block, start, end) for _, block in members for start, end in units(block.content)]


def stems_of(text: str, index: LexicalIndex) -> list[str]:
    """Return the stems of a text without common words, as in the index."""
    words = (word for word in _WORD.findall(text.lower()) if word not in COMMON_WORDS)
    return [stem for word in words for stem in index.stems(word)]


def worth_of_sentences(
    query: str, sentences: Sequence[PackSentence], evidence: Mapping[str, float], index: LexicalIndex
) -> Floats:
    """Return (n,) scores of how much a sentence helps to answer; without a question they fall in order.

    A question may need two texts but name only one. So two kinds of words count: those of the question, and those of
    the sentence that answers it best; and a member gains if the best sentences, or the question, name its title.
    """
    asked = stems_of(query, index)
    if not sentences or not any(c.isalnum() for c in query):
        return -np.arange(len(sentences), dtype=np.float64)
    titles = [(heading_path(sentence.block.meta) or (sentence.block.title,))[-1] for sentence in sentences]
    words = [stems_of(f"{title} {sentence.text}", index) for title, sentence in zip(titles, sentences, strict=True)]
    bm25 = TextBm25(words)
    worst = min(evidence.values(), default=0.0)
    known = np.array([evidence.get(sentence.block.id, worst) for sentence in sentences])
    alone = bm25.scores(asked)
    best = np.argsort(-(_relative_to_best(alone) + _EVIDENCE * known), kind="stable")[: len(_BEST)].tolist()
    named = np.array([float(_names(query, title)) for title in titles])
    beside = np.zeros(len(sentences))
    for share, place in zip(_BEST, best, strict=False):
        for row, title in enumerate(titles):
            if sentences[row].block.id != sentences[place].block.id and _names(sentences[place].text, title):
                beside[row] = max(beside[row], share)
    with_answer = _relative_to_best(bm25.scores([*asked, *words[int(np.argmax(alone))]]))
    beyond = _relative_to_best(bm25.scores([*asked, *words[best[0]]]))
    return np.asarray(_WORDS * with_answer + beyond + beside + named + known)


def _relative_to_best(scores: Floats) -> Floats:
    """Divide scores by the highest."""
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores


def _names(text: str, title: str) -> bool:
    """Return whether a text contains a title, without its parentheses."""
    short = _ASIDE.sub("", title).casefold()
    return len(short) >= _SHORTEST_NAME and short in text.casefold()


class WrittenText(NamedTuple):
    """A text that its spans tile. blocks: ids of members in it. shortened: those of which only a part is."""

    text: str
    spans: tuple[Span, ...]
    tokens: int
    sentences: int
    blocks: tuple[str, ...]
    shortened: tuple[str, ...]


def write_text(task: PackTask, title: str, members: Sequence[tuple[PackRole, Block]]) -> WrittenText:
    """Write the best sentences that fit into the budget: learnings, then sources, grouped by day and source, in order
    of time; " … " marks omissions.
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
        places.pop()  # omission marks were not counted, and tokens of parts may sum to less than those of the whole
    written = Counter(sentences[place].block.id for place in places)
    whole = {block.id: sum(1 for _ in units(block.content)) for _, block in members if block.id in written}
    shortened = tuple(block for block, count in whole.items() if written[block] < count)
    return WrittenText(draft.text, draft.spans, tokens, len(places), tuple(whole), shortened)


def _sections(members: Sequence[tuple[PackRole, Block]], cut: Mapping[str, PassageSpan] = {}) -> list[FrameSection]:
    """Return a section without a title, or a section per role if there are both."""
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
    """Return sentences of a member as spans that cite it, with omission marks."""
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


def prune_by_attention(task: PackTask) -> str:
    """Keep the half that gets most attention, and more while the text has room."""
    if task.attention is None:
        return "no language model that tells its attention is loaded: everything passes"
    if task.fits():
        return "everything fits: nothing is left out"
    scores = task.attention(task.query, [sentence.text for sentence in task.sentences])
    before, best = len(scores), task.best_sentences(scores, 0.5)
    task.sentences = [task.sentences[place] for place in best]
    return f"{len(best)} of {before} sentences have an attention of {min(scores[n] for n in best):.2g} or more"


_OVERLAP, _HISTORY, _FOCUS, _SAME = 0.6, 0.4, 0.4, 0.8
"""Weights of similarity and history; share of sentences that stay; cosine from which two are equivalent."""


def compress_to_focus(task: PackTask) -> str:
    """Keep the two fifths of the sentences that are most similar to the question and had the best outcomes, and more
    while the text has room; of equivalent sentences, only the best.
    """
    if task.fits():
        return "everything fits: nothing is left out"
    sentences = task.sentences
    vectors = task.embedder.embed([task.query, *(sentence.text for sentence in sentences)])
    outcomes: dict[str, list[float]] = defaultdict(list)
    for use in task.uses:
        for block in use.blocks if use.outcome is not None else ():
            outcomes[block].append(use.outcome or 0.0)
    history = np.array([np.mean(outcomes[sentence.block.id] or [0.5]) for sentence in sentences])
    scores = _OVERLAP * (vectors[1:] @ vectors[0]) + _HISTORY * history
    central = task.best_sentences(scores.tolist(), _FOCUS)
    picks: list[int] = []
    for place in sorted(central, key=lambda place: (-scores[place], place)):
        if all(float(vectors[1 + place] @ vectors[1 + other]) < _SAME for other in picks):
            picks.append(place)
    task.sentences = [sentences[place] for place in sorted(picks)]
    same = len(central) - len(picks)
    return f"{len(central)} of {len(sentences)} sentences are central, {same} of them say what another says"


OF_WORTH: Mapping[PackLayer, Callable[[PackTask], str]] = {
    "graphs": retrieve_by_graphs,
    "continuum": evolve_worth,
    "weights": weigh_packs,
}
"""Layers that change the worth of packs, in the order in which they run."""
OF_SENTENCES: Mapping[PackLayer, Callable[[PackTask], str]] = {
    "attention": prune_by_attention,
    "focus": compress_to_focus,
}
"""Layers that leave out sentences."""


def run_pipeline(
    task: PackTask, layers: Collection[PackLayer], title: str
) -> tuple[WrittenText, tuple[PackStage, ...]]:
    """Write a text of at most the task's budget through the layers; without layers, packs are chosen by the search's
    evidence.
    """
    stages: list[PackStage] = []

    def step(name: str, unit: Literal["packs", "sentences"], run: Callable[[PackTask], str]) -> None:
        before, did = _measure(task, unit), run(task)
        after = _measure(task, unit)
        stages.append(PackStage(name, did, unit, before[0], after[0], before[1], after[1]))

    task.chosen = list(task.members)
    for layer, run in OF_WORTH.items():
        if layer in layers:
            step(layer, "packs", run)
    step("agents" if "agents" in layers else "packs", "packs", agree_on_packs if "agents" in layers else _choose)
    if "operations" in layers:
        step("operations", "packs", operate_on_packs)
    members = _join(task)
    task.sentences = sentences_of(members)
    split = _measure(task, "sentences")
    did = f"{plural(len(members), 'member')} of {plural(len(task.chosen), 'pack')}, each read once"
    stages.append(PackStage("members", did, "sentences", split[0], split[0], _measure(task, "packs")[1], split[1]))
    for layer, run in OF_SENTENCES.items():
        if layer in layers:
            step(layer, "sentences", run)
    before = _measure(task, "sentences")
    written = write_text(task, title, members)
    did = f"the sentences that answer, within {task.budget:,} tokens, of {len(written.blocks)} members, each cited"
    stages.append(PackStage("text", did, "sentences", before[0], written.sentences, before[1], written.tokens))
    return written, tuple(stages)


def _measure(task: PackTask, unit: str) -> tuple[int, int]:
    """Return the number of packs or sentences, and their tokens."""
    if unit == "packs":
        return len(task.chosen), sum(map(task.tokens, task.chosen))
    return len(task.sentences), sum(task.count_tokens(sentence.text) for sentence in task.sentences)


def _choose(task: PackTask) -> str:
    """Choose packs greedily by what they add per token until none fits; a member in several counts once."""
    task.chosen, covered, used = [], set[str](), 0
    left = task.rank_packs()
    while True:
        gains = {name: _gain(task, name, covered) for name in left}
        fitting = [name for name in left if used + task.cost(name) <= task.reach and gains[name] > 0]
        if not fitting:
            break
        best = max(fitting, key=lambda name: (gains[name] / max(task.cost(name), 1), name))
        task.because[best] = f"adds {gains[best]:.2f}"
        task.chosen.append(best)
        left.remove(best)
        used += task.cost(best)
        covered |= {block.id for _, block in task.members[best]}
    for name in task.members:
        if name not in task.chosen:
            gain = gains.get(name, 0.0)
            task.because.setdefault(name, f"no room: would add {gain:.2f}" if gain >= 0.005 else "adds nothing")
    packs = plural(len(task.members), "pack")
    return f"{len(task.chosen)} of {packs} chosen for what answers, within {task.reach:,} tokens"


def _gain(task: PackTask, name: str, covered: Collection[str]) -> float:
    """Return the worth of a pack, less the share that members of chosen packs cover."""
    own = {block.id: task.likely.get(block.id, 0.0) for _, block in task.members[name]}
    every = sum(own.values())
    fresh = sum(likely for block, likely in own.items() if block not in covered)
    return task.worth[name] * (fresh / every if every else float(not own.keys() <= set(covered)))


def _join(task: PackTask) -> list[tuple[PackRole, Block]]:
    """Return the members of the chosen packs, each once."""
    members: dict[str, tuple[PackRole, Block]] = {}
    for name in task.chosen:
        for role, block in task.members[name]:
            members.setdefault(block.id, (role, block))
    return list(members.values())

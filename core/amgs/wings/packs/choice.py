"""Choose packs for a question: layer 1 walks four graphs over packs, and layer 2 asks five agents with different
criteria. `PackTask` is the question on its way to a text; every layer reads and changes it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from math import exp

import numpy as np
from numpy.typing import NDArray

from amgs.decay import hours_between
from amgs.text.embedding import Embedder
from amgs.text.words import plural
from amgs.types import Block
from amgs.wings.packs.values import GRAPHS, Pack, PackGraph, PackLink, PackProposal, PackRole, PackUsage, PackUse

Floats = NDArray[np.float64]
Members = list[tuple[PackRole, Block]]
Attention = Callable[[str, Sequence[str]], Sequence[float]]
"""Returns how much attention a language model pays, from a question, to each of some sentences."""
REACH = 4
"""Packs are chosen within this many times the text's budget, so that their sentences compete. A larger pack counts as
this much, since only its best sentences are read.
"""


@dataclass(frozen=True, slots=True)
class PackSentence:
    """Characters [start, end) of a member's content."""

    block: Block
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.block.content[self.start : self.end]


@dataclass(slots=True)
class PackTask:
    """A question, and what is known of packs; layers change `members`, `worth`, `chosen`, `because` and `sentences`.

    likely: probability of each member to answer, by id. uses: newest first. relevance: rates sentences. worth: by pack,
    how much of the answer it holds.
    """

    query: str
    budget: int
    session: str
    now: datetime
    usages: Mapping[str, PackUsage]
    members: dict[str, Members]
    likely: Mapping[str, float]
    uses: Sequence[PackUse]
    accuracy: Mapping[str, float]
    count_tokens: Callable[[str], int]
    embedder: Embedder
    stems: Callable[[str], frozenset[str]]
    proposals: Callable[[], Sequence[PackProposal]]
    blocks: Callable[[Sequence[str]], Mapping[str, Block]]
    relevance: Callable[[str, Sequence[PackSentence]], Floats]
    attention: Attention | None = None
    worth: dict[str, float] = field(default_factory=dict)
    chosen: list[str] = field(default_factory=list)
    because: dict[str, str] = field(default_factory=dict)
    rationale: dict[str, str] = field(default_factory=dict)
    sentences: list[PackSentence] = field(default_factory=list)
    _sizes: dict[str, int] = field(default_factory=dict)

    @property
    def reach(self) -> int:
        """Tokens within which packs are chosen."""
        return REACH * self.budget

    def tokens(self, name: str) -> int:
        """Return the tokens of a pack's members."""
        for _, block in self.members[name]:
            if block.id not in self._sizes:
                self._sizes[block.id] = self.count_tokens(block.content)
        return sum(self._sizes[block.id] for _, block in self.members[name])

    def fits(self) -> bool:
        """Return whether all sentences fit into the budget."""
        return sum(self.count_tokens(sentence.text) for sentence in self.sentences) <= self.budget

    def best_sentences(self, scores: Sequence[float], share: float) -> list[int]:
        """Return the indices of the best share of the sentences, and of more while the budget has room, rising."""
        best, tokens = list[int](), 0
        for place in sorted(range(len(scores)), key=lambda place: (-scores[place], place)):
            if len(best) >= share * len(scores) and tokens >= self.budget:
                break
            best.append(place)
            tokens += self.count_tokens(self.sentences[place].text)
        return sorted(best)

    def cost(self, name: str) -> int:
        """Return the tokens that a pack takes of the reach."""
        return min(self.tokens(name), self.reach)

    def rank_packs(self) -> list[str]:
        """Return the packs with any worth, best first; equal ones by name."""
        return sorted((name for name, worth in self.worth.items() if worth > 0), key=lambda n: (-self.worth[n], n))


def session_chains(uses: Sequence[PackUse]) -> list[list[PackUse]]:
    """Return the readings of each session, oldest first. uses: the log, newest first."""
    chains: dict[str, list[PackUse]] = {}
    for use in reversed(uses):
        if use.session:
            chains.setdefault(use.session, []).append(use)
    return list(chains.values())


Graph = Mapping[str, Mapping[str, float]]
_NEAREST, _LEAST_SIMILAR, _DEPTH, _RECENT_DAYS = 5, 0.7, 2, 7.0
_FUSED, _RANK = 0.25, 10.0
"""Gain of the pack that a walk ranks first, as a share of the best pack's worth; and how fast it falls by rank."""
_WORD = re.compile(r"\w+")
_WHEN = re.compile(r"\b(?:when|recent\w*|last|latest|lately|before|after|yesterday|today|ago|since|again)\b", re.I)
_WHY = re.compile(r"\b(?:why|because|caus\w+|lead\w*|led|result\w*|work(?:s|ed)|help(?:s|ed)?|fix(?:es|ed)?)\b", re.I)


def build_graphs(
    packs: Mapping[str, Pack], members: Mapping[str, Members], uses: Sequence[PackUse]
) -> dict[PackGraph, Graph]:
    """Return the four graphs. members: with vectors, if they have any. uses: newest first.

    A graph maps each pack to the packs that it leads to, with weights in (0, 1].
    """
    means = {
        name: np.mean(vectors, axis=0)
        for name in packs
        if (vectors := [block.embedding for _, block in members[name] if block.embedding is not None])
    }
    centres = {name: mean / max(float(np.linalg.norm(mean)), 1e-9) for name, mean in means.items()}
    semantic: dict[str, dict[str, float]] = {}
    matrix = np.array(list(centres.values()))
    for name, row in zip(centres, matrix @ matrix.T if centres else (), strict=True):
        near = sorted(((float(s), n) for s, n in zip(row, centres, strict=True) if n != name), reverse=True)
        semantic[name] = {n: min(cosine, 1.0) for cosine, n in near[:_NEAREST] if cosine > 0}
    entities = {name: _entities(pack, members[name]) for name, pack in packs.items()}
    shared = {
        name: {n: len(own & o) / len(own | o) for n, o in entities.items() if n != name and own & o}
        for name, own in entities.items()
    }
    return {"semantic": semantic, "temporal": transitions(uses), "causal": _outcome_graph(uses), "entity": shared}


def _names(blocks: Iterable[Block]) -> list[str]:
    """Return all entities of the blocks."""
    return [str(entity) for block in blocks for entity in block.meta.get("entities") or ()]


def _entities(pack: Pack, members: Members) -> frozenset[str]:
    """Return a pack's keywords and its members' entities, in lower case."""
    return frozenset(word.lower() for word in (*pack.keywords, *_names(block for _, block in members)))


def transitions(uses: Sequence[PackUse]) -> Graph:
    """Return how likely each pack is read right after another within a session."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for chain in session_chains(uses):
        for first, then in pairwise(chain):
            if first.name != then.name:
                counts[first.name][then.name] += 1
    return {name: {other: n / after.total() for other, n in after.items()} for name, after in counts.items()}


def _outcome_graph(uses: Sequence[PackUse]) -> Graph:
    """Return the mean outcome of each pack after another was read in the same session, if above 0."""
    outcomes: dict[tuple[str, str], list[float]] = defaultdict(list)
    for chain in session_chains(uses):
        for place, use in enumerate(chain):
            if use.outcome is not None:
                for name in {before.name for before in chain[:place]} - {use.name}:
                    outcomes[name, use.name].append(use.outcome)
    graph: dict[str, dict[str, float]] = defaultdict(dict)
    for (name, other), results in outcomes.items():
        if any(results):
            graph[name][other] = sum(results) / len(results)
    return graph


def intents_of(query: str, names: Iterable[str]) -> tuple[PackGraph, ...]:
    """Return the graphs for a question: temporal if it asks for a time, causal for a reason, entity if it contains an
    entity of the names, else semantic.
    """
    low = f" {' '.join(_WORD.findall(query.lower()))} "
    named = any(name and f" {name.lower()} " in low for name in names)
    asks = {"temporal": _WHEN.search(query), "causal": _WHY.search(query), "entity": named}
    return tuple(graph for graph in GRAPHS if asks.get(graph)) or ("semantic",)


def retrieve_by_graphs(task: PackTask) -> str:
    """Walk the graphs that fit the question, and raise the worth of the packs reached, by rank in each."""
    graphs = build_graphs({name: usage.pack for name, usage in task.usages.items()}, task.members, task.uses)
    intents = intents_of(task.query, _names(block for own in task.members.values() for _, block in own))
    best, notes = max(task.worth.values(), default=0.0), []
    starts = [_seeds(task, intent) for intent in intents]
    for intent, seeds in zip(intents, starts, strict=True):
        reached = walk(seeds, graphs[intent], _LEAST_SIMILAR if intent == "semantic" else 0.0)
        for rank, name in enumerate(sorted(reached, key=lambda n: (-reached[n], n))):
            task.worth[name] += _FUSED * best * _RANK / (_RANK + rank) / len(intents)
        notes.append(f"{intent}: begins at {plural(len(seeds), 'pack')}, reaches {len(reached) - len(seeds)} more")
    return "; ".join(notes)


def _seeds(task: PackTask, intent: PackGraph) -> dict[str, float]:
    """Return the packs from which a walk begins, with weights."""
    if intent == "semantic":
        best = task.rank_packs()[:_NEAREST]
        return {name: task.worth[name] / task.worth[best[0]] for name in best}
    if intent == "causal":
        return {name: usage.success for name, usage in task.usages.items() if usage.success}
    if intent == "temporal":
        days = {n: hours_between(u.last_used, task.now) / 24 for n, u in task.usages.items() if u.last_used is not None}
        return {name: exp(-max(ago, 0.0) / _RECENT_DAYS) for name, ago in days.items() if ago <= _RECENT_DAYS}
    asked, counts = task.stems(task.query), Counter[str]()
    for name, own in task.members.items():
        stems = map(task.stems, _entities(task.usages[name].pack, own))
        counts[name] = sum(bool(entity) and entity <= asked for entity in stems)
    most = max(counts.values(), default=0)
    return {name: count / most for name, count in counts.items() if count}


def walk(seeds: Mapping[str, float], graph: Graph, least: float = 0.0) -> dict[str, float]:
    """Return what is reached from seeds within two steps along edges above `least`, each with the weight of its best
    path.
    """
    reached, border = dict(seeds), dict(seeds)
    for _ in range(_DEPTH):
        beyond: dict[str, float] = {}
        for name, sure in border.items():
            for other, weight in graph.get(name, {}).items():
                if weight > least and sure * weight > max(reached.get(other, 0.0), beyond.get(other, 0.0)):
                    beyond[other] = sure * weight
        reached |= beyond
        border = beyond
    return reached


def links_of(name: str, graphs: Mapping[PackGraph, Graph]) -> tuple[PackLink, ...]:
    """Return the links of a pack to others, by name, then by graph."""
    links = [PackLink(o, graph, w) for graph in GRAPHS for o, w in graphs[graph].get(name, {}).items() if w >= 0.01]
    return tuple(sorted(links, key=lambda link: (link.name, GRAPHS.index(link.graph))))


_ROUNDS, _PICKS, _CANDIDATES = 3, 5, 20
_SUPPORT, _SMALLER, _SAME_DOMAIN, _RECENCY_DAYS = 0.2, 0.7, 0.5, 30.0
"""Weight of the others' votes beside an agent's own score; relative size below which a pack replaces a larger pack;
share of its members that must be in the larger pack; days in which a reading's weight falls to 1/e.
"""


def _estimate_success(task: PackTask, name: str) -> float:
    """Return the mean outcome of a pack's readings, with two prior outcomes of .5."""
    usage = task.usages[name]
    return (1.0 + (usage.success or 0.0) * usage.judged) / (2.0 + usage.judged)


def _keyword_overlap(task: PackTask, name: str) -> float:
    """Return the share of the question's stems that the pack's name, title, query and keywords contain."""
    pack, asked = task.usages[name].pack, task.stems(task.query)
    stems = task.stems(" ".join((pack.name, pack.title, pack.query, *pack.keywords)))
    return (0.1 + len(asked & stems)) / (0.1 + len(asked))


ROLES: Mapping[str, Callable[[PackTask, str], float]] = {
    "relevance": lambda _task, _name: 1.0,
    "efficiency": lambda task, name: 1.0 / max(task.cost(name), 1),
    "quality": _estimate_success,
    "recency": lambda task, name: exp(-task.usages[name].unread / _RECENCY_DAYS),
    "domain": _keyword_overlap,
}
"""Factor by which each agent multiplies the worth of a pack."""


def pick_packs(task: PackTask) -> dict[str, list[str]]:
    """Return each agent's choices after three rounds, best first; writes their rationale into the task.

    In each round an agent sees the choices of the others and revises its own.
    """
    candidates = task.rank_packs()[:_CANDIDATES]
    scores = {who: _scale({n: task.worth[n] * role(task, n) for n in candidates}) for who, role in ROLES.items()}
    picks = {agent: _best(own) for agent, own in scores.items()}
    for _ in range(_ROUNDS):
        shared = dict(picks)
        for agent, own in scores.items():
            heard = _scale(_votes({who: theirs for who, theirs in shared.items() if who != agent}, {}))
            picks[agent] = _best({name: own[name] + _SUPPORT * heard.get(name, 0.0) for name in candidates})
        picks["relevance"] = _swap_for_smaller(task, picks["relevance"], picks["efficiency"])
    for agent, names in picks.items() if candidates else ():
        alike = [who for who, theirs in picks.items() if who != agent and names[0] in theirs[:2]]
        reason = f"{names[0]} ({scores[agent][names[0]]:.2f}) first of {', '.join(names)}"
        task.rationale[agent] = f"{reason}; so would {', '.join(alike)}" if alike else reason
    return picks


def _best(scores: Mapping[str, float]) -> list[str]:
    """Return the names with the best scores."""
    return sorted(scores, key=lambda name: (-scores[name], name))[:_PICKS]


def _votes(picks: Mapping[str, Sequence[str]], accuracy: Mapping[str, float]) -> dict[str, float]:
    """Return each pack's votes: 1/rank in each agent's choices, weighted by its accuracy."""
    votes: dict[str, float] = defaultdict(float)
    for agent, own in picks.items():
        for rank, name in enumerate(own, 1):
            votes[name] += accuracy.get(agent, 0.5) / rank
    return votes


def _scale(scores: Mapping[str, float]) -> dict[str, float]:
    """Divide scores by the highest."""
    most = max(scores.values(), default=0.0) or 1.0
    return {name: score / most for name, score in scores.items()}


def _swap_for_smaller(task: PackTask, picks: Sequence[str], efficient: Sequence[str]) -> list[str]:
    """Replace packs by efficient ones that are much smaller and have most of their members in them."""
    blocks = {name: {block.id for _, block in task.members[name]} for name in (*picks, *efficient)}

    def replaces(other: str, name: str) -> bool:
        smaller = task.tokens(other) < _SMALLER * task.tokens(name)
        return smaller and len(blocks[name] & blocks[other]) >= _SAME_DOMAIN * len(blocks[other])

    return list(dict.fromkeys(next((o for o in efficient if replaces(o, name)), name) for name in picks))


def agree_on_packs(task: PackTask) -> str:
    """Choose packs in order of votes, weighted by the agents' accuracy, while they fit."""
    picks = pick_packs(task)
    votes = _votes(picks, task.accuracy)
    task.chosen, used = [], 0
    for name in sorted(votes, key=lambda n: (-votes[n], n)):
        fits = used + task.cost(name) <= task.reach
        task.because[name] = f"{votes[name]:.2f} votes" + ("" if fits else ", no room")
        if fits:
            task.chosen.append(name)
            used += task.cost(name)
    right = ", ".join(f"{agent} {task.accuracy.get(agent, 0.5):.2f}" for agent in picks)
    voted = plural(len(votes), "pack")
    return f"{len(picks)} agents, {_ROUNDS} rounds, {voted} with votes; how often each was right: {right}"


def accuracies(votes: Sequence[tuple[str, float, float]]) -> dict[str, float]:
    """Return each agent's accuracy: the mean outcome of its votes; .5 without any."""
    own = {agent: [(0.5, 1.0), *((v * out, v) for who, v, out in votes if who == agent)] for agent in ROLES}
    return {agent: sum(hit for hit, _ in of) / sum(vote for _, vote in of) for agent, of in own.items()}

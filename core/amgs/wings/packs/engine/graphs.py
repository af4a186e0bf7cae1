"""Layer 1: four graphs over packs. A question chooses graphs, walks them, and raises the packs that the walks reach.

A graph maps each pack to the packs that it leads to, with weights in (0, 1].
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import exp

import numpy as np

from amgs.decay import hours_between
from amgs.text.plural import plural
from amgs.types import Block
from amgs.wings.packs.engine.task import Members, PackTask, session_chains
from amgs.wings.packs.values import GRAPHS, Pack, PackGraph, PackLink, PackUse

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
    """Return the four graphs. members: with vectors, if they have any. uses: newest first."""
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
    """Return the graphs for a question: temporal if it asks for a time, causal for a reason, entity if it contains one
    of the names, else semantic.
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
        best = task.ranked()[:_NEAREST]
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

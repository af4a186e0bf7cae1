"""Layer 1: four graphs over packs. A question is routed to those that it asks for, walks them, and fuses what it meets.

A graph is, for each pack, the packs that it leads to with a weight in (0, 1].
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import exp

import numpy as np

from amgs.decay import hours_between
from amgs.types import Block
from amgs.wings.packs.engine.task import PackTask, session_chains
from amgs.wings.packs.values import GRAPHS, Pack, PackGraph, PackLink, PackRole, PackUse

Graph = Mapping[str, Mapping[str, float]]
_NEAREST, _LEAST_SIMILAR, _DEPTH = 5, 0.7, 2
_RECENT_DAYS = 7.0
_FUSED, _RANK = 0.25, 10.0
"""What a pack that the walks meet first gains, of the worthiest pack; and how fast that falls by rank."""
_WORD = re.compile(r"\w+")
_WHEN = re.compile(r"\b(?:when|recent\w*|last|latest|lately|before|after|yesterday|today|ago|since|again)\b", re.I)
_WHY = re.compile(r"\b(?:why|because|caus\w+|lead\w*|led|result\w*|work(?:s|ed)|help(?:s|ed)?|fix(?:es|ed)?)\b", re.I)


def build_graphs(
    packs: Mapping[str, Pack], members: Mapping[str, Sequence[tuple[PackRole, Block]]], uses: Sequence[PackUse]
) -> dict[PackGraph, Graph]:
    """Return the four graphs of packs. members: with vectors, as far as they have one. uses: the log, the newest
    first.
    """
    semantic: dict[str, dict[str, float]] = {}
    centres = {name: centre for name in packs if (centre := _centre(members[name])) is not None}
    if len(centres) > 1:
        names, matrix = list(centres), np.stack(list(centres.values()))
        for row, similar in zip(names, matrix @ matrix.T, strict=True):
            near = sorted(
                ((float(s), name) for s, name in zip(similar, names, strict=True) if name != row), reverse=True
            )
            semantic[row] = {name: min(cosine, 1.0) for cosine, name in near[:_NEAREST] if cosine > 0}
    entities = {name: entities_of(pack, (block for _, block in members[name])) for name, pack in packs.items()}
    shared = {
        name: {
            other: len(own & theirs) / len(own | theirs)
            for other, theirs in entities.items()
            if other != name and own & theirs
        }
        for name, own in entities.items()
    }
    return {"semantic": semantic, "temporal": transitions(uses), "causal": _causes(uses), "entity": shared}


def _centre(members: Iterable[tuple[PackRole, Block]]) -> np.ndarray | None:
    vectors = [block.embedding for _, block in members if block.embedding is not None]
    if not vectors:
        return None
    mean = np.mean(vectors, axis=0)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-9))


def entities_of(pack: Pack, blocks: Iterable[Block]) -> frozenset[str]:
    """Return the keywords of a pack, and the names in its members, in small letters."""
    names = (str(entity) for block in blocks for entity in block.meta.get("entities") or ())
    return frozenset(word.lower() for word in (*pack.keywords, *names))


def transitions(uses: Sequence[PackUse]) -> Graph:
    """Return how likely each pack was read right after another, by what sessions read."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for chain in session_chains(uses):
        for first, then in pairwise(chain):
            if first.name != then.name:
                counts[first.name][then.name] += 1
    return {name: {other: n / after.total() for other, n in after.items()} for name, after in counts.items()}


def _causes(uses: Sequence[PackUse]) -> Graph:
    """Return the mean outcome of each pack where another was read before it in a session; packs that led to nothing
    useful are led to by none.
    """
    outcomes: dict[tuple[str, str], list[float]] = defaultdict(list)
    for chain in session_chains(uses):
        for place, use in enumerate(chain):
            for name in {before.name for before in chain[:place]} - {use.name}:
                if use.outcome is not None:
                    outcomes[name, use.name].append(use.outcome)
    graph: dict[str, dict[str, float]] = defaultdict(dict)
    for (name, other), seen in outcomes.items():
        if any(seen):
            graph[name][other] = sum(seen) / len(seen)
    return graph


def intents_of(query: str, names: Iterable[str]) -> tuple[PackGraph, ...]:
    """Return the graphs that a question asks for: temporal for a time, causal for a reason, entity where it names one
    of the names that packs hold, semantic for anything else.
    """
    low = " ".join(_WORD.findall(query.lower()))
    named = any(name and f" {name.lower()} " in f" {low} " for name in names)
    asks = {"temporal": _WHEN.search(query), "causal": _WHY.search(query), "entity": named}
    return tuple(graph for graph in GRAPHS if asks.get(graph)) or ("semantic",)


def retrieve_by_graphs(task: PackTask) -> str:
    """Walk the graphs that the question asks for, and add to the worth of what the walks meet, by rank in each."""
    packs = {name: usage.pack for name, usage in task.usages.items()}
    graphs = build_graphs(packs, task.members, task.uses)
    names = {
        str(entity) for own in task.members.values() for _, block in own for entity in block.meta.get("entities") or ()
    }
    intents = intents_of(task.query, names)
    met: dict[str, float] = defaultdict(float)
    notes = []
    for intent in intents:
        seeds = _seeds(task, intent)
        reached = walk(seeds, graphs[intent], _LEAST_SIMILAR if intent == "semantic" else 0.0)
        for rank, name in enumerate(sorted(reached, key=lambda n: (-reached[n], n))):
            met[name] += _RANK / (_RANK + rank) / len(intents)
        notes.append(f"{intent}: {len(seeds)} begin, {len(reached) - len(seeds)} more are reached")
    best = max(task.worth.values(), default=0.0)
    for name, share in met.items():
        task.worth[name] += _FUSED * share * best
    return "; ".join(notes)


def _seeds(task: PackTask, intent: PackGraph) -> dict[str, float]:
    """Return where a walk begins, and how surely."""
    if intent == "semantic":
        best = task.ranked()[:_NEAREST]
        return {name: task.worth[name] / task.worth[best[0]] for name in best}
    if intent == "entity":
        asked = task.stems(task.query)
        stems_by_name = {
            name: [task.stems(entity) for entity in entities_of(task.usages[name].pack, (b for _, b in own))]
            for name, own in task.members.items()
        }
        named = {
            name: sum(bool(entity_stems) and entity_stems <= asked for entity_stems in stems)
            for name, stems in stems_by_name.items()
        }
        most = max(named.values(), default=0)
        return {name: count / most for name, count in named.items() if count}
    if intent == "causal":
        return {name: usage.success for name, usage in task.usages.items() if usage.success}
    days = {n: hours_between(u.last_used, task.now) / 24.0 for n, u in task.usages.items() if u.last_used is not None}
    return {name: exp(-max(ago, 0.0) / _RECENT_DAYS) for name, ago in days.items() if ago <= _RECENT_DAYS}


def walk(seeds: Mapping[str, float], graph: Graph, least: float = 0.0) -> dict[str, float]:
    """Return what is reached from seeds within two steps along edges above a weight, each as surely as its best
    path.
    """
    reached = dict(seeds)
    border = dict(seeds)
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
    """Return what ties a pack to others, by name, then by graph."""
    links = [PackLink(o, graph, w) for graph in GRAPHS for o, w in graphs[graph].get(name, {}).items() if w >= 0.01]
    return tuple(sorted(links, key=lambda link: (link.name, GRAPHS.index(link.graph))))

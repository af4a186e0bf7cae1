"""What answers the query stays; in place of the rest stands a digest of each topic: the sentences that say most of it.

The words of a topic are covered greedily by gain per token, each once (budgeted maximum coverage, Lin and Bilmes 2010).
A word weighs more the fewer topics have it; a finding (a number, date, path, command or name) weighs as much again for
each of its kind. The digest is blind to the query: it is there for what nobody asked yet.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from heapq import heapify, heappop, heappush

from amgs.conversation.cohesion import stems
from amgs.conversation.material import Draft, Material
from amgs.conversation.strategies.extractive import keep_best, keep_protected

_FOR_TOPICS = 0.33
"""The share of the room that the digest takes where there is a query."""
_FINDING = 3.0
"""What a finding weighs beside the rarest word."""
_LONGEST = 60
"""Tokens of a sentence or line; of longer ones only the findings are cited."""


def digest(draft: Draft) -> None:
    """Keep what is protected and what answers the query within their shares, then cite."""
    keep_protected(draft)
    if draft.material.rates:
        room = draft.material.budget - draft.used
        keep_best(draft, draft.used + int(room * (1.0 - _FOR_TOPICS)))
    cite_topics(draft)


def cite_topics(draft: Draft) -> None:
    """Cite of what is not shown yet what covers most of its topic for its tokens, while there is room."""
    material = draft.material
    topics = material.topics()
    waiting: list[tuple[float, int, int, int]] = []
    says: dict[tuple[int, int], Mapping[Hashable, float]] = {}
    atom_of = {place: atom for atom in material.atoms for place in atom}
    for topic, found in enumerate(_said(draft, topics)):
        for (place, number), weights in found.items():
            says[place, number] = weights
            gain = sum(weights.values()) / (material.piece_cost(place, number) + material.cite_cost(place))
            waiting.append((-gain, -place, number, topic))
    heapify(waiting)
    covered: list[set[Hashable]] = [set() for _ in topics]
    cites: dict[int, tuple[int, ...]] = {}
    while waiting:
        gain, negative, number, topic = heappop(waiting)
        place = -negative
        atom = atom_of[place]
        taken = {n: cites[n] for n in atom if n in cites}
        wanted = {**taken, place: tuple(sorted({*cites.get(place, ()), number}))}
        own = material.piece_cost(place, number) + (0 if place in cites else material.cite_cost(place))
        now = -sum(w for word, w in says[place, number].items() if word not in covered[topic]) / own
        if now > gain + 1e-12:  # others have said some of it by now
            if now < 0:
                heappush(waiting, (now, negative, number, topic))
            continue
        changes = material.citing(atom, wanted)
        if draft.used + draft.cost(changes) > material.budget:
            continue
        draft.change(changes, "cited for its topic")
        cites |= wanted
        covered[topic] |= says[place, number].keys()


def _said(
    draft: Draft, topics: Sequence[tuple[int, int]]
) -> list[dict[tuple[int, int], dict[Hashable, float]]]:
    """Of each topic what each piece says of it: words and findings with their weights, by (place, piece)."""
    material = draft.material
    counted = [
        stems("\n".join(material.messages[place].text for place in range(start, end)))
        for start, end in topics
    ]
    among = Counter(stem for words in counted for stem in words)
    rarest = math.log(1 + (1 + len(topics)))
    made = []
    for (start, end), words in zip(topics, counted, strict=True):
        weight = {
            stem: (1 + math.log(n)) * math.log(1 + (1 + len(topics)) / among[stem])
            for stem, n in words.items()
        }
        found: dict[tuple[int, int], dict[Hashable, float]] = {}
        for place in range(start, end):
            if draft.fates[place][0] == "dropped":
                found |= _of_message(material, place, weight, _FINDING * rarest)
        made.append(found)
    return made


def _of_message(
    material: Material, place: int, weight: Mapping[str, float], finding: float
) -> dict[tuple[int, int], dict[Hashable, float]]:
    message, pieces = material.messages[place], material.pieces(place)
    findings = [(slot, a, b) for slot, a, b in pieces if slot != "sentence"]
    covered = [False] * len(findings)
    made: dict[tuple[int, int], dict[Hashable, float]] = {}
    for number, (slot, start, end) in enumerate(pieces):
        if slot != "sentence" or material.piece_cost(place, number) > _LONGEST:
            continue
        says: dict[Hashable, float] = {stem: weight.get(stem, 0.0) for stem in stems(message.text[start:end])}
        for n, (kind, a, b) in enumerate(findings):
            if start <= a and b <= end:
                covered[n] = True
                says[kind, message.text[a:b]] = finding
        made[place, number] = says
    for n, (kind, a, b) in enumerate(findings):
        if not covered[n]:
            made[place, len(pieces) - len(findings) + n] = {(kind, message.text[a:b]): finding}
    return made

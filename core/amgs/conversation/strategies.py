"""Ways to fit a conversation into a budget. Each fills a draft in which what is CRITICAL is kept already.

All but `mask` raise units (atoms, or topics) a level at a time, the one first that gains most for its tokens. A level
is a view over the messages themselves: a summary is never summarised.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from heapq import heappop, heappush

from amgs.conversation.citing import source
from amgs.conversation.cohesion import stems
from amgs.conversation.material import KEPT, MASKED, Atom, Cited, Draft, Fate, Material
from amgs.conversation.protection import Protection
from amgs.conversation.slots import NO_NAMES, ElementClass, elements_of
from amgs.text.stop_words import COMMON_WORDS
from amgs.types.conversation import ContextStrategy

Level = tuple[Mapping[int, Fate], float]
"""What becomes of the messages of a unit, and what that gives."""
Weigh = Callable[[int], tuple[float, ...]]
"""What each sentence of a message gives of what the whole message gives; they sum to 1."""

_SHORT = 200
"""Tokens of a message that `hybrid` keeps whole or not at all: cutting it would save little and tear it."""
_MATCH = 8.0
"""So many times what its length is worth is a sentence that has all words of the query that the message has."""
_EXTRACT = 1 / 3
"""The share of a topic's tokens that its extract takes."""
_LARGEST = 0.1
"""The share of the budget that a topic takes at most as one; a larger one is in parts."""
_FINDINGS = 12
"""Findings of a topic that its line has, the latest of each text."""


def fill(draft: Draft, strategy: ContextStrategy) -> None:
    """Keep what is protected within its shares, then what gives most for its tokens, while there is room."""
    if strategy == "mask":
        _mask(draft)
        return
    cite_asked(draft)
    _keep_protected(draft, strategy)
    material = draft.material
    if not material.rates:
        for atom in sorted(material.atoms, key=lambda atom: -atom[-1]):
            draft.change(_find_room(draft, atom), "recent, and there is room")
        return
    weigh = _sentence_weights(material)
    if strategy in ("extractive", "hybrid"):
        units = [(atom,) for atom in material.atoms if draft.is_dropped(atom)]
        _raise(draft, units, [_atom_levels(material, unit[0], strategy, weigh) for unit in units], "answers the query")
    else:
        topics = _by_topic(draft)
        _raise(
            draft, topics, [_topic_levels(material, topic, strategy, weigh) for topic in topics], "its topic answers it"
        )


def _raise(draft: Draft, units: Sequence[Sequence[Atom]], levels: Sequence[Sequence[Level]], because: str) -> None:
    """Greedily by what is gained for each token that it takes now: beside something kept a unit needs no mark of a gap
    of its own, and between two it saves one.
    """
    of = {place: number for number, unit in enumerate(units) for atom in unit for place in atom}
    values, latest = [0.0] * len(units), [0.0] * len(units)
    waiting: list[tuple[float, int, int]] = []

    def find_best(number: int) -> tuple[float, Level] | None:
        best = None
        for changes, value in levels[number]:
            if value > values[number] and draft.used + (cost := draft.cost(changes)) <= draft.material.budget:
                gain = (value - values[number]) / max(cost, 1)
                best = max(best or (0.0, ({}, 0.0)), (gain, (changes, value)), key=lambda way: way[0])
        return best

    def wait(number: int) -> None:
        if best := find_best(number):
            latest[number] = -best[0]
            heappush(waiting, (latest[number], -units[number][0][-1], number))

    for number in range(len(units)):
        wait(number)
    while waiting:
        gain, _, number = heappop(waiting)
        best = find_best(number) if gain == latest[number] else None
        if best is None:
            continue
        changes, values[number] = best[1]
        whole = all(fate != "digested" for fate, _ in changes.values())
        draft.change(changes, because if whole else f"{because}, in part")
        latest[number] = 0.0
        beside = {of[near] for place in changes for near in (place - 1, place + 1) if near in of}
        for other in {number, *beside}:
            wait(other)


def _atom_levels(material: Material, atom: Atom, strategy: ContextStrategy, weigh: Weigh) -> list[Level]:
    """Whole, or with its outputs of tools as a line each; of a long message one, two, four … sentences."""
    levels: list[Level] = []
    tools = [place for place in atom if material.masked[place] < material.costs[place]]
    if tools:
        rest = sum(material.rates[place] * material.costs[place] for place in atom if place not in tools)
        levels.append(({**dict.fromkeys(atom, KEPT), **dict.fromkeys(tools, MASKED)}, rest))
    if strategy == "hybrid":
        cites: dict[int, Cited] = {}
        for place in (place for place in atom if material.costs[place] > _SHORT):
            shares = weigh(place)
            ranked = sorted(range(len(shares)), key=lambda n: (-shares[n] / material.piece_cost(place, n), n))
            for size in (2**step for step in range(len(ranked).bit_length())):
                own = {**cites, place: tuple(sorted(ranked[:size]))}
                levels.append((material.cite(atom, own), _value(material, own, weigh)))
    return [*levels, (dict.fromkeys(atom, KEPT), material.value(atom))]


def _topic_levels(material: Material, topic: Sequence[Atom], strategy: ContextStrategy, weigh: Weigh) -> list[Level]:
    """Findings, an extract, the whole; of `topic` the extract alone."""
    extract = _extract(material, topic, weigh)
    cited = [extract] if strategy == "topic" else [_findings(material, topic), extract]
    levels: list[Level] = []
    for cites in filter(None, cited):
        changes: dict[int, Fate] = {}
        for atom in topic:
            own = {place: cites[place] for place in atom if place in cites}
            changes |= material.cite(atom, own) if own else {}
        levels.append((changes, _value(material, cites, weigh)))
    if levels and strategy == "topic":
        return levels
    return [*levels, ({place: KEPT for atom in topic for place in atom}, sum(map(material.value, topic)))]


def _sentence_weights(material: Material) -> Weigh:
    """For a message the share of each of its sentences in what it gives, by length and the words of the query."""
    asked = stems(material.query)
    counted = [stems(m.text) for m in material.messages] if asked else []
    among = Counter(stem for words in counted for stem in words if stem in asked)
    weight = {stem: math.log(1 + len(counted) / among[stem]) for stem in asked if among[stem]}
    total = sum(weight.values())

    @cache
    def weigh(place: int) -> tuple[float, ...]:
        text = material.messages[place].text
        weights = []
        for number, (slot, start, end) in enumerate(material.pieces(place)):
            if slot == "sentence":
                has = stems(text[start:end]) if total else {}
                match = sum(weight[stem] for stem in has if stem in weight) / total if total else 0.0
                weights.append(material.piece_cost(place, number) * (1.0 + _MATCH * match))
        every = sum(weights)
        return tuple(piece_weight / every for piece_weight in weights)

    return weigh


def _value(material: Material, cites: Mapping[int, Cited], weigh: Weigh) -> float:
    """Return what citations give: their share of their messages; a finding by its length."""
    total = 0.0
    for place, pieces in cites.items():
        shares, cost = weigh(place), max(material.costs[place], 1)
        share = sum(shares[n] if n < len(shares) else material.piece_cost(place, n) / cost for n in pieces)
        total += material.rates[place] * material.costs[place] * min(share, 1.0)
    return total


def _by_topic(draft: Draft) -> list[list[Atom]]:
    """Return the atoms of each topic that are not kept, in parts no larger than _LARGEST; an atom belongs to the topic
    of its first message.
    """
    material = draft.material
    topics = material.topics()
    groups: list[list[Atom]] = [[] for _ in topics]
    of = {place: n for n, (start, end) in enumerate(topics) for place in range(start, end)}
    for atom in material.atoms:
        if draft.is_dropped(atom):
            groups[of[atom[0]]].append(atom)
    most = max(int(material.budget * _LARGEST), 1)
    return [part for atoms in groups for part in _parts(material, atoms, most)]


def _parts(material: Material, atoms: list[Atom], most: int) -> Iterator[list[Atom]]:
    """Yield neighbouring atoms in halves, until each has so many tokens at most, or is one atom."""
    if len(atoms) > 1 and sum(material.costs[place] for atom in atoms for place in atom) > most:
        half = len(atoms) // 2
        yield from _parts(material, atoms[:half], most)
        yield from _parts(material, atoms[half:], most)
    elif atoms:
        yield atoms


def _extract(material: Material, topic: Sequence[Atom], weigh: Weigh) -> dict[int, Cited]:
    """Return the sentences that give most for their tokens, within the share of an extract."""
    places = [place for atom in topic for place in atom]
    room = int(sum(material.costs[place] for place in places) * _EXTRACT)

    def worth(piece: tuple[int, int]) -> tuple[float, int, int]:
        place, number = piece
        value = material.rates[place] * material.costs[place] * weigh(place)[number]
        return -value / material.piece_cost(place, number), place, number

    cites: dict[int, Cited] = {}
    for place, number in sorted(((p, n) for p in places for n in range(len(weigh(p)))), key=worth):
        cost = material.piece_cost(place, number) + (0 if place in cites else material.cite_cost(place))
        if cost <= room:
            room -= cost
            cites[place] = tuple(sorted((*cites.get(place, ()), number)))
    return cites


def _findings(material: Material, topic: Sequence[Atom]) -> dict[int, Cited]:
    """Return the latest numbers, dates, paths, commands and names, each text once."""
    latest: dict[tuple[str, str], tuple[int, int]] = {}
    for place in sorted(place for atom in topic for place in atom):
        text = material.messages[place].text
        for number, (slot, start, end) in enumerate(material.pieces(place)):
            if slot != "sentence":
                latest.pop((slot, text[start:end]), None)
                latest[slot, text[start:end]] = (place, number)
    cites: dict[int, Cited] = {}
    for place, number in list(latest.values())[-_FINDINGS:]:
        cites[place] = tuple(sorted((*cites.get(place, ()), number)))
    return cites


def _find_room(draft: Draft, atom: Atom) -> Mapping[int, Fate]:
    """Give the fates of an atom that is not shown yet: whole, else with its outputs of tools as one line each; none
    where neither fits.
    """
    ways = (dict.fromkeys(atom, KEPT), draft.material.mask(atom)) if draft.is_dropped(atom) else ()
    return next(filter(draft.fits, ways), {})


def _keep_protected(draft: Draft, strategy: ContextStrategy) -> None:
    """Keep what is HIGH, then what is MEDIUM, the newest first, until one does not fit into its share of the room. In a
    small room `extractive` gives the last messages less.
    """
    material, settings = draft.material, draft.material.settings
    free = material.budget - draft.used
    small = min(1.0, material.budget / max(settings.full_recent, 1)) if strategy == "extractive" else 1.0
    personal_places = frozenset(place for place, protection in enumerate(material.protected) if protection.spans)
    for level, share, personal in (
        (Protection.HIGH, settings.preference_share, True),
        (Protection.HIGH, settings.recent_share * small, False),
        (Protection.MEDIUM, settings.medium_share, False),
    ):
        room = min(draft.used + int(free * share), material.budget)
        for atom in sorted(material.atoms, key=lambda atom: -atom[-1]):
            if (
                material.level(atom) == level
                and draft.is_dropped(atom)
                and personal_places.isdisjoint(atom) != personal
            ):
                changes = material.protect(atom)
                if draft.used + draft.cost(changes) > room:
                    break
                draft.change(changes, material.reason(atom))


def _mask(draft: Draft) -> None:
    """Keep the newest atoms whole while all before them fit as lines, then the newest that fit at all; blind to the
    query. The simplest that works: halves what an agent pays at an equal rate of solved tasks (arXiv 2508.21433).
    """
    material = draft.material
    newest = sorted((a for a in material.atoms if draft.is_dropped(a)), key=lambda a: -a[-1])
    rest = sum(sum(material.masked[place] for place in atom) for atom in newest)
    for atom in newest:
        rest -= sum(material.masked[place] for place in atom)
        whole, masked = dict.fromkeys(atom, KEPT), material.mask(atom)
        if draft.fits(whole, within=material.budget - rest):
            draft.change(whole, "recent")
        elif draft.fits(masked):
            draft.change(masked, "its output is old")
        else:
            break


# What a question asks for by its class alone ("What was the path?") is cited first, the newest before the older.

_SHARE = 0.75
"""Of the room that is left, at most: all but what the last messages may take."""
_LONGEST = 80
"""Tokens of a sentence that is cited whole; of a longer one the words that are asked for."""
_FORMS: tuple[tuple[ElementClass, str], ...] = (
    ("date", r"when|since when|how long ago|(?:which|what) (?:time|day|date|week|year|month)|dates?|deadlines?"),
    (
        "number",
        r"how (?:many|much|long|old|far|big|large|often|fast|high|heavy)|numbers?|figures?|amounts?|prices?|"
        r"counts?|values?|measurements?|percentages?",
    ),
    ("path", r"paths?|files?|folders?|director(?:y|ies)|filenames?"),
    ("command", r"commands?|how (?:do|did|can) (?:i|we|you) run"),
    (
        "id",
        r"ids?|identifiers?|hash(?:es)?|digests?|commits?|tickets?|issues?|versions?|urls?|links?|address(?:es)?|"
        r"e-?mails?",
    ),
    ("decision", r"decisions?|decided?|agreed?|chose|chosen|settled"),
    ("commitment", r"promised?|promises|commitments?|committed|will (?:you|we|i) do|todos?"),
)
_ASKED = {kind: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for kind, words in _FORMS}
_WORD = re.compile(r"[^\W\d_]+")
_BLAND = frozenset(COMMON_WORDS) | frozenset(
    re.findall(
        r"\w+",
        "again tell remind give gave given show say said told find found use used look please remember recall mention "
        "mentioned need want know got get see happen happened make made take exact exactly last first earlier before "
        "one ones thing things conversation old long many much ago now open",
    )
)


def find_asked_classes(query: str) -> frozenset[ElementClass]:
    """Return the classes of words that a question names where it names no subject; none for any other."""
    classes = frozenset(kind for kind, form in _ASKED.items() if form.search(query))
    rest = query
    for form in _ASKED.values():
        rest = form.sub(" ", rest)
    bare = all(word.lower() in _BLAND for word in _WORD.findall(rest)) and not any(map(str.isdigit, rest))
    return classes if bare else frozenset()


def cite_asked(draft: Draft) -> int:
    """Cite the sentences that hold the class of words which a question without a subject names, while they take no more
    than their share of the room; how many messages that is.
    """
    material = draft.material
    classes = find_asked_classes(material.query)
    room = draft.used + int((material.budget - draft.used) * _SHARE)
    cited = 0
    for atom in sorted(material.atoms, key=lambda a: -a[-1]) if classes else ():
        if not draft.is_dropped(atom):
            continue
        holding = {place: find_holding(source(material.messages[place]), classes) for place in atom}
        cites = {place: _pieces_at(material, place, spans) for place, spans in holding.items() if spans}
        if cites:
            # What calls tools cannot be cited.
            changes = material.cite(atom, {p: c for p, c in cites.items() if c}) or dict.fromkeys(atom, KEPT)
            if draft.used + draft.cost(changes) <= room:
                draft.change(changes, "holds what the question asks for")
                cited += len(changes)
    return cited


def find_holding(text: str, classes: frozenset[ElementClass]) -> list[tuple[int, int]]:
    """Return (start, end) of what a text holds of classes; of names nothing, which no question of one class asks
    for.
    """
    return [(start, end) for kind, start, end in elements_of(text, None, NO_NAMES) if kind in classes]


def _pieces_at(material: Material, place: int, spans: Sequence[tuple[int, int]]) -> Cited:
    """Return numbers of the pieces of a message that lie at spans: sentences where they are short."""
    pieces = material.pieces(place)
    chosen = set[int]()
    for start, end in spans:
        within = [
            number
            for number, (slot, a, b) in enumerate(pieces)
            if a < end and start < b and (slot != "sentence" or material.piece_cost(place, number) <= _LONGEST)
        ]
        chosen.update([n for n in within if pieces[n][0] == "sentence"] or within)
    return tuple(sorted(chosen))

"""Fit a conversation into a budget, by the strategies of `ContextStrategy`: each fills a draft with CRITICAL messages
kept.

All but `mask` take units (atoms or topics) and raise them a level at a time (dropped, cited, kept), always the unit
that gains most value a token. Citations come from the messages themselves: a summary is never summarised. `optimise`
calls `fill`; docs/results/conversation.md compares the strategies.
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
from amgs.conversation.findings import NO_NAMES, ElementClass, elements_of
from amgs.conversation.material import KEPT, MASKED, Atom, Cited, Draft, Fate, Material
from amgs.conversation.protection import ProtectedShare
from amgs.text.words import COMMON_WORDS
from amgs.types.conversation import ContextStrategy

Level = tuple[Mapping[int, Fate], float]
"""Fates of a unit's messages, and the value that they have."""
Weigh = Callable[[int], tuple[float, ...]]
"""Returns each sentence's share of a message's value, by the message's index; they sum to 1."""

_SHORT = 200
"""Tokens up to which `hybrid` keeps a message whole or not at all, since citing it would save little."""
_MATCH = 8.0
"""Weight, beside a sentence's length, of the words that it shares with the query."""
_EXTRACT = 1 / 3
"""Share of a topic's tokens that its extract takes."""
_LARGEST = 0.1
"""Share of the budget above which a topic is divided."""
_FINDINGS = 12
"""Findings (numbers, dates, paths, commands, names) cited of a topic, the latest."""


def fill(draft: Draft, strategy: ContextStrategy) -> None:
    """Fill a draft by a strategy: protected messages within their shares, then those of most value a token, while they
    fit.
    """
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
        _raise_levels(
            draft, units, [_atom_levels(material, unit[0], strategy, weigh) for unit in units], "answers the query"
        )
    else:
        topics = _split_topics(draft)
        _raise_levels(
            draft, topics, [_topic_levels(material, topic, strategy, weigh) for topic in topics], "its topic answers it"
        )


def _raise_levels(
    draft: Draft, units: Sequence[Sequence[Atom]], levels: Sequence[Sequence[Level]], because: str
) -> None:
    """Raise units to higher levels, greedily by gain a token, while they fit.

    A unit's cost depends on its neighbours (beside an included unit it needs no gap mark), so neighbours are rated
    again after each change.
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
    """Return the levels of an atom: 1, 2, 4, … sentences of long messages (`hybrid`), tool outputs masked, whole."""
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
                levels.append((material.cite(atom, own), _cited_value(material, own, weigh)))
    return [*levels, (dict.fromkeys(atom, KEPT), material.value(atom))]


def _topic_levels(material: Material, topic: Sequence[Atom], strategy: ContextStrategy, weigh: Weigh) -> list[Level]:
    """Return the levels of a topic: its findings, an extract, the whole; for the strategy `topic` only the extract."""
    extract = _cite_extract(material, topic, weigh)
    cited = [extract] if strategy == "topic" else [_cite_findings(material, topic), extract]
    levels: list[Level] = []
    for cites in filter(None, cited):
        changes: dict[int, Fate] = {}
        for atom in topic:
            own = {place: cites[place] for place in atom if place in cites}
            changes |= material.cite(atom, own) if own else {}
        levels.append((changes, _cited_value(material, cites, weigh)))
    if levels and strategy == "topic":
        return levels
    return [*levels, ({place: KEPT for atom in topic for place in atom}, sum(map(material.value, topic)))]


def _sentence_weights(material: Material) -> Weigh:
    """Return a function that weighs a message's sentences by their length and the query's words in them."""
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


def _cited_value(material: Material, cites: Mapping[int, Cited], weigh: Weigh) -> float:
    """Return the value of citations: of each message's value the share of its cited sentences, or of a
    finding's length.
    """
    total = 0.0
    for place, pieces in cites.items():
        shares, cost = weigh(place), max(material.costs[place], 1)
        share = sum(shares[n] if n < len(shares) else material.piece_cost(place, n) / cost for n in pieces)
        total += material.rates[place] * material.costs[place] * min(share, 1.0)
    return total


def _split_topics(draft: Draft) -> list[list[Atom]]:
    """Return the dropped atoms by topic, large topics divided by _LARGEST; an atom belongs to its first
    message's topic.
    """
    material = draft.material
    topics = material.topics()
    groups: list[list[Atom]] = [[] for _ in topics]
    of = {place: n for n, (start, end) in enumerate(topics) for place in range(start, end)}
    for atom in material.atoms:
        if draft.is_dropped(atom):
            groups[of[atom[0]]].append(atom)
    most = max(int(material.budget * _LARGEST), 1)
    return [part for atoms in groups for part in _halve(material, atoms, most)]


def _halve(material: Material, atoms: list[Atom], most: int) -> Iterator[list[Atom]]:
    """Divide atoms in halves until each part has at most `most` tokens or is a single atom."""
    if len(atoms) > 1 and sum(material.costs[place] for atom in atoms for place in atom) > most:
        half = len(atoms) // 2
        yield from _halve(material, atoms[:half], most)
        yield from _halve(material, atoms[half:], most)
    elif atoms:
        yield atoms


def _cite_extract(material: Material, topic: Sequence[Atom], weigh: Weigh) -> dict[int, Cited]:
    """Cite the sentences of a topic with most value a token, up to _EXTRACT of its tokens."""
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


def _cite_findings(material: Material, topic: Sequence[Atom]) -> dict[int, Cited]:
    """Cite the latest _FINDINGS of a topic (numbers, dates, paths, commands, names), without repeats."""
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
    """Return the fates that show a dropped atom: whole, else with tool outputs masked; {} where neither fits."""
    ways = (dict.fromkeys(atom, KEPT), draft.material.mask(atom)) if draft.is_dropped(atom) else ()
    return next(filter(draft.fits, ways), {})


def _keep_protected(draft: Draft, strategy: ContextStrategy) -> None:
    """Keep HIGH and then MEDIUM atoms, the newest first, each kind within its share of the free tokens.

    With a small budget `extractive` gives the last messages a smaller share.
    """
    material, settings = draft.material, draft.material.settings
    free = material.budget - draft.used
    small = min(1.0, material.budget / max(settings.full_recent, 1)) if strategy == "extractive" else 1.0
    shares: Mapping[ProtectedShare, float] = {
        "preference": settings.preference_share,
        "recent": settings.recent_share * small,
        "definition": settings.definition_share,
        "open": settings.open_share,
        "date": settings.date_share,
    }
    for kind, share in shares.items():
        room = min(draft.used + int(free * share), material.budget)
        atoms = [atom for atom in material.atoms if material.level(atom) and material.share(atom) == kind]
        for atom in sorted(atoms, key=lambda atom: -atom[-1]):
            if draft.is_dropped(atom):
                changes = material.protect(atom)
                if draft.used + draft.cost(changes) > room:
                    break
                draft.change(changes, material.reason(atom))


def _mask(draft: Draft) -> None:
    """Keep the newest atoms whole while all older ones fit with masked tool outputs, then mask from the newest while
    they fit; ignores the query. It halves an agent's cost at an equal rate of solved tasks (arXiv 2508.21433).
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


# For a question that names only a class of things ("What was the path?"), those are cited first, the newest first.

_SHARE = 0.75
"""Share of the free tokens that these citations may take."""
_LONGEST = 80
"""Tokens of a sentence up to which it is cited whole; of a longer sentence only the thing itself."""
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
    """Return the classes (date, path, …) that a question asks for; empty where it also names a subject."""
    classes = frozenset(kind for kind, form in _ASKED.items() if form.search(query))
    rest = query
    for form in _ASKED.values():
        rest = form.sub(" ", rest)
    bare = all(word.lower() in _BLAND for word in _WORD.findall(rest)) and not any(map(str.isdigit, rest))
    return classes if bare else frozenset()


def cite_asked(draft: Draft) -> int:
    """Cite the sentences with what a question without a subject asks for, within _SHARE of the free tokens; return how
    many messages are cited.
    """
    material = draft.material
    classes = find_asked_classes(material.query)
    room = draft.used + int((material.budget - draft.used) * _SHARE)
    cited = 0
    for atom in sorted(material.atoms, key=lambda a: -a[-1]) if classes else ():
        if not draft.is_dropped(atom):
            continue
        holding = {place: find_elements(source(material.messages[place]), classes) for place in atom}
        cites = {place: _pieces_at(material, place, spans) for place, spans in holding.items() if spans}
        if cites:
            # A message with tool calls cannot be cited: keep its atom.
            changes = material.cite(atom, {p: c for p, c in cites.items() if c}) or dict.fromkeys(atom, KEPT)
            if draft.used + draft.cost(changes) <= room:
                draft.change(changes, "holds what the question asks for")
                cited += len(changes)
    return cited


def find_elements(text: str, classes: frozenset[ElementClass]) -> list[tuple[int, int]]:
    """Return the (start, end) of everything in a text that is of these classes; names are not looked for."""
    return [(start, end) for kind, start, end in elements_of(text, None, NO_NAMES) if kind in classes]


def _pieces_at(material: Material, place: int, spans: Sequence[tuple[int, int]]) -> Cited:
    """Return the numbers of a message's pieces that overlap the spans: short sentences, else the findings in them."""
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

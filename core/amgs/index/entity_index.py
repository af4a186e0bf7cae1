"""Resolve the names of a store: merge equal names, infer the type of each, and list the blocks that hold it.

Made from what each text says of names (`text/name_uses.py`), all of them at once: whether a capitalised word is a name,
and whose name a first name is, only the whole store tells.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from amgs.text import names
from amgs.text.name_uses import NameReading, NameUse
from amgs.types.entities import EntityType

_STRONG = frozenset(("its name", "speaks", "initial", "hosted", "installed", "title", "marked"))
"""Cues that speak for two: they define rather than hint."""
_ENOUGH = 2
"""Kinds of cues that must agree on a type, a strong one counting twice."""
_NOISE = 0.1
_NO_NOISE = 3
"""A kind of cue that makes up less than this share of all at a name, and stands in fewer blocks, says nothing."""
_HELD = 0.15
"""Of the blocks that name it must hold a cue for its type."""
_IN_FULL = 0.1
"""How often a person must be named in full, beside a last name alone, for that to be theirs."""
_SHARE = 0.6
"""Of all cues at a name that must speak for its type."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_JOINTS = re.compile(r"[\s_\-–.'’]+")
_PART = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")


def key_of(name: str) -> str:
    """Return what forms of one name share: pytest-xdist, pytest_xdist and PytestXdist are one; JSON Schema and
    jsonschema are two.
    """
    bare = " ".join(name.split())
    return names.key(bare) if " " in bare else _JOINTS.sub("", names.key(bare))


@dataclass(frozen=True, slots=True)
class NamedThing:
    """An entity. forms: how it is written, with how often, the commonest first. blocks: numbers of the blocks that
    name it, rising, with how often each does. cues: (type, kind) -> in how many blocks it stands by the name.
    """

    name: str
    type: EntityType
    forms: Mapping[str, int]
    blocks: Mapping[int, int]
    cues: Mapping[tuple[str, str], int]

    @property
    def mentions(self) -> int:
        """Number of mentions."""
        return sum(self.blocks.values())

    @property
    def because(self) -> str:
        """Kinds of cues that support its type, the commonest first."""
        spoken = [(count, kind) for (type_, kind), count in self.cues.items() if type_ == self.type]
        return ", ".join(kind for _, kind in sorted(spoken, key=lambda pair: (-pair[0], pair[1])))


@dataclass(frozen=True)
class EntityIndex:
    """The entities of a store, the most often named first; equals by name."""

    things: tuple[NamedThing, ...]
    _keys: Mapping[str, int] = field(repr=False)

    def find(self, name: str) -> NamedThing | None:
        """Return the entity with a name or an alias; None without one."""
        key = key_of(name)
        place = self._keys.get(key, self._keys.get(key.replace(" ", "")))
        return None if place is None else self.things[place]

    def near(self, thing: NamedThing) -> tuple[tuple[NamedThing, int], ...]:
        """Return the entities that stand in the same blocks, with in how many; those first that stand there more often
        than their own number of blocks lets expect.
        """
        shared = Counter(place for block in thing.blocks for place in self._of_block.get(block, ()))
        neighbours = [(self.things[place], count) for place, count in shared.items() if self.things[place] is not thing]
        return tuple(
            sorted(neighbours, key=lambda pair: (-pair[1] * pair[1] / len(pair[0].blocks), -pair[1], pair[0].name))
        )

    @cached_property
    def _of_block(self) -> Mapping[int, tuple[int, ...]]:
        places_by_block: dict[int, list[int]] = defaultdict(list)
        for place, thing in enumerate(self.things):
            for number in thing.blocks:
                places_by_block[number].append(place)
        return {number: tuple(places) for number, places in places_by_block.items()}


@dataclass(slots=True)
class _Tally:
    """Facts of the store about a name, under its key. whole: the form that others abbreviate."""

    forms: Counter[str] = field(default_factory=Counter)
    blocks: Counter[int] = field(default_factory=Counter)
    cues: dict[tuple[str, str], set[int]] = field(default_factory=lambda: defaultdict(set))
    software: bool = True
    whole: str = ""

    def absorb(self, other: _Tally) -> None:
        self.forms.update(other.forms)
        self.blocks.update(other.blocks)
        self.software = self.software and other.software
        for cue, blocks in other.cues.items():
            self.cues[cue] |= blocks

    @property
    def name(self) -> str:
        return self.whole or min(self.forms, key=lambda form: (-self.forms[form], form.islower(), form))


def lay_out(
    readings: Mapping[int, NameReading],
    small: Mapping[str, int],
    *,
    speakers: Mapping[int, str],
    titled: Mapping[int, Collection[str]],
    marked: Mapping[int, Collection[str]],
) -> EntityIndex:
    """Return the entities of all texts, by the numbers of their blocks.

    small: how often the store writes a word in small letters. speakers: who says a turn, in small letters. titled: the
    headings of a block and the name of its source. marked: its tags.
    """
    known = _names(readings, small)
    tallies: dict[str, _Tally] = defaultdict(_Tally)
    spoken = frozenset(speakers.values())
    for number, reading in sorted(readings.items()):
        for use in reading.uses:
            text = use.text if use.software else _match_known_name(use, known, spoken)
            if text:
                tally = tallies[key_of(text)]
                tally.forms[text] += 1
                tally.blocks[number] += 1
                tally.software &= use.software
                for cue in use.cues:
                    tally.cues[cue].add(number)
    _add_cues(tallies, readings, speakers, titled, marked)
    _join_spaced(tallies)
    _join_plurals(tallies)
    _join_parts(tallies)
    things = [
        NamedThing(t.name, _type(t), _by_count(t.forms), dict(sorted(t.blocks.items())), _counted(t))
        for t in tallies.values()
        if t.blocks and not (t.software and not _has_project_cue(t))
    ]
    things.sort(key=lambda thing: (-thing.mentions, thing.name))
    keys: dict[str, int] = {}
    for place, thing in enumerate(things):
        for form in thing.forms:
            keys.setdefault(key_of(form), place)
    return EntityIndex(tuple(things), keys)


# --- which runs are names ---------------------------------------------------------------------------------


def _names(readings: Mapping[int, NameReading], small: Mapping[str, int]) -> frozenset[str]:
    """Runs that the store uses as names: capitalised within running sentences, a single word more often than in small
    letters, and not almost only at the beginning of sentences.
    """
    inside: Counter[str] = Counter()
    opening: Counter[str] = Counter()
    for reading in readings.values():
        for use in reading.uses:
            if use.software:
                continue
            (opening if use.opens else inside)[use.text] += 1 if use.running or use.opens else 0
            if use.opens and " " in use.text and use.running:
                inside[_without_first(use.text)] += 1
    return frozenset(
        text
        for text, count in inside.items()
        if text
        and count
        and (
            not all(small.get(word.lower(), 0) > count for word in text.split())
            if " " in text
            else _has_inner_capitals(text) or (count > small.get(text.lower(), 0) and 12 * count >= opening[text])
        )
    )


def _without_first(text: str) -> str:
    """Return what follows the first word, where that can stand alone: nothing of `Bank of England`."""
    rest = text.partition(" ")[2]
    return rest if rest[:1].isupper() else ""


def _has_inner_capitals(word: str) -> bool:
    """Return whether a word has capitals within that no rule of writing asks for: PyTorch, and not PYTORCH."""
    return not word.isupper() and any(c.isupper() for c in word[1:])


def _match_known_name(use: NameUse, known: Collection[str], spoken: Collection[str]) -> str:
    """Return the name in a use: the whole run, or what follows a first word that only opens a sentence; "" for none."""
    if use.text in known or use.text.lower() in spoken:
        return use.text
    rest = _without_first(use.text)
    return rest if use.opens and rest in known else ""


# --- what tells the type ----------------------------------------------------------------------------------


def _add_cues(
    tallies: Mapping[str, _Tally],
    readings: Mapping[int, NameReading],
    speakers: Mapping[int, str],
    titled: Mapping[int, Collection[str]],
    marked: Mapping[int, Collection[str]],
) -> None:
    """Cues that stand elsewhere than at the name: in addresses, in sources, in headings, in tags, at turns."""
    elsewhere: Iterator[tuple[str, tuple[str, str], int]] = (
        (name, cue, number)
        for number, reading in readings.items()
        for name, cue in ((hint, ("project", kind)) for hint, kind in reading.hints)
    )
    for name, cue, number in elsewhere:
        _cue(tallies, name, cue, number)
    for number, speaker in speakers.items():
        _cue(tallies, speaker, ("person", "speaks"), number)
    for number, titles in titled.items():
        for name in titles:
            _cue(tallies, name, ("project", "named in the source"), number)
    for number, titles in marked.items():
        for name in titles:
            _cue(tallies, name, ("topic", "marked"), number)


def _cue(tallies: Mapping[str, _Tally], name: str, cue: tuple[str, str], number: int) -> None:
    tally = tallies.get(key_of(name))
    if tally is not None:
        tally.cues[cue].add(number)


def _by_count(forms: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(forms.items(), key=lambda pair: (-pair[1], pair[0])))


def _has_project_cue(tally: _Tally) -> bool:
    return any(type_ == "project" and kind in ("hosted", "installed") for type_, kind in tally.cues)


def _counted(tally: _Tally) -> dict[tuple[str, str], int]:
    return {cue: len(blocks) for cue, blocks in sorted(tally.cues.items())}


def _type(tally: _Tally) -> EntityType:
    """Return the type with the most cues if enough agree; unknown without one."""
    total = sum(len(blocks) for blocks in tally.cues.values())
    weights: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    blocks_by_type: dict[str, set[int]] = defaultdict(set)
    for (type_, kind), blocks in tally.cues.items():
        strength = 2 if kind in _STRONG else 1
        weights[type_] += strength if len(blocks) >= min(_NO_NOISE, _NOISE * total) else 0
        counts[type_] += len(blocks) * strength
        blocks_by_type[type_] |= blocks
    if not weights:
        return "unknown"
    best = max(weights, key=lambda type_: (counts[type_], weights[type_], type_))
    sure = (
        weights[best] >= _ENOUGH
        and counts[best] >= _SHARE * counts.total()
        and len(blocks_by_type[best]) >= _HELD * len(tally.blocks)
    )
    return _AS_TYPE[best] if sure else "unknown"


_AS_TYPE: Mapping[str, EntityType] = {
    "person": "person",
    "organisation": "organisation",
    "place": "place",
    "project": "project",
    "topic": "topic",
}


# --- which names are one ----------------------------------------------------------------------------------


def _join_spaced(tallies: dict[str, _Tally]) -> None:
    """`HuggingFace` to `Hugging Face`."""
    for key in [k for k in tallies if " " in k]:
        other = tallies.get(key.replace(" ", ""))
        if other is not None and any(names.key(_CAMEL.sub(" ", form)) == key for form in other.forms):
            tallies[key].absorb(tallies.pop(key.replace(" ", "")))


def _join_plurals(tallies: dict[str, _Tally]) -> None:
    """`APIs` to `API`: where both are names, and neither is a person's."""
    for key in [k for k in tallies if k.endswith("s") and len(k) > 3 and k[:-1] in tallies]:
        singular, many = tallies[key[:-1]], tallies[key]
        same = many.name == f"{singular.name}s" and singular.blocks.total() >= many.blocks.total()
        if same and "person" not in (_type(singular), _type(many)):
            singular.absorb(many)
            del tallies[key]


def _join_parts(tallies: dict[str, _Tally]) -> None:
    """Join a person's first name, last name and initials to the full name, where the store has only one such person."""
    whole: dict[str, list[str]] = defaultdict(list)
    for key, tally in tallies.items():
        parts = _parts(tally.name)
        if len(parts) >= 2 and _may_be_person(tally):
            for part in {parts[0], parts[-1]}:
                whole[part.lower()].append(key)
    joined: dict[str, str] = {}
    for key, tally in tallies.items():
        parts = _parts(tally.name)
        wanted = parts[-1].lower() if parts else ""
        fits = [k for k in whole.get(wanted, ()) if k != key and _abbreviates(parts, _parts(tallies[k].name))]
        if len(fits) == 1 and _one_person(tally, tallies[fits[0]]) and _as_often(tally, tallies[fits[0]]):
            joined[key] = fits[0]
    for key, target in joined.items():
        while target in joined:
            target = joined[target]
        if target != key and key in tallies and target in tallies:
            tallies[target].whole = tallies[target].name
            tallies[target].absorb(tallies.pop(key))


def _parts(name: str) -> Sequence[str]:
    return _PART.findall(name)


def _may_be_person(tally: _Tally) -> bool:
    return _type(tally) in ("person", "unknown") and not any(c.isdigit() for c in tally.name)


def _one_person(part: _Tally, whole: _Tally) -> bool:
    """Return whether both may be one person, and one of them is known to be a person."""
    types = {_type(part), _type(whole)}
    return "person" in types and types <= {"person", "unknown"}


def _as_often(part: _Tally, whole: _Tally) -> bool:
    """Return whether the full name is frequent enough for its part: twice for a first name; more for a last name, which
    a family shares.
    """
    first = _parts(whole.name)[0] == _parts(part.name)[0]
    full = whole.blocks.total()
    return full >= 2 if first else full >= _IN_FULL * part.blocks.total()


def _abbreviates(short: Sequence[str], whole: Sequence[str]) -> bool:
    """`Ada`, `Lovelace` and `A. Lovelace` abbreviate `Ada Lovelace`."""
    if len(short) == 1:
        return short[0] in (whole[0], whole[-1])
    initials, last = short[:-1], short[-1]
    return (
        last == whole[-1]
        and len(initials) < len(whole)
        and all(len(i) == 1 and w.startswith(i) for i, w in zip(initials, whole, strict=False))
        and any(len(w) > 1 for w in whole[:-1])
    )

"""Resolve the names of a store to entities: merge forms of a name, infer its type, list the blocks that mention it.

`derived` builds it from what `text/names.py` read in each text, over all texts at once, since only the whole store
shows whether a capitalised word is a name and whose first name it is.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from amgs.text import names
from amgs.text.names import NameReading, NameUse
from amgs.types.conversation_views import EntityType

_STRONG = frozenset(("its name", "speaks", "initial", "hosted", "installed", "title", "marked"))
"""Cues that count twice, because they define a type rather than hint at it."""
_MIN_CUES = 2
"""Kinds of cues that must agree on a type, a strong cue counting twice."""
_NOISE = 0.1
_NO_NOISE = 3
"""A kind of cue counts if it is at least this share of a name's cues, or in at least so many blocks."""
_CUE_SHARE = 0.15
"""Share of the blocks with a name that must have a cue for its type."""
_IN_FULL = 0.1
"""Mentions of a full name, per mention of the last name alone, from which the last name is taken to be
that person's.
"""
_SHARE = 0.6
"""Share of a name's cues that must support its type."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_JOINTS = re.compile(r"[\s_\-–.'’]+")
_PART = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")


def key_of(name: str) -> str:
    """Return the key that all spellings of a name share: pytest-xdist, pytest_xdist and PytestXdist have the same;
    JSON Schema and jsonschema do not.
    """
    bare = " ".join(name.split())
    return names.key(bare) if " " in bare else _JOINTS.sub("", names.key(bare))


@dataclass(frozen=True, slots=True)
class NamedThing:
    """An entity: a name with its type and mentions.

    forms: its spellings, each with its count, the commonest first. blocks: mentions in each block, by number,
    ascending. cues: number of blocks with each (type, kind) of cue.
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
    """The entities of a store, the most mentioned first, ties by name."""

    things: tuple[NamedThing, ...]
    _keys: Mapping[str, int] = field(repr=False)

    def find(self, name: str) -> NamedThing | None:
        """Return the entity with a name or an alias; None if there is none."""
        key = key_of(name)
        place = self._keys.get(key, self._keys.get(key.replace(" ", "")))
        return None if place is None else self.things[place]

    def near(self, thing: NamedThing) -> tuple[tuple[NamedThing, int], ...]:
        """Return the entities mentioned in the same blocks, each with the number of shared blocks; those first that
        share more blocks than their own number of blocks suggests.
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
    """What the store says about a name, while entities are built. whole: the full name that others abbreviate; ""."""

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


def build_entity_index(
    readings: Mapping[int, NameReading],
    small: Mapping[str, int],
    *,
    speakers: Mapping[int, str],
    titled: Mapping[int, Collection[str]],
    marked: Mapping[int, Collection[str]],
) -> EntityIndex:
    """Build the entities of a store.

    readings: the names read in each block, by number. small: how often the store writes a word in lower case. speakers:
    who says a turn, in lower case, by number. titled: a block's headings and its source's name. marked: its tags.
    """
    known = _known_names(readings, small)
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
        NamedThing(t.name, _infer_type(t), _sort_by_count(t.forms), dict(sorted(t.blocks.items())), _count_cues(t))
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


def _known_names(readings: Mapping[int, NameReading], small: Mapping[str, int]) -> frozenset[str]:
    """Return the capitalised runs of words that the store uses as names: they occur inside sentences, and a single word
    more often capitalised than not, and not almost only at the start of sentences.
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
    """Return a run without its first word, "" where the rest does not begin with a capital (`Bank of England`)."""
    rest = text.partition(" ")[2]
    return rest if rest[:1].isupper() else ""


def _has_inner_capitals(word: str) -> bool:
    """Return whether a word has capitals inside, like PyTorch and unlike PYTORCH."""
    return not word.isupper() and any(c.isupper() for c in word[1:])


def _match_known_name(use: NameUse, known: Collection[str], spoken: Collection[str]) -> str:
    """Return the name in a use: the whole run, or the run without a first word that only opens the sentence; "" for
    none.
    """
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
    """Add the cues that are not beside a name in the text: from addresses, speakers, headings and sources (`titled`, by
    block), and tags (`marked`).
    """
    from_addresses: Iterator[tuple[str, tuple[str, str], int]] = (
        (name, cue, number)
        for number, reading in readings.items()
        for name, cue in ((hint, ("project", kind)) for hint, kind in reading.hints)
    )
    for name, cue, number in from_addresses:
        _add_cue(tallies, name, cue, number)
    for number, speaker in speakers.items():
        _add_cue(tallies, speaker, ("person", "speaks"), number)
    for number, titles in titled.items():
        for name in titles:
            _add_cue(tallies, name, ("project", "named in the source"), number)
    for number, tags in marked.items():
        for name in tags:
            _add_cue(tallies, name, ("topic", "marked"), number)


def _add_cue(tallies: Mapping[str, _Tally], name: str, cue: tuple[str, str], number: int) -> None:
    tally = tallies.get(key_of(name))
    if tally is not None:
        tally.cues[cue].add(number)


def _sort_by_count(forms: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(forms.items(), key=lambda pair: (-pair[1], pair[0])))


def _has_project_cue(tally: _Tally) -> bool:
    return any(type_ == "project" and kind in ("hosted", "installed") for type_, kind in tally.cues)


def _count_cues(tally: _Tally) -> dict[tuple[str, str], int]:
    return {cue: len(blocks) for cue, blocks in sorted(tally.cues.items())}


def _infer_type(tally: _Tally) -> EntityType:
    """Return the type that most cues support, "unknown" where too few do (see the constants above)."""
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
        weights[best] >= _MIN_CUES
        and counts[best] >= _SHARE * counts.total()
        and len(blocks_by_type[best]) >= _CUE_SHARE * len(tally.blocks)
    )
    return _AS_TYPE[best] if sure else "unknown"


_AS_TYPE: Mapping[str, EntityType] = {
    "person": "person",
    "organisation": "organisation",
    "place": "place",
    "project": "project",
    "topic": "topic",
}


# --- which names mean the same entity ------------------------------------------------------------


def _join_spaced(tallies: dict[str, _Tally]) -> None:
    """Merge `HuggingFace` into `Hugging Face`."""
    for key in [k for k in tallies if " " in k]:
        other = tallies.get(key.replace(" ", ""))
        if other is not None and any(names.key(_CAMEL.sub(" ", form)) == key for form in other.forms):
            tallies[key].absorb(tallies.pop(key.replace(" ", "")))


def _join_plurals(tallies: dict[str, _Tally]) -> None:
    """Merge `APIs` into `API`, where the singular is at least as frequent and neither is a person's name."""
    for key in [k for k in tallies if k.endswith("s") and len(k) > 3 and k[:-1] in tallies]:
        singular, many = tallies[key[:-1]], tallies[key]
        same = many.name == f"{singular.name}s" and singular.blocks.total() >= many.blocks.total()
        if same and "person" not in (_infer_type(singular), _infer_type(many)):
            singular.absorb(many)
            del tallies[key]


def _join_parts(tallies: dict[str, _Tally]) -> None:
    """Merge a first name, last name or initials into the full name, where only a single person of the store fits."""
    whole: dict[str, list[str]] = defaultdict(list)
    for key, tally in tallies.items():
        parts = _name_parts(tally.name)
        if len(parts) >= 2 and _may_be_person(tally):
            for part in {parts[0], parts[-1]}:
                whole[part.lower()].append(key)
    joined: dict[str, str] = {}
    for key, tally in tallies.items():
        parts = _name_parts(tally.name)
        wanted = parts[-1].lower() if parts else ""
        fits = [k for k in whole.get(wanted, ()) if k != key and _abbreviates(parts, _name_parts(tallies[k].name))]
        if (
            len(fits) == 1
            and _may_be_same_person(tally, tallies[fits[0]])
            and _is_frequent_enough(tally, tallies[fits[0]])
        ):
            joined[key] = fits[0]
    for key, target in joined.items():
        while target in joined:
            target = joined[target]
        if target != key and key in tallies and target in tallies:
            tallies[target].whole = tallies[target].name
            tallies[target].absorb(tallies.pop(key))


def _name_parts(name: str) -> Sequence[str]:
    return _PART.findall(name)


def _may_be_person(tally: _Tally) -> bool:
    return _infer_type(tally) in ("person", "unknown") and not any(c.isdigit() for c in tally.name)


def _may_be_same_person(part: _Tally, whole: _Tally) -> bool:
    """Return whether two names may be the same person: at least one is a person, the other of unknown type."""
    types = {_infer_type(part), _infer_type(whole)}
    return "person" in types and types <= {"person", "unknown"}


def _is_frequent_enough(part: _Tally, whole: _Tally) -> bool:
    """Return whether the full name is frequent enough to own its part: two mentions for a first name; _IN_FULL of the
    part's for a last name, which a family shares.
    """
    first = _name_parts(whole.name)[0] == _name_parts(part.name)[0]
    full = whole.blocks.total()
    return full >= 2 if first else full >= _IN_FULL * part.blocks.total()


def _abbreviates(short: Sequence[str], whole: Sequence[str]) -> bool:
    """Return whether a name abbreviates another, as `Ada`, `Lovelace` and `A. Lovelace` do `Ada Lovelace`."""
    if len(short) == 1:
        return short[0] in (whole[0], whole[-1])
    initials, last = short[:-1], short[-1]
    return (
        last == whole[-1]
        and len(initials) < len(whole)
        and all(len(i) == 1 and w.startswith(i) for i, w in zip(initials, whole, strict=False))
        and any(len(w) > 1 for w in whole[:-1])
    )

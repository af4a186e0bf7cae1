"""Pairs of names that may be of one: in episodes of Friends and books of LitBank, beside equal words alone.

Names are those that are annotated; of one are two whose mentions are most often of one person. The confidences are
counted in the books with an even checksum of their names and in GUM, so that the others judge them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from amgs.conversation.coreference.words import ENDEARMENTS, KIN, NOUNS, TITLES, word_set
from amgs.conversation.resolved.alike import PROPOSED, alike
from amgs.errors import InputError
from amgs.text import names
from amgs.types.mentions import ConversationEntity, ResolvedMention
from benchmarks.bench_results import BenchTable
from benchmarks.conversation.coreference_data import FRIENDS, files, folder_of, read_friends
from benchmarks.rig import MemoryRig
from benchmarks.subject import SubjectResult

_BOOKS = "litbank/*_brat.ann"
_PRONOUNS = word_set("i me my mine you your he him his she her it its we us our they them their ya")
_NO_NAME = _PRONOUNS | KIN | frozenset(NOUNS) | ENDEARMENTS | frozenset(TITLES)
_NOBODY = ("#OTHER#", "#GENERAL#", "Unknown")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_LONGEST = 4  # words
_LEVELS = (0.5, 0.7, 0.8)

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class NamedText:
    """The names that a text has for people, who bears each most often, and who speaks."""

    name: str
    bearers: Mapping[str, str]
    speakers: frozenset[str]

    def pairs(self) -> dict[Pair, bool]:
        """Every two of its names, and whether they are of one."""
        return {(a, b): self.bearers[a] == self.bearers[b] for a, b in combinations(sorted(self.bearers), 2)}


def measure_aliases(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """The subject "aliases" of a folder with coref/; None where neither Friends nor LitBank is in it."""
    del rig
    return aliases_in(folder_of(data))


def aliases_in(folder: Path) -> SubjectResult | None:
    """What is in a folder of annotated mentions."""
    books = [_book(path) for path in files(folder, _BOOKS)]
    sets = {
        "friends": [text for path in files(folder, FRIENDS) for text in _episodes(path)],
        "litbank": [one for one in books if sum(map(ord, one.name)) % 2],
    }
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    for named, texts in sets.items():
        if not texts:
            continue
        for way, find in _WAYS.items():
            said, right, same = _counted(texts, find)
            rows.append((named, way, said, _percent(right, said), _percent(right, same)))
            if way == _SHIPPED:
                metrics[f"alias_precision_{named}"] = _percent(right, said)
                metrics[f"alias_recall_{named}"] = _percent(right, same)
    if not rows:
        return None
    told = ", ".join(
        f"{n}: {len(t)} texts, {sum(len(one.pairs()) for one in t):,} pairs" for n, t in sets.items()
    )
    columns = ("", "pairs that", "said", "are of one, %", "of those that are, %")
    return SubjectResult(metrics, {}, (BenchTable(f"Names of one person ({told})", columns, tuple(rows)),))


def _alike(text: NamedText, least: float) -> set[Pair]:
    mention = ResolvedMention(1, 0, 1, "", "person", "person", ("",), 1.0, "", "")
    people = [ConversationEntity(name, "person", (mention,), 1.0) for name in text.bearers]
    found = alike(people, text.speakers)
    return {_pair(one.name, one.other) for one in found if one.confidence >= least}


def _first_word(text: NamedText) -> set[Pair]:
    return {(a, b) for a, b in text.pairs() if _words(a)[0] == _words(b)[0]}


def _shared_word(text: NamedText) -> set[Pair]:
    return {(a, b) for a, b in text.pairs() if set(_words(a)) & set(_words(b))}


def _every(text: NamedText) -> set[Pair]:
    return set(text.pairs())


_SHIPPED = f"a confidence of {PROPOSED:g} or more"
_WAYS: Mapping[str, Callable[[NamedText], set[Pair]]] = {
    **{
        f"a confidence of {least:g} or more": (lambda text, least=least: _alike(text, least))  # type: ignore[misc]
        for least in _LEVELS
    },
    "begin with the same word": _first_word,
    "share a word": _shared_word,
    "any": _every,
}


def _counted(texts: Sequence[NamedText], find: Callable[[NamedText], set[Pair]]) -> tuple[int, int, int]:
    """Pairs that are said, of those the right ones, and all that are right."""
    said = right = same = 0
    for text in texts:
        truth, found = text.pairs(), find(text)
        said += len(found)
        right += sum(truth[pair] for pair in found)
        same += sum(truth.values())
    return said, right, same


def _episodes(path: Path) -> Iterator[NamedText]:
    for one in read_friends(path):
        told = (
            (one.turns[turn][1][start:end], next(iter(people)))
            for (turn, start, end), people in zip(one.mentions, one.people, strict=True)
            if len(people) == 1 and not people & set(_NOBODY)
        )
        yield _named(one.name, told, frozenset(speaker for speaker, _ in one.turns if speaker))


def _book(path: Path) -> NamedText:
    """Raises InputError for another layout than that of brat: `T1<tab>PROP_PER 96 115<tab>text`, and the same span once
    more with the person as its type.
    """
    proper: dict[Pair, str] = {}
    people: dict[Pair, str] = {}
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            number, type_, text = (*line.split("\t"), "", "")[:3]
            if number.startswith("T"):
                kind, start, end = type_.split(" ")[:3]
                if kind == "PROP_PER":
                    proper[start, end] = text
                elif not re.match(r"(?:PROP|NOM|PRON)_", kind):
                    people[start, end] = kind
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as an annotated book: {error!r}.") from error
    told = ((text, people.get(span, " ".join(span))) for span, text in proper.items())
    return _named(path.name, told, frozenset())


def _named(name: str, told: Iterator[Pair], speakers: frozenset[str]) -> NamedText:
    bearers: dict[str, Counter[str]] = defaultdict(Counter)
    forms: dict[str, str] = {}
    for text, person in told:
        form = re.sub(r" ?['’]s?$", "", " ".join(text.split())).replace(" .", ".").strip(" .,!")
        words = _WORD.findall(form)
        known = [word for word in words if word.lower() not in _NO_NAME]
        fits = known and len(words) <= _LONGEST and words[0][0].isupper() and words[-1][0].isupper()
        if fits and not any(word.lower() in _PRONOUNS for word in words):
            key = names.key(form)
            bearers[forms.setdefault(key, form)][person] += 1
    return NamedText(
        name, {form: max(who, key=lambda p: (who[p], p)) for form, who in bearers.items()}, speakers
    )


def _pair(one: str, other: str) -> Pair:
    return (one, other) if one < other else (other, one)


def _words(name: str) -> list[str]:
    return _WORD.findall(name.lower()) or [name]


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0

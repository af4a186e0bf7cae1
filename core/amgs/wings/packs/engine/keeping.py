"""Versions of packs under a name, and keywords that distinguish a pack from the rest of the memory."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from amgs.decay import hours_between
from amgs.errors import UsageError
from amgs.index.lexical import LexicalIndex
from amgs.index.terms import idf
from amgs.text.stop_words import COMMON_WORDS
from amgs.types import Block
from amgs.wings.packs.engine import continuum
from amgs.wings.packs.errors import UnknownPackError
from amgs.wings.packs.store import PackStorage
from amgs.wings.packs.values import Pack, PackRole, PackUsage, PackUse

HORIZON, MOST = 30.0, 8
"""Days within which the need of a pack is predicted; most keywords of a pack."""
_LONGEST_NAME, _LATELY = 80, 5
_WORD = re.compile(r"[^\W\d_][\w'’-]{2,}")


def next_version(versions: Sequence[Pack], pack: Pack) -> Pack:
    """Return a pack with id and version number, following these versions; the last of them if it is equal."""
    content = [pack.title, list(pack.keywords), [[member.block, member.role] for member in pack.members]]
    own = hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()
    if versions and versions[-1].id == own and not versions[-1].retired:
        return versions[-1]
    return replace(pack, id=own, version=versions[-1].version + 1 if versions else 1)


def role_of(block: Block) -> PackRole:
    """Return the role of a block: "learning" if it was derived from others."""
    return "learning" if block.meta.get("derived_from") else "source"


def check_name(name: str) -> None:
    """Raise UsageError for an invalid name."""
    if name.strip() != name or not 0 < len(name) <= _LONGEST_NAME or "@" in name or not name.isprintable():
        way_out = f"Use up to {_LONGEST_NAME} printable characters without @."
        raise UsageError(f"{name[:40]!r} is no name for a pack.", way_out=way_out)


def find(storage: PackStorage, reference: str, *, in_use: bool = False) -> Pack:
    """Return the pack `NAME`, in its latest version, or `NAME@VERSION`.

    in_use: raise UsageError for a retired one. Raises UnknownPackError if it does not exist.
    """
    name, at, number = reference.partition("@")
    versions = storage.versions(name)
    if not versions:
        known = [pack.name for pack in storage.latest() if not pack.retired]
        listed = f"The packs are: {', '.join(known[:5])}{', …' if len(known) > 5 else ''}."
        raise UnknownPackError(f"There is no pack {name[:60]!r}.", way_out=listed if known else "None is kept.")
    version = next((pack for pack in versions[::-1] if not at or str(pack.version) == number), None)
    if version is None:
        way_out = f"Its latest versions are {', '.join(str(pack.version) for pack in versions[-5:])}."
        raise UnknownPackError(f"{name!r} has no version {number[:20]!r}.", way_out=way_out)
    if in_use and version.retired:
        way_out = "Undo that, keep it anew, or use another."
        raise UsageError(f"{name}@{version.version} is retired.", title="A retired pack", way_out=way_out)
    return version


def usage(pack: Pack, uses: Sequence[PackUse], born: datetime, now: datetime, weight: float = 0.5) -> PackUsage:
    """Return a pack with what its log says. uses: of its name, newest first. born: when it was first kept."""
    age = max(hours_between(born, now), 0.0) / 24.0
    last = min(max(hours_between(born, uses[0].at), 0.0) / 24.0, age) if uses else 0.0
    judged = [use.outcome for use in reversed(uses) if use.outcome is not None]
    return PackUsage(
        pack,
        len(uses),
        uses[0].at if uses else None,
        len(judged),
        sum(judged) / len(judged) if judged else None,
        continuum.reading_probability(len(uses), last, age, HORIZON),
        born,
        age,
        age - last,
        failures(judged),
        weight,
    )


def failures(outcomes: Sequence[float]) -> int:
    """Return how many of the latest outcomes are below .5; outcomes: oldest first."""
    return sum(outcome < 0.5 for outcome in outcomes[-_LATELY:])


def names_of(references: Sequence[str]) -> list[str]:
    """Return the names in references `NAME@VERSION`."""
    return [reference.rpartition("@")[0] for reference in references]


def keywords(texts: Sequence[str], index: LexicalIndex) -> tuple[str, ...]:
    """Return the words that are in most of the texts but few other blocks, best first: number of texts times idf; each
    in its most frequent spelling.
    """
    written: dict[str, Counter[str]] = defaultdict(Counter)
    texts_with: Counter[str] = Counter()
    for text in texts:
        words = [(index.stems(word), word) for word in _WORD.findall(text) if word.lower() not in COMMON_WORDS]
        single = [(stems[0], word) for stems, word in words if len(stems) == 1]
        for stem, word in single:
            written[stem][word] += 1
        texts_with.update({stem for stem, _ in single})
    worth = {stem: n * idf(index.documents, index.frequency(stem)) for stem, n in texts_with.items()}
    best = sorted(worth, key=lambda stem: (-worth[stem], stem))[:MOST]
    return tuple(min(written[stem], key=lambda word: (-written[stem][word], word)) for stem in best)

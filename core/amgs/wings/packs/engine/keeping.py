"""Keeping packs: versions under a name, none of which is ever written over; and the words that tell a pack from the
rest of the memory.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
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
from amgs.wings.packs.values import Pack, PackMember, PackRole, PackUsage, PackUse

HORIZON = 30.0
"""Days within which a pack is said to be needed."""
_LONGEST_NAME, _LATELY = 80, 5
_MERGED = "derived_from"


def pack_id(title: str, keywords: Sequence[str], members: Sequence[PackMember]) -> str:
    """SHA-256 of what a pack says, in a canonical form."""
    content = [title, list(keywords), [[member.block, member.role] for member in members]]
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


def next_version(versions: Sequence[Pack], pack: Pack) -> Pack:
    """Return a pack with its id, as the version after these of its name; the last of them where that says the same."""
    own = pack_id(pack.title, pack.keywords, pack.members)
    if versions and versions[-1].id == own and not versions[-1].retired:
        return versions[-1]
    return replace(pack, id=own, version=versions[-1].version + 1 if versions else 1)


def role_of(block: Block) -> PackRole:
    """Return the role of a block: one merged from others is a learning."""
    return "learning" if block.meta.get(_MERGED) else "source"


def check_name(name: str) -> None:
    """Raise UsageError for a name that cannot be one."""
    if name.strip() != name or not 0 < len(name) <= _LONGEST_NAME or "@" in name or not name.isprintable():
        raise UsageError(
            f"{name[:40]!r} is no name for a pack.",
            way_out=f"Use up to {_LONGEST_NAME} printable characters without @.",
        )


def find(storage: PackStorage, reference: str) -> Pack:
    """Find the pack that `NAME`, its latest version, or `NAME@VERSION` means; raises UnknownPackError."""
    name, at, number = reference.partition("@")
    versions = storage.versions(name)
    if not versions:
        known = [pack.name for pack in storage.latest() if not pack.retired]
        way_out = (
            f"The packs are: {', '.join(known[:5])}{', …' if len(known) > 5 else ''}." if known else "None is kept."
        )
        raise UnknownPackError(f"There is no pack {name[:60]!r}.", way_out=way_out)
    if not at:
        return versions[-1]
    version = next((pack for pack in versions if str(pack.version) == number), None)
    if version is None:
        numbers = ", ".join(str(pack.version) for pack in versions[-5:])
        raise UnknownPackError(
            f"{name!r} has no version {number[:20]!r}.", way_out=f"Its latest versions are {numbers}."
        )
    return version


def usage(pack: Pack, uses: Sequence[PackUse], born: datetime, now: datetime, weight: float = 0.5) -> PackUsage:
    """Return a pack with what its log says. uses: of its name, the newest first. born: when it was kept first."""
    age = max(hours_between(born, now), 0.0) / 24.0
    last = min(max(hours_between(born, uses[0].at), 0.0) / 24.0, age) if uses else 0.0
    judged = [use.outcome for use in reversed(uses) if use.outcome is not None]
    return PackUsage(
        pack,
        len(uses),
        uses[0].at if uses else None,
        len(judged),
        sum(judged) / len(judged) if judged else None,
        continuum.needed(len(uses), last, age, HORIZON),
        born,
        age,
        age - last,
        failures(judged),
        weight,
    )


def failures(outcomes: Sequence[float]) -> int:
    """Return how many of the latest outcomes are nearer to useless; the oldest first."""
    return sum(outcome < 0.5 for outcome in outcomes[-_LATELY:])


def names_of(references: Sequence[str]) -> list[str]:
    """Return the names in `NAME@VERSION`."""
    return [reference.rpartition("@")[0] for reference in references]


def find_standing(storage: PackStorage, reference: str) -> Pack:
    """Like `find`; raises UsageError for a pack that is retired."""
    pack = find(storage, reference)
    if pack.retired:
        raise UsageError(
            f"{pack.name}@{pack.version} is retired.",
            title="A retired pack",
            way_out="Undo that, keep it anew, or use another.",
        )
    return pack


MOST = 8
"""Keywords of a pack."""
_COMMON = frozenset(COMMON_WORDS)
_WORD = re.compile(r"[^\W\d_][\w'’-]{2,}")


def keywords(texts: Sequence[str], index: LexicalIndex) -> tuple[str, ...]:
    """Return the words that stand in most of the texts and in few others, the best first: texts with it times its idf.

    A word is written as it is most often; equal ones in alphabetical order.
    """
    written: dict[str, Counter[str]] = {}
    texts_with: Counter[str] = Counter()
    for text in texts:
        here = set[str]()
        for word in _WORD.findall(text):
            stems = index.stems(word)
            if len(stems) != 1 or word.lower() in _COMMON:
                continue
            written.setdefault(stems[0], Counter())[word] += 1
            here.add(stems[0])
        texts_with.update(here)
    worth = {stem: n * idf(index.documents, index.frequency(stem)) for stem, n in texts_with.items()}
    best = sorted(worth, key=lambda stem: (-worth[stem], stem))[:MOST]
    return tuple(min(written[stem], key=lambda word: (-written[stem][word], word)) for stem in best)

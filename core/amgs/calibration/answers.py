"""Which blocks an answer used: those whose ids it cites, and those with which it shares more words than chance gives.

Nothing is asked of a model. What the question says already counts for no block, and what one block explains of the
answer counts for no second one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from amgs.index.terms import common_stems, identifiers, word_analyzer
from amgs.storable import make_storable
from amgs.storage.store import Storage
from amgs.text.scripts import spaced
from amgs.types.calibration import BlockUse, UseSign

CONTROLS = 200
"""Blocks that a use is held beside: others of the memory, or, where it has too few, others that were shown."""

CHANCE = 0.02
"""A use by words is one that at most this share of the controls matches: so many false ones are to be expected."""

WAITING = timedelta(hours=1)
"""An answer settles forecasts of frames that are no older."""

_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{8,64}(?![0-9a-f])")
"""What may cite a block; a frame shows twelve digits of an id."""

Words = frozenset[str]


def cited(answer: str, shown: Iterable[str]) -> frozenset[str]:
    """Return the ids among those shown whose beginnings, of eight digits or more, stand in an answer."""
    named = set(_ID.findall(answer.lower()))
    return frozenset(one for one in shown if any(one.startswith(name) for name in named))


def shared(
    answer: str, question: str, shown: Mapping[str, str], controls: Sequence[str]
) -> dict[str, tuple[bool, float]]:
    """Return whether an answer used each of the texts shown, by id, and the chance of so much in common.

    The text that explains most of the answer's words, the rare ones most, is held beside the controls; what it explains
    is taken out, and the next is looked for, until one is no better than chance. controls: texts of other blocks; where
    they are fewer than CONTROLS the other texts shown stand in. With fewer than 49 nothing is found.
    """
    analyzer = word_analyzer()

    def words(text: str) -> Words:
        # Not by the language of each text: of a short answer it is a guess, and the words of both would not meet.
        stems = analyzer.analyze(spaced(make_storable(text), singles=True))
        return frozenset((*stems, *(each.exact for each in identifiers(text)))) - common_stems()

    texts = {one: words(text) for one, text in sorted(shown.items())}
    others = [words(text) for text in controls[:CONTROLS]]
    left = words(answer) - words(question)
    documents = len(texts) + len(others)
    among = Counter(word for own in (*texts.values(), *others) for word in own & left)
    weight = {word: math.log((documents + 1) / count) for word, count in among.items()}

    def explained(own: Words, rest: Words) -> float:
        return sum(weight[word] for word in sorted(own & rest))

    left &= weight.keys()
    found: dict[str, tuple[bool, float]] = {}
    while len(found) < len(texts):
        waiting = [one for one in texts if one not in found]
        best = max(waiting, key=lambda one: explained(texts[one], left))
        most = explained(texts[best], left)
        stand_in = [texts[one] for one in waiting if one != best][: CONTROLS - len(others)]
        beside = [*others, *stand_in]
        matched = sum(explained(own, left) >= most - 1e-9 for own in beside)
        chance = (1 + matched) / (1 + len(beside))
        if most <= 0 or chance > CHANCE:
            return found | {one: (False, 1.0 if one != best or most <= 0 else chance) for one in waiting}
        found[best] = True, chance
        left -= texts[best]
    return found


def note(
    storage: Storage,
    answer: str,
    question: str,
    shown: Sequence[str],
    beside: Sequence[str],
    *,
    keep: int,
    now: datetime,
) -> tuple[BlockUse, ...]:
    """Return log which of the blocks shown an answer used. Of a block with a forecast it is logged, too, that it was
    not.

    shown, beside: whole ids; those beside belong to the question or to the answer, and are no controls. keep: so many
    blocks are kept in the log, the latest; nothing is logged with 0, or in a store that is open for reading only.
    """
    held = {} if storage.read_only or not keep else storage.blocks.contents_of(list(shown))
    texts = {one: held[one] for one in shown if one in held}
    if not texts or not answer.strip():
        return ()
    controls = storage.block_uses.controls([*texts, *beside], CONTROLS)
    named, by_words = cited(answer, texts), shared(answer, question, texts, controls)
    with storage.transaction():
        awaited = storage.forecasts.awaited(list(texts), now - WAITING)
        uses: list[BlockUse] = []
        for one in texts:
            used, chance = by_words[one]
            by: UseSign = "citation" if one in named else "words" if used else ""
            uses.append(BlockUse(now, one, by, 1.0 if by == "citation" else chance, awaited.get(one, "")))
        storage.block_uses.add([one for one in uses if one.by or one.prediction_id], keep)
    return tuple(uses)

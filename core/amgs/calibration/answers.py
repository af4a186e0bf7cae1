"""Find the blocks that an answer used: those whose ids it cites, and those with which it shares more words than chance
gives.

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


def find_cited_ids(answer: str, shown: Iterable[str]) -> frozenset[str]:
    """Return the ids among those shown whose beginnings, of eight digits or more, stand in an answer."""
    named = set(_ID.findall(answer.lower()))
    return frozenset(block_id for block_id in shown if any(block_id.startswith(name) for name in named))


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
        return frozenset((*stems, *(identifier.exact for identifier in identifiers(text)))) - common_stems()

    texts = {block_id: words(text) for block_id, text in sorted(shown.items())}
    others = [words(text) for text in controls[:CONTROLS]]
    left = words(answer) - words(question)
    documents = len(texts) + len(others)
    among = Counter(word for own in (*texts.values(), *others) for word in own & left)
    weight = {word: math.log((documents + 1) / count) for word, count in among.items()}

    def weigh_shared_words(own: Words, rest: Words) -> float:
        return sum(weight[word] for word in sorted(own & rest))

    left &= weight.keys()
    verdicts: dict[str, tuple[bool, float]] = {}
    while len(verdicts) < len(texts):
        waiting = [block_id for block_id in texts if block_id not in verdicts]
        best = max(waiting, key=lambda block_id: weigh_shared_words(texts[block_id], left))
        most = weigh_shared_words(texts[best], left)
        stand_in = [texts[block_id] for block_id in waiting if block_id != best][: CONTROLS - len(others)]
        beside = [*others, *stand_in]
        matched = sum(weigh_shared_words(own, left) >= most - 1e-9 for own in beside)
        chance = (1 + matched) / (1 + len(beside))
        if most <= 0 or chance > CHANCE:
            return verdicts | {
                block_id: (False, 1.0 if block_id != best or most <= 0 else chance) for block_id in waiting
            }
        verdicts[best] = True, chance
        left -= texts[best]
    return verdicts


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
    contents = {} if storage.read_only or not keep else storage.blocks.contents_of(list(shown))
    texts = {block_id: contents[block_id] for block_id in shown if block_id in contents}
    if not texts or not answer.strip():
        return ()
    controls = storage.block_uses.controls([*texts, *beside], CONTROLS)
    named, by_words = find_cited_ids(answer, texts), shared(answer, question, texts, controls)
    with storage.transaction():
        awaited = storage.forecasts.awaited(list(texts), now - WAITING)
        uses: list[BlockUse] = []
        for block_id in texts:
            used, chance = by_words[block_id]
            by: UseSign = "citation" if block_id in named else "words" if used else ""
            uses.append(BlockUse(now, block_id, by, 1.0 if by == "citation" else chance, awaited.get(block_id, "")))
        storage.block_uses.add([use for use in uses if use.by or use.prediction_id], keep)
    return tuple(uses)

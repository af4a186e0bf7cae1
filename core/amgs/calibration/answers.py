"""Find the blocks that an answer used: those whose ids it cites, and those that share more words with it than chance
explains.

No model is asked. The gateway and `memory.answered` log the uses, which then settle forecasts. Words of the question
count for no block, and words that a block explains count for no other.
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
"""Number of blocks with which a shown block is compared: others of the memory, or, where those are too few, others that
were shown.
"""

CHANCE = 0.02
"""Share of the controls that may share as many words with the answer; the expected share of false uses."""

WAITING = timedelta(hours=1)
"""Age of a frame up to which an answer settles its forecasts."""

_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{8,64}(?![0-9a-f])")
"""A citation of a block: the beginning of its id."""

Words = frozenset[str]


def find_cited_ids(answer: str, shown: Iterable[str]) -> frozenset[str]:
    """Return the shown ids of which the answer has a beginning of eight digits or more."""
    named = set(_ID.findall(answer.lower()))
    return frozenset(block_id for block_id in shown if any(block_id.startswith(name) for name in named))


def match_words(
    answer: str, question: str, shown: Mapping[str, str], controls: Sequence[str]
) -> dict[str, tuple[bool, float]]:
    """Return for each shown text, by id, whether the answer used it, and the share of controls with as much in common.

    Takes the text that explains most of the answer's words, rare ones counting more, and compares it with the controls;
    then removes those words and takes the next text, until one is no better than chance. controls: texts of other
    blocks; the other shown texts fill up to CONTROLS. With fewer than 49 controls no use can be found.
    """
    analyzer = word_analyzer()

    def words(text: str) -> Words:
        # Always the English stemmer: the language of a short answer is a guess, and its stems would not match.
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


def log_uses(
    storage: Storage,
    answer: str,
    question: str,
    shown: Sequence[str],
    beside: Sequence[str],
    *,
    keep: int,
    now: datetime,
) -> tuple[BlockUse, ...]:
    """Log which of the shown blocks an answer used, and return the uses; for a block with a forecast also that it was
    not used.

    shown: full ids. beside: ids of blocks made from the question or answer, which are no controls. keep: entries to
    keep in the log; with 0, or in a read-only store, nothing is logged and () returned.
    """
    contents = {} if storage.read_only or not keep else storage.blocks.contents_of(list(shown))
    texts = {block_id: contents[block_id] for block_id in shown if block_id in contents}
    if not texts or not answer.strip():
        return ()
    controls = storage.block_uses.controls([*texts, *beside], CONTROLS)
    named, by_words = find_cited_ids(answer, texts), match_words(answer, question, texts, controls)
    with storage.transaction():
        awaited = storage.forecasts.awaited(list(texts), now - WAITING)
        uses: list[BlockUse] = []
        for block_id in texts:
            used, chance = by_words[block_id]
            by: UseSign = "citation" if block_id in named else "words" if used else ""
            uses.append(BlockUse(now, block_id, by, 1.0 if by == "citation" else chance, awaited.get(block_id, "")))
        storage.block_uses.add([use for use in uses if use.by or use.prediction_id], keep)
    return tuple(uses)

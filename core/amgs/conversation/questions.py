"""Whether a sentence asks: by its question mark, and without one by its words (a logistic regression over them)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

_WORD = re.compile(r"[a-z0-9]+(?:['-][a-z0-9]+)*")
_ASKED = re.compile(r"\?[?!]*[\"'”’)\]]*$")
_ENDED = re.compile(r"[.!…][\"'”’)\]]*$")
_FILLERS = frozenset(
    re.findall(
        r"\S+",
        "uh um well so and but okay ok oh like yeah yes no right hmm mmm mm uhhuh then now hey wow haha lol also "
        "because or hi hello",
    )
)
_TWO_WORDS = (["you", "know"], ["i", "mean"])
ASKING = frozenset(
    re.findall(
        r"\S+",
        "what who where when why which how whose whom do does did is are was were can could will would should have "
        "has had am may might shall don't doesn't didn't isn't aren't wasn't can't couldn't won't wouldn't shouldn't "
        "haven't hasn't what's who's where's how's",
    )
)
"""Words of questions, and those that a question turns round."""
THRESHOLD = 0.29
"""Half of the F1 that is reached is the threshold that reaches it (Lipton et al. 2014)."""


def question_chance(sentence: str) -> float:
    """How likely a sentence asks: 1 with a question mark, 0 with another mark, else by its words."""
    if _ASKED.search(sentence):
        return 1.0
    if _ENDED.search(sentence):
        return 0.0
    bias, weights = _weights()
    words = question_words(sentence)
    if not words:
        return 0.0
    log_odds = bias + sum(weights.get(feature, 0.0) for feature in question_features(words))
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, log_odds))))


def is_question(sentence: str) -> bool:
    return question_chance(sentence) > THRESHOLD


def question_words(sentence: str) -> list[str]:
    """Words in lower case, without marks."""
    return _WORD.findall(sentence.lower().replace("’", "'"))


def question_features(words: Sequence[str]) -> set[str]:
    """The words, those at the beginning (^, after fillers) and at the end ($), pairs with a word of ASKING, length."""
    led = after_fillers(words)
    found = {f"n{min(len(words), 9)}", *words}
    for size in (1, 2, 3):
        if len(led) >= size:
            found.add("^" + " ".join(led[:size]))
        if len(words) >= size:
            found.add("$" + " ".join(words[-size:]))
    if words:
        found.add("0" + words[0])
    found.update(f"{a}_{b}" for a, b in pairwise(words) if a in ASKING or b in ASKING)
    return found


def after_fillers(words: Sequence[str]) -> Sequence[str]:
    """The words after "well", "okay so", "you know" and their like; at least one is left."""
    at = 0
    while at < len(words) - 1:
        if words[at] in _FILLERS:
            at += 1
        elif list(words[at : at + 2]) in _TWO_WORDS and at < len(words) - 2:
            at += 2
        else:
            break
    return words[at:]


@lru_cache(maxsize=1)
def _weights() -> tuple[float, Mapping[str, float]]:
    held = json.loads((Path(__file__).parent / "question_weights.json").read_text(encoding="utf-8"))
    return float(held["bias"]), held["weights"]

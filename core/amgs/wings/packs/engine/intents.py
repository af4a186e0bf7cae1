"""What kind of answer a question asks for, and how sure that is: a linear model over a rule and the question's common
words. English.

`intent_weights.json`: fitted on the questions of five conversations of LoCoMo (Maharana et al. 2024) and their
categories by `python -m benchmarks.packs.fit_intents`; what it does on conversations and on chats that took no
part stands in docs/results/packs.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from amgs.text.stop_words import COMMON_WORDS
from amgs.wings.packs.values import INTENTS, QuestionIntent

BIAS = ""
"""The sign that every question has."""
_WORD = re.compile(r"[a-z]+")
_WHEN = re.compile(
    r"(?:since )?when\b|how long\b|(?:in |on |for )?(?:what|which)\b.*\b(?:day|date|week|weekend|month|year)\b"
)
_LIKELY = re.compile(r"\b(?:would|might|could|likely|probably)\b")
_KINDS = re.compile(r"(?:what|which)(?: [a-z]+){0,2} [a-z]*[a-rt-z]s (?:has|have|had|do|does|did|are|were)\b")
_MANY = re.compile(r"\bhow many\b")
_PERFECT = re.compile(r"(?:what|which|where|who)\b.{0,40}?\b(?:has|have)\b")
_MONTH = re.compile(r"\b(?:january|february|march|april|june|july|august|september|october|november|december)\b")


def rule(question: str) -> QuestionIntent:
    """A time, if it asks when; what is likely, if it says so; several things, if it asks for a plural; else one."""
    told = _told(question)
    if _WHEN.match(told):
        return "temporal"
    if _LIKELY.search(told):
        return "open-domain"
    if _KINDS.match(told) or _MANY.search(told):
        return "multi-hop"
    return "single-hop"


def signs(question: str) -> dict[str, float]:
    """What a question shows, by name: the rule's verdict, its form, its common words and the first of all."""
    told = _told(question)
    words = _WORD.findall(told)
    found = {BIAS: 1.0, f"rule {rule(question)}": 1.0}
    forms = {"plural": _KINDS.match(told), "how many": _MANY.search(told), "perfect": _PERFECT.match(told)}
    forms |= {"month": _MONTH.search(told), "digit": re.search(r"\d", told)}
    found |= {name: 1.0 for name, there in forms.items() if there}
    found |= {f"word {word}": 1.0 for word in words if word in _COMMON}
    if words and words[0] in _COMMON:
        found[f"first {words[0]}"] = 1.0
    return found


@dataclass(frozen=True, eq=False)
class IntentModel:
    """weights: of each sign for each of INTENTS."""

    weights: Mapping[str, tuple[float, ...]]

    def of(self, question: str) -> dict[QuestionIntent, float]:
        """How likely each intent is; together 1."""
        scores = np.zeros(len(INTENTS))
        for name, value in signs(question).items():
            if name in self.weights:
                scores += value * np.array(self.weights[name])
        likely = np.exp(scores - scores.max())
        return dict(zip(INTENTS, (likely / likely.sum()).tolist(), strict=True))


@lru_cache(maxsize=1)
def packaged() -> IntentModel:
    """The model that ships."""
    held = json.loads((Path(__file__).parent / "intent_weights.json").read_text(encoding="utf-8"))
    return IntentModel({name: tuple(row) for name, row in held["weights"].items()})


def _told(question: str) -> str:
    return " ".join(question.lower().split())


_COMMON = frozenset(COMMON_WORDS)

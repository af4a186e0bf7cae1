"""Names in text: people, places and things by capitals, identifiers by shape, links by their brackets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from amgs.text.markdown import links

EntityKind = Literal["name", "identifier", "link"]


@dataclass(frozen=True, slots=True)
class Entity:
    """Something a text names."""

    text: str
    kind: EntityKind


class EntityRecogniser(Protocol):
    """Finds what texts name; a batch at a time, so that a model can be fed well."""

    @property
    def name(self) -> str: ...

    def recognise(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """Return the entities of each text, each once, in order of appearance."""
        ...


# Letters and digits mixed, in capitals: QX-7741-B, MSV-0417, E-17, HX2410; no measure, as 100M and 16GB are.
_IDENTIFIER = re.compile(
    r"(?<![\w.-])(?=[A-Z0-9./-]{3,}(?![\w-]))(?=[A-Z0-9./-]*\d)(?=[A-Z0-9./-]*[A-Z])(?!\d+[A-Z]{1,3}(?![\w-]))"
    r"[A-Z0-9]+(?:[-./][A-Z0-9]+)*(?![\w-])"
)
_WORD = r"[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ]+(?:[-'’][A-ZÀ-ÖØ-Þ]?[a-zà-öø-ÿ]+)*"
_NAME = re.compile(rf"(?<![\w-])(?:{_WORD}|[A-Z]{{2,}})(?![\w/-])(?:[ \t]+(?:(?:of|de|van|von|the)[ \t]+)?{_WORD})*")
_LOWER = re.compile(r"(?<![\w-])[a-zà-öø-ÿ]{2,}(?![\w-])")
_POSSESSIVE = re.compile(r"['’]s$")
_STARTS = re.compile(r"(?:^|[.!?:…\n|>*#(\"“”«-])[\s*_\"“(]*$")
_NO_NAMES = frozenset(
    re.findall(
        r"[\w']+",
        "monday tuesday wednesday thursday friday saturday sunday january february march april may june july "
        "august september october november december i i'm i've i'd i'll ok yes no the a an",
    )
)


class RuleRecogniser:
    """Names by capitals in mid-sentence, identifiers by shape, `[[links]]`; no model.

    What it knows of words it learns from the batch: a single word is a name only where it stands capitalised
    inside a sentence somewhere, and more often with a capital than without.
    """

    name = "rules"

    def recognise(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        spans = [_spans(text) for text in texts]
        inside = Counter(name for runs in spans for name, starts, _ in runs if not starts)
        plain = Counter(word for text in texts for word in _LOWER.findall(text))
        names = {n for n, count in inside.items() if " " in n or count > plain[n.lower()]}
        return [self._of(text, runs, names) for text, runs in zip(texts, spans, strict=True)]

    def _of(self, text: str, runs: list[tuple[str, bool, int]], names: set[str]) -> tuple[Entity, ...]:
        entities = [(at, Entity(name, "name")) for name, _, at in runs if name in names]
        entities += [(m.start(), Entity(m[0], "identifier")) for m in _IDENTIFIER.finditer(text)]
        entities.sort(key=lambda pair: pair[0])
        ordered = [entity for _, entity in entities] + [Entity(target, "link") for target in links(text)]
        return tuple(dict.fromkeys(ordered))


def _spans(text: str) -> list[tuple[str, bool, int]]:
    """Return (name, whether it opens a sentence, its start) for every run of capitalised words."""
    runs = []
    for match in _NAME.finditer(text):
        words = match[0].split()
        opens = bool(_STARTS.search(text[max(0, match.start() - 12) : match.start()]) or match.start() == 0)
        # "The Hallauer clock", "When Beppo came": the word that opens the sentence is not part of the name.
        if opens and len(words) > 1:
            words, opens = words[1:], False
        name = _POSSESSIVE.sub("", " ".join(words))
        if name.lower().removesuffix("s") not in _NO_NAMES and name.lower() not in _NO_NAMES and len(name) > 1:
            runs.append((name, opens, match.start()))
    return runs

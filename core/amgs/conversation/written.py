"""Let a language model write digests, and keep only sentences whose words are in the messages ("founded" ones)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amgs.errors import ModelError
from amgs.text.language_model import TextModel

if TYPE_CHECKING:
    from amgs.conversation.summaries import AbstractiveSummariser

_FOUNDED = 0.7
"""Least share of a sentence's words, without common ones, that must be in the messages."""

_FIGURE = re.compile(r"\d+")
_CAPITAL = re.compile(r"\b[^\W\d_a-zß-ÿ]\w+")

_NO = re.compile(r"\bno\b", re.IGNORECASE)

_PROMPT = """Summarise these messages of a conversation in {words} words or fewer. Use only what they say, in their \
own words, with the names and numbers that matter. Write plain sentences and nothing else.

{messages}"""

_OF_NOTES = """Summarise these notes in {words} words or fewer{asked}. Use only what they say, in their own words, \
with the names and numbers that matter. Write plain sentences and nothing else.

{notes}"""

_HELD = 4_096


@dataclass(frozen=True, slots=True)
class ModelSummariser:
    """Has a model write digests, of which only founded sentences stay; see `AbstractiveSummariser`."""

    model: TextModel

    @property
    def name(self) -> str:
        return self.model.name

    def summarise(self, texts: Sequence[str], most_tokens: int) -> str:
        """Return a summary of messages in order of time; "" where the model fails or nothing it writes is founded, and
        then the caller cites.
        """
        prompt = _PROMPT.format(words=max(1, most_tokens * 2 // 3), messages="\n\n".join(texts))
        try:
            return keep_founded_sentences(self.model.write(prompt, most_tokens), texts)
        except ModelError:
            return ""


def summarise_notes(texts: Sequence[str], query: str, most_tokens: int, model: TextModel) -> dict[int, str]:
    """Return the founded sentences that a model writes about notes for a question, each by the index of the note that
    it is most similar to.
    """
    asked = f", for the question “{query}”" if query else ""
    prompt = _OF_NOTES.format(words=max(1, most_tokens * 2 // 3), asked=asked, notes="\n\n".join(texts))
    try:
        written = model.write(prompt, most_tokens)
    except ModelError:
        return {}
    summaries: dict[int, str] = {}
    for sentence, place in _find_founded_sentences(written, texts):
        summaries[place] = f"{summaries[place]} {sentence}" if place in summaries else sentence
    return summaries


def keep_founded_sentences(text: str, sources: Sequence[str]) -> str:
    """Return the founded sentences of a text: enough of their words are in the sources, all of their names, numbers,
    dates, paths, commands and ids, and they deny something exactly where the most similar source sentence does. That
    the words are combined as in the sources is not checked.
    """
    return " ".join(sentence for sentence, _ in _find_founded_sentences(text, sources))


def _find_founded_sentences(text: str, sources: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the founded sentences, each with the index of the source that has the most similar sentence."""
    from amgs.conversation.cohesion import stems
    from amgs.conversation.findings import denies
    from amgs.conversation.why import find_invented
    from amgs.text.prose import sentences
    from amgs.types.conversation import Message

    def denying(sentence: str) -> bool:
        return denies(sentence) or _NO.search(sentence) is not None

    places = [(n, source[start:end]) for n, source in enumerate(sources) for start, end in sentences(source)]
    source_sentences = [sentence for _, sentence in places]
    stemmed = [frozenset(stems(sentence)) for sentence in source_sentences]
    known = frozenset(stem for words in stemmed for stem in words)
    figures = frozenset(_FIGURE.findall("\n".join(sources)))
    originals = [Message(number, "user", source) for number, source in enumerate(sources, 1)]

    def source_of(sentence: str) -> int | None:
        """Return the index of the source that a sentence rests on; None where there is none."""
        words = frozenset(stems(sentence))
        # A name that opens a sentence is not told from another word there.
        capital = frozenset(stems(" ".join(_CAPITAL.findall(sentence))))
        if (
            not words
            or sentence[-1] not in ".!?"
            or not capital <= known
            or not figures.issuperset(_FIGURE.findall(sentence))
        ):
            return None
        like = max(
            range(len(source_sentences)),
            key=lambda n: len(words & stemmed[n]) / (1 + len(words | stemmed[n])),
            default=None,
        )
        if like is None or denying(sentence) != denying(source_sentences[like]):
            return None
        if len(words & known) < _FOUNDED * len(words) or find_invented(sentence, originals):
            return None
        return places[like][0]

    for start, end in sentences(text):
        place = source_of(text[start:end])
        if place is not None:
            yield text[start:end], place


@dataclass(frozen=True, slots=True)
class RememberedSummariser:
    """Caches another summariser's answers while a memory is open, so that what was sent does not change and each
    summary is written only once. As thread-safe as the other summariser.
    """

    own: AbstractiveSummariser
    _summaries: dict[tuple[tuple[str, ...], int], str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.own.name

    def summarise(self, texts: Sequence[str], most_tokens: int) -> str:
        """See `AbstractiveSummariser`; cached, on a single line."""
        key = tuple(texts), most_tokens
        summary = self._summaries.get(key)
        if summary is None:
            if len(self._summaries) >= _HELD:
                self._summaries.clear()
            summary = self._summaries[key] = " ".join(self.own.summarise(texts, most_tokens).split())
        return summary

"""Add the features of a search that need the texts of its best candidates: days that a question names, turns
that cannot answer it, and names shared with the best hits.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from amgs.clock import earlier
from amgs.index.arrays import contains, places
from amgs.index.lexical import LexicalIndex
from amgs.index.terms import idf
from amgs.retrieval.features import FEATURES, MOST_POSTINGS, Features
from amgs.retrieval.similarity import contributions
from amgs.retrieval.sources import ASSISTANTS, TURN, USERS
from amgs.text.intervals import Modality, ToldDays, dates_in, read_told_days
from amgs.text.language import foreign_function_words, table_of
from amgs.text.words import COMMON_WORDS
from amgs.types import Block, BlockFilter

LEAST_SURE = 0.5
"""Confidence above which the reading of a date is used."""

MOST_CHARACTERS = 1000
"""A longer text is no question: its dates are part of its content."""

LONGEST = 31
"""Days of a span; a longer span hardly narrows down when something was said."""

BESIDE_WORDS = 1 / 3
"""Weight of `written_then` where the question asks for more than the days: "how much diesel came in October?" may be
answered by a note of November.
"""

MOST_BLOCKS = 200
"""Blocks of the named days up to which all are candidates; of more, only what words, meaning and edges find."""

MOST_LATEST = 10
"""Number of best candidates that `add_latest` orders by time."""

_COMMON = frozenset(COMMON_WORDS)
_ANOTHER_DAY = timedelta(days=45)
"""How much later `gives_its_day` reads a text again: by then "today" is another day, and "last month" another month."""
_EASTERNMOST, _WESTERNMOST = timedelta(hours=14), timedelta(hours=12)
_ASKED_WORD = re.compile(r"[^\W\d_]+")


Blocks = Callable[[Sequence[int]], Mapping[int, Block]]


@dataclass(frozen=True, slots=True)
class AskedDays:
    """Days that a question names, first and last inclusive. alone: it asks for whatever was said or done on them."""

    first: date
    last: date
    alone: bool = True

    def within(self, wanted: BlockFilter) -> BlockFilter:
        """Return the filter narrowed to blocks written on these days in any time zone; `contains_writing` then checks
        each by its writer's own calendar.
        """
        since = earlier(datetime.combine(self.first, time.min, UTC), _EASTERNMOST)
        until = earlier(datetime.combine(self.last, time.min, UTC), -timedelta(days=1) - _WESTERNMOST)
        return replace(
            wanted,
            since=since if wanted.since is None else max(since, wanted.since),
            until=until if wanted.until is None else min(until, wanted.until),
        )

    def overlap(self, days: ToldDays) -> bool:
        """Return whether a span that a text mentions includes any of these days; long and unsure spans do not count."""
        short = (days.last - days.first).days < LONGEST
        return short and days.confidence > LEAST_SURE and days.first <= self.last and days.last >= self.first

    def contains_writing(self, block: Block) -> bool:
        """Return whether a block was written on any of these days, by its writer's calendar."""
        return self.first <= block.written.date() <= self.last

    def are_mentioned_by(self, block: Block) -> bool:
        """Return whether a block's text mentions any of these days. "Today" and "this week" do not count: they say no
        more than when the text was written.
        """
        written = block.written.date()
        return any(self.overlap(days) and not days.first <= written <= days.last for days in _read_told_days(block))


def find_asked_days(text: str, now: datetime) -> AskedDays | None:
    """Return the days that a question names, from the first to the last; None where it names none.

    now: the moment of asking, in the asker's time zone. Unsure readings, open spans ("since May"), spans longer than
    LONGEST days and texts longer than MOST_CHARACTERS name none.
    """
    if len(text) > MOST_CHARACTERS:
        return None
    words = table_of(text)
    named = [
        mention
        for mention in dates_in(text, now)
        if mention.interval.modality is Modality.ON
        and mention.interval.confidence > LEAST_SURE
        and not words.open.search(text, 0, mention.start)
    ]
    if not named:
        return None
    first = min(mention.interval.whole[0] for mention in named)
    last = max(mention.interval.whole[1] for mention in named)
    if (last - first).days >= LONGEST:
        return None
    rest = "".join(c for i, c in enumerate(text) if not any(m.start <= i < m.end for m in named))
    asked = {word.lower() for word in _ASKED_WORD.findall(words.talking.sub(" ", rest))} - _COMMON
    asked -= foreign_function_words(text)
    return AskedDays(first, last, alone=not asked)


def gives_its_day(block: Block) -> bool:
    """Return whether a text writes out the day it was written on, so that words already match the date.

    "Today" and "this week" do not: read from _ANOTHER_DAY they mean other days.
    """
    written = block.written.date()
    if not any(days.first <= written <= days.last for days in _read_told_days(block)):
        return False
    read = [mention.interval for mention in dates_in(block.content, block.written + _ANOTHER_DAY)]
    sure = [interval.whole for interval in read if interval.confidence > LEAST_SURE]
    return any(first <= written <= last for first, last in sure)


def add_latest(evidence: Features, asked: str, blocks: Blocks) -> Features:
    """Fill the feature `latest` of the best candidates where the question asks what holds now: of two decisions the
    later block counts. blocks: reads blocks by number.
    """
    best = np.argsort(-contributions(evidence).sum(axis=1), kind="stable")[:MOST_LATEST]
    if best.size < 2 or not table_of(asked).holding.search(asked):
        return evidence
    read = blocks(evidence.numbers[best].tolist())
    days = [read[number].written.date() for number in evidence.numbers[best].tolist()]
    values = evidence.values.copy()
    order = sorted(set(days))
    values[best, list(FEATURES).index("latest")] = [order.index(day) / max(len(order) - 1, 1) for day in days]
    return replace(evidence, values=values)


def _read_told_days(block: Block) -> Iterable[ToldDays]:
    return read_told_days(block.meta.get("dates") or ())


_FEW = 3
"""Words of a sentence beside a question up to which it says nothing: "Hello there!"."""
_LONGEST = 400
"""Characters up to which a turn is checked; a longer turn is taken to say something."""

_SPEAKER = re.compile(r"^[^\W\d_][\w.'’ -]{0,40}:\s+")
_SENTENCE = re.compile(r"[^.!?…。！？\n]*[^\W_][^.!?…。！？\n]*[.!?…。！？]*")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_NOT = (
    r"(?:do(?:es)?|did|have|has|had|am|are|is|was|were|can|could|wo|would|ca|'m|'ve)(?:n['’]?t|['’]nt|\s*not|\s+never)"
)
_PATTERNS: Mapping[str, Sequence[str]] = tomllib.loads(
    resources.files("amgs.retrieval").joinpath("non_answers.toml").read_text("utf-8")
)


def _compile_all(*kinds: str) -> re.Pattern[str]:
    """Return a pattern that matches what any pattern of these kinds does."""
    patterns = "|".join(pattern for kind in kinds for pattern in _PATTERNS[kind])
    return re.compile(patterns.replace("NOT", _NOT), re.IGNORECASE)


_IGNORANT, _IGNORANT_ANYBODY, _IGNORANT_ASSISTANT = (
    _compile_all(kind) for kind in ("english", "english of anything", "english of an assistant")
)
_IGNORANT_ELSEWHERE = _compile_all(*(kind for kind in _PATTERNS if not kind.startswith("english")))
_CLAUSE = re.compile(r"[.!?…,;:\n—–(]|\b(?:and|because|but|so|though|although|that|which|while)\b", re.IGNORECASE)
_SPEAKERS = frozenset(
    re.findall(
        r"\S+",
        "we you it this there nobody none anything user assistant profile transcript text passage log logs chat chats "
        "context conversation conversations data database details document documents file files history information "
        "memory message messages notes record records",
    )
) | {""}
"""Words of which one in a clause says that it is about who speaks ("" is "I"), who listens, or their notes."""
_OTHERS = frozenset(("he", "she", "they", "who"))
"""Whose ignorance is no answer: with "I", and those who are not named ("Don't know")."""
_GENERAL = re.compile(
    r"\b(?:usually|typically|generally|commonly|in\s+general|normally|differs?|var(?:y|ies)|depend(?:s|ing)?)\b"
    r"|\bthere\s+(?:are|is)\s+(?:several|many|various|different|some|lots|plenty|a\s+(?:number|lot|few|range|variety))\b"
    r"|\b(?:it|that)\s+(?:could|might|may)\s+be\b|\b(?:most|some|many)\s+(?:people|of\s+them)\b",
    re.IGNORECASE,
)
"""How an assistant speaks in general terms when it does not know the case that is meant."""


_POLITE = frozenset(
    re.findall(
        r"\S+",
        "absolutely awesome cool glad good great happy hello help helpful hi interesting lovely nice oh ok okay "
        "perfect please pleasure sounds sure thank thanks welcome wonderful wow",
    )
)
"""Words of thanks, greeting and assent: a turn that adds nothing else to the question's words answers nothing."""
_THANKS = re.compile(rf"(?<![^\W_])(?:{'|'.join(sorted(_POLITE))})(?![^\W_])", re.IGNORECASE)
_SAYS_LITTLE = _POLITE | frozenset(COMMON_WORDS) - {"no", "not", "never", "yes"}


def mark_non_answers(evidence: Features, asked: str, blocks: Blocks, most: int | None = None) -> Features:
    """Fill the feature `no_answer`, for turns of a dialogue and for notes whose metadata gives a speaker's role.

    Does nothing where the question asks what was asked, or what is not known, and where all candidates or none would be
    marked. blocks: reads blocks by number. most: check this many of the likeliest first, and the rest only where fewer
    than a third of those may answer; None: check all.

    An earlier question in memory shares more words with the question than any answer does, and so does "I don't know":
    without this each vain attempt would push the answer down by two places. "I don't know" is recognised in the
    languages of `non_answers.toml`; general remarks and thanks in English alone.
    """
    if table_of(asked).asking.search(asked):
        return evidence
    column = np.zeros(evidence.numbers.size)
    likely = np.argsort(-contributions(evidence).sum(axis=1), kind="stable")
    for rows in (likely[:most], likely[likely.size if most is None else most :]):
        read = blocks(evidence.numbers[rows].tolist())
        for row in rows.tolist():
            block = read[int(evidence.numbers[row])]
            role = str(block.meta.get("role") or block.meta.get("speaker") or "").lower()
            if evidence.form[row] != TURN and role not in USERS | ASSISTANTS:
                continue
            text = _SPEAKER.sub("", block.content, count=1)
            column[row] = len(text) <= _LONGEST and not may_answer(text, asked, of_assistant=role in ASSISTANTS)
        if 3 * np.count_nonzero(column[rows]) <= 2 * rows.size:
            break
    if not column.any() or column.all():
        return evidence
    values = evidence.values.copy()
    values[:, list(FEATURES).index("no_answer")] = column
    return replace(evidence, values=values)


def may_answer(text: str, asked: str, *, of_assistant: bool) -> bool:
    """Return whether a text may answer the question: it does not only ask, thank or say that it does not know, or it
    gives a name or a number that is not in the question. of_assistant: general remarks are no answer either.
    """
    vain, general, words, names = _read_turn(text)
    question_words = _question_words(asked)
    thanks = words is not None and words <= question_words | _SAYS_LITTLE
    return not (vain or (of_assistant and general) or thanks) or not names <= question_words


@lru_cache(maxsize=20_000)
def _read_turn(text: str) -> tuple[bool, bool, frozenset[str] | None, frozenset[str]]:
    """Return whether a text asks or does not know, and whether it speaks in general; its bare words if it thanks; and
    its bare names and numbers.
    """
    vain = is_question(text) or bool(_IGNORANT_ANYBODY.search(text) or _IGNORANT_ELSEWHERE.search(text))
    vain = vain or any(_is_of_speaker(text[: match.start()]) for match in _IGNORANT.finditer(text))
    words = frozenset(map(_bare, _WORD.findall(text))) if _THANKS.search(text) else None
    names = (
        _bare(word)
        for sentence in _SENTENCE.findall(_IGNORANT_ELSEWHERE.sub("", text))
        for index, word in enumerate(_WORD.findall(sentence))
        if any(c.isdigit() for c in word) or (index and word[0].isupper())
    )
    general = bool(_GENERAL.search(text) or _IGNORANT_ASSISTANT.search(text))
    return vain, general, words, frozenset(names)


def _is_of_speaker(before: str) -> bool:
    """Return whether a clause that begins so is about who speaks, who listens or their notes, and not somebody else."""
    words = frozenset(_bare(word) for word in _WORD.findall(_CLAUSE.split(before)[-1]))
    return not words.isdisjoint(_SPEAKERS) or words <= _SAYS_LITTLE - _OTHERS


def is_question(text: str) -> bool:
    """Return whether a text is a question and little else: no other sentence has more than _FEW words."""
    text = text.replace("？", "?")
    statements = [sentence for sentence in _SENTENCE.findall(text) if "?" not in sentence]
    return "?" in text and all(len(_WORD.findall(statement)) <= _FEW for statement in statements)


def _bare(word: str) -> str:
    """Return a word in lower case, up to its apostrophe; "" for "I", "I'm" and the like, which add nothing."""
    bare = word.lower().replace("’", "'").partition("'")[0]
    return "" if bare == "i" else bare


@lru_cache(maxsize=8)
def _question_words(asked: str) -> frozenset[str]:
    """Return the bare words of a question, and ""."""
    return frozenset(("", *map(_bare, _WORD.findall(asked))))


BEST = 5
"""Number of hits whose names count."""

MOST_NAMES = 30
"""Names of a hit that count, the rarest first."""

MOST_NAMING = 100
"""A name in more blocks than this is ignored."""

_NAME = re.compile(r"(?<!\w)[^\W\d_a-z][\w'’-]*(?:[ \t]+(?:(?:of|the|de|and)[ \t]+)?[^\W\d_a-z][\w'’-]*)*")
_LETTERS = re.compile(r"[^\W_]+")


def add_shared_names(evidence: Features, keyword: LexicalIndex, blocks: Blocks) -> Features:
    """Fill the feature `shared_names` of the candidates. blocks: reads blocks by number.

    Each of the best hits has a weight by its score. The weight flows to its names by their rarity, and from a name in
    equal parts to the blocks that have it. The feature is the square root of the greater of a candidate's own weight
    and the weight that flows to it, each scaled to at most 1: so the best hits keep their places, and blocks with their
    names rank beside them. Where no name is shared, nothing changes. Turns of a dialogue receive nothing, because their
    neighbours say more; they get the mean of the other texts at least, so as not to fall behind.

    It is the second hop of a question whose answer needs two texts: the first hit on "who founded the club he played
    for?" names the club, and other blocks that name it may have the answer. It takes a single step of PageRank from the
    best hits over the graph of blocks and names (HippoRAG, Gutiérrez et al. 2024); further steps were tried and add
    nothing.
    """
    linear = contributions(evidence).sum(axis=1)
    best = np.argsort(-linear, kind="stable")[:BEST].tolist()
    text = evidence.form != TURN
    if not text[best].any():
        return evidence
    chance = np.exp(linear[best] - linear[best[0]])
    read = blocks([int(evidence.numbers[row]) for row in best])
    index = _NameIndex(keyword, evidence.numbers)
    own, flow = np.zeros(linear.size), np.zeros(linear.size)
    own[best] = chance
    for row, weight in zip(best, chance.tolist(), strict=True):
        flow += text * weight * index.spread(read[int(evidence.numbers[row])].content)
    if not flow.any():
        return evidence
    share = np.sqrt(np.maximum(own, flow / flow.max()))
    share[~text] = np.maximum(share[~text], share[text].mean())
    values = evidence.values.copy()
    values[:, list(FEATURES).index("shared_names")] = share
    return replace(evidence, values=values)


class _NameIndex:
    """Finds the candidates that contain a name; remembers words and names, so that each is looked up only once."""

    def __init__(self, keyword: LexicalIndex, numbers: NDArray[np.int64]) -> None:
        self._keyword, self._numbers = keyword, numbers
        self._words: dict[str, tuple[tuple[int, str], ...]] = {}
        self._stem_blocks: dict[str, NDArray[np.int64]] = {}
        self._name_rows: dict[str, tuple[NDArray[np.int64], int]] = {}

    def spread(self, text: str) -> NDArray[np.float64]:
        """Return (m,) how a text's weight of 1 flows through its names to the candidates."""
        phrases = name_phrases(text)
        self._look_up({word for name in phrases for word in name.split()})
        rarities = {name: self._rarity(name) for name in phrases}
        rarest = sorted((name for name in rarities if rarities[name] > 0), key=lambda name: -rarities[name])[
            :MOST_NAMES
        ]
        received = np.zeros(self._numbers.size)
        total = sum(rarities[name] for name in rarest)
        for name in rarest:
            if name not in self._name_rows:
                blocks = self._blocks(name)
                at = places(self._numbers, blocks)
                self._name_rows[name] = (at[at >= 0], blocks.size)
            holding, many = self._name_rows[name]
            if many > 1:
                received[holding] += rarities[name] / total / many
        return received

    def _look_up(self, words: Collection[str]) -> None:
        """Record for each new word its uncommon stems, each with how many blocks contain it."""
        for word, stems in self._keyword.stems_of(set(words) - self._words.keys()).items():
            rare_stems = [stem for stem in stems if stem not in _COMMON]
            self._words[word] = tuple((self._keyword.frequency(stem), stem) for stem in rare_stems)

    def _rarity(self, name: str) -> float:
        """Return the idf of a name's rarest word; 0 where no block has it, or more than MOST_BLOCKS."""
        least = min((frequency for frequency, _ in self._stems(name)), default=0)
        return idf(self._keyword.documents, least) if 0 < least <= MOST_NAMING else 0.0

    def _stems(self, name: str) -> list[tuple[int, str]]:
        """Return (number of blocks, stem) for each stem of a name's words, the rarest first."""
        return sorted({pair for word in name.split() for pair in self._words[word]})

    def _blocks(self, name: str) -> NDArray[np.int64]:
        """Return the numbers, ascending, of the blocks that contain every word of a name."""
        numbers: NDArray[np.int64] | None = None
        for _, stem in self._stems(name):
            if numbers is not None and numbers.size < 2:
                break
            if stem not in self._stem_blocks:
                self._stem_blocks[stem] = np.sort(self._keyword.postings(stem, MOST_POSTINGS).numbers)
            holders = self._stem_blocks[stem]
            numbers = holders if numbers is None else numbers[contains(holders, numbers)]
        return np.zeros(0, dtype=np.int64) if numbers is None else numbers


def name_phrases(text: str) -> Collection[str]:
    """Return the possible names in a text, each once: runs of capitalised words, without common words at the start."""
    phrases: dict[str, None] = {}
    for match in _NAME.finditer(text):
        words = list(_LETTERS.findall(match[0].lower()))
        while words and words[0] in _COMMON:
            words = words[1:]
        if len("".join(words)) > 2:
            phrases[" ".join(words)] = None
    return phrases

"""Find the mentions in messages, by their form and by grammar: resolved on intake, and stored beside the
text, which stays as it was said.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from amgs.conversation.coreference.passage import (
    COMMON,
    PERSON_NOUNS,
    CorefMention,
    CorefTurn,
    Gender,
    GrammarParser,
    Kind,
    find_mentions,
    singular,
    word_set,
)
from amgs.conversation.coreference.resolver import GREETINGS, Resolution, bare_name, resolve
from amgs.conversation.findings import COMMAND, PATH
from amgs.conversation.messages import number_sessions
from amgs.text import names
from amgs.text.intervals.grammar import DateMention, dates_in
from amgs.text.names import cues_beside
from amgs.text.words import COMMON_WORDS
from amgs.types.conversation import Message
from amgs.types.conversation_views import MentionKind, MentionType, ResolvedMention

# A new form is a line in a table here, with its confidence.
BY_SHAPE: Mapping[MentionType, float] = {
    "url": 0.99,
    "email": 0.99,
    "command": 0.95,
    "path": 0.9,
    "identifier": 0.9,
    "version": 0.9,
    "money": 0.97,
    "percent": 0.97,
    "schedule": 0.9,
    "time": 0.9,
    "quantity": 0.9,
}
"""How often each form is right."""

LONGEST = 20_000
"""Characters of a message that are searched: a page of a log has more than anybody asks for."""
_OF_TOOL = 2_000
"""Characters of a tool's output that are searched for dates: a log has a date in each line."""
MOST = 200
"""Mentions of a message that are stored, the first ones."""
SHAPE = "shape"

_UNITS = (
    r"(?:%|per ?cent|°C?|[kKMGT]i?B|ms|k?m|cm|mm|k?g|lbs?|oz|px|mph|h|min|miles?|met(?:er|re)s?|feet|inch(?:es)?|"
    r"pounds?|kilos?|kilomet(?:er|re)s?|seconds?|minutes?|hours?|days?|weeks?|months?|years?|tokens?|lines?|pages?|times)"
)
_FIGURE = r"[-+]?\d[\d,]*(?:\.\d+)?"
_NUMBER_WORDS = r"(?:two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|fifty)"
_CURRENCY = r"(?:dollars?|euros?|pounds|bucks|cents|USD|EUR|GBP|CHF)"
_PERIOD = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|day|morning|evening|night|weekday|weekend|week|month|quarter|"
    r"year|spring|summer|autumn|fall|winter|hour)"
)
_SHAPES: tuple[tuple[MentionType, re.Pattern[str]], ...] = (
    ("url", re.compile(r"\b(?:https?://|www\.)[^\s<>\"'`)\]}]+[^\s<>\"'`)\]}.,;:!?]")),
    ("email", re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+(?![\w@])")),
    ("command", COMMAND),
    ("path", PATH),
    (
        "identifier",
        re.compile(
            r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b"
            r"|(?<![\w&])#\d{1,7}\b|(?<![\w.-])[A-Z][A-Z0-9]{1,9}-\d{1,7}\b(?!-)"
        ),
    ),
    (
        "version",
        re.compile(
            r"(?<![\w.])(?:v\d+(?:\.\d+){0,3}|\d+\.\d+\.\d+(?:\.\d+)?)(?:[-+][\w.]{1,20})?"
            r"(?![\w.]*\w)"
        ),
    ),
    (
        "money",
        re.compile(
            rf"[$€£]\s?\d[\d,]*(?:\.\d+)?(?:\s?(?:k|m|bn|thousand|million|billion)\b)?"
            rf"|(?<![\w.,]){_FIGURE}\s?(?:(?:k|thousand|million|billion)\s)?(?:[€£]|{_CURRENCY}\b)",
            re.IGNORECASE,
        ),
    ),
    ("percent", re.compile(rf"(?<![\w.,]){_FIGURE}\s?(?:%|per ?cent\b)", re.IGNORECASE)),
    (
        "schedule",
        re.compile(
            rf"\b(?:every|each)\s(?:(?:single|other|second|third|few|\d{{1,2}}|{_NUMBER_WORDS})\s)?{_PERIOD}s?\b"
            r"|\b(?:once|twice|three times)\s(?:a|per|every)\s(?:day|week|month|year)\b"
            r"|\bon\s(?:mon|tues|wednes|thurs|fri|satur|sun)days\b",
            re.IGNORECASE,
        ),
    ),
    (
        "time",
        re.compile(
            r"(?<![\w:.$€£])(?:\d{1,2}(?::\d\d)?\s?(?:[ap]\.?m\.?(?!\w))|(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?![\w:]))"
            r"|\b(?:noon|midnight)\b|\b\d{1,2}\so['’]clock\b",
            re.IGNORECASE,
        ),
    ),
    (
        "quantity",
        re.compile(rf"(?<![\w.,:/$€£#-])(?:{_FIGURE}|{_NUMBER_WORDS}\b)\s?(?:{_UNITS})(?![\w/])", re.IGNORECASE),
    ),
)  # fmt: skip
_DUE = re.compile(
    r"(?:\b(?:due|no later than|not later than|deadline(?:\s(?:is|of))?:?|finish(?:ed)?\sby|done\sby|ready\sby|by)"
    r"(?:\s(?:on|the|end\sof|the\send\sof))?)\s+$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Found:
    start: int
    end: int
    type: MentionType
    means: str
    confidence: float
    because: str


def find_by_shape(message: Message) -> tuple[ResolvedMention, ...]:
    """Return the mentions of a message that the forms find, in order and without overlaps."""
    text = message.text[:LONGEST]
    taken: list[_Found] = []
    free = bytearray(b"\1" * len(text))
    for finding in (*_find_shapes(text, _FIRST), *_find_dates(message, text), *_find_shapes(text, _LATER)):
        if all(free[finding.start : finding.end]):
            free[finding.start : finding.end] = bytes(finding.end - finding.start)
            taken.append(finding)
    return tuple(
        ResolvedMention(
            message.number,
            finding.start,
            finding.end,
            text[finding.start : finding.end],
            "date" if finding.type in ("date", "deadline") else "entity",
            finding.type,
            (finding.means,),
            finding.confidence,
            finding.because,
            SHAPE,
        )
        for finding in sorted(taken, key=lambda finding: finding.start)[:MOST]
    )


_FIRST = ("url", "email", "command", "path", "identifier", "version", "money", "percent", "schedule")
"""Types that may contain what looks like a date."""
_LATER = ("time", "quantity")


def _find_shapes(text: str, types: tuple[str, ...]) -> Iterator[_Found]:
    """Yield the matches of these types in a text; they may overlap."""
    for type_, pattern in _SHAPES:
        if type_ in types:
            for match in pattern.finditer(text):
                group = (match.lastindex or 0) if type_ == "command" else 0
                start, end = match.span(group)
                means = " ".join(text[start:end].split())
                yield _Found(start, end, type_, means, BY_SHAPE[type_], "shape")


def _find_dates(message: Message, text: str) -> Iterator[_Found]:
    if message.at is None:
        return
    for date in dates_in(text[:_OF_TOOL] if message.role == "tool" else text, message.at):
        due = _DUE.search(text[max(0, date.start - 40) : date.start])
        type_: MentionType = "deadline" if due else "date"
        yield _Found(date.start, date.end, type_, days(date), date.interval.confidence, "told from the message's day")


def days(date: DateMention) -> str:
    """Return the days of a date as ISO 8601, with `..` for an open end."""
    interval = date.interval
    if interval.first is None or interval.last is None:
        first, last = ("" if d is None else d.isoformat() for d in (interval.first, interval.last))
        return f"{first or '..'}/{last or '..'}"
    first_day, last_day = interval.whole
    return first_day.isoformat() if first_day == last_day else f"{first_day}/{last_day}"


PARSER = "parser"
RELATIONSHIP: Mapping[Kind, float] = {Kind.I: 0.95, Kind.YOU: 0.9, Kind.WE: 0.6, Kind.PERSON: 0.9, Kind.NAME: 0.9}
"""Confidence in a person who is somebody's, by the kind of the possessive; multiplied by that of whom it means."""
OBJECT: Mapping[Kind, float] = {Kind.I: 0.7, Kind.YOU: 0.6, Kind.WE: 0.4, Kind.PERSON: 0.7, Kind.NAME: 0.7}
"""Confidence in a thing that is somebody's: in every third case it is no thing at all ("my understanding"). Counted on
110 cases, rounded.
"""
CONCEPT = 0.8
"""Confidence in a concept, counted on 25 cases."""
BY_NAME: Mapping[str, Mapping[MentionType | None, float]] = {
    "agreed": {None: 0.93, "organisation": 0.75},
    "few": {None: 0.6, "group": 0.9, "work": 0.8, "place": 0.7, "person": 0.5, "organisation": 0.4, "product": 0.3},
    "torn": {None: 0.25},
}
"""Confidence in a name by its type and cues: three or more that agree, fewer, or contradicting ones. Counted on 210
random names of chats and meetings, rounded. A speaker is a person with .95.
"""
TYPES: Mapping[str, MentionType] = {
    "PERSON": "person",
    "ORG": "organisation",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
    "PRODUCT": "product",
    "EVENT": "event",
    "WORK_OF_ART": "work",
    "NORP": "group",
    "person": "person",
    "place": "place",
    "organisation": "organisation",
    "project": "product",
}
"""Types of mention by the parser's labels and by cues."""
_WORD = re.compile(r"[^\W\d_]+")
_EDGES = re.compile(r"^(?:(?:the|a|an)\s|[^\w])+|(?:['’]s?|[^\w+#])+$", re.IGNORECASE)
_NO_NAMES = word_set("kay mm hmm hm yep yup nope ha haha lol") | GREETINGS | frozenset(COMMON_WORDS)
_OFTEN, _SHARE = 3, 0.75
_NOTHING = word_set(
    "mind heart head eye hand foot face back body hair skin muscle nail strength soul life way opinion view "
    "thought thinking idea feeling love best favorite favourite own turn fault pleasure thing stuff side time lot "
    "kind part rest day week weekend month year morning evening night name self sense experience interest point "
    "case place end help support advice question answer response reply suggestion choice guess hope wish luck "
    "mood taste style passion goal dream word message share attention journey first number age birthday pace "
    "progress horizon seat moment description dedication precision reputation motivation ambition imagination "
    "appreciation satisfaction energy beauty someone somebody anyone anybody"
)
"""Nouns that hardly ever name a thing that is mentioned again."""
_ABSTRACT = ("ness", "ity", "ence", "ance", "ism")


def find_by_grammar(
    messages: Sequence[Message], wanted: Collection[int], taken: Sequence[ResolvedMention], parser: GrammarParser
) -> tuple[ResolvedMention, ...]:
    """Return the mentions in messages of users and assistants.

    messages: all that are parsed, as context. wanted: numbers of those whose mentions are returned. taken: mentions
    found by form, inside which nothing is a name. Raises ModelError without a parser.
    """
    spoken = [m for m in messages if m.role in ("user", "assistant") and m.text.strip()]
    turns = parser.parse([(m.speaker or m.role, m.text[:LONGEST]) for m in spoken], number_sessions(spoken))
    reading = _Reading(turns, [m.number for m in spoken])
    known = {(mention.number, place) for mention in taken for place in range(mention.start, mention.end)}
    counts = Counter[int]()
    mentions = []
    for mention in reading.tell():
        inside = mention.kind != "reference" and mention.kind != "personal" and (mention.number, mention.start) in known
        if mention.number in wanted and not inside and counts[mention.number] < MOST:
            counts[mention.number] += 1
            mentions.append(mention)
    return tuple(mentions)


def _bare(mention: CorefMention) -> str:
    return singular(mention.text.split()[-1].lower())


class _Reading:
    """Resolved mentions of turns, as what they mean. numbers: of the turns' messages."""

    def __init__(self, turns: Sequence[CorefTurn], numbers: Sequence[int]) -> None:
        self.turns, self.numbers = turns, numbers
        self.mentions = find_mentions(turns)
        self.resolutions = resolve(turns, self.mentions)
        self.of_word = {
            (self.mentions[resolution.mention].turn, self.mentions[resolution.mention].word): resolution
            for resolution in self.resolutions
        }
        self.types = self._type_names()

    def tell(self) -> Iterator[ResolvedMention]:
        """Yield every mention that names, possesses or refers, with its meaning and confidence."""
        for resolution in self.resolutions:
            mention = self.mentions[resolution.mention]
            owner = self.of_word.get((mention.turn, mention.owner))
            if mention.kind is Kind.NAME:
                if resolution.mention in self.types:
                    yield self._name(resolution, mention)
            elif mention.kind is Kind.NOUN and owner is not None and owner.names:
                yield from self._personal(resolution, mention, owner)
            elif resolution.names and mention.kind is not Kind.NOUN and _bare(mention) not in _NOTHING:
                yield self._reference(resolution, mention)
            if mention.kind in (Kind.NOUN, Kind.THE):
                yield from self._concept(mention)

    def _tell(
        self,
        mention: CorefMention,
        start: int,
        end: int,
        kind: MentionKind,
        type_: MentionType,
        means: Sequence[str],
        confidence: float,
        because: str,
        detector: str = PARSER,
        antecedent: tuple[int, int, int] | None = None,
    ) -> ResolvedMention:
        text = self.turns[mention.turn].text[start:end]
        number = self.numbers[mention.turn]
        return ResolvedMention(
            number, start, end, text, kind, type_, tuple(means), confidence, because, detector, antecedent
        )

    def _name(self, resolution: Resolution, mention: CorefMention) -> ResolvedMention:
        start, end, type_, confidence, because = self.types[resolution.mention]
        means = resolution.names[0] if type_ == "person" else self.turns[mention.turn].text[start:end]
        kind: MentionKind = "person" if type_ == "person" else "entity"
        return self._tell(mention, start, end, kind, type_, [bare_name(means)], confidence, because)

    def _personal(self, resolution: Resolution, mention: CorefMention, owner: Resolution) -> Iterator[ResolvedMention]:
        """Yield what is somebody's; what is a place's or a firm's is nobody's."""
        bare, owner_mention = _bare(mention), self.mentions[owner.mention]
        named = owner_mention.kind is Kind.NAME and self._type(owner.mention) != "person"
        if owner_mention.kind not in OBJECT or named or bare in _NOTHING or bare.endswith(_ABSTRACT):
            return
        related = bare in PERSON_NOUNS
        sure = (RELATIONSHIP if related else OBJECT)[owner_mention.kind] * owner.confidence
        yield self._tell(
            mention,
            owner_mention.start,
            mention.end,
            "personal",
            "personal_relationship" if related else "personal_object",
            resolution.names,
            sure,
            f"{' and '.join(map(bare_name, owner.names))} has it",
        )

    def _reference(self, resolution: Resolution, mention: CorefMention) -> ResolvedMention:
        where = None if resolution.antecedent is None else self.mentions[resolution.antecedent]
        antecedent = None
        if where is not None and where.kind is not Kind.LABEL:
            antecedent = (self.numbers[where.turn], where.start, where.end)
        person = mention.kind not in (Kind.IT, Kind.THERE, Kind.ONE, Kind.THE)
        type_: MentionType = (
            "person" if person and resolution.cue != "the nearest thing" else self._type(resolution.antecedent)
        )
        means = [bare_name(name) for name in resolution.names]
        return self._tell(
            mention,
            mention.start,
            mention.end,
            "reference",
            type_,
            means,
            resolution.confidence,
            resolution.cue,
            "rules",
            antecedent,
        )

    def _type(self, number: int | None) -> MentionType:
        if number is not None and number in self.types:
            return self.types[number][2]
        mention = self.mentions[number] if number is not None else None
        owned = mention is not None and mention.owner >= 0
        return "personal_object" if owned else "concept"

    def _concept(self, mention: CorefMention) -> Iterator[ResolvedMention]:
        """Yield a term of several nouns."""
        words = self.turns[mention.turn].words
        first = mention.word
        while first > 0 and words[first - 1].role == "compound" and words[first - 1].tag in COMMON:
            first -= 1
        run = words[first : mention.word + 1]
        plain = all(word.text.isalpha() and word.text.islower() and len(word.text) > 2 for word in run)
        if len(run) > 1 and plain and run[-1].end - run[0].start == sum(len(w.text) + 1 for w in run) - 1:
            texts = [word.text for word in run]
            texts[-1] = singular(texts[-1]) if mention.plural else texts[-1]
            means = [" ".join(texts)]
            yield self._tell(mention, run[0].start, run[-1].end, "concept", "concept", means, CONCEPT, "several nouns")

    def _type_names(self) -> dict[int, tuple[int, int, MentionType, float, str]]:
        """Return (start, end, type, confidence, why) of names, without articles and possessives at their ends. A name
        has one type throughout: that for which most speaks of what the parser takes it for at each place and of what
        stands beside it ("lives in", "works for"). What is written mostly in small letters is none.
        """
        words = [word for turn in self.turns for word in _WORD.findall(turn.text)]
        small = Counter(word for word in words if word.islower())
        capitals = Counter(word for word in words if not word.islower())
        speakers = {name.casefold() for t in self.turns for name in (t.speaker, *t.speaker.split()[:1])}
        votes: dict[str, Counter[MentionType]] = defaultdict(Counter)
        candidates = {}
        for number, mention in enumerate(self.mentions):
            if mention.kind is not Kind.NAME:
                continue
            text = mention.text.split("\n", 1)[0]
            start = (
                mention.start + len(text) - len(_EDGES.sub("", text, count=1)) if _EDGES.match(text) else mention.start
            )
            bare = _EDGES.sub("", text)
            parts = _WORD.findall(bare)
            one_small = len(parts) == 1 and small[bare.lower()] > capitals[bare]
            if one_small or not names.clean_name(bare) or all(part.lower() in _NO_NAMES for part in parts):
                continue
            turn = self.turns[mention.turn]
            label = next((of for a, b, of in turn.names if a <= mention.start < b), "PERSON")
            type_ = TYPES[label] if mention.gender is Gender.THING else "person"
            candidates[number] = start, start + len(bare), bare, type_
            vote = votes[names.key(bare)]
            vote[type_] += 1
            beside = {of for of, _ in cues_beside(turn.text, start, start + len(bare), bare)}
            vote.update(TYPES[of] for of in beside if of in TYPES)
        name_types = {}
        for number, (start, end, bare, own) in candidates.items():
            vote = votes[names.key(bare)]
            best = max(vote, key=lambda type_: (vote[type_], type_ == own, type_))
            agreed = vote[best] >= _SHARE * vote.total()
            evidence = "torn" if not agreed else "agreed" if vote[best] >= _OFTEN else "few"
            sure = BY_NAME[evidence].get(best, BY_NAME[evidence][None])
            name_types[number] = start, end, best, sure, f"{vote[best]} of {vote.total()} cues"
            if bare.casefold() in speakers:
                name_types[number] = start, end, "person", 0.95, "somebody who speaks here"
        return name_types

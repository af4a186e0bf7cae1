"""Find statements on which two blocks contradict each other, by rules that know English and no subject."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import PurePosixPath

from amgs.identity import file_of
from amgs.lifecycle.self_detection import documents
from amgs.text.claims import CORRECTION, DAYS, MEASURES, Claim, Value, claims, stem, terms
from amgs.text.differences import replaced
from amgs.text.markdown import slug
from amgs.text.mentions import Mention, differ, mentions
from amgs.text.prose import prose, statements
from amgs.text.stop_words import COMMON_WORDS
from amgs.types import Block

SUPERSEDES, CONTRADICTS = "supersedes", "contradicts"
SURE = 0.75
"""A finding under this confidence is a suggestion."""

COSINE = 0.35
"""Least cosine of two blocks that are compared for their meaning alone; what lies above it adds a tenth to how sure a
finding is.
"""

SUBJECT = 0.3
"""Least share of rare words that two sentences on one subject have in common, see Words.shared."""

EVENT_HOURS = 48.0
"""Observations further apart are about different events."""

LATER_HOURS = 12.0
"""A superseding block is at least this many hours later."""

EVENTS = frozenset({"observation", "dialogue", "task"})
_LATER_DECISION = "a later decision"
_OPPOSITES = tuple(
    (stem(a), stem(b))
    for a, b in (
        ("open", "closed"),
        ("enabled", "disabled"),
        ("allowed", "forbidden"),
        ("allowed", "banned"),
        ("locked", "unlocked"),
        ("accepted", "rejected"),
        ("empty", "full"),
    )
)
_LEAST_DENIED = 3
"""Content words that an assertion and its denial share at least."""
_OPENS = re.compile(r"\W*(?:the|our|my|their|its|his|her) ([\w-]+)", re.IGNORECASE)
_MOST_SURE = 0.95
_MOSTLY = 0.6
_RARE_SHARE, _RARE_COUNT = 0.02, 3
_FEW_BLOCKS = 50
"""In fewer blocks a word that two hold is no less telling than one that stands in one."""
"""A word is rare when at most so many of all blocks hold it, or so few at all."""

Finding = tuple[str, float, str]
"""(kind, how sure, because)."""


@dataclass(frozen=True)
class Words:
    """Weights of the words of a memory. weight: ln((n + 1) / blocks that hold the word)."""

    weight: Mapping[str, float]
    rare_from: float

    @classmethod
    def of(cls, blocks: Iterable[Block]) -> Words:
        """Counted over titles and contents."""
        counts: Counter[str] = Counter()
        n = 0
        for block in blocks:
            n += 1
            counts.update(topic(block))
        most = max(_RARE_COUNT, _RARE_SHARE * n)
        n = max(n, _FEW_BLOCKS)
        return cls({t: math.log((n + 1) / count) for t, count in counts.items()}, math.log((n + 1) / most))

    def sum(self, words: Iterable[str]) -> float:
        return sum(self.weight.get(w, 0.0) for w in words)

    def rare(self, words: Iterable[str]) -> frozenset[str]:
        """Return those of the words that few blocks hold."""
        return frozenset(w for w in words if self.weight.get(w, 0.0) >= self.rare_from)

    def shared(self, a: frozenset[str], b: frozenset[str], *, least: int = 2) -> float:
        """Return the weight that two sides share over that of the poorer one, in [0, 1]; 0 for fewer words than
        `least`.
        """
        both = a & b
        if len(both) < least:
            return 0.0
        poorer = min(self.sum(a), self.sum(b))
        return min(1.0, self.sum(both) / poorer) if poorer > 0 else 0.0

    def covered(self, whole: frozenset[str], by: frozenset[str]) -> float:
        """Return how much of the weight of `whole` the other side has too, in [0, 1]; 0 for a single word."""
        both = whole & by
        total = self.sum(whole)
        return self.sum(both) / total if len(both) >= 2 and total > 0 else 0.0


def topic(block: Block) -> frozenset[str]:
    """Return the content words of a block's prose with those of its title and tags."""
    return subject_words(block) | terms(prose(block.content))


def subject_words(block: Block) -> frozenset[str]:
    """Return what a block says it is about: the content words of its title and its tags."""
    return terms("\n".join([prose(block.title), *(str(tag) for tag in block.meta.get("tags") or ())]))


def judge(older: Block, newer: Block, cosine: float, linked: bool, words: Words) -> Finding | None:
    """Return the strongest finding between two blocks, None for none; linked: the newer one refers to the older.

    older, newer: by when they were said last. A text that was told, gave way to another and is told again says against
    that one what that one said against it.
    """
    if newer.created_at < older.created_at:
        then = judge(_strip_said_at(newer), _strip_said_at(older), cosine, False, words)
        soon = newer.said_at - older.said_at < timedelta(hours=LATER_HOURS)
        if then is None or (then[0] != SUPERSEDES and soon):
            return then
        return SUPERSEDES, then[1], f"said again after {then[2]}"
    pair = _Pair(older, newer, linked, words)
    findings: list[Finding | None] = [pair.amendment()] if linked else []
    after = [pair.whole(two, pair.titles[1]) for two in claims(statements(newer.content))]
    later = [(two, two.topic | pair.titles[1]) for two in after]
    for old_claim in claims(statements(older.content)):
        wide = old_claim.topic | pair.titles[0]
        for two, other in later:
            speaks = (
                two.moves
                or (old_claim.values and two.values)
                or old_claim.negated != two.negated
                or _has_opposites(old_claim, two)
            )
            if speaks and not wide.isdisjoint(other):
                findings += pair.between(old_claim, two, wide & other)
    surest = max((f for f in map(pair.require_later, findings) if f is not None), key=lambda f: f[1], default=None)
    if surest is None:
        return None
    kind, sure, because = surest
    sure += (0.1 if linked else 0.0) + 0.1 * max(0.0, cosine - COSINE)
    return kind, min(_MOST_SURE, sure), because


def _strip_said_at(block: Block) -> Block:
    return replace(block, meta={key: value for key, value in block.meta.items() if key != "said_at"})


class _Pair:
    """Two blocks whose statements are held against each other."""

    def __init__(self, older: Block, newer: Block, linked: bool, words: Words) -> None:
        self.words, self.linked = words, linked
        self.titles = subject_words(older), subject_words(newer)
        self.older, self.newer = older, newer
        self.names = terms("\n".join(str(n) for b in (older, newer) for n in b.meta.get("entities") or ()))
        self.decides = newer.category == "decision"
        hours = (newer.said_at - older.said_at).total_seconds() / 3600.0
        self.apart = hours > EVENT_HOURS
        self.events = bool(EVENTS & {older.category, newer.category})
        self.later = hours >= LATER_HOURS
        self.corrects = hours > 0 and bool(CORRECTION.search(newer.content))
        self.manuals = documents(older.content, older.meta) and documents(newer.content, newer.meta)
        self.same_title = words.rare(self.titles[0] & self.titles[1])

    def whole(self, claim: Claim, title: frozenset[str]) -> Claim:
        """Lay a statement that is hardly more than a new value ("15,900 now") on what its block is about."""
        if len(claim.subject) >= 2 or not claim.values or not claim.change:
            return claim
        values = tuple(v if v.beside else replace(v, beside=title) for v in claim.values)
        return replace(claim, values=values, topic=claim.topic | title)

    def require_later(self, finding: Finding | None) -> Finding | None:
        """Return what supersedes must be later: of two texts of one time the one with another value only disagrees,
        unless it says that it corrects.
        """
        if finding is None or finding[0] != SUPERSEDES or self.later or self.linked or self.corrects:
            return finding
        return None

    def one_subject(self, old_claim: Claim, two: Claim) -> bool:
        """Return whether two statements are about one thing. Two manuals of different things use the same words of
        them: they must share a telling word in their titles, or most of the words of both statements.
        """
        if not self.manuals or self.same_title or self.linked:
            return True
        either = (self.words.covered(old_claim.subject, two.topic), self.words.covered(two.subject, old_claim.topic))
        return min(either) >= _MOSTLY

    def amendment(self) -> Finding | None:
        """Find where the newer block names the older one and says what of it stays, or that it takes its place."""
        names = _names(self.older)
        for claim in claims(self.newer.content):
            if claim.remains and names & set(claim.links):
                return SUPERSEDES, 0.6, f"it refers to it: “{_cut(claim.text)}”"
        return None

    def between(self, old_claim: Claim, two: Claim, both: frozenset[str]) -> list[Finding]:
        """Return what two statements, the older first, say against each other; both: shared words, titles counted
        in.
        """
        if not self.one_subject(old_claim, two):
            return []
        renamed = self._find_replacement(old_claim, two, both)
        if renamed is not None:
            return [] if self._is_named_apart(old_claim, two) else [renamed]
        words = self.words
        own = words.shared(old_claim.topic, two.topic)
        findings = [self._find_retired_word(old_claim, two, own), self._find_reassignment(old_claim, two, both)]
        subject = max(own, words.shared(old_claim.topic | self.titles[0], two.topic | self.titles[1]))
        named = bool(old_claim.values and two.values) and words.rare(self.titles[0] & self.titles[1])
        if subject >= SUBJECT or (self.linked and two.change) or named:
            findings.append(self._find_ending(old_claim, two, own))
            others = [self._compare_values(old_claim, two, subject, own), self._find_denial(old_claim, two)]
            if any(others) and not self._is_named_apart(old_claim, two):
                findings += others
        if any(findings) and self._is_named_apart(old_claim, two, qualifying=True):
            return []
        return [f for f in findings if f is not None]

    def _is_named_apart(self, old_claim: Claim, two: Claim, *, qualifying: bool = False) -> bool:
        """Return whether the statements are about differently named things, or, where neither names anything, the
        titles are that share their other words ("The Orsa mill", "The Brenta mill") or are nothing but names ("Orsa",
        "Brenta").

        qualifying: only names that tell which thing is meant count; who holds or keeps it may be what changed.
        """
        ours, theirs = mentions(old_claim.text, self.names), mentions(two.text, self.names)
        wide = old_claim.topic | self.titles[0], two.topic | self.titles[1]
        if qualifying:
            ours, theirs = (tuple(m for m in side if m.qualifies) for side in (ours, theirs))
        elif not ours and not theirs and self._alike_titles():
            ours, theirs = (self._list_title_mentions(title) for title in self.titles)
        return differ(ours, theirs, *wide)

    def _alike_titles(self) -> bool:
        return bool((self.titles[0] & self.titles[1]) - self.names) or all(
            title and title <= self.names for title in self.titles
        )

    def _list_title_mentions(self, title: frozenset[str]) -> tuple[Mention, ...]:
        named = title & self.names
        return (Mention(named),) if named else ()

    def _find_replacement(self, old_claim: Claim, two: Claim, both: frozenset[str]) -> Finding | None:
        """Find where the later statement takes the old value back by name and gives another: "42, not 35"."""
        gone = {(v.kind, v.amount) for v in two.values if v.replaced} & {(v.kind, v.amount) for v in old_claim.values}
        for a in old_claim.values:
            named = [v for v in two.values if v.kind == a.kind and v.amount == a.amount and v.replaced]
            fresh = [v for v in two.values if _rivals(a, v, two.values, old_claim.values)]
            # The value itself is shared; one telling word beside it is enough.
            telling = a.kind == "code" or len(both) >= 2 or len(gone) >= 2 or self.words.rare(both)
            if named and fresh and telling:
                weight = self.words.shared(old_claim.topic | self.titles[0], two.topic | self.titles[1], least=1)
                return (SUPERSEDES, 0.65 + 0.3 * weight, f"“{_cut(two.text)}” puts {fresh[0].text} for {a.text}")
        return None

    def _find_retired_word(self, old_claim: Claim, two: Claim, own: float) -> Finding | None:
        """Find a word of the older statement that is said to hold no more: "citrus instead of petroleum"."""
        gone = two.retired & old_claim.subject
        rest = (old_claim.topic & two.topic) - two.retired
        if not gone or not self.words.rare(gone) or len(rest) < 2 or own < 0.3:
            return None
        return SUPERSEDES, 0.45 + 0.4 * own, f"“{_cut(two.text)}”, of “{_cut(old_claim.text)}”"

    def _find_reassignment(self, old_claim: Claim, two: Claim, both: frozenset[str]) -> Finding | None:
        """Return the same office, or the same named attribute, in other hands."""
        quote = f"“{_cut(two.text)}”, of “{_cut(old_claim.text)}”"
        for role, who in two.roles:
            for before, other in old_claim.roles:
                if role != before or who & (other | self.titles[0]) or not self.words.rare({role}):
                    continue
                if two.change or two.end or (who and other and self.apart):
                    return SUPERSEDES, 0.65 if who and other else 0.55, f"{role}: {quote}"
                if who and other:
                    return CONTRADICTS, 0.55, f"{role}: {quote}"
        attributes = self.words.rare(two.attributes & (old_claim.subject | self.titles[0]))
        if not attributes or old_claim.change or not (two.change or self.decides):
            return None
        opens = _OPENS.match(old_claim.text)
        if both - attributes or attributes & self.titles[0] or (opens and stem(opens[1].lower()) in attributes):
            weight = self.words.covered(old_claim.subject | self.titles[0], two.topic | self.titles[1])
            return SUPERSEDES, 0.5 + 0.3 * weight, f"{min(attributes)}: {quote}"
        return None

    def _compare_values(self, old_claim: Claim, two: Claim, subject: float, own: float) -> Finding | None:
        """Return two values of one kind where there can be one."""
        if (old_claim.others ^ two.others) & old_claim.topic & two.topic:
            return None
        for a in old_claim.values:
            fresh = next((v for v in two.values if _rivals(a, v, two.values, old_claim.values)), None)
            if fresh is None:
                continue
            quote = f"{a.text} in “{_cut(old_claim.text)}”, {fresh.text} in “{_cut(two.text)}”"
            # The unit is no subject: "57 years old" and "13 years old" have nothing in common.
            unit = (a.beside & fresh.beside) | MEASURES
            about = self.words.shared(old_claim.topic - unit, two.topic - unit, least=1)
            named = self.words.rare((self.titles[0] & self.titles[1]) - unit)
            cue = two.change or two.correction
            if (about > 0 or named) and cue:
                return SUPERSEDES, 0.4 + 0.5 * subject, f"“{cue}”: {quote}"
            same = (old_claim.topic & two.topic) - unit
            sure = self.linked or (about >= 0.4 and self.words.rare(same))
            if about > 0 and self.decides and a.kind != "year" and sure:
                return SUPERSEDES, 0.4 + 0.5 * subject, f"{_LATER_DECISION}: {quote}"
            if (
                (self.apart and (self.events or (old_claim.event and two.event)))
                or a.kind == "day"
                or old_claim.negated != two.negated
                or _of_two_things(old_claim, two)
            ):
                continue
            # An ordinal tells one of several from another.
            enough = about >= (0.5 if a.kind == "year" else 0.3) or (named and about > 0)
            if a.kind != "ordinal" and enough and self.words.rare(same):
                return CONTRADICTS, 0.25 + 0.5 * subject + 0.2 * own, quote
            if a.predicate and fresh.predicate and named:
                return CONTRADICTS, 0.6, quote
        return None

    def _find_ending(self, old_claim: Claim, two: Claim, own: float) -> Finding | None:
        """Find a cue of change or of an end over mostly the same telling words, which the older statement does not
        have.
        """
        cue = two.change or two.end or two.correction
        same = old_claim.topic & two.topic
        # Names alone say whom, and not what: two statements about a town need not be about one thing in it.
        if not cue or old_claim.change or old_claim.end or not self.words.rare(same) or same <= self.names:
            return None
        covered = self.words.covered(old_claim.subject | self.titles[0], two.topic | self.titles[1])
        if own < 0.35 or covered < 0.3:
            return None
        return (
            SUPERSEDES,
            0.3 + 0.5 * max(own, covered),
            f"“{cue}” in “{_cut(two.text)}”, of “{_cut(old_claim.text)}”",
        )

    def _find_denial(self, old_claim: Claim, two: Claim) -> Finding | None:
        """Mostly the same words on both sides, and only one statement denies, or one says the opposite."""
        both = old_claim.topic & two.topic
        denied = (old_claim.negated != two.negated) != _has_opposites(old_claim, two)
        if not denied or (self.events and self.apart) or len(both) < _LEAST_DENIED:
            return None
        if any(_rivals(a, b, two.values, old_claim.values) for a in old_claim.values for b in two.values):
            return None  # room 4 has a stove, room 5 has none
        again = old_claim.negated and "again" in two.text.split()[-1]
        least = min(self.words.covered(old_claim.topic, two.topic), self.words.covered(two.topic, old_claim.topic))
        if least < 0.4:
            return None
        return (
            SUPERSEDES if self.later and (two.change or two.correction or again) else CONTRADICTS,
            0.2 + 0.6 * self.words.shared(old_claim.topic, two.topic),
            (f"“{_cut(old_claim.text)}” against “{_cut(two.text)}”"),
        )


def _names(block: Block) -> frozenset[str]:
    """Return the link targets that mean a block: the names of its files, and its title."""
    sources = block.meta.get("sources") or [block.meta.get("source") or ""]
    paths = [PurePosixPath(file_of(str(source))) for source in sources]
    return frozenset(
        {slug(p.stem) for p in paths} | {slug(str(p.with_suffix(""))) for p in paths if p.name} | {slug(block.title)}
    )


def _rivals(a: Value, b: Value, theirs: Sequence[Value], ours: Sequence[Value]) -> bool:
    """Return whether b stands where a stood: of one kind, beside the same word or both after "is", different, and
    neither is on both sides.
    """
    if a.kind != b.kind or a.amount == b.amount or b.replaced:
        return False
    bare = a.predicate and b.predicate and not (a.beside and b.beside)
    if a.kind in ("number", "ordinal") and not a.beside & b.beside and not bare:
        return False
    mine = {v.amount for v in ours if v.kind == a.kind}
    other = {v.amount for v in theirs if v.kind == a.kind and not v.replaced}
    return b.amount not in mine and a.amount not in other


def _has_opposites(old_claim: Claim, two: Claim) -> bool:
    """Return whether two statements hold opposite words: "open" and "closed"."""
    ours, theirs = old_claim.subject - two.subject, two.subject - old_claim.subject
    return any((a in ours and b in theirs) or (b in ours and a in theirs) for a, b in _OPPOSITES)


def _of_two_things(old_claim: Claim, two: Claim) -> bool:
    """Return whether statements of one build are told of different things: they have other words beside another value
    ("the red kettle boils in 3 minutes", "the blue one in 5"), or other numbers in the name of what they are about
    ("pier 4 is open").
    """
    places = replaced(old_claim.text, two.text)
    labelled = any(
        before.isalpha()
        and before not in COMMON_WORDS
        and (a + b)[0].isdigit()
        and (len(places) > 1 or after in COMMON_WORDS)
        for before, a, b, after in places[:1]
    )
    named = any(
        all(side[0].isalpha() and side[0] not in DAYS and side[0] not in COMMON_WORDS for side in (a, b))
        for _, a, b, _ in places
    )
    return labelled or (len(places) > 1 and named)


def _cut(text: str, length: int = 90) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"

"""Decide whether a later block contradicts or supersedes an earlier block, by rules about English statements.

`supersede` calls `find_conflict` for pairs of blocks; the operator decides about each finding. The rules know no
subject; tests/engine and `python -m benchmarks.supersession` measure them.
"""

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
from amgs.text.differences import Mention, find_replaced_words, mentions, name_different_things
from amgs.text.language import foreign_function_words
from amgs.text.markdown import slug
from amgs.text.prose import prose, statements
from amgs.text.words import COMMON_WORDS
from amgs.types import Block

SUPERSEDES, CONTRADICTS = "supersedes", "contradicts"
SURE = 0.75
"""Confidence below which a finding is shown as a suggestion."""

COSINE = 0.35
"""Least cosine at which two blocks are compared for their meaning alone; a tenth of what is above it adds to a
finding's confidence.
"""

SUBJECT = 0.3
"""Least share of words, by weight, that two sentences about the same subject have in common; see `Words.shared`."""

EVENT_HOURS = 48.0
"""Hours between two observations from which they are about different events."""

LATER_HOURS = 12.0
"""Hours that a superseding block must be later."""

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
"""Least number of content words that an assertion shares with its denial."""
_OPENS = re.compile(r"\W*(?:the|our|my|their|its|his|her) ([\w-]+)", re.IGNORECASE)
_MOST_SURE = 0.95
_MOSTLY = 0.6
_RARE_SHARE, _RARE_COUNT = 0.02, 3
_FEW_BLOCKS = 50
"""A word is rare when at most _RARE_SHARE of all blocks have it, or at most _RARE_COUNT. Weights are computed as if the
memory had _FEW_BLOCKS blocks at least.
"""

Finding = tuple[str, float, str]
"""(kind, confidence, reason)."""


@dataclass(frozen=True)
class Words:
    """Weights of the words of a memory: ln((n + 1) / number of blocks with the word). rare_from: that of
    a rare word.
    """

    weight: Mapping[str, float]
    rare_from: float

    @classmethod
    def of(cls, blocks: Iterable[Block]) -> Words:
        """Count the words of these blocks' titles and contents."""
        counts: Counter[str] = Counter()
        n = 0
        for block in blocks:
            n += 1
            counts.update(topic_words(block))
        most = max(_RARE_COUNT, _RARE_SHARE * n)
        n = max(n, _FEW_BLOCKS)
        return cls({t: math.log((n + 1) / count) for t, count in counts.items()}, math.log((n + 1) / most))

    def sum(self, words: Iterable[str]) -> float:
        return sum(self.weight.get(w, 0.0) for w in words)

    def rare(self, words: Iterable[str]) -> frozenset[str]:
        """Return the rare ones of these words."""
        return frozenset(w for w in words if self.weight.get(w, 0.0) >= self.rare_from)

    def measure_shared(self, a: frozenset[str], b: frozenset[str], *, least: int = 2) -> float:
        """Return the weight of the shared words over that of the side with less, in [0, 1]; 0 for fewer than `least`
        shared words.
        """
        both = a & b
        if len(both) < least:
            return 0.0
        poorer = min(self.sum(a), self.sum(b))
        return min(1.0, self.sum(both) / poorer) if poorer > 0 else 0.0

    def measure_covered(self, whole: frozenset[str], by: frozenset[str]) -> float:
        """Return the share of `whole`'s weight that the other side has too, in [0, 1]; 0 where only one
        word is shared.
        """
        both = whole & by
        total = self.sum(whole)
        return self.sum(both) / total if len(both) >= 2 and total > 0 else 0.0


def topic_words(block: Block) -> frozenset[str]:
    """Return the content words of a block's prose with those of its title and tags."""
    return subject_words(block) | terms(prose(block.content))


def subject_words(block: Block) -> frozenset[str]:
    """Return the content words of a block's title and tags."""
    return terms("\n".join([prose(block.title), *(str(tag) for tag in block.meta.get("tags") or ())]))


def find_conflict(older: Block, newer: Block, cosine: float, linked: bool, words: Words) -> Finding | None:
    """Return the finding with the highest confidence between two blocks; None for none.

    older, newer: by when they were last said. linked: the newer links to the older. A text that was superseded and is
    then said again supersedes its successor, for the same reason.
    """
    if newer.created_at < older.created_at:
        then = find_conflict(_strip_said_at(newer), _strip_said_at(older), cosine, False, words)
        soon = newer.said_at - older.said_at < timedelta(hours=LATER_HOURS)
        if then is None or (then[0] != SUPERSEDES and soon):
            return then
        return SUPERSEDES, then[1], f"said again after {then[2]}"
    pair = _Pair(older, newer, linked, words)
    findings: list[Finding | None] = [pair.find_amendment()] if linked else []
    after = [pair.complete_claim(new_claim, pair.titles[1]) for new_claim in claims(statements(newer.content))]
    later = [(new_claim, new_claim.topic | pair.titles[1]) for new_claim in after]
    for old_claim in claims(statements(older.content)):
        wide = old_claim.topic | pair.titles[0]
        for new_claim, other in later:
            speaks = (
                new_claim.moves
                or (old_claim.values and new_claim.values)
                or old_claim.negated != new_claim.negated
                or _has_opposites(old_claim, new_claim)
            )
            if speaks and not wide.isdisjoint(other):
                findings += pair.compare_claims(old_claim, new_claim, wide & other)
    surest = max((f for f in map(pair.require_later, findings) if f is not None), key=lambda f: f[1], default=None)
    if surest is None:
        return None
    kind, sure, because = surest
    sure += (0.1 if linked else 0.0) + 0.1 * max(0.0, cosine - COSINE)
    return kind, min(_MOST_SURE, sure), because


def _strip_said_at(block: Block) -> Block:
    return replace(block, meta={key: value for key, value in block.meta.items() if key != "said_at"})


class _Pair:
    """Two blocks whose statements are compared; computes what the rules need of both only once."""

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

    def complete_claim(self, claim: Claim, title: frozenset[str]) -> Claim:
        """Return a claim with the words of its block's title as its topic, where it says hardly more than a new value
        ("15,900 now").
        """
        if len(claim.subject) >= 2 or not claim.values or not claim.change:
            return claim
        values = tuple(v if v.beside else replace(v, beside=title) for v in claim.values)
        return replace(claim, values=values, topic=claim.topic | title)

    def require_later(self, finding: Finding | None) -> Finding | None:
        """Return None for a superseding finding where the newer block is not later and does not say that it corrects:
        two texts of the same time only disagree.
        """
        if finding is None or finding[0] != SUPERSEDES or self.later or self.linked or self.corrects:
            return finding
        return None

    def is_same_subject(self, old_claim: Claim, new_claim: Claim) -> bool:
        """Return whether two statements may be about the same thing; False only for two manuals, which use the same
        words of different things, where no link joins them and they share neither a rare word of their titles nor most
        words of both statements.
        """
        if not self.manuals or self.same_title or self.linked:
            return True
        shares = (
            self.words.measure_covered(old_claim.subject, new_claim.topic),
            self.words.measure_covered(new_claim.subject, old_claim.topic),
        )
        return min(shares) >= _MOSTLY

    def find_amendment(self) -> Finding | None:
        """Return a finding where the newer block links to the older and says what of it stays or is replaced."""
        names = _link_targets(self.older)
        for claim in claims(self.newer.content):
            if claim.remains and names & set(claim.links):
                return SUPERSEDES, 0.6, f"it refers to it: “{_shorten(claim.text)}”"
        return None

    def compare_claims(self, old_claim: Claim, new_claim: Claim, both: frozenset[str]) -> list[Finding]:
        """Return the findings between two statements, the older first. both: the words they share, titles included."""
        if not self.is_same_subject(old_claim, new_claim):
            return []
        renamed = self._find_replacement(old_claim, new_claim, both)
        if renamed is not None:
            return [] if self._is_named_apart(old_claim, new_claim) else [renamed]
        words = self.words
        own = words.measure_shared(old_claim.topic, new_claim.topic)
        findings = [
            self._find_retired_word(old_claim, new_claim, own),
            self._find_reassignment(old_claim, new_claim, both),
        ]
        if new_claim.correction and self.later and words.rare(both):
            put = new_claim.text.removeprefix(f"{new_claim.correction}, ")
            once = new_claim.correction not in put and len(find_replaced_words(old_claim.text, put)) == 1
            if once and not _is_about_different_things(old_claim, replace(new_claim, text=put)):
                findings.append((SUPERSEDES, SURE, f"“{new_claim.correction}” in “{_shorten(new_claim.text)}”"))
        subject = max(own, words.measure_shared(old_claim.topic | self.titles[0], new_claim.topic | self.titles[1]))
        named = bool(old_claim.values and new_claim.values) and words.rare(self.titles[0] & self.titles[1])
        if subject >= SUBJECT or (self.linked and new_claim.change) or named:
            findings.append(self._find_ending(old_claim, new_claim, own))
            others = [self._compare_values(old_claim, new_claim, subject, own), self._find_denial(old_claim, new_claim)]
            if any(others) and not self._is_named_apart(old_claim, new_claim):
                findings += others
        if any(findings) and self._is_named_apart(old_claim, new_claim, qualifying=True):
            return []
        return [f for f in findings if f is not None]

    def _is_named_apart(self, old_claim: Claim, new_claim: Claim, *, qualifying: bool = False) -> bool:
        """Return whether two statements are about differently named things. Where neither names anything, the titles
        decide, if they share their other words ("The Orsa mill", "The Brenta mill") or are only names ("Orsa",
        "Brenta").

        qualifying: count only names that say which thing is meant; a person's name may be what changed.
        """
        ours, theirs = mentions(old_claim.text, self.names), mentions(new_claim.text, self.names)
        wide = old_claim.topic | self.titles[0], new_claim.topic | self.titles[1]
        if qualifying:
            ours, theirs = (tuple(m for m in side if m.qualifies) for side in (ours, theirs))
        elif not ours and not theirs and self._alike_titles():
            ours, theirs = (self._list_title_mentions(title) for title in self.titles)
        return name_different_things(ours, theirs, *wide)

    def _alike_titles(self) -> bool:
        return bool((self.titles[0] & self.titles[1]) - self.names) or all(
            title and title <= self.names for title in self.titles
        )

    def _list_title_mentions(self, title: frozenset[str]) -> tuple[Mention, ...]:
        named = title & self.names
        return (Mention(named),) if named else ()

    def _find_replacement(self, old_claim: Claim, new_claim: Claim, both: frozenset[str]) -> Finding | None:
        """Return a finding where the later statement names the old value and gives another: "42, not 35"."""
        gone = {(v.kind, v.amount) for v in new_claim.values if v.replaced} & {
            (v.kind, v.amount) for v in old_claim.values
        }
        for a in old_claim.values:
            named = [v for v in new_claim.values if v.kind == a.kind and v.amount == a.amount and v.replaced]
            fresh = [v for v in new_claim.values if _is_other_value(a, v, new_claim.values, old_claim.values)]
            # Both name the value, so a single rare word beside it is enough.
            telling = a.kind == "code" or len(both) >= 2 or len(gone) >= 2 or self.words.rare(both)
            if named and fresh and telling:
                weight = self.words.measure_shared(
                    old_claim.topic | self.titles[0], new_claim.topic | self.titles[1], least=1
                )
                return (
                    SUPERSEDES,
                    0.65 + 0.3 * weight,
                    f"“{_shorten(new_claim.text)}” puts {fresh[0].text} for {a.text}",
                )
        return None

    def _find_retired_word(self, old_claim: Claim, new_claim: Claim, own: float) -> Finding | None:
        """Return a finding where the later statement retires a word of the older statement: "citrus instead of
        petroleum".
        """
        gone = new_claim.retired & old_claim.subject
        rest = (old_claim.topic & new_claim.topic) - new_claim.retired
        if not gone or not self.words.rare(gone) or len(rest) < 2 or own < 0.3:
            return None
        return SUPERSEDES, 0.45 + 0.4 * own, f"“{_shorten(new_claim.text)}”, of “{_shorten(old_claim.text)}”"

    def _find_reassignment(self, old_claim: Claim, new_claim: Claim, both: frozenset[str]) -> Finding | None:
        """Return a finding where the same role, or the same named attribute, has another holder."""
        quote = f"“{_shorten(new_claim.text)}”, of “{_shorten(old_claim.text)}”"
        for role, who in new_claim.roles:
            for before, other in old_claim.roles:
                if role != before or who & (other | self.titles[0]) or not self.words.rare({role}):
                    continue
                if new_claim.change or new_claim.end or (who and other and self.apart):
                    return SUPERSEDES, 0.65 if who and other else 0.55, f"{role}: {quote}"
                if who and other:
                    return CONTRADICTS, 0.55, f"{role}: {quote}"
        attributes = self.words.rare(new_claim.attributes & (old_claim.subject | self.titles[0]))
        if not attributes or old_claim.change or not (new_claim.change or self.decides):
            return None
        opens = _OPENS.match(old_claim.text)
        if both - attributes or attributes & self.titles[0] or (opens and stem(opens[1].lower()) in attributes):
            weight = self.words.measure_covered(old_claim.subject | self.titles[0], new_claim.topic | self.titles[1])
            return SUPERSEDES, 0.5 + 0.3 * weight, f"{min(attributes)}: {quote}"
        return None

    def _compare_values(self, old_claim: Claim, new_claim: Claim, subject: float, own: float) -> Finding | None:
        """Return a finding where the statements give different values of a kind and they exclude each other."""
        if (old_claim.others ^ new_claim.others) & old_claim.topic & new_claim.topic:
            return None
        for a in old_claim.values:
            fresh = next(
                (v for v in new_claim.values if _is_other_value(a, v, new_claim.values, old_claim.values)), None
            )
            if fresh is None:
                continue
            quote = f"{a.text} in “{_shorten(old_claim.text)}”, {fresh.text} in “{_shorten(new_claim.text)}”"
            # A shared unit is no shared subject: "57 years old", "13 years old".
            unit = (a.beside & fresh.beside) | MEASURES
            about = self.words.measure_shared(old_claim.topic - unit, new_claim.topic - unit, least=1)
            named = self.words.rare((self.titles[0] & self.titles[1]) - unit)
            cue = new_claim.change or new_claim.correction
            if (about > 0 or named) and cue:
                return SUPERSEDES, 0.4 + 0.5 * subject, f"“{cue}”: {quote}"
            same = (old_claim.topic & new_claim.topic) - unit
            sure = self.linked or (about >= 0.4 and self.words.rare(same))
            if about > 0 and self.decides and a.kind != "year" and sure:
                return SUPERSEDES, 0.4 + 0.5 * subject, f"{_LATER_DECISION}: {quote}"
            if (
                (self.apart and (self.events or (old_claim.event and new_claim.event)))
                or a.kind == "day"
                or old_claim.negated != new_claim.negated
                or _is_about_different_things(old_claim, new_claim)
            ):
                continue
            # Different ordinals name different things.
            enough = about >= (0.5 if a.kind == "year" else 0.3) or (named and about > 0)
            if a.kind != "ordinal" and enough and self.words.rare(same):
                return CONTRADICTS, 0.25 + 0.5 * subject + 0.2 * own, quote
            if a.predicate and fresh.predicate and named:
                return CONTRADICTS, 0.6, quote
        return None

    def _find_ending(self, old_claim: Claim, new_claim: Claim, own: float) -> Finding | None:
        """Return a finding where the later statement alone has a cue of a change or an end, and both share most of
        their rare words.
        """
        cue = new_claim.change or new_claim.end or new_claim.correction
        same = old_claim.topic & new_claim.topic
        # Sharing only names is not enough: two statements about a town may be about different things in it.
        if not cue or old_claim.change or old_claim.end or not self.words.rare(same) or same <= self.names:
            return None
        covered = self.words.measure_covered(old_claim.subject | self.titles[0], new_claim.topic | self.titles[1])
        if own < 0.35 or covered < 0.3:
            return None
        return (
            SUPERSEDES,
            0.3 + 0.5 * max(own, covered),
            f"“{cue}” in “{_shorten(new_claim.text)}”, of “{_shorten(old_claim.text)}”",
        )

    def _find_denial(self, old_claim: Claim, new_claim: Claim) -> Finding | None:
        """Return a finding where the statements share most words and they contradict each other."""
        both = old_claim.topic & new_claim.topic
        denied = (old_claim.negated != new_claim.negated) != _has_opposites(old_claim, new_claim)
        once = not old_claim.negated and len(find_replaced_words(old_claim.text, new_claim.text)) == 1
        if not denied or (self.events and self.apart) or (len(both) < _LEAST_DENIED and not once):
            return None
        if any(
            _is_other_value(a, b, new_claim.values, old_claim.values)
            for a in old_claim.values
            for b in new_claim.values
        ):
            return None  # room 4 has a stove, room 5 has none
        foreign = {stem(word) for word in foreign_function_words(f"{old_claim.text} {new_claim.text}")}
        if foreign and (old_claim.subject ^ new_claim.subject) - foreign:
            return None  # which of the other words matter is known in English alone
        again = old_claim.negated and "again" in new_claim.text.split()[-1]
        least = min(
            self.words.measure_covered(old_claim.topic, new_claim.topic),
            self.words.measure_covered(new_claim.topic, old_claim.topic),
        )
        if least < 0.4:
            return None
        return (
            SUPERSEDES if self.later and (new_claim.change or new_claim.correction or again) else CONTRADICTS,
            0.2 + 0.6 * self.words.measure_shared(old_claim.topic, new_claim.topic),
            (f"“{_shorten(old_claim.text)}” against “{_shorten(new_claim.text)}”"),
        )


def _link_targets(block: Block) -> frozenset[str]:
    """Return the link targets by which another block may refer to this block: its file names and its title."""
    sources = block.meta.get("sources") or [block.meta.get("source") or ""]
    paths = [PurePosixPath(file_of(str(source))) for source in sources]
    return frozenset(
        {slug(p.stem) for p in paths} | {slug(str(p.with_suffix(""))) for p in paths if p.name} | {slug(block.title)}
    )


def _is_other_value(a: Value, b: Value, theirs: Sequence[Value], ours: Sequence[Value]) -> bool:
    """Return whether b is another value for what a was: of the same kind, different, beside the same word or both after
    "is", and neither occurs in both statements.
    """
    if a.kind != b.kind or a.amount == b.amount or b.replaced:
        return False
    bare = a.predicate and b.predicate and not (a.beside and b.beside)
    if a.kind in ("number", "ordinal") and not a.beside & b.beside and not bare:
        return False
    mine = {v.amount for v in ours if v.kind == a.kind}
    other = {v.amount for v in theirs if v.kind == a.kind and not v.replaced}
    return b.amount not in mine and a.amount not in other


def _has_opposites(old_claim: Claim, new_claim: Claim) -> bool:
    """Return whether two statements have opposite words, such as "open" and "closed"."""
    ours, theirs = old_claim.subject - new_claim.subject, new_claim.subject - old_claim.subject
    return any((a in ours and b in theirs) or (b in ours and a in theirs) for a, b in _OPPOSITES)


def _is_about_different_things(old_claim: Claim, new_claim: Claim) -> bool:
    """Return whether statements of the same form are about different things: besides the value another word differs
    ("the red kettle boils in 3 minutes", "the blue one in 5"), or the number or letter in the thing's name ("pier 4").
    """
    places = find_replaced_words(old_claim.text, new_claim.text)
    labelled = any(
        before.isalpha()
        and before not in COMMON_WORDS
        and ((a + b)[0].isdigit() or len("".join(a)) == len("".join(b)) == 1)
        and (len(places) > 1 or after in COMMON_WORDS)
        for before, a, b, after in places[:1]
    )
    named = any(
        all(side[0].isalpha() and side[0] not in DAYS and side[0] not in COMMON_WORDS for side in (a, b))
        for _, a, b, _ in places
    )
    return labelled or (len(places) > 1 and named)


def _shorten(text: str, length: int = 90) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"

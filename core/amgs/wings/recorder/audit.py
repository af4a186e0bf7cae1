"""What of another memory is of no use, or cannot be right: never recalled, long not recalled, twice there, or against a
later record. Judged by rules that read texts and times; what is deleted is the other memory's own affair.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations
from typing import Final, Literal

from amgs.clock import earlier
from amgs.diagnosis.facts import stems
from amgs.lifecycle.conflict import SUPERSEDES, Words, judge
from amgs.text.differences import differ
from amgs.text.plural import plural
from amgs.types.block import Block
from amgs.wings.recorder.foreign_memory import ForeignMemory, ForeignRecord

Reason = Literal["duplicate", "superseded", "contradicted", "never recalled", "not recalled lately"]
REASONS: Final[tuple[Reason, ...]] = (
    "duplicate",
    "superseded",
    "contradicted",
    "never recalled",
    "not recalled lately",
)
_SURE: Final = 0.5
"""From this confidence on two records are said to be against each other."""
_ALIKE: Final = 0.9
"""From this share of common words on, of all that either holds, two records say the same if they do not differ."""
_COMPARED: Final = 40
"""A word that more records hold brings none of them together."""


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """What is said of one record. other: the record that it is like, or that says otherwise; None for none. because: in
    words.
    """

    reason: Reason
    record: ForeignRecord
    other: ForeignRecord | None
    because: str


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found. records: that are there. unread: those without a text, of which only their recalls are known.
    days: without a recall from which on a record counts as not recalled lately. recalls: searches in all.
    """

    findings: tuple[AuditFinding, ...]
    records: int
    unread: int
    days: int
    recalls: int

    def of(self, reason: Reason) -> list[AuditFinding]:
        """Return those for one reason."""
        return [one for one in self.findings if one.reason == reason]


def audit(memory: ForeignMemory, now: datetime, days: int) -> Audit:
    """Look at the records that are there. A record is named for its first reason alone, in the order of `REASONS`; a
    younger one than `days` is not called unused. days: 0 asks only what was never recalled.
    """
    present = [one for one in memory.present if one.content.strip()]
    found: dict[int, AuditFinding] = {}
    for one in (*_duplicates(present), *_conflicts(present), *_unused(memory, now, days)):
        found.setdefault(id(one.record), one)
    ordered = sorted(found.values(), key=lambda one: (REASONS.index(one.reason), one.record.since))
    every = len(memory.present)
    return Audit(tuple(ordered), every, every - len(present), days, len(memory.searches()))


def _duplicates(records: Sequence[ForeignRecord]) -> Iterator[AuditFinding]:
    """Yield all but one of records that say the same: the one that was recalled most often, or the latest."""
    seen: dict[tuple[str, str], ForeignRecord] = {}
    kept: list[ForeignRecord] = []
    for one in sorted(records, key=lambda one: (len(one.recalls), one.since), reverse=True):
        key = one.store, " ".join(re.findall(r"\w+", one.content.casefold()))
        if key in seen:
            yield AuditFinding("duplicate", one, seen[key], "the same words")
        else:
            seen[key] = one
            kept.append(one)
    words = {id(one): stems(one.content) for one in kept}
    for later, one in _pairs(kept):
        ours, theirs = words[id(one)], words[id(later)]
        alike = len(ours & theirs) / len(ours | theirs)
        if len(ours) >= 3 and alike >= _ALIKE and not differ(one.content, later.content):
            yield AuditFinding("duplicate", one, later, f"{alike:.0%} of their words are the same")


def _conflicts(records: Sequence[ForeignRecord]) -> Iterator[AuditFinding]:
    """Yield the older of two records that cannot both be right."""
    blocks = {id(one): _block(one, number) for number, one in enumerate(records)}
    words = Words.of(blocks.values())
    for later, one in _pairs(sorted(records, key=lambda one: one.since, reverse=True)):
        told = judge(blocks[id(one)], blocks[id(later)], 0.0, False, words)
        if told is not None and told[1] >= _SURE:
            reason: Reason = "superseded" if told[0] == SUPERSEDES else "contradicted"
            yield AuditFinding(reason, one, later, told[2])


def _pairs(records: Sequence[ForeignRecord]) -> Iterator[tuple[ForeignRecord, ForeignRecord]]:
    """Yield (a record, one further on) of one store that share two words which few records hold."""
    held: dict[tuple[str, str], list[int]] = {}
    for place, one in enumerate(records):
        for word in stems(one.content):
            held.setdefault((one.store, word), []).append(place)
    shared = Counter(pair for places in held.values() if len(places) <= _COMPARED for pair in combinations(places, 2))
    for a, b in sorted(pair for pair, count in shared.items() if count > 1):
        yield records[a], records[b]


def _block(one: ForeignRecord, number: int) -> Block:
    return Block(f"record {number}", one.content, one.since, one.since, meta={"source": f"{one.store}#{number}"})


def _unused(memory: ForeignMemory, now: datetime, days: int) -> Iterator[AuditFinding]:
    """Yield what no search found, though there were searches since."""
    searches = sorted(one.at for one in memory.searches())
    limit = earlier(now, timedelta(days=days))
    for one in memory.present:
        since = len(searches) - bisect_right(searches, one.since)
        if one.since > limit or not since:
            continue
        if not one.recalls:
            yield AuditFinding("never recalled", one, None, f"{plural(since, 'search', 'searches')} since")
        elif days and one.recalls[-1].at <= limit:
            yield AuditFinding(
                "not recalled lately", one, None, f"last on {one.recalls[-1].at:%Y-%m-%d}, {len(one.recalls)} in all"
            )

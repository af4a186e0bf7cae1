"""Audit another memory for records that are useless or wrong: never recalled, not recalled lately, duplicate, or
contradicted by a later record.

The rules use texts and times only; nothing is deleted.
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
from amgs.lifecycle.conflict import SUPERSEDES, Words, find_conflict
from amgs.text.differences import differ
from amgs.text.words import plural
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
"""Confidence from which on two records count as contradictory."""
_ALIKE: Final = 0.9
"""Share of common words from which on two records count as duplicates, if they do not contradict each other."""
_COMPARED: Final = 40
"""Words in more records than this are not used for comparing records."""


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """Finding about a single record. other: the record that is equal to or contradicts it, if any. because: reason in
    words.
    """

    reason: Reason
    record: ForeignRecord
    other: ForeignRecord | None
    because: str


@dataclass(frozen=True, slots=True)
class Audit:
    """Result of an audit.

    records: their number. unread: records without a text, of which only recalls are known. days: without a recall after
    which a record counts as not recalled lately. recalls: number of searches.
    """

    findings: tuple[AuditFinding, ...]
    records: int
    unread: int
    days: int
    recalls: int

    def of(self, reason: Reason) -> list[AuditFinding]:
        """Return the findings for a reason."""
        return [finding for finding in self.findings if finding.reason == reason]


def audit(memory: ForeignMemory, now: datetime, days: int) -> Audit:
    """Audit the present records.

    Each record is reported for the first of its `REASONS` only. Records younger than `days` are not reported as unused.
    days: 0 reports only what was never recalled.
    """
    present = [record for record in memory.present if record.content.strip()]
    findings: dict[int, AuditFinding] = {}
    for finding in (*_duplicates(present), *_conflicts(present), *_find_unused_records(memory, now, days)):
        findings.setdefault(id(finding.record), finding)
    ordered = sorted(findings.values(), key=lambda finding: (REASONS.index(finding.reason), finding.record.since))
    every = len(memory.present)
    return Audit(tuple(ordered), every, every - len(present), days, len(memory.searches()))


def _duplicates(records: Sequence[ForeignRecord]) -> Iterator[AuditFinding]:
    """Yield all but one of equal records: the most often recalled, or the latest, is left out."""
    seen: dict[tuple[str, str], ForeignRecord] = {}
    originals: list[ForeignRecord] = []
    for record in sorted(records, key=lambda record: (len(record.recalls), record.since), reverse=True):
        key = record.store, " ".join(re.findall(r"\w+", record.content.casefold()))
        if key in seen:
            yield AuditFinding("duplicate", record, seen[key], "the same words")
        else:
            seen[key] = record
            originals.append(record)
    words = {id(record): stems(record.content) for record in originals}
    for later, record in _pairs(originals):
        ours, theirs = words[id(record)], words[id(later)]
        alike = len(ours & theirs) / len(ours | theirs)
        if len(ours) >= 3 and alike >= _ALIKE and not differ(record.content, later.content):
            yield AuditFinding("duplicate", record, later, f"{alike:.0%} of their words are the same")


def _conflicts(records: Sequence[ForeignRecord]) -> Iterator[AuditFinding]:
    """Yield the older of two contradictory records."""
    blocks = {id(record): _block(record, number) for number, record in enumerate(records)}
    words = Words.of(blocks.values())
    for later, record in _pairs(sorted(records, key=lambda record: record.since, reverse=True)):
        verdict = find_conflict(blocks[id(record)], blocks[id(later)], 0.0, False, words)
        if verdict is not None and verdict[1] >= _SURE:
            reason: Reason = "superseded" if verdict[0] == SUPERSEDES else "contradicted"
            yield AuditFinding(reason, record, later, verdict[2])


def _pairs(records: Sequence[ForeignRecord]) -> Iterator[tuple[ForeignRecord, ForeignRecord]]:
    """Yield (record, a later record in the sequence) of the same store that share two rare words."""
    postings: dict[tuple[str, str], list[int]] = {}
    for place, record in enumerate(records):
        for word in stems(record.content):
            postings.setdefault((record.store, word), []).append(place)
    shared = Counter(
        pair for places in postings.values() if len(places) <= _COMPARED for pair in combinations(places, 2)
    )
    for a, b in sorted(pair for pair, count in shared.items() if count > 1):
        yield records[a], records[b]


def _block(record: ForeignRecord, number: int) -> Block:
    return Block(
        f"record {number}", record.content, record.since, record.since, meta={"source": f"{record.store}#{number}"}
    )


def _find_unused_records(memory: ForeignMemory, now: datetime, days: int) -> Iterator[AuditFinding]:
    """Yield records that no search found, although there were searches since."""
    searches = sorted(search.at for search in memory.searches())
    limit = earlier(now, timedelta(days=days))
    for record in memory.present:
        since = len(searches) - bisect_right(searches, record.since)
        if record.since > limit or not since:
            continue
        if not record.recalls:
            yield AuditFinding("never recalled", record, None, f"{plural(since, 'search', 'searches')} since")
        elif days and record.recalls[-1].at <= limit:
            yield AuditFinding(
                "not recalled lately",
                record,
                None,
                f"last on {record.recalls[-1].at:%Y-%m-%d}, {len(record.recalls)} in all",
            )

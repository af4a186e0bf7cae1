"""Why an answer lacked a fact: whether the memory had stored it, still held it, recalled it, and used it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from amgs.diagnosis.facts import states
from amgs.wings.recorder.foreign_memory import ForeignMemory, ForeignRecord, MemoryOperation
from amgs.wings.recorder.uses import uses_of
from amgs.wings.recorder.word_search import WordSearch

Cause = Literal["never stored", "stored later", "deleted", "changed", "not recalled", "not used", "used"]
MEANT: Final[dict[Cause, str]] = {
    "never stored": "No record that was seen says it.",
    "stored later": "It was stored only after the search.",
    "deleted": "It had been deleted before the search.",
    "changed": "The record that said it said something else by then.",
    "not recalled": "It was there, and the search did not bring it.",
    "not used": "The search brought it, and the answer does not hold it.",
    "used": "The search brought it, and the answer holds it.",
}
_NEAR: Final = 10


@dataclass(frozen=True, slots=True)
class LaidBeside:
    """A present record that was not recalled. place: its rank in a search for the query's words alone, from 1."""

    place: int
    record: ForeignRecord
    content: str


@dataclass(frozen=True, slots=True)
class MissedCause:
    """What happened to a fact that an answer should contain.

    record: contains or contained it; None if there is none. rank: at which it was recalled, else 0. place: its rank
    among all present records in a search for the query's words alone; 0 if not found. recalled: number of records that
    the search found.
    """

    cause: Cause
    record: ForeignRecord | None
    rank: int
    place: int
    recalled: int


def records_not_recalled(memory: ForeignMemory, search: MemoryOperation, most: int = _NEAR) -> list[LaidBeside]:
    """Return the records that were present at a search but not recalled, nearest to the query's words first."""
    present = [
        (record, content)
        for record in memory.records
        if record.store == search.store and (content := record.content_at(search.at)) is not None
    ]
    ranked = WordSearch([content for _, content in present]).ranked(search.query)
    brought = {id(record) for record, _ in present if any(r.operation == search.number for r in record.recalls)}
    return [LaidBeside(place, *present[n]) for place, n in enumerate(ranked, 1) if id(present[n][0]) not in brought][
        :most
    ]


def explain_miss(memory: ForeignMemory, search: MemoryOperation, fact: str) -> MissedCause:
    """Return what happened to a fact at a search.

    fact: nearly in the words of its record; most of its words and all its numbers must match.
    """
    own = [candidate for candidate in memory.records if candidate.store == search.store]
    holders = [candidate for candidate in own if any(states(content, fact) for _, content in candidate.versions)]
    recalled = len(search.records)
    for rank, record in enumerate(search.records, 1):
        if states(record.content, fact):
            known = next(
                (candidate for candidate in holders if any(r.operation == search.number for r in candidate.recalls)),
                None,
            )
            used = any(use.rank == rank and use.used for use in uses_of(memory, search))
            return MissedCause("used" if used else "not used", known, rank, 0, recalled)
    present = [candidate for candidate in holders if states(candidate.content_at(search.at) or "", fact)]
    if present:
        place = next(
            (
                neighbour.place
                for neighbour in records_not_recalled(memory, search, len(own))
                if any(neighbour.record is candidate for candidate in present)
            ),
            0,
        )
        return MissedCause("not recalled", present[0], 0, place, recalled)
    if not holders:
        return MissedCause("never stored", None, 0, 0, recalled)
    holder = holders[0]
    since = next(at for at, content in holder.versions if states(content, fact))
    gone = holder.deleted is not None and holder.deleted <= search.at
    cause: Cause = "stored later" if since > search.at else "deleted" if gone else "changed"
    return MissedCause(cause, holder, 0, 0, recalled)

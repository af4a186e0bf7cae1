"""Why an answer lacked what a memory should have brought: whether it was stored, there, recalled, and used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from amgs.diagnosis.facts import says
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
    """A record that was there and was not recalled. place: by a search for the query's words alone, from 1 on."""

    place: int
    record: ForeignRecord
    content: str


@dataclass(frozen=True, slots=True)
class MissedCause:
    """What became of something that an answer should have held. record: that says or said it; None for none. rank: at
    which it was recalled, else 0. place: at which a search for the query's words alone finds it among all that was
    there; 0 for nowhere. recalled: how many records the search brought.
    """

    cause: Cause
    record: ForeignRecord | None
    rank: int
    place: int
    recalled: int


def beside(memory: ForeignMemory, search: MemoryOperation, most: int = _NEAR) -> list[LaidBeside]:
    """Return what else lay in the store at a search, nearest to its query's words first."""
    there = [
        (one, told)
        for one in memory.records
        if one.store == search.store and (told := one.content_at(search.at)) is not None
    ]
    ranked = WordSearch([told for _, told in there]).ranked(search.query)
    brought = {id(one) for one, _ in there if any(r.operation == search.number for r in one.recalls)}
    return [LaidBeside(place, *there[n]) for place, n in enumerate(ranked, 1) if id(there[n][0]) not in brought][:most]


def why_missed(memory: ForeignMemory, search: MemoryOperation, fact: str) -> MissedCause:
    """Return what became of a fact at a search. fact: in the words of its record; most of them and all its numbers
    do.
    """
    own = [one for one in memory.records if one.store == search.store]
    said = [one for one in own if any(says(told, fact) for _, told in one.versions)]
    recalled = len(search.records)
    for rank, record in enumerate(search.records, 1):
        if says(record.content, fact):
            known = next((one for one in said if any(r.operation == search.number for r in one.recalls)), None)
            used = any(one.rank == rank and one.used for one in uses_of(memory, search))
            return MissedCause("used" if used else "not used", known, rank, 0, recalled)
    there = [one for one in said if says(one.content_at(search.at) or "", fact)]
    if there:
        place = next(
            (one.place for one in beside(memory, search, len(own)) if any(one.record is each for each in there)), 0
        )
        return MissedCause("not recalled", there[0], 0, place, recalled)
    if not said:
        return MissedCause("never stored", None, 0, 0, recalled)
    one = said[0]
    since = next(at for at, told in one.versions if says(told, fact))
    gone = one.deleted is not None and one.deleted <= search.at
    cause: Cause = "stored later" if since > search.at else "deleted" if gone else "changed"
    return MissedCause(cause, one, 0, 0, recalled)

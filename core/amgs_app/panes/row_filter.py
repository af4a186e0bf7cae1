"""Filter and sort the rows of a list with the same language for all panes and commands, by the fields of each pane.

A filter is terms that must all match: a word in all texts of a row, `field:word` in a field; `field=3`, `field>0.5` and
`field<=7` compare numbers; `!` before a term negates it.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Final

from amgs.errors import UsageError
from amgs.wing_registry import load_named
from amgs_app.terminal.line import quote, split
from amgs_app.wing_views import views

if TYPE_CHECKING:
    from amgs.types import Block, Candidate, Fate, Frame, Neighbourhood
    from amgs_app.panes.layout import Pane


Row = Mapping[str, str | float | None]
"""Values by which a row is filtered and sorted. A missing or None value matches no comparison."""

_TERM: Final = re.compile(r"(!?)(?:([a-z_]+)(<=|>=|:|=|<|>))?(.*)", re.DOTALL)
_COMPARE: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Listing:
    """The fields of a list's rows. sorts: the orders that a key steps through."""

    texts: tuple[str, ...]
    numbers: tuple[str, ...]
    sorts: tuple[str, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        return self.texts + self.numbers


@dataclass(frozen=True, slots=True)
class ListFilter:
    """A filter and an order.

    terms: all must match. order: a field, "" for the original order. Texts sort ascending and numbers descending,
    unless `reverse`.
    """

    terms: tuple[str, ...] = ()
    order: str = ""
    reverse: bool = False

    def __bool__(self) -> bool:
        return bool(self.terms or self.order)

    @property
    def words(self) -> str:
        """The filter as typed."""
        return " ".join(quote(term) for term in self.terms)

    def with_filter(self, line: str) -> ListFilter:
        """Return the same order with another filter; raises LineError for an unclosed quote."""
        return replace(self, terms=tuple(str(word) for word in split(line)))

    def next_order(self, listing: Listing) -> ListFilter:
        """Return the filter with the next order of the listing; after the last comes the original order."""
        turn = ("", *listing.sorts)
        place = turn.index(self.order) + 1 if self.order in turn else 1
        return replace(self, order=turn[place % len(turn)], reverse=False)


def describe_filter(sift: ListFilter) -> str:
    """Return a filter and its order in a few words."""
    if not sift:
        return "all rows, unsorted"
    parts = [f"only {sift.words}"] if sift.terms else []
    parts += [f"by {sift.order}{', reversed' if sift.reverse else ''}"] if sift.order else []
    return ", ".join(parts)


def check_filter(sift: ListFilter, listing: Listing) -> None:
    """Raise UsageError for a term or order that names no field, or compares it wrongly."""
    for term in sift.terms:
        _parse_term(term, listing)
    if sift.order and sift.order not in listing.fields:
        raise _unknown(sift.order, listing.fields)


def filter_rows(rows: Sequence[Row], listing: Listing, sift: ListFilter) -> tuple[int, ...]:
    """Return the indexes of the matching rows in order; raises UsageError as `check_filter` does.

    The sort is stable; rows without the field come last.
    """
    check_filter(sift, listing)
    tests = [_parse_term(term, listing) for term in sift.terms]
    matches = [place for place, row in enumerate(rows) if all(test(row) for test in tests)]
    if not sift.order:
        return tuple(matches)
    field = sift.order
    known = [place for place in matches if rows[place].get(field) is not None]
    falling = (field in listing.numbers) != sift.reverse
    key = _number_of if field in listing.numbers else _text_of
    known.sort(key=lambda place: key(rows[place], field), reverse=falling)
    here = set(known)
    return (*known, *(place for place in matches if place not in here))


def _parse_term(term: str, listing: Listing) -> Callable[[Row], bool]:
    """Return a function that tells whether a row matches the term; raises UsageError for an invalid term."""
    match = _TERM.fullmatch(term)
    if match is None or not (match[4] or match[3] == "="):
        raise UsageError(f"{term!r} is not a filter.", way_out=_way_out(listing))
    no, field, sign, wanted = match[1] == "!", match[2], match[3], match[4]
    if field is None:
        return _negate_test(_in_any(wanted, listing.texts), no)
    if field not in listing.fields:
        raise _unknown(field, listing.fields)
    if field in listing.texts:
        if sign not in (":", "="):
            raise UsageError(f"{field} is text.", way_out=f"Use {field}:WORD or {field}=WORD.")
        return _negate_test(_in_text(field, wanted, whole=sign == "="), no)
    if sign == ":":
        sign = "="
    try:
        number = float(wanted.replace("−", "-"))
    except ValueError:
        raise UsageError(
            f"{wanted!r} is not a number to compare {field} with.", way_out=f"For example {field}>0.5."
        ) from None
    return _negate_test(_in_number(field, _COMPARE[sign], number), no)


def _negate_test(test: Callable[[Row], bool], no: bool) -> Callable[[Row], bool]:
    return (lambda row: not test(row)) if no else test


def _in_any(wanted: str, fields: Iterable[str]) -> Callable[[Row], bool]:
    sought, names = wanted.casefold(), tuple(fields)
    return lambda row: any(sought in _text_of(row, name) for name in names)


def _in_text(field: str, wanted: str, *, whole: bool) -> Callable[[Row], bool]:
    sought = wanted.casefold()
    if whole:
        return lambda row: _text_of(row, field) == sought
    return lambda row: sought in _text_of(row, field)


def _in_number(field: str, holds: Callable[[float, float], bool], wanted: float) -> Callable[[Row], bool]:
    return lambda row: row.get(field) is not None and holds(_number_of(row, field), wanted)


def _text_of(row: Row, field: str) -> str:
    value = row.get(field)
    return "" if value is None else str(value).casefold()


def _number_of(row: Row, field: str) -> float:
    value = row.get(field)
    return float(value) if value is not None else 0.0


def _unknown(field: str, known: Iterable[str]) -> UsageError:
    return UsageError(f"The rows have no field {field!r}.", way_out=f"Fields: {', '.join(known)}.")


def _way_out(listing: Listing) -> str:
    """Return an example of a valid filter."""
    text = listing.texts[0]
    number = f", {listing.numbers[0]}>0.5" if listing.numbers else ""
    return f"For example a word, {text}:WORD{number}, or !WORD for what has it not."


MEASURES = ("degree", "pagerank", "eigenvector", "betweenness")
"""Centrality measures of a block."""

_LISTINGS: dict[Pane, Listing] = {
    "graph": Listing(
        ("title", "content", "category", "relation"),
        ("strength", "hops", *MEASURES),
        ("strength", "title", "relation", "pagerank", "betweenness"),
    )
}
LISTINGS = {
    "inbox": "amgs_app.lifecycle.rows:LISTING",
    "frame": "amgs_app.render.candidates:LISTING",
    "calibration": "amgs_app.calibration.rows:LISTING",
    "overview": "amgs_app.render.rows:JOURNAL_LISTING",
    "decay": "amgs_app.decay.rows:LISTING",
    "focus": "amgs_app.focus.rows:LISTING",
    "conversation": "amgs_app.conversation.rows:LISTING",
}


@cache
def listings() -> Mapping[Pane, Listing]:
    """Return the fields of the rows of each pane that has a list; the modules are imported on first use."""
    modules = LISTINGS | {name: view.listing for name, view in views().items() if view.listing}
    return _LISTINGS | {name: load_named(place) for name, place in modules.items()}


def state_of(block: Block) -> str:
    """Return a warning about a block for its reader: not consolidated, or superseded; "" for none."""
    return "raw: not consolidated" if block.status == "raw" else "superseded" if block.superseded else ""


FATES: Mapping[Fate, str] = {
    "selected": "",
    "over_budget": "over budget",
    "duplicate": "duplicate",
    "below_threshold": "below threshold",
    "not_in_top_k": "not in top k",
    "child_dropped": "child dropped",
}
"""Why a candidate was left out, in words."""


def list_candidates(frame: Frame) -> tuple[Candidate, ...]:
    """Return a frame's candidates in display order: part by part, parts chosen for the question first, and selected
    ones first in each.
    """
    unasked = {part.name for part in frame.parts if not part.asks}
    names = sorted(dict.fromkeys(candidate.child for candidate in frame.candidates), key=lambda name: name in unasked)
    turn = {name: place for place, name in enumerate(names)}
    return tuple(sorted(frame.candidates, key=lambda candidate: (turn[candidate.child], candidate.fate != "selected")))


def fate_of(candidate: Candidate) -> str:
    """In or out."""
    return "in" if candidate.fate == "selected" else "out"


def reason_of(candidate: Candidate) -> str:
    """Return why a candidate is in or out, in a few words."""
    word, because = FATES[candidate.fate], " ".join(candidate.because.split())
    if not word or because.startswith(word) or (because and candidate.fate == "duplicate"):
        return because
    return f"{word} ({because})" if because else word


def list_neighbour_ids(neighbourhood: Neighbourhood, sift: ListFilter) -> list[str]:
    """Return the ids of the neighbours that pass the filter, in its order; by default near before far, then strong
    before weak.
    """
    rows = neighbour_rows(neighbourhood)
    around = [block.id for block in neighbourhood.blocks if block.id != neighbourhood.center.id]
    indexes = list(visible_rows("graph", rows, sift))
    if not sift.order:
        indexes.sort(key=lambda at: (rows[at]["hops"] or 9, -float(rows[at]["strength"] or 0), around[at]))
    return [around[place] for place in indexes]


def neighbour_rows(neighbourhood: Neighbourhood) -> list[Row]:
    """Return a row for each block of a neighbourhood except the centre.

    strength: of the strongest edge at the block. hops: distance from the centre.
    """
    strength: dict[str, float] = {}
    relations: dict[str, set[str]] = {}
    for live in neighbourhood.edges:
        for end in (live.edge.source_id, live.edge.target_id):
            strength[end] = max(strength.get(end, 0.0), live.strength)
            relations.setdefault(end, set()).add(live.edge.relation_type)
    rows: list[Row] = []
    for block in neighbourhood.blocks:
        if block.id == neighbourhood.center.id:
            continue
        place = neighbourhood.centrality.get(block.id)
        measures = {} if place is None else {name: getattr(place, name) for name in MEASURES}
        rows.append(
            {
                **_of_block(block),
                "relation": " ".join(sorted(relations.get(block.id, ()))),
                "strength": strength.get(block.id, 0.0),
                "hops": neighbourhood.distances.get(block.id),
                **measures,
            }
        )
    return rows


def visible_rows(pane: Pane, rows: Sequence[Row], sift: ListFilter) -> tuple[int, ...]:
    """Return the indexes of the rows that a pane shows, in its order."""
    return filter_rows(rows, listings()[pane], sift) if sift else tuple(range(len(rows)))


def _of_block(block: Block) -> Row:
    return {"title": block.title, "content": block.content, "category": block.category}

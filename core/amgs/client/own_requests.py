"""Requests that no method of `Memory` describes, or that differ from the method of their name; and arguments in the
terms of the service, and values taken out of its answers, where more differs than a name.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from amgs import wire
from amgs.client.ask import Ask, asking, operation, part, sending
from amgs.errors import UsageError

if TYPE_CHECKING:
    from amgs.types import Block, IngestReceipt, JournalPage, PlanApplied, ServedPlan


Arguments = dict[str, Any]


# --- arguments -------------------------------------------------------------------------------------------


def write_conditions(given: Arguments) -> Arguments:
    """A filter as its conditions; raises UsageError for one that the service does not take."""
    filter = given.pop("filter", None)
    if filter is None:
        return given
    from amgs.types import BlockFilter

    served = BlockFilter(
        statuses=filter.statuses,
        categories=filter.categories,
        since=filter.since,
        until=filter.until,
        self_only=filter.self_only,
        meta=filter.meta,
    )
    if served != filter:
        raise UsageError(
            "The service filters by status, category, date, metadata and the self.",
            way_out="Leave the other conditions out, or give `as_of` to the search itself.",
        )
    return given | {
        "status": filter.statuses,
        "category": filter.categories,
        "since": filter.since,
        "until": filter.until,
        "self_only": filter.self_only or None,
        "meta": filter.meta or None,
    }


def refuse_filter(given: Arguments) -> Arguments:
    """The arguments of an explanation; raises UsageError where there is a filter among them."""
    if "filter" in given:
        raise UsageError("The service explains a search without a filter.", way_out="Leave the filter out.")
    return given


def tell_look(given: Arguments) -> Arguments:
    """Whether a frame leaves a trace, as the service is told so."""
    traced = given.pop("reinforce", True)
    return given | ({} if traced and "as_of" not in given else {"look": True})


def word_verdict(given: Arguments) -> Arguments:
    """A verdict in a word."""
    return given | {"useful": "useful" if given["useful"] else "useless"}


def write_messages(given: Arguments) -> Arguments:
    """Messages as JSON."""
    from amgs.types.conversation import Message

    told = [one.as_object() if isinstance(one, Message) else dict(one) for one in given["messages"]]
    return given | {"messages": json.dumps(told, ensure_ascii=False, default=str)}


def drop_unknown(given: Arguments) -> Arguments:
    """What is told of an answer, without what is not known; the answer and the fact are asked for even if empty."""
    return {name: value for name, value in given.items() if value != "" or name in ("answer", "missed")}


# --- answers ---------------------------------------------------------------------------------------------


def read_summary(given: Any, packages: Collection[str]) -> Any:
    """The summary of a consolidation."""
    from amgs.types import ConsolidationSummary

    if "operations" not in given["fields"]:
        return ConsolidationSummary(0, 0, {}, ())  # nothing waited
    entries = wire.decode(given["fields"]["operations"], packages)
    operations = tuple(each for each in entries if each.blocks)
    categories = wire.decode(given["fields"]["categories"], packages)
    return ConsolidationSummary(
        sum(categories.values()), sum(each.edges for each in operations), categories, operations
    )


def read_outcomes(given: Any, packages: Collection[str]) -> Any:
    """The outcomes of the cases that are listed."""
    cases = given["fields"]["cases"]["$tuple"]
    return tuple(wire.decode(case["fields"]["outcome"], packages) for case in cases)


def read_counts(given: Any, packages: Collection[str]) -> Any:
    """How many blocks there are of each state."""
    return wire.decode(given["fields"]["store"]["fields"]["blocks"], packages)


# --- texts -----------------------------------------------------------------------------------------------


def ingest(
    content: str | Sequence[str | Mapping[str, Any]],
    *,
    occurred_at: datetime | None = None,
    speaker: str = "",
    source: str = "",
    tags: Sequence[str] = (),
    meta: Mapping[str, Any] | None = None,
) -> Ask[IngestReceipt]:
    """Take in a text or many, all of them or none; they wait in the inbox for `consolidate`.

    content: a text, or a list of texts, each a str or a mapping with `content` and any of what follows. occurred_at:
    when it happened or was written, now unless given. What is known already is left alone, so that a request can be
    repeated. Returns only after the memory has it on disk. Raises InputError for a text that cannot be taken in.
    """
    texts = content if isinstance(content, str) else list(content)
    return sending(
        "POST",
        "/v1/memory/ingest",
        repeatable=True,
        content=texts,
        occurred_at=occurred_at,
        speaker=speaker or None,
        source=source or None,
        tags=tuple(tags) or None,
        meta=meta or None,
    )


def add(
    what: str, *, created_at: datetime | None = None, meta: Mapping[str, Any] | None = None
) -> Ask[IngestReceipt]:
    """Take in a text, as `Memory.add` does; a file or a folder is read where it lies."""
    if not isinstance(what, str):
        raise UsageError(
            "A served memory takes texts.",
            way_out="Send the file's text, or ingest the folder where the memory is.",
        )
    return ingest_texts([(what, created_at, meta or {})])


def ingest_text(
    text: str, *, created_at: datetime | None = None, meta: Mapping[str, Any] | None = None
) -> Ask[IngestReceipt]:
    """Take in one piece of markdown, split when it is long; raises InputError when it is unfit."""
    return ingest_texts([(text, created_at, meta or {})])


def ingest_texts(given: Sequence[tuple[str, datetime | None, Mapping[str, Any]]]) -> Ask[IngestReceipt]:
    """Take in texts, each with when it was written (None: now) and its metadata, all of them or none."""
    return ingest([_item(*each) for each in given])


def _item(text: str, at: datetime | None, meta: Mapping[str, Any]) -> dict[str, Any]:
    named = {name: meta[name] for name in ("speaker", "source", "tags") if name in meta}
    rest = {name: str(value) for name, value in meta.items() if name not in named}
    return {
        "content": text,
        **named,
        **({"occurred_at": at} if at else {}),
        **({"meta": rest} if rest else {}),
    }


def reinforce(ids: Sequence[str]) -> Ask[tuple[Block, ...]]:
    """Restart the decay clock of blocks, one logged event each; gives the blocks as they are then."""
    return operation("block_reinforce", part("blocks"), writes=True, blocks=list(ids))


# --- plans and the journal -------------------------------------------------------------------------------


def hold_revision(source: str, text: str) -> Ask[ServedPlan]:
    """Plan what a source's new text would change, which the service keeps for an hour; changes nothing."""
    return sending("POST", "/v1/plans/revision", repeatable=True, source=source, text=text)


def apply_plan(plan: ServedPlan, *, even_if_changed: bool = False) -> Ask[PlanApplied]:
    """Carry a plan out, in one transaction that `undo` takes back.

    Raises StaleError, whose `changed` are the journal entries since, where the memory is not the one that it was made
    from.
    even_if_changed: apply it if it still fits, whatever else has changed.
    """
    ask = sending("POST", f"/v1/plans/{plan.id}/apply")
    wanted = "*" if even_if_changed else f'"{plan.change_counter}"'
    return replace(ask, headers={"If-Match": wanted})


def journal(limit: int = 50, offset: int = 0) -> Ask[JournalPage]:
    """A page of what was changed, the newest first."""
    return asking("/v1/journal", limit=limit, offset=offset)

"""Arguments in the terms of the service, and values taken out of its answers, where more differs than a name."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from amgs import wire
from amgs.errors import UsageError

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

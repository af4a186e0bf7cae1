"""Who asked a served memory what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs.text.plural import plural
from amgs_app.render.catalogue import entry
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from amgs_app.results.memory import TrafficList

NOT_SERVED = (
    "This memory is not served. `amgs serve` serves it; `amgs --connect URL` then shows who asks what."
)


def _told(result: TrafficList) -> str:
    if not result.served:
        return NOT_SERVED
    if not result.events:
        return "Nobody has asked anything yet"
    return plural(len(result.events), "question or change", "questions and changes")


@entry(sentence=_told)
def traffic_list(result: TrafficList) -> ResultTable:
    rows = [
        (each.at, each.caller, each.line, each.got if each.outcome == "done" else f"✗ {each.got}", ms)
        for each in result.events
        for ms in [round(each.milliseconds)]
    ]
    note = NOT_SERVED if not result.served else "" if rows else "Nobody has asked anything yet."
    return sheet("Traffic", "at:at who asked* got ms:n", rows, (note,) if note else ())

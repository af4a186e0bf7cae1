"""Price of a request by a dated table of list prices, `prices.json`."""

from __future__ import annotations

import json
import re
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Final

from amgs.types.usage import Usage

_DATED: Final = re.compile(r"(?:-\d{8}|-\d{4}-\d\d-\d\d|-latest|\[[^\]]*\]|[@:].*)+$")
"""Suffixes of model names: versions and ways of running."""


@cache
def price_table() -> dict[str, Any]:
    """Return the table. checked: day on which it was last compared with the providers' pages."""
    table: dict[str, Any] = json.loads(Path(__file__).with_name("prices.json").read_text("utf-8"))
    return table


def cost_of(model: str, usage: Usage, day: date | None = None) -> float | None:
    """Return the price of a request in dollars on a day, by default today; None if unknown."""
    name = model.lower().rpartition("/")[2].removeprefix("us.").removeprefix("anthropic.")
    plain = _DATED.sub("", name)
    for row in price_table()["prices"]:
        until = row.get("until")
        if plain not in row["models"] or (until and (day is None or day > date.fromisoformat(until))):
            continue
        tokens = (usage.fresh, usage.written, usage.cached, usage.output)
        rates = [float(row[key]) for key in ("fresh", "written", "cached", "output")]
        return sum(count * rate for count, rate in zip(tokens, rates, strict=True)) / 1_000_000
    return None

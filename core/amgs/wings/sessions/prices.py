"""Price of a request at list prices: a dated table, `prices.json`. A model that it lacks has no price."""

from __future__ import annotations

import json
import re
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Final

from amgs.types.usage import Usage

_DATED: Final = re.compile(r"(?:-\d{8}|-\d{4}-\d\d-\d\d|-latest|\[[^\]]*\]|[@:].*)+$")
"""What names a version of a model, or how it is run."""


@cache
def price_table() -> dict[str, Any]:
    """Return the table. checked: the day on which it was last held against the providers' pages."""
    table: dict[str, Any] = json.loads(Path(__file__).with_name("prices.json").read_text("utf-8"))
    return table


def cost_of(model: str, usage: Usage, day: date | None = None) -> float | None:
    """Dollars for a request on a day, today's price without one; None where no price is known."""
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

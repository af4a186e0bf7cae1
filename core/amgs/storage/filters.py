"""The filter of blocks as SQL: layer 1 of retrieval (AMGS §6)."""

from __future__ import annotations

import json
from typing import Any

from amgs.clock import as_utc
from amgs.storage.connection import stored
from amgs.storage.sources import STANDING
from amgs.types import BlockFilter

_HELD = (
    "(status IN (SELECT unnest(?::VARCHAR[])) OR status = 'archived' AND valid_to IS NOT NULL) AND "
    "(coalesce(valid_from, created_at) <= ? AND (valid_to IS NULL OR valid_to > ?) OR id IN "
    f"(SELECT block_id FROM {STANDING} WHERE since <= ? AND until > ?) OR id IN (SELECT id FROM (SELECT id, "
    "unnest(from_json(meta->'held_before', '[\"VARCHAR\"]')) AS period FROM memory_blocks WHERE "
    "contains(meta::VARCHAR, '\"held_before\"')) AS p WHERE split_part(period, '/', 1) <= ? AND "
    "split_part(period, '/', 2) > ?))"
)
"""SQL: what held at an instant, by its own validity, because a source contained it then, or in an earlier period of
validity.
"""

FADED = (
    "exp(greatest(-700, -decay_lambda * greatest(0, epoch_us(?::TIMESTAMP) - epoch_us(last_reinforced_at)) / 3.6e9))"
)
"""SQL: decay factor of a row at an instant. The exponent is limited, since databases reject very low ones."""


_SEVERAL = "contains(meta::VARCHAR, '\"categories\"')"
"""SQL: the block has several categories."""


def texts_of(column: str) -> str:
    """Return SQL for the list of texts in a JSON column."""
    return f"from_json({column}, '[\"VARCHAR\"]')"


def where(wanted: BlockFilter) -> tuple[str, list[Any]]:
    """Return a condition on `memory_blocks` and its parameters.

    Time ranges include their start and exclude their end. An empty list of statuses passes no block.
    """
    conditions = ["status IN (SELECT unnest(?::VARCHAR[]))"]
    parameters: list[Any] = [list(wanted.statuses)]
    if wanted.as_of is not None:
        at = stored(wanted.as_of)
        conditions = [_HELD]
        timestamp = as_utc(wanted.as_of).isoformat()
        parameters += [at, at, at, at, timestamp, timestamp]
    if wanted.current:
        conditions.append("valid_to IS NULL")
    if wanted.categories is not None:
        named = [json.dumps(category, ensure_ascii=False) for category in wanted.categories]
        clause = " OR ".join(["contains(CAST(meta->'categories' AS VARCHAR), ?)"] * len(named))
        # A look for the key is much cheaper than to parse every row.
        several = f" OR {_SEVERAL} AND ({clause})" if named else ""
        conditions.append(f"(category IN (SELECT unnest(?::VARCHAR[])){several})")
        parameters += [list(wanted.categories), *named]
    if wanted.without:
        conditions.append(f"(category <> ? OR {_SEVERAL})")
        parameters.append(wanted.without)
    for column, sign, instant in (
        ("created_at", ">=", wanted.since),
        ("created_at", "<", wanted.until),
        ("last_reinforced_at", ">=", wanted.reinforced_since),
    ):
        if instant is not None:
            conditions.append(f"{column} {sign} ?")
            parameters.append(stored(instant))
    if wanted.self_only:
        conditions.append("is_self_component")
    for key, value in wanted.meta.items():
        if key.isascii() and key.isidentifier():
            # Such a key stands in the text as it is: a look for it is much cheaper than to parse every row.
            conditions.append("contains(meta::VARCHAR, ?)")
            parameters.append(f'"{key}"')
        conditions.append("json_extract_string(meta, ?) = ?")
        # A JSON pointer: the one form of path in which any key can be written.
        parameters += ["/" + key.replace("~", "~0").replace("/", "~1"), value]
    return " AND ".join(conditions), parameters

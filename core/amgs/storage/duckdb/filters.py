"""The pre-filter as SQL: layer 1 of retrieval (AMGS §6)."""

from __future__ import annotations

from typing import Any

from amgs.storage.duckdb.connection import stored
from amgs.types import BlockFilter


def where(wanted: BlockFilter) -> tuple[str, list[Any]]:
    """A condition on `memory_blocks` and its parameters.

    Times are half open, an empty list of statuses passes none.
    """
    conditions = ["status IN (SELECT unnest(?::VARCHAR[]))"]
    parameters: list[Any] = [list(wanted.statuses)]
    if wanted.categories is not None:
        conditions.append("category IN (SELECT unnest(?::VARCHAR[]))")
        parameters.append(list(wanted.categories))
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

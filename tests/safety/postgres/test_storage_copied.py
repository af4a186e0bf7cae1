"""Columns that COPY sends in bulk are those that rows give, and what is not of one width is left to rows."""

from __future__ import annotations

import numpy as np
import pytest

from amgs.storage.connection import SqlConnection
from amgs.storage.opening import open_storage
from tests.postgres_server import namespace

NUMBERS = "generate_series(1, 50) AS n"
QUERIES = [
    f"SELECT n, n::bigint * 10000000000 AS big, n / 7.0::float8 AS half, n % 2 = 0 AS even FROM {NUMBERS}",
    f"SELECT n, md5(n::text) AS id FROM {NUMBERS}",
    f"SELECT n, n::text AS uneven FROM {NUMBERS}",
    f"SELECT n, CASE WHEN n > 1 THEN n END AS missing FROM {NUMBERS}",
    f"SELECT n, 'ä' || chr(64 + n % 20) AS accented FROM {NUMBERS}",
    f"SELECT n FROM {NUMBERS} WHERE n > 60",
]


@pytest.mark.parametrize("sql", QUERIES, ids=["numbers", "ids", "uneven", "missing", "accented", "none"])
def test_columns_in_bulk_are_those_of_rows(postgres: str, sql: str) -> None:
    with open_storage(namespace(postgres)) as storage:
        assert isinstance(storage, SqlConnection)
        given, wanted = storage.columns(sql, whole=True), storage.columns(sql)
        assert list(given) == list(wanted)
        for name, column in wanted.items():
            assert given[name].dtype == column.dtype
            np.testing.assert_array_equal(np.ma.getmaskarray(given[name]), np.ma.getmaskarray(column))
            assert given[name].tolist() == column.tolist()

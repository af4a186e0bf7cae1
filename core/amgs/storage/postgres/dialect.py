"""The SQL of the parts as PostgreSQL reads it: marks of parameters, names of types, and functions it lacks."""

from __future__ import annotations

import re
from functools import cache

_TOKEN = re.compile(r"'(?:[^']|'')*'|--[^\n]*|\?|%|\bDOUBLE\b|\bVARCHAR\b|\bFLOAT\[\]")
_WORDS = {"?": "%s", "DOUBLE": "FLOAT8", "VARCHAR": "TEXT", "FLOAT[]": "REAL[]"}


@cache
def translated(sql: str) -> str:
    """A statement of the parts as psycopg takes it; the parts hold a few hundred of them."""

    def word(found: re.Match[str]) -> str:
        text = found[0]
        return _WORDS.get(text) or text.replace("%", "%%")

    return _TOKEN.sub(word, sql)


_CALLED = "LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN"
FUNCTIONS = (
    f"""CREATE FUNCTION epoch_us(at timestamp) RETURNS bigint {_CALLED}
        (extract(epoch FROM at) * 1000000)::bigint""",
    # Days and what is left of one: as a factor of an interval either is exact, all microseconds at once are not.
    f"""CREATE FUNCTION make_timestamp(us bigint) RETURNS timestamp {_CALLED}
        timestamp '1970-01-01' + (us / 86400000000) * interval '1 day'
        + (us % 86400000000) * interval '1 microsecond'""",
    f"CREATE FUNCTION contains(whole text, part text) RETURNS boolean {_CALLED} strpos(whole, part) > 0",
    f"CREATE FUNCTION isfinite(x float8) RETURNS boolean {_CALLED} x NOT IN ('NaN', 'Infinity', '-Infinity')",
    f"""CREATE FUNCTION json_extract_string(doc json, pointer text) RETURNS text {_CALLED}
        doc ->> replace(replace(substr(pointer, 2), '~1', '/'), '~0', '~')""",
    f"""CREATE FUNCTION from_json(doc json, shape text) RETURNS text[] {_CALLED}
        CASE WHEN json_typeof(doc) = 'array' THEN ARRAY(SELECT json_array_elements_text(doc)) END""",
    "CREATE FUNCTION uuid() RETURNS uuid LANGUAGE sql VOLATILE RETURN gen_random_uuid()",
)
"""What the parts call by DuckDB's names, in the schema of the store."""

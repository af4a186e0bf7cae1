"""Damage to files: what a crash, an editor or a later version of a program makes of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any, Final

VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    0,
    -1,
    1.5,
    1e400,
    10**40,
    "",
    "x",
    "\ud800",
    "9999-12-31T23:59:59-14:00",
    [],
    {},
    [[]],
    [None, 3, "x"],
    {"type": "text", "text": 4},
    {"content": {"content": {"text": []}}},
)
DEPTH: Final = 900


def mutated(raw: bytes, seed: int, *, whole: bool = False) -> bytes:
    """A file with one to three damages, the same for a seed each time. whole: whether it is one JSON document, which
    mostly stays one, since any other is no session at all.
    """
    draw = random.Random(seed)
    damages = (_retype,) if whole and draw.random() < 0.7 else DAMAGES
    for _ in range(draw.randint(1, 3)):
        raw = draw.choice(damages)(raw, draw)
    return raw


def _cut(raw: bytes, draw: random.Random) -> bytes:
    return raw[: draw.randrange(len(raw) + 1)]


def _flip(raw: bytes, draw: random.Random) -> bytes:
    made = bytearray(raw)
    for _ in range(draw.randint(1, 8) if made else 0):
        made[draw.randrange(len(made))] = draw.choice((0, 10, 34, 44, 91, 92, 123, 125, 255, draw.randrange(256)))
    return bytes(made)


def _lines(raw: bytes, draw: random.Random) -> bytes:
    """Lines swapped, repeated, or left out."""
    lines = raw.splitlines(keepends=True)
    if not lines:
        return raw
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    how = draw.randrange(3)
    if how == 0:
        lines[one], lines[other] = lines[other], lines[one]
    elif how == 1:
        lines.insert(other, lines[one])
    else:
        del lines[one]
    return b"".join(lines)


def _nest(raw: bytes, draw: random.Random) -> bytes:
    """A line that is nested deeply, or more deeply than can be read."""
    lines = raw.splitlines(keepends=True)
    depth = draw.choice((DEPTH, 100_000))
    lines.insert(draw.randint(0, len(lines)), b'{"a":' * depth + b"1" + b"}" * depth + b"\n")
    return b"".join(lines)


def _retype(raw: bytes, draw: random.Random) -> bytes:
    """One value of JSON replaced by one of another type, in the document or in one of the lines."""
    try:
        whole = json.loads(raw)
    except ValueError:
        lines = raw.splitlines(keepends=True)
        readable = [at for at, line in enumerate(lines) if line.startswith(b"{")]
        if not readable:
            return raw
        at = draw.choice(readable)
        try:
            value = json.loads(lines[at])
        except (ValueError, RecursionError):
            return raw
        lines[at] = _replaced(value, draw) + b"\n"
        return b"".join(lines)
    except RecursionError:
        return raw
    return _replaced(whole, draw)


def _replaced(value: Any, draw: random.Random) -> bytes:
    try:
        places = [*_places(value)]
        if places:
            held, key = draw.choice(places)
            deep: Any = "x"
            for _ in range(DEPTH // 2):
                deep = [deep] if draw.random() < 0.5 else {"content": deep}
            held[key] = draw.choice((*VALUES, deep))
        return json.dumps(value).encode()
    except RecursionError:
        return b"{}"


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """(what holds it, key or index) of each value within a value."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(inner, (dict, list)):
            yield from _places(inner)


DAMAGES: Final[tuple[Callable[[bytes, random.Random], bytes], ...]] = (_cut, _flip, _lines, _nest, _retype, _retype)

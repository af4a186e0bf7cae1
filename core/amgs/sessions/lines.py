"""Tolerant reading of JSON lines: a torn, too deeply nested or invalid line is reported and never ends the reading.

Also files that are a single JSON value, rewritten as a whole. Compressed files, and UTF-16 as from output redirection
on Windows, are read like plain UTF-8.
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from errno import EIO
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from amgs.clock import UNPLACED, aware
from amgs.errors import InputError
from amgs.incoming import make_storable
from amgs.sessions.turn import Place
from amgs.types.gateway import Usage

_LONGEST: Final = 64 * 1024 * 1024
"""Longer lines in bytes are counted but not read; no turn is so long, though a picture in it may be."""
_LONGEST_NAME: Final = 120
_ZSTD: Final = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")
"""How a frame of zstd begins, or one that is skipped (RFC 8878, 3.1)."""
_GZIP: Final = b"\x1f\x8b"
_UTF_16: Final = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """A line. value: its object, or None with the reason in `why`."""

    place: Place
    value: Record | None
    why: str = ""


def lines_of(path: Path, start: int = 0, number: int = 1) -> Iterator[Line]:
    """Yield the non-empty lines of a file from byte `start` on. number: of the first line. Raises InputError for an
    unreadable file.
    """
    try:
        with open_unpacked(path) as file:
            skip_to(file, start)
            offset = start
            while raw := file.readline(_LONGEST + 1):
                size = len(raw)
                while size > _LONGEST and not raw.endswith(b"\n") and (more := file.readline(_LONGEST)):
                    size, raw = size + len(more), more
                place = Place(number, offset, size)
                if size > _LONGEST:
                    yield Line(place, None, f"longer than {_LONGEST >> 20} MiB")
                elif raw.strip():
                    yield _line(raw, place)
                offset += size
                number += 1
    except OSError as error:
        raise unreadable(path, error) from error


@contextmanager
def open_unpacked(path: Path) -> Iterator[BinaryIO]:
    """Yield a file object with the decompressed bytes of a file (zstd, gzip or plain), UTF-16 as UTF-8.

    A torn file ends where it cannot be decompressed further. Raises OSError, also if nothing can be decompressed.
    """
    with path.open("rb") as file:
        magic = file.read(4)
        file.seek(0)
        utf_16 = _utf_16_of(magic)
        if utf_16:
            yield cast(BinaryIO, io.BufferedReader(_Lenient(_Recoded(file, utf_16).read, UnicodeError)))
        elif _ZSTD.match(magic):
            from backports import zstd

            yield cast(BinaryIO, io.BufferedReader(_Lenient(zstd.ZstdFile(file).read1, zstd.ZstdError)))
        elif magic.startswith(_GZIP):
            yield cast(BinaryIO, io.BufferedReader(_Lenient(gzip.GzipFile(fileobj=file).read1, zlib.error)))
        else:
            yield file


class _Lenient(io.RawIOBase):
    """The part of a stream that can be decompressed."""

    def __init__(self, read: Callable[[int], bytes], torn: type[Exception]) -> None:
        self._read = read
        self._torn = (torn, EOFError, OSError)
        self._begun = False

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; return 0 at the end or where the stream is torn. Raises OSError if it is torn at the
        beginning.
        """
        try:
            chunk = self._read(len(buffer))
        except self._torn as error:
            if not self._begun:
                raise OSError(EIO, "nothing of it can be unpacked") from error
            return 0
        self._begun = True
        buffer[: len(chunk)] = chunk
        return len(chunk)


class _Recoded:
    """A UTF-16 file as UTF-8."""

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self._file = file
        self._decode = codecs.getincrementaldecoder(encoding)("replace").decode

    def read(self, size: int) -> bytes:
        """Return at most this many bytes; none at the end."""
        words = ""
        while not words and (raw := self._file.read(max(2, size // 3))):  # two bytes may become three in UTF-8
            words = self._decode(raw)
        return words.encode("utf-8", "replace")


def _utf_16_of(head: bytes) -> str:
    """Return the encoding of a UTF-16 file by its first four bytes: a byte order mark, or ASCII without it; else ""."""
    marked = next((encoding for mark, encoding in _UTF_16.items() if head.startswith(mark)), "")
    if marked or len(head) < 4:
        return marked
    return {b"0101": "utf-16-le", b"1010": "utf-16-be"}.get(bytes(48 + (not byte) for byte in head), "")


def is_packed(path: Path) -> bool:
    """Return whether a file's bytes are compressed or UTF-16."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError:
        return False
    return bool(_ZSTD.match(magic)) or magic.startswith(_GZIP) or bool(_utf_16_of(magic))


def skip_to(file: BinaryIO, offset: int) -> None:
    """Seek forward to a byte, also in a stream that cannot seek."""
    if file.seekable():
        file.seek(offset)
        return
    while offset > 0 and (passed := file.read(min(offset, 1 << 20))):
        offset -= len(passed)


def line_at(path: Path, place: Place) -> Record | None:
    """Return the object of the line at a place, read again; None if the file has changed there."""
    try:
        with open_unpacked(path) as file:
            skip_to(file, place.offset)
            return _line(file.read(place.size), place).value
    except OSError:
        return None


def unreadable(path: Path, error: OSError) -> InputError:
    """Return the error for an unreadable session file."""
    return InputError(
        f"{path} cannot be read: {error.strerror or error}.", way_out="Choose a file that exists and may be read."
    )


def parse_object(text: str) -> Record | None:
    """Return the JSON object in a text; None for anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _line(raw: bytes, place: Place) -> Line:
    try:
        value = json.loads(raw.decode("utf-8-sig", "replace"))
    except RecursionError:
        return Line(place, None, "nested too deeply")
    except ValueError:
        torn = not raw.endswith(b"\n")
        return Line(place, None, "torn: the file ends within it" if torn else "not JSON")
    return Line(place, value) if isinstance(value, dict) else Line(place, None, "not an object")


# --- fields ------------------------------------------------------------------------------------------------


def text(value: Any) -> str:
    """Return a text without what cannot be stored; "" for anything else."""
    return make_storable(value) if isinstance(value, str) else ""


def name(value: Any) -> str:
    """Return a text shortened to a line, without what cannot be stored; for a number, its digits; else ""."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    line = " ".join(str(value).split())
    return make_storable(line)[:_LONGEST_NAME]


_MOST: Final = 2**53
"""Larger numbers have no exact float."""


def count(value: Any) -> int:
    """Return a number of tokens; 0 for anything else, including impossible numbers."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MOST else 0


def usage_with_cache(read: Any, output: int, cached: Any, written: Any = None) -> Usage:
    """Return the tokens of a request whose input includes cached ones."""
    cache_hits, put = count(cached), count(written)
    return Usage(max(0, count(read) - cache_hits - put), put, cache_hits, output)


def fields(value: Any) -> Record:
    """Return an object; {} for anything else."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Record]:
    """Return the objects of a list; none for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def instant(value: Any) -> datetime | None:
    """Return a time from ISO 8601, with its offset, or from a number since 1970 in seconds, milliseconds, microseconds
    or nanoseconds, also as text; None for anything else.
    """
    try:
        if isinstance(value, str) and _SINCE_1970.fullmatch(value):
            value = float(value)
        if isinstance(value, str) and value:
            at = datetime.fromisoformat(value.strip().removesuffix(" UTC").replace("Z", "+00:00"))
            return at.replace(tzinfo=UNPLACED) if at.tzinfo and not at.utcoffset() else aware(at)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
            return datetime.fromtimestamp(seconds_of(value), UNPLACED)
    except (ValueError, OverflowError, OSError):
        return None
    return None


_SINCE_1970: Final = re.compile(r"(?!(?:19|20)\d{10}(?:\d\d)?$)\d{9,19}(?:\.\d+)?")
"""A number of seconds or of a smaller unit; 202401021230 and 20240102123000 are a day and a time, not a number."""


def seconds_of(since_1970: float) -> float:
    """Return seconds since 1970 from a number whose size tells its unit."""
    steps = sum(abs(since_1970) > _SECONDS * 1000**step for step in range(3))
    return float(since_1970 / 1000**steps)


_SECONDS: Final = 1e11
"""Larger times are in a smaller unit."""


def as_json(value: Any) -> str:
    """Return a call's arguments: a text unchanged, anything else as JSON."""
    if isinstance(value, str):
        return text(value)
    try:
        return text(json.dumps({} if value is None else value, ensure_ascii=False))
    except (ValueError, TypeError, RecursionError):
        return "…"


def content_text(content: Any, depth: int = 0) -> str:
    """Return the text of a content: a string, a part, or a list of parts; parts without text become their type in
    brackets.
    """
    if isinstance(content, str):
        return text(content)
    if depth > 8:
        return "[nested]"
    if isinstance(content, list):
        return "\n".join(part_text for part in content if (part_text := content_text(part, depth + 1)))
    if not isinstance(content, dict):
        return ""
    for key in ("text", "content", "output", "refusal", "result", "error", "message"):
        if isinstance(content.get(key), (str, list, dict)):
            return content_text(content[key], depth + 1)
    kind = text(content.get("type"))
    return f"[{kind}]" if kind else ""


_NOT_JSON = "Wait until its program has written it, or give another file."


def document_at(path: Path) -> Any:
    """Return the JSON value in a file, or a list of successive objects. Raises InputError for an unreadable file or
    anything else.
    """
    try:
        return parse_document(text_of_file(path))
    except OSError as error:
        raise unreadable(path, error) from error
    except RecursionError as error:
        raise InputError(f"{path} is nested too deeply.", way_out="Give another file.") from error
    except ValueError as error:
        raise InputError(f"{path} is no whole JSON document.", way_out=_NOT_JSON) from error


def whole_document(path: Path) -> Any:
    """Return the JSON value that a file is as a whole; None if its first line is an object, it is large, or anything
    else. Raises InputError for an unreadable file.
    """
    first = next(lines_of(path), None)
    is_document = first is not None and first.value is None and path.stat().st_size <= _LONGEST
    return beside(path) if is_document else None


def parse_document(content: str, make_object: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Return the JSON value in a text, or a list of successive objects; a comma may stand behind the last value.

    make_object: makes an object of its pairs. Raises ValueError and RecursionError.
    """
    decoder = json.JSONDecoder(object_pairs_hook=make_object)
    try:
        return decoder.decode(content)
    except json.JSONDecodeError:
        content = _SPARE_COMMA.sub(lambda match: match[1] or "", content)
        values: list[Any] = []
        next_value = _VALUE.search(content)
        while next_value is not None:
            value, end = decoder.raw_decode(content, next_value.start())
            next_value = _VALUE.search(content, end)
            if not isinstance(value, dict):
                if values or next_value is not None:
                    raise
                return value
            values.append(value)
        if not values:
            raise
        return values if len(values) > 1 else values[0]


_VALUE: Final = re.compile(r"[^\s,\x1e]")
"""Where a value begins; between them may stand commas, or the separators of RFC 7464."""
_SPARE_COMMA: Final = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*"?)|,(?=\s*[\]}])', re.DOTALL)


def text_of_file(path: Path) -> str:
    """Return the text of a file without a byte order mark. Raises OSError."""
    with open_unpacked(path) as file:
        return file.read().decode("utf-8-sig", "replace")


def beside(path: Path) -> Any:
    """Return the JSON value of an optional file beside a session; None if it is missing or unreadable."""
    try:
        return document_at(path)
    except InputError:
        return None


def text_beside(path: Path) -> str:
    """Return the stripped text of an optional file beside a session; "" if it is missing or unreadable."""
    try:
        return path.read_text("utf-8", "replace").strip() if path.is_file() else ""
    except OSError:
        return ""
